//! Streams: bytes are pushed in, and the encrypted or decrypted bytes are taken out.

use crate::call::{Error, guarded, infallible};
use crate::error::CallError;
use crate::file_keys::{DecryptWith, EncryptWith};
use crate::memory::{In, Out, Owned, Shared, Unique, count};
use sealane::Misuse;
use sealane::file::{Decryptor, Encryptor};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;

/// One stream and the bytes that came out of it.
pub(crate) struct Filter {
    work: Work,
    waiting: Waiting,
}

enum Work {
    Encrypt(Box<Encryptor<Waiting>>),
    Decrypt(Box<Decryptor<Waiting>>),
    Finished,
}

/// Bytes that wait to be taken. The core writes to it, and the filter takes from it.
#[derive(Clone, Default)]
struct Waiting(Arc<Mutex<Queue>>);

#[derive(Default)]
struct Queue {
    /// One element for each write of the core. Bytes that are collected in one buffer would be copied when it grows, and
    /// copies of plaintext would remain in memory.
    pieces: VecDeque<Zeroizing<Vec<u8>>>,
    /// Number of bytes of the first piece that were taken.
    taken: usize,
    /// Number of bytes that wait.
    len: usize,
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Waiting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut piece = Vec::new();
        piece.try_reserve_exact(bytes.len())?;
        piece.extend_from_slice(bytes);
        let mut queue = self.lock();
        queue.len += piece.len();
        queue.pieces.push_back(Zeroizing::new(piece));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Queue {
    fn take(&mut self, mut out: &mut [u8]) -> usize {
        let mut done = 0;
        while let Some(piece) = self.pieces.front().filter(|_| !out.is_empty()) {
            let rest = &piece[self.taken..];
            let len = rest.len().min(out.len());
            let (now, later) = out.split_at_mut(len);
            now.copy_from_slice(&rest[..len]);
            (out, done) = (later, done + len);
            self.taken += len;
            if self.taken == piece.len() {
                self.pieces.pop_front();
                self.taken = 0;
            }
        }
        self.len -= done;
        done
    }
}

impl Filter {
    fn waiting(&self) -> i64 {
        count(self.waiting.lock().len)
    }

    fn push(&mut self, data: &[u8]) -> Result<(), CallError> {
        match &mut self.work {
            Work::Encrypt(encryptor) => encryptor.push(data)?,
            Work::Decrypt(decryptor) => decryptor.push(data)?,
            Work::Finished => return Err(Misuse::AlreadyFinalized.into()),
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), CallError> {
        match std::mem::replace(&mut self.work, Work::Finished) {
            Work::Encrypt(encryptor) => drop(encryptor.finish()?),
            Work::Decrypt(decryptor) => drop(decryptor.finish()?),
            Work::Finished => return Err(Misuse::AlreadyFinalized.into()),
        }
        Ok(())
    }
}

#[unsafe(no_mangle)]
extern "C" fn sealane_encryptor_new(with: Shared<EncryptWith>, error: Unique<Error>) -> Owned<Filter> {
    guarded(error, |call| {
        let waiting = Waiting::default();
        let encryptor = Encryptor::new(waiting.clone(), &with.get(call, "with")?.0)?;
        Ok(Owned::new(Filter { work: Work::Encrypt(Box::new(encryptor)), waiting }))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_decryptor_new(with: Shared<DecryptWith>, error: Unique<Error>) -> Owned<Filter> {
    guarded(error, |call| {
        let waiting = Waiting::default();
        let decryptor = Decryptor::new(waiting.clone(), &with.get(call, "with")?.0);
        Ok(Owned::new(Filter { work: Work::Decrypt(Box::new(decryptor)), waiting }))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_filter_push(
    filter: Unique<Filter>,
    data: In,
    data_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let filter = filter.get(call, "filter")?;
        filter.push(data.bytes(call, "data", data_len)?)?;
        Ok(filter.waiting())
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_filter_take(
    filter: Unique<Filter>,
    out: Out,
    out_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let filter = filter.get(call, "filter")?;
        let out = out.output(call, "out", out_len)?.bytes();
        Ok(count(filter.waiting.lock().take(out)))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_filter_finish(filter: Unique<Filter>, error: Unique<Error>) -> i64 {
    guarded(error, |call| {
        let filter = filter.get(call, "filter")?;
        filter.finish()?;
        Ok(filter.waiting())
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_filter_free(filter: Owned<Filter>) {
    infallible(|| filter.free());
}

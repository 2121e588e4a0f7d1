//! Streams: push bytes in, take the encrypted or decrypted bytes out.

use crate::call::{Error, guarded, infallible};
use crate::error::CallError;
use crate::file_keys::{DecryptWith, EncryptWith};
use crate::memory::{In, Out, Owned, Shared, Unique, count};
use sealane::Misuse;
use sealane::file::{ByteQueue, Decryptor, Encryptor};

/// A stream and its pending output.
pub(crate) enum Filter {
    Encrypt(Box<Encryptor<ByteQueue>>),
    Decrypt(Box<Decryptor<ByteQueue>>),
    Finished(ByteQueue),
}

impl Filter {
    fn waiting(&mut self) -> &mut ByteQueue {
        match self {
            Self::Encrypt(encryptor) => encryptor.get_mut(),
            Self::Decrypt(decryptor) => decryptor.get_mut(),
            Self::Finished(waiting) => waiting,
        }
    }

    fn push(&mut self, data: &[u8]) -> Result<(), CallError> {
        match self {
            Self::Encrypt(encryptor) => encryptor.push(data)?,
            Self::Decrypt(decryptor) => decryptor.push(data)?,
            Self::Finished(_) => return Err(Misuse::AlreadyFinalized.into()),
        }
        Ok(())
    }

    /// Ends the stream. After a failure, nothing can be taken.
    fn finish(&mut self) -> Result<(), CallError> {
        if matches!(self, Self::Finished(_)) {
            return Err(Misuse::AlreadyFinalized.into());
        }
        let waiting = match std::mem::replace(self, Self::Finished(ByteQueue::default())) {
            Self::Encrypt(encryptor) => encryptor.finish()?,
            Self::Decrypt(decryptor) => decryptor.finish()?,
            Self::Finished(waiting) => waiting,
        };
        *self = Self::Finished(waiting);
        Ok(())
    }
}

#[unsafe(no_mangle)]
extern "C" fn sealane_encryptor_new(with: Shared<EncryptWith>, error: Unique<Error>) -> Owned<Filter> {
    guarded(error, |call| {
        let encryptor = Encryptor::new(ByteQueue::default(), &with.get(call, "with")?.0)?;
        Ok(Owned::new(Filter::Encrypt(Box::new(encryptor))))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_decryptor_new(with: Shared<DecryptWith>, error: Unique<Error>) -> Owned<Filter> {
    guarded(error, |call| {
        let decryptor = Decryptor::new(ByteQueue::default(), &with.get(call, "with")?.0);
        Ok(Owned::new(Filter::Decrypt(Box::new(decryptor))))
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
        Ok(count(filter.waiting().len()))
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
        Ok(count(filter.waiting().take(out)))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_filter_finish(filter: Unique<Filter>, error: Unique<Error>) -> i64 {
    guarded(error, |call| {
        let filter = filter.get(call, "filter")?;
        filter.finish()?;
        Ok(count(filter.waiting().len()))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_filter_free(filter: Owned<Filter>) {
    infallible(|| filter.free());
}

//! Encrypted files with random access.

use crate::call::{Error, guarded, infallible};
use crate::error::CallError;
use crate::file_keys::DecryptWith;
use crate::memory::{CText, Out, Owned, Shared, SizedIn, Source, Unique, count};
use sealane::file::{self, Concurrency, ReadAt};
use std::fs::File;

/// Maximum read from a source that only the calling thread may read. For longer reads, the core
/// uses more threads.
const ONE_THREAD_LEN: usize = 1 << 20;

/// An encrypted file and its source.
pub(crate) struct Reader(file::Reader<Box<dyn ReadAt>>);

fn open(source: impl ReadAt + 'static, with: &DecryptWith) -> Result<Owned<Reader>, sealane::Error> {
    Ok(Owned::new(Reader(file::Reader::new(Box::new(source) as Box<dyn ReadAt>, &with.0)?)))
}

#[unsafe(no_mangle)]
extern "C" fn sealane_reader_open(
    path: CText,
    with: Shared<DecryptWith>,
    error: Unique<Error>,
) -> Owned<Reader> {
    guarded(error, |call| {
        let (path, with) = (path.path(call, "path")?, with.get(call, "with")?);
        let file = File::open(path).map_err(|source| CallError::io(path, source))?;
        Ok(open(file, with)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_reader_over(
    source: SizedIn<Source>,
    with: Shared<DecryptWith>,
    error: Unique<Error>,
) -> Owned<Reader> {
    guarded(error, |call| {
        let source = source.required("source")?.checked()?;
        Ok(open(source, with.get(call, "with")?)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_reader_size(reader: Shared<Reader>, error: Unique<Error>) -> i64 {
    guarded(error, |call| {
        // No format allows a plaintext of 2^63 bytes.
        Ok(reader.get(call, "reader")?.0.size() as i64)
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_reader_read_at(
    reader: Shared<Reader>,
    offset: u64,
    out: Out,
    out_len: usize,
    error: Unique<Error>,
) -> i64 {
    guarded(error, |call| {
        let reader = &reader.get(call, "reader")?.0;
        let out = out.output(call, "out", out_len)?.bytes();
        if reader.source().concurrency() == Concurrency::Parallel {
            return Ok(count(reader.read_at(offset, out)?));
        }
        let mut done = 0;
        for piece in out.chunks_mut(ONE_THREAD_LEN) {
            let read = reader.read_at(offset.saturating_add(done as u64), piece)?;
            done += read;
            if read < piece.len() {
                break;
            }
        }
        Ok(count(done))
    })
}

#[unsafe(no_mangle)]
extern "C" fn sealane_reader_free(reader: Owned<Reader>) {
    infallible(|| reader.free());
}

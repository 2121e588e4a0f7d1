//! Encrypted files with random access.

use crate::call::{exports, freed};
use crate::memory::{Handle, Output, Owned, SizedIn, Source, count};
use sealane::file::{self, Concurrency, DecryptWith, ReadAt};
use std::path::Path;

/// Maximum read from a source that only the calling thread may read. For longer reads, the core
/// uses more threads.
const ONE_THREAD_LEN: usize = 1 << 20;

/// An encrypted file and its source.
pub(crate) struct Reader(file::Reader<Box<dyn ReadAt>>);

impl Handle for Reader {
    const COUNTED: bool = true;
}

fn open(source: impl ReadAt + 'static, with: &DecryptWith) -> Result<Owned<Reader>, sealane::Error> {
    Ok(Owned::new(Reader(file::Reader::new(Box::new(source) as Box<dyn ReadAt>, with)?)))
}

exports! {
    fn sealane_reader_open(path: &Path, with: &DecryptWith) -> Owned<Reader> {
        Ok(open(file::open_regular(path)?, with)?)
    }

    fn sealane_reader_over(source: SizedIn<Source>, with: &DecryptWith) -> Owned<Reader> {
        let source = source.required("source")?.checked()?;
        Ok(open(source, with)?)
    }

    fn sealane_reader_size(reader: &Reader) -> i64 {
        // No format allows a plaintext of 2^63 bytes.
        Ok(reader.0.size() as i64)
    }

    fn sealane_reader_read_at(reader: &Reader, offset: u64, out: Output[out_len]) -> i64 {
        let reader = &reader.0;
        let out = out.bytes();
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
    }
}

freed!(sealane_reader_free(reader: Reader));

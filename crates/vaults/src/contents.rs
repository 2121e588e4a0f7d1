//! Files made of chunks, and small files that are read whole.

use crate::prelude::*;
use engine::reader::ChunkReader;

/// A file of a vault: chunks of one length, except for the last.
struct Chunks {
    reader: ChunkReader<Box<dyn ReadAt>>,
    path: Vec<u8>,
}

impl Contents for Chunks {
    fn size(&self) -> u64 {
        self.reader.size()
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        self.reader.read_at(offset, into).map_err(|error| {
            into.fill(0);
            in_vault(&self.path, error)
        })
    }
}

/// Returns a file of `sealed_len` bytes that is stored at `path`. Verifies its last chunk.
///
/// # Errors
/// Returns [`Error::InVault`] with [`Error::Truncated`] if no complete file has this length, or
/// with the cipher's error; the errors of the source.
pub(crate) fn chunks(
    path: &[u8],
    source: Box<dyn ReadAt>,
    sealed_len: u64,
    cipher: Box<dyn OpenChunks>,
) -> Result<Box<dyn Contents>> {
    let reader = ChunkReader::new(source, sealed_len, cipher).map_err(|error| in_vault(path, error))?;
    Ok(Box::new(Chunks { reader, path: path.to_vec() }))
}

/// A file of a vault without encryption of contents, or an empty one without a header. Nothing
/// verifies it.
pub(crate) struct Clear {
    pub(crate) source: Box<dyn ReadAt>,
    pub(crate) len: u64,
    pub(crate) path: Vec<u8>,
}

impl Contents for Clear {
    fn size(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        let len = self.len.saturating_sub(offset).min(into.len() as u64) as usize;
        let read = self.source.read_exact_at(offset, &mut into[..len]);
        read.map(|()| len).map_err(|error| in_vault(&self.path, error.into()))
    }
}

/// Returns the length of the plaintext of a file of `sealed_len` bytes; 0 for a file that cannot be
/// whole. Opening it is an error.
pub(crate) fn plain_len(layout: Layout, sealed_len: u64) -> u64 {
    layout.plan_sealed(sealed_len).map_or(0, |plan| plan.plain_len)
}

/// Reads a whole file of at most `max` bytes.
///
/// # Errors
/// Returns [`Error::InVault`] with [`Error::LimitExceeded`] for a longer file; the errors of the
/// storage.
pub(crate) fn read_whole(storage: &dyn Storage, path: &[u8], max: usize) -> Result<Vec<u8>> {
    let file = storage.open(path)?;
    let read = || {
        let mut bytes = buffer(file.size()?, max)?;
        file.read_exact_at(0, &mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| in_vault(path, error))
}

/// Reads all of a file's plaintext, at most `max` bytes.
///
/// # Errors
/// Returns the errors of [`read_whole`] and [`Contents::read_at`].
pub(crate) fn plaintext(path: &[u8], file: &dyn Contents, max: usize) -> Result<Zeroizing<Vec<u8>>> {
    let bytes = buffer(file.size(), max).map_err(|error| in_vault(path, error))?;
    let mut bytes = Zeroizing::new(bytes);
    file.read_at(0, &mut bytes)?;
    Ok(bytes)
}

fn buffer(len: u64, max: usize) -> Result<Vec<u8>> {
    let len = usize::try_from(len).ok().filter(|len| *len <= max);
    memory::zeroed(len.ok_or(Error::LimitExceeded("the file is too long for its kind"))?)
}

//! Random access to the plaintext of an encrypted file.

use super::armor::DearmoredSource;
use crate::prelude::*;
use engine::reader::ChunkReader;
use std::io::{Read, Seek, SeekFrom};

/// Decrypts an encrypted file at any position. Threads may share it.
///
/// All returned bytes are verified. So is the size: [`Reader::new`] opens the last chunk.
///
/// ```
/// use sealane::Key;
/// use sealane::file::{DecryptWith, EncryptWith, Reader, encrypt};
///
/// let key = Key::generate(32)?;
/// let file = encrypt(&[7; 100_000], &EncryptWith::key(&key, b""))?;
/// let reader = Reader::new(&file[..], &DecryptWith::key(&key, b""))?;
/// let mut range = [0; 10];
/// assert_eq!(reader.read_at(50_000, &mut range)?, 10);
/// assert_eq!(range, [7; 10]);
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct Reader<S> {
    /// The file without armor, and its cipher.
    pub(super) chunks: ChunkReader<DearmoredSource<S>>,
    /// Current offset of [`Read`] and [`Seek`] in the plaintext, in bytes.
    position: u64,
}

impl<S: ReadAt> Reader<S> {
    /// Verifies the header and the last chunk: the plaintext length is authentic.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the source cannot be read; the errors of [`super::decrypt`].
    pub fn new(source: S, with: &DecryptWith) -> Result<Self> {
        let source = DearmoredSource::new(source, |prefix| with.detect_armor(prefix))?;
        let size = source.size()?;
        let cipher = with.open_source(&source, size)?;
        Ok(Self { chunks: ChunkReader::new(source, size, cipher)?, position: 0 })
    }

    /// Returns the size of the plaintext in bytes.
    pub fn size(&self) -> u64 {
        self.chunks.size()
    }

    /// Returns the source.
    pub fn source(&self) -> &S {
        self.chunks.source.source()
    }

    /// Fills `into` with the plaintext from `offset`. Returns the number of bytes: fewer at the end
    /// of the file.
    ///
    /// # Errors
    /// Returns [`Error::DamagedChunk`] if a chunk does not verify; [`Error::Io`] if the source
    /// cannot be read. On failure each byte of `into` is unchanged, zero or verified plaintext.
    pub fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        self.chunks.read_at(offset, into)
    }
}

impl<S: ReadAt> Read for Reader<S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.read_at(self.position, into).map_err(Error::into_io)?;
        self.position += n as u64;
        Ok(n)
    }
}

impl<S: ReadAt> Seek for Reader<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.size().checked_add_signed(by),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

debug_fields!([S] Reader<S>; |it| size: it.chunks.size());

//! One way, from beginning to end: pipes, sockets, standard input.

use super::Options;
use super::chunked::{CHUNK_LEN, Chunked, HEADER_LEN, TAG_LEN};
use crate::engine::pipeline::{Chunks, open_chunks, seal_chunks};
use crate::{Error, Key, Misuse};
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// Chunks collected before they are worked on and written.
const BATCH: usize = 64;
const SEALED_CHUNK_LEN: usize = CHUNK_LEN + TAG_LEN;

/// Encrypts pieces of any size on their way to a writer.
///
/// What was written is a whole file only after [`Encryptor::finish`]. Dropped before, it is a truncated one, which
/// no reader takes for whole.
#[derive(Debug)]
pub struct Encryptor<W> {
    chunked: Chunked,
    inner: W,
    /// Plaintext that waits for a full batch.
    plain: Zeroizing<Vec<u8>>,
    sealed: Vec<u8>,
    /// Chunks sealed so far; `None` after a failure, because what was written then is not known, and going on could
    /// seal other bytes under a nonce that was used.
    index: Option<u64>,
}

impl<W: Write> Encryptor<W> {
    /// Begins a new file: writes its header.
    ///
    /// # Errors
    /// [`Misuse::KeyLength`], [`Error::Io`].
    pub fn new(mut inner: W, key: &Key, context: &[u8]) -> Result<Self, Error> {
        let (chunked, header) = Chunked::create(key, context)?;
        inner.write_all(&header)?;
        let plain = Zeroizing::new(Vec::with_capacity(BATCH * CHUNK_LEN));
        Ok(Self { chunked, inner, plain, sealed: Vec::new(), index: Some(0) })
    }

    /// Encrypts a piece.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::LimitExceeded`]; from then on [`Misuse::Lost`].
    pub fn push(&mut self, mut piece: &[u8]) -> Result<(), Error> {
        self.index.ok_or(Misuse::Lost)?;
        while self.plain.len() + piece.len() >= BATCH * CHUNK_LEN {
            let (now, later) = piece.split_at(BATCH * CHUNK_LEN - self.plain.len());
            self.plain.extend_from_slice(now);
            self.seal(BATCH)?;
            piece = later;
        }
        self.plain.extend_from_slice(piece);
        Ok(())
    }

    /// Writes the rest, with the short chunk that marks the end, and hands the writer back, flushed.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(mut self) -> Result<W, Error> {
        self.seal(self.plain.len() / CHUNK_LEN + 1)?;
        self.inner.flush()?;
        Ok(self.inner)
    }

    /// Seals all the plaintext that waits, as this many chunks.
    fn seal(&mut self, chunks: usize) -> Result<(), Error> {
        let index = self.index.take().ok_or(Misuse::Lost)?;
        let end = index + chunks as u64;
        if end > Chunked::LAYOUT.max_chunks {
            return Err(Error::LimitExceeded("the file is longer than the format can carry"));
        }
        self.sealed.resize(self.plain.len() + chunks * TAG_LEN, 0);
        seal_chunks(&self.chunked, index, &self.plain, &mut self.sealed)?;
        self.inner.write_all(&self.sealed)?;
        self.plain.clear();
        self.index = Some(end);
        Ok(())
    }
}

/// Decrypts pieces of any size on their way to a writer.
///
/// Each chunk is verified before its plaintext is written, but the *end* is known only to [`Decryptor::finish`]: until
/// it returns, what was written may be the beginning of a truncated file. Where that matters, write to a place that
/// can be thrown away, as [`super::decrypt_file`] does.
#[derive(Debug)]
pub struct Decryptor<W> {
    key: Key,
    context: Vec<u8>,
    /// Known once the header was seen.
    chunked: Option<Chunked>,
    inner: W,
    /// What waits for a full batch.
    sealed: Vec<u8>,
    plain: Zeroizing<Vec<u8>>,
    /// Chunks opened so far; `None` after a failure.
    index: Option<u64>,
}

impl<W: Write> Decryptor<W> {
    /// Begins a file.
    pub fn new(inner: W, key: &Key, context: &[u8]) -> Self {
        Self {
            key: key.clone(),
            context: context.to_vec(),
            chunked: None,
            inner,
            sealed: Vec::with_capacity(BATCH * SEALED_CHUNK_LEN),
            plain: Zeroizing::default(),
            index: Some(0),
        }
    }

    /// Decrypts a piece.
    ///
    /// # Errors
    /// [`Error::Authentication`], [`Error::Io`], [`Misuse::KeyLength`]; from then on [`Misuse::Lost`].
    pub fn push(&mut self, mut piece: &[u8]) -> Result<(), Error> {
        self.index.ok_or(Misuse::Lost)?;
        if self.chunked.is_none() {
            let now = piece.split_off(..piece.len().min(HEADER_LEN - self.sealed.len())).unwrap_or_default();
            self.sealed.extend_from_slice(now);
            let Some(header) = self.sealed.first_chunk::<HEADER_LEN>() else { return Ok(()) };
            // Lost until the header was found good.
            self.index = None;
            self.chunked = Some(Chunked::open(&self.key, &self.context, header)?);
            self.index = Some(0);
            self.sealed.clear();
        }
        while self.sealed.len() + piece.len() >= BATCH * SEALED_CHUNK_LEN {
            let (now, later) = piece.split_at(BATCH * SEALED_CHUNK_LEN - self.sealed.len());
            self.sealed.extend_from_slice(now);
            self.open(BATCH)?;
            piece = later;
        }
        self.sealed.extend_from_slice(piece);
        Ok(())
    }

    /// Verifies and writes the rest, the end of the file included, and hands the writer back, flushed.
    ///
    /// # Errors
    /// [`Error::Truncated`] and those of [`Self::push`]; nothing more was written then.
    pub fn finish(mut self) -> Result<W, Error> {
        self.index.ok_or(Misuse::Lost)?;
        if self.chunked.is_none() || self.sealed.len() % SEALED_CHUNK_LEN < TAG_LEN {
            return Err(Error::Truncated);
        }
        self.open(self.sealed.len() / SEALED_CHUNK_LEN + 1)?;
        self.inner.flush()?;
        Ok(self.inner)
    }

    /// Opens all that waits, which is this many chunks.
    fn open(&mut self, chunks: usize) -> Result<(), Error> {
        let index = self.index.take().ok_or(Misuse::Lost)?;
        let chunked = self.chunked.as_ref().ok_or(Error::Truncated)?;
        self.plain.resize(self.sealed.len() - chunks * TAG_LEN, 0);
        open_chunks(chunked, index, &self.sealed, &mut self.plain)?;
        self.inner.write_all(&self.plain)?;
        self.sealed.clear();
        self.index = Some(index + chunks as u64);
        Ok(())
    }
}

/// Encrypts all that `source` gives.
///
/// # Errors
/// [`Error::Io`], [`Misuse::KeyLength`], [`Error::Cancelled`].
pub fn encrypt_stream<W: Write>(
    mut source: impl Read,
    sink: W,
    key: &Key,
    context: &[u8],
    mut options: Options<'_>,
) -> Result<W, Error> {
    let mut encryptor = Encryptor::new(sink, key, context)?;
    pump(|piece| Ok(source.read(piece)?), &mut options, |piece| encryptor.push(piece))?;
    encryptor.finish()
}

/// Decrypts all that `source` gives. See [`Decryptor`] for what may have been written when this fails.
///
/// # Errors
/// [`Error::Authentication`], [`Error::Truncated`], [`Error::Io`], [`Error::Cancelled`].
pub fn decrypt_stream<W: Write>(
    mut source: impl Read,
    sink: W,
    key: &Key,
    context: &[u8],
    mut options: Options<'_>,
) -> Result<W, Error> {
    let mut decryptor = Decryptor::new(sink, key, context);
    pump(|piece| Ok(source.read(piece)?), &mut options, |piece| decryptor.push(piece))?;
    decryptor.finish()
}

/// Reads to the end. Progress counts the bytes read, because the total is not known.
pub(super) fn pump(
    mut read: impl FnMut(&mut [u8]) -> Result<usize, Error>,
    options: &mut Options<'_>,
    mut push: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut progress = options.progress(None);
    let mut piece = Zeroizing::new(vec![0; 1 << 18]);
    let mut done = 0;
    loop {
        match read(&mut piece) {
            Ok(0) => return progress.end(done),
            Ok(n) => {
                push(&piece[..n])?;
                done += n as u64;
                progress.at(done)?;
            }
            // A signal came while we waited: the callback may want to stop for it.
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::Interrupted => {
                progress.report(done)?;
            }
            Err(e) => return Err(e),
        }
    }
}

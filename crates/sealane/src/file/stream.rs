//! One way, from beginning to end: pipes, sockets, standard input.

use super::Options;
use super::armor::{ArmorReader, ArmorWriter};
use super::file_cipher::FileCipher;
use super::file_keys::{DecryptWith, EncryptWith};
use crate::engine::pipeline::{ChunkCipher, open_chunks, seal_chunks};
use crate::engine::plan::Job;
use crate::engine::prefix::{Parsed, Prefix};
use crate::{Error, Misuse};
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// Bytes of plaintext collected before they are worked on and written.
const BATCH_LEN: u64 = 1 << 20;

/// Encrypts pieces of any size on their way to a writer.
///
/// What was written is a whole file only after [`Encryptor::finish`]. Dropped before, it is a truncated one, which
/// no reader takes for whole.
pub struct Encryptor<W: Write> {
    cipher: FileCipher,
    inner: ArmorWriter<W>,
    /// Plaintext that waits for more than a batch: the last chunk is known to be one only at the end.
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
    /// [`Misuse::KeyLength`] and what else the lock may say, [`Error::Io`].
    pub fn new(inner: W, lock: &EncryptWith) -> Result<Self, Error> {
        let (cipher, header) = lock.create_file()?;
        let mut inner = ArmorWriter::new(inner, lock.armor())?;
        inner.write_all(&header)?;
        let plain = Zeroizing::new(Vec::with_capacity(batch(&*cipher, 0).plain_len()));
        Ok(Self { cipher, inner, plain, sealed: Vec::new(), index: Some(0) })
    }

    /// Encrypts a piece.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::LimitExceeded`]; from then on [`Misuse::Poisoned`].
    pub fn push(&mut self, mut piece: &[u8]) -> Result<(), Error> {
        loop {
            let job = batch(&*self.cipher, self.index.ok_or(Misuse::Poisoned)?);
            let room = job.plain_len() - self.plain.len();
            if piece.len() <= room {
                self.plain.extend_from_slice(piece);
                return Ok(());
            }
            let (now, later) = piece.split_at(room);
            self.plain.extend_from_slice(now);
            self.seal(&job)?;
            piece = later;
        }
    }

    /// Writes the rest, with the chunk that marks the end, and hands the writer back, flushed.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(mut self) -> Result<W, Error> {
        let index = self.index.ok_or(Misuse::Poisoned)?;
        let layout = self.cipher.layout();
        let plan = layout.plan_plain(layout.plain_start(index) + self.plain.len() as u64)?;
        self.seal(&plan.span(index..u64::MAX))?;
        Ok(self.inner.finish()?)
    }

    /// Seals all the plaintext that waits.
    fn seal(&mut self, job: &Job) -> Result<(), Error> {
        self.index = None;
        self.cipher.layout().plan_plain(job.plain.end)?;
        self.sealed.resize(job.sealed_len(), 0);
        seal_chunks(&*self.cipher, job, &self.plain, &mut self.sealed)?;
        self.inner.write_all(&self.sealed)?;
        self.plain.clear();
        self.index = Some(job.chunks.end);
        Ok(())
    }
}

/// Decrypts pieces of any size on their way to a writer.
///
/// Each chunk is verified before its plaintext is written, but the *end* is known only to [`Decryptor::finish`]: until
/// it returns, what was written may be the beginning of a truncated file. Where that matters, write to a place that
/// can be thrown away, as [`super::decrypt_file`] does.
pub struct Decryptor<W> {
    unlock: DecryptWith,
    armor: ArmorReader,
    /// What the armor held.
    bare: Vec<u8>,
    /// Known once the header was seen.
    cipher: Option<FileCipher>,
    inner: W,
    /// What waits for more than a batch.
    sealed: Vec<u8>,
    plain: Zeroizing<Vec<u8>>,
    /// Chunks opened so far; `None` after a failure.
    index: Option<u64>,
    /// Bytes without which another look at the header is in vain.
    wanted: usize,
}

impl<W: Write> Decryptor<W> {
    /// Begins a file.
    pub fn new(inner: W, unlock: &DecryptWith) -> Self {
        Self {
            unlock: unlock.clone(),
            armor: ArmorReader::Unknown(Vec::new()),
            bare: Vec::new(),
            cipher: None,
            inner,
            sealed: Vec::new(),
            plain: Zeroizing::default(),
            index: Some(0),
            wanted: 0,
        }
    }

    /// Decrypts a piece.
    ///
    /// # Errors
    /// [`Error::Authentication`], [`Error::Io`], [`Misuse::KeyLength`] and what else the format may say; from then on
    /// [`Misuse::Poisoned`].
    pub fn push(&mut self, piece: &[u8]) -> Result<(), Error> {
        let index = self.index.take().ok_or(Misuse::Poisoned)?;
        let mut bare = std::mem::take(&mut self.bare);
        let piece = self.armor.push(&self.unlock, piece, &mut bare)?;
        self.index = Some(index);
        self.push_bare(index, piece)?;
        self.bare = bare;
        Ok(())
    }

    fn push_bare(&mut self, index: u64, mut piece: &[u8]) -> Result<(), Error> {
        while self.cipher.is_none() {
            // No more than is wanted: what follows the header goes another way.
            let now = piece.len().min(self.wanted - self.sealed.len());
            self.sealed.extend_from_slice(piece.split_off(..now).unwrap_or_default());
            if self.sealed.len() < self.wanted {
                return Ok(());
            }
            self.begin(index, Prefix::Partial)?;
        }
        self.open_batches(index, piece)
    }

    /// Looks at the beginning of the file.
    fn begin(&mut self, index: u64, extent: Prefix) -> Result<(), Error> {
        // Lost until the header is found good.
        self.index = None;
        match self.unlock.open_file(&self.sealed, extent)? {
            Parsed::Ready(cipher) => {
                self.sealed.drain(..cipher.layout().header as usize);
                self.cipher = Some(cipher);
            }
            Parsed::NeedsMore(len) => self.wanted = len.max(self.sealed.len() + 1),
        }
        self.index = Some(index);
        Ok(())
    }

    fn open_batches(&mut self, mut index: u64, mut piece: &[u8]) -> Result<(), Error> {
        loop {
            let job = batch(&**self.cipher.as_ref().ok_or(Misuse::Poisoned)?, index);
            let all = self.sealed.len() + piece.len();
            if all <= job.sealed_len() {
                self.sealed.extend_from_slice(piece);
                return Ok(());
            }
            // Of a header's last look there may be more than a batch.
            let rest = self.sealed.split_off(self.sealed.len().min(job.sealed_len()));
            let (now, later) = piece.split_at(job.sealed_len() - self.sealed.len());
            self.sealed.extend_from_slice(now);
            self.open(&job)?;
            self.sealed.extend_from_slice(&rest);
            (index, piece) = (job.chunks.end, later);
        }
    }

    /// Verifies and writes the rest, the end of the file included, and hands the writer back, flushed.
    ///
    /// # Errors
    /// [`Error::Truncated`] and those of [`Self::push`]; nothing more was written then.
    pub fn finish(mut self) -> Result<W, Error> {
        let index = self.index.ok_or(Misuse::Poisoned)?;
        let mut bare = std::mem::take(&mut self.bare);
        let piece = self.armor.finish(&self.unlock, &mut bare)?;
        self.push_bare(index, piece)?;
        if self.cipher.is_none() {
            // More was wanted, but this is all there is.
            self.begin(index, Prefix::Whole)?;
        }
        let index = self.index.ok_or(Misuse::Poisoned)?;
        let layout = self.cipher.as_ref().ok_or(Error::Truncated)?.layout();
        let plan = layout.plan_sealed(layout.sealed_start(index) + self.sealed.len() as u64)?;
        self.open(&plan.span(index..u64::MAX))?;
        self.inner.flush()?;
        Ok(self.inner)
    }

    /// Opens all that waits.
    fn open(&mut self, job: &Job) -> Result<(), Error> {
        self.index = None;
        let cipher = self.cipher.as_ref().ok_or(Error::Truncated)?;
        self.plain.resize(job.plain_len(), 0);
        open_chunks(&**cipher, job, &self.sealed, &mut self.plain)?;
        self.inner.write_all(&self.plain)?;
        self.sealed.clear();
        self.index = Some(job.chunks.end);
        Ok(())
    }
}

/// The chunks that are worked on together, from `index` on.
fn batch(cipher: &dyn ChunkCipher, index: u64) -> Job {
    let layout = cipher.layout();
    layout.full_chunks(index..index + layout.chunks_in(BATCH_LEN))
}

impl<W: Write> std::fmt::Debug for Encryptor<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encryptor").field("index", &self.index).finish_non_exhaustive()
    }
}

impl<W> std::fmt::Debug for Decryptor<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decryptor").field("index", &self.index).finish_non_exhaustive()
    }
}

/// Encrypts all that `source` gives.
///
/// # Errors
/// [`Error::Io`], [`Misuse::KeyLength`], [`Error::Cancelled`].
pub fn encrypt_stream<W: Write>(
    mut source: impl Read,
    sink: W,
    lock: &EncryptWith,
    mut options: Options<'_>,
) -> Result<W, Error> {
    let mut encryptor = Encryptor::new(sink, lock)?;
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
    unlock: &DecryptWith,
    mut options: Options<'_>,
) -> Result<W, Error> {
    let mut decryptor = Decryptor::new(sink, unlock);
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
            Ok(0) => return progress.finish(done),
            Ok(n) => {
                push(&piece[..n])?;
                done += n as u64;
                progress.update(done)?;
            }
            // A signal came while we waited: the callback may want to stop for it.
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::Interrupted => {
                progress.report(done)?;
            }
            Err(e) => return Err(e),
        }
    }
}

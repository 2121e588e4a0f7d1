//! Sequential encryption and decryption, for pipes, sockets and standard input.

use super::Options;
use super::armor::{ArmorReader, ArmorWriter};
use crate::prelude::*;
use base::ForkGuard;
use engine::pipeline::{open_chunks, seal_chunks};
use std::io::{Read, Write};

/// Plaintext bytes collected before they are processed and written.
const BATCH_LEN: u64 = 1 << 20;

/// Encrypts pieces of any size on their way to a writer.
///
/// The output is complete only after [`Encryptor::finish`]. An encryptor dropped earlier leaves a
/// truncated file, and decryption detects that.
///
/// ```
/// use sealane::file::{Decryptor, DecryptWith, EncryptWith, Encryptor};
///
/// let key = sealane::Key::generate(32)?;
/// let mut encryptor = Encryptor::new(Vec::new(), &EncryptWith::key(&key, b""))?;
/// encryptor.push(b"first ")?;
/// encryptor.push(b"second")?;
/// let sealed = encryptor.finish()?;
///
/// let mut decryptor = Decryptor::new(Vec::new(), &DecryptWith::key(&key, b""));
/// for piece in sealed.chunks(7) {
///     decryptor.push(piece)?;
/// }
/// assert_eq!(decryptor.finish()?, b"first second");
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct Encryptor<W: Write> {
    cipher: FileCipher,
    inner: ArmorWriter<W>,
    /// Up to a batch of plaintext. It waits for more: only the end of the stream shows which chunk
    /// is last.
    plain: Wiped,
    sealed: Vec<u8>,
    /// Number of sealed chunks; `None` after a failure. We don't know how many bytes were written
    /// then, and continuing could seal other bytes under a used nonce.
    index: Option<u64>,
    /// A copy in a forked child would seal other bytes under the same nonces.
    guard: ForkGuard,
}

impl<W: Write> Encryptor<W> {
    /// Starts a new file and writes its header.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the header cannot be written; the errors of [`super::encrypt`].
    pub fn new(inner: W, with: &EncryptWith) -> Result<Self> {
        let (cipher, header) = with.create_file()?;
        let mut inner = ArmorWriter::new(inner, with.armor)?;
        inner.write_all(&header)?;
        let plain = Wiped(memory::with_capacity(batch(&*cipher, 0).plain_len())?);
        Ok(Self { cipher, inner, plain, sealed: Vec::new(), index: Some(0), guard: ForkGuard::new()? })
    }

    /// Returns the writer that receives the encrypted bytes, for example to take them from a
    /// [`ByteQueue`](super::ByteQueue).
    pub fn get_mut(&mut self) -> &mut W {
        self.inner.get_mut()
    }

    /// Encrypts a piece of the plaintext and writes all complete chunks.
    ///
    /// # Errors
    /// Returns [`Error::Io`] from the writer; [`Error::LimitExceeded`] if the plaintext is too long
    /// for the format; [`Misuse::Poisoned`] after an earlier error; [`Misuse::Forked`] in a forked
    /// child (the parent can continue).
    pub fn push(&mut self, mut piece: &[u8]) -> Result<()> {
        loop {
            // In the loop: the writer may be user code that forks.
            self.guard.check()?;
            let job = batch(&*self.cipher, self.index.ok_or(Misuse::Poisoned)?);
            let missing = job.plain_len() - self.plain.len();
            if piece.len() <= missing {
                self.plain.extend_from_slice(piece);
                return Ok(());
            }
            let (now, later) = piece.split_at(missing);
            self.plain.extend_from_slice(now);
            self.seal(&job)?;
            piece = later;
        }
    }

    /// Writes the remaining chunks, flushes the writer and returns it.
    ///
    /// # Errors
    /// Returns the errors of [`Self::push`].
    pub fn finish(mut self) -> Result<W> {
        self.guard.check()?;
        let index = self.index.ok_or(Misuse::Poisoned)?;
        let layout = self.cipher.layout();
        let plan = layout.plan_plain(layout.plain_start(index) + self.plain.len() as u64)?;
        self.seal(&plan.span(index..u64::MAX))?;
        Ok(self.inner.finish()?)
    }

    /// Seals a job's waiting plaintext and writes it to the sink.
    fn seal(&mut self, job: &Job) -> Result<()> {
        self.index = None;
        self.cipher.layout().plan_plain(job.plain.end)?;
        memory::resize(&mut self.sealed, job.sealed_len())?;
        seal_chunks(&*self.cipher, job, &self.plain, &mut self.sealed)?;
        self.inner.write_all(&self.sealed)?;
        self.plain.clear();
        self.index = Some(job.chunks.end);
        Ok(())
    }
}

/// Decrypts pieces of any size on their way to a writer.
///
/// A chunk's plaintext is written once the whole chunk has arrived and is verified, but only
/// [`Decryptor::finish`] verifies the *end*. Until it returns `Ok`, the output may be the beginning
/// of a truncated file. If that matters, write to a temporary file, as [`super::decrypt_file`]
/// does.
pub struct Decryptor<W> {
    with: DecryptWith,
    armor: ArmorReader,
    /// Buffer for binary bytes decoded from armor.
    binary: Vec<u8>,
    /// The file's cipher, set once the header is parsed.
    cipher: Option<FileCipher>,
    inner: W,
    /// Sealed bytes waiting for the rest of their chunk. A chunk that may be the last also waits.
    sealed: Vec<u8>,
    plain: Wiped,
    /// Number of opened chunks; `None` after a failure.
    index: Option<u64>,
    /// Plaintext bytes written.
    written: u64,
    /// Bytes that the header parser needs.
    header_need: usize,
}

impl<W: Write> Decryptor<W> {
    /// Starts to decrypt a file; the plaintext goes to `inner`.
    pub fn new(inner: W, with: &DecryptWith) -> Self {
        Self {
            with: with.clone(),
            armor: ArmorReader::Unknown(Vec::new()),
            binary: Vec::new(),
            cipher: None,
            inner,
            sealed: Vec::new(),
            plain: Wiped::default(),
            index: Some(0),
            written: 0,
            header_need: 0,
        }
    }

    /// Returns the writer that receives the plaintext, for example to take verified bytes from a
    /// [`ByteQueue`](super::ByteQueue).
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// Decrypts a piece of the file and writes the plaintext of all complete chunks.
    ///
    /// # Errors
    /// Returns the errors of the writer and of [`super::decrypt`]; [`Misuse::Poisoned`] after an
    /// earlier error.
    pub fn push(&mut self, piece: &[u8]) -> Result<()> {
        let index = self.index.ok_or(Misuse::Poisoned)?;
        if piece.is_empty() {
            return Ok(());
        }
        self.index = None;
        let mut binary = std::mem::take(&mut self.binary);
        let piece = self.armor.push(|prefix| self.with.detect_armor(prefix), piece, &mut binary)?;
        self.index = Some(index);
        self.push_binary(index, piece)?;
        self.binary = binary;
        Ok(())
    }

    fn push_binary(&mut self, index: u64, mut piece: &[u8]) -> Result<()> {
        while self.cipher.is_none() {
            // No more bytes than the parser needs: those after the header are buffered elsewhere.
            let now = piece.len().min(self.header_need - self.sealed.len());
            memory::append(&mut self.sealed, piece.split_off(..now).unwrap_or_default())?;
            if self.sealed.len() < self.header_need {
                return Ok(());
            }
            self.parse_header(index, Prefix::Partial)?;
        }
        self.open_batches(index, piece)
    }

    /// Parses the beginning of the file once enough bytes have arrived.
    fn parse_header(&mut self, index: u64, extent: Prefix) -> Result<()> {
        // Poisoned unless the header turns out to be valid.
        self.index = None;
        match self.with.open_file(&self.sealed, extent)? {
            Parsed::Ready(cipher) => {
                self.sealed.drain(..cipher.layout().header as usize);
                self.cipher = Some(cipher);
            }
            Parsed::NeedsMore(len) => self.header_need = len.max(self.sealed.len() + 1),
        }
        self.index = Some(index);
        Ok(())
    }

    fn open_batches(&mut self, mut index: u64, mut piece: &[u8]) -> Result<()> {
        loop {
            let job = batch(&**self.cipher.as_ref().ok_or(Misuse::Poisoned)?, index);
            let all = self.sealed.len() + piece.len();
            if all <= job.sealed_len() {
                memory::append(&mut self.sealed, piece)?;
                return self.open_complete(index);
            }
            // The header parser may have read more than a batch.
            let rest = self.sealed.split_off(self.sealed.len().min(job.sealed_len()));
            let (now, later) = piece.split_at(job.sealed_len() - self.sealed.len());
            memory::append(&mut self.sealed, now)?;
            self.open(&job)?;
            memory::append(&mut self.sealed, &rest)?;
            (index, piece) = (job.chunks.end, later);
        }
    }

    /// Opens the complete chunks, so that their plaintext need not wait for the rest of a batch.
    fn open_complete(&mut self, index: u64) -> Result<()> {
        let layout = self.cipher.as_ref().ok_or(Misuse::Poisoned)?.layout();
        let arrived = layout.sealed_start(index) + self.sealed.len() as u64;
        let end = layout.complete_chunks(arrived);
        // A full chunk can be the last only in formats that mark the last chunk, and only if
        // nothing follows.
        let last = end > index && layout.end == End::Marked && layout.sealed_start(end) == arrived;
        let certain = if last { end - 1 } else { end };
        if index < certain {
            let job = layout.full_chunks(index..certain);
            let rest = self.sealed.split_off(job.sealed_len());
            self.open(&job)?;
            self.sealed.extend_from_slice(&rest);
        }
        if last { self.open_unless_last(certain) } else { Ok(()) }
    }

    /// Opens a complete chunk that may be the last, as if it were not.
    ///
    /// If this fails, the chunk waits. If more bytes follow, it is opened again and failure is
    /// final; [`Self::finish`] opens it as the last.
    fn open_unless_last(&mut self, index: u64) -> Result<()> {
        let cipher = self.cipher.as_ref().ok_or(Misuse::Poisoned)?;
        let job = cipher.layout().full_chunks(index..index + 1);
        memory::resize(&mut self.plain, job.plain_len())?;
        match cipher.decrypt(ChunkPosition { index, last: false }, &self.sealed, &mut self.plain) {
            Ok(()) => self.write(&job),
            Err(Error::Authentication) => Ok(()),
            Err(error) => {
                self.index = None;
                Err(error)
            }
        }
    }

    /// Verifies and writes the remaining chunks, flushes the writer and returns it.
    ///
    /// # Errors
    /// Returns [`Error::Truncated`] if the file is incomplete; the errors of [`Self::push`].
    pub fn finish(mut self) -> Result<W> {
        self.end()?;
        Ok(self.inner)
    }

    /// Decrypts a piece for [`pump`]; an empty one is the end. Returns the length of its plaintext.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<u64> {
        let before = self.written;
        if piece.is_empty() {
            self.end()?
        } else {
            self.push(piece)?
        }
        Ok(self.written - before)
    }

    fn end(&mut self) -> Result<()> {
        let index = self.index.ok_or(Misuse::Poisoned)?;
        let mut binary = std::mem::take(&mut self.binary);
        let piece = self.armor.finish(|prefix| self.with.detect_armor(prefix), &mut binary)?;
        self.push_binary(index, piece)?;
        if self.cipher.is_none() {
            // The parser wants more, but the file ends here.
            self.parse_header(index, Prefix::Whole)?;
        }
        let index = self.index.ok_or(Misuse::Poisoned)?;
        let cipher = self.cipher.as_ref().ok_or(Error::Truncated)?;
        let layout = cipher.layout();
        let plan = layout.plan_sealed(layout.sealed_start(index) + self.sealed.len() as u64)?;
        if let Some(after) = index.checked_sub(plan.chunks()) {
            // The last chunk is missing: all that arrived were opened as earlier chunks. Other
            // interfaces open the last one present as the file's last, and fail.
            return Err(cipher.damaged(index - after - 1));
        }
        self.open(&plan.span(index..u64::MAX))?;
        Ok(self.inner.flush()?)
    }

    /// Opens a job's waiting chunks and writes their plaintext to the sink.
    fn open(&mut self, job: &Job) -> Result<()> {
        self.index = None;
        let cipher = self.cipher.as_ref().ok_or(Error::Truncated)?;
        memory::resize(&mut self.plain, job.plain_len())?;
        open_chunks(&**cipher, job, &self.sealed, &mut self.plain)?;
        self.write(job)
    }

    /// Writes the plaintext of an opened job.
    fn write(&mut self, job: &Job) -> Result<()> {
        self.index = None;
        self.inner.write_all(&self.plain)?;
        self.written += self.plain.len() as u64;
        self.sealed.clear();
        self.index = Some(job.chunks.end);
        Ok(())
    }
}

/// Returns the batch of chunks from `index` on.
fn batch(cipher: &dyn ChunkCipher, index: u64) -> Job {
    let layout = cipher.layout();
    layout.full_chunks(index..index + layout.chunks_in(BATCH_LEN))
}

debug_fields!([W: Write] Encryptor<W>; |it| index: it.index);

debug_fields!([W] Decryptor<W>; |it| index: it.index);

/// Encrypts everything from `source` to `sink`.
///
/// # Errors
/// Returns [`Error::Io`]; [`Error::Cancelled`] if the callback cancels; the errors of
/// [`super::encrypt`].
///
/// # Example
/// ```
/// use sealane::file::{DecryptWith, EncryptWith, Options, decrypt_stream, encrypt_stream};
///
/// let key = sealane::Key::generate(32)?;
/// let with = EncryptWith::key(&key, b"");
/// let sealed = encrypt_stream(&b"hello"[..], Vec::new(), &with, Options::default())?;
/// let with = DecryptWith::key(&key, b"");
/// let plain = decrypt_stream(&sealed[..], Vec::new(), &with, Options::default())?;
/// assert_eq!(plain, b"hello");
/// # Ok::<(), sealane::Error>(())
/// ```
pub fn encrypt_stream<W: Write>(
    mut source: impl Read,
    sink: W,
    with: &EncryptWith,
    mut options: Options<'_>,
) -> Result<W> {
    let mut encryptor = Encryptor::new(sink, with)?;
    pump(
        |piece| Ok(source.read(piece)?),
        &mut options,
        |piece| encryptor.push(piece).map(|()| piece.len() as u64),
    )?;
    encryptor.finish()
}

/// Decrypts everything from `source` to `sink`. On failure, some plaintext may have been written;
/// see [`Decryptor`].
///
/// # Errors
/// Returns [`Error::Io`]; [`Error::Cancelled`] if the callback cancels; the errors of
/// [`super::decrypt`].
pub fn decrypt_stream<W: Write>(
    mut source: impl Read,
    sink: W,
    with: &DecryptWith,
    mut options: Options<'_>,
) -> Result<W> {
    let mut decryptor = Decryptor::new(sink, with);
    pump(|piece| Ok(source.read(piece)?), &mut options, |piece| decryptor.take(piece))?;
    Ok(decryptor.inner)
}

/// Reads to the end and pushes each piece, and an empty one at the end. Progress counts what `push`
/// returns, plaintext bytes; the total is unknown.
pub(super) fn pump(
    mut read: impl FnMut(&mut [u8]) -> Result<usize>,
    options: &mut Options<'_>,
    mut push: impl FnMut(&[u8]) -> Result<u64>,
) -> Result<()> {
    let mut progress = options.progress(None);
    let mut piece = Wiped(vec![0; 1 << 18]);
    let mut done = 0;
    loop {
        match read(&mut piece) {
            Ok(n) => {
                done += push(&piece[..n])?;
                if n == 0 {
                    return progress.finish(done);
                }
                progress.update(done)?;
            }
            // A signal interrupted the read. The callback may cancel because of it.
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::Interrupted => {
                progress.report(done)?;
            }
            Err(e) => return Err(e),
        }
    }
}

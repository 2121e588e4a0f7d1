//! Encrypts and decrypts files in memory.

use crate::prelude::*;
use base::memory;
use base::parallel::{Workers, run_parts};
use base::threads::default_threads;
use engine::pipeline::{open_chunks, seal_chunks};
use engine::plan::Plan;
use keys::age::armor;
use std::borrow::Cow;
use std::io::Write as _;
use std::sync::Mutex;

/// Minimum length in bytes for more than one thread. Below it, a second thread costs more than it
/// saves.
const PARALLEL_LEN: usize = 4 << 20;

/// Encrypts a plaintext and returns the encrypted file.
///
/// # Errors
/// Returns [`Misuse::KeyLength`] or
/// [`Misuse::InvalidRecipients`] if the keys cannot be used;
/// [`Error::LimitExceeded`] if the plaintext is too long for the format; [`Error::OutOfMemory`];
/// [`Error::Io`] if no random bytes are available.
///
/// # Example
/// ```
/// use sealane::file::{DecryptWith, EncryptWith, decrypt, encrypt};
///
/// let key = sealane::Key::generate(32)?;
/// let file = encrypt(b"hello", &EncryptWith::key(&key, b"greetings"))?;
/// assert_eq!(decrypt(&file, &DecryptWith::key(&key, b"greetings"))?, b"hello");
/// assert!(decrypt(&file, &DecryptWith::key(&key, b"another context")).is_err());
/// # Ok::<(), sealane::Error>(())
/// ```
pub fn encrypt(plaintext: &[u8], with: &EncryptWith) -> Result<Vec<u8>> {
    let encryptor = BufferEncryptor::new(plaintext, with)?;
    let mut out = memory::zeroed(encryptor.len())?;
    encryptor.encrypt_into(&mut out)?;
    Ok(out)
}

/// Decrypts an encrypted file and returns its plaintext.
///
/// # Errors
/// Returns [`Error::Authentication`] for a wrong key or context; [`Error::NoMatchingKey`] if no
/// identity matches; [`Error::DamagedChunk`] or [`Error::Truncated`] for a changed file; other
/// errors of the format.
///
/// # Example
/// ```
/// use sealane::age::{Armor, Identity, Kind};
/// use sealane::file::{DecryptWith, EncryptWith, decrypt, encrypt};
///
/// let bob = Identity::generate(Kind::X25519)?;
/// let file = encrypt(b"hello", &EncryptWith::age(&[bob.recipient()], Armor::Binary))?;
/// assert_eq!(decrypt(&file, &DecryptWith::age(&[bob]))?, b"hello");
/// # Ok::<(), sealane::Error>(())
/// ```
pub fn decrypt(file: &[u8], with: &DecryptWith) -> Result<Vec<u8>> {
    let decryptor = BufferDecryptor::new(file, with)?;
    let mut out = memory::zeroed(decryptor.len())?;
    decryptor.decrypt_into(&mut out)?;
    Ok(out)
}

/// Encrypts a plaintext in memory into the caller's buffer.
pub struct BufferEncryptor<'a> {
    plaintext: &'a [u8],
    cipher: FileCipher,
    header: Vec<u8>,
    /// Length of the encrypted file in bytes, without armor.
    binary_len: usize,
    armor: Armor,
    plan: Plan,
}

impl<'a> BufferEncryptor<'a> {
    /// Generates the header; from here on the length of the file is known.
    ///
    /// # Errors
    /// Returns the errors of [`encrypt`].
    pub fn new(plaintext: &'a [u8], with: &EncryptWith) -> Result<Self> {
        let (cipher, header) = with.create_file()?;
        let plan = cipher.layout().plan_plain(plaintext.len() as u64)?;
        let binary_len = to_usize(plan.sealed_len())?;
        Ok(Self { plaintext, cipher, header, binary_len, armor: with.armor, plan })
    }

    /// Returns the length of the encrypted file in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a file is never empty")]
    pub fn len(&self) -> usize {
        match self.armor {
            Armor::Binary => self.binary_len,
            Armor::Ascii => armor::len(self.binary_len),
        }
    }

    /// Writes the encrypted file to the start of `out`.
    ///
    /// # Errors
    /// Returns [`Misuse::OutputTooShort`] if `out` is shorter than
    /// [`Self::len`].
    pub fn encrypt_into(self, out: &mut [u8]) -> Result<()> {
        let out = memory::first(out, self.len())?;
        match self.armor {
            Armor::Binary => self.encrypt_binary(out),
            Armor::Ascii => {
                let mut binary = memory::zeroed(self.binary_len)?;
                self.encrypt_binary(&mut binary)?;
                let mut encoder = armor::Encoder::new(out)?;
                encoder.write_all(&binary)?;
                encoder.finish().map(drop).map_err(Error::from)
            }
        }
    }

    fn encrypt_binary(self, out: &mut [u8]) -> Result<()> {
        let (head, body) = out.split_at_mut(self.header.len());
        head.copy_from_slice(&self.header);
        each_job(self.plan, self.plaintext, body, Job::plain_len, Job::sealed_len, |job, plain, sealed| {
            seal_chunks(&*self.cipher, job, plain, sealed)
        })
    }
}

/// Decrypts an encrypted file in memory into the caller's buffer. [`BufferDecryptor::decrypt_into`]
/// verifies the chunks.
pub struct BufferDecryptor<'a> {
    file: Cow<'a, [u8]>,
    cipher: FileCipher,
    plan: Plan,
    len: usize,
}

impl<'a> BufferDecryptor<'a> {
    /// Parses the header; from here on the length of the plaintext is known.
    ///
    /// # Errors
    /// Returns the errors of [`decrypt`].
    pub fn new(file: &'a [u8], with: &DecryptWith) -> Result<Self> {
        let file = match with.detect_armor(file) {
            Some(Armor::Ascii) => armor::decode(file)?,
            _ => Cow::Borrowed(file),
        };
        let cipher = with.open_source(&&*file, file.len() as u64)?;
        let plan = cipher.layout().plan_sealed(file.len() as u64)?;
        let len = to_usize(plan.plain_len)?;
        Ok(Self { file, cipher, plan, len })
    }

    /// Returns the length of the plaintext in bytes, if the file is complete.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the plaintext is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes the plaintext to the start of `out`. On failure, those bytes are zeros.
    ///
    /// # Errors
    /// Returns [`Misuse::OutputTooShort`] if `out` is shorter than
    /// [`Self::len`]; the errors of [`decrypt`].
    pub fn decrypt_into(self, out: &mut [u8]) -> Result<()> {
        let out = memory::first(out, self.len)?;
        let (_, body) = self.file.split_at(self.plan.layout.header as usize);
        memory::clear_on_error(out, |out| {
            each_job(self.plan, body, out, Job::sealed_len, Job::plain_len, |job, sealed, plain| {
                open_chunks(&*self.cipher, job, sealed, plain)
            })
        })
    }
}

debug_fields!(BufferEncryptor<'_>; |it| len: it.len());

debug_fields!(BufferDecryptor<'_>; |it| len: it.len);

/// Divides input and output into jobs and runs `work` on each: on several threads if the input is
/// long enough.
fn each_job(
    plan: Plan,
    mut input: &[u8],
    mut output: &mut [u8],
    input_len: fn(&Job) -> usize,
    output_len: fn(&Job) -> usize,
    work: impl Fn(&Job, &[u8], &mut [u8]) -> Result<()> + Sync,
) -> Result<()> {
    let threads = if input.len() < PARALLEL_LEN { 1 } else { default_threads() };
    let mut parts = memory::with_capacity(usize::try_from(plan.jobs()).unwrap_or(usize::MAX))?;
    for job in (0..plan.jobs()).map(|at| plan.job(at)) {
        let (from, rest) = input.split_at(input_len(&job));
        input = rest;
        let (to, rest) = output.split_at_mut(output_len(&job));
        output = rest;
        parts.push(Mutex::new((job, from, to)));
    }
    run_parts(Workers::Spawned(threads), &parts, |_, (job, from, to), _| work(job, from, to))
}

fn to_usize(len: u64) -> Result<usize> {
    // The dropped error says nothing more.
    usize::try_from(len).map_err(|_| Error::LimitExceeded("the file is longer than the address space"))
}

//! The file formats, in memory.

use super::armor::ArmorWriter;
use super::file_cipher::FileCipher;
use super::file_keys::{DecryptWith, EncryptWith};
use crate::age::Armor;
use crate::age::armor::{self, Decoder};
use crate::engine::parallel::{Workers, run_jobs};
use crate::engine::pipeline::{open_chunks, seal_chunks};
use crate::engine::plan::{Job, Plan};
use crate::engine::threads::default_threads;
use crate::{Error, Misuse};
use std::borrow::Cow;
use std::sync::Mutex;

/// Below this many bytes a second thread costs more than it brings.
const WORTH_THREADS: usize = 4 << 20;

/// The bytes of an encrypted file with this plaintext.
///
/// # Errors
/// [`Misuse::KeyLength`] and what else the lock may say.
pub fn encrypt(plaintext: &[u8], lock: &EncryptWith) -> Result<Vec<u8>, Error> {
    let sealing = Sealing::new(plaintext, lock)?;
    let mut out = vec![0; sealing.len()];
    sealing.write_into(&mut out)?;
    Ok(out)
}

/// The plaintext of an encrypted file.
///
/// # Errors
/// [`Error::Authentication`], [`Error::Truncated`] and what else the format may say.
pub fn decrypt(file: &[u8], unlock: &DecryptWith) -> Result<Vec<u8>, Error> {
    let opening = Opening::new(file, unlock)?;
    let mut out = vec![0; opening.len()];
    opening.read_into(&mut out)?;
    Ok(out)
}

/// A file in the making, of a plaintext in memory.
pub struct Sealing<'a> {
    plaintext: &'a [u8],
    cipher: FileCipher,
    header: Vec<u8>,
    /// Bytes before armor is put on.
    bare: usize,
    armor: Armor,
    plan: Plan,
}

impl<'a> Sealing<'a> {
    /// Makes its header.
    ///
    /// # Errors
    /// Those of [`encrypt`].
    pub fn new(plaintext: &'a [u8], lock: &EncryptWith) -> Result<Self, Error> {
        let (cipher, header) = lock.create_file()?;
        let plan = cipher.layout().plan_plain(plaintext.len() as u64)?;
        let bare = length(plan.sealed_len())?;
        Ok(Self { plaintext, cipher, header, bare, armor: lock.armor(), plan })
    }

    /// Bytes of the file.
    #[expect(clippy::len_without_is_empty, reason = "it has a header")]
    pub fn len(&self) -> usize {
        match self.armor {
            Armor::Binary => self.bare,
            Armor::Ascii => armor::len(self.bare),
        }
    }

    /// Writes the file into the start of a buffer.
    ///
    /// # Errors
    /// [`Misuse::OutputTooShort`].
    pub fn write_into(self, out: &mut [u8]) -> Result<(), Error> {
        let out = first(out, self.len())?;
        match self.armor {
            Armor::Binary => self.write_bare(out),
            Armor::Ascii => {
                let (armor, mut bare) = (self.armor, vec![0; self.bare]);
                self.write_bare(&mut bare)?;
                let mut coated = ArmorWriter::new(out, armor)?;
                coated.write_all(&bare)?;
                coated.finish().map(drop).map_err(Error::from)
            }
        }
    }

    fn write_bare(self, out: &mut [u8]) -> Result<(), Error> {
        let (head, body) = out.split_at_mut(self.header.len());
        head.copy_from_slice(&self.header);
        each_job(self.plan, self.plaintext, body, Job::plain_len, Job::sealed_len, |job, plain, sealed| {
            seal_chunks(&*self.cipher, job, plain, sealed)
        })
    }
}

/// An encrypted file in memory, whose header was understood. Nothing else of it is verified yet.
pub struct Opening<'a> {
    file: Cow<'a, [u8]>,
    cipher: FileCipher,
    plan: Plan,
    len: usize,
}

impl<'a> Opening<'a> {
    /// Reads its header.
    ///
    /// # Errors
    /// Those of [`decrypt`].
    pub fn new(file: &'a [u8], unlock: &DecryptWith) -> Result<Self, Error> {
        let file = match unlock.detect_armor(file) {
            Some(Armor::Ascii) => Cow::Owned(bare(file)?),
            _ => Cow::Borrowed(file),
        };
        let cipher = unlock.open_source(&&*file, file.len() as u64)?;
        let plan = cipher.layout().plan_sealed(file.len() as u64)?;
        let len = length(plan.plain_len)?;
        Ok(Self { file, cipher, plan, len })
    }

    /// Bytes of plaintext, if the file is whole.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes the plaintext into the start of a buffer; on failure zeros.
    ///
    /// # Errors
    /// Those of [`decrypt`]; [`Misuse::OutputTooShort`].
    pub fn read_into(self, out: &mut [u8]) -> Result<(), Error> {
        let out = first(out, self.len)?;
        let (_, body) = self.file.split_at(self.plan.layout.header as usize);
        let result = each_job(self.plan, body, out, Job::sealed_len, Job::plain_len, |job, sealed, plain| {
            open_chunks(&*self.cipher, job, sealed, plain)
        });
        if result.is_err() {
            out.fill(0);
        }
        result
    }
}

impl std::fmt::Debug for Sealing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sealing").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Opening<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opening").field("len", &self.len).finish_non_exhaustive()
    }
}

fn bare(text: &[u8]) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut decoder = Decoder::new();
    decoder.push(text, &mut bytes)?;
    decoder.finish(&mut bytes)?;
    Ok(bytes)
}

/// Cuts input and output by jobs and works on them with as many threads as they are worth.
fn each_job(
    plan: Plan,
    mut input: &[u8],
    mut output: &mut [u8],
    input_len: fn(&Job) -> usize,
    output_len: fn(&Job) -> usize,
    work: impl Fn(&Job, &[u8], &mut [u8]) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let threads = if input.len() < WORTH_THREADS { 1 } else { default_threads() };
    let mut parts = Vec::new();
    for job in (0..plan.jobs()).map(|at| plan.job(at)) {
        let (from, rest) = input.split_at(input_len(&job));
        input = rest;
        let (to, rest) = output.split_at_mut(output_len(&job));
        output = rest;
        parts.push(Mutex::new((job, from, to)));
    }
    run_jobs(
        Workers::Spawned(threads),
        plan.jobs(),
        || (),
        |at, ()| {
            let mut part = parts[at as usize].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let (job, from, to) = &mut *part;
            work(job, from, to)
        },
        || Ok(()),
    )
}

fn first(out: &mut [u8], need: usize) -> Result<&mut [u8], Error> {
    let got = out.len();
    out.get_mut(..need).ok_or_else(|| Misuse::OutputTooShort { got, need }.into())
}

fn length(len: u64) -> Result<usize, Error> {
    usize::try_from(len).map_err(|_| Error::LimitExceeded("more than this machine can address"))
}

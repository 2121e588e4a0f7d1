//! Decrypts damaged files: writes every chunk that verifies, and reports the others as holes.
//!
//! As in any other decryption, a chunk is written only if it verifies under its file's key and at
//! its position. We give up only the rule that a file is whole or does not appear.

use super::armor::DearmoredSource;
use super::output::Target;
use super::paths::{Source, output};
use crate::prelude::*;
use engine::io::{NamedSource, WriteAt};
use engine::options::Options;
use engine::pipeline::OpenChunks;
use engine::plan::Plan;
use engine::salvage::{any_opens, open_intact, opens};
use std::ops::Range;

/// For a key that fits the header. In age files, the MAC does not cover the nonce.
const NO_CHUNK: Error =
    Error::Header("no chunk verifies, so the nonce after it is damaged, or every chunk is");

/// Maximum number of chunks tried with each key if the header is damaged.
const MAX_TRIES: u64 = 64;

/// The result of salvaging a file: which parts of the plaintext are in the output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Salvaged {
    /// Length of the output in bytes, holes included.
    pub len: u64,
    /// Parts that could not be read or verified, ascending. The output has zeros there.
    pub holes: Vec<Hole>,
    /// State of the header: it holds, or commits to, the file's key.
    pub header: FileHeader,
    /// State of the file's end: it shows whether chunks are missing.
    pub end: FileEnd,
}

/// A part of a damaged file that could not be read or verified. Ranges begin at 0 and exclude their
/// end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    /// Bytes of the plaintext missing in the output.
    pub plain: Range<u64>,
    /// Bytes of the encrypted file; of the decoded data if armored.
    pub sealed: Range<u64>,
    /// Indexes of the chunks.
    pub chunks: Range<u64>,
}

/// State of a damaged file's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileHeader {
    /// The header is intact.
    Verified,
    /// The commitment, the MAC or the length of the header does not match. The key was found by
    /// chunks that verify.
    Damaged,
}

/// State of a damaged file's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEnd {
    /// The last chunk verifies as the last: the plaintext length is authentic.
    Verified,
    /// The last chunk does not verify: it was changed, or the file was cut inside it. It is the
    /// last hole.
    Damaged,
    /// The file was cut, and nobody knows how many bytes are missing. The output ends after the
    /// last complete chunk.
    Cut,
}

impl Salvaged {
    /// Returns whether the output is the whole plaintext: no hole, and a verified end.
    pub fn is_complete(&self) -> bool {
        self.holes.is_empty() && self.end == FileEnd::Verified
    }

    /// Returns the number of verified bytes in the output: those outside holes.
    pub fn verified_len(&self) -> u64 {
        self.len - self.holes.iter().map(|hole| hole.plain.end - hole.plain.start).sum::<u64>()
    }
}

/// Decrypts those chunks of a damaged file that verify to the file `to`, and returns the others as
/// holes. The output has zeros in the holes and appears when complete. For an undamaged file, the
/// output is that of [`decrypt_file`](super::decrypt_file).
///
/// A chunk is lost as a whole: 16 KiB in chunked-encryption@v1, 64 KiB in age files, 4 KiB or 1 MiB
/// in Tink files. An unreadable chunk (a bad sector, for example) is a hole too. A file with a
/// damaged salt, nonce or file key is lost.
///
/// # Errors
/// Returns the errors of [`decrypt_file`](super::decrypt_file) if no chunk verifies, and writes
/// nothing; [`Misuse::UnsupportedSource`] for a pipe; [`Error::Io`] if the output cannot be
/// written.
///
/// # Example
/// ```
/// use sealane::file::{DecryptWith, EncryptWith, Options, encrypt, salvage_file};
///
/// # let unique = std::process::id();
/// let [damaged, saved] = ["damaged", "saved"]
///     .map(|name| std::env::temp_dir().join(format!("sealane-{name}-{unique}")));
/// let key = sealane::Key::generate(32)?;
/// let mut file = encrypt(&[7; 100_000], &EncryptWith::key(&key, b""))?;
/// file[20_000] ^= 1; // in the second of seven chunks
/// std::fs::write(&damaged, file)?;
///
/// let found = salvage_file(&damaged, &saved, &DecryptWith::key(&key, b""), Options::default())?;
/// assert_eq!(found.holes[0].plain, 16_384..32_768);
/// assert_eq!(found.verified_len(), 100_000 - 16_384);
/// # std::fs::remove_file(&damaged)?;
/// # std::fs::remove_file(&saved)?;
/// # Ok::<(), sealane::Error>(())
/// ```
pub fn salvage_file(from: &Path, to: &Path, with: &DecryptWith, options: Options<'_>) -> Result<Salvaged> {
    salvage(&Source::open(from)?, to, with, options)
}

/// Salvages an open file. Errors call it `name`. It must be a regular file at its beginning.
///
/// # Errors
/// Returns the errors of [`salvage_file`].
pub fn salvage_opened(
    from: File,
    name: &Path,
    to: &Path,
    with: &DecryptWith,
    options: Options<'_>,
) -> Result<Salvaged> {
    salvage(&Source::opened(from, name)?, to, with, options)
}

fn salvage(source: &Source, to: &Path, with: &DecryptWith, mut options: Options<'_>) -> Result<Salvaged> {
    source.regular_size("expected a regular file to salvage, found a pipe or a device")?;
    let damaged = Damaged::open(&source.file, &source.path, with)?;
    let sink = output(source, Target::File(to), with.protected())?;
    // Chunks and holes are written at their positions.
    let staged = sink.staged().ok_or(Misuse::UnsupportedSource(
        "expected a new or a regular file for what is salvaged, found an open descriptor",
    ))?;
    let result = damaged.write_intact(staged.file(), &mut options).map_err(|e| e.about(to))?;
    staged.file().set_len(result.len).map_err(|e| Error::io(to, e))?;
    sink.finish(options.durability).map_err(|e| e.about(to))?;
    Ok(result)
}

/// A damaged file and a key that may open its chunks.
struct Damaged<'a> {
    source: DearmoredSource<&'a File>,
    path: &'a Path,
    cipher: FileCipher,
    header: FileHeader,
    /// Number of chunks that are certainly not the last: all complete ones if the file was cut.
    chunks: u64,
    /// The plan, if a complete file can have this size.
    plan: Option<Plan>,
}

impl<'a> Damaged<'a> {
    fn open(file: &'a File, path: &'a Path, with: &DecryptWith) -> Result<Self> {
        let source =
            DearmoredSource::new(file, |prefix| with.detect_armor(prefix)).map_err(|e| e.about(path))?;
        let size = source.size().map_err(|e| Error::io(path, e))?;
        let (cipher, header) = match with.open_source(&source, size) {
            Ok(cipher) => (cipher, FileHeader::Verified),
            Err(error @ (Error::Io { .. } | Error::Cancelled)) => return Err(error.about(path)),
            Err(error) => {
                let found = with.open_damaged(&source, size).unwrap_or_default();
                (
                    found_key(found, NamedSource { path, source: &source }, size)?.ok_or(error)?,
                    FileHeader::Damaged,
                )
            }
        };
        let layout = cipher.layout();
        let plan = match layout.plan_sealed(size) {
            Ok(plan) => Some(plan),
            Err(Error::Truncated) => None,
            Err(error) => return Err(error),
        };
        let chunks = plan.map_or_else(|| layout.complete_chunks(size), |plan| plan.chunks() - 1);
        Ok(Self { source, path, cipher, header, chunks, plan })
    }

    fn source(&self) -> NamedSource<'_> {
        NamedSource { path: self.path, source: &self.source }
    }

    /// Writes all chunks that verify.
    fn write_intact(&self, sink: &dyn WriteAt, options: &mut Options<'_>) -> Result<Salvaged> {
        let layout = self.cipher.layout();
        let holes = open_intact(&*self.cipher, self.chunks, self.source(), sink, options)?;
        let mut lost = holes.iter().map(|range| range.end - range.start).sum::<u64>();
        let mut holes: Vec<_> =
            holes.into_iter().map(|chunks| Hole::from(layout.full_chunks(chunks))).collect();
        let (len, end) = match self.plan {
            None => (layout.plain_start(self.chunks), FileEnd::Cut),
            Some(plan) => {
                let last = plan.span(self.chunks..u64::MAX);
                let end = match open_last(&*self.cipher, &last, self.source())? {
                    Some((end, opened)) => {
                        sink.write_all_at(last.plain.start, &opened)?;
                        end
                    }
                    None => {
                        lost += 1;
                        add(&mut holes, last.into());
                        FileEnd::Damaged
                    }
                };
                (plan.plain_len, end)
            }
        };
        let all = self.chunks + u64::from(self.plan.is_some());
        match lost == all {
            true if all == 0 => Err(Error::Truncated),
            true if all > 1 && self.cipher.key_is_verified() => Err(NO_CHUNK),
            true => Err(self.cipher.damaged(0)),
            false => Ok(Salvaged { len, holes, header: self.header, end }),
        }
    }
}

impl From<Job> for Hole {
    fn from(Job { plain, sealed, chunks, .. }: Job) -> Self {
        Self { plain, sealed, chunks }
    }
}

/// How the file ends, and the plaintext of the chunk.
type LastChunk = (FileEnd, Wiped);

/// Opens the last chunk; `None` if it is damaged. If the file was cut right after it, it is not the
/// last.
fn open_last(cipher: &dyn OpenChunks, last: &Job, source: NamedSource<'_>) -> Result<Option<LastChunk>> {
    let (layout, index) = (cipher.layout(), last.chunks.start);
    let mut sealed = memory::zeroed(last.sealed_len())?;
    let mut plain = Wiped(memory::zeroed(last.plain_len())?);
    if source.read_exact_at(last.sealed.start, &mut sealed).is_err() {
        return Ok(None);
    }
    let mut opens = |last| opens(cipher, ChunkPosition { index, last }, &sealed, &mut plain);
    // In formats that mark the last chunk, a full one could also be an earlier one.
    let is_full = layout.end == End::Marked && last.plain == layout.full_chunks(index..index + 1).plain;
    let end = if opens(true)? {
        FileEnd::Verified
    } else if is_full && opens(false)? {
        FileEnd::Cut
    } else {
        return Ok(None);
    };
    Ok(Some((end, plain)))
}

/// Adds the last chunk to the holes, extending a hole that ends before it.
fn add(holes: &mut Vec<Hole>, last: Hole) {
    match holes.last_mut() {
        Some(before) if before.chunks.end == last.chunks.start => {
            before.plain.end = last.plain.end;
            before.sealed.end = last.sealed.end;
            before.chunks.end = last.chunks.end;
        }
        _ => holes.push(last),
    }
}

/// Returns the first cipher under which a chunk verifies. Tries the first chunks and the last.
fn found_key(ciphers: Vec<FileCipher>, source: NamedSource<'_>, size: u64) -> Result<Option<FileCipher>> {
    for cipher in ciphers {
        let layout = cipher.layout();
        let plan = layout.plan_sealed(size).ok();
        let full = plan.map_or_else(|| layout.complete_chunks(size), |plan| plan.chunks() - 1);
        if any_opens(&*cipher, 0..full.min(MAX_TRIES), source)? {
            return Ok(Some(cipher));
        }
        let last = plan.map(|plan| plan.span(full..u64::MAX));
        if last.map_or(Ok(None), |last| open_last(&*cipher, &last, source))?.is_some() {
            return Ok(Some(cipher));
        }
    }
    Ok(None)
}

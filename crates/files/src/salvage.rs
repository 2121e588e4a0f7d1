//! Decryption of damaged files: every chunk that verifies is written, and all others are holes.
//!
//! A chunk is written only if it verifies under the key of its file and at its position, as in any other decryption.
//! Only the rule that a file is whole or does not appear is given up.

use super::armor::DearmoredSource;
use super::file_cipher::FileCipher;
use super::file_keys::DecryptWith;
use super::output::Target;
use super::paths::{Source, output};
use base::{Error, Misuse, memory};
use engine::io::{NamedSource, ReadAt, WriteAt};
use engine::options::Options;
use engine::plan::{ChunkPosition, End, Job, Layout, Plan};
use engine::salvage::{any_opens, open_intact, opens};
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use zeroize::Zeroizing;

/// The error for a file with a key that fits its header. In age files, the MAC does not cover the nonce.
const NO_CHUNK: Error =
    Error::Header("no chunk verifies, so the nonce after it is damaged, or every chunk is");

/// Maximum number of chunks that are tried with each key of a file whose header is damaged.
const MAX_TRIES: u64 = 64;

/// The result of salvaging a file: which parts of the plaintext are in the output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Salvaged {
    /// Length of the output in bytes, holes included.
    pub len: u64,
    /// The parts that could not be verified or read, in ascending order. The output has zeros there.
    pub holes: Vec<Hole>,
    /// The state of the header, which holds or commits to the key of the file.
    pub header: FileHeader,
    /// The state of the end of the file, which shows whether chunks are missing.
    pub end: FileEnd,
}

/// A part of a damaged file that could not be verified or read. Ranges begin at 0 and exclude their end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    /// The bytes of the plaintext that are missing in the output.
    pub plain: Range<u64>,
    /// The bytes of the encrypted file; in an armored file, of the decoded data.
    pub sealed: Range<u64>,
    /// The indexes of the chunks.
    pub chunks: Range<u64>,
}

/// The state of the header of a damaged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileHeader {
    /// The header is intact.
    Verified,
    /// The commitment, the MAC or the length of the header does not match. The key was found nevertheless, because chunks
    /// verify under it.
    Damaged,
}

/// The state of the end of a damaged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEnd {
    /// The last chunk verifies as the last one, so the length of the plaintext is authentic.
    Verified,
    /// The last chunk does not verify. It was changed, or the file was cut within it. It is the last hole.
    Damaged,
    /// The file was cut, and the number of missing bytes is not known. The output ends after the last complete chunk.
    Cut,
}

impl Salvaged {
    /// Returns whether the output is the whole plaintext: it has no hole, and its end is verified.
    pub fn is_complete(&self) -> bool {
        self.holes.is_empty() && self.end == FileEnd::Verified
    }

    /// Returns the number of bytes of the output that were verified, which are those outside of holes.
    pub fn verified_len(&self) -> u64 {
        self.len - self.holes.iter().map(|hole| hole.plain.end - hole.plain.start).sum::<u64>()
    }
}

/// Decrypts the chunks of a damaged file that verify to the file `to`, and returns the others as holes. The output has zeros
/// in place of the holes and appears when it is complete. A file without damage has the same output as with
/// [`decrypt_file`](super::decrypt_file).
///
/// A chunk is lost as a whole: 16 KiB in chunked-encryption@v1, 64 KiB in age files, and 4 KiB or 1 MiB in Tink files. A chunk
/// that cannot be read, for example because of a bad sector, is a hole as well. A file whose salt, nonce or file key is
/// damaged is lost.
///
/// # Errors
/// Returns the errors of [`decrypt_file`](super::decrypt_file) if no chunk verifies, and then writes nothing;
/// [`Misuse::UnsupportedSource`] for a pipe; [`Error::Io`] if the output cannot be written.
///
/// # Example
/// ```
/// use sealane::file::{DecryptWith, EncryptWith, Options, encrypt, salvage_file};
///
/// let [damaged, saved] =
///     ["damaged", "saved"].map(|name| std::env::temp_dir().join(format!("sealane-{name}-{}", std::process::id())));
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
pub fn salvage_file(
    from: &Path,
    to: &Path,
    with: &DecryptWith,
    options: Options<'_>,
) -> Result<Salvaged, Error> {
    salvage(&Source::open(from)?, to, with, options)
}

/// Salvages an open file, which errors report as `name`. It must be a regular file at its beginning.
///
/// # Errors
/// Returns the errors of [`salvage_file`].
pub fn salvage_opened(
    from: File,
    name: &Path,
    to: &Path,
    with: &DecryptWith,
    options: Options<'_>,
) -> Result<Salvaged, Error> {
    salvage(&Source::opened(from, name)?, to, with, options)
}

fn salvage(
    source: &Source,
    to: &Path,
    with: &DecryptWith,
    mut options: Options<'_>,
) -> Result<Salvaged, Error> {
    if source.size().is_none() {
        return Err(match source.file_len().is_some() {
            true => Error::Truncated,
            false => {
                Misuse::UnsupportedSource("expected a regular file to salvage, found a pipe or a device")
                    .into()
            }
        });
    }
    let damaged = Damaged::open(&source.file, &source.path, with)?;
    let sink = output(source, Target::File(to), with.protected())?;
    let result = damaged.write_intact(sink.file(), &mut options).map_err(|e| e.about(to))?;
    sink.file().set_len(result.len).map_err(|e| Error::io(to, e))?;
    sink.finish(options.durability).map_err(|e| e.about(to))?;
    Ok(result)
}

/// A damaged file with a key that may open its chunks.
struct Damaged<'a> {
    source: DearmoredSource<&'a File>,
    path: &'a Path,
    cipher: FileCipher,
    header: FileHeader,
    /// Number of chunks that are certainly not the last: all complete ones of a file that was cut.
    chunks: u64,
    /// The plan of a file whose size a complete file can have.
    plan: Option<Plan>,
}

impl<'a> Damaged<'a> {
    fn open(file: &'a File, path: &'a Path, with: &DecryptWith) -> Result<Self, Error> {
        let source = DearmoredSource::new(file, with).map_err(|e| e.about(path))?;
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
    fn write_intact(&self, sink: &dyn WriteAt, options: &mut Options<'_>) -> Result<Salvaged, Error> {
        let layout = self.cipher.layout();
        let holes = open_intact(&*self.cipher, self.chunks, self.source(), sink, options)?;
        let hole = |chunks: Range<u64>| {
            let Job { plain, sealed, chunks, .. } = layout.full_chunks(chunks);
            Hole { plain, sealed, chunks }
        };
        let mut lost = holes.iter().map(|range| range.end - range.start).sum::<u64>();
        let mut holes: Vec<_> = holes.into_iter().map(hole).collect();
        let (len, end) = match self.plan {
            None => (layout.plain_start(self.chunks), FileEnd::Cut),
            Some(plan) => {
                let last = plan.span(self.chunks..u64::MAX);
                let end = self.write_last(&last, sink)?;
                if end == FileEnd::Damaged {
                    lost += 1;
                    add(&mut holes, &last);
                }
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

    /// Writes the chunk that is the last one unless the file was cut after it.
    fn write_last(&self, last: &Job, sink: &dyn WriteAt) -> Result<FileEnd, Error> {
        let layout = self.cipher.layout();
        let index = last.chunks.start;
        let mut sealed = memory::zeroed(last.sealed_len())?;
        let mut plain = Zeroizing::new(memory::zeroed(last.plain_len())?);
        if self.source().read_exact_at(last.sealed.start, &mut sealed).is_err() {
            return Ok(FileEnd::Damaged);
        }
        let mut end = FileEnd::Damaged;
        if opens(&*self.cipher, ChunkPosition { index, last: true }, &sealed, &mut plain)? {
            end = FileEnd::Verified;
        } else if is_full(layout, last)
            && opens(&*self.cipher, ChunkPosition { index, last: false }, &sealed, &mut plain)?
        {
            end = FileEnd::Cut;
        }
        if end != FileEnd::Damaged {
            sink.write_all_at(last.plain.start, &plain)?;
        }
        Ok(end)
    }
}

/// Returns whether a chunk can also be one before the last, in formats that mark the last chunk.
fn is_full(layout: Layout, last: &Job) -> bool {
    let index = last.chunks.start;
    layout.end == End::Marked && last.plain == layout.full_chunks(index..index + 1).plain
}

/// Adds the last chunk to the holes, as a part of the hole that ends before it.
fn add(holes: &mut Vec<Hole>, last: &Job) {
    match holes.last_mut() {
        Some(before) if before.chunks.end == last.chunks.start => {
            before.plain.end = last.plain.end;
            before.sealed.end = last.sealed.end;
            before.chunks.end = last.chunks.end;
        }
        _ => holes.push(Hole {
            plain: last.plain.clone(),
            sealed: last.sealed.clone(),
            chunks: last.chunks.clone(),
        }),
    }
}

/// Returns the first cipher under which a chunk verifies. The first chunks and the last one are tried.
fn found_key(
    ciphers: Vec<FileCipher>,
    source: NamedSource<'_>,
    size: u64,
) -> Result<Option<FileCipher>, Error> {
    for cipher in ciphers {
        let layout = cipher.layout();
        let plan = layout.plan_sealed(size).ok();
        let full = plan.map_or_else(|| layout.complete_chunks(size), |plan| plan.chunks() - 1);
        if any_opens(&*cipher, 0..full.min(MAX_TRIES), source)? {
            return Ok(Some(cipher));
        }
        if let Some(plan) = plan {
            let last = plan.span(full..u64::MAX);
            let mut sealed = memory::zeroed(last.sealed_len())?;
            let mut plain = Zeroizing::new(memory::zeroed(last.plain_len())?);
            let position = ChunkPosition { index: full, last: true };
            if source.read_exact_at(last.sealed.start, &mut sealed).is_ok()
                && opens(&*cipher, position, &sealed, &mut plain)?
            {
                return Ok(Some(cipher));
            }
        }
    }
    Ok(None)
}

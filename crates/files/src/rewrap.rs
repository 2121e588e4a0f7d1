//! Gives an age file new recipients or a new passphrase. The payload is copied, not decrypted.
//!
//! The header of an age file holds the file key, wrapped for each recipient. A new header wraps the
//! same file key for other recipients; all bytes after the header stay the same.

use super::armor::DearmoredSource;
use super::output::{OutputFile, Target};
use super::paths::Source;
use super::protected::Protected;
use super::{DecryptWith, Options};
use crate::prelude::*;
use engine::folder::EntryKind;
use engine::io::WriteAt;
use engine::pipeline::run_reporting;
use engine::prefix::parse_prefix;
use keys::age::armor::Encoder;
use keys::age::{self, Identity, NONCE_LEN, Recipient};
use std::io::Write;

/// Bytes that a thread copies at once.
const PIECE: u64 = 1 << 20;

/// Keys for rewrapping age files: identities that decrypt them and their new recipients. Cheap to
/// clone.
#[derive(Clone, Debug)]
pub struct Rewrap {
    identities: Arc<[Identity]>,
    recipients: Arc<[Recipient]>,
    protected: Protected,
}

impl Rewrap {
    /// Checks that `recipients` can be combined. `inputs` are other files that the call uses, such
    /// as an identity file; an output that would replace one of them is refused.
    ///
    /// # Errors
    /// Returns [`Misuse::NoIdentities`]; [`Misuse::InvalidRecipients`] if the recipients cannot be
    /// combined.
    pub fn new(identities: Vec<Identity>, recipients: Vec<Recipient>, inputs: &[PathBuf]) -> Result<Self> {
        if identities.is_empty() {
            return Err(Misuse::NoIdentities.into());
        }
        age::check_recipients(&recipients)?;
        let protected = Protected::new(inputs);
        Ok(Self { identities: identities.into(), recipients: recipients.into(), protected })
    }

    /// Returns the new header of a binary age file of `len` bytes that begins with `prefix`, and
    /// the length of the old header. The new file is the new header followed by the bytes after the
    /// old one. `None` if the header is longer than `prefix`.
    ///
    /// For files stored elsewhere, such as in an object store that copies the bytes itself.
    ///
    /// # Errors
    /// Returns the errors of [`rewrap_file`] about the header and the length;
    /// [`Misuse::UnsupportedSource`] for an armored file, because its lines would have to be
    /// rewritten.
    pub fn new_header(&self, prefix: &[u8], len: u64) -> Result<Option<(String, u64)>> {
        if Armor::detect(prefix) == Some(Armor::Ascii) {
            return Err(Misuse::UnsupportedSource(
                "expected a binary age file, found an armored one; rewrap a copy of it on a disk",
            )
            .into());
        }
        match age::rewrapped_header(prefix, &self.identities, &self.recipients)? {
            Parsed::Ready((header, old_len)) => {
                age::layout((old_len + NONCE_LEN) as u64).plan_sealed(len)?;
                Ok(Some((header, old_len as u64)))
            }
            Parsed::NeedsMore(_) if prefix.len() as u64 >= len => Err(Error::Truncated),
            Parsed::NeedsMore(_) => Ok(None),
        }
    }

    /// Returns what decrypts the old file, to verify bytes before they replace it.
    pub fn decryption(&self) -> DecryptWith {
        DecryptWith::age(&self.identities)
    }

    /// Returns the new header of the file in `source`, and the length of its old header.
    fn header(&self, source: &dyn ReadAt, len: u64) -> Result<(String, u64)> {
        let (header, old_len) = parse_prefix(source, len, |prefix, _| {
            age::rewrapped_header(prefix, &self.identities, &self.recipients)
        })?;
        // Refuses a file that ends inside its payload, if its length shows it.
        age::layout((old_len + NONCE_LEN) as u64).plan_sealed(len)?;
        Ok((header, old_len as u64))
    }
}

/// Writes the age file `from` to the file `to` for other recipients. `to` appears complete or not
/// at all. It may be `from`, to replace it. An armored file stays armored.
///
/// Copies the payload without decrypting or verifying it. If both headers have the same length, a
/// file system such as XFS or Btrfs shares the blocks of both files instead.
///
/// **The file key stays the same.** A former recipient can decrypt every copy of `from`, and with a
/// copy's file key the new file too. To exclude a former recipient, decrypt the file and encrypt it
/// again.
///
/// # Errors
/// Returns [`Error::NoMatchingKey`] and the other errors of [`age::open`] about the header;
/// [`Error::Truncated`]; [`Misuse::UnsupportedSource`] for a pipe; [`Misuse::OutputIsInput`];
/// [`Error::SourceChanged`]; [`Error::Cancelled`]; [`Error::Io`] with the path. On failure `to` is
/// unchanged.
///
/// # Example
/// ```
/// use sealane::age::{Armor, Identity, Kind};
/// use sealane::file::{DecryptWith, EncryptWith, Options, Rewrap, decrypt, encrypt, rewrap_file};
///
/// let path = std::env::temp_dir().join(format!("sealane-rewrap-{}.age", std::process::id()));
/// let (alice, bob) = (Identity::generate(Kind::X25519)?, Identity::generate(Kind::X25519)?);
/// let file = encrypt(b"hello", &EncryptWith::age(&[alice.recipient()], Armor::Binary))?;
/// std::fs::write(&path, file)?;
///
/// let with = Rewrap::new(vec![alice.clone()], vec![alice.recipient(), bob.recipient()], &[])?;
/// rewrap_file(&path, &path, &with, Options::default())?;
/// assert_eq!(decrypt(&std::fs::read(&path)?, &DecryptWith::age(&[bob]))?, b"hello");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), sealane::Error>(())
/// ```
pub fn rewrap_file(from: &Path, to: &Path, with: &Rewrap, options: Options<'_>) -> Result<()> {
    rewrap(Source::open(from)?, Target::Any(to), with, options)
}

#[doc(hidden)]
pub fn rewrap(source: Source, to: Target<'_>, with: &Rewrap, mut options: Options<'_>) -> Result<()> {
    let len = source.regular_size("expected a regular age file to rewrap, found a pipe or a device")?;
    let about_source = |e: Error| e.about(&source.path);
    let decoded = DearmoredSource::new(&source.file, Armor::detect).map_err(about_source)?;
    let decoded_len = decoded.size().map_err(|e| Error::io(&source.path, e))?;
    let (header, start) = with.header(&decoded, decoded_len).map_err(about_source)?;

    let sink = OutputFile::create_checked(to, |found| match found.id {
        // A descriptor would get the new header while the old file is read.
        Some(id) if Some(id) == source.id() => match found.kind {
            EntryKind::Special => Err(Misuse::SameFile(to.path().to_owned()).into()),
            _ => Ok(()),
        },
        id => Ok(with.protected.check(id, to.path())?),
    })?;
    let payload = Payload { source: &decoded, path: &source.path, start, len: decoded_len - start };
    let mut written = || -> Result<()> {
        match (decoded.armor(), sink.staged()) {
            (Armor::Ascii, _) => {
                let mut encoder = Encoder::new(sink.file())?;
                encoder.write_all(header.as_bytes())?;
                payload.copy(&mut options, |piece| Ok(encoder.write_all(piece)?))?;
                encoder.finish()?;
            }
            (Armor::Binary, Some(staged)) => {
                let (file, at) = (staged.file(), header.len() as u64);
                // Blocks are shared only at equal positions, so the headers must have the same
                // length, as after exchanging a recipient for another of the same type.
                if at == start && share_blocks(&source.file, file) {
                    file.write_all_at(0, header.as_bytes())?;
                    options.progress(Some(payload.len)).finish(payload.len)?;
                } else {
                    staged.allocate(at + payload.len)?;
                    file.write_all_at(0, header.as_bytes())?;
                    payload.copy_on(file, at, &mut options)?;
                }
            }
            (Armor::Binary, None) => {
                let mut file = sink.file();
                file.write_all(header.as_bytes())?;
                payload.copy(&mut options, |piece| Ok(file.write_all(piece)?))?;
            }
        }
        Ok(())
    };
    written().map_err(|e| e.about(to.path()))?;
    source.check_len(len)?;
    // Some Windows file systems do not replace an open file.
    drop(source);
    sink.finish(options.durability).map_err(|e| e.about(to.path()))
}

/// The bytes after the old file's header.
struct Payload<'a> {
    source: &'a dyn ReadAt,
    path: &'a Path,
    start: u64,
    len: u64,
}

impl Payload<'_> {
    /// Passes all bytes to `write`, in order.
    fn copy(&self, options: &mut Options<'_>, mut write: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut buffer = memory::zeroed(PIECE.min(self.len) as usize)?;
        let (mut done, mut progress) = (0, options.progress(Some(self.len)));
        while done < self.len {
            let piece = &mut buffer[..PIECE.min(self.len - done) as usize];
            self.source.read_exact_at(self.start + done, piece).map_err(|e| Error::io(self.path, e))?;
            write(piece)?;
            done += piece.len() as u64;
            progress.update(done)?;
        }
        progress.finish(self.len)
    }

    /// Copies all bytes to position `at` of the file `to`, on several threads. One thread takes
    /// about as long as `cp`; two take 0.6 times as long (measured on ext4, from and to the page
    /// cache; so does one `copy_file_range`).
    fn copy_on(&self, to: &File, at: u64, options: &mut Options<'_>) -> Result<()> {
        let buffer = || memory::zeroed(PIECE.min(self.len) as usize);
        run_reporting(self.len.div_ceil(PIECE), self.len, options, buffer, |job, buffer| {
            let from = job * PIECE;
            let piece = &mut buffer[..PIECE.min(self.len - from) as usize];
            self.source.read_exact_at(self.start + from, piece).map_err(|e| Error::io(self.path, e))?;
            to.write_all_at(at + from, piece)?;
            Ok(piece.len())
        })
    }
}

/// Makes the empty file `to` share all blocks of the file `from`: no time, no space. Returns
/// whether the file system can, as XFS and Btrfs can.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn share_blocks(from: &File, to: &File) -> bool {
    // Whatever the reason, the bytes are copied instead, and a disk error is found again.
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn share_blocks(_: &File, _: &File) -> bool {
    false
}

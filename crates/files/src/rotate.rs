//! Moves files to a keyring's primary key.
//!
//! A file is encrypted again only if it is not under the primary key. The new file has a new salt,
//! and so a new derived key. It replaces the old one when complete.

use super::Options;
use super::output::{OutputFile, Target};
use super::paths::{Source, allocate};
use super::protected::Protected;
use super::reader::Reader;
use crate::prelude::*;
use engine::attributes::Attributes;
use engine::io::{Concurrency, NamedSource};
use engine::pipeline::seal_all;
use std::fs;

const IRREGULAR: &str = "expected a regular encrypted file, found a pipe or a device";

/// A keyring and the context of the files to move to its primary key. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Rotation {
    encrypt: EncryptWith,
    /// Every enabled key.
    decrypt: DecryptWith,
    /// The primary key alone.
    current: DecryptWith,
    protected: Protected,
}

impl Rotation {
    /// Binds a keyring to the files' context. `inputs` are other files that the call uses, such as
    /// the keyring's own; a file that would replace one of them is refused.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for a keyring of AES-SIV keys.
    pub fn new(keyring: &Keyring, context: &[u8], inputs: &[PathBuf]) -> Result<Self> {
        Ok(Self {
            encrypt: EncryptWith::keyring(keyring, context)?,
            decrypt: DecryptWith::keyring(keyring, context)?,
            current: DecryptWith::keyring(&keyring.primary_alone(), context)?,
            protected: Protected::new(inputs),
        })
    }

    /// Returns whether a file is under the primary key. Reads its header and its last chunk.
    ///
    /// # Errors
    /// Returns the errors of [`rotate_file`] for a file that no key of the keyring opens, and for
    /// one damaged at its end.
    pub fn is_current(&self, path: &Path) -> Result<bool> {
        Ok(self.retired(&Source::open(path)?)?.is_none())
    }

    /// Returns a reader of a file under another key; `None` if it is under the primary key.
    fn retired<'a>(&self, source: &'a Source) -> Result<Option<Reader<&'a File>>> {
        let irregular = || source.regular_size(IRREGULAR).err().unwrap_or(Error::Truncated);
        match source.reader(&self.current) {
            Ok(Some(_)) => Ok(None),
            Ok(None) => Err(irregular()),
            Err(error @ Error::Io { .. }) => Err(error),
            // Another key opens it, or we get the same error again.
            Err(_) => source.reader(&self.decrypt)?.ok_or_else(irregular).map(Some),
        }
    }
}

/// Encrypts a file again with the keyring's primary key if it is under another enabled key. Returns
/// whether it was.
///
/// The new file replaces the old one when it is complete and every chunk of the old one was
/// verified. On failure, the old file is unchanged, so an interrupted call can be repeated. Do not
/// modify the file during the call.
///
/// # Errors
/// Returns [`Error::Authentication`] or [`Error::NoMatchingKey`] if no key of the keyring opens the
/// file with this context; [`Error::Truncated`]; [`Error::DamagedChunk`];
/// [`Misuse::UnsupportedSource`] for a pipe; [`Misuse::OutputIsInput`]; [`Error::SourceChanged`];
/// [`Error::Cancelled`]; [`Error::Io`] with the path.
///
/// # Example
/// ```
/// use sealane::file::{EncryptWith, Options, Rotation, encrypt, rotate_file};
/// use sealane::Algorithm;
/// use sealane::keys::{KeyType, Keyring, Prefix};
///
/// let path = std::env::temp_dir().join(format!("sealane-rotate-{}", std::process::id()));
/// let mut keyring = Keyring::generate(KeyType::Aead(Algorithm::Aes256Gcm), Prefix::Tink)?;
/// std::fs::write(&path, encrypt(b"hello", &EncryptWith::keyring(&keyring, b"")?)?)?;
///
/// keyring.rotate()?;
/// let with = Rotation::new(&keyring, b"", &[])?;
/// assert!(rotate_file(&path, &with, Options::default())?);
/// assert!(!rotate_file(&path, &with, Options::default())?, "it is under the primary key already");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), sealane::Error>(())
/// ```
pub fn rotate_file(path: &Path, with: &Rotation, options: Options<'_>) -> Result<bool> {
    rotate(Source::open(path)?, Target::Any(path), with, options)
}

#[doc(hidden)]
pub fn rotate(source: Source, to: Target<'_>, with: &Rotation, mut options: Options<'_>) -> Result<bool> {
    let Some((reader, expected)) = with.retired(&source)?.zip(source.size()) else { return Ok(false) };
    let id = source.id();
    let mut sink = OutputFile::create_checked(to, |found| match found.id {
        found if found.is_some() && found == id => Ok(()),
        found => Ok(with.protected.check(found, to.path())?),
    })?;
    if let (Target::Replica { limited, .. }, Some(metadata)) = (to, &source.metadata) {
        sink.set_attributes(Attributes::new(metadata, limited));
    }
    let staged = sink.staged().ok_or(Misuse::UnsupportedSource(IRREGULAR))?;
    let (cipher, header) = with.encrypt.create_file()?;
    let plan = cipher.layout().plan_plain(reader.size())?;
    allocate(staged, plan, plan.sealed_len())?;
    let plain = NamedSource { path: &source.path, source: &Plaintext(&reader) };
    seal_all(&*cipher, &header, plan, plain, staged.file(), &mut options).map_err(|e| e.about(to.path()))?;
    source.check_len(expected)?;
    drop(reader);
    let path = source.path.clone();
    // Some Windows file systems do not replace an open file.
    drop(source);
    // A file that has replaced the source is newer than what we read.
    let about = |e| Error::io(to.path(), e);
    if FileId::at(to.path()).map_err(about)? != id {
        let found = fs::metadata(to.path()).map_err(about)?.len();
        return Err(Error::SourceChanged { path, expected, found });
    }
    sink.finish(options.durability).map_err(|e| e.about(to.path()))?;
    Ok(true)
}

/// The plaintext of an encrypted file, as a source.
struct Plaintext<'a>(&'a Reader<&'a File>);

impl ReadAt for Plaintext<'_> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(offset, into).map_err(Error::into_io)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.0.size())
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Parallel
    }
}

//! Encrypted output files, written in pieces.

use crate::job::check_target;
use crate::prelude::*;
use engine::folder::Entry;
use files::Encryptor;
use files::output::{OutputFile, Target};

/// Encrypts pieces of any size to a new file. It gets its name in [`Writer::finish`]; a writer
/// dropped earlier leaves nothing on disk.
///
/// ```
/// use sealane::file::{DecryptWith, Durability, EncryptWith, Writer, decrypt};
///
/// let path = std::env::temp_dir().join(format!("sealane-writer-{}", std::process::id()));
/// let key = sealane::Key::generate(32)?;
/// let mut writer = Writer::create(&path, &EncryptWith::key(&key, b""))?;
/// writer.push(b"first ")?;
/// writer.push(b"second")?;
/// writer.finish(Durability::Cached)?;
/// assert_eq!(decrypt(&std::fs::read(&path)?, &DecryptWith::key(&key, b""))?, b"first second");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer {
    encryptor: Encryptor<OutputFile>,
    path: PathBuf,
}

impl Writer {
    /// Creates a file that becomes `path` when finished.
    ///
    /// # Errors
    /// Returns the errors of [`check_target`], [`OutputFile::create`] and [`Encryptor::new`];
    /// [`Misuse::OutputIsInput`].
    pub fn create(path: &Path, with: &EncryptWith) -> Result<Self> {
        check_target(path, true)?;
        let check = |found: &Entry| Ok(with.protected().check(found.id, path)?);
        Self::new(OutputFile::create_checked(Target::Any(path), check)?, path, with)
    }

    /// Creates a new file at `path`. It must not exist now or at [`Writer::finish`].
    ///
    /// # Errors
    /// Returns the errors of [`check_target`], [`OutputFile::create_new`] and [`Encryptor::new`].
    pub fn create_new(path: &Path, with: &EncryptWith) -> Result<Self> {
        check_target(path, true)?;
        Self::new(OutputFile::create_new(path)?, path, with)
    }

    fn new(output: OutputFile, path: &Path, with: &EncryptWith) -> Result<Self> {
        let encryptor = Encryptor::new(output, with).map_err(|e| e.about(path))?;
        Ok(Self { encryptor, path: path.to_owned() })
    }

    /// Encrypts a piece of the plaintext and writes all complete chunks.
    ///
    /// # Errors
    /// Returns the errors of [`Encryptor::push`].
    pub fn push(&mut self, piece: &[u8]) -> Result<()> {
        self.encryptor.push(piece).map_err(|e| e.about(&self.path))
    }

    /// Writes the remaining chunks and gives the file its name.
    ///
    /// # Errors
    /// Returns the errors of [`Encryptor::finish`] and [`OutputFile::finish`].
    pub fn finish(self, durability: Durability) -> Result<()> {
        let output = self.encryptor.finish().map_err(|e| e.about(&self.path))?;
        output.finish(durability).map_err(|e| e.about(&self.path))
    }
}

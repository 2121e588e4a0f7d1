//! From a path to a path.

use super::file_keys::{DecryptWith, EncryptWith};
use super::stream::{Decryptor, Encryptor, pump};
use super::{Options, Output, Reader};
use crate::age::Armor;
use crate::engine::io::{Discard, NamedSource};
use crate::engine::pipeline::{open_all, seal_all};
use crate::engine::plan::Plan;
use crate::engine::staged::StagedFile;
use crate::{Error, Misuse};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

/// Encrypts the file `from` to the file `to`, which appears whole or not at all.
///
/// A pipe or a device works on either side and is read or written from beginning to end.
///
/// # Errors
/// [`Error::Io`] with the path, [`Misuse::SameFile`], [`Misuse::KeyLength`], [`Error::Cancelled`]. Nothing is left
/// behind, and `from` is never touched.
pub fn encrypt_file(from: &Path, to: &Path, lock: &EncryptWith, options: Options<'_>) -> Result<(), Error> {
    encrypt(&Source::open(from)?, to, lock, options)
}

/// The same for a file that is open already; errors call it `name`. A plain file at its beginning is read by all cores,
/// anything else from where it stands to its end.
///
/// # Errors
/// Those of [`encrypt_file`].
pub fn encrypt_opened(
    from: File,
    name: &Path,
    to: &Path,
    lock: &EncryptWith,
    options: Options<'_>,
) -> Result<(), Error> {
    encrypt(&Source::opened(from, name)?, to, lock, options)
}

fn encrypt(source: &Source, to: &Path, lock: &EncryptWith, mut options: Options<'_>) -> Result<(), Error> {
    let sink = output(source, to)?;
    if let (Some(len), Some(staged), Armor::Binary) = (source.size(), sink.staged(), lock.armor()) {
        let (cipher, header) = lock.create_file()?;
        let plan = cipher.layout().plan_plain(len)?;
        allocate(staged, plan, plan.sealed_len())?;
        seal_all(&*cipher, &header, plan, source.plain(), staged.file(), &mut options)
            .map_err(|e| e.about(to))?;
    } else {
        Encryptor::new(sink.file(), lock)
            .and_then(|mut encryptor| {
                pump(|piece| source.read(piece), &mut options, |piece| encryptor.push(piece))?;
                encryptor.finish()
            })
            .map_err(|e| e.about(to))?;
    }
    sink.finish(options.durability)
}

/// Decrypts the file `from` to the file `to`, which appears whole and verified or not at all.
///
/// A pipe or a device works on either side. Into a pipe or a device each chunk goes as soon as it is verified, so
/// there a late failure comes after the beginning was written; of a plain file the last chunk is verified first.
///
/// # Errors
/// [`Error::Authentication`], [`Error::Truncated`] and those of [`encrypt_file`].
pub fn decrypt_file(from: &Path, to: &Path, unlock: &DecryptWith, options: Options<'_>) -> Result<(), Error> {
    decrypt(&Source::open(from)?, to, unlock, options)
}

/// The same for a file that is open already, as [`encrypt_opened`].
///
/// # Errors
/// Those of [`decrypt_file`].
pub fn decrypt_opened(
    from: File,
    name: &Path,
    to: &Path,
    unlock: &DecryptWith,
    options: Options<'_>,
) -> Result<(), Error> {
    decrypt(&Source::opened(from, name)?, to, unlock, options)
}

fn decrypt(source: &Source, to: &Path, unlock: &DecryptWith, mut options: Options<'_>) -> Result<(), Error> {
    let reader = source.reader(unlock)?;
    let sink = output(source, to)?;
    match (reader, sink.staged()) {
        (Some(reader), Some(staged)) => {
            allocate(staged, reader.plan(), reader.size())?;
            open_all(reader.cipher(), reader.plan(), source.named(&reader), staged.file(), &mut options)
        }
        (Some(reader), None) => copy_out(&reader, sink.file(), &mut options),
        (None, _) => {
            let mut decryptor = Decryptor::new(sink.file(), unlock);
            pump(|piece| source.read(piece), &mut options, |piece| decryptor.push(piece))
                .and_then(|()| decryptor.finish().map(drop))
        }
    }
    .map_err(|e| e.about(to))?;
    sink.finish(options.durability)
}

/// One job is one write, which finds a full disk as early, and no thread waits for it.
fn allocate(staged: &StagedFile, plan: Plan, len: u64) -> Result<(), Error> {
    match plan.jobs() {
        ..=1 => Ok(()),
        _ => staged.allocate(len),
    }
}

/// Verifies every byte of an encrypted file and keeps none.
///
/// # Errors
/// [`Error::Authentication`], [`Error::Truncated`], [`Error::Io`], [`Misuse::KeyLength`].
pub fn verify_file(from: &Path, unlock: &DecryptWith, options: Options<'_>) -> Result<(), Error> {
    verify(&Source::open(from)?, unlock, options)
}

/// The same for a file that is open already, as [`encrypt_opened`].
///
/// # Errors
/// Those of [`verify_file`].
pub fn verify_opened(
    from: File,
    name: &Path,
    unlock: &DecryptWith,
    options: Options<'_>,
) -> Result<(), Error> {
    verify(&Source::opened(from, name)?, unlock, options)
}

fn verify(source: &Source, unlock: &DecryptWith, mut options: Options<'_>) -> Result<(), Error> {
    match source.reader(unlock)? {
        Some(reader) => {
            open_all(reader.cipher(), reader.plan(), source.named(&reader), &Discard, &mut options)
        }
        None => {
            let mut decryptor = Decryptor::new(io::sink(), unlock);
            pump(|piece| source.read(piece), &mut options, |piece| decryptor.push(piece))?;
            decryptor.finish().map(drop)
        }
    }
}

/// An input that exists.
pub(super) struct Source {
    path: PathBuf,
    pub(super) file: File,
    pub(super) metadata: Metadata,
    whole: bool,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        Self::standing(File::open(path).map_err(|e| Error::io(path, e))?, path, |_| true)
    }

    fn opened(file: File, path: &Path) -> Result<Self, Error> {
        Self::standing(file, path, |mut file| file.stream_position().is_ok_and(|at| at == 0))
    }

    fn standing(file: File, path: &Path, at_start: impl FnOnce(&File) -> bool) -> Result<Self, Error> {
        let about = |e| Error::io(path, e);
        let metadata = file.metadata().map_err(about)?;
        if metadata.is_dir() {
            return Err(about(io::ErrorKind::IsADirectory.into()));
        }
        // One that claims to be empty may be one whose content is made as it is read (`/proc`).
        let whole = metadata.is_file() && metadata.len() > 0 && at_start(&file);
        Ok(Self { path: path.to_owned(), file, metadata, whole })
    }

    /// Bytes, of a plain file that is read as a whole. Whatever else is read like a pipe.
    fn size(&self) -> Option<u64> {
        self.whole.then_some(self.metadata.len())
    }

    /// `None` where it has to be read from its beginning to its end.
    fn reader(&self, unlock: &DecryptWith) -> Result<Option<Reader<&File>>, Error> {
        if self.size().is_none() {
            return Ok(None);
        }
        match Reader::new(&self.file, unlock) {
            Ok(reader) => Ok(Some(reader)),
            // Armor whose lines end in different ways can still be read in order, and broken armor be told better.
            Err(Error::Armor(_)) => Ok(None),
            Err(e) => Err(e.about(&self.path)),
        }
    }

    fn plain(&self) -> NamedSource<'_> {
        NamedSource { path: &self.path, source: &self.file }
    }

    fn named<'a>(&'a self, reader: &'a Reader<&File>) -> NamedSource<'a> {
        NamedSource { path: &self.path, source: reader.bytes() }
    }

    fn read(&self, piece: &mut [u8]) -> Result<usize, Error> {
        (&self.file).read(piece).map_err(|e| Error::io(&self.path, e))
    }
}

/// What becomes `path`, which must not be the source.
fn output(source: &Source, path: &Path) -> Result<Output, Error> {
    Output::unless(path, |found| match same_file(&source.metadata, found) {
        true => Err(Misuse::SameFile(path.to_owned()).into()),
        false => Ok(()),
    })
}

/// Through whatever links: the same bytes on the same disk.
#[cfg(unix)]
fn same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Replacing is by renaming, which the system refuses while the source is open.
#[cfg(not(unix))]
fn same_file(_: &Metadata, _: &Metadata) -> bool {
    false
}

/// All of the plaintext, in order.
fn copy_out(reader: &Reader<&File>, mut sink: &File, options: &mut Options<'_>) -> Result<(), Error> {
    let mut at = 0;
    pump(
        |piece| reader.read_at(at, piece).inspect(|n| at += *n as u64),
        options,
        |piece| Ok(io::Write::write_all(&mut sink, piece)?),
    )
}

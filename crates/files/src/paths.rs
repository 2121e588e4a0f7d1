//! Encrypts, decrypts and verifies files by path.

use super::file_hash::{FileHash, HashedFile, HashedSource};
use super::mark::FileMark;
use super::output::{OutputFile, Target};
use super::protected::Protected;
use super::stream::{Decryptor, Encryptor, pump};
use super::{Options, Reader};
use crate::prelude::*;
use engine::attributes::Attributes;
use engine::io::{Discard, NamedSource, metadata, open};
use engine::pipeline::{open_all, seal_all};
use engine::plan::Plan;
use engine::staged::StagedFile;
use std::fs::Metadata;
use std::io::{ErrorKind, Read, Seek};
use std::sync::OnceLock;

/// Encrypts the file `from` to the file `to`. `to` appears complete or not at all.
///
/// Either may be a pipe or a device: one thread reads or writes it from start to end.
///
/// # Errors
/// Returns [`Error::Io`] with the path; [`Error::SourceChanged`]; [`Misuse::SameFile`] if `to` is
/// `from`; [`Misuse::OutputIsInput`]; [`Error::Cancelled`]; the errors of [`super::encrypt`]. On
/// failure no output file remains, and `from` is never modified.
pub fn encrypt_file(from: &Path, to: &Path, with: &EncryptWith, options: Options<'_>) -> Result<()> {
    encrypt_marked(&Source::open(from)?, Target::Any(to), with, options, None)
}

/// Encrypts an open file. Errors call it `name`. A regular file at its beginning is read by several
/// threads; any other is read from its current position to its end.
///
/// # Errors
/// Returns the errors of [`encrypt_file`].
pub fn encrypt_opened(
    from: File,
    name: &Path,
    to: &Path,
    with: &EncryptWith,
    options: Options<'_>,
) -> Result<()> {
    encrypt_marked(&Source::opened(from, name)?, Target::Any(to), with, options, None)
}

/// Encrypts a source, and stores the new file's mark. An armored file, or one read like a pipe, has
/// no known mark.
#[doc(hidden)]
pub fn encrypt_marked(
    source: &Source,
    to: Target<'_>,
    with: &EncryptWith,
    mut options: Options<'_>,
    mark: Option<&OnceLock<FileMark>>,
) -> Result<()> {
    let sink = output(source, to, with.protected())?;
    let to = to.path();
    let written = match (source.size(), sink.staged(), with.armor) {
        (Some(len), Some(staged), Armor::Binary) => {
            encrypt_sized(source, len, staged, with, &mut options, mark)
        }
        _ => Ok(false),
    };
    match written {
        Ok(true) => Ok(()),
        Ok(false) => Encryptor::new(sink.file(), with).and_then(|mut encryptor| {
            let push = |piece: &[u8]| encryptor.push(piece).map(|()| piece.len() as u64);
            pump(|piece| source.read(piece), &mut options, push)?;
            encryptor.finish().map(drop)
        }),
        Err(error) => Err(error),
    }
    .map_err(|e| e.about(to))?;
    sink.finish(options.durability).map_err(|e| e.about(to))
}

/// Encrypts a regular file of `len` bytes on several threads. Returns whether these were all: a
/// file system may state another size than that of the content, as sysfs does. Then nothing is
/// written, and the source is to be read like a pipe, to its end.
fn encrypt_sized(
    source: &Source,
    len: u64,
    staged: &StagedFile,
    with: &EncryptWith,
    options: &mut Options<'_>,
    mark: Option<&OnceLock<FileMark>>,
) -> Result<bool> {
    let (cipher, header) = with.create_file()?;
    let plan = cipher.layout().plan_plain(len)?;
    allocate(staged, plan, plan.sealed_len())?;
    let hash = mark.map(|_| FileHash::new(plan.sealed_len()));
    let sink = HashedFile { file: staged.file(), hash: hash.as_ref() };
    let plain = NamedSource { path: &source.path, source: &source.file };
    let all_read = match seal_all(&*cipher, &header, plan, plain, &sink, options) {
        Ok(()) => source.ends_at(len)?,
        // A shrunken file may end before its last chunk.
        Err(Error::Io { source: e, .. }) if e.kind() == ErrorKind::UnexpectedEof => {
            source.check_len(len)?;
            false
        }
        Err(error) => return Err(error),
    };
    if !all_read {
        staged.file().set_len(0)?;
        // On Windows, positional reads and writes move the file position.
        staged.file().rewind()?;
        (&source.file).rewind().map_err(|e| Error::io(&source.path, e))?;
    } else {
        store(mark, hash, plan.sealed_len());
    }
    Ok(all_read)
}

/// Stores the mark of a file of `len` bytes if all of them were hashed. It is set once, by the
/// file's only job.
fn store(mark: Option<&OnceLock<FileMark>>, hash: Option<FileHash>, len: u64) {
    if let (Some(mark), Some(found)) = (mark, hash.and_then(|hash| FileMark::of_hash(len, hash))) {
        let _ = mark.set(found);
    }
}

/// Decrypts the file `from` to the file `to`. `to` appears complete and verified or not at all.
///
/// Either may be a pipe or a device. If `to` is one, each chunk is written once it is verified, so
/// a failure may come after the beginning was written. If `from` is a regular file, its last chunk
/// is verified first.
///
/// # Errors
/// Returns the errors of [`super::decrypt`] and [`encrypt_file`].
pub fn decrypt_file(from: &Path, to: &Path, with: &DecryptWith, options: Options<'_>) -> Result<()> {
    decrypt(&Source::open(from)?, Target::Any(to), with, options)
}

/// Decrypts an open file, read as by [`encrypt_opened`].
///
/// # Errors
/// Returns the errors of [`decrypt_file`].
pub fn decrypt_opened(
    from: File,
    name: &Path,
    to: &Path,
    with: &DecryptWith,
    options: Options<'_>,
) -> Result<()> {
    decrypt(&Source::opened(from, name)?, Target::Any(to), with, options)
}

#[doc(hidden)]
pub fn decrypt(source: &Source, to: Target<'_>, with: &DecryptWith, mut options: Options<'_>) -> Result<()> {
    let reader = source.reader(with)?;
    let sink = output(source, to, with.protected())?;
    match (reader, sink.staged()) {
        (Some(reader), Some(staged)) => {
            allocate(staged, reader.chunks.plan, reader.size())?;
            open_all(
                &*reader.chunks.cipher,
                reader.chunks.plan,
                source.sealed_source(&reader),
                staged.file(),
                &mut options,
            )
        }
        (Some(reader), None) => copy_out(&reader, sink.file(), &mut options),
        (None, _) => {
            let mut decryptor = Decryptor::new(sink.file(), with);
            pump(|piece| source.read(piece), &mut options, |piece| decryptor.take(piece))
        }
    }
    .map_err(|e| e.about(to.path()))?;
    sink.finish(options.durability).map_err(|e| e.about(to.path()))
}

/// Allocates the output of several jobs. A single job is a single write, which finds a full disk
/// just as early.
pub(super) fn allocate(staged: &StagedFile, plan: Plan, len: u64) -> Result<()> {
    if plan.jobs() > 1 { staged.allocate(len) } else { Ok(()) }
}

/// Verifies every byte of an encrypted file without writing plaintext.
///
/// # Errors
/// Returns [`Error::Io`] with the path; [`Error::Cancelled`]; the errors of [`super::decrypt`].
pub fn verify_file(from: &Path, with: &DecryptWith, options: Options<'_>) -> Result<()> {
    verify(&Source::open(from)?, with, options, None)
}

/// Verifies an open file, read as by [`encrypt_opened`].
///
/// # Errors
/// Returns the errors of [`verify_file`].
pub fn verify_opened(from: File, name: &Path, with: &DecryptWith, options: Options<'_>) -> Result<()> {
    verify(&Source::opened(from, name)?, with, options, None)
}

/// Like [`verify_file`], and stores the mark of a file that verifies, unless it is armored or read
/// like a pipe.
#[doc(hidden)]
pub fn verify(
    source: &Source,
    with: &DecryptWith,
    mut options: Options<'_>,
    mark: Option<&OnceLock<FileMark>>,
) -> Result<()> {
    match source.reader(with)? {
        Some(reader) => {
            let (plan, stored) = (reader.chunks.plan, source.sealed_source(&reader));
            let len = plan.sealed_len();
            // The chunks of an armored file are not its bytes.
            let hash = mark.filter(|_| source.size() == Some(len)).map(|_| FileHash::new(len));
            let hashed = HashedSource { source: stored.source, hash: hash.as_ref() };
            open_all(
                &*reader.chunks.cipher,
                plan,
                NamedSource { source: &hashed, ..stored },
                &Discard,
                &mut options,
            )?;
            if mark.is_some() {
                // bounded: by the header, which is in memory.
                let mut header = vec![0; plan.layout.header as usize];
                NamedSource { source: &hashed, ..stored }.read_exact_at(0, &mut header)?;
            }
            store(mark, hash, len);
            Ok(())
        }
        None => {
            let mut decryptor = Decryptor::new(io::sink(), with);
            pump(|piece| source.read(piece), &mut options, |piece| decryptor.take(piece))
        }
    }
}

/// An open input file and its path, for errors.
pub struct Source {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// `None` for a pipe or a device on Windows.
    pub(super) metadata: Option<Metadata>,
    /// Whether this is a regular file at its beginning: it is read at any position.
    seekable: bool,
}

impl Source {
    #[doc(hidden)]
    pub fn open(path: &Path) -> Result<Self> {
        Self::with_metadata(open(path).map_err(|e| Error::io(path, e))?, path, |_| true)
    }

    pub(super) fn opened(file: File, path: &Path) -> Result<Self> {
        Self::with_metadata(file, path, |mut file| file.stream_position().is_ok_and(|at| at == 0))
    }

    fn with_metadata(file: File, path: &Path, at_start: impl FnOnce(&File) -> bool) -> Result<Self> {
        let about = |e| Error::io(path, e);
        let metadata = metadata(&file).map_err(about)?;
        if metadata.as_ref().is_some_and(Metadata::is_dir) {
            return Err(about(ErrorKind::IsADirectory.into()));
        }
        // The content of a file of length 0 may be generated as it is read, as in `/proc`.
        let regular = |found: &Metadata| found.is_file() && found.len() > 0;
        let seekable = metadata.as_ref().is_some_and(regular) && at_start(&file);
        Ok(Self { path: path.to_owned(), file, metadata, seekable })
    }

    /// Returns the size of a file read at any position; `None` for one read like a pipe.
    pub(super) fn size(&self) -> Option<u64> {
        self.metadata.as_ref().filter(|_| self.seekable).map(Metadata::len)
    }

    /// Returns the length of a regular file in bytes; `None` for a pipe or a device.
    pub(super) fn file_len(&self) -> Option<u64> {
        self.metadata.as_ref().filter(|found| found.is_file()).map(Metadata::len)
    }

    /// Returns the identity of the file; `None` for a device or a pipe on Windows.
    pub(super) fn id(&self) -> Option<FileId> {
        FileId::of(&self.file, self.metadata.as_ref()?)
    }

    /// Returns the size of a regular file, for work that `expected` one.
    pub(super) fn regular_size(&self, expected: &'static str) -> Result<u64> {
        self.size().ok_or_else(|| match self.file_len() {
            Some(_) => Error::Truncated,
            None => Misuse::UnsupportedSource(expected).into(),
        })
    }

    /// Returns whether the content ends after `len` bytes, the size that the file still states.
    fn ends_at(&self, len: u64) -> Result<bool> {
        self.check_len(len)?;
        Ok(self.file.read_at(len, &mut [0]).map_err(|e| Error::io(&self.path, e))? == 0)
    }

    /// Checks that the file still has `len` bytes after all were read. The new file would lack
    /// bytes appended during the call.
    pub(super) fn check_len(&self, len: u64) -> Result<()> {
        match self.file.metadata().map_err(|e| Error::io(&self.path, e))?.len() {
            found if found == len => Ok(()),
            found => Err(Error::SourceChanged { path: self.path.clone(), expected: len, found }),
        }
    }

    /// Returns a reader; `None` if the file must be read from start to end.
    pub(super) fn reader(&self, with: &DecryptWith) -> Result<Option<Reader<&File>>> {
        if self.size().is_none() {
            return Ok(None);
        }
        match Reader::new(&self.file, with) {
            Ok(reader) => Ok(Some(reader)),
            // Armor with mixed line ends can still be read in order, and for damaged armor that
            // gives the better error.
            Err(Error::Armor(_)) => {
                // On Windows, positional reads move the file position.
                (&self.file).rewind().map_err(|e| Error::io(&self.path, e))?;
                Ok(None)
            }
            Err(e) => Err(e.about(&self.path)),
        }
    }

    fn sealed_source<'a>(&'a self, reader: &'a Reader<&File>) -> NamedSource<'a> {
        NamedSource { path: &self.path, source: &reader.chunks.source }
    }

    fn read(&self, piece: &mut [u8]) -> Result<usize> {
        (&self.file).read(piece).map_err(|e| Error::io(&self.path, e))
    }
}

/// Creates the output file. It must be neither the source nor another input.
pub(super) fn output(source: &Source, target: Target<'_>, protected: &Protected) -> Result<OutputFile> {
    let mut output = OutputFile::create_checked(target, |found| match found.id {
        Some(id) if Some(id) == source.id() => Err(Misuse::SameFile(target.path().to_owned()).into()),
        id => Ok(protected.check(id, target.path())?),
    })?;
    if let (Target::Replica { limited, .. }, Some(metadata)) = (target, &source.metadata) {
        output.set_attributes(Attributes::new(metadata, limited));
    }
    Ok(output)
}

/// Writes all plaintext in order to a file or another sink.
fn copy_out(reader: &Reader<&File>, mut sink: &File, options: &mut Options<'_>) -> Result<()> {
    let mut at = 0;
    pump(
        |piece| reader.read_at(at, piece).inspect(|n| at += *n as u64),
        options,
        |piece| io::Write::write_all(&mut sink, piece).map(|()| piece.len() as u64).map_err(Error::from),
    )
}

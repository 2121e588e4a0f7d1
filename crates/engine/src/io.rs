//! Positional reads and writes, safe to call from several threads at once.

use crate::prelude::*;
use crate::{os, place};

/// A source readable at any position, such as a file or a byte slice.
pub trait ReadAt: Send + Sync {
    /// Reads up to `into.len()` bytes from `offset` and returns how many; 0 means end of source.
    ///
    /// # Errors
    /// Returns the errors of the source. [`Self::read_exact_at`] retries after
    /// [`io::ErrorKind::Interrupted`].
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;

    /// Returns the size of the source in bytes.
    ///
    /// # Errors
    /// Returns the errors of the source.
    fn size(&self) -> io::Result<u64>;

    /// Returns whether concurrent reads of this source run in parallel.
    fn concurrency(&self) -> Concurrency {
        Concurrency::Parallel
    }

    /// Fills `into` with the bytes from `offset`.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::UnexpectedEof`] if the source ends too early; the errors of
    /// [`Self::read_at`].
    fn read_exact_at(&self, mut offset: u64, mut into: &mut [u8]) -> io::Result<()> {
        while !into.is_empty() {
            match self.read_at(offset, into) {
                Ok(0) => {
                    return Err(io::Error::new(
                        ErrorKind::UnexpectedEof,
                        "the source became shorter while it was read",
                    ));
                }
                Ok(n) => {
                    offset += n as u64;
                    into = &mut into[n..];
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

/// Whether concurrent reads of a source run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concurrency {
    /// Reads run in parallel: threads can share the source without waiting.
    Parallel,
    /// Reads wait for each other: a second thread gains little.
    Serialized,
}

/// A source and its path, for errors.
#[derive(Clone, Copy)]
pub struct NamedSource<'a> {
    #[doc(hidden)]
    pub path: &'a Path,
    #[doc(hidden)]
    pub source: &'a dyn ReadAt,
}

impl NamedSource<'_> {
    #[doc(hidden)]
    pub fn read_exact_at(self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.source.read_exact_at(offset, into).map_err(|e| Error::io(self.path, e))
    }
}

/// Returns the metadata of an open file, or `None` for a pipe or a device on Windows.
///
/// # Errors
/// Returns the system's error.
pub fn metadata(file: &File) -> io::Result<Option<Metadata>> {
    if os::is_on_disk(file)? { file.metadata().map(Some) } else { Ok(None) }
}

/// Opens a file for reading.
///
/// # Errors
/// Returns the system's error. For a folder it is [`io::ErrorKind::IsADirectory`], even on Windows,
/// where the system says permission denied.
pub fn open(path: &Path) -> io::Result<File> {
    os::open(path).or_else(|e| match e.kind() {
        ErrorKind::PermissionDenied if os::REFUSES_FOLDERS && path.is_dir() => {
            Err(ErrorKind::IsADirectory.into())
        }
        // A socket cannot be opened again, and a file perhaps by its owner only.
        _ => place::descriptor(path).ok().flatten().ok_or(e),
    })
}

/// What is said of a path that is no regular file.
pub const SPECIAL: &str = "expected a regular file, found a pipe, a socket or a device";

/// Returns the metadata of a regular file.
///
/// # Errors
/// Returns [`Error::Io`] with the path, also for a folder, a pipe, a socket and a device.
pub fn regular(path: &Path) -> Result<Metadata> {
    let found = fs::metadata(path).and_then(|found| match found.is_file() {
        true => Ok(found),
        false if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        false => Err(io::Error::new(ErrorKind::Unsupported, SPECIAL)),
    });
    found.map_err(|e| Error::io(path, e))
}

/// Opens a regular file that the caller did not name: its path comes from another file or a folder,
/// and someone who can write there could have put a pipe in its place. Never waits for one.
///
/// # Errors
/// Returns the errors of [`regular`].
pub fn open_regular(path: &Path) -> Result<File> {
    regular(path)?;
    let mut options = File::options();
    // It may have become a pipe since.
    os::never_wait(&mut options);
    options.read(true).open(path).map_err(|e| Error::io(path, e))
}

/// A sink writable at any position.
pub trait WriteAt: Sync {
    #[doc(hidden)]
    fn write_all_at(&self, offset: u64, from: &[u8]) -> io::Result<()>;
}

impl ReadAt for File {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        os::read_at(self, offset, into)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

impl ReadAt for [u8] {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let n = rest.len().min(into.len());
        into[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

macro_rules! read_through {
    ($($pointer:ty),*) => {$(
        impl<R: ReadAt + ?Sized> ReadAt for $pointer {
            fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
                (**self).read_at(offset, into)
            }

            fn size(&self) -> io::Result<u64> {
                (**self).size()
            }

            fn concurrency(&self) -> Concurrency {
                (**self).concurrency()
            }
        }
    )*};
}

read_through! { Box<R>, &R }

impl WriteAt for File {
    fn write_all_at(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        os::write_all_at(self, offset, from)
    }
}

/// A sink that discards all bytes: verification without output.
pub struct Discard;

impl WriteAt for Discard {
    fn write_all_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// On Windows each read moves the file position, and threads share it.
    #[test]
    fn threads_read_at_their_own_positions() {
        const PIECE: usize = 1000;
        let path = std::env::temp_dir().join(format!("sealane-positions-{}", std::process::id()));
        let content: Vec<u8> = (0..400 * PIECE as u32).map(|i| (i / 3 % 251) as u8).collect();
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (file, content) = (&file, &content);
                scope.spawn(move || {
                    for at in (thread..400).step_by(4).map(|piece| piece * PIECE) {
                        file.write_all_at(at as u64, &content[at..at + PIECE]).unwrap();
                    }
                });
            }
        });
        assert!(fs::read(&path).unwrap() == content);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (file, content) = (&file, &content);
                scope.spawn(move || {
                    let mut piece = [0; PIECE];
                    for at in (0..1000).map(|n| (n * 7919 + thread * 104_729) % (399 * PIECE)) {
                        file.read_exact_at(at as u64, &mut piece).unwrap();
                        assert!(piece == content[at..at + PIECE], "{at}");
                    }
                });
            }
        });
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_folder_is_reported_as_a_folder() {
        let opened = open(&std::env::temp_dir()).and_then(|file| file.metadata());
        // Unix can open folders.
        assert!(opened.map_or_else(|e| e.kind() == ErrorKind::IsADirectory, |found| found.is_dir()));
        assert_eq!(open(Path::new("/no/such/file")).unwrap_err().kind(), ErrorKind::NotFound);
    }
}

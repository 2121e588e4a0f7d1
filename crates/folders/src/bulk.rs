//! Bulk jobs: many files in one call, with progress and a manifest.
//!
//! [`Tree::walk`](super::Tree::walk) finds the files, [`Plan::new`] leaves out those that a [`Manifest`] lists as
//! finished, and [`run`] processes the rest over threads.
//!
//! ```
//! use sealane::Key;
//! use sealane::file::bulk::{self, Operation, Plan, Schedule};
//! use sealane::file::{Durability, EncryptWith, Suffix, Tree};
//! use std::ffi::OsStr;
//!
//! let root = std::env::temp_dir().join(format!("sealane-bulk-{}", std::process::id()));
//! let [from, to] = ["from", "to"].map(|name| root.join(name));
//! std::fs::create_dir_all(&from)?;
//! std::fs::write(from.join("a.txt"), "hello")?;
//!
//! let encrypt = Operation::Encrypt(EncryptWith::key(&Key::generate(32)?, b""));
//! let tree = Tree::walk(&[&from], Some(&to), Suffix::Add(OsStr::new(".sealed")))?;
//! assert!(tree.create_folders().is_empty(), "folders that could not be made");
//! let plan = Plan::new(tree.pairs, &encrypt, None)?.below(&to);
//! let schedule = Schedule { threads: None, durability: Durability::Cached, batch: 100, cancelled: &|| false };
//! bulk::run(&plan.jobs, &encrypt, None, &schedule, |report| {
//!     report.ended.into_iter().try_for_each(|(_, result)| result.map(drop))
//! })?;
//! assert!(to.join("a.txt.sealed").exists());
//! # std::fs::remove_dir_all(&root)?;
//! # Ok::<(), sealane::Error>(())
//! ```

use super::manifest::{FileFingerprint, Manifest};
pub use crate::jobs::{Done, Report, Schedule};
use base::Error;
use engine::options::Options;
use files::file_keys::{DecryptWith, EncryptWith};
use files::mark::FileMark;
use files::output::Target;
use files::paths::{Source, decrypt, encrypt_marked, verify_file};
use files::protected::Protected;
use files::reader::Reader;
use files::rewrap::{Rewrap, rewrap};
use files::rotate::{Rotation, rotate};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The operation of a bulk job on each file.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Encrypts the source to the target with a key, a passphrase or recipients.
    Encrypt(EncryptWith),
    /// Decrypts the source to the target with a key, a passphrase or identities.
    Decrypt(DecryptWith),
    /// Verifies the source, and ignores the target of the job.
    Verify(DecryptWith),
    /// Writes the age file of the source to the target for other recipients; see [`rewrap_file`](files::rewrap_file).
    Rewrap(Rewrap),
    /// Encrypts the source to the target if it is under another key than the primary one of a keyring. Source and target are
    /// the same file; see [`rotate_file`](files::rotate_file).
    Rotate(Rotation),
}

impl Operation {
    /// Processes one file and returns after its target is complete.
    ///
    /// # Errors
    /// Returns the errors of [`encrypt_file`](files::encrypt_file), [`decrypt_file`](files::decrypt_file) and
    /// [`verify_file`]; [`Error::Io`] for a target that is
    /// a pipe, a socket or a device: opening a pipe would wait for its reader.
    pub fn run(&self, source: &Path, target: &Path, options: Options<'_>) -> Result<(), Error> {
        self.run_to(source, Target::File(target), options)
    }

    /// Does the same as [`Self::run`] for a target whose path begins with the folder `root`, below which no link is
    /// followed: a link can appear in a shared folder after [`Tree::walk`](super::Tree::walk) has looked at it.
    ///
    /// # Errors
    /// Returns the errors of [`Self::run`]; [`Error::Io`] for a link.
    pub fn run_below(
        &self,
        root: &Path,
        source: &Path,
        target: &Path,
        options: Options<'_>,
    ) -> Result<(), Error> {
        self.run_to(source, Target::Below { root, path: target }, options)
    }

    /// Does the same as [`Self::run_below`], and gives the target the mode, the owner, the group and the modification time of the
    /// source, as far as this user may do that. A link or a read-only file at the target is replaced.
    ///
    /// # Errors
    /// Returns the errors of [`Self::run_below`].
    pub fn run_replica(
        &self,
        root: &Path,
        source: &Path,
        target: &Path,
        options: Options<'_>,
    ) -> Result<(), Error> {
        self.run_to(source, Target::Replica { root, path: target }, options)
    }

    /// Returns the other inputs of the call, which no output may replace; `None` for operations that have none here.
    pub(super) fn protected(&self) -> Option<&Protected> {
        match self {
            Self::Encrypt(with) => Some(with.protected()),
            Self::Decrypt(with) | Self::Verify(with) => Some(with.protected()),
            Self::Rewrap(_) | Self::Rotate(_) => None,
        }
    }

    /// Returns whether the key of [`Self::Encrypt`] opens a file, which proves that it was encrypted with this key. Reads the
    /// header and the last chunk.
    pub(super) fn opens(&self, path: &Path) -> bool {
        let Self::Encrypt(with) = self else { return false };
        let file = with.to_decrypt().and_then(|with| Some((File::open(path).ok()?, with)));
        file.is_some_and(|(file, with)| Reader::new(file, with).is_ok())
    }

    fn run_to(&self, source: &Path, target: Target<'_>, options: Options<'_>) -> Result<(), Error> {
        self.run_marked(source, target, options, None)
    }

    fn run_marked(
        &self,
        source: &Path,
        target: Target<'_>,
        options: Options<'_>,
        mark: Option<&OnceLock<FileMark>>,
    ) -> Result<(), Error> {
        match self {
            Self::Encrypt(with) => encrypt_marked(&Source::open(source)?, target, with, options, mark),
            Self::Decrypt(with) => decrypt(&Source::open(source)?, target, with, options),
            Self::Verify(with) => verify_file(source, with, options),
            Self::Rewrap(with) => rewrap(Source::open(source)?, target, with, options),
            Self::Rotate(with) => rotate(Source::open(source)?, target, with, options).map(drop),
        }
    }

    /// Reads a target of [`Self::Encrypt`] back and verifies it. The targets of other operations are not checked.
    ///
    /// # Errors
    /// Returns the errors of [`verify_file`]; [`Error::IdentityRequired`] for files that are encrypted for recipients.
    pub fn read_back(&self, target: &Path, options: Options<'_>) -> Result<(), Error> {
        match self {
            Self::Encrypt(with) => {
                verify_file(target, with.to_decrypt().ok_or(Error::IdentityRequired)?, options)
            }
            Self::Decrypt(_) | Self::Verify(_) | Self::Rewrap(_) | Self::Rotate(_) => Ok(()),
        }
    }

    /// Returns whether nothing is to be done about a file, because [`Self::Rotate`] finds it under the primary key. Other
    /// operations process every file.
    ///
    /// # Errors
    /// Returns the errors of [`Rotation::is_current`].
    pub fn is_current(&self, source: &Path) -> Result<bool, Error> {
        match self {
            Self::Rotate(with) => with.is_current(source),
            _ => Ok(false),
        }
    }

    /// Checks that the key of [`Self::Encrypt`] opens `target`, which `manifest` lists as finished: one tree has one
    /// key. Reads the header and the last chunk, but checks nothing for recipients and for other operations.
    ///
    /// # Errors
    /// Returns [`Error::KeyMismatch`] if the key does not open it, and [`Error::Io`] if it cannot be read.
    pub fn check_finished(&self, manifest: &Path, target: &Path) -> Result<(), Error> {
        let Self::Encrypt(with) = self else { return Ok(()) };
        let Some(with) = with.to_decrypt() else { return Ok(()) };
        let file = File::open(target).map_err(|e| Error::io(target, e))?;
        match Reader::new(file, with) {
            Ok(_) => Ok(()),
            Err(error @ Error::Io { .. }) => Err(error.about(target)),
            Err(_) => Err(Error::KeyMismatch { manifest: manifest.into(), target: target.into() }),
        }
    }
}

/// One file of a bulk job, with its source and its target.
#[derive(Clone, Debug)]
pub struct Job {
    /// Path of the file that the job reads.
    pub source: PathBuf,
    /// Path of the file that the job writes; empty for [`Operation::Verify`].
    pub target: PathBuf,
    /// The target folder of a [`Tree`](super::Tree), below which no link is followed.
    pub root: Option<Arc<Path>>,
    /// Whether the target gets the attributes of its source; see [`Operation::run_replica`]. It has an effect with `root` only.
    pub replica: bool,
    /// The length and modification time of the source before it is read.
    pub fingerprint: FileFingerprint,
}

/// The files of a bulk job, sorted by what is to be done about them.
#[derive(Debug, Default)]
pub struct Plan {
    /// The files that remain to be processed by the job.
    pub jobs: Vec<Job>,
    /// Source and target of each file that the manifest lists as finished, or about which nothing is to be done.
    pub finished: Vec<(PathBuf, PathBuf)>,
    /// Sources that cannot be read, each with the error that was found.
    pub problems: Vec<(PathBuf, Error)>,
}

impl Plan {
    /// Looks at the sources of `pairs` and leaves out finished files.
    ///
    /// # Errors
    /// Returns the errors of [`Operation::check_finished`] for the last file that a manifest lists as finished.
    pub fn new(
        pairs: Vec<(PathBuf, PathBuf)>,
        operation: &Operation,
        manifest: Option<&Manifest>,
    ) -> Result<Self, Error> {
        let mut plan = Self::default();
        for (source, target) in pairs {
            let found = match operation.is_current(&source) {
                Ok(true) => Ok(None),
                Ok(false) => FileFingerprint::of(&source).map(Some),
                Err(error) => Err(error),
            };
            match found {
                Err(error) => plan.problems.push((source, error)),
                Ok(None) => plan.finished.push((source, target)),
                Ok(Some(_)) if manifest.is_some_and(|manifest| manifest.finished(&source, &target)) => {
                    plan.finished.push((source, target));
                }
                Ok(Some(fingerprint)) => {
                    plan.jobs.push(Job { source, target, root: None, replica: false, fingerprint });
                }
            }
        }
        if let (Some(manifest), Some((_, target))) = (manifest, plan.finished.last()) {
            operation.check_finished(manifest.path(), target)?;
        }
        Ok(plan)
    }

    /// Follows no links below the folder `root`, with which the paths of all targets begin.
    #[must_use]
    pub fn below(mut self, root: &Path) -> Self {
        let root = Arc::from(root);
        self.jobs.iter_mut().for_each(|job| job.root = Some(Arc::clone(&root)));
        self
    }

    /// Gives the targets the attributes of their sources; see [`Operation::run_replica`].
    #[must_use]
    pub fn replicas(mut self) -> Self {
        self.jobs.iter_mut().for_each(|job| job.replica = true);
        self
    }
}

/// Processes `jobs` over threads and adds each finished file to the manifest before it is reported.
///
/// # Errors
/// Returns the first error of `listen`; see [`Schedule::run`].
pub fn run<E>(
    jobs: &[Job],
    operation: &Operation,
    manifest: Option<&mut Manifest>,
    schedule: &Schedule<'_>,
    listen: impl FnMut(Report) -> Result<(), E>,
) -> Result<(), E> {
    run_with_marks(jobs, operation, manifest, schedule, &[], listen)
}

/// Does the same as [`run`], and stores the marks of encrypted files in `marks`, which has a place for each job or none at all.
/// The mark of an armored file stays unknown; see [`FileMark::of`].
///
/// # Errors
/// Returns the errors of [`run`].
pub fn run_with_marks<E>(
    jobs: &[Job],
    operation: &Operation,
    mut manifest: Option<&mut Manifest>,
    schedule: &Schedule<'_>,
    marks: &[OnceLock<FileMark>],
    mut listen: impl FnMut(Report) -> Result<(), E>,
) -> Result<(), E> {
    let sizes: Vec<_> = jobs.iter().map(|job| job.fingerprint.len()).collect();
    let work = |at: usize, options: Options<'_>| {
        let Job { source, target, root, replica, .. } = &jobs[at];
        let target = match root {
            Some(root) if *replica => Target::Replica { root, path: target },
            Some(root) => Target::Below { root, path: target },
            None => Target::File(target),
        };
        operation.run_marked(source, target, options, marks.get(at))
    };
    schedule.run(&sizes, work, |mut report| {
        if let Some(manifest) = &mut manifest {
            for (at, result) in report.ended.iter_mut().filter(|(_, result)| result.is_ok()) {
                let Job { source, target, fingerprint, .. } = &jobs[*at];
                if let Err(error) = manifest.add(source, *fingerprint, target) {
                    *result = Err(error);
                }
            }
        }
        listen(report)
    })
}

#[cfg(test)]
mod test {
    use super::*;
    use files::Durability;
    use messages::Key;
    use std::fs;

    /// A folder with the files `0` to `9`, removed on drop.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder =
                Self(std::env::temp_dir().join(format!("sealane-bulk-{name}-{}", std::process::id())));
            let _ = fs::remove_dir_all(&folder.0);
            fs::create_dir_all(&folder.0).unwrap();
            for n in 0..10 {
                fs::write(folder.0.join(n.to_string()), vec![n; 20_000]).unwrap();
            }
            folder
        }

        fn pairs(&self) -> Vec<(PathBuf, PathBuf)> {
            (0..10).map(|n| (self.0.join(n.to_string()), self.0.join(format!("{n}.sealed")))).collect()
        }

        /// Runs a job with a manifest; returns the numbers of finished, processed and failed files.
        fn run(&self, operation: &Operation) -> Result<(usize, usize, usize), Error> {
            let mut manifest = Manifest::open(&self.0.join("manifest")).unwrap();
            let plan = Plan::new(self.pairs(), operation, Some(&manifest))?;
            assert!(plan.problems.is_empty());
            let schedule =
                Schedule { threads: None, durability: Durability::Cached, batch: 3, cancelled: &|| false };
            let (mut done, mut failed) = (0, 0);
            let result: Result<(), ()> =
                run(&plan.jobs, operation, Some(&mut manifest), &schedule, |report| {
                    for (_, result) in report.ended {
                        *if result.is_ok() { &mut done } else { &mut failed } += 1;
                    }
                    Ok(())
                });
            result.unwrap();
            Ok((plan.finished.len(), done, failed))
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn encrypt(key: u8, context: &[u8]) -> Operation {
        Operation::Encrypt(EncryptWith::key(&Key::from_bytes(&[key; 32]), context))
    }

    #[test]
    fn a_second_run_skips_finished_files() {
        let folder = Folder::new("twice");
        fs::create_dir(folder.0.join("5.sealed")).unwrap();
        let operation = encrypt(1, b"c");
        assert_eq!(folder.run(&operation).unwrap(), (0, 9, 1));
        fs::remove_dir(folder.0.join("5.sealed")).unwrap();
        assert_eq!(folder.run(&operation).unwrap(), (9, 1, 0));
        assert_eq!(folder.run(&operation).unwrap(), (10, 0, 0));
        for (_, target) in folder.pairs() {
            operation.read_back(&target, Options::default()).unwrap();
        }
    }

    #[test]
    fn another_key_or_context_does_not_continue_a_manifest() {
        let folder = Folder::new("key");
        folder.run(&encrypt(1, b"c")).unwrap();
        for other in [encrypt(2, b"c"), encrypt(1, b"other")] {
            let error = folder.run(&other).unwrap_err();
            assert!(matches!(&error, Error::KeyMismatch { manifest, .. } if manifest.ends_with("manifest")));
        }
        assert_eq!(folder.run(&encrypt(1, b"c")).unwrap(), (10, 0, 0));
    }

    #[test]
    fn reading_back_finds_a_target_that_was_not_stored() {
        let folder = Folder::new("back");
        let (source, target) = &folder.pairs()[3];
        let operation = encrypt(1, b"");
        operation.run(source, target, Options::default()).unwrap();
        let stored = fs::read(target).unwrap();
        fs::write(target, &stored[..stored.len() - 1]).unwrap();
        let result = operation.read_back(target, Options::default());
        assert!(matches!(result, Err(Error::DamagedChunk { index: 1, .. })), "{result:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_a_target() {
        let folder = Folder::new("device");
        let source = &folder.pairs()[0].0;
        let result = encrypt(1, b"").run(source, Path::new("/dev/null"), Options::default());
        assert!(matches!(result, Err(Error::Io { path: Some(path), .. }) if path == Path::new("/dev/null")));
    }
}

//! What a job reports while it runs.

use crate::inventory::Difference;
use base::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Receives the events of a job on the thread that runs it, and returns whether the job continues.
/// The list may be empty, while the job looks at its sources.
pub type Listener<'l> = dyn FnMut(Vec<Event<'_>>) -> ControlFlow<()> + 'l;

/// Something that happened in a job.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// What a dry run would do.
    Planned(Action, Pair<'a>),
    /// A file, folder or link could not be processed. The others still are.
    Failed {
        /// Path of the source, or of the folder or link.
        path: &'a Path,
        /// Path that the error is about. It is the target if that does not verify, and the manifest
        /// if that cannot be written.
        subject: PathBuf,
        /// The reason.
        error: Error,
    },
    /// The manifest lists the file as finished, or it is under the primary key already.
    Skipped(Pair<'a>),
    /// The files are processed now.
    Begun {
        /// Number of files to process.
        files: usize,
        /// Their length in bytes.
        bytes: u64,
    },
    /// A file was processed.
    Done {
        /// Its paths. The target is empty for files that are verified.
        pair: Pair<'a>,
        /// Number of plaintext bytes.
        bytes: u64,
        /// Time that the file took, in seconds.
        seconds: f64,
    },
    /// Sent every 20 ms while files are processed, after the events of the files that ended.
    Progress {
        /// Bytes of sources read so far by this job.
        bytes: u64,
        /// Bytes of sources that are processed, skipped or failed.
        ended: u64,
        /// Bytes of all sources.
        total: u64,
    },
    /// All files were processed. Links, the inventory, removals and folder attributes follow.
    FilesEnded,
    /// A symbolic link was copied.
    Linked(Pair<'a>),
    /// The previous inventory is damaged, so the new one begins without former versions.
    InventoryReplaced(Error),
    /// A target that the job skipped is not the version that the previous inventory lists.
    Exchanged(&'a Path),
    /// An encrypted file whose source is gone stays, because neither the manifest nor the key shows
    /// that sealane wrote it.
    Unproven(&'a Path),
    /// A file or folder stays, because its name does not decrypt.
    Unknown(&'a Path),
    /// An encrypted file was removed, because its source is gone.
    Removed(Pair<'a>),
    /// Nothing was removed, because not everything is certain.
    NothingRemoved(Error),
    /// A difference from the inventory.
    Differs {
        /// Path of the file or link.
        path: PathBuf,
        /// The difference.
        difference: Difference,
    },
    /// The folder was compared with an inventory.
    Compared {
        /// Counter of the inventory.
        counter: u64,
        /// Number of files that the inventory lists.
        files: usize,
        /// Number of differences, with files that cannot be read.
        differences: usize,
    },
    /// The numbers of the whole job.
    Ended(Summary),
}

/// A source and its target.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// Path of the source. For a removal, below the source folder.
    pub source: &'a Path,
    /// Path of the target.
    pub target: &'a Path,
}

/// A step of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Processes a file.
    Process,
    /// Copies a symbolic link.
    Link,
    /// Removes an encrypted file whose source is gone.
    Remove,
}

/// The numbers of files of a job. In a dry run, they say what the job would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files processed.
    pub done: usize,
    /// Files that the manifest lists as finished, or that are under the primary key already.
    pub skipped: usize,
    /// Symbolic links copied.
    pub links: usize,
    /// Files and folders left out by patterns. The content of a folder is not counted.
    pub excluded: usize,
    /// Encrypted files removed.
    pub removed: usize,
    /// Failures, and differences from the inventory.
    pub failed: usize,
    /// Plaintext bytes of the files processed. Executors report source bytes.
    pub bytes: u64,
    /// Bytes in the sources of the files processed.
    pub source_bytes: u64,
}

/// An error that ends a job.
#[derive(Debug)]
pub struct JobError {
    /// The manifest or the inventory, if the error is about one of them.
    pub subject: Option<PathBuf>,
    /// The reason; [`Error::Cancelled`] if the listener stopped the job.
    pub error: Error,
}

impl JobError {
    pub(super) fn about(path: &Path) -> impl Fn(Error) -> Self {
        move |error| Self { subject: Some(path.to_owned()), error }
    }
}

impl From<Error> for JobError {
    fn from(error: Error) -> Self {
        Self { subject: None, error }
    }
}

/// Sends events to the listener of a job.
pub(super) fn send(listen: &mut Listener<'_>, events: Vec<Event<'_>>) -> Result<(), JobError> {
    match listen(events) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Cancelled.into()),
    }
}

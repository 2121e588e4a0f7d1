//! What a job reports while it runs.

use crate::inventory::Difference;
use crate::prelude::*;
use std::ops::ControlFlow;

/// Receives the events of a job on the thread that runs it. Returns whether the job continues. The
/// list may be empty while the job looks at its sources.
pub type Listener<'l> = dyn FnMut(Vec<Event<'_>>) -> ControlFlow<()> + 'l;

/// Something that happened in a job. A listener names every event, so that the compiler shows the
/// listeners that miss a new one.
#[derive(Debug)]
pub enum Event<'a> {
    /// What a dry run would do.
    Planned(Action, Pair<'a>),
    /// A file, folder or link could not be processed. The others still are.
    Failed {
        /// Path of the source, or of the folder or link.
        path: &'a Path,
        /// Path that the error is about: the target if it does not verify, the manifest if it
        /// cannot be written.
        subject: PathBuf,
        /// The reason.
        error: Error,
    },
    /// The file is finished according to the manifest, or already under the primary key.
    Skipped(Pair<'a>),
    /// Processing of files begins.
    Begun {
        /// Number of files to process.
        files: usize,
        /// Their total length in bytes.
        bytes: u64,
    },
    /// A file was processed.
    Done {
        /// Its paths. The target is empty if the file is only verified.
        pair: Pair<'a>,
        /// Plaintext bytes.
        bytes: u64,
        /// Time taken, in seconds.
        seconds: f64,
    },
    /// Sent every 20 ms while files are processed, after the events of finished files.
    Progress {
        /// Bytes of sources read so far by this job.
        bytes: u64,
        /// Bytes of sources processed, skipped or failed.
        ended: u64,
        /// Bytes of all sources.
        total: u64,
    },
    /// All files were processed. Links, the inventory, removals and folder attributes follow.
    FilesEnded,
    /// A symbolic link was copied.
    Linked(Pair<'a>),
    /// The previous inventory is damaged or under a retired key; the new one has no former
    /// versions.
    InventoryReplaced(Error),
    /// A finished target is not the version in the previous inventory, nor what the last job wrote.
    /// Its source is encrypted again.
    Exchanged(&'a Path),
    /// An encrypted file without a source stays: neither the manifest nor the key shows that
    /// sealane wrote it.
    Unproven(&'a Path),
    /// A file or folder stays: its name does not decrypt.
    Unknown(&'a Path),
    /// An encrypted file without a source was removed.
    Removed(Pair<'a>),
    /// Nothing was removed, because something was uncertain.
    NothingRemoved(Error),
    /// A difference from the inventory.
    Differs {
        /// Path of the file or link.
        path: PathBuf,
        /// The difference.
        difference: Difference,
    },
    /// The inventory was written.
    Listed {
        /// Identifier of the folder.
        folder: &'a str,
        /// Counter of the inventory.
        counter: u64,
        /// Number of files in the inventory.
        files: usize,
        /// Whether the identifier is new because recipients cannot read the previous inventory.
        unread: bool,
    },
    /// The folder was compared with an inventory.
    Compared {
        /// Identifier of the folder; `None` in an inventory of version 1.
        folder: Option<&'a str>,
        /// Counter of the inventory.
        counter: u64,
        /// Number of files in the inventory.
        files: usize,
        /// Number of differences, including unreadable files.
        differences: usize,
    },
    /// The counts of the whole job.
    Ended(Summary),
}

/// A source and its target.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// Path of the source; for a removal, relative to the source folder.
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
    /// Removes an encrypted file without a source.
    Remove,
}

/// Counts of a job. A dry run counts what the job would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files processed.
    pub done: usize,
    /// Files finished according to the manifest, or already under the primary key.
    pub skipped: usize,
    /// Symbolic links copied.
    pub links: usize,
    /// Files and folders left out by patterns. Contents of a folder are not counted.
    pub excluded: usize,
    /// Encrypted files removed.
    pub removed: usize,
    /// Failures, and differences from the inventory.
    pub failed: usize,
    /// Plaintext bytes of the processed files. Executors report source bytes.
    pub bytes: u64,
    /// Source bytes of the processed files.
    pub source_bytes: u64,
}

impl Summary {
    /// Returns whether a job had something to do, and all of it failed.
    #[doc(hidden)]
    pub fn is_failure(&self) -> bool {
        self.failed > 0 && self.done + self.skipped + self.links == 0
    }
}

/// The result of a job or a step of it.
pub type JobResult<T = ()> = Result<T, JobError>;

/// An error that ends a job.
#[derive(Debug)]
pub struct JobError {
    /// The manifest or the inventory, if the error is about one of them.
    pub subject: Option<PathBuf>,
    /// The reason, [`Error::Cancelled`] if the listener stopped the job.
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
#[doc(hidden)]
pub fn send(listen: &mut Listener<'_>, events: Vec<Event<'_>>) -> JobResult {
    if listen(events).is_continue() { Ok(()) } else { Err(Error::Cancelled.into()) }
}

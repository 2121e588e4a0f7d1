//! Options that several commands share.

mod keys;

pub(crate) use keys::{DecryptWith, EncryptWith, KeyringFile, Passphrase, RewrapWith, RotateWith, formats};

use clap::builder::{RangedU64ValueParser, TypedValueParser};
use clap::{Args, ValueHint};
use sealane::file::Durability;
use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The sources and the destination of `encrypt` and `decrypt`.
#[derive(Args)]
pub(crate) struct Transfer {
    /// Destination: a file, which appears complete or not at all; a folder, in which files keep their names; or '-' for
    /// standard output, the default. Several inputs need a folder
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,
    /// Files to read; '-' is standard input, the default
    #[arg(value_name = "IN", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) folders: Folders,
    /// With --recursive: list finished files in FILE. After an interruption, the same command continues with the
    /// remaining files and those that have changed
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "recursive")]
    pub(crate) manifest: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) effort: Effort,
    /// Wait until the data is on the disk before a file gets its name
    #[arg(long)]
    pub(crate) sync: bool,
    #[command(flatten)]
    pub(crate) output_options: OutputOptions,
}

impl Transfer {
    pub(crate) fn durability(&self) -> Durability {
        if self.sync { Durability::Synced } else { Durability::Cached }
    }
}

/// The options about whole folders.
#[derive(Args)]
pub(crate) struct Folders {
    /// Process whole folders: every file below IN, to the same place below the folder OUT. Links to files are followed.
    /// Links to folders, pipes, sockets and devices are reported as errors, and the other files are still processed
    #[arg(long)]
    pub(crate) recursive: bool,
    /// With --recursive: suffix of encrypted files, for example .sealed. 'encrypt' appends it to each name, 'decrypt'
    /// removes it. Default: none
    #[arg(long, value_name = "SUFFIX", requires = "recursive")]
    suffix: Option<OsString>,
}

impl Folders {
    pub(crate) fn suffix(&self) -> &OsStr {
        self.suffix.as_deref().unwrap_or_default()
    }
}

/// The number of threads.
#[derive(Args)]
pub(crate) struct Effort {
    /// Number of threads. With --recursive, small files are processed in parallel with one thread each. Default: one per
    /// core, at most 8
    #[arg(long, value_name = "N", value_parser = threads())]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// The options about the output of a command.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct OutputOptions {
    /// Print errors only: no progress bar, no warnings, no results
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print results and errors as JSON, one document per line. Errors go to standard error
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses a number of threads. The limit protects the memory from a mistyped number: each thread has its own buffers.
fn threads() -> impl TypedValueParser<Value = NonZeroUsize> {
    RangedU64ValueParser::<u64>::from(1..=256).try_map(|n| NonZeroUsize::try_from(usize::try_from(n)?))
}

//! Options that several commands share.

mod keys;

pub(crate) use keys::{
    DecryptWith, EncryptWith, KeyringFile, Passphrase, Recipients, RewrapWith, RotateWith, Unlock, formats,
    key_types,
};

use crate::endpoints::read_list;
use crate::error::{Failure, Result, name};
use clap::builder::{RangedU64ValueParser, TypedValueParser};
use clap::{Args, ValueHint};
use sealane::file::{Callback, Description, Durability, Exclude, Options};
use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Sources and destination of `encrypt` and `decrypt`.
#[derive(Args)]
pub(crate) struct Transfer {
    /// Destination: a file that appears complete or not at all; a folder where files keep their
    /// names; or '-' for standard output, the default. Several inputs need a folder
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Files to read; '-' is standard input, the default
    #[arg(value_name = "IN")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) folders: Folders,
    /// With --recursive: list finished files in FILE. After an interruption, the same command
    /// continues with the remaining and changed files. Default FILE for a folder that describes
    /// itself: below ~/.local/state/sealane
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) manifest: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// With --recursive: print what would be done, without doing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) output_options: OutputOptions,
}

/// An option, and whether it was given.
pub(crate) type Given = (&'static str, bool);

/// Returns the first option that was given.
pub(crate) fn first(options: impl IntoIterator<Item = Given>) -> Option<&'static str> {
    options.into_iter().find_map(|(option, given)| given.then_some(option))
}

/// Refuses options for whole folders, if the command processes files.
pub(crate) fn refuse_folder_options(given: impl IntoIterator<Item = Given>) -> Result<()> {
    match first(given) {
        Some(option) => Err(Failure::misuse(format!(
            "{option} requires --recursive, or a folder that describes itself, see 'sealane init'"
        ))),
        None => Ok(()),
    }
}

impl Transfer {
    /// Returns the options for whole folders.
    pub(crate) fn folder_options(&self) -> impl Iterator<Item = Given> {
        let own = [("--manifest", self.manifest.is_some()), ("--dry-run", self.dry_run)];
        self.folders.given().into_iter().chain(self.selection.given()).chain(own)
    }

    /// Checks that a manifest has a place: only a folder that describes itself has a default one.
    pub(crate) fn check_manifest(&self) -> Result<()> {
        match &self.manifest {
            Some(None) => Err(Failure::misuse(
                "--manifest requires a FILE, except for a folder that describes itself, see 'sealane init'",
            )),
            _ => Ok(()),
        }
    }
}

/// Options for whole folders.
#[derive(Args)]
pub(crate) struct Folders {
    /// Process whole folders: every file below IN, to the same place below the folder OUT. Links to
    /// files are followed. Links to folders, pipes, sockets and devices are reported as errors; the
    /// other files are still processed. Implied for vaults, and for a folder that describes itself
    /// ('sealane init'), which determines --suffix, --encrypt-names and --preserve too
    #[arg(long)]
    pub(crate) recursive: bool,
    /// With --recursive: suffix of encrypted files, such as .sealed. 'encrypt' appends it to each
    /// name, 'decrypt' removes it. Default: none
    #[arg(long, value_name = "SUFFIX")]
    suffix: Option<OsString>,
    /// With --recursive: key for encrypting the names of files and folders, and the paths in links:
    /// a file from 'sealane keygen -t aes-256-siv', or a keyring of such keys. 'decrypt' and
    /// 'verify' decrypt names with it. Lengths of names and the shape of the tree stay visible.
    /// Patterns of --exclude apply to unencrypted names
    #[arg(long, value_name = "NAMEKEY", value_hint = ValueHint::FilePath)]
    pub(crate) encrypt_names: Option<PathBuf>,
}

/// Which files of a folder to process, and which attributes to keep.
#[derive(Args)]
pub(crate) struct Selection {
    /// With --recursive: leave out files and folders below IN that match PATTERN, in .gitignore
    /// syntax, such as '*.tmp' or '/cache/'; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,
    /// With --recursive: leave out what matches a line of FILE, in .gitignore syntax; may be
    /// repeated. Patterns of --exclude come after those of files
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) exclude_from: Vec<PathBuf>,
    /// With --recursive: keep modes, modification times and symbolic links of files and folders,
    /// and owners and groups where permitted. Links are not followed. The paths in them are
    /// encrypted only with --encrypt-names. 'decrypt' keeps what is safe, see --preserve-all
    #[arg(long)]
    pub(crate) preserve: bool,
}

/// Inventory options of `encrypt`.
#[derive(Args)]
pub(crate) struct WriteInventory {
    /// With --recursive: write a list of all encrypted files to FILE, encrypted with the same keys
    /// and signed with --sign-key. 'verify --inventory FILE' finds missing, added, changed,
    /// exchanged, renamed and old files. FILE must be outside IN and OUT. Default for a folder that
    /// describes itself, with --sign-key: OUT.inventory
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "sign_key")]
    pub(crate) inventory: Option<PathBuf>,
    /// Private key that signs the inventory: an OpenSSH Ed25519 key, or a minisign secret key. The
    /// signature goes to FILE.sig or FILE.minisig
    #[arg(long, value_name = "KEY", value_hint = ValueHint::FilePath)]
    pub(crate) sign_key: Option<PathBuf>,
    /// Identifier that the inventory must have; the first job printed it. Later ones keep it, but
    /// with recipients (-r) they cannot read it, so give it
    #[arg(long, value_name = "ID", requires = "sign_key")]
    pub(crate) folder: Option<String>,
}

/// Inventory options of `verify`.
#[derive(Args, Clone)]
pub(crate) struct ReadInventory {
    /// With --recursive: compare the files of one folder with the list in FILE, after verifying its
    /// signature in FILE.sig or FILE.minisig. Default for a folder that describes itself, with
    /// --signer: its path and .inventory
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "signer")]
    pub(crate) inventory: Option<PathBuf>,
    /// Public keys whose signatures are accepted: SSH lines (ssh-ed25519 AAAA...), or a minisign
    /// public key
    #[arg(long, value_name = "KEYS", value_hint = ValueHint::FilePath)]
    pub(crate) signer: Option<PathBuf>,
    /// Refuse an inventory with a counter below N; the last verification printed its counter. Only
    /// this check detects rollback: an old folder with its old inventory
    #[arg(long, value_name = "N", requires = "signer", default_value_t = 0, hide_default_value = true)]
    pub(crate) min_counter: u64,
    /// Refuse the inventory of another folder than ID; 'encrypt' and 'verify' print the identifier.
    /// Only this check detects another folder of the same signer, with its inventory
    #[arg(long, value_name = "ID", requires = "signer")]
    pub(crate) folder: Option<String>,
}

impl Selection {
    /// Returns the options that were given.
    pub(crate) fn given(&self) -> [Given; 3] {
        [
            ("--exclude", !self.exclude.is_empty()),
            ("--exclude-from", !self.exclude_from.is_empty()),
            ("--preserve", self.preserve),
        ]
    }

    /// Reads the patterns of files to leave out; `None` if there are none.
    pub(crate) fn patterns(&self) -> Result<Option<Exclude>> {
        if self.exclude.is_empty() && self.exclude_from.is_empty() {
            return Ok(None);
        }
        let mut lines: Vec<String> = Vec::new();
        for path in &self.exclude_from {
            // Which byte is wrong does not help.
            let text = String::from_utf8(read_list(path)?).map_err(|_| {
                Failure::misuse(format!("{}: expected patterns in UTF-8, found other bytes", name(path)))
            })?;
            let own: Vec<String> = text.lines().map(str::to_owned).collect();
            Exclude::new(own.iter().map(String::as_str))
                .map_err(|e| Failure::misuse(format!("{}: {e}", name(path))))?;
            lines.extend(own);
        }
        lines.extend(self.exclude.iter().cloned());
        let all = Exclude::new(lines.iter().map(String::as_str));
        all.map(Some).map_err(|e| Failure::misuse(format!("--exclude: {e}")))
    }
}

impl Folders {
    /// Returns the options that were given.
    pub(crate) fn given(&self) -> [Given; 2] {
        [("--suffix", self.suffix.is_some()), ("--encrypt-names", self.encrypt_names.is_some())]
    }

    /// Checks that no option contradicts the description of a folder.
    pub(crate) fn check(&self, found: &Description, preserve: bool) -> Result<()> {
        let contradicts = |option: &str, told: String| {
            Err(Failure::misuse(format!(
                "{option} contradicts {}: {told}; leave the option out",
                name(found.path())
            )))
        };
        match &self.suffix {
            Some(suffix) if suffix != found.suffix() => {
                let suffix = suffix.to_string_lossy();
                contradicts(&format!("--suffix '{suffix}'"), format!("its suffix is '{}'", found.suffix()))
            }
            _ if self.encrypt_names.is_some() => {
                let told =
                    if found.names() { "it has its own key of names" } else { "its names are not encrypted" };
                contradicts("--encrypt-names", told.into())
            }
            _ if preserve && !found.preserve() => {
                contradicts("--preserve", "it keeps no modes, times and links".into())
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn suffix(&self) -> &OsStr {
        self.suffix.as_deref().unwrap_or_default()
    }

    /// Returns whether names are kept whatever they look like, because the suffix is the empty one.
    pub(crate) fn keeps_names(&self) -> bool {
        self.suffix.as_ref().is_some_and(|suffix| suffix.is_empty())
    }
}

/// The number of threads.
#[derive(Args)]
pub(crate) struct Effort {
    /// Number of threads. With --recursive, small files are processed in parallel, one thread each.
    /// Default: one per core, at most 8
    #[arg(long, value_name = "N", value_parser = threads())]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// The number of threads, and how safe written files are.
#[derive(Args)]
pub(crate) struct Writing {
    #[command(flatten)]
    pub(crate) effort: Effort,
    /// Wait until the data is on disk before a file gets its name
    #[arg(long)]
    pub(crate) sync: bool,
}

impl Effort {
    pub(crate) fn options<'a>(&self, progress: &'a mut Callback<'a>) -> Options<'a> {
        Options { threads: self.threads, progress: Some(progress), ..Options::default() }
    }
}

impl Writing {
    pub(crate) fn durability(&self) -> Durability {
        if self.sync { Durability::Synced } else { Durability::Cached }
    }

    pub(crate) fn options<'a>(&self, progress: &'a mut Callback<'a>) -> Options<'a> {
        Options { durability: self.durability(), ..self.effort.options(progress) }
    }
}

// Options about a command's output. A doc comment would replace the command's.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct OutputOptions {
    /// Print errors only: no progress bar, no warnings, and no results except with --json
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print results and errors as JSON, one document per line. Errors go to standard error
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses a number of threads. The limit protects memory from a mistyped number: each thread has
/// its own buffers.
fn threads() -> impl TypedValueParser<Value = NonZeroUsize> {
    RangedU64ValueParser::<u64>::from(1..=256).try_map(|n| NonZeroUsize::try_from(usize::try_from(n)?))
}

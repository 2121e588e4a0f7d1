//! What can be typed.

mod locks;

pub(crate) use locks::{DecryptWith, EncryptWith, Keygen, Passphrase};

use locks::formats;
use sealane::file::Format;

use clap::builder::RangedU64ValueParser;
use clap::{Args as Group, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;

/// Encrypts files at the speed of the hardware, in formats that others read.
///
/// With a key, files are C2SP chunked-encryption@v1 (Cobblestone-128 or -256 by its length): AES-GCM in chunks, readable
/// from the middle, bound to the key and a context. For people or a passphrase, they are age v1.
///
/// Exit status: 0 done, 1 failed, 2 misuse, 130 interrupted.
#[derive(Parser)]
#[command(
    name = "sealane",
    bin_name = "sealane",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Keygen(Keygen),
    Encrypt(Encrypt),
    Decrypt(Decrypt),
    Cat(Cat),
    Inspect(Inspect),
    Verify(Verify),
    Providers(Providers),
    Lab(Lab),
    Completions(Completions),
}

/// Encrypt files, or standard input
#[derive(Group)]
pub(crate) struct Encrypt {
    #[command(flatten)]
    pub(crate) lock: EncryptWith,
    #[command(flatten)]
    pub(crate) transfer: Transfer,
}

/// Decrypt files, or standard input
///
/// A file appears whole and verified, or not at all. Of a plain file the end is verified before the first byte goes to
/// standard output. Of a pipe it cannot be: only exit status 0 says that the output is whole.
#[derive(Group)]
pub(crate) struct Decrypt {
    #[command(flatten)]
    pub(crate) unlock: DecryptWith,
    #[command(flatten)]
    pub(crate) transfer: Transfer,
}

#[derive(Group)]
pub(crate) struct Transfer {
    /// Where the result goes: a file, which appears whole or not at all; a folder, where files keep their names; or
    /// '-' for standard output, the default. Several inputs need a folder
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,
    /// Files to read; '-' is standard input, the default
    #[arg(value_name = "IN", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) folders: Folders,
    /// With --recursive: keep a list of the files that are done in this file. After an interruption the same command
    /// goes on; files that changed since are done again
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "recursive")]
    pub(crate) manifest: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) effort: Effort,
    /// Wait for the disk before the file gets its name
    #[arg(long)]
    pub(crate) sync: bool,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

#[derive(Group)]
pub(crate) struct Folders {
    /// Work on whole folders: what each IN contains, folders and all, goes to the folder OUT under the same names. Links
    /// to files are those files; what is neither file nor folder is an error, and the rest is done
    #[arg(long)]
    pub(crate) recursive: bool,
    /// With --recursive: what the names of encrypted files end with, such as .sealed: put behind by encrypt, taken off by
    /// decrypt. Default: names stay
    #[arg(long, value_name = "SUFFIX", requires = "recursive")]
    pub(crate) suffix: Option<OsString>,
}

/// Print a range out of the middle of an encrypted file
///
/// Every byte printed was verified, and the end of the file before the first of them.
#[derive(Group)]
pub(crate) struct Cat {
    #[command(flatten)]
    pub(crate) unlock: DecryptWith,
    /// Bytes of plaintext, END exclusive; either may be left out. What lies past the end is not there
    #[arg(long, value_name = "START:END", value_parser = range)]
    pub(crate) range: Range<u64>,
    /// The encrypted file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

/// Tell what can be told of an encrypted file without a key; nothing is verified
#[derive(Group)]
pub(crate) struct Inspect {
    /// What the file is, where it does not say itself: only age files do
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<Format>,
    /// The encrypted file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

/// Verify every byte of encrypted files, and write nothing
#[derive(Group)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) unlock: DecryptWith,
    /// Encrypted files; '-' is standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) folders: Folders,
    #[command(flatten)]
    pub(crate) effort: Effort,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

/// List who can compute which algorithm on this machine, who does, and why the others do not
///
/// SEALANE_PROVIDER=ring asks for a provider; SEALANE_CPU=-avx512f,-vaes takes processor features away.
#[derive(Group)]
pub(crate) struct Providers {
    /// Only this one
    #[arg(value_name = "ALGORITHM")]
    pub(crate) algorithm: Option<String>,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

/// Measure sealane beside the libraries that are installed (with the Python package)
///
/// It comes with the Python package: pip install 'sealane[lab]'. Each verb has a --help there.
#[derive(Group)]
pub(crate) struct Lab {
    /// What to do
    #[arg(value_name = "VERB", value_enum)]
    pub(crate) verb: Option<LabVerb>,
    /// What the verb takes
    #[arg(value_name = "ARG", trailing_var_arg = true, allow_hyphen_values = true, value_hint = ValueHint::AnyPath)]
    pub(crate) rest: Vec<OsString>,
}

/// The verbs of the lab, which is not in this program.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LabVerb {
    /// Measure, and write tables, plots and a report: lab run [NAME]... [--quick] [--out DIR] [--list]
    Run,
    /// Write the report of a run again: lab report DIR
    Report,
    /// What became faster or slower from one run to another, beyond the noise: lab compare OLD NEW [--all]
    Compare,
}

/// Print a completion script for a shell
#[derive(Group)]
pub(crate) struct Completions {
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Group)]
pub(crate) struct Effort {
    /// Threads, for a file or, with --recursive, for as many small files at once. Default: one a core, at most 8
    #[arg(long, value_name = "N", value_parser = threads())]
    pub(crate) threads: Option<NonZeroUsize>,
}

#[derive(Group, Clone, Copy, Default)]
pub(crate) struct Talk {
    /// No bar, no warnings; errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Speak JSON: results on standard output where it does not carry the data, errors on standard error
    #[arg(long)]
    pub(crate) json: bool,
}

impl Command {
    /// How the command was asked to speak.
    pub(crate) fn talk(&self) -> Talk {
        match self {
            Self::Keygen(args) => args.talk,
            Self::Encrypt(args) => args.transfer.talk,
            Self::Decrypt(args) => args.transfer.talk,
            Self::Cat(args) => args.talk,
            Self::Inspect(args) => args.talk,
            Self::Verify(args) => args.talk,
            Self::Providers(args) => args.talk,
            Self::Lab(_) | Self::Completions(_) => Talk::default(),
        }
    }
}

/// Each thread holds buffers of its own, so a mistyped number must not take the machine's memory.
fn threads() -> impl clap::builder::TypedValueParser<Value = NonZeroUsize> {
    use clap::builder::TypedValueParser;
    RangedU64ValueParser::<u64>::from(1..=256).try_map(|n| NonZeroUsize::try_from(usize::try_from(n)?))
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let (start, end) = text.split_once(':').ok_or("expected START:END, START: or :END")?;
    let number = |text: &str, missing| match text {
        "" => Ok(missing),
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => {
            digits.parse().map_err(|_| format!("{digits} is more than a file can hold"))
        }
        other => Err(format!("{other:?} is not a number of bytes")),
    };
    let range = number(start, 0)?..number(end, u64::MAX)?;
    if range.start > range.end {
        return Err(format!("START {} lies after END {}", range.start, range.end));
    }
    Ok(range)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn ranges() {
        assert_eq!(range("3:5"), Ok(3..5));
        assert_eq!(range("5:5"), Ok(5..5));
        assert_eq!(range("3:"), Ok(3..u64::MAX));
        assert_eq!(range(":5"), Ok(0..5));
        assert_eq!(range(":"), Ok(0..u64::MAX));
        for bad in ["", "3", "5:3", "-1:3", "+1:3", "1:2:3", "a:b", " 1:2", "1:99999999999999999999"] {
            assert!(range(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_parser_is_consistent() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }
}

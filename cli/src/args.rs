//! What can be typed.

use clap::builder::RangedU64ValueParser;
use clap::{Args as Group, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;

/// Encrypts files at the speed of the hardware, in a format that others read.
///
/// Files are C2SP chunked-encryption@v1 (Cobblestone-128 or -256 by the length of the key): AES-GCM in chunks,
/// readable from the middle, bound to a key and a context.
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
    Completions(Completions),
}

/// Make a new key: one line of JSON (JWK "oct", RFC 7517)
#[derive(Group)]
pub(crate) struct Keygen {
    /// What the key is for
    #[arg(short = 't', long = "type", value_name = "TYPE", value_enum, default_value_t = KeyType::Aes256)]
    pub(crate) kind: KeyType,
    /// A new file that only you can read; an existing one is never overwritten. Default: standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum KeyType {
    #[value(name = "aes-256")]
    Aes256,
    #[value(name = "aes-128")]
    Aes128,
}

/// Encrypt files, or standard input
#[derive(Group)]
pub(crate) struct Encrypt {
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
    pub(crate) transfer: Transfer,
}

#[derive(Group)]
pub(crate) struct Transfer {
    #[command(flatten)]
    pub(crate) unlock: Unlock,
    /// Where the result goes: a file, which appears whole or not at all; a folder, where files keep their names; or
    /// '-' for standard output, the default. Several inputs need a folder
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,
    /// Files to read; '-' is standard input, the default
    #[arg(value_name = "IN", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) effort: Effort,
    /// Wait for the disk before the file gets its name
    #[arg(long)]
    pub(crate) sync: bool,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

/// Print a range out of the middle of an encrypted file
///
/// Every byte printed was verified, and the end of the file before the first of them.
#[derive(Group)]
pub(crate) struct Cat {
    #[command(flatten)]
    pub(crate) unlock: Unlock,
    /// Bytes of plaintext, END exclusive; either may be left out. What lies past the end is not there
    #[arg(long, value_name = "START:END", value_parser = range)]
    pub(crate) range: Range<u64>,
    /// The encrypted file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

/// Tell what an encrypted file's size says; no key needed, nothing verified
#[derive(Group)]
pub(crate) struct Inspect {
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
    pub(crate) unlock: Unlock,
    /// Encrypted files; '-' is standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,
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

/// Print a completion script for a shell
#[derive(Group)]
pub(crate) struct Completions {
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Group)]
pub(crate) struct Unlock {
    /// The key: a file that 'sealane keygen' made, or any JWK of type "oct"
    #[arg(short, long, value_name = "KEYFILE", value_hint = ValueHint::FilePath)]
    pub(crate) key: PathBuf,
    /// What the data is for; decrypting needs the same words
    #[arg(short, long, value_name = "CONTEXT", default_value = "", hide_default_value = true)]
    pub(crate) context: OsString,
}

#[derive(Group)]
pub(crate) struct Effort {
    /// Threads for a file. Default: one a core, at most 8
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
            Self::Completions(_) => Talk::default(),
        }
    }
}

impl Unlock {
    /// The context as it goes into the file: on Unix the bytes that were typed, whatever their encoding.
    pub(crate) fn context(&self) -> &[u8] {
        self.context.as_encoded_bytes()
    }
}

impl KeyType {
    /// The name that is typed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Aes256 => "aes-256",
            Self::Aes128 => "aes-128",
        }
    }

    /// Bytes of such a key.
    pub(crate) fn key_len(self) -> usize {
        match self {
            Self::Aes256 => sealane::Algorithm::Aes256Gcm.key_len(),
            Self::Aes128 => sealane::Algorithm::Aes128Gcm.key_len(),
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

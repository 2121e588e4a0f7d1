//! Keys, people and passphrases, as they are typed.

use super::Talk;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as Group, ValueHint};
use sealane::file::Format;
use sealane::keys::Kind;
use std::ffi::OsString;
use std::path::PathBuf;

/// Make a new key
///
/// A symmetric key is one line of JSON (JWK "oct", RFC 7517); an age key is a line of text; others are PEM (PKCS #8).
/// Of a key pair that goes to a file, the public side is printed.
#[derive(Group)]
pub(crate) struct Keygen {
    /// What the key is for
    #[arg(short = 't', long = "type", value_name = "TYPE", value_parser = kinds(), default_value = "aes-256")]
    pub(crate) kind: Kind,
    /// A new file that only you can read; an existing one is never overwritten. Default: standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Protect the key with a passphrase
    #[arg(short = 'p', long)]
    pub(crate) passphrase: bool,
    /// Protect the key for these people: it can be loaded with one of their identities
    #[arg(short, long = "recipient", value_name = "RECIPIENT", conflicts_with = "passphrase")]
    pub(crate) recipients: Vec<String>,
    /// Make no key: print the public side of the one in this file
    #[arg(
        short = 'y',
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["kind", "passphrase", "recipients"]
    )]
    pub(crate) public_of: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) asked: Passphrase,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

/// What a file is encrypted with.
#[derive(Group)]
#[group(required = true, multiple = true, args = ["key", "recipients", "recipients_files", "passphrase"])]
pub(crate) struct EncryptWith {
    /// A symmetric key: a file that 'sealane keygen' made, any JWK of type "oct", or a keyset of Tink's in JSON
    #[arg(
        short,
        long,
        value_name = "KEYFILE",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["recipients", "recipients_files", "passphrase", "armor"]
    )]
    pub(crate) key: Option<PathBuf>,
    /// A file with your private keys, where the key file was made for people; may be repeated
    #[arg(
        short,
        long = "identity",
        value_name = "IDENTITY",
        value_hint = ValueHint::FilePath,
        requires = "key"
    )]
    pub(crate) identities: Vec<PathBuf>,
    /// Somebody who can decrypt: age1..., age1pq1..., ssh-ed25519 ... or ssh-rsa ...; may be repeated
    #[arg(short, long = "recipient", value_name = "RECIPIENT", conflicts_with = "passphrase")]
    pub(crate) recipients: Vec<String>,
    /// A file of recipients, one a line; may be repeated
    #[arg(
        short = 'R',
        long = "recipients-file",
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with = "passphrase"
    )]
    pub(crate) recipients_files: Vec<PathBuf>,
    /// A passphrase, typed twice
    #[arg(short, long)]
    pub(crate) passphrase: bool,
    /// Text instead of bytes, for mails; of age files only
    #[arg(short, long)]
    pub(crate) armor: bool,
    /// What the data is for; decrypting needs the same words. With -k only
    #[arg(short, long, value_name = "CONTEXT", default_value = "", hide_default_value = true)]
    pub(crate) context: OsString,
    /// The format. Default: chunked with -k, age otherwise
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<Format>,
    #[command(flatten)]
    pub(crate) asked: Passphrase,
}

/// What opens an encrypted file.
#[derive(Group)]
#[group(required = true, multiple = true, args = ["key", "identities", "passphrase"])]
pub(crate) struct DecryptWith {
    /// The symmetric key: a file that 'sealane keygen' made, any JWK of type "oct", or a keyset of Tink's in JSON
    #[arg(
        short,
        long,
        value_name = "KEYFILE",
        value_hint = ValueHint::FilePath,
        conflicts_with = "passphrase"
    )]
    pub(crate) key: Option<PathBuf>,
    /// A file with your private keys: age's, or one of SSH's; may be repeated. With -k, what opens the key file
    #[arg(
        short,
        long = "identity",
        value_name = "IDENTITY",
        value_hint = ValueHint::FilePath,
        conflicts_with = "passphrase"
    )]
    pub(crate) identities: Vec<PathBuf>,
    /// The file was encrypted with a passphrase
    #[arg(short, long)]
    pub(crate) passphrase: bool,
    /// The words that the data was encrypted with. With -k only
    #[arg(short, long, value_name = "CONTEXT", default_value = "", hide_default_value = true)]
    pub(crate) context: OsString,
    /// The format. Default: chunked with -k, age otherwise
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<Format>,
    /// Most work that a passphrase may ask for, as the base-2 logarithm of scrypt's N. Each step doubles time and memory
    #[arg(long, value_name = "LOG_N", value_parser = clap::value_parser!(u8).range(1..=30))]
    pub(crate) max_work_factor: Option<u8>,
    #[command(flatten)]
    pub(crate) asked: Passphrase,
}

/// Where a passphrase comes from.
#[derive(Group, Clone, Copy)]
pub(crate) struct Passphrase {
    /// Read the passphrase from this file descriptor, up to the end of its first line, instead of asking for it
    #[arg(long = "passphrase-fd", value_name = "FD")]
    pub(crate) descriptor: Option<u32>,
}

fn kinds() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.iter().map(|kind| kind.name())).try_map(|name| name.parse::<Kind>())
}

pub(super) fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name)).try_map(|name| name.parse::<Format>())
}

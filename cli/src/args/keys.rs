//! Options that name keys, recipients and passphrases.

use crate::error::{Failure, Result};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as Group, ValueHint};
use sealane::file::Format;
use sealane::keys::KeyType;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The key, the recipients or the passphrase to encrypt with.
#[derive(Group)]
pub(crate) struct EncryptWith {
    /// Symmetric key: a file from 'sealane keygen', any JWK of type "oct", or a Tink keyset in
    /// JSON. env:NAME reads the key from an environment variable
    #[arg(
        short,
        long,
        value_name = "KEYFILE",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["recipients", "recipients_files", "plugins", "passphrase", "armor"]
    )]
    pub(crate) key: Option<PathBuf>,
    /// Use the key with this "kid" of the JWK Set in KEYFILE
    #[arg(long, value_name = "KID", requires = "key")]
    pub(crate) kid: Option<String>,
    /// File with private keys that decrypt KEYFILE, if it is encrypted for recipients, or the keys
    /// of a folder that describes itself; may be repeated
    #[arg(short, long = "identity", value_name = "IDENTITY", value_hint = ValueHint::FilePath)]
    pub(crate) identities: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) to: Recipients,
    /// Encrypt with the age plugin age-plugin-NAME in its default mode; may be repeated
    #[arg(short = 'j', long = "plugin", value_name = "NAME", conflicts_with = "passphrase")]
    pub(crate) plugins: Vec<String>,
    /// Encrypt with a passphrase, asked for twice at the terminal. An empty answer makes one and
    /// shows it
    #[arg(short, long)]
    pub(crate) passphrase: bool,
    /// Write text (PEM) instead of bytes, to paste into a mail. Not with -k
    #[arg(short, long)]
    pub(crate) armor: bool,
    /// Purpose of the data, such as its file name; pass the same CONTEXT to decrypt. Only with -k
    #[arg(short, long, value_name = "CONTEXT", default_value = "", hide_default_value = true)]
    pub(crate) context: OsString,
    /// File format. Default: chunked with -k, otherwise age
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<Format>,
    #[command(flatten)]
    pub(crate) asked: Passphrase,
}

/// The recipients to encrypt for, instead of a passphrase.
#[derive(Group)]
pub(crate) struct Recipients {
    /// Public key of a recipient to encrypt for (age1..., age1pq1..., age1NAME1... of an age
    /// plugin, ssh-ed25519 ..., ssh-rsa ...); may be repeated
    #[arg(short, long = "recipient", value_name = "RECIPIENT", conflicts_with = "passphrase")]
    pub(crate) recipients: Vec<String>,
    /// File with recipients to encrypt for, one per line; may be repeated
    #[arg(
        short = 'R',
        long = "recipients-file",
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with = "passphrase"
    )]
    pub(crate) recipients_files: Vec<PathBuf>,
}

/// The key, the identities or the passphrase to decrypt with. Without any, a file with a passphrase
/// asks for it.
#[derive(Group)]
pub(crate) struct DecryptWith {
    /// Symmetric key: a file from 'sealane keygen', any JWK of type "oct", or a Tink keyset in
    /// JSON. env:NAME reads the key from an environment variable
    #[arg(
        short,
        long,
        value_name = "KEYFILE",
        value_hint = ValueHint::FilePath,
        conflicts_with = "passphrase"
    )]
    pub(crate) key: Option<PathBuf>,
    /// Use the key with this "kid" of the JWK Set in KEYFILE
    #[arg(long, value_name = "KID", requires = "key")]
    pub(crate) kid: Option<String>,
    /// File with age or SSH private keys or age plugin identities, or '-' for standard input; may
    /// be repeated. With -k: private keys that decrypt KEYFILE
    #[arg(
        short,
        long = "identity",
        value_name = "IDENTITY",
        value_hint = ValueHint::FilePath,
        conflicts_with = "passphrase"
    )]
    pub(crate) identities: Vec<PathBuf>,
    /// Decrypt with the age plugin age-plugin-NAME in its default mode; may be repeated
    #[arg(short = 'j', long = "plugin", value_name = "NAME", conflicts_with_all = ["passphrase", "key"])]
    pub(crate) plugins: Vec<String>,
    /// Decrypt with a passphrase. At a terminal -p can be omitted
    #[arg(short, long)]
    pub(crate) passphrase: bool,
    /// CONTEXT that the data was encrypted with. Only with -k
    #[arg(short, long, value_name = "CONTEXT", default_value = "", hide_default_value = true)]
    pub(crate) context: OsString,
    /// File format. Default: chunked with -k, otherwise age
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<Format>,
    /// Highest scrypt work factor to accept: the base-2 logarithm of N. Each step doubles time and
    /// memory. Default: 20
    #[arg(long, value_name = "LOG_N", value_parser = clap::value_parser!(u8).range(1..=30))]
    pub(crate) max_work_factor: Option<u8>,
    /// Read paths in REMOTE, a remote of the type crypt in rclone's configuration: the file in
    /// RCLONE_CONFIG, or ~/.config/rclone/rclone.conf. What it encrypts must be a local folder
    #[arg(long, value_name = "REMOTE", conflicts_with_all = ["key", "identities", "plugins", "passphrase"])]
    pub(crate) rclone: Option<String>,
    #[command(flatten)]
    pub(crate) asked: Passphrase,
}

/// Identities or passphrase of age files, and their new recipients or passphrase.
#[derive(Group)]
#[group(required = true, multiple = true, args = ["recipients", "recipients_files", "passphrase", "wrapping_key"])]
pub(crate) struct RewrapWith {
    /// The key that a folder that describes itself was made with
    #[arg(short, long, value_name = "KEYFILE", value_hint = ValueHint::FilePath, conflicts_with = "plugins")]
    pub(crate) key: Option<PathBuf>,
    /// For a folder that describes itself: its new key, a file or the reference of a wrapping key
    #[arg(long, value_name = "KEY", value_hint = ValueHint::FilePath, conflicts_with_all = ["recipients", "recipients_files", "passphrase"])]
    pub(crate) wrapping_key: Option<PathBuf>,
    /// File with age or SSH private keys or age plugin identities that decrypt the files now; may
    /// be repeated. Without -i and -j, the old passphrase is asked for
    #[arg(short, long = "identity", value_name = "IDENTITY", value_hint = ValueHint::FilePath)]
    pub(crate) identities: Vec<PathBuf>,
    /// Decrypt the headers with the age plugin age-plugin-NAME and its default identity; may be
    /// repeated
    #[arg(short = 'j', long = "plugin", value_name = "NAME")]
    pub(crate) plugins: Vec<String>,
    #[command(flatten)]
    pub(crate) to: Recipients,
    /// Encrypt with a new passphrase, asked for twice at the terminal
    #[arg(short, long)]
    pub(crate) passphrase: bool,
    /// Read the old passphrase from the first line of file descriptor FD instead of the terminal
    #[arg(long, value_name = "FD", conflicts_with_all = ["identities", "plugins"])]
    pub(crate) old_passphrase_fd: Option<u32>,
    /// Read the old passphrase from the first line that COMMAND prints. A shell runs COMMAND
    #[arg(
        long,
        value_name = "COMMAND",
        value_hint = ValueHint::CommandString,
        conflicts_with_all = ["identities", "plugins", "old_passphrase_fd"]
    )]
    pub(crate) old_passphrase_command: Option<OsString>,
    /// Highest scrypt work factor to accept from the old passphrase: the base-2 logarithm of N.
    /// Default: 20
    #[arg(
        long,
        value_name = "LOG_N",
        value_parser = clap::value_parser!(u8).range(1..=30),
        conflicts_with_all = ["identities", "plugins"]
    )]
    pub(crate) max_work_factor: Option<u8>,
    #[command(flatten)]
    pub(crate) asked: Passphrase,
}

/// The keyring of files to move to its primary key, or the key of a folder that describes itself.
#[derive(Group)]
pub(crate) struct RotateWith {
    /// Keyring: a file from 'sealane keygen --keyring', or any Tink keyset. env:NAME reads it from
    /// an environment variable. For a folder that describes itself: the key it was made with
    #[arg(short, long, value_name = "KEYRING", value_hint = ValueHint::FilePath)]
    pub(crate) key: Option<PathBuf>,
    /// File with private keys that decrypt KEYRING, or the keys of a folder that describes itself,
    /// if they are encrypted for recipients; may be repeated
    #[arg(short, long = "identity", value_name = "IDENTITY", value_hint = ValueHint::FilePath)]
    pub(crate) identities: Vec<PathBuf>,
    /// CONTEXT that the files were encrypted with; they keep it
    #[arg(short, long, value_name = "CONTEXT", default_value = "", hide_default_value = true)]
    pub(crate) context: OsString,
    #[command(flatten)]
    pub(crate) asked: Passphrase,
}

/// A keyring's file, and the keys that protect it.
#[derive(Group)]
pub(crate) struct KeyringFile {
    /// File of the keyring
    #[arg(value_name = "RING", value_hint = ValueHint::FilePath)]
    pub(crate) ring: PathBuf,
    /// File with private keys that decrypt RING, if it is encrypted for recipients; may be repeated
    #[arg(short, long = "identity", value_name = "IDENTITY", value_hint = ValueHint::FilePath)]
    pub(crate) identities: Vec<PathBuf>,
    /// Recipient who can decrypt the changed RING, if it is encrypted for recipients. Name all of
    /// them; may be repeated
    #[arg(short, long = "recipient", value_name = "RECIPIENT")]
    pub(crate) recipients: Vec<String>,
    /// File with such recipients, one per line; may be repeated
    #[arg(short = 'R', long = "recipients-file", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) recipients_files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) asked: Passphrase,
}

/// The options that open a folder that describes itself.
pub(crate) struct Unlock<'a> {
    pub(crate) key: Option<&'a PathBuf>,
    pub(crate) kid: Option<&'a String>,
    pub(crate) identities: &'a [PathBuf],
    pub(crate) plugins: &'a [String],
    pub(crate) passphrase: bool,
    pub(crate) asked: &'a Passphrase,
    /// An option that does not apply to such a folder.
    pub(crate) contradiction: Option<&'static str>,
}

macro_rules! unlocking {
    ($($with:ident)*) => {$(
        impl $with {
            /// Returns the options that open a folder that describes itself.
            pub(crate) fn unlock(&self) -> Unlock<'_> {
                Unlock {
                    key: self.key.as_ref(),
                    kid: self.kid.as_ref(),
                    identities: &self.identities,
                    plugins: &self.plugins,
                    passphrase: self.passphrase,
                    asked: &self.asked,
                    contradiction: self.contradiction(),
                }
            }
        }
    )*};
}

unlocking! { EncryptWith DecryptWith }

impl EncryptWith {
    /// Returns an option that does not apply to a folder that describes itself.
    fn contradiction(&self) -> Option<&'static str> {
        super::first([
            ("-r", !self.to.recipients.is_empty()),
            ("-R", !self.to.recipients_files.is_empty()),
            ("-a", self.armor),
            ("-c", !self.context.is_empty()),
            ("--format", self.format.is_some_and(|format| format != Format::Chunked)),
        ])
    }
}

impl Recipients {
    /// Returns whether neither a recipient nor a file was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.recipients.is_empty() && self.recipients_files.is_empty()
    }
}

impl RotateWith {
    /// Returns the options that open a folder that describes itself.
    pub(crate) fn unlock(&self) -> Unlock<'_> {
        let (key, identities, asked) = (self.key.as_ref(), &self.identities, &self.asked);
        let contradiction = (!self.context.is_empty()).then_some("-c");
        Unlock { key, kid: None, identities, plugins: &[], passphrase: false, asked, contradiction }
    }
}

impl DecryptWith {
    /// Returns an option that does not apply to a folder that describes itself.
    fn contradiction(&self) -> Option<&'static str> {
        let is_other = self.format.is_some_and(|format| format != Format::Chunked);
        super::first([("-c", !self.context.is_empty()), ("--format", is_other)])
    }

    /// Returns whether a passphrase decrypts the files: with `-p`, and if nothing else was given.
    pub(crate) fn has_passphrase(&self) -> bool {
        self.passphrase || self.key.is_none() && self.identities.is_empty() && self.plugins.is_empty()
    }
}

impl RewrapWith {
    /// Returns where the old passphrase comes from.
    pub(crate) fn old(&self) -> Passphrase {
        Passphrase {
            descriptor: self.old_passphrase_fd,
            command: self.old_passphrase_command.clone(),
            ..Passphrase::default()
        }
    }

    /// Returns the options that open a folder that describes itself.
    pub(crate) fn unlock<'a>(&'a self, asked: &'a Passphrase) -> Unlock<'a> {
        let (key, identities, plugins) = (self.key.as_ref(), &self.identities, &self.plugins);
        Unlock { key, kid: None, identities, plugins, passphrase: false, asked, contradiction: None }
    }

    /// Returns whether a key is derived from a passphrase for each file, which takes about a
    /// second.
    pub(crate) fn has_passphrase(&self) -> bool {
        self.passphrase || self.identities.is_empty() && self.plugins.is_empty()
    }
}

/// Where a passphrase comes from.
#[derive(Group, Clone, Default)]
pub(crate) struct Passphrase {
    /// Read the passphrase from the first line of file descriptor FD instead of the terminal
    #[arg(long = "passphrase-fd", value_name = "FD", conflicts_with = "command")]
    pub(crate) descriptor: Option<u32>,
    /// Read the passphrase from the first line that COMMAND prints, such as 'pass show backup'. A
    /// shell runs COMMAND
    #[arg(long = "passphrase-command", value_name = "COMMAND", value_hint = ValueHint::CommandString)]
    pub(crate) command: Option<OsString>,
    /// Whether it was read, or a key was loaded that may need it later; all clones share this.
    #[arg(skip)]
    pub(crate) used: Arc<AtomicBool>,
}

impl Passphrase {
    /// Returns whether an option supplies the passphrase.
    pub(crate) fn is_given(&self) -> bool {
        self.descriptor.is_some() || self.command.is_some()
    }

    /// Refuses a passphrase that nothing needed, after all keys are loaded; the last is called
    /// `name`. The user believes that a key is encrypted, and an attacker can have replaced it with
    /// a plain one.
    pub(crate) fn refuse_unused(&self, name: &str) -> Result<()> {
        match self.is_given() && !self.used.load(Ordering::Relaxed) {
            true => Err(Failure::misuse(format!(
                "{name}: not encrypted with a passphrase; omit --passphrase-fd and --passphrase-command"
            ))),
            false => Ok(()),
        }
    }
}

pub(crate) fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name)).try_map(|name| name.parse::<Format>())
}

pub(crate) fn key_types() -> impl TypedValueParser<Value = KeyType> {
    PossibleValuesParser::new(KeyType::NAMES).try_map(|name| name.parse::<KeyType>())
}

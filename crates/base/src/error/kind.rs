//! The kinds of errors, and their names outside Rust.

use super::{Error, FolderError, Misuse, Rejection};
use std::path::Path;

/// What an error means to a caller. [`Error::kind`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The data, or a list of data, is not authentic.
    Authentication,
    /// The input does not have the expected format.
    Format,
    /// The input ends too early.
    Truncated,
    /// The version of the format is not supported.
    UnsupportedVersion,
    /// The state of the keyring does not allow the call: a key is disabled, for example.
    Keyring,
    /// The given keys or the passphrase do not open the data.
    NoMatchingKey,
    /// A key reference names no key on this machine.
    KeyNotFound,
    /// A key service or a token failed; a later call may succeed.
    KeyService,
    /// A key service or a token refuses to use the key.
    KeyRefused,
    /// An age plugin could not be used.
    Plugin,
    /// The provider cannot compute the algorithm on this machine.
    ProviderUnavailable,
    /// A limit of the algorithm, the format or the machine is exceeded.
    LimitExceeded,
    /// A buffer could not be allocated.
    OutOfMemory,
    /// A mistake in the call or in the environment.
    Misuse,
    /// A forked child used an object that only its parent may use.
    Forked,
    /// A job over a folder cannot begin, or removes nothing, because of what it found.
    Folder,
    /// The operating system reports an error, or a file changed while it was read.
    Io,
    /// The progress callback cancelled the operation.
    Cancelled,
}

/// The names of a [`Kind`] in the program and in other languages.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// The kind in the output of `sealane --json`.
    pub json: &'static str,
    /// The exit status of the program.
    pub status: u8,
    /// The code in `sealane.h`.
    pub code: i32,
    /// The reason in `Sealane.Error` of Elixir, or `None` if an `ArgumentError` is raised.
    pub atom: Option<&'static str>,
    /// The exception class of Python, from `sealane.exceptions` or the builtins.
    pub class: &'static str,
}

impl Kind {
    #[doc(hidden)]
    pub const fn names(self) -> Names {
        let (json, status, code, atom, class) = match self {
            Self::Authentication => ("authentication", 1, -1, "authentication_failed", "AuthenticationError"),
            Self::Format => ("format", 1, -2, "format", "FormatError"),
            Self::Truncated => ("truncated", 1, -3, "truncated", "TruncatedError"),
            Self::UnsupportedVersion => ("format", 1, -4, "unsupported_version", "UnsupportedVersionError"),
            Self::Keyring => ("format", 1, -2, "format", "ValueError"),
            Self::NoMatchingKey => ("no-match", 1, -5, "no_matching_key", "NoMatchingKeyError"),
            Self::KeyNotFound => ("io", 1, -5, "no_matching_key", "KeyNotFoundError"),
            Self::KeyService => ("io", 1, -5, "no_matching_key", "KeyServiceError"),
            Self::KeyRefused => ("io", 1, -5, "no_matching_key", "KeyRefusedError"),
            Self::Plugin => ("plugin", 1, -11, "internal", "PluginError"),
            Self::ProviderUnavailable => {
                ("provider", 1, -6, "provider_unavailable", "ProviderUnavailableError")
            }
            Self::LimitExceeded => ("limit", 1, -7, "limit_exceeded", "LimitExceededError"),
            Self::OutOfMemory => ("limit", 1, -12, "out_of_memory", "MemoryError"),
            Self::Misuse => ("misuse", 2, -8, "", "ValueError"),
            Self::Forked => ("misuse", 2, -8, "", "ForkedError"),
            Self::Folder => ("io", 1, -11, "internal", "ValueError"),
            Self::Io => ("io", 1, -9, "io", "OSError"),
            Self::Cancelled => ("interrupted", 130, -10, "cancelled", "SealaneError"),
        };
        let atom = if atom.is_empty() { None } else { Some(atom) };
        Names { json, status, code, atom, class }
    }
}

impl Error {
    /// Returns the kind of the error. An error in a batch or a keyring has the kind of its source.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Authentication
            | Self::Foreign(_)
            | Self::DamagedChunk { .. }
            | Self::KeyMismatch { .. }
            | Self::OtherKey { .. } => Kind::Authentication,
            Self::Format(_)
            | Self::UnexpectedLength { .. }
            | Self::Header(_)
            | Self::Armor(_)
            | Self::Line { .. }
            | Self::HeaderParameter { .. }
            | Self::UnknownKeyType(_) => Kind::Format,
            Self::Truncated => Kind::Truncated,
            Self::UnsupportedVersion(_) => Kind::UnsupportedVersion,
            Self::InBatch { source, .. } | Self::InVault { source, .. } => source.kind(),
            Self::InKeyring { source, .. } => match source.kind() {
                Kind::Misuse => Kind::Keyring,
                kind => kind,
            },
            Self::KeyNotFound(_) => Kind::KeyNotFound,
            Self::KeyService(_) => Kind::KeyService,
            Self::KeyRefused(_) => Kind::KeyRefused,
            Self::NoMatchingKey
            | Self::PassphraseRequired
            | Self::IdentityRequired
            | Self::WrongPassphrase => Kind::NoMatchingKey,
            Self::ProviderUnavailable(_)
            | Self::ProviderRefused(_)
            | Self::SelfTest(_)
            | Self::NotApproved(_) => Kind::ProviderUnavailable,
            Self::WorkFactor { .. } | Self::MessageLength { .. } | Self::LimitExceeded(_) => {
                Kind::LimitExceeded
            }
            Self::OutOfMemory { .. } => Kind::OutOfMemory,
            Self::Misuse(Misuse::Forked) => Kind::Forked,
            Self::Misuse(_) | Self::Environment(_) => Kind::Misuse,
            Self::Io { .. } | Self::SourceChanged { .. } => Kind::Io,
            Self::Plugin(_) => Kind::Plugin,
            Self::Folder(error) => error.kind(),
            Self::Signature(Rejection::Malformed) => Kind::Format,
            Self::Signature(Rejection::NotPrehashed) => Kind::UnsupportedVersion,
            Self::Signature(_) => Kind::Authentication,
            Self::Cancelled => Kind::Cancelled,
        }
    }

    /// Returns the path of the file or folder that the error is about.
    pub fn subject(&self) -> Option<&Path> {
        match self {
            Self::Io { path, .. } => path.as_deref(),
            Self::SourceChanged { path, .. }
            | Self::InVault { path, .. }
            | Self::KeyMismatch { manifest: path, .. } => Some(path),
            Self::Line { source, .. } | Self::InBatch { source, .. } | Self::InKeyring { source, .. } => {
                source.subject()
            }
            Self::Misuse(
                Misuse::SameFile(path)
                | Misuse::OutputIsInput { output: path, .. }
                | Misuse::TargetInsideSource(path)
                | Misuse::DuplicateTarget(path),
            )
            | Self::Folder(
                FolderError::InventoryInside(path)
                | FolderError::ManifestReveals(path)
                | FolderError::ManifestAmong(path)
                | FolderError::SignatureMissing(path)
                | FolderError::InventoryRetired(path)
                | FolderError::OtherSigner(path)
                | FolderError::SignatureInvalid { path, .. }
                | FolderError::OldInventory { path, .. }
                | FolderError::OtherFolder { path, .. }
                | FolderError::DescriptionGone { folder: path, .. }
                | FolderError::NoDescription(path)
                | FolderError::DescriptionExists(path)
                | FolderError::NotEmpty { folder: path, .. }
                | FolderError::DescriptionInvalid(path)
                | FolderError::DescriptionVersion { path, .. }
                | FolderError::SecondDescription { path, .. }
                | FolderError::DescriptionChanged(path)
                | FolderError::FolderKey(path)
                | FolderError::OutputDescribed(path)
                | FolderError::SourceDescribed(path)
                | FolderError::OutputIsVault(path)
                | FolderError::NamesEncrypted(path)
                | FolderError::SuffixForgotten { folder: path, .. },
            ) => Some(path),
            _ => None,
        }
    }
}

impl FolderError {
    fn kind(&self) -> Kind {
        match self {
            Self::SignatureMissing(_)
            | Self::InventoryRetired(_)
            | Self::OtherSigner(_)
            | Self::SignatureInvalid { .. }
            | Self::OldInventory { .. }
            | Self::OtherFolder { .. }
            | Self::DescriptionChanged(_)
            | Self::DescriptionGone { .. }
            | Self::NameNotAuthentic => Kind::Authentication,
            Self::DescriptionVersion { .. } => Kind::UnsupportedVersion,
            Self::FolderKey(_) => Kind::NoMatchingKey,
            Self::DescriptionInvalid(_)
            | Self::InventoryName(_)
            | Self::NameInvalid
            | Self::SuffixMissing(_)
            | Self::DuplicateName { .. } => Kind::Format,
            Self::NameTooLong { .. } | Self::LinkTooLong { .. } => Kind::LimitExceeded,
            Self::InventoryInside(_)
            | Self::InvalidIdentifier(_)
            | Self::NamesInPlace
            | Self::ManifestReveals(_)
            | Self::ManifestAmong(_)
            | Self::OutputDescribed(_)
            | Self::SourceDescribed(_)
            | Self::OutputIsVault(_)
            | Self::NamesEncrypted(_)
            | Self::SuffixForgotten { .. }
            | Self::NoDescription(_)
            | Self::DescriptionExists(_)
            | Self::NotEmpty { .. } => Kind::Misuse,
            Self::SecondDescription { .. }
            | Self::FolderHasTarget { .. }
            | Self::ReservedName
            | Self::InvalidPattern(_)
            | Self::IncompleteListing { .. }
            | Self::LinkLeadsOut(_)
            | Self::EmptySource
            | Self::MostRemoved { .. }
            | Self::InPlace => Kind::Folder,
        }
    }
}

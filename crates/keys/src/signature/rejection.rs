//! The reasons why signatures are not accepted, and the names that all signatures share.

use base::Misuse;

/// The namespace of SSH signatures, which `ssh-keygen -Y verify` takes as the argument of `-n`. It prevents that a signature for
/// another purpose is taken for one of these.
pub const NAMESPACE: &str = "sealane-inventory";

/// The reason why a signature is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// The text is not a signature of SSH or minisign, or not a complete one.
    Malformed,
    /// The signature was made with another key.
    OtherSigner,
    /// The key is right, but the file or the signature was changed, or the signature was made for another purpose.
    Invalid,
}

/// The error for a key of a type that this crate does not use for signatures.
pub(super) const UNSUITABLE: Misuse = Misuse::UnsuitableKey(
    "expected an SSH key of type ssh-ed25519 for signatures, found another type; make one with 'ssh-keygen -t ed25519'",
);

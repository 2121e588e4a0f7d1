//! Why signatures are rejected, and the names common to all signatures.

use base::Misuse;

/// The namespace of SSH signatures: the argument of `-n` in `ssh-keygen -Y verify`. It keeps a
/// signature for another purpose from being accepted here.
pub const NAMESPACE: &str = "sealane-inventory";

/// Why a signature is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// The text is not a complete signature of SSH or minisign.
    Malformed,
    /// Another key made the signature.
    OtherSigner,
    /// The key is right, but the file or the signature was changed, or the signature is for another
    /// purpose.
    Invalid,
}

/// The error for a type of key that we do not use for signatures.
pub(super) const UNSUITABLE: Misuse = Misuse::UnsuitableKey(
    "expected an SSH key of type ssh-ed25519 for signatures, found another type; make one with 'ssh-keygen -t ed25519'",
);

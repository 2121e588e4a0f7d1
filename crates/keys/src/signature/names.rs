//! The names common to all signatures.

use base::Misuse;

/// The namespace of SSH signatures of inventories: the argument of `-n` in `ssh-keygen -Y verify`.
/// It keeps a signature for another purpose from being accepted there.
pub const NAMESPACE: &str = "sealane-inventory";

/// The usual namespace of SSH signatures of files.
pub const FILE_NAMESPACE: &str = "file";

/// The error for a type of key that we do not use for signatures.
pub(super) const UNSUITABLE: Misuse = Misuse::UnsuitableKey(
    "expected an SSH key of type ssh-ed25519 for signatures, found another type; make one with 'ssh-keygen -t ed25519'",
);

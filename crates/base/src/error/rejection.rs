//! Why signatures are rejected.

/// Why a signature is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// The text is not a complete signature of SSH or minisign.
    #[error(
        "expected a signature of SSH (-----BEGIN SSH SIGNATURE-----) or minisign (untrusted comment: ...), found other or incomplete content"
    )]
    Malformed,
    /// The signature of minisign is of the old kind, which signs the content itself and not its
    /// hash.
    #[error(
        "unsupported version: a signature of minisign without prehashing; sign with minisign 0.10 or newer"
    )]
    NotPrehashed,
    /// Another key made the signature.
    #[error("the signature was made with another key; check that this is the expected signer")]
    OtherSigner,
    /// The key is right, but the file or the signature was changed, or the signature is for another
    /// purpose.
    #[error("the content does not match its signature: one of them was changed or cut")]
    Invalid,
    /// The signature is valid, but its key is revoked.
    #[error("the signing key is revoked")]
    Revoked,
    /// The signature is valid, but for another namespace.
    #[error("the signature is for another namespace; give the one that it was made for")]
    OtherNamespace,
    /// The signature is valid, but the list of signers restricts its key to other namespaces.
    #[error("the signing key may not sign in this namespace: the list of signers names others")]
    NamespaceNotAllowed,
    /// The signature is valid, but its key has expired.
    #[error("the signing key has expired: valid-before in the list of signers is in the past")]
    Expired,
    /// The signature is valid, but its key is not valid yet.
    #[error("the signing key is not valid yet: valid-after in the list of signers is in the future")]
    NotYetValid,
}

//! SSHSIG: signatures with SSH keys (PROTOCOL.sshsig of OpenSSH).
//!
//! ```text
//! signed data = "SSHSIG" || string(namespace) || string("") || string("sha256") || string(SHA-256(message))
//! signature   = Ed25519(signed data), in a structure with the public key, as PEM
//! ```
//!
//! We also verify signatures with SHA-512, the default of `ssh-keygen`. New ones have SHA-256,
//! because most processors have instructions for it: it takes less than half the time on the
//! processors of `lab/record/datasets-granite-rapids-2026-11-24.md`.

use crate::encoding::pem;
use crate::openssh::{self, NOT_PRIVATE, STACK};
use crate::secret::wiping_stack;
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey};
use base::error::Rejection;
use base::{Error, Misuse, Result};
use ssh_key::public::{Ed25519PublicKey, KeyData};
use ssh_key::{Algorithm, HashAlg, LineEnding, SshSig};

/// The error for a type of key that we do not use for signatures.
const UNSUITABLE: Misuse = Misuse::UnsuitableKey(
    "expected an SSH key of type ssh-ed25519 for signatures, found another type; make one with 'ssh-keygen -t ed25519'",
);

/// The hash of a new signature.
pub(super) const HASH: HashAlg = HashAlg::Sha256;

pub(super) struct Private {
    key: Ed25519KeyPair,
    pub(super) public: Public,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Public(Ed25519PublicKey);

impl Private {
    pub(super) fn parse(text: &str, passphrase: Option<&str>) -> Result<Self> {
        let key = openssh::private(&pem::read(text)?).map_err(unsuitable)?;
        let key = match (key.is_encrypted(), passphrase) {
            (false, None) => key,
            (false, Some(_)) => return Err(Misuse::KeyNotEncrypted.into()),
            (true, passphrase) => openssh::decrypt(&key, passphrase)?,
        };
        let pair = key.key_data().ed25519().ok_or(UNSUITABLE)?;
        // The error has no reason, and cannot occur for a key with matching halves.
        let key = wiping_stack::<STACK, _>(|| {
            Ed25519KeyPair::from_seed_and_public_key(&pair.private.to_bytes(), &pair.public.0)
        });
        Ok(Self { key: key.map_err(|_| NOT_PRIVATE)?, public: Public(pair.public) })
    }

    /// Signs the hash of a message.
    pub(super) fn sign(&self, namespace: &str, hash: &[u8]) -> Result<String> {
        const FAILED: Error = Error::LimitExceeded("the SSH signature could not be encoded");
        // The library's errors cannot occur: the namespace is not empty and the lengths are fixed.
        let data = SshSig::signed_data_for_prehash(namespace, HASH, hash).map_err(|_| FAILED)?;
        let signature =
            ssh_key::Signature::new(Algorithm::Ed25519, self.key.sign(&data).as_ref()).map_err(|_| FAILED)?;
        SshSig::new(KeyData::Ed25519(self.public.0), namespace, HASH, signature)
            .and_then(|signature| signature.to_pem(LineEnding::LF))
            // Nor can this one.
            .map_err(|_| FAILED)
    }
}

impl Public {
    /// Parses the line of a public key.
    pub(super) fn parse(line: &str) -> Result<Self> {
        let key = openssh::public(line).map_err(unsuitable)?;
        Ok(Self(*key.key_data().ed25519().ok_or(UNSUITABLE)?))
    }

    /// Returns the fingerprint as `ssh-keygen -l` prints it.
    pub(super) fn fingerprint(&self) -> String {
        KeyData::Ed25519(self.0).fingerprint(HashAlg::Sha256).to_string()
    }
}

/// RSA keys decrypt, but do not sign.
fn unsuitable(error: Error) -> Error {
    if let Error::Format(openssh::UNSUPPORTED_TYPE) = error { UNSUITABLE.into() } else { error }
}

pub(super) struct Signature(SshSig);

impl Signature {
    pub(super) fn parse(text: &str) -> Result<Self, Rejection> {
        SshSig::from_pem(text.trim_start()).map(Self).map_err(|error| match error {
            ssh_key::Error::AlgorithmUnknown => Rejection::OtherSigner,
            _ => Rejection::Malformed,
        })
    }

    /// Returns the hash of the message that is signed.
    pub(super) fn hash(&self) -> HashAlg {
        self.0.hash_alg()
    }

    pub(super) fn namespace(&self) -> &str {
        self.0.namespace()
    }

    pub(super) fn is_of(&self, key: &Public) -> bool {
        self.0.public_key().ed25519() == Some(&key.0)
    }

    /// Verifies that the key in this signature signed a message with this hash, for the namespace
    /// in this signature.
    pub(super) fn verify(&self, hash: &[u8]) -> Result<(), Rejection> {
        let signature = &self.0;
        let signer = signature.public_key().ed25519().ok_or(Rejection::OtherSigner)?;
        if !signature.reserved().is_empty() || signature.algorithm() != Algorithm::Ed25519 {
            return Err(Rejection::Invalid);
        }
        // The error cannot occur: the namespace is not empty.
        let data = SshSig::signed_data_for_prehash(signature.namespace(), signature.hash_alg(), hash)
            .map_err(|_| Rejection::Malformed)?;
        // The error has no reason.
        UnparsedPublicKey::new(&ED25519, signer.0)
            .verify(&data, signature.signature_bytes())
            .map_err(|_| Rejection::Invalid)
    }
}

//! The X25519 recipient type. A stanza does not name its recipient.
//!
//! ```text
//! stanza   = "X25519" share[32]  body[32]
//! wrap key = HKDF-SHA-256(X25519(ephemeral, recipient), share || recipient, "age-encryption.org/v1/X25519")
//! text     = Bech32: age1…; AGE-SECRET-KEY-1…
//! ```
//!
//! Source: c2sp.org/age, "The X25519 recipient type".

use super::file_key::{FileKey, WRAPPED_LEN, derive};
use super::header::Writer;
use super::stanza::{Stanza, argument, to_argument};
use crate::asymmetric::x25519::{PrivateKey, PublicKey};
use crate::prelude::*;

pub(super) const KIND: &str = "X25519";
/// Human-readable parts of the Bech32 encodings.
pub(super) const RECIPIENT: &str = "age";
pub(super) const IDENTITY: &str = "AGE-SECRET-KEY-";

const LABEL: &str = "age-encryption.org/v1/X25519";
const WRONG: &str = "an X25519 stanza is not a share of 32 bytes and a wrapped key of 32 bytes";

/// Error text for a share of low order: it makes the secret zero for every key.
pub(super) const LOW_ORDER: &str = "an X25519 share has low order";

pub(super) struct Wrapped {
    share: [u8; 32],
    body: [u8; WRAPPED_LEN],
}

impl Wrapped {
    pub(super) fn parse(stanza: &Stanza<'_>) -> Result<Self> {
        let [share] = stanza.exactly(WRONG)?;
        Ok(Self { share: argument(share, WRONG)?, body: stanza.body(WRONG)? })
    }
}

pub(super) fn recipient_from_bytes(bytes: &[u8]) -> Result<PublicKey> {
    let bytes: &[u8; 32] =
        // The conversion fails only if the length is wrong.
        bytes.try_into().map_err(|_| Error::Format("expected an age recipient of 32 bytes"))?;
    Ok(PublicKey::from_bytes(bytes))
}

pub(super) fn identity_from_bytes(bytes: &[u8]) -> Result<PrivateKey> {
    // The conversion fails only if the length is wrong.
    let bytes = bytes.try_into().map_err(|_| Error::Format("expected an age identity of 32 bytes"))?;
    PrivateKey::from_bytes(bytes)
}

pub(super) fn wrap(recipient: &PublicKey, file_key: &FileKey, header: &mut Writer) -> Result<()> {
    let (share, secret) = new_share(recipient)?;
    let body = file_key.wrap(&wrap_key(&secret, share.as_bytes(), recipient, LABEL))?;
    header.stanza(&[KIND, &to_argument(share.as_bytes())], &body);
    Ok(())
}

/// Returns a fresh share, and the secret shared with the recipient.
pub(super) fn new_share(recipient: &PublicKey) -> Result<(PublicKey, Zeroizing<[u8; 32]>)> {
    let ephemeral = PrivateKey::generate()?;
    let secret = ephemeral.diffie_hellman(recipient).map_err(|why| match why {
        Error::Misuse(_) => Misuse::InvalidRecipients(
            "the public key of a recipient has low order; anyone could decrypt the file",
        )
        .into(),
        other => other,
    })?;
    Ok((ephemeral.public(), secret))
}

pub(super) fn unwrap(identity: &PrivateKey, wrapped: &Wrapped) -> Result<Option<FileKey>> {
    let secret = shared_secret(identity, &wrapped.share)?;
    FileKey::unwrap(&wrap_key(&secret, &wrapped.share, &identity.public(), LABEL), &wrapped.body)
}

pub(super) fn shared_secret(identity: &PrivateKey, share: &[u8; 32]) -> Result<Zeroizing<[u8; 32]>> {
    identity.diffie_hellman(&PublicKey::from_bytes(share)).map_err(|why| match why {
        Error::Misuse(_) => Error::Header(LOW_ORDER),
        other => other,
    })
}

/// Derives the wrap key from the shared secret and both public keys.
pub(super) fn wrap_key(
    secret: &[u8; 32],
    share: &[u8; 32],
    recipient: &PublicKey,
    label: &str,
) -> Zeroizing<[u8; 32]> {
    derive(secret, [*share, *recipient.as_bytes()].as_flattened(), label)
}

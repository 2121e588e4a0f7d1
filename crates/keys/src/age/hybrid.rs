//! The post-quantum recipient type: X-Wing, the hybrid KEM of ML-KEM-768 and X25519.
//!
//! ```text
//! stanza = "mlkem768x25519" enc[1120]  body[32]
//! enc, body = HPKE SealBase(X-Wing, HKDF-SHA-256, ChaCha20-Poly1305; info "age-encryption.org/mlkem768x25519")
//! text   = Bech32: age1pq1…, 1959 characters; AGE-SECRET-KEY-PQ-1… over a seed of 32 bytes
//! ```
//!
//! Source: c2sp.org/age, "The MLKEM768-X25519 hybrid post-quantum recipient type".

use super::file_key::{FileKey, WRAPPED_LEN};
use super::header::Writer;
use super::stanza::{Stanza, argument, to_argument};
use super::x25519;
use crate::asymmetric::xwing::{CIPHERTEXT_LEN, PrivateKey, PublicKey};
use crate::asymmetric::{hpke, x25519 as curve};
use crate::prelude::*;

pub(super) const KIND: &str = "mlkem768x25519";
/// Human-readable parts of the Bech32 encodings.
pub(super) const RECIPIENT: &str = "age1pq";
pub(super) const IDENTITY: &str = "AGE-SECRET-KEY-PQ-";

const AEAD: hpke::Aead = hpke::Aead::ChaCha20Poly1305;
const INFO: &[u8] = b"age-encryption.org/mlkem768x25519";
const WRONG: &str =
    "an mlkem768x25519 stanza is not an encapsulated key of 1120 bytes and a wrapped key of 32 bytes";

pub(super) struct Wrapped {
    enc: [u8; CIPHERTEXT_LEN],
    body: [u8; WRAPPED_LEN],
}

impl Wrapped {
    pub(super) fn parse(stanza: &Stanza<'_>) -> Result<Self> {
        let [enc] = stanza.exactly(WRONG)?;
        Ok(Self { enc: argument(enc, WRONG)?, body: stanza.body(WRONG)? })
    }
}

pub(super) fn recipient_from_bytes(bytes: &[u8]) -> Result<PublicKey> {
    PublicKey::from_bytes(bytes)
        // The library's error does not help and could quote a secret.
        .map_err(|_| Error::Format("expected a post-quantum age recipient, found an invalid X-Wing key"))
}

pub(super) fn identity_from_bytes(bytes: &[u8]) -> Result<PrivateKey> {
    let seed = bytes.try_into();
    PrivateKey::from_seed(
        // The conversion fails only if the length is wrong.
        seed.map_err(|_| Error::Format("expected a post-quantum age identity of 32 bytes"))?,
    )
}

pub(super) fn wrap(recipient: &PublicKey, file_key: &FileKey, header: &mut Writer) -> Result<()> {
    let recipient = recipient.clone().into();
    let (enc, body) = hpke::seal(&recipient, AEAD, INFO, b"", file_key.as_bytes())?;
    header.stanza(&[KIND, &to_argument(&enc)], &body);
    Ok(())
}

pub(super) fn unwrap(identity: &PrivateKey, wrapped: &Wrapped) -> Result<Option<FileKey>> {
    // No sender makes a share of low order, so the header is damaged. Secrecy does not need this
    // check, because ML-KEM protects the key too. Any private key gives zero with such a share, so
    // we use a fixed one.
    let share = wrapped.enc.last_chunk().ok_or(Error::Header(WRONG))?;
    x25519::shared_secret(&curve::PrivateKey::from_bytes(&[1; 32])?, share)?;
    let opened = hpke::open(&identity.clone().into(), AEAD, &wrapped.enc, INFO, b"", &wrapped.body);
    Ok(Error::authentic(opened)?.and_then(|bytes| FileKey::from_bytes(&Zeroizing::new(bytes))))
}

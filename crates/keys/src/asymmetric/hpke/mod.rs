//! HPKE (RFC 9180): encryption for the holder of a private key, by an anonymous or an authenticated
//! sender.
//!
//! | KEM | identifier | private key | public key | `enc` | modes |
//! |---|---|---|---|---|---|
//! | DHKEM(X25519, HKDF-SHA256) | 0x0020 | 32 | 32 | 32 | all four |
//! | DHKEM(P-256, HKDF-SHA256) | 0x0010 | 32 | 65 | 65 | all four |
//! | X-Wing (draft-ietf-hpke-pq: MLKEM768-X25519) | 0x647a | 32 | 1216 | 1120 | base and psk |
//! | MLKEM768-P256 (draft-ietf-hpke-pq) | 0x0050 | 32 | 1249 | 1153 | base and psk |
//!
//! Lengths are in bytes. The KDF is HKDF-SHA256 (0x0001). The AEAD is AES-128-GCM (0x0001),
//! AES-256-GCM (0x0002) or ChaCha20-Poly1305 (0x0003), computed by [`Aead`](messages::Aead). AWS-LC
//! computes the curves.
//!
//! ```
//! use sealane::asymmetric::{hpke, x25519};
//!
//! let key = hpke::PrivateKey::from(x25519::PrivateKey::generate()?);
//! let (enc, ciphertext) = hpke::seal(&key.public(), hpke::Aead::Aes256Gcm, b"info", b"aad", b"hello")?;
//! let opened = hpke::open(&key, hpke::Aead::Aes256Gcm, &enc, b"info", b"aad", &ciphertext)?;
//! assert_eq!(opened, b"hello");
//! # Ok::<(), sealane::Error>(())
//! ```

mod context;
mod kdf;
mod kem;
mod mode;
mod suite;
#[cfg(test)]
mod test;

pub use context::{Receiver, Sender, TAG_LEN};
pub use mode::{Mode, Psk};
pub use suite::{Aead, Kem, PrivateKey, PublicKey};

use crate::prelude::*;

/// Encrypts one message for `recipient` in base mode. Returns the encapsulated key, and the
/// ciphertext with its tag.
///
/// # Errors
/// Returns the errors of [`Sender::new`] and [`Sender::seal`].
pub fn seal(
    recipient: &PublicKey,
    aead: Aead,
    info: &[u8],
    aad: &[u8],
    plaintext: &[u8],
) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut sender = Sender::new(recipient, aead, Mode::Base, info)?;
    let ciphertext = sender.seal(plaintext, aad)?;
    Ok((sender.enc, ciphertext))
}

/// Decrypts a message from [`seal`].
///
/// # Errors
/// Returns the errors of [`Receiver::new`] and [`Receiver::open`].
pub fn open(
    recipient: &PrivateKey,
    aead: Aead,
    enc: &[u8],
    info: &[u8],
    aad: &[u8],
    ciphertext: &[u8],
) -> Result<Vec<u8>> {
    Receiver::new(recipient, aead, Mode::Base, enc, info)?.open(ciphertext, aad)
}

//! ECIES, byte for byte as in eciespy 0.3 to 0.4 and its sibling libraries in Rust and JavaScript.
//!
//! ```text
//! message     = ephemeral public key[65 | 33 | 32] || nonce[16 | 12 | 24] || tag[16] || ciphertext
//! message key = HKDF-SHA256(salt = none, ikm = ephemeral public key || shared point, info = none)[32]
//! ciphertext  = AES-256-GCM or XChaCha20-Poly1305; eciespy has no associated data, so it is empty for its messages
//! ```
//!
//! | curve | ephemeral key | shared point |
//! |---|---|---|
//! | secp256k1 | 65 bytes, or 33 compressed | the whole point, encoded like the ephemeral key in the HKDF input |
//! | x25519 | 32 bytes | the 32 bytes of RFC 7748 |
//! | ed25519 | 32 bytes | the point times the clamped scalar of RFC 8032, encoded |
//!
//! A message names neither its configuration nor its sender: anyone with the public key can seal.
//!
//! Each key has one accepted encoding, and points of low order are rejected. eciespy also opens
//! messages after an attacker re-encoded the ephemeral key, for example with a hybrid prefix or the
//! ignored top bit set; we reject them.
//!
//! ```
//! use sealane::hybrid::ecies::{Config, Curve, EciesOpener, EciesSealer, PrivateKey};
//! use sealane::hybrid::{Opener, Sealer};
//!
//! let (config, key) = (Config::default(), PrivateKey::from_bytes(Curve::Secp256k1, &[7; 32])?);
//! let message = EciesSealer::new(config, key.public())?.seal(b"hello", b"")?;
//! assert_eq!(EciesOpener::new(config, key)?.open(&message, b"")?, b"hello");
//! # Ok::<(), sealane::Error>(())
//! ```

mod config;
mod keys;
#[cfg(test)]
mod test;

pub use crate::asymmetric::secp256k1::Encoding;
pub use config::{Config, Curve, MAX_NONCE_LEN, Symmetric, TAG_LEN};
pub use keys::{PrivateKey, PublicKey};

use super::message::{Opener, Sealer};
use crate::prelude::*;
use messages::nonce;

/// Seals messages for a public key with ECIES.
#[derive(Debug)]
pub struct EciesSealer {
    config: Config,
    public: PublicKey,
}

/// Opens messages with a private key and ECIES.
#[derive(Debug)]
pub struct EciesOpener {
    config: Config,
    private: PrivateKey,
}

impl EciesSealer {
    /// Creates a sealer for the holder of `public`'s private key.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] if the key is not on the
    /// configuration's curve, and [`Misuse::NonceLength`] for a nonce
    /// length outside 1 to 64.
    pub fn new(config: Config, public: PublicKey) -> Result<Self> {
        Computation::Ecies.check()?;
        Ok(Self { config: config.check(public.curve())?, public })
    }
}

impl EciesOpener {
    /// Creates an opener for messages to the public key of `private`.
    ///
    /// # Errors
    /// Returns the errors of [`EciesSealer::new`].
    pub fn new(config: Config, private: PrivateKey) -> Result<Self> {
        Computation::Ecies.check()?;
        Ok(Self { config: config.check(private.curve())?, private })
    }
}

impl Sealer for EciesSealer {
    fn overhead(&self) -> usize {
        self.config.overhead()
    }

    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) for a key of low order,
    /// [`Error::MessageLength`] for a plaintext or `aad` that is too long for the cipher, and
    /// [`Error::Io`] if no random bytes are available.
    fn seal_exact(&self, plaintext: &[u8], aad: &[u8], message: &mut [u8]) -> Result<()> {
        let (ephemeral, rest) = message.split_at_mut(self.config.ephemeral_len());
        let (nonce, rest) = rest.split_at_mut(self.config.nonce_len());
        let (tag, ciphertext) = rest.split_first_chunk_mut().expect("the message has its exact length");
        let key = self.public.encapsulate(&self.config, ephemeral)?;
        // Each message has its own key, so a nonce of any length is safe.
        nonce::fill(nonce)?;
        Ok(self.config.cipher(&key)?.seal(nonce, aad, InOut::apart(plaintext, ciphertext), tag)?)
    }
}

impl Opener for EciesOpener {
    fn overhead(&self) -> usize {
        self.config.overhead()
    }

    /// # Errors
    /// Returns [`Error::Authentication`], also for another configuration, and [`Error::Format`] if
    /// the message does not begin with a key of the curve and encoding of the configuration.
    fn open_exact(&self, message: &[u8], aad: &[u8], plaintext: &mut [u8]) -> Result<()> {
        let (ephemeral, rest) = message.split_at(self.config.ephemeral_len());
        let (nonce, rest) = rest.split_at(self.config.nonce_len());
        let (tag, ciphertext) = rest.split_first_chunk().expect("the message has its exact length");
        let key = self.private.decapsulate(&self.config, ephemeral)?;
        Ok(self.config.cipher(&key)?.open(nonce, aad, InOut::apart(ciphertext, plaintext), tag)?)
    }
}

/// Encrypts like `encrypt` of eciespy. The public key is hex, with or without `0x`; for secp256k1,
/// of 33, 65 or 64 bytes.
///
/// # Errors
/// Returns the errors of [`EciesSealer`], [`Misuse::UnsuitableKey`] if
/// the text is not hex, and [`Error::Format`] if it is not a public key.
pub fn ecies_encrypt(public_hex: &str, data: &[u8], config: &Config) -> Result<Vec<u8>> {
    EciesSealer::new(*config, PublicKey::from_hex(config.curve, public_hex)?)?.seal(data, b"")
}

/// Decrypts like `decrypt` of eciespy. The private key is hex, with or without `0x`. We reject an
/// empty key; eciespy decrypts with a random one.
///
/// # Errors
/// Returns the errors of [`EciesOpener`], and
/// [`Misuse::UnsuitableKey`] or
/// [`Misuse::KeyLength`] if the text is not a private key.
pub fn ecies_decrypt(private_hex: &str, message: &[u8], config: &Config) -> Result<Vec<u8>> {
    EciesOpener::new(*config, PrivateKey::from_hex(config.curve, private_hex)?)?.open(message, b"")
}

//! HPKE (RFC 9180): one message per encapsulated key, over [`crate::asymmetric::hpke`].
//!
//! ```text
//! message    = enc[32 | 65 | 1120] || ciphertext || tag[16]
//! X25519     = DHKEM(X25519, HKDF-SHA256), HKDF-SHA256
//! P-256      = DHKEM(P-256, HKDF-SHA256), HKDF-SHA256
//! X-Wing     = MLKEM768-X25519, HKDF-SHA256
//! AEAD       = AES-256-GCM by default; AES-128-GCM, ChaCha20-Poly1305
//! ```
//!
//! The key determines the KEM. A message names neither the KEM nor the AEAD. `info` describes the
//! exchange; associated data belongs to one message. In base mode, a message does not name its
//! sender.

pub use crate::asymmetric::hpke::{Aead, Kem, Mode, PrivateKey, Psk, PublicKey, TAG_LEN};

use super::message::{Opener, Sealer};
use crate::asymmetric::hpke::{Receiver, Sender};
use crate::prelude::*;

/// Seals messages for a public key with HPKE.
pub struct HpkeSealer<'a> {
    /// The recipient's public key.
    pub public: PublicKey,
    /// The AEAD for the messages.
    pub aead: Aead,
    /// The mode; it may authenticate the sender.
    pub mode: Mode<'a, PrivateKey>,
    /// The `info` of the key exchange, the same on both sides.
    pub info: &'a [u8],
}

/// Opens messages with a private key and HPKE.
pub struct HpkeOpener<'a> {
    /// The recipient's private key.
    pub private: PrivateKey,
    /// The AEAD for the messages.
    pub aead: Aead,
    /// The mode; it may authenticate the sender.
    pub mode: Mode<'a, PublicKey>,
    /// The `info` of the key exchange, the same on both sides.
    pub info: &'a [u8],
}

impl Sealer for HpkeSealer<'_> {
    fn overhead(&self) -> usize {
        self.public.kem().enc_len() + TAG_LEN
    }

    /// # Errors
    /// Returns the errors of [`crate::asymmetric::hpke::Sender::new`] and
    /// [`crate::asymmetric::hpke::Sender::seal`].
    fn seal_exact(&self, plaintext: &[u8], aad: &[u8], message: &mut [u8]) -> Result<()> {
        let (enc, ciphertext) = message.split_at_mut(self.public.kem().enc_len());
        let mut sender = Sender::new(&self.public, self.aead, self.mode, self.info)?;
        enc.copy_from_slice(sender.enc());
        sender.seal_into(plaintext, ciphertext, aad).map(drop)
    }
}

impl Opener for HpkeOpener<'_> {
    fn overhead(&self) -> usize {
        self.private.kem().enc_len() + TAG_LEN
    }

    /// # Errors
    /// Returns [`Error::Authentication`], also for another AEAD, `info`, mode or sender, and
    /// [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) if the sender's key has another KEM,
    /// or a hybrid one.
    fn open_exact(&self, message: &[u8], aad: &[u8], plaintext: &mut [u8]) -> Result<()> {
        let (enc, ciphertext) = message.split_at(self.private.kem().enc_len());
        let mut receiver = Receiver::new(&self.private, self.aead, self.mode, enc, self.info)?;
        receiver.open_into(ciphertext, plaintext, aad).map(drop)
    }
}

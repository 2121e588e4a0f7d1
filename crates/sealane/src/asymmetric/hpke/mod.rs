//! HPKE (RFC 9180): messages for the holder of a private key, from anybody or from somebody known.
//!
//! | KEM | number | private | public | encapsulation | who may be the sender |
//! |---|---|---|---|---|---|
//! | DHKEM(X25519, HKDF-SHA256) | 0x0020 | 32 | 32 | 32 | all four modes |
//! | DHKEM(P-256, HKDF-SHA256) | 0x0010 | 32 | 65 | 65 | all four modes |
//! | X-Wing (draft-ietf-hpke-pq: MLKEM768-X25519) | 0x647a | 32 | 1216 | 1120 | base and psk |
//!
//! The KDF is HKDF-SHA256 (0x0001), the AEAD AES-128-GCM (0x0001), AES-256-GCM (0x0002) or ChaCha20-Poly1305 (0x0003).
//! Key schedule and labels are the crate `hpke`'s; the KEMs are this project's key pairs and the AEADs its own
//! [`crate::Aead`], so that curves are computed by AWS-LC and bulk at the speed of the hardware.
//!
//! ```
//! use sealane::asymmetric::{hpke, x25519};
//!
//! let key = hpke::PrivateKey::from(x25519::PrivateKey::generate()?);
//! let (encapsulation, ciphertext) = hpke::seal(&key.public(), hpke::Aead::Aes256Gcm, b"info", b"aad", b"hello")?;
//! let opened = hpke::open(&key, hpke::Aead::Aes256Gcm, &encapsulation, b"info", b"aad", &ciphertext)?;
//! assert_eq!(opened, b"hello");
//! # Ok::<(), sealane::Error>(())
//! ```

use crate::{Error, InOut, Key, Misuse};
use std::fmt;

mod mechanism;
mod schedule;
mod suite;
#[cfg(test)]
mod test;

pub use suite::{Aead, Kem, PrivateKey, PublicKey};

use mechanism::Randomness;
use schedule::Schedule;

/// Bytes by which a ciphertext is longer than its plaintext: the tag. The same for all AEADs.
pub const TAG_LEN: usize = 16;
const NONCE_LEN: usize = 12;
/// The longest that may be exported at once: what HKDF-SHA256 can make (RFC 5869, section 2.3).
const MAX_EXPORT_LEN: usize = 255 * 32;

/// A secret that sender and recipient have already, and its name.
#[derive(Clone, Copy)]
pub struct Psk<'a> {
    secret: &'a [u8],
    id: &'a [u8],
}

impl<'a> Psk<'a> {
    /// A secret of at least 32 bytes, uniformly random (RFC 9180, section 9.5), and a name that is not secret.
    ///
    /// # Errors
    /// [`Misuse::UnsuitableKey`] where the secret is shorter or the name is empty.
    pub fn new(secret: &'a [u8], id: &'a [u8]) -> Result<Self, Error> {
        if secret.len() < 32 || id.is_empty() {
            return Err(
                Misuse::UnsuitableKey("a pre-shared key of HPKE has at least 32 bytes, and a name").into()
            );
        }
        Ok(Self { secret, id })
    }
}

impl fmt::Debug for Psk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Psk({} bytes)", self.secret.len())
    }
}

/// What proves who the sender is (RFC 9180, section 5). `K` is a [`PrivateKey`] to the sender, a [`PublicKey`] to the
/// recipient.
#[derive(Debug)]
pub enum Mode<'a, K> {
    /// Nothing does.
    Base,
    /// Whoever has the secret.
    Psk(Psk<'a>),
    /// The holder of this key of the same KEM.
    Auth(&'a K),
    /// Both.
    AuthPsk(&'a K, Psk<'a>),
}

// By hand: a derived `Copy` would want keys that are copied.
impl<K> Clone for Mode<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Mode<'_, K> {}

/// Seals messages for one recipient, who has to open them in the same order.
pub struct Sender {
    encapsulation: Vec<u8>,
    context: Context,
}

impl Sender {
    /// Encapsulates a fresh secret for `recipient`. Both sides must say the same `info`.
    ///
    /// # Errors
    /// [`Misuse::InvalidRecipients`] where the recipient's key is of low order; [`Misuse::UnsuitableKey`] where the sender's is of
    /// another KEM, or of one that has no senders; [`Error::Io`].
    pub fn new(
        recipient: &PublicKey,
        aead: Aead,
        mode: Mode<'_, PrivateKey>,
        info: &[u8],
    ) -> Result<Self, Error> {
        Self::of(recipient, aead, mode, info, &mechanism::randomness(recipient.kem())?)
    }

    /// The same with the randomness given.
    fn of(
        recipient: &PublicKey,
        aead: Aead,
        mode: Mode<'_, PrivateKey>,
        info: &[u8],
        randomness: &Randomness,
    ) -> Result<Self, Error> {
        let (encapsulation, schedule) = schedule::sender(recipient, aead, mode, info, randomness)?;
        Ok(Self { encapsulation, context: Context::new(aead, schedule)? })
    }

    /// What the recipient needs to get at the secret; not secret itself.
    pub fn encapsulation(&self) -> &[u8] {
        &self.encapsulation
    }

    /// The next message: ciphertext and tag.
    ///
    /// # Errors
    /// [`Error::LimitExceeded`] past what the AEAD can carry.
    pub fn seal(&mut self, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; plaintext.len() + TAG_LEN];
        self.seal_into(plaintext, &mut out, aad)?;
        Ok(out)
    }

    /// The next message into the start of `out`: ciphertext and tag. Returns the number of bytes written.
    ///
    /// # Errors
    /// As [`Self::seal`]; [`Misuse::OutputTooShort`].
    pub fn seal_into(&mut self, plaintext: &[u8], out: &mut [u8], aad: &[u8]) -> Result<usize, Error> {
        let written = self.context.aead.encrypt_into(&self.context.nonce()?, plaintext, aad, out)?;
        self.context.advance();
        Ok(written)
    }

    /// The next message where the plaintext lies; the tag apart.
    ///
    /// # Errors
    /// As [`Self::seal_into`].
    pub fn seal_parts(&mut self, aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<(), Error> {
        self.context.aead.encrypt_parts(&self.context.nonce()?, aad, data, tag)?;
        self.context.advance();
        Ok(())
    }

    /// Fills `out` with a secret for another purpose, which both sides name with the same `label` (RFC 9180, section
    /// 5.3).
    ///
    /// # Errors
    /// [`Error::LimitExceeded`] past 8160 bytes.
    pub fn export(&self, label: &[u8], out: &mut [u8]) -> Result<(), Error> {
        self.context.export(label, out)
    }
}

/// Opens what a [`Sender`] sealed, in the same order.
pub struct Receiver {
    context: Context,
}

impl Receiver {
    /// Gets at the secret that was encapsulated for `recipient`.
    ///
    /// # Errors
    /// [`Error::Authentication`] where there is none in `encapsulation`; [`Misuse::UnsuitableKey`] where the sender's key is of
    /// another KEM, or of one that has no senders. A secret that is another one is noticed by [`Self::open`].
    pub fn new(
        recipient: &PrivateKey,
        aead: Aead,
        mode: Mode<'_, PublicKey>,
        encapsulation: &[u8],
        info: &[u8],
    ) -> Result<Self, Error> {
        let schedule = schedule::receiver(recipient, aead, mode, encapsulation, info)?;
        Ok(Self { context: Context::new(aead, schedule)? })
    }

    /// Opens the next message. One that is not authentic does not count.
    ///
    /// # Errors
    /// [`Error::Authentication`].
    pub fn open(&mut self, ciphertext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; ciphertext.len().saturating_sub(TAG_LEN)];
        self.open_into(ciphertext, &mut out, aad)?;
        Ok(out)
    }

    /// Opens the next message into the start of `out` and returns the number of bytes written.
    ///
    /// # Errors
    /// [`Error::Authentication`]: `out` holds none of the plaintext. [`Misuse::OutputTooShort`].
    pub fn open_into(&mut self, ciphertext: &[u8], out: &mut [u8], aad: &[u8]) -> Result<usize, Error> {
        let written = self.context.aead.decrypt_into(&self.context.nonce()?, ciphertext, aad, out)?;
        self.context.advance();
        Ok(written)
    }

    /// Opens the next message where the ciphertext lies.
    ///
    /// # Errors
    /// As [`Self::open_into`]; the destination is zero then.
    pub fn open_parts(&mut self, aad: &[u8], data: InOut<'_>, tag: &[u8]) -> Result<(), Error> {
        self.context.aead.decrypt_parts(&self.context.nonce()?, aad, data, tag)?;
        self.context.advance();
        Ok(())
    }

    /// As [`Sender::export`].
    ///
    /// # Errors
    /// As there.
    pub fn export(&self, label: &[u8], out: &mut [u8]) -> Result<(), Error> {
        self.context.export(label, out)
    }
}

/// Seals one message for `recipient`, from nobody in particular (base mode): the encapsulation, and ciphertext with
/// tag.
///
/// # Errors
/// As [`Sender::new`] and [`Sender::seal`].
pub fn seal(
    recipient: &PublicKey,
    aead: Aead,
    info: &[u8],
    aad: &[u8],
    plaintext: &[u8],
) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let mut sender = Sender::new(recipient, aead, Mode::Base, info)?;
    let ciphertext = sender.seal(plaintext, aad)?;
    Ok((sender.encapsulation, ciphertext))
}

/// Opens what [`seal`] gave.
///
/// # Errors
/// [`Error::Authentication`].
pub fn open(
    recipient: &PrivateKey,
    aead: Aead,
    encapsulation: &[u8],
    info: &[u8],
    aad: &[u8],
    ciphertext: &[u8],
) -> Result<Vec<u8>, Error> {
    Receiver::new(recipient, aead, Mode::Base, encapsulation, info)?.open(ciphertext, aad)
}

/// Section 5.2, which both sides compute alike.
struct Context {
    aead: crate::Aead,
    base_nonce: [u8; NONCE_LEN],
    sequence: u64,
    exporter: Box<dyn schedule::Export>,
}

impl Context {
    fn new(aead: Aead, schedule: Schedule) -> Result<Self, Error> {
        let Schedule { key, base_nonce, exporter } = schedule;
        let aead = crate::Aead::new(aead.algorithm(), &Key::from_bytes(&key))?;
        Ok(Self { aead, base_nonce, sequence: 0, exporter })
    }

    fn nonce(&self) -> Result<[u8; NONCE_LEN], Error> {
        if self.sequence == u64::MAX {
            return Err(Error::LimitExceeded("more messages under one encapsulation than can be counted"));
        }
        let mut nonce = self.base_nonce;
        for (byte, of_sequence) in nonce.iter_mut().rev().zip(self.sequence.to_le_bytes()) {
            *byte ^= of_sequence;
        }
        Ok(nonce)
    }

    /// After a message that counts. [`Self::nonce`] stops before it wraps.
    fn advance(&mut self) {
        self.sequence += 1;
    }

    fn export(&self, label: &[u8], out: &mut [u8]) -> Result<(), Error> {
        if out.len() > MAX_EXPORT_LEN {
            return Err(Error::LimitExceeded("HPKE exports up to 8160 bytes at once"));
        }
        self.exporter.export(label, out)
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("aead", &self.context.aead).finish_non_exhaustive()
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("aead", &self.context.aead).finish_non_exhaustive()
    }
}

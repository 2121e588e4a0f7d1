//! The encryption contexts of sender and recipient (RFC 9180, section 5.2).
//!
//! ```text
//! nonce(seq) = base_nonce XOR I2OSP(seq, 12)                     seq counts messages from 0
//! export(L)  = LabeledExpand(exporter_secret, "sec", label, L)   section 5.3
//! ```

use super::kdf::{Kdf, NONCE_LEN, Secret};
use super::kem::{self, Ephemeral};
use super::{Aead, Kem, Mode, PrivateKey, Psk, PublicKey};
use crate::prelude::*;
use base::ForkGuard;

/// Difference in length between a ciphertext and its plaintext: the tag, the same for all AEADs.
pub const TAG_LEN: usize = 16;

/// Encrypts messages for a recipient, who must open them in the same order.
pub struct Sender {
    pub(super) enc: Vec<u8>,
    pub(super) context: Context,
    /// A copy in a forked child would use the same sequence numbers, thus the same nonces.
    guard: ForkGuard,
}

impl Sender {
    /// Encapsulates a fresh secret for `recipient`. Both sides must use the same `info`.
    ///
    /// # Errors
    /// Returns [`Misuse::InvalidRecipients`](base::Misuse::InvalidRecipients) if the recipient's
    /// key has low order, [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) if the sender's
    /// key has another KEM, or a hybrid one (X-Wing and MLKEM768-P256 have no authenticated modes),
    /// [`Error::Io`] if the operating system returns no random bytes, and the errors of
    /// [`Aead::new`](messages::Aead::new).
    pub fn new(recipient: &PublicKey, aead: Aead, mode: Mode<'_, PrivateKey>, info: &[u8]) -> Result<Self> {
        Self::with_ephemeral(recipient, aead, mode, info, &Ephemeral::generate(recipient.kem())?)
    }

    pub(super) fn with_ephemeral(
        recipient: &PublicKey,
        aead: Aead,
        mode: Mode<'_, PrivateKey>,
        info: &[u8],
        ephemeral: &Ephemeral,
    ) -> Result<Self> {
        let (mode, sender, psk) = mode.parts();
        let (shared_secret, enc) = kem::encap(recipient, sender, ephemeral)?;
        let context = Context::new(recipient.kem(), aead, mode, &shared_secret, info, psk)?;
        Ok(Self { enc, context, guard: ForkGuard::new()? })
    }

    /// Returns the encapsulated key for the recipient. It is not secret.
    pub fn enc(&self) -> &[u8] {
        &self.enc
    }

    /// Encrypts the next message. Returns ciphertext and tag.
    ///
    /// # Errors
    /// Returns [`Error::MessageLength`] if the message is longer than the AEAD allows,
    /// [`Error::LimitExceeded`] after 2^64 - 1 messages, and
    /// [`Misuse::Forked`](base::Misuse::Forked) in a forked child, because its parent may continue.
    pub fn seal(&mut self, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        let mut out = memory::zeroed(plaintext.len() + TAG_LEN)?;
        self.seal_into(plaintext, &mut out, aad)?;
        Ok(out)
    }

    /// Encrypts the next message into the start of `out`. Returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal`] and
    /// [`Misuse::OutputTooShort`](base::Misuse::OutputTooShort).
    pub fn seal_into(&mut self, plaintext: &[u8], out: &mut [u8], aad: &[u8]) -> Result<usize> {
        self.guard.check()?;
        self.context.message(|aead, nonce| aead.encrypt_into(nonce, plaintext, aad, out))
    }

    /// Encrypts the next message, in place or between buffers; writes the tag to `tag`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal`] and [`Misuse::TagLength`](base::Misuse::TagLength) if
    /// `tag` does not have 16 bytes.
    pub fn seal_parts(&mut self, aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<()> {
        self.guard.check()?;
        self.context.message(|aead, nonce| aead.encrypt_parts(nonce, aad, data, tag))
    }

    /// Fills `out` with a secret for another purpose; sender and recipient name it with the same
    /// `label` (section 5.3).
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if `out` has more than 8160 bytes, the limit of
    /// HKDF-SHA256.
    pub fn export(&self, label: &[u8], out: &mut [u8]) -> Result<()> {
        self.context.export(label, out)
    }
}

/// Decrypts the messages of a [`Sender`], in the same order.
pub struct Receiver {
    pub(super) context: Context,
}

impl Receiver {
    /// Decapsulates the secret in `enc` and sets up the recipient's context.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if `enc` is not an encapsulated key or a key has low
    /// order, and [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) if the sender's key has
    /// another KEM, or a hybrid one. If `enc` is for another recipient, [`Self::open`] will fail.
    pub fn new(
        recipient: &PrivateKey,
        aead: Aead,
        mode: Mode<'_, PublicKey>,
        enc: &[u8],
        info: &[u8],
    ) -> Result<Self> {
        let (mode, sender, psk) = mode.parts();
        let shared_secret = kem::decap(recipient, sender, enc)?;
        Ok(Self { context: Context::new(recipient.kem(), aead, mode, &shared_secret, info, psk)? })
    }

    /// Decrypts the next message. A message that is not authentic does not advance the sequence
    /// number.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] for a forged message, and [`Error::LimitExceeded`] after
    /// 2^64 - 1 messages.
    pub fn open(&mut self, ciphertext: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        let mut out = memory::zeroed(ciphertext.len().saturating_sub(TAG_LEN))?;
        self.open_into(ciphertext, &mut out, aad)?;
        Ok(out)
    }

    /// Decrypts the next message into the start of `out`. Returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open`] and
    /// [`Misuse::OutputTooShort`](base::Misuse::OutputTooShort), and leaves no plaintext in `out`.
    pub fn open_into(&mut self, ciphertext: &[u8], out: &mut [u8], aad: &[u8]) -> Result<usize> {
        self.context.message(|aead, nonce| aead.decrypt_into(nonce, ciphertext, aad, out))
    }

    /// Decrypts the next message, in place or between buffers.
    ///
    /// # Errors
    /// Returns the errors of [`Aead::decrypt_parts`](messages::MessageKeys::decrypt_parts), and
    /// [`Error::LimitExceeded`] after 2^64 - 1 messages.
    pub fn open_parts(&mut self, aad: &[u8], data: InOut<'_>, tag: &[u8]) -> Result<()> {
        self.context.message(|aead, nonce| aead.decrypt_parts(nonce, aad, data, tag))
    }

    /// Fills `out` with the same secret as [`Sender::export`].
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if `out` has more than 8160 bytes, the limit of
    /// HKDF-SHA256.
    pub fn export(&self, label: &[u8], out: &mut [u8]) -> Result<()> {
        self.context.export(label, out)
    }
}

/// The common state of sender and recipient.
pub(super) struct Context {
    kdf: Kdf,
    aead: messages::Aead,
    base_nonce: [u8; NONCE_LEN],
    exporter_secret: Secret,
    pub(super) seq: u64,
}

impl Context {
    /// Computes `KeySchedule(mode, shared_secret, info, psk, psk_id)` (RFC 9180, section 5.1).
    ///
    /// ```text
    /// psk_id_hash          = LabeledExtract("", "psk_id_hash", psk_id)
    /// info_hash            = LabeledExtract("", "info_hash", info)
    /// key_schedule_context = mode || psk_id_hash || info_hash
    /// secret               = LabeledExtract(shared_secret, "secret", psk)
    /// key                  = LabeledExpand(secret, "key", key_schedule_context, Nk)
    /// base_nonce           = LabeledExpand(secret, "base_nonce", key_schedule_context, Nn)
    /// exporter_secret      = LabeledExpand(secret, "exp", key_schedule_context, Nh)
    /// ```
    fn new(
        kem: Kem,
        aead: Aead,
        mode: u8,
        shared_secret: &Secret,
        info: &[u8],
        psk: Option<Psk<'_>>,
    ) -> Result<Self> {
        let kdf = Kdf::of_suite(kem, aead);
        let (psk, psk_id) = psk.map_or((&[][..], &[][..]), |psk| (psk.secret, psk.id));
        let psk_id_hash = kdf.extract(b"", "psk_id_hash", &[psk_id]);
        let info_hash = kdf.extract(b"", "info_hash", &[info]);
        let key_schedule_context: [&[u8]; 3] = [&[mode], &*psk_id_hash, &*info_hash];
        let secret = kdf.extract(&**shared_secret, "secret", &[psk]);
        let expand = |label, out: &mut [u8]| kdf.expand(&secret, label, &key_schedule_context, out);
        // bounded: at most 32 bytes.
        let mut key = Zeroizing::new(vec![0; aead.algorithm().key_len()]);
        let (mut base_nonce, mut exporter_secret) = ([0; NONCE_LEN], Secret::default());
        expand("key", &mut key)?;
        expand("base_nonce", &mut base_nonce)?;
        expand("exp", &mut *exporter_secret)?;
        let aead = messages::Aead::new(aead.algorithm(), &Key::from_bytes(&key))?;
        Ok(Self { kdf, aead, base_nonce, exporter_secret, seq: 0 })
    }

    /// Encrypts or decrypts the next message with `call`. Only success advances the sequence
    /// number.
    fn message<T>(&mut self, call: impl FnOnce(&messages::Aead, &[u8]) -> Result<T>) -> Result<T> {
        let result = call(&self.aead, &self.nonce()?)?;
        self.seq += 1;
        Ok(result)
    }

    /// Computes `ComputeNonce(seq)`, and fails before the sequence number wraps.
    fn nonce(&self) -> Result<[u8; NONCE_LEN]> {
        if self.seq == u64::MAX {
            return Err(Error::LimitExceeded("2^64 - 1 messages were encrypted with one encapsulated key"));
        }
        let mut nonce = self.base_nonce;
        for (byte, of_seq) in nonce.iter_mut().rev().zip(self.seq.to_le_bytes()) {
            *byte ^= of_seq;
        }
        Ok(nonce)
    }

    fn export(&self, label: &[u8], out: &mut [u8]) -> Result<()> {
        self.kdf.expand(&self.exporter_secret, "sec", &[label], out)
    }
}

debug_fields!(Sender; |it| aead: it.context.aead);

debug_fields!(Receiver; |it| aead: it.context.aead);

//! Deterministic authenticated encryption of one message, or of a column of messages.

use super::key::MessageKey;
use super::keys::MessageKeys;
use super::packed::{Offset, Packed};
use crate::prelude::*;
use crate::{Key, message_keys};
use providers::{
    AeadKey, AuthenticationError, BatchAad, BatchError, InOut, OpenResult, SealError, SealResult, raw,
};

/// Algorithms of [`DeterministicAead`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeterministicAlgorithm {
    /// AES-SIV with two keys of 256 bits (RFC 5297), as in Tink.
    Aes256Siv,
}

impl DeterministicAlgorithm {
    /// All algorithms, in the order in which users see them.
    pub const ALL: &'static [Self] = &[Self::Aes256Siv];

    /// Returns the name, such as `"aes-256-siv"`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aes256Siv => "aes-256-siv",
        }
    }

    /// Returns the algorithm with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }

    /// Returns the accepted key lengths in bytes.
    const fn key_lens(self) -> &'static [usize] {
        match self {
            Self::Aes256Siv => &[64],
        }
    }

    /// Returns the length of a key in bytes.
    pub const fn key_len(self) -> usize {
        self.key_lens()[0]
    }
}

/// A key that encrypts equal messages to equal ciphertexts, for example to search a database column
/// or to join two tables. It can be shared between threads and used after a fork.
///
/// **It reveals which messages are equal.** From ciphertexts under one key and the same associated
/// data, a reader learns which plaintexts repeat, how often, and their lengths. In a column with
/// few values (yes and no), that is often the content. Use [`Aead`](crate::Aead) where equality
/// need not be visible.
///
/// An encrypted message is `synthetic IV || ciphertext`, 16 bytes longer than the plaintext. There
/// is no nonce to repeat by mistake. AES latency limits the speed, because the blocks of CMAC
/// depend on each other.
///
/// ```
/// use sealane::{DeterministicAead, DeterministicAlgorithm, Key};
///
/// let key = Key::generate(DeterministicAlgorithm::Aes256Siv.key_len())?;
/// let daead = DeterministicAead::new(DeterministicAlgorithm::Aes256Siv, &key)?;
/// let encrypted = daead.encrypt(b"alice@example.com", b"users.email")?;
/// assert_eq!(encrypted, daead.encrypt(b"alice@example.com", b"users.email")?);
/// assert_eq!(daead.decrypt(&encrypted, b"users.email")?, b"alice@example.com");
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct DeterministicAead {
    keys: MessageKeys,
}

impl DeterministicAead {
    /// Expands a key.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] for a key of another length than the algorithm has,
    /// [`Error::Environment`] if `SEALANE_CPU` is invalid, and [`Error::SelfTest`] if no variant of
    /// AES passes its self-test.
    pub fn new(algorithm: DeterministicAlgorithm, key: &Key) -> Result<Self> {
        Ok(Self { keys: MessageKey::deterministic(algorithm, key)?.into() })
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> DeterministicAlgorithm {
        // There is only one; keys of a keyring share it.
        DeterministicAlgorithm::Aes256Siv
    }

    /// Encrypts `data`. The same key, data and associated data always give the same result.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`] if the result cannot be allocated.
    pub fn encrypt(&self, data: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        self.keys.seal(data, aad)
    }

    /// Encrypts `data` with each enabled key of a keyring, the primary key first. A stored value
    /// has the plaintext `data` if it equals one of the results: search for them while several keys
    /// are enabled.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`] if the results cannot be allocated.
    pub fn encrypt_with_all_keys(&self, data: &[u8], aad: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.keys.seal_with_all_keys(data, aad)
    }

    /// Decrypts the result of [`Self::encrypt`], if it and `aad` are authentic.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if the key or `aad` is wrong, or the data was changed.
    pub fn decrypt(&self, data: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        self.keys.open(data, aad)
    }

    /// Encrypts into the start of `out`. Returns the number of bytes written.
    ///
    /// # Errors
    /// Returns [`Misuse::OutputTooShort`] if `out` is too short, and writes nothing.
    pub fn encrypt_into(&self, data: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize> {
        self.keys.seal_into(data, out, aad)
    }

    /// Decrypts into the start of `out`. Returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::decrypt`] and [`Misuse::OutputTooShort`], and leaves no
    /// plaintext in `out`.
    pub fn decrypt_into(&self, data: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize> {
        self.keys.open_into(data, out, aad)
    }

    /// Encrypts the packed messages `data[offsets[i]..offsets[i + 1]]`, all with the same
    /// associated data. Returns the packed results and their offsets.
    ///
    /// # Errors
    /// Returns the errors of [`MessageKeys::seal_packed`] about offsets, and
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// # use sealane::{DeterministicAead, DeterministicAlgorithm, Key};
    /// # let key = Key::generate(64)?;
    /// let daead = DeterministicAead::new(DeterministicAlgorithm::Aes256Siv, &key)?;
    /// let (column, offsets) = daead.encrypt_packed(b"nonoyes", &[0, 2, 4, 7], b"users.newsletter")?;
    /// assert_eq!(offsets, [0, 18, 36, 55]);
    /// assert_eq!(column[..18], column[18..36]);
    /// # Ok::<(), sealane::Error>(())
    /// ```
    pub fn encrypt_packed<O: Offset>(&self, data: &[u8], offsets: &[O], aad: &[u8]) -> Result<Packed<O>> {
        self.keys.seal_packed(data, offsets, aad)
    }

    /// Decrypts packed messages with the same associated data. Returns the packed plaintexts and
    /// their offsets.
    ///
    /// # Errors
    /// Returns [`Error::InBatch`] with [`Error::Authentication`] for the first message that is not
    /// authentic, and no plaintext; also the errors of [`Self::encrypt_packed`].
    pub fn decrypt_packed<O: Offset>(&self, data: &[u8], offsets: &[O], aad: &[u8]) -> Result<Packed<O>> {
        self.keys.open_packed(data, offsets, aad)
    }
}

/// `keys` must be deterministic.
impl From<MessageKeys> for DeterministicAead {
    fn from(keys: MessageKeys) -> Self {
        Self { keys }
    }
}

message_keys!(DeterministicAead: MessageKeys; |it| algorithm: it.algorithm().name(), variant: it.variant());

impl MessageKey {
    #[doc(hidden)]
    pub fn deterministic(algorithm: DeterministicAlgorithm, key: &Key) -> Result<Self> {
        let (key, want) = (key.as_bytes(), algorithm.key_lens());
        if !want.contains(&key.len()) {
            return Err(Misuse::KeyLength { got: key.len(), want }.into());
        }
        let siv = raw::siv(key)?;
        let variant = siv.variant();
        Ok(Self::native(Siv(siv), algorithm.name(), algorithm.key_len(), variant).without_nonces())
    }
}

/// AES-SIV without a nonce; the synthetic IV is the tag.
struct Siv(raw::Siv);

impl AeadKey for Siv {
    fn seal(&self, _: &[u8], aad: &[u8], data: InOut<'_>, iv: &mut [u8; 16]) -> SealResult {
        self.0.seal(&[aad], data, iv);
        Ok(())
    }

    fn open(&self, _: &[u8], aad: &[u8], data: InOut<'_>, iv: &[u8; 16]) -> OpenResult {
        // The only error is a wrong synthetic IV.
        self.0.open(&[aad], data, iv).map_err(|_| AuthenticationError)
    }

    /// Seals to `synthetic IV || ciphertext`.
    fn seal_batch(
        &self,
        _: &[u8],
        aad: BatchAad<'_>,
        plaintexts: &[&[u8]],
        sealed: &mut [&mut [u8]],
    ) -> Result<(), BatchError<SealError>> {
        for (index, (plaintext, sealed)) in plaintexts.iter().zip(sealed).enumerate() {
            let (iv, ciphertext) = sealed.split_first_chunk_mut().expect("a destination of IV and plaintext");
            self.0.seal(&[aad.of(index)], InOut::apart(plaintext, ciphertext), iv);
        }
        Ok(())
    }

    fn open_batch(
        &self,
        _: usize,
        aad: BatchAad<'_>,
        sealed: &[&[u8]],
        plaintexts: &mut [&mut [u8]],
    ) -> Result<(), BatchError<AuthenticationError>> {
        for (index, (sealed, plaintext)) in sealed.iter().zip(plaintexts).enumerate() {
            let (iv, ciphertext) = sealed.split_first_chunk().expect("an IV");
            self.open(&[], aad.of(index), InOut::apart(ciphertext, plaintext), iv)
                .map_err(|error| BatchError { index, error })?;
        }
        Ok(())
    }
}

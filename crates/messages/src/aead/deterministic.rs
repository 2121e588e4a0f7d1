//! Deterministic authenticated encryption of one message, or of a column of messages.

use super::packed::{self, Offset, data_range, in_batch, index_of, packed_len};
use crate::Key;
use base::debug_fields;
use base::{Error, Misuse, memory};
use providers::{InOut, raw};
use std::num::NonZeroUsize;
use std::sync::Mutex;

/// The length of the synthetic IV, which authenticates a message, in bytes.
const IV_LEN: usize = 16;

/// An algorithm of [`DeterministicAead`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeterministicAlgorithm {
    /// AES-SIV with two keys of 256 bits (RFC 5297), as in Tink.
    Aes256Siv,
}

impl DeterministicAlgorithm {
    /// All algorithms, in the order in which they are listed.
    pub const ALL: &'static [Self] = &[Self::Aes256Siv];

    /// Returns the name of the algorithm, for example `"aes-256-siv"`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aes256Siv => "aes-256-siv",
        }
    }

    /// Returns the algorithm with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }

    /// Returns the lengths of keys that the algorithm accepts, in bytes.
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

/// A key that encrypts equal messages to equal ciphertexts, for example to search a column of a database or to join two
/// tables. It can be shared between threads and used after a fork.
///
/// **It reveals which messages are equal.** A reader of ciphertexts under one key and with the same associated data
/// learns which plaintexts repeat and how often, and their lengths. In a column with few values, for example yes and no,
/// that is often the content. Use [`Aead`](crate::Aead) where equality need not be visible.
///
/// An encrypted message is `synthetic IV || ciphertext`, 16 bytes longer than the plaintext. There is no nonce, so nothing
/// can be repeated by mistake. The speed is limited by the latency of AES, because the blocks of CMAC depend on each
/// other.
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
    algorithm: DeterministicAlgorithm,
    threads: Option<NonZeroUsize>,
    siv: raw::Siv,
}

impl DeterministicAead {
    /// Expands a key.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] for a key of another length than the algorithm has, [`Error::Environment`] if
    /// `SEALANE_CPU` is invalid, and [`Error::SelfTest`] if no variant of AES passes its self-test.
    pub fn new(algorithm: DeterministicAlgorithm, key: &Key) -> Result<Self, Error> {
        let (key, want) = (key.as_bytes(), algorithm.key_lens());
        if !want.contains(&key.len()) {
            return Err(Misuse::KeyLength { got: key.len(), want }.into());
        }
        let siv = raw::siv(key)?;
        Ok(Self { algorithm, threads: None, siv })
    }

    /// Sets the number of threads that packed messages may use, the calling thread included. The default is all that are
    /// free, up to 8. One message, and packed messages of less than about 512 KiB, use one.
    #[must_use]
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Returns the algorithm that this key encrypts and decrypts messages with.
    pub fn algorithm(&self) -> DeterministicAlgorithm {
        self.algorithm
    }

    /// Returns the variant of AES that computes the algorithm, for example `"vaes512"`.
    pub fn variant(&self) -> &'static str {
        self.siv.variant()
    }

    /// Returns the number of bytes by which an encrypted message is longer than its plaintext: the synthetic IV.
    #[inline]
    pub fn overhead(&self) -> usize {
        IV_LEN
    }

    /// Encrypts `data`. The result is always the same for the same key, data and associated data.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`] if there is no memory for the result.
    pub fn encrypt(&self, data: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = memory::zeroed(data.len() + IV_LEN)?;
        self.encrypt_into(data, aad, &mut out)?;
        Ok(out)
    }

    /// Decrypts the result of [`Self::encrypt`], if it and `aad` are authentic.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if the key or `aad` differs, or the data was changed.
    pub fn decrypt(&self, data: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = memory::zeroed(data.len().saturating_sub(IV_LEN))?;
        self.decrypt_into(data, aad, &mut out)?;
        Ok(out)
    }

    /// Encrypts into the start of `out` and returns the number of bytes written.
    ///
    /// # Errors
    /// Returns [`Misuse::OutputTooShort`] if `out` is too short. Nothing is written then.
    pub fn encrypt_into(&self, data: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize, Error> {
        let len = data.len() + IV_LEN;
        let (iv, ciphertext) = memory::first(out, len)?.split_at_mut(IV_LEN);
        let mut made = [0; IV_LEN];
        self.siv.seal(&[aad], InOut::apart(data, ciphertext), &mut made);
        iv.copy_from_slice(&made);
        Ok(len)
    }

    /// Decrypts into the start of `out` and returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::decrypt`], and [`Misuse::OutputTooShort`]. `out` has no plaintext then.
    pub fn decrypt_into(&self, data: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize, Error> {
        let (iv, ciphertext) = data.split_first_chunk().ok_or(Error::Authentication)?;
        let out = memory::first(out, ciphertext.len())?;
        // The only error is a synthetic IV that does not match.
        self.siv.open(&[aad], InOut::apart(ciphertext, out), iv).map_err(|_| Error::Authentication)?;
        Ok(ciphertext.len())
    }

    /// Encrypts packed messages: `data[offsets[i]..offsets[i + 1]]`, each with the same associated data. Returns the
    /// encrypted messages, packed, and their offsets.
    ///
    /// # Errors
    /// Returns the errors of [`Aead::seal_packed`](crate::Aead::seal_packed) about offsets, and [`Error::OutOfMemory`].
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
    pub fn encrypt_packed<O: Offset>(
        &self,
        data: &[u8],
        offsets: &[O],
        aad: &[u8],
    ) -> Result<(Vec<u8>, Vec<O>), Error> {
        let out_offsets = self.encrypted_offsets(offsets, data.len())?;
        let mut out = memory::zeroed(packed_len(&out_offsets))?;
        self.encrypt_packed_into(data, offsets, aad, &mut out)?;
        Ok((out, out_offsets))
    }

    /// Decrypts packed messages, which have the same associated data. Returns the plaintexts, packed, and their offsets.
    ///
    /// # Errors
    /// Returns [`Error::InBatch`] with [`Error::Authentication`] for the first message that is not authentic. No plaintext
    /// is returned then. Also returns the errors of [`Self::encrypt_packed`].
    pub fn decrypt_packed<O: Offset>(
        &self,
        data: &[u8],
        offsets: &[O],
        aad: &[u8],
    ) -> Result<(Vec<u8>, Vec<O>), Error> {
        let out_offsets = self.decrypted_offsets(offsets, data.len())?;
        let mut out = memory::zeroed(packed_len(&out_offsets))?;
        self.decrypt_packed_into(data, offsets, aad, &mut out)?;
        Ok((out, out_offsets))
    }

    /// Returns the offsets of the results of [`Self::encrypt_packed_into`] for data of `len` bytes. The last one is the length
    /// of all results.
    ///
    /// # Errors
    /// Returns the errors of [`Self::encrypt_packed`] about offsets.
    pub fn encrypted_offsets<O: Offset>(&self, offsets: &[O], len: usize) -> Result<Vec<O>, Error> {
        packed::longer(offsets, len, IV_LEN)
    }

    /// Returns the offsets of the results of [`Self::decrypt_packed_into`] for data of `len` bytes. The last one is the length
    /// of all results.
    ///
    /// # Errors
    /// Returns the errors of [`Self::decrypt_packed`] about offsets, and about the first message that is too short.
    pub fn decrypted_offsets<O: Offset>(&self, offsets: &[O], len: usize) -> Result<Vec<O>, Error> {
        packed::shorter(offsets, len, IV_LEN)
    }

    /// Encrypts packed messages into the start of `out`, which has at least the length that [`Self::encrypted_offsets`]
    /// returns.
    ///
    /// # Errors
    /// Returns the errors of [`Self::encrypt_packed`], and [`Misuse::OutputTooShort`]. `out` is unchanged then.
    pub fn encrypt_packed_into<O: Offset>(
        &self,
        data: &[u8],
        offsets: &[O],
        aad: &[u8],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let range = data_range(offsets, data.len())?;
        let added = (offsets.len() - 1).saturating_mul(IV_LEN);
        let out = memory::first(out, range.len().saturating_add(added))?;
        let result_len = |len, count| len + count * IV_LEN;
        self.packed(data, offsets, out, result_len, |message, out| self.encrypt_into(message, aad, out))
    }

    /// Decrypts packed messages into the start of `out`, which has at least the length that [`Self::decrypted_offsets`]
    /// returns.
    ///
    /// # Errors
    /// Returns the errors of [`Self::decrypt_packed`], and [`Misuse::OutputTooShort`]. After an error, `out` is unchanged or
    /// zero.
    pub fn decrypt_packed_into<O: Offset>(
        &self,
        data: &[u8],
        offsets: &[O],
        aad: &[u8],
        out: &mut [u8],
    ) -> Result<(), Error> {
        packed::check_sealed(offsets, data.len(), IV_LEN)?;
        let result_len = |len, count| len - count * IV_LEN;
        let range = data_range(offsets, data.len())?;
        let out = memory::first(out, result_len(range.len(), offsets.len() - 1))?;
        self.packed(data, offsets, out, result_len, |message, out| self.decrypt_into(message, aad, out))
    }

    /// Processes packed messages whose offsets are checked, on as many threads as their length is worth. `out` has exactly
    /// the length of the result, and `result_len` returns the length of the results for a length and a number of messages.
    #[doc(hidden)]
    pub fn packed<O: Offset>(
        &self,
        data: &[u8],
        offsets: &[O],
        out: &mut [u8],
        result_len: impl Fn(usize, usize) -> usize + Sync,
        message: impl Fn(&[u8], &mut [u8]) -> Result<usize, Error> + Sync,
    ) -> Result<(), Error> {
        let count = offsets.len() - 1;
        let part = |first: usize, offsets: &[O], mut out: &mut [u8]| -> Result<(), Error> {
            for (index, pair) in offsets.windows(2).enumerate() {
                let written = message(&data[index_of(pair[0])..index_of(pair[1])], out)
                    .map_err(|error| in_batch(first + index, error))?;
                out = &mut out[written..];
            }
            Ok(())
        };
        let job_len = packed::job_len(self.threads, count, index_of(offsets[count]) - index_of(offsets[0]));
        let result = if job_len >= count {
            part(0, offsets, out)
        } else {
            let mut parts = memory::with_capacity(count.div_ceil(job_len))?;
            let mut rest = &mut *out;
            for first in (0..count).step_by(job_len) {
                let offsets = &offsets[first..=count.min(first + job_len)];
                let count = offsets.len() - 1;
                let len = result_len(index_of(offsets[count]) - index_of(offsets[0]), count);
                let (out, after) = rest.split_at_mut(len);
                parts.push(Mutex::new((offsets, out)));
                rest = after;
            }
            packed::run_parts(self.threads, parts, |job, (offsets, out)| part(job * job_len, offsets, out))
        };
        if result.is_err() {
            out.fill(0);
        }
        result
    }
}

debug_fields!(DeterministicAead; |it| algorithm: it.algorithm.name(), variant: it.variant());

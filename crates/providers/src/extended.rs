//! AEADs with 24-byte nonces over AEADs with 12-byte nonces.
//!
//! The key and the first part of the nonce give a subkey for one message; the rest of the nonce
//! becomes the nonce of the inner AEAD. We wipe the subkey. Native and AWS-LC wipe its expanded
//! form, ring does not.

use crate::key::{key_array, nonce_array, rejected};
use crate::{AeadKey, InOut, KeyError, MessageError, OpenResult, SealError, SealResult, Threads, raw};
use chacha20::{R20, hchacha};
use std::panic::RefUnwindSafe;
use zeroize::{Zeroize, Zeroizing};

/// Derives a subkey and a short nonce from a key and a long nonce.
pub(crate) trait Extension: Sized + Send + Sync + RefUnwindSafe {
    fn new(key: &[u8; 32]) -> Result<Self, KeyError>;
    fn derive(&self, nonce: &[u8; 24]) -> (Zeroizing<[u8; 32]>, [u8; 12]);
}

/// Expands a key of extension `E` over the AEAD keys of `inner`.
pub(crate) fn key<E: Extension + 'static, K: AeadKey + 'static>(
    key: &[u8],
    inner: fn(&[u8]) -> Result<K, KeyError>,
) -> Result<Box<dyn AeadKey>, KeyError> {
    Ok(Box::new(Extended { extension: E::new(key_array(key)?)?, inner }))
}

struct Extended<E, K> {
    extension: E,
    inner: fn(&[u8]) -> Result<K, KeyError>,
}

impl<E: Extension, K: AeadKey> Extended<E, K> {
    fn message(&self, nonce: &[u8]) -> Result<(K, [u8; 12]), SealError> {
        let (subkey, nonce) = self.extension.derive(nonce_array(nonce)?);
        Ok(((self.inner)(&*subkey)?, nonce))
    }
}

/// Defines the methods of an `AeadKey` that takes each message's key and nonce from its method
/// `message`.
macro_rules! under_other_nonce {
    () => {
        fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> SealResult {
            let (key, nonce) = self.message(nonce)?;
            key.seal(&nonce, aad, data, tag)
        }

        fn open(&self, nonce: &[u8], aad: &[u8], mut data: InOut<'_>, tag: &[u8; 16]) -> OpenResult {
            let Ok((key, nonce)) = self.message(nonce) else { return Err(rejected(data.target())) };
            key.open(&nonce, aad, data, tag)
        }

        fn seal_on(
            &self,
            threads: &dyn Threads,
            nonce: &[u8],
            aad: &[u8],
            data: InOut<'_>,
            tag: &mut [u8; 16],
        ) -> SealResult {
            let (key, nonce) = self.message(nonce)?;
            key.seal_on(threads, &nonce, aad, data, tag)
        }

        fn open_on(
            &self,
            threads: &dyn Threads,
            nonce: &[u8],
            aad: &[u8],
            mut data: InOut<'_>,
            tag: &[u8; 16],
        ) -> OpenResult {
            let Ok((key, nonce)) = self.message(nonce) else { return Err(rejected(data.target())) };
            key.open_on(threads, &nonce, aad, data, tag)
        }
    };
}

impl<E: Extension, K: AeadKey> AeadKey for Extended<E, K> {
    under_other_nonce! {}

    fn divides_messages(&self) -> bool {
        // Any nonce will do for the answer. Only calls with long messages ask.
        self.message(&[0; 24]).is_ok_and(|(key, _)| key.divides_messages())
    }
}

/// Wraps an XAES-256-GCM key for nonces with a salt of `salt_len` bytes: Tink allows shorter salts
/// than the 12 bytes of C2SP.
///
/// The salt is the first part of the nonce, and Tink pads it with zeros: a message with the nonce
/// `salt || 12 bytes` is sealed under `salt || zeros || 12 bytes`.
///
/// # Panics
/// Panics if `salt_len` is more than 12.
pub fn short_salt(key: Box<dyn AeadKey>, salt_len: usize) -> Box<dyn AeadKey> {
    assert!(salt_len <= HALF, "a salt of XAES-256-GCM has at most 12 bytes");
    Box::new(ShortSalt { key, salt_len })
}

/// Length in bytes of an AES-256-GCM nonce, and of the whole salt in an XAES-256-GCM nonce.
const HALF: usize = 12;

struct ShortSalt {
    key: Box<dyn AeadKey>,
    salt_len: usize,
}

impl ShortSalt {
    /// Returns the key, and the algorithm's nonce for a message's nonce.
    fn message(&self, short: &[u8]) -> Result<(&dyn AeadKey, [u8; 2 * HALF]), MessageError> {
        let expected = self.salt_len + HALF;
        if short.len() != expected {
            return Err(MessageError::InvalidNonceLength { found: short.len(), expected });
        }
        let (salt, rest) = short.split_at(self.salt_len);
        let mut nonce = [0; 2 * HALF];
        nonce[..self.salt_len].copy_from_slice(salt);
        nonce[HALF..].copy_from_slice(rest);
        Ok((&*self.key, nonce))
    }
}

impl AeadKey for ShortSalt {
    under_other_nonce! {}

    fn divides_messages(&self) -> bool {
        self.key.divides_messages()
    }
}

/// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03, section 2.3).
#[cfg_attr(
    not(all(feature = "aegis", feature = "aws-lc", feature = "ring")),
    allow(dead_code, reason = "providers that are not built use it")
)]
pub(crate) struct XChaCha(Zeroizing<[u8; 32]>);

impl Extension for XChaCha {
    fn new(key: &[u8; 32]) -> Result<Self, KeyError> {
        Ok(Self(Zeroizing::new(*key)))
    }

    fn derive(&self, nonce: &[u8; 24]) -> (Zeroizing<[u8; 32]>, [u8; 12]) {
        let (first, last) = nonce.split_first_chunk::<16>().expect("16 of 24 bytes");
        let mut subkey = hchacha::<R20>((&*self.0).into(), first.into());
        let wiped = Zeroizing::new(subkey.into());
        subkey.zeroize();
        let mut short = [0; 12];
        short[4..].copy_from_slice(last);
        (wiped, short)
    }
}

/// XAES-256-GCM (C2SP): CMAC in the counter-mode KDF of NIST SP 800-108r1, written out for its two
/// blocks.
pub(crate) struct Xaes {
    aes: raw::Aes,
    /// The subkey K1 of CMAC.
    mask: Zeroizing<[u8; 16]>,
}

impl Extension for Xaes {
    fn new(key: &[u8; 32]) -> Result<Self, KeyError> {
        let aes = raw::aes(key)?;
        let doubled = Zeroizing::new(u128::from_be_bytes(aes.encrypt_block(&[0; 16])));
        // Doubling in GF(2^128), by a multiplication to avoid a branch on a secret bit.
        let mask = (*doubled << 1) ^ ((*doubled >> 127) * 0x87);
        Ok(Self { aes, mask: Zeroizing::new(mask.to_be_bytes()) })
    }

    fn derive(&self, nonce: &[u8; 24]) -> (Zeroizing<[u8; 32]>, [u8; 12]) {
        let (first, last) = nonce.split_first_chunk::<12>().expect("12 of 24 bytes");
        let mut subkey = Zeroizing::new([0; 32]);
        for (half, counter) in subkey.chunks_exact_mut(16).zip(1..) {
            let mut block = Zeroizing::new([0, counter, b'X', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            block[4..].copy_from_slice(first);
            for (byte, mask) in block.iter_mut().zip(&*self.mask) {
                *byte ^= mask;
            }
            half.copy_from_slice(&*Zeroizing::new(self.aes.encrypt_block(&block)));
        }
        (subkey, last.try_into().expect("12 of 24 bytes"))
    }
}

//! The file key and the keys derived from it.

use crate::prelude::*;
use hkdf::Hkdf;
use hkdf::hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Length of a file key in bytes.
pub(super) const LEN: usize = 16;
/// Length of a wrapped file key in bytes. Other lengths are refused before decryption, to prevent
/// partitioning oracles (c2sp.org/age).
pub(super) const WRAPPED_LEN: usize = LEN + 16;

/// The key of a file: 16 bytes that each recipient can unwrap, wiped on drop.
pub(super) struct FileKey(Zeroizing<[u8; LEN]>);

impl FileKey {
    pub(super) fn generate() -> Result<Self> {
        let mut key = Self(Zeroizing::new([0; LEN]));
        base::random::fill(&mut *key.0)?;
        Ok(key)
    }

    /// Returns the file key, or `None` if the length is wrong.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self(Zeroizing::new(bytes.try_into().ok()?)))
    }

    pub(super) fn as_bytes(&self) -> &[u8; LEN] {
        &self.0
    }

    /// Encrypts the file key with ChaCha20-Poly1305. The nonce is zero, because a wrap key is used
    /// only once.
    pub(super) fn wrap(&self, wrap_key: &[u8; 32]) -> Result<[u8; WRAPPED_LEN]> {
        let mut wrapped = [0; WRAPPED_LEN];
        let (data, tag) = wrapped.split_at_mut(LEN);
        aead(wrap_key)?.encrypt_parts(&[0; 12], &[], InOut::apart(&*self.0, data), tag)?;
        Ok(wrapped)
    }

    /// Decrypts a wrapped file key; `None` if `wrap_key` is not its key.
    pub(super) fn unwrap(wrap_key: &[u8; 32], wrapped: &[u8; WRAPPED_LEN]) -> Result<Option<Self>> {
        let mut key = Self(Zeroizing::new([0; LEN]));
        let (data, tag) = wrapped.split_at(LEN);
        let opened = aead(wrap_key)?.decrypt_parts(&[0; 12], &[], InOut::apart(data, &mut *key.0), tag);
        Ok(Error::authentic(opened)?.map(|()| key))
    }

    /// Computes the MAC of a header, under a key derived from the file key.
    pub(super) fn mac(&self, text: &[u8]) -> [u8; 32] {
        let key = derive(&*self.0, &[], "header");
        let mac = Hmac::<Sha256>::new_from_slice(&*key).expect("HMAC accepts keys of any length");
        mac.chain_update(text).finalize().into_bytes().into()
    }

    /// Returns the AEAD of the payload, under a key derived from the file key and `nonce`.
    pub(super) fn payload(&self, nonce: &[u8; 16]) -> Result<Aead> {
        aead(&derive(&*self.0, nonce, "payload"))
    }
}

fn aead(key: &[u8; 32]) -> Result<Aead> {
    Aead::new(Algorithm::ChaCha20Poly1305, &Key::from_bytes(key))
}

/// HKDF-SHA-256, 32 bytes.
pub(super) fn derive(ikm: &[u8], salt: &[u8], info: &str) -> Zeroizing<[u8; 32]> {
    let mut okm = Zeroizing::new([0; 32]);
    let hkdf = Hkdf::<Sha256>::new(Some(salt), ikm);
    hkdf.expand(info.as_bytes(), &mut *okm).expect("HKDF-SHA-256 gives up to 8160 bytes");
    okm
}

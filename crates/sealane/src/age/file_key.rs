//! The file key, and what is derived from it.

use crate::{Aead, Algorithm, Error, InOut, Key};
use hkdf::Hkdf;
use hkdf::hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

/// Bytes of a file key.
pub(super) const LEN: usize = 16;
/// Bytes of a wrapped file key. Whatever is longer or shorter is refused before it is opened (c2sp.org/age, against
/// partitioning oracles).
pub(super) const WRAPPED: usize = LEN + 16;

/// What the payload of one file is encrypted with: 16 bytes that every recipient can unwrap. Wiped on drop.
pub(super) struct FileKey(Zeroizing<[u8; LEN]>);

impl FileKey {
    pub(super) fn generate() -> Result<Self, Error> {
        let mut key = Self(Zeroizing::new([0; LEN]));
        crate::random::fill(&mut *key.0)?;
        Ok(key)
    }

    /// The key that an opened stanza holds, where it has the length of one.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self(Zeroizing::new(bytes.try_into().ok()?)))
    }

    pub(super) fn as_bytes(&self) -> &[u8; LEN] {
        &self.0
    }

    /// Seals the file key with ChaCha20-Poly1305 under a key that serves for this alone, so the nonce is zero.
    pub(super) fn wrap(&self, wrap_key: &[u8; 32]) -> Result<[u8; WRAPPED], Error> {
        let mut wrapped = [0; WRAPPED];
        let (data, tag) = wrapped.split_at_mut(LEN);
        aead(wrap_key)?.encrypt_parts(&[0; 12], &[], InOut::apart(&*self.0, data), tag)?;
        Ok(wrapped)
    }

    /// Opens a wrapped file key; `None` where it is another's.
    pub(super) fn unwrap(wrap_key: &[u8; 32], wrapped: &[u8; WRAPPED]) -> Result<Option<Self>, Error> {
        let mut key = Self(Zeroizing::new([0; LEN]));
        let (data, tag) = wrapped.split_at(LEN);
        match aead(wrap_key)?.decrypt_parts(&[0; 12], &[], InOut::apart(data, &mut *key.0), tag) {
            Ok(()) => Ok(Some(key)),
            Err(Error::Authentication) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// The MAC over a header.
    pub(super) fn mac(&self, text: &[u8]) -> [u8; 32] {
        let key = derive(&*self.0, &[], "header");
        let mac = Hmac::<Sha256>::new_from_slice(&*key).expect("HMAC takes keys of any length");
        mac.chain_update(text).finalize().into_bytes().into()
    }

    /// The AEAD of the payload.
    pub(super) fn payload(&self, nonce: &[u8; 16]) -> Result<Aead, Error> {
        aead(&derive(&*self.0, nonce, "payload"))
    }
}

fn aead(key: &[u8; 32]) -> Result<Aead, Error> {
    Aead::new(Algorithm::ChaCha20Poly1305, &Key::from_bytes(key))
}

/// HKDF with SHA-256, 32 bytes.
pub(super) fn derive(ikm: &[u8], salt: &[u8], info: &str) -> Zeroizing<[u8; 32]> {
    let mut okm = Zeroizing::new([0; 32]);
    let hkdf = Hkdf::<Sha256>::new(Some(salt), ikm);
    hkdf.expand(info.as_bytes(), &mut *okm).expect("32 bytes are one block");
    okm
}

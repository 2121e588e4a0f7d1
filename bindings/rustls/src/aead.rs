//! A cipher suite's AEAD and its keys.

use rustls::crypto::cipher::{AeadKey, BorrowedPayload, Iv, PrefixedPayload, UnsupportedOperationError};
use rustls::{CipherSuite, ConnectionTrafficSecrets, Error};
use sealane::Algorithm;
use sealane::provider::{self, InOut, choose};

/// Length of a record's authentication tag in bytes.
pub(crate) const TAG_LEN: usize = 16;

/// Returns a cipher suite's AEAD, if sealane has it.
pub(crate) fn algorithm_of(suite: CipherSuite) -> Option<Algorithm> {
    match suite {
        CipherSuite::TLS13_AES_128_GCM_SHA256
        | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
        | CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => Some(Algorithm::Aes128Gcm),
        CipherSuite::TLS13_AES_256_GCM_SHA384
        | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
        | CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => Some(Algorithm::Aes256Gcm),
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256
        | CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
        | CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 => Some(Algorithm::ChaCha20Poly1305),
        _ => None,
    }
}

/// Returns the keys in the form for kernel TLS.
pub(crate) fn secrets(
    algorithm: Algorithm,
    key: AeadKey,
    iv: Iv,
) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
    match algorithm {
        Algorithm::Aes128Gcm => Ok(ConnectionTrafficSecrets::Aes128Gcm { key, iv }),
        Algorithm::Aes256Gcm => Ok(ConnectionTrafficSecrets::Aes256Gcm { key, iv }),
        Algorithm::ChaCha20Poly1305 => Ok(ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv }),
        _ => Err(UnsupportedOperationError),
    }
}

/// A key for one direction of a connection. rustls has no error for a failed key, so its records
/// fail.
pub(crate) struct RecordKey(Option<Box<dyn provider::AeadKey>>);

impl RecordKey {
    pub(crate) fn new(algorithm: Algorithm, key: &AeadKey) -> Self {
        let entry = choose(algorithm, None).ok();
        Self(entry.and_then(|entry| entry.key(key.as_ref()).ok()))
    }

    /// Encrypts the payload from `start` on, in place, and appends the tag.
    pub(crate) fn seal(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        payload: &mut PrefixedPayload,
        start: usize,
    ) -> Result<(), Error> {
        let key = self.0.as_ref().ok_or(Error::EncryptError)?;
        let mut tag = [0; TAG_LEN];
        let text = payload.as_mut().get_mut(start..).ok_or(Error::EncryptError)?;
        // rustls has a single error.
        key.seal(nonce, aad, InOut::in_place(text), &mut tag).map_err(|_| Error::EncryptError)?;
        payload.extend_from_slice(&tag);
        Ok(())
    }

    /// Decrypts the payload from `start` on, in place, verifies the tag at its end, and leaves only
    /// the plaintext.
    pub(crate) fn open(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        payload: &mut BorrowedPayload<'_>,
        start: usize,
    ) -> Result<(), Error> {
        let key = self.0.as_ref().ok_or(Error::DecryptError)?;
        let record = payload.get_mut(start..).ok_or(Error::DecryptError)?;
        let (text, tag) = record.split_last_chunk_mut::<TAG_LEN>().ok_or(Error::DecryptError)?;
        let len = text.len();
        // An authentication failure has no details.
        key.open(nonce, aad, InOut::in_place(text), tag).map_err(|_| Error::DecryptError)?;
        payload.copy_within(start..start + len, 0);
        payload.truncate(len);
        Ok(())
    }
}

//! Tink's envelope encryption: a fresh key encrypts the data, and another key, often in hardware,
//! wraps the fresh key.
//!
//! ```text
//! length of the wrapped key, 4 bytes, big-endian || wrapped key || nonce || ciphertext || tag
//! ```
//!
//! The wrapped key is Tink's `AesGcmKey`, a protocol buffer. The wrapping is not bound to a
//! context, but the data is: the context is the associated data of its AES-256-GCM. This is Tink's
//! format `KmsEnvelopeAead`.

use super::kind::KeyType;
use crate::prelude::*;

/// The type of the fresh key.
const KEY: KeyType = KeyType::Aead(Algorithm::Aes256Gcm);
/// Maximum length of a wrapped key in bytes, as in Tink.
const MAX_WRAPPED: usize = 4096;

/// Encrypts `plaintext` with a fresh key, and the key (34 bytes) with `wrap`.
pub(crate) fn seal<E: From<Error>>(
    plaintext: &[u8],
    context: &[u8],
    wrap: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>,
) -> Result<Vec<u8>, E> {
    let key = Key::generate(32)?;
    let wrapped = wrap(&KEY.encode(&key))?;
    let sealed = Aead::new(Algorithm::Aes256Gcm, &key)?.seal(plaintext, context)?;
    // The conversion's error says nothing more.
    let len = u32::try_from(wrapped.len()).map_err(|_| Error::LimitExceeded("a wrapped key is too long"))?;
    Ok([&len.to_be_bytes(), &wrapped[..], &sealed].concat())
}

/// Decrypts what [`seal`] returned.
///
/// # Errors
/// Returns [`Error::Authentication`] if the parts do not belong together, and the errors of
/// `unwrap`.
pub(crate) fn open<E: From<Error>>(
    sealed: &[u8],
    context: &[u8],
    unwrap: impl FnOnce(&[u8]) -> Result<Zeroizing<Vec<u8>>, E>,
) -> Result<Zeroizing<Vec<u8>>, E> {
    let (wrapped, sealed) = split(sealed).ok_or(Error::Authentication)?;
    let message = unwrap(wrapped)?;
    match KeyType::decode(&KEY.type_url(), &message) {
        Ok((KEY, key)) => Ok(Zeroizing::new(Aead::new(Algorithm::Aes256Gcm, &key)?.open(sealed, context)?)),
        _ => Err(Error::Authentication.into()),
    }
}

/// Returns the wrapped key and the rest; `None` if the length does not fit the data.
fn split(sealed: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = sealed.split_first_chunk()?;
    let len = usize::try_from(u32::from_be_bytes(*len)).ok()?;
    (1..=MAX_WRAPPED).contains(&len).then(|| rest.split_at_checked(len))?
}

#[cfg(test)]
mod test {
    use super::super::proto::{self, KeyMessage};
    use super::*;

    fn wrap(key: &[u8]) -> Result<Vec<u8>> {
        assert_eq!((key.len(), &key[..2]), (34, &[0x1a, 32][..]), "field 3 of the protocol buffer");
        Ok(key.iter().rev().copied().collect())
    }

    fn unwrap(key: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        Ok(Zeroizing::new(key.iter().rev().copied().collect()))
    }

    #[test]
    fn round_trip() {
        let sealed = seal(b"keyset", b"sales", wrap).unwrap();
        assert_eq!(sealed.len(), 4 + 34 + 12 + 6 + 16);
        assert_eq!(open(&sealed, b"sales", unwrap).unwrap()[..], *b"keyset");
        assert!(matches!(open(&sealed, b"wages", unwrap), Err(Error::Authentication)));
    }

    #[test]
    fn changed_and_truncated() {
        let sealed = seal(b"keyset", b"", wrap).unwrap();
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(matches!(open(&changed, b"", unwrap), Err(Error::Authentication)), "byte {at}");
            assert!(matches!(open(&sealed[..at], b"", unwrap), Err(Error::Authentication)), "{at} bytes");
        }
        let other = |_: &[u8]| Ok::<_, Error>(Zeroizing::new(vec![0x1a, 16]));
        assert!(matches!(open(&sealed, b"", other), Err(Error::Authentication)));
    }

    /// An envelope's key has version 0 and 32 bytes.
    #[test]
    fn keys_of_other_versions_and_lengths() {
        let sealed = seal(b"keyset", b"", wrap).unwrap();
        for (version, len) in [(1, 32), (0, 16), (0, 31), (0, 33)] {
            let other = |wrapped: &[u8]| {
                let message: KeyMessage = proto::decode(&unwrap(wrapped)?).unwrap();
                let key = message.third.iter().flatten().copied().cycle().take(len).collect();
                Ok::<_, Error>(proto::encode(&KeyMessage { version, second: None, third: Some(key) }))
            };
            assert!(matches!(open(&sealed, b"", other), Err(Error::Authentication)), "{version} {len}");
        }
    }
}

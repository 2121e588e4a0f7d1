//! Keyrings as JSON Web Key Sets (RFC 7517, section 5).
//!
//! A JWK Set has no states and no primary key. So its first key is the primary key, and we write
//! only enabled keys. A key from a JWK Set has no prefix: other software sealed its messages
//! without one.

use super::kind::KeyType;
use super::{KeyState, Keyring, Prefix};
use crate::Jwk;
use crate::jwk::symmetric_keys;
use crate::prelude::*;

/// AEADs in IANA's registry "JSON Web Signature and Encryption Algorithms".
const ALGORITHMS: [(&str, Algorithm); 2] =
    [("A128GCM", Algorithm::Aes128Gcm), ("A256GCM", Algorithm::Aes256Gcm)];

impl Keyring {
    /// Parses a JWK Set. Its first symmetric key becomes the primary key. A numeric `kid` becomes
    /// the key's identifier; other keys get a random one. Keys of other types are ignored, as RFC
    /// 7517 recommends.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other text and for a set without a symmetric key, and
    /// [`Misuse::UnsuitableKey`] if an `alg` is neither `A128GCM` nor
    /// `A256GCM` or does not fit the key's length.
    pub fn from_jwk_set(text: &str) -> Result<Self> {
        super::check_len(text.as_bytes())?;
        let mut keys = Vec::new();
        for jwk in symmetric_keys(text)? {
            let entry = Self::entry(&keys, id(&jwk), key_type(&jwk)?, Prefix::Raw, &jwk.key)?;
            keys.push(entry);
        }
        match keys.is_empty() {
            true => Err(Error::Format("expected a JWK Set with a symmetric key, found none")),
            false => Ok(Self { keys, primary: 0 }),
        }
    }

    /// Encodes the enabled keys as a JWK Set, the primary key first. The identifier becomes the
    /// `kid`.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for keys other than AES-GCM:
    /// JSON Web Keys have no algorithm for them.
    pub fn to_jwk_set(&self) -> Result<Zeroizing<String>> {
        let primary = &self.keys[self.primary];
        let others = self.keys.iter().filter(|entry| entry.id != primary.id);
        let mut keys = Vec::new();
        for entry in [primary].into_iter().chain(others) {
            let (KeyState::Enabled, Some((key_type, key))) = (entry.state, &entry.material) else { continue };
            let known = ALGORITHMS.iter().find(|(_, algorithm)| KeyType::Aead(*algorithm) == *key_type);
            let (alg, _) = known.ok_or(
                Error::unsuitable_key("a JWK Set can hold AES-GCM keys only; use JSON of Tink for this key")
                    .in_keyring(entry.id),
            )?;
            let jwk = Jwk {
                key: key.clone(),
                kid: Some(entry.id.to_string()),
                alg: Some((*alg).to_owned()),
                usage: Some("enc".to_owned()),
            };
            keys.push(jwk.to_json());
        }
        // Joined with full capacity at once: growing text leaves copies behind.
        let keys: Vec<_> = keys.iter().map(|key| key.trim_end()).collect();
        let keys = Zeroizing::new(keys.join(","));
        Ok(Zeroizing::new(["{\"keys\":[", &keys, "]}\n"].concat()))
    }
}

/// Returns the number in `kid`, if it is a key identifier.
fn id(jwk: &Jwk) -> Option<u32> {
    // Only text as we write it counts, not "+7" or "007".
    let text = jwk.kid.as_deref()?;
    text.parse().ok().filter(|id: &u32| id.to_string() == text)
}

fn key_type(jwk: &Jwk) -> Result<KeyType> {
    let len = jwk.key.as_bytes().len();
    let fits = |(name, algorithm): &&(&str, Algorithm)| {
        algorithm.key_len() == len && jwk.alg.as_deref().is_none_or(|alg| alg == *name)
    };
    let found = ALGORITHMS.iter().find(fits);
    found.map(|(_, algorithm)| KeyType::Aead(*algorithm)).ok_or(Error::unsuitable_key(
        "expected JSON Web Keys for A128GCM or A256GCM, found another alg or another length",
    ))
}

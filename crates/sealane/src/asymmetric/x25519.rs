//! X25519 (RFC 7748), over AWS-LC.
//!
//! ```text
//! private key   = 32 bytes, any; the function clamps them itself (section 5)
//! public key    = 32 bytes, any; the top bit is ignored
//! shared secret = 32 bytes, never all zero (section 6.1)
//! ```

use crate::{Error, Misuse};
use aws_lc_rs::agreement as library;
use std::fmt;
use std::sync::Arc;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Bytes of a private key, of a public key and of a shared secret.
pub const LEN: usize = 32;

/// Whoever sends such a key knows the secret before anybody has agreed on it.
const LOW_ORDER: Error = Error::Misuse(Misuse::UnsuitableKey(
    "a public key of X25519 of low order: with it, everybody has the same secret",
));

const FAILED: Error = Error::LimitExceeded("X25519 could not be computed: there is no memory left");

/// A private key. Our copy is wiped on drop, AWS-LC's when the last clone is; never shown.
#[derive(Clone)]
pub struct PrivateKey {
    bytes: Zeroizing<[u8; LEN]>,
    /// The library keeps the public side with it, which takes a multiplication to make.
    key: Arc<library::PrivateKey>,
    public: PublicKey,
}

impl PrivateKey {
    /// A fresh key from the operating system.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn generate() -> Result<Self, Error> {
        let mut bytes = Zeroizing::new([0; LEN]);
        crate::random::fill(&mut *bytes)?;
        Self::from_bytes(&bytes)
    }

    /// The key with these bytes; all are one.
    ///
    /// # Errors
    /// [`Error::LimitExceeded`] where there is no memory left.
    pub fn from_bytes(bytes: &[u8; LEN]) -> Result<Self, Error> {
        let key = library::PrivateKey::from_private_key(&library::X25519, bytes).map_err(|_| FAILED)?;
        let public = key.compute_public_key().map_err(|_| FAILED)?;
        let public = PublicKey(public.as_ref().try_into().map_err(|_| FAILED)?);
        Ok(Self { bytes: Zeroizing::new(*bytes), key: Arc::new(key), public })
    }

    /// The secret itself, as it was given: not clamped.
    pub fn as_bytes(&self) -> &[u8; LEN] {
        &self.bytes
    }

    /// The public side.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// What both sides arrive at; in constant time. It is no key yet: hash it, with both public keys.
    ///
    /// # Errors
    /// [`Misuse::UnsuitableKey`] where `public` is of low order: the result would be zero whoever computes it (RFC 7748,
    /// section 6.1).
    pub fn agree(&self, public: &PublicKey) -> Result<Zeroizing<[u8; LEN]>, Error> {
        let peer = library::UnparsedPublicKey::new(&library::X25519, public.0);
        let shared = library::agree(&self.key, peer, LOW_ORDER, |shared| {
            let mut kept = Zeroizing::new([0; LEN]);
            kept.copy_from_slice(shared.get(..LEN).ok_or(FAILED)?);
            Ok(kept)
        })?;
        // The library refuses it too, today.
        if shared.ct_eq(&[0; LEN]).into() { Err(LOW_ORDER) } else { Ok(shared) }
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(X25519)")
    }
}

/// A public key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; LEN]);

impl PublicKey {
    /// The key with these bytes. Those of low order are noticed where they are used.
    pub fn from_bytes(bytes: &[u8; LEN]) -> Self {
        Self(*bytes)
    }

    /// Its bytes, as they were given.
    pub fn as_bytes(&self) -> &[u8; LEN] {
        &self.0
    }
}

impl From<[u8; LEN]> for PublicKey {
    fn from(bytes: [u8; LEN]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::debug_public("X25519", &self.0, f)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn both_sides_arrive_at_the_same() {
        let (a, b) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
        assert_ne!(a.as_bytes(), b.as_bytes());
        assert_eq!(a.agree(&b.public()).unwrap(), b.clone().agree(&a.public()).unwrap());
        let again = PrivateKey::from_bytes(a.as_bytes()).unwrap();
        assert_eq!(again.public(), a.public());
    }

    #[test]
    fn low_order_is_refused() {
        let key = PrivateKey::generate().unwrap();
        let mut one = [0; LEN];
        one[0] = 1;
        for low in [[0; LEN], one] {
            let refused = key.agree(&PublicKey::from_bytes(&low));
            assert!(matches!(refused, Err(Error::Misuse(Misuse::UnsuitableKey(_)))), "{refused:?}");
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let key = PrivateKey::from_bytes(&[0x5a; LEN]).unwrap();
        assert_eq!(format!("{key:?}"), "PrivateKey(X25519)");
        let public = format!("{:?}", PublicKey([0xab; LEN]));
        assert!(public.starts_with("PublicKey(X25519, abab"), "{public}");
    }
}

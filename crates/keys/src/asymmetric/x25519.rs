//! X25519 (RFC 7748), computed by AWS-LC.
//!
//! ```text
//! private key   = any 32 bytes; the function clamps them (section 5)
//! public key    = any 32 bytes; the top bit is ignored
//! shared secret = 32 bytes, never all zero (section 6.1)
//! ```

use crate::prelude::*;
use aws_lc_rs::agreement as library;

/// Length in bytes of a private key, a public key and a shared secret.
pub const LEN: usize = 32;

/// Words of stack to wipe after the library has used the private key.
const STACK: usize = 1 << 10;

const LOW_ORDER: Error = Error::unsuitable_key(
    "expected an X25519 public key, found a point of low order, with which every private key gives the secret zero",
);

const OUT_OF_MEMORY: Error = Error::LimitExceeded("X25519 could not be computed: memory is exhausted");

/// A private key. Its bytes are wiped on drop, AWS-LC's state with its last clone. `Debug` shows no
/// secret.
#[derive(Clone)]
pub struct PrivateKey {
    bytes: Secret<LEN>,
    /// The library's state and the public key, which costs a multiplication.
    key: Arc<library::PrivateKey>,
    public: PublicKey,
}

impl PrivateKey {
    /// Generates a private key with the operating system's random generator.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the operating system returns no random bytes.
    pub fn generate() -> Result<Self> {
        Self::from_bytes(&*Secret::generate()?)
    }

    /// Returns the key with these bytes. Every value is valid.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if the library cannot allocate memory.
    pub fn from_bytes(bytes: &[u8; LEN]) -> Result<Self> {
        Computation::X25519.check()?;
        wiping_stack::<STACK, _>(|| {
            // The library's only error has no content. Every value is valid, so only the allocation
            // can have failed.
            let key =
                library::PrivateKey::from_private_key(&library::X25519, bytes).map_err(|_| OUT_OF_MEMORY)?;
            let public = key.compute_public_key().map_err(|_| OUT_OF_MEMORY)?;
            let public = PublicKey(public.as_ref().try_into().map_err(|_| OUT_OF_MEMORY)?);
            Ok(Self { bytes: Secret::copy(bytes), key: Arc::new(key), public })
        })
    }

    /// Returns the secret bytes as given, not clamped.
    pub fn as_bytes(&self) -> &[u8; LEN] {
        &self.bytes
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// Returns the shared secret of this key and `public`, in constant time. It is not uniformly
    /// random: derive keys from it with a hash over the secret and both public keys.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] if `public` has low order:
    /// the result would be zero for every private key (RFC 7748, section 6.1).
    pub fn diffie_hellman(&self, public: &PublicKey) -> Result<Zeroizing<[u8; LEN]>> {
        let peer = library::UnparsedPublicKey::new(&library::X25519, public.0);
        let shared = wiping_stack::<STACK, _>(|| {
            library::agree(&self.key, peer, LOW_ORDER, |shared| {
                let mut copy = Zeroizing::new([0; LEN]);
                copy.copy_from_slice(shared.get(..LEN).ok_or(OUT_OF_MEMORY)?);
                Ok(copy)
            })
        })?;
        // The library's current release refuses it too.
        if shared.ct_eq(&[0; LEN]).into() { Err(LOW_ORDER) } else { Ok(shared) }
    }
}

super::equal_by!(PrivateKey: public());
super::debug_keys!("X25519");

/// A public key of X25519: a point's u-coordinate in 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; LEN]);

impl PublicKey {
    /// Returns the key with these bytes. Using a key of low order is an error.
    pub fn from_bytes(bytes: &[u8; LEN]) -> Self {
        Self(*bytes)
    }

    /// Returns the bytes of the key, as given.
    pub fn as_bytes(&self) -> &[u8; LEN] {
        &self.0
    }
}

impl From<[u8; LEN]> for PublicKey {
    fn from(bytes: [u8; LEN]) -> Self {
        Self(bytes)
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use base::Misuse;

    #[test]
    fn both_sides_compute_the_same_secret() {
        let (a, b) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
        assert_ne!(a.as_bytes(), b.as_bytes());
        assert_eq!(a.diffie_hellman(&b.public()).unwrap(), b.clone().diffie_hellman(&a.public()).unwrap());
        let again = PrivateKey::from_bytes(a.as_bytes()).unwrap();
        assert_eq!(again.public(), a.public());
    }

    #[test]
    fn rejects_low_order() {
        let key = PrivateKey::generate().unwrap();
        let mut one = [0; LEN];
        one[0] = 1;
        for low in [[0; LEN], one] {
            let refused = key.diffie_hellman(&PublicKey::from_bytes(&low));
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

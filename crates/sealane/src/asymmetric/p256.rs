//! P-256 (SEC 2 version 2, section 2.4.2; also called secp256r1 and prime256v1), computed by AWS-LC.
//!
//! ```text
//! private key   = 32 bytes, big-endian, from 1 to n - 1, where n is the order of the group
//! public key    = 04 || x[32] || y[32]   uncompressed (SEC 1 version 2, section 2.3.3)
//! shared secret = x[32] of the product
//! ```
//!
//! A point has one encoding here. Compressed points, the hybrid encodings of X9.62 (06, 07) and the point at infinity
//! are refused.

use crate::{Error, Misuse};
use aws_lc_rs::agreement as library;
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Number of bytes in a private key and a shared secret.
pub const PRIVATE_LEN: usize = 32;
/// Number of bytes in a public key, which is encoded as an uncompressed point.
pub const PUBLIC_LEN: usize = 65;

const INVALID_PUBLIC_KEY: Error = Error::Format(
    "expected a P-256 public key: 65 bytes that begin with 04, the uncompressed encoding of a point on the curve",
);

const OUT_OF_MEMORY: Error = Error::LimitExceeded("P-256 could not be computed: memory is exhausted");

/// A private key. The bytes are wiped on drop, and the state of AWS-LC when its last clone is dropped. `Debug` shows
/// no secret.
#[derive(Clone)]
pub struct PrivateKey {
    bytes: Zeroizing<[u8; PRIVATE_LEN]>,
    /// The state of the library, with the public key, which takes a multiplication to compute.
    key: Arc<library::PrivateKey>,
    public: PublicKey,
}

impl PrivateKey {
    /// Generates a new private key from random bytes that the operating system returns.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if no random bytes are available, and [`Error::LimitExceeded`] if memory is exhausted.
    pub fn generate() -> Result<Self, Error> {
        let mut bytes = Zeroizing::new([0; PRIVATE_LEN]);
        loop {
            crate::random::fill(&mut *bytes)?;
            match Self::from_bytes(&bytes) {
                // One value of 2^32 is not below the order.
                Err(Error::Misuse(_)) => {}
                made => return made,
            }
        }
    }

    /// Returns the key with these bytes, which are the secret number in big-endian order.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for zero and for numbers that are not below the order of the group.
    pub fn from_bytes(bytes: &[u8; PRIVATE_LEN]) -> Result<Self, Error> {
        // The errors of the library have no content.
        let key = library::PrivateKey::from_private_key(&library::ECDH_P256, bytes).map_err(|_| {
            Misuse::UnsuitableKey(
                "expected a P-256 private key: a number from 1 to the order of the group minus 1",
            )
        })?;
        // AWS-LC reports `Unspecified`; with valid keys, only allocation can fail.
        let public = key.compute_public_key().map_err(|_| OUT_OF_MEMORY)?;
        let public = PublicKey::from_bytes(public.as_ref())?;
        Ok(Self { bytes: Zeroizing::new(*bytes), key: Arc::new(key), public })
    }

    /// Returns the secret number as 32 big-endian bytes, which must be kept confidential.
    pub fn as_bytes(&self) -> &[u8; PRIVATE_LEN] {
        &self.bytes
    }

    /// Returns the public key that belongs to this private key.
    pub fn public(&self) -> PublicKey {
        self.public.clone()
    }

    /// Returns the x-coordinate of the shared point of this key and `public`, in constant time. It is not uniformly
    /// random: derive keys from it with a hash.
    ///
    /// The group has prime order and both factors were checked, so the shared point is never the point at infinity.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if the library cannot allocate the memory that the operation needs.
    pub fn diffie_hellman(&self, public: &PublicKey) -> Result<Zeroizing<[u8; PRIVATE_LEN]>, Error> {
        library::agree(&self.key, public.point.clone(), OUT_OF_MEMORY, |shared| {
            let mut copy = Zeroizing::new([0; PRIVATE_LEN]);
            copy.copy_from_slice(shared.get(..PRIVATE_LEN).ok_or(OUT_OF_MEMORY)?);
            Ok(copy)
        })
    }
}

super::equal_if_public_keys_are!(PrivateKey);

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(P-256)")
    }
}

/// A point of the curve, never the point at infinity.
#[derive(Clone)]
pub struct PublicKey {
    bytes: [u8; PUBLIC_LEN],
    point: library::ParsedPublicKey,
}

impl PublicKey {
    /// Parses an uncompressed point of 65 bytes and checks that it lies on the curve.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other lengths and prefixes, coordinates that are not field elements, and points
    /// that are not on the curve.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let bytes: [u8; PUBLIC_LEN] = bytes.try_into().map_err(|_| INVALID_PUBLIC_KEY)?;
        if bytes[0] != 4 {
            return Err(INVALID_PUBLIC_KEY);
        }
        let unparsed = library::UnparsedPublicKey::new(&library::ECDH_P256, bytes);
        // The error of the library says no more than that the key was rejected.
        let point = unparsed.try_into().map_err(|_| INVALID_PUBLIC_KEY)?;
        Ok(Self { bytes, point })
    }

    /// Returns the uncompressed encoding of the point, which has 65 bytes.
    pub fn as_bytes(&self) -> &[u8; PUBLIC_LEN] {
        &self.bytes
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::debug_public("P-256", &self.bytes, f)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    const ORDER: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";

    #[test]
    fn rejects_private_keys_outside_the_order() {
        let mut order: [u8; 32] = hex::decode(ORDER).unwrap().try_into().unwrap();
        for bad in [[0; 32], order, [0xff; 32]] {
            assert!(matches!(PrivateKey::from_bytes(&bad), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
        }
        order[31] -= 1;
        let (mut first, last) = ([0; 32], PrivateKey::from_bytes(&order).unwrap());
        first[31] = 1;
        let first = PrivateKey::from_bytes(&first).unwrap();
        // The public key of n - 1 is that of 1 with the other sign: the x-coordinates are equal.
        assert_eq!(first.public().as_bytes()[..33], last.public().as_bytes()[..33]);
        assert_ne!(first.public(), last.public());
    }

    #[test]
    fn both_sides_compute_the_same_secret() {
        let (a, b) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
        assert_ne!(a.as_bytes(), b.as_bytes());
        assert_eq!(a.diffie_hellman(&b.public()).unwrap(), b.clone().diffie_hellman(&a.public()).unwrap());
        assert_eq!(PrivateKey::from_bytes(a.as_bytes()).unwrap().public(), a.public());
    }

    #[test]
    fn rejects_other_prefixes_and_lengths() {
        let key = PrivateKey::generate().unwrap().public();
        let bytes = *key.as_bytes();
        assert_eq!(PublicKey::from_bytes(&bytes).unwrap(), key);
        let refused = |bytes: &[u8]| matches!(PublicKey::from_bytes(bytes), Err(Error::Format(text)) if text.contains("P-256"));
        for len in (0..bytes.len()).chain([66]) {
            assert!(refused(&[&bytes[..], &[0]].concat()[..len]), "{len} bytes");
        }
        for prefix in (0..=255).filter(|&prefix| prefix != 4) {
            let mut other = bytes;
            other[0] = prefix;
            assert!(refused(&other), "{prefix:02x}");
        }
        let compressed = [&[2 + (bytes[64] & 1)][..], &bytes[1..33]].concat();
        assert!(refused(&compressed));
        for at in 1..65 {
            let mut other = bytes;
            other[at] ^= 1;
            assert!(refused(&other), "a point off the curve, byte {at}");
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let key = PrivateKey::from_bytes(&[0x5a; 32]).unwrap();
        assert_eq!(format!("{key:?}"), "PrivateKey(P-256)");
        assert!(format!("{:?}", key.public()).starts_with("PublicKey(P-256, 04"));
    }
}

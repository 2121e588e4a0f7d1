//! P-256 (SEC 2 version 2, section 2.4.2; secp256r1, prime256v1), over AWS-LC.
//!
//! ```text
//! private key   = 32 bytes, big-endian, from 1 to the order of the group less 1
//! public key    = 04 || x[32] || y[32]   uncompressed (SEC 1 version 2, section 2.3.3)
//! shared secret = x[32] of the product
//! ```
//!
//! One point has one encoding here: compressed points, the hybrid ones of X9.62 (06, 07) and the point at infinity are
//! refused.

use crate::{Error, Misuse};
use aws_lc_rs::agreement as library;
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Bytes of a private key and of a shared secret.
pub const PRIVATE_LEN: usize = 32;
/// Bytes of a public key.
pub const PUBLIC_LEN: usize = 65;

const NO_PUBLIC_KEY: Error =
    Error::Format("not a public key of P-256: 65 bytes that begin with 04, of a point on the curve");

const FAILED: Error = Error::LimitExceeded("P-256 could not be computed: there is no memory left");

/// A private key. Our copy is wiped on drop, AWS-LC's when the last clone is; never shown.
#[derive(Clone)]
pub struct PrivateKey {
    bytes: Zeroizing<[u8; PRIVATE_LEN]>,
    /// The library keeps the public side with it, which takes a multiplication to make.
    key: Arc<library::PrivateKey>,
    public: PublicKey,
}

impl PrivateKey {
    /// A fresh key from the operating system.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::LimitExceeded`].
    pub fn generate() -> Result<Self, Error> {
        let mut bytes = Zeroizing::new([0; PRIVATE_LEN]);
        loop {
            crate::random::fill(&mut *bytes)?;
            match Self::from_bytes(&bytes) {
                // One of 2^32 is out of range.
                Err(Error::Misuse(_)) => {}
                made => return made,
            }
        }
    }

    /// The key with these bytes, big-endian.
    ///
    /// # Errors
    /// [`Misuse::UnsuitableKey`] for zero, and from the order of the group on: no number has two keys.
    pub fn from_bytes(bytes: &[u8; PRIVATE_LEN]) -> Result<Self, Error> {
        let key = library::PrivateKey::from_private_key(&library::ECDH_P256, bytes).map_err(|_| {
            Misuse::UnsuitableKey("no private key of P-256: it is zero, or not below the order of the group")
        })?;
        let public = key.compute_public_key().map_err(|_| FAILED)?;
        let public = PublicKey::from_bytes(public.as_ref())?;
        Ok(Self { bytes: Zeroizing::new(*bytes), key: Arc::new(key), public })
    }

    /// The secret itself, big-endian.
    pub fn as_bytes(&self) -> &[u8; PRIVATE_LEN] {
        &self.bytes
    }

    /// The public side.
    pub fn public(&self) -> PublicKey {
        self.public.clone()
    }

    /// The first coordinate of the point that both sides arrive at; in constant time. It is no key yet: hash it.
    ///
    /// The group has prime order and both factors were checked, so that point is never the one at infinity.
    ///
    /// # Errors
    /// [`Error::LimitExceeded`] where there is no memory left.
    pub fn agree(&self, public: &PublicKey) -> Result<Zeroizing<[u8; PRIVATE_LEN]>, Error> {
        library::agree(&self.key, public.point.clone(), FAILED, |shared| {
            let mut kept = Zeroizing::new([0; PRIVATE_LEN]);
            kept.copy_from_slice(shared.get(..PRIVATE_LEN).ok_or(FAILED)?);
            Ok(kept)
        })
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(P-256)")
    }
}

/// A point of the curve, never the one at infinity.
#[derive(Clone)]
pub struct PublicKey {
    bytes: [u8; PUBLIC_LEN],
    point: library::ParsedPublicKey,
}

impl PublicKey {
    /// The point that is written so.
    ///
    /// # Errors
    /// [`Error::Format`] for other lengths and prefixes, coordinates that are no field elements, and points that do
    /// not lie on the curve.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let bytes: [u8; PUBLIC_LEN] = bytes.try_into().map_err(|_| NO_PUBLIC_KEY)?;
        if bytes[0] != 4 {
            return Err(NO_PUBLIC_KEY);
        }
        let unparsed = library::UnparsedPublicKey::new(&library::ECDH_P256, bytes);
        let point = unparsed.try_into().map_err(|_| NO_PUBLIC_KEY)?;
        Ok(Self { bytes, point })
    }

    /// The point, uncompressed.
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
    fn private_keys_are_below_the_order() {
        let mut order: [u8; 32] = hex::decode(ORDER).unwrap().try_into().unwrap();
        for bad in [[0; 32], order, [0xff; 32]] {
            assert!(matches!(PrivateKey::from_bytes(&bad), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
        }
        order[31] -= 1;
        let (mut first, last) = ([0; 32], PrivateKey::from_bytes(&order).unwrap());
        first[31] = 1;
        let first = PrivateKey::from_bytes(&first).unwrap();
        // The last key's point is the first one's, mirrored.
        assert_eq!(first.public().as_bytes()[..33], last.public().as_bytes()[..33]);
        assert_ne!(first.public(), last.public());
    }

    #[test]
    fn both_sides_arrive_at_the_same() {
        let (a, b) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
        assert_ne!(a.as_bytes(), b.as_bytes());
        assert_eq!(a.agree(&b.public()).unwrap(), b.clone().agree(&a.public()).unwrap());
        assert_eq!(PrivateKey::from_bytes(a.as_bytes()).unwrap().public(), a.public());
    }

    #[test]
    fn every_other_prefix_and_length_is_refused() {
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

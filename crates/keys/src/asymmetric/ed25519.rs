//! Diffie-Hellman on edwards25519 (RFC 8032, section 5.1), for ECIES. No signatures here.
//!
//! ```text
//! private key   = 32 bytes; scalar = the first half of their SHA-512, clamped (section 5.1.5, steps 1 and 2)
//! public key    = y[32], little-endian, with the sign of x in the top bit (section 5.1.2)
//! shared point  = scalar * public key, written like a public key
//! ```
//!
//! curve25519-dalek computes it in constant time.

use crate::prelude::*;
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use sha2::{Digest, Sha512};

/// Length in bytes of a private key, a public key and a shared point.
pub const KEY_LEN: usize = 32;

/// Words of stack to wipe after a computation with the private key.
const STACK: usize = 1 << 11;

/// A private key, wiped on drop and hidden from `Debug`.
#[derive(Clone)]
pub struct PrivateKey(Secret<KEY_LEN>);

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
    /// Returns [`Error::NotApproved`] in a build with the feature `fips`.
    pub fn from_bytes(bytes: &[u8; KEY_LEN]) -> Result<Self> {
        Computation::Ed25519.check()?;
        Ok(Self(Secret::copy(bytes)))
    }

    /// Returns the bytes of the key. Keep them confidential.
    pub fn as_bytes(&self) -> &[u8; KEY_LEN] {
        &self.0
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        let point = wiping_stack::<STACK, _>(|| EdwardsPoint::mul_base_clamped(*self.scalar()));
        PublicKey { point, bytes: point.compress().0 }
    }

    /// Returns the shared point of this key and `public`, in constant time. It is not uniformly
    /// random: derive keys from it with a hash.
    ///
    /// The shared point is never the identity: the clamped scalar is a multiple of the cofactor
    /// below eight times the order, and a public key does not have low order.
    pub fn shared_point(&self, public: &PublicKey) -> Zeroizing<[u8; KEY_LEN]> {
        wiping_stack::<STACK, _>(|| {
            let point = Zeroizing::new(public.point.mul_clamped(*self.scalar()));
            Zeroizing::new(point.compress().0)
        })
    }

    /// Returns the scalar before clamping; the multiplication clamps it.
    pub(crate) fn scalar(&self) -> Secret<KEY_LEN> {
        wiping_stack::<STACK, _>(|| {
            let mut hash = Zeroizing::new([0; 64]);
            Sha512::new_with_prefix(self.0.as_slice()).finalize_into((&mut *hash).into());
            Secret::copy(hash.first_chunk().expect("SHA-512 has 64 bytes"))
        })
    }
}

super::equal_by!(PrivateKey: public());
super::debug_keys!("ed25519");

/// A point of the curve, not of low order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey {
    point: EdwardsPoint,
    bytes: [u8; KEY_LEN],
}

impl PublicKey {
    /// Parses the canonical encoding of a point that does not have low order.
    ///
    /// # Errors
    /// Returns [`Error::Format`] if the bytes are not a point, are a non-canonical encoding (a
    /// coordinate that is not reduced, a zero with a sign), or are one of the eight points of low
    /// order; these make the shared point predictable.
    pub fn from_bytes(bytes: &[u8; KEY_LEN]) -> Result<Self> {
        Computation::Ed25519.check()?;
        CompressedEdwardsY(*bytes)
            .decompress()
            .filter(|point| point.compress().0 == *bytes && !point.is_small_order())
            .map(|point| Self { point, bytes: *bytes })
            .ok_or(Error::Format(
                "expected an ed25519 public key: the canonical encoding of a point that does not have low order",
            ))
    }

    /// Returns the encoded point.
    pub fn as_bytes(&self) -> &[u8; KEY_LEN] {
        &self.bytes
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn bytes(text: &str) -> [u8; KEY_LEN] {
        hex::decode(text).unwrap().try_into().unwrap()
    }

    /// RFC 8032 section 7.1, tests 1 to 3.
    #[test]
    fn public_keys_of_rfc_8032() {
        for (private, public) in [
            (
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            ),
            (
                "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            ),
            (
                "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            ),
        ] {
            assert_eq!(PrivateKey::from_bytes(&bytes(private)).unwrap().public().as_bytes(), &bytes(public));
        }
    }

    #[test]
    fn both_sides_compute_the_same_point() {
        let (a, b) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
        assert_ne!(a.as_bytes(), b.as_bytes());
        let public = PublicKey::from_bytes(b.public().as_bytes()).unwrap();
        assert_eq!(public, b.public());
        assert_eq!(a.shared_point(&public), b.shared_point(&a.public()));
    }

    /// All points of an order that divides 8, in every encoding that decompression accepts.
    #[test]
    fn rejects_points_of_low_order() {
        let mut seen = 0;
        for point in curve25519_dalek::constants::EIGHT_TORSION {
            assert!(PublicKey::from_bytes(&point.compress().0).is_err());
            seen += 1;
        }
        assert_eq!(seen, 8);
        for other in [
            // The identity and -1 with a sign; then 0, 1 and -1, not reduced.
            "0100000000000000000000000000000000000000000000000000000000000080",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        ] {
            assert!(matches!(PublicKey::from_bytes(&bytes(other)), Err(Error::Format(_))), "{other}");
        }
    }

    /// Nineteen values of y have a second encoding, because y + p is below 2^255.
    #[test]
    fn rejects_second_encodings() {
        let mut points = 0;
        for y in 0..19u8 {
            for sign in [0, 0x80] {
                let mut reduced = [0; KEY_LEN];
                (reduced[0], reduced[31]) = (y, sign);
                let mut other = [0xff; KEY_LEN];
                (other[0], other[31]) = (y + 0xed, 0x7f | sign);
                assert!(PublicKey::from_bytes(&other).is_err(), "{y}");
                points += usize::from(PublicKey::from_bytes(&reduced).is_ok());
            }
        }
        assert!(points > 10, "{points} of them are points when reduced");
    }

    #[test]
    fn rejects_values_that_are_not_points() {
        let refused = (0..=255u8)
            .filter(|low| {
                PublicKey::from_bytes(&std::array::from_fn(|i| if i == 0 { *low } else { 0x55 })).is_err()
            })
            .count();
        // About half of all values of y belong to no point.
        assert!((64..192).contains(&refused), "{refused}");
    }

    #[test]
    fn debug_shows_no_secret() {
        let key = PrivateKey::from_bytes(&[7; 32]).unwrap();
        assert_eq!(format!("{key:?}"), "PrivateKey(ed25519)");
        assert!(format!("{:?}", key.public()).starts_with("PublicKey(ed25519, "));
    }
}

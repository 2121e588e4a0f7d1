//! secp256k1 (SEC 2 version 2, section 2.4.1), computed by libsecp256k1.
//!
//! ```text
//! private key = 32 bytes, big-endian, from 1 to n - 1, where n is the order of the group
//! public key  = 02 | 03 || x[32]   compressed        (SEC 1 version 2, section 2.3.3)
//!               04 || x[32] || y[32]   uncompressed
//!               x[32] || y[32]   as Ethereum writes it; accepted, never written
//! ```
//!
//! The library accepts the hybrid encodings of X9.62 (06, 07); we refuse them, so that a point has
//! one compressed and one uncompressed encoding.

use crate::prelude::*;
use secp256k1 as library;
use sha3::{Digest, Keccak256};

/// Length of a private key in bytes, a big-endian number.
pub const PRIVATE_LEN: usize = 32;
/// Length of a compressed public key in bytes: one for the sign and 32 for x.
pub const COMPRESSED_LEN: usize = 33;
/// Length of an uncompressed public key in bytes: the prefix, x and y.
pub const UNCOMPRESSED_LEN: usize = 65;

/// Words of stack to wipe after the library has used the private key.
const STACK: usize = 1 << 10;

const INVALID_PUBLIC_KEY: Error = Error::Format(
    "expected a secp256k1 public key: a point on the curve as 33 bytes that begin with 02 or 03, 65 bytes that begin \
     with 04, or the 64 bytes that Ethereum uses",
);

/// The encoding of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// 33 bytes: the prefix 02 or 03, and x.
    Compressed,
    /// 65 bytes: the prefix 04, x and y.
    #[default]
    Uncompressed,
}

impl Encoding {
    /// Returns the length of a public key in bytes.
    pub fn public_len(self) -> usize {
        match self {
            Self::Compressed => COMPRESSED_LEN,
            Self::Uncompressed => UNCOMPRESSED_LEN,
        }
    }
}

/// A private key. It is overwritten on drop, and the stack after each call that moves it, because
/// the library's type is `Copy`. `Debug` does not show it.
#[derive(Clone)]
pub struct PrivateKey(Box<library::SecretKey>);

impl PrivateKey {
    /// Generates a private key with the operating system's random generator.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the operating system returns no random bytes.
    pub fn generate() -> Result<Self> {
        Computation::Secp256k1.check()?;
        loop {
            // One value in 2^128 is out of range, so a second attempt is hardly ever needed.
            if let Ok(key) = Self::from_bytes(&*Secret::generate()?) {
                return Ok(key);
            }
        }
    }

    /// Returns the key with this secret number, in big-endian order.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for zero and for numbers not
    /// below the order of the group.
    pub fn from_bytes(bytes: &[u8; PRIVATE_LEN]) -> Result<Self> {
        Computation::Secp256k1.check()?;
        wiping_stack::<STACK, _>(|| match library::SecretKey::from_secret_bytes(*bytes) {
            Ok(key) => Ok(Self(Box::new(key))),
            // The library can have no other reason.
            Err(_) => Err(Error::unsuitable_key(
                "expected a secp256k1 private key: a number from 1 to the order of the group minus 1",
            )),
        })
    }

    /// Returns the secret number as 32 big-endian bytes. Keep them confidential.
    pub fn as_bytes(&self) -> &[u8; PRIVATE_LEN] {
        self.0.as_secret_bytes()
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        wiping_stack::<STACK, _>(|| PublicKey(library::PublicKey::from_secret_key(&self.0)))
    }

    /// Returns the uncompressed public key, for a key used only once. It is the shared point with
    /// the generator, in constant time too. [`Self::public`] also blinds the library's tables for
    /// its next call; that takes longer than the multiplication itself.
    pub(crate) fn public_point(&self) -> [u8; UNCOMPRESSED_LEN] {
        *self.shared_point(&PublicKey(generator()))
    }

    /// Returns the uncompressed shared point of this key and `public`, in constant time. It is not
    /// uniformly random: derive keys from it with a hash.
    ///
    /// The group has prime order and both factors were checked, so it is never the point at
    /// infinity.
    pub fn shared_point(&self, public: &PublicKey) -> Zeroizing<[u8; UNCOMPRESSED_LEN]> {
        wiping_stack::<STACK, _>(|| {
            let xy = Zeroizing::new(library::ecdh::shared_secret_point(&public.0, &self.0));
            let mut point = Zeroizing::new([4; UNCOMPRESSED_LEN]);
            point[1..].copy_from_slice(&*xy);
            point
        })
    }
}

impl Drop for PrivateKey {
    fn drop(&mut self) {
        self.0.non_secure_erase();
    }
}

super::equal_by!(PrivateKey: public());

debug_text!(PrivateKey; |_it| "PrivateKey(secp256k1)");

/// A point of the curve, never the point at infinity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(library::PublicKey);

impl PublicKey {
    /// Parses a point of 33, 65 or 64 bytes and checks that it lies on the curve.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other lengths and prefixes, coordinates that are not field
    /// elements, and points that are not on the curve.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Computation::Secp256k1.check()?;
        let mut uncompressed = [4; UNCOMPRESSED_LEN];
        let point = match (bytes.len(), bytes.first()) {
            (COMPRESSED_LEN, Some(2 | 3)) | (UNCOMPRESSED_LEN, Some(4)) => {
                library::PublicKey::from_slice(bytes)
            }
            (64, _) => {
                uncompressed[1..].copy_from_slice(bytes);
                library::PublicKey::from_byte_array_uncompressed(uncompressed)
            }
            _ => return Err(INVALID_PUBLIC_KEY),
        };
        // The library's error does not help and could quote a secret.
        point.map(Self).map_err(|_| INVALID_PUBLIC_KEY)
    }

    /// Returns the uncompressed encoding without a heap allocation.
    pub(crate) fn uncompressed(&self) -> [u8; UNCOMPRESSED_LEN] {
        self.0.serialize_uncompressed()
    }

    /// Encodes the point.
    pub fn to_bytes(&self, encoding: Encoding) -> Vec<u8> {
        match encoding {
            Encoding::Compressed => self.0.serialize().to_vec(),
            Encoding::Uncompressed => self.0.serialize_uncompressed().to_vec(),
        }
    }

    /// Returns the Ethereum address of the key: the last 20 bytes of the point's Keccak-256 hash,
    /// in hexadecimal with the EIP-55 checksum in upper-case letters.
    pub fn ethereum_address(&self) -> String {
        let point = Keccak256::digest(&self.uncompressed()[1..]);
        let mut address = base16ct::lower::encode_string(&point[12..]);
        let case = Keccak256::digest(&address);
        let halves = case.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        address = address
            .chars()
            .zip(halves)
            .map(|(digit, half)| if half < 8 { digit } else { digit.to_ascii_uppercase() })
            .collect();
        format!("0x{address}")
    }
}

debug_text!(PublicKey; |it| "PublicKey(secp256k1, {})", it.0);

/// Returns the generator: the public key of the private key 1.
fn generator() -> library::PublicKey {
    let mut point = [4; UNCOMPRESSED_LEN];
    point[1..33].copy_from_slice(&library::constants::GENERATOR_X);
    point[33..].copy_from_slice(&library::constants::GENERATOR_Y);
    library::PublicKey::from_byte_array_uncompressed(point).expect("the generator is on the curve")
}

#[cfg(test)]
mod test {
    use super::*;
    use base::Misuse;

    const ORDER: &str = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";

    fn bytes(text: &str) -> Vec<u8> {
        hex::decode(text).unwrap()
    }

    /// Returns the private key `n`, for known points.
    fn private(n: u8) -> PrivateKey {
        let mut bytes = [0; 32];
        bytes[31] = n;
        PrivateKey::from_bytes(&bytes).unwrap()
    }

    /// The addresses of the private keys 1 and 2 are widely published.
    #[test]
    fn ethereum_addresses() {
        for (n, address) in [
            (1, "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf"),
            (2, "0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF"),
        ] {
            assert_eq!(private(n).public().ethereum_address(), address);
        }
    }

    #[test]
    fn rejects_private_keys_outside_the_order() {
        let mut order: [u8; 32] = bytes(ORDER).try_into().unwrap();
        for bad in [[0; 32], order, [0xff; 32]] {
            assert!(matches!(PrivateKey::from_bytes(&bad), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
        }
        order[31] -= 1;
        let last = PrivateKey::from_bytes(&order).unwrap();
        assert_eq!(last.as_bytes(), &order);
        // n - 1 has the public key of 1 with the other sign: the x-coordinates are equal.
        let (first, last) = (private(1).public(), last.public());
        assert_eq!(first.to_bytes(Encoding::Compressed)[1..], last.to_bytes(Encoding::Compressed)[1..]);
        assert_ne!(first, last);
    }

    #[test]
    fn both_sides_compute_the_same_point() {
        let (a, b) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
        assert_ne!(a.as_bytes(), b.as_bytes());
        assert_eq!(a.shared_point(&b.public()), b.clone().shared_point(&a.public()));
    }

    #[test]
    fn the_shared_point_is_the_product() {
        let six = private(6).public().to_bytes(Encoding::Uncompressed);
        assert_eq!(private(2).shared_point(&private(3).public())[..], six);
        assert_eq!(private(3).shared_point(&private(2).public())[..], six);
    }

    #[test]
    fn the_public_point_is_the_public_key() {
        for key in [private(1), private(2), PrivateKey::generate().unwrap()] {
            assert_eq!(key.public_point()[..], key.public().to_bytes(Encoding::Uncompressed));
        }
    }

    #[test]
    fn encodings_round_trip() {
        for n in 1..=20 {
            let key = private(n).public();
            for encoding in [Encoding::Compressed, Encoding::Uncompressed] {
                let written = key.to_bytes(encoding);
                assert_eq!(written.len(), encoding.public_len());
                assert_eq!(PublicKey::from_bytes(&written).unwrap(), key);
            }
            let ethereum = &key.to_bytes(Encoding::Uncompressed)[1..];
            assert_eq!(PublicKey::from_bytes(ethereum).unwrap(), key);
        }
    }

    #[test]
    fn rejects_other_prefixes_and_lengths() {
        let key = private(7).public();
        for encoding in [Encoding::Compressed, Encoding::Uncompressed] {
            let written = key.to_bytes(encoding);
            for prefix in 0..=255 {
                let mut other = written.clone();
                other[0] = prefix;
                let taken = PublicKey::from_bytes(&other).is_ok();
                let known = match encoding {
                    Encoding::Compressed => prefix == 2 || prefix == 3,
                    Encoding::Uncompressed => prefix == 4,
                };
                assert_eq!(taken, known, "{prefix:02x}");
            }
        }
        let long = [key.to_bytes(Encoding::Uncompressed), vec![0; 65]].concat();
        for len in (0..=long.len()).filter(|len| *len != 65) {
            assert!(matches!(PublicKey::from_bytes(&long[..len]), Err(Error::Format(_))), "{len}");
        }
    }

    // claim: public-key-changed
    #[test]
    fn rejects_points_off_the_curve() {
        let mut written = private(7).public().to_bytes(Encoding::Uncompressed);
        written[64] ^= 1;
        assert!(PublicKey::from_bytes(&written).is_err());
        assert!(PublicKey::from_bytes(&written[1..]).is_err());
        assert!(PublicKey::from_bytes(&[0; 64]).is_err());
        // No point has x = 5. p + 1 is not a field element, although 1 is the x-coordinate of a
        // point.
        for x in [
            "0000000000000000000000000000000000000000000000000000000000000005",
            "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc30",
        ] {
            assert!(PublicKey::from_bytes(&bytes(&format!("02{x}"))).is_err(), "{x}");
        }
        let one = "020000000000000000000000000000000000000000000000000000000000000001";
        assert!(PublicKey::from_bytes(&bytes(one)).is_ok());
    }

    #[test]
    fn debug_shows_no_secret() {
        assert_eq!(format!("{:?}", private(7)), "PrivateKey(secp256k1)");
    }
}

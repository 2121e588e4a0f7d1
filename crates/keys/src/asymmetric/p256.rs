//! P-256 (SEC 2 version 2, section 2.4.2; also called secp256r1 and prime256v1), computed by
//! AWS-LC.
//!
//! ```text
//! private key   = 32 bytes, big-endian, from 1 to n - 1, where n is the order of the group
//! public key    = 04 || x[32] || y[32]   uncompressed (SEC 1 version 2, section 2.3.3)
//! shared secret = x[32] of the product
//! ```
//!
//! A point has one encoding here: compressed points, the hybrid encodings of X9.62 (06, 07) and the
//! point at infinity are refused. Only key files may contain compressed points, because other
//! software writes them.

use crate::prelude::*;
use aws_lc_rs::agreement as library;
use crypto_bigint::modular::{FixedMontyForm, FixedMontyParams};
use crypto_bigint::{Odd, U256};

/// Length in bytes of a private key and a shared secret.
pub const PRIVATE_LEN: usize = 32;
/// Length of a public key in bytes, an uncompressed point.
pub const PUBLIC_LEN: usize = 65;

/// Words of stack to wipe after the library has used the private key.
const STACK: usize = 1 << 11;

const INVALID_PUBLIC_KEY: Error = Error::Format(
    "expected a P-256 public key: 65 bytes that begin with 04, the uncompressed encoding of a point on the curve",
);

const OUT_OF_MEMORY: Error = Error::LimitExceeded("P-256 could not be computed: memory is exhausted");

/// A private key. Its bytes are wiped on drop, AWS-LC's state with its last clone. `Debug` shows no
/// secret.
#[derive(Clone)]
pub struct PrivateKey {
    bytes: Secret<PRIVATE_LEN>,
    /// The library's state and the public key, which costs a multiplication.
    key: Arc<library::PrivateKey>,
    public: PublicKey,
}

impl PrivateKey {
    /// Generates a private key with the operating system's random generator.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if no random bytes are available, and [`Error::LimitExceeded`] if
    /// memory is exhausted.
    pub fn generate() -> Result<Self> {
        loop {
            match Self::from_bytes(&*Secret::generate()?) {
                // One value in 2^32 is not below the order.
                Err(Error::Misuse(_)) => {}
                made => return made,
            }
        }
    }

    /// Returns the key with this secret number, in big-endian order.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for zero and for numbers not
    /// below the order of the group.
    pub fn from_bytes(bytes: &[u8; PRIVATE_LEN]) -> Result<Self> {
        Computation::P256.check()?;
        wiping_stack::<STACK, _>(|| {
            // The library's errors have no content.
            let key = library::PrivateKey::from_private_key(&library::ECDH_P256, bytes).map_err(|_| {
                Error::unsuitable_key(
                    "expected a P-256 private key: a number from 1 to the order of the group minus 1",
                )
            })?;
            // AWS-LC's error is `Unspecified`; with valid keys, only allocation can fail.
            let public = key.compute_public_key().map_err(|_| OUT_OF_MEMORY)?;
            let public = PublicKey::from_bytes(public.as_ref())?;
            Ok(Self { bytes: Secret::copy(bytes), key: Arc::new(key), public })
        })
    }

    /// Returns the secret number as 32 big-endian bytes. Keep them confidential.
    pub fn as_bytes(&self) -> &[u8; PRIVATE_LEN] {
        &self.bytes
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        self.public.clone()
    }

    /// Returns the x-coordinate of the shared point of this key and `public`, in constant time. It
    /// is not uniformly random: derive keys from it with a hash.
    ///
    /// The group has prime order and both factors were checked, so it is never the point at
    /// infinity.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if the library cannot allocate memory.
    pub fn diffie_hellman(&self, public: &PublicKey) -> Result<Zeroizing<[u8; PRIVATE_LEN]>> {
        wiping_stack::<STACK, _>(|| {
            library::agree(&self.key, public.point.clone(), OUT_OF_MEMORY, |shared| {
                let mut copy = Zeroizing::new([0; PRIVATE_LEN]);
                copy.copy_from_slice(shared.get(..PRIVATE_LEN).ok_or(OUT_OF_MEMORY)?);
                Ok(copy)
            })
        })
    }
}

super::equal_by!(PrivateKey: public());
super::debug_keys!("P-256");

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
    /// Returns [`Error::Format`] for other lengths and prefixes, coordinates that are not field
    /// elements, and points that are not on the curve.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let bytes: [u8; PUBLIC_LEN] = bytes.try_into().map_err(|_| INVALID_PUBLIC_KEY)?;
        if bytes[0] != 4 {
            return Err(INVALID_PUBLIC_KEY);
        }
        let unparsed = library::UnparsedPublicKey::new(&library::ECDH_P256, bytes);
        // The library's error only says that the key was rejected.
        let point = unparsed.try_into().map_err(|_| INVALID_PUBLIC_KEY)?;
        Ok(Self { bytes, point })
    }

    /// Parses a key file's point; it may be compressed (SEC 1 version 2, section 2.3.4).
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_bytes`].
    pub(crate) fn from_sec1(bytes: &[u8]) -> Result<Self> {
        match bytes {
            [sign @ (2 | 3), x @ ..] => Self::from_bytes(&decompress(*sign, x).ok_or(INVALID_PUBLIC_KEY)?),
            _ => Self::from_bytes(bytes),
        }
    }

    /// Returns the compressed encoding of the point (SEC 1 version 2, section 2.3.3).
    pub(crate) fn compressed(&self) -> [u8; 33] {
        let mut point = [0; 33];
        point.copy_from_slice(&self.bytes[..33]);
        point[0] = 2 + (self.bytes[PUBLIC_LEN - 1] & 1);
        point
    }

    /// Returns the uncompressed encoding, 65 bytes.
    pub fn as_bytes(&self) -> &[u8; PUBLIC_LEN] {
        &self.bytes
    }
}

/// Computes y = sqrt(x^3 - 3 x + b) mod p with the parity of `sign`. Returns the uncompressed
/// point; it is on the curve only if there is a root, so [`PublicKey::from_bytes`] checks it.
/// AWS-LC decompresses points, but `aws-lc-rs` does not return them.
fn decompress(sign: u8, x: &[u8]) -> Option<[u8; PUBLIC_LEN]> {
    type Params = FixedMontyParams<{ U256::LIMBS }>;
    const P: Odd<U256> =
        Odd::<U256>::from_be_hex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff");
    const B: U256 = U256::from_be_hex("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b");
    const FIELD: Params = Params::new_vartime(P);

    let x: &[u8; 32] = x.first_chunk().filter(|_| x.len() == 32)?;
    let number = U256::from_be_slice(x);
    if number >= *P {
        return None;
    }
    let [n, b, three] = [number, B, U256::from(3u8)].map(|n| FixedMontyForm::new(&n, &FIELD));
    let square = n.square().sub(&three).mul(&n).add(&b);
    // p = 3 modulo 4, so a root is the power (p + 1) / 4.
    let root = square.pow(&P.shr_vartime(2).wrapping_add(&U256::ONE));
    let root = if root.retrieve().to_be_bytes().as_ref()[31] & 1 == sign & 1 { root } else { root.neg() };
    let mut point = [4; PUBLIC_LEN];
    point[1..33].copy_from_slice(x);
    point[33..].copy_from_slice(root.retrieve().to_be_bytes().as_ref());
    Some(point)
}

super::equal_by!(PublicKey: bytes);

#[cfg(test)]
mod test {
    use super::*;
    use base::Misuse;

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
        // n - 1 has the public key of 1 with the other sign: the x-coordinates are equal.
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
    fn compressed_points_of_key_files() {
        let (mut roots, mut none) = ([0; 2], 0);
        for _ in 0..20 {
            let key = PrivateKey::generate().unwrap().public();
            let mut compressed = [&[2 + (key.as_bytes()[64] & 1)][..], &key.as_bytes()[1..33]].concat();
            assert_eq!(compressed, key.compressed());
            assert_eq!(PublicKey::from_sec1(&compressed).unwrap(), key);
            roots[usize::from(key.as_bytes()[64] & 1)] += 1;
            // The other sign is the other point with this x.
            compressed[0] ^= 1;
            let other = PublicKey::from_sec1(&compressed).unwrap();
            assert!(other != key && other.as_bytes()[..33] == key.as_bytes()[..33]);
            // About every second x has no point.
            compressed[32] ^= 1;
            none += usize::from(PublicKey::from_sec1(&compressed).is_err());
            assert!(PublicKey::from_sec1(&compressed[..32]).is_err());
            assert!(PublicKey::from_sec1(&[&compressed[..], &[0]].concat()).is_err());
            assert_eq!(PublicKey::from_sec1(key.as_bytes()).unwrap(), key);
        }
        assert!(roots.iter().all(|&n| n > 0) && none > 0, "{roots:?} {none}");
        // Numbers not below p: p itself, which would be 0, and p + 5, which would be the point with
        // x = 5.
        const P: &str = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
        let mut not_reduced = hex::decode(["02", P].concat()).unwrap();
        assert!(PublicKey::from_sec1(&not_reduced).is_err());
        assert!(PublicKey::from_sec1(&[&[2][..], &[0; 31], &[5]].concat()).is_ok());
        for _ in 0..5 {
            let carry = not_reduced.iter().rposition(|&byte| byte != 0xff).unwrap();
            not_reduced[carry] += 1;
            not_reduced[carry + 1..].fill(0);
        }
        assert!(PublicKey::from_sec1(&not_reduced).is_err());
        assert!(PublicKey::from_sec1(&[&[3][..], &[0xff; 32]].concat()).is_err());
    }

    #[test]
    fn debug_shows_no_secret() {
        let key = PrivateKey::from_bytes(&[0x5a; 32]).unwrap();
        assert_eq!(format!("{key:?}"), "PrivateKey(P-256)");
        assert!(format!("{:?}", key.public()).starts_with("PublicKey(P-256, 04"));
    }
}

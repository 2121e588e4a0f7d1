//! X-Wing, the hybrid KEM of ML-KEM-768 and X25519 (draft-connolly-cfrg-xwing-kem-10).
//!
//! ```text
//! private key   = seed[32]; SHAKE256(seed, 96) = d[32] || z[32] || sk_X[32]      (section 5.2)
//! public key    = pk_M[1184] || pk_X[32]
//! ciphertext    = ct_M[1088] || ct_X[32]                                         (section 5.4)
//! shared secret = SHA3-256(ss_M || ss_X || ct_X || pk_X || "\.//^\")             (section 5.3)
//! ```
//!
//! `_M` marks the parts of ML-KEM-768 and `_X` those of X25519, which AWS-LC computes. The crate `libcrux-ml-kem`
//! generates the ML-KEM keys and encapsulates: AWS-LC takes neither a seed nor randomness, and its own generator needs
//! 40 ms for its first bytes in each process. AWS-LC decapsulates, from the expanded private key, which it wipes.
//!
//! An X25519 public key or ciphertext of low order is refused, as age and the next draft require: with such a share,
//! the X25519 half of the hybrid contributes nothing.

use super::x25519;
use crate::approved::Computation;
use crate::secret::{Secret, wiping_stack};
use aws_lc_rs::kem::{self, ML_KEM_768};
use base::Error;
use libcrux_ml_kem::mlkem768;
use sha3::{Digest, Sha3_256};
use shake::{ExtendableOutput, Shake256, Update, XofReader};
use std::sync::Arc;
use zeroize::Zeroizing;

/// Number of bytes in a private key, which is the seed of both components.
pub const SEED_LEN: usize = 32;
/// Number of bytes in a public key: 1184 of ML-KEM-768 and 32 of X25519.
pub const PUBLIC_LEN: usize = 1216;
/// Number of bytes in a ciphertext, the encapsulated key.
pub const CIPHERTEXT_LEN: usize = 1120;
/// Number of bytes in a shared secret, which both sides derive from an encapsulation.
pub const SHARED_LEN: usize = 32;

/// Number of words of the stack that are wiped after `libcrux-ml-kem` has used secrets, of which it wipes none. It takes
/// up to 64 KiB (measured).
const STACK: usize = 12 << 10;
/// Number of words of the stack that are wiped after a decapsulation. AWS-LC wipes what it computes ML-KEM with.
const DECAPSULATION_STACK: usize = 1 << 10;

/// Number of bytes in a public key of ML-KEM-768.
const ML_KEM_PUBLIC_LEN: usize = PUBLIC_LEN - x25519::LEN;

const LABEL: &[u8; 6] = br"\.//^\";
const INVALID_PUBLIC_KEY: Error =
    Error::Format("expected an X-Wing public key: 1216 bytes, of an ML-KEM-768 key and an X25519 key");
const OUT_OF_MEMORY: Error = Error::LimitExceeded("ML-KEM-768 could not be computed: memory is exhausted");

type SharedSecret = Zeroizing<[u8; SHARED_LEN]>;

/// A private key. The seed is wiped on drop, and the state of AWS-LC when its last clone is dropped. `Debug` shows no
/// secret.
#[derive(Clone)]
pub struct PrivateKey {
    seed: Secret<SEED_LEN>,
    ml_kem: Arc<kem::DecapsulationKey>,
    x25519: x25519::PrivateKey,
    public: PublicKey,
}

impl PrivateKey {
    /// Generates a new private key from random bytes that the operating system returns.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if no random bytes are available, and [`Error::LimitExceeded`] if memory is exhausted.
    pub fn generate() -> Result<Self, Error> {
        let mut seed = Zeroizing::new([0; SEED_LEN]);
        base::random::fill(&mut *seed)?;
        Self::from_seed(&seed)
    }

    /// Expands the key from `seed` to the private keys of ML-KEM-768 and X25519.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if the library cannot allocate the memory that the operation needs.
    pub fn from_seed(seed: &[u8; SEED_LEN]) -> Result<Self, Error> {
        Computation::XWing.check()?;
        wiping_stack::<STACK, _>(|| {
            let mut shake = Shake256::default();
            shake.update(seed);
            let mut expanded = shake.finalize_xof();
            let (mut dz, mut sk_x) = (Zeroizing::new([0; 64]), Zeroizing::new([0; x25519::LEN]));
            expanded.read(&mut *dz);
            expanded.read(&mut *sk_x);
            let x25519 = x25519::PrivateKey::from_bytes(&sk_x)?;
            let pair = mlkem768::generate_key_pair(*dz);
            let public = PublicKey::new(pair.pk(), x25519.public());
            // The length is that of the algorithm, so the only reason is the allocation.
            let ml_kem = kem::DecapsulationKey::new(&ML_KEM_768, pair.sk()).map_err(|_| OUT_OF_MEMORY)?;
            Ok(Self { seed: Secret::copy(seed), ml_kem: Arc::new(ml_kem), x25519, public })
        })
    }

    /// Returns the secret seed that the key was expanded from.
    pub fn seed(&self) -> &[u8; SEED_LEN] {
        &self.seed
    }

    /// Returns the public key that belongs to this private key.
    pub fn public(&self) -> PublicKey {
        self.public.clone()
    }

    /// Returns the shared secret of `ciphertext`. A modified ciphertext gives a different secret, because ML-KEM
    /// rejects implicitly (FIPS 203, section 6.3).
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if the length is wrong, or the X25519 share has low order, and
    /// [`Error::LimitExceeded`] if the library cannot allocate the memory that the operation needs.
    pub fn decapsulate(&self, ciphertext: &[u8]) -> Result<SharedSecret, Error> {
        wiping_stack::<DECAPSULATION_STACK, _>(|| {
            let ciphertext: &[u8; CIPHERTEXT_LEN] =
                // The conversion to an array fails if the length of the bytes is wrong.
                ciphertext.try_into().map_err(|_| Error::Authentication)?;
            let (ct_m, ct_x) = ciphertext.split_last_chunk().ok_or(Error::Authentication)?;
            let ct_x = x25519::PublicKey::from_bytes(ct_x);
            // ML-KEM rejects implicitly, and the lengths are right, so the only reason is an allocation.
            let ss_m = self.ml_kem.decapsulate(ct_m.into()).map_err(|_| OUT_OF_MEMORY)?;
            let ss_x = self.x25519.diffie_hellman(&ct_x).map_err(|why| match why {
                Error::Misuse(_) => Error::Authentication,
                other => other,
            })?;
            Ok(combine(ss_m.as_ref(), &ss_x, &ct_x, &self.public.x25519))
        })
    }
}

super::equal_if_public_keys_are!(PrivateKey);
super::debug_keys!("X-Wing");

/// A public key of X-Wing, which holds the public keys of ML-KEM-768 and X25519.
#[derive(Clone)]
pub struct PublicKey {
    bytes: Arc<[u8; PUBLIC_LEN]>,
    x25519: x25519::PublicKey,
}

impl PublicKey {
    /// Parses the encoding of a public key and checks both of its components.
    ///
    /// # Errors
    /// Returns [`Error::Format`] if the length is wrong, or the ML-KEM key fails the check of FIPS 203, section 7.2;
    /// [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) if the X25519 key has low order.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Computation::XWing.check()?;
        let (pk_m, pk_x) = bytes.split_first_chunk().ok_or(INVALID_PUBLIC_KEY)?;
        // The conversion to an array fails if the length of the bytes is wrong.
        let pk_x = pk_x.try_into().map_err(|_| INVALID_PUBLIC_KEY)?;
        if !mlkem768::validate_public_key(&pk_m.into()) {
            return Err(INVALID_PUBLIC_KEY);
        }
        let x25519 = x25519::PublicKey::from_bytes(pk_x);
        // With a public key of low order every private key gives zero, with any other key none does.
        x25519::PrivateKey::from_bytes(&[1; x25519::LEN])?.diffie_hellman(&x25519)?;
        Ok(Self::new(pk_m, x25519))
    }

    fn new(pk_m: &[u8; ML_KEM_PUBLIC_LEN], x25519: x25519::PublicKey) -> Self {
        let mut bytes = [0; PUBLIC_LEN];
        let (start, end) = bytes.split_at_mut(ML_KEM_PUBLIC_LEN);
        start.copy_from_slice(pk_m);
        end.copy_from_slice(x25519.as_bytes());
        Self { bytes: Arc::new(bytes), x25519 }
    }

    fn ml_kem(&self) -> mlkem768::MlKem768PublicKey {
        let (pk_m, _) = self.bytes.split_first_chunk::<ML_KEM_PUBLIC_LEN>().expect("it is longer");
        pk_m.into()
    }

    /// Returns the encoding of the public key, which has 1216 bytes.
    pub fn as_bytes(&self) -> &[u8; PUBLIC_LEN] {
        &self.bytes
    }

    /// Generates a shared secret, and returns it with its ciphertext for the holder of the private key.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if no random bytes are available, and [`Error::LimitExceeded`] if memory is exhausted.
    pub fn encapsulate(&self) -> Result<(SharedSecret, Vec<u8>), Error> {
        let mut randomness = Zeroizing::new([[0; 32]; 2]);
        base::random::fill(randomness.as_flattened_mut())?;
        self.encapsulate_deterministic(&randomness)
    }

    /// Encapsulates with the given randomness, for ML-KEM and for X25519 (section 5.4.1).
    pub(super) fn encapsulate_deterministic(
        &self,
        [eseed_m, eseed_x]: &[[u8; 32]; 2],
    ) -> Result<(SharedSecret, Vec<u8>), Error> {
        wiping_stack::<STACK, _>(|| {
            let ephemeral = x25519::PrivateKey::from_bytes(eseed_x)?;
            let (ct_m, ss_m) = mlkem768::encapsulate(&self.ml_kem(), *eseed_m);
            let ss_m = Zeroizing::new(ss_m);
            let (ct_x, ss_x) = (ephemeral.public(), ephemeral.diffie_hellman(&self.x25519)?);
            let shared = combine(&*ss_m, &ss_x, &ct_x, &self.x25519);
            Ok((shared, [&ct_m.as_slice()[..], ct_x.as_bytes()].concat()))
        })
    }
}

/// Combines the two shared secrets to one, as section 5.3 of the X-Wing draft defines.
fn combine(ss_m: &[u8], ss_x: &[u8; 32], ct_x: &x25519::PublicKey, pk_x: &x25519::PublicKey) -> SharedSecret {
    let mut hash = Sha3_256::new();
    for part in [ss_m, ss_x, ct_x.as_bytes(), pk_x.as_bytes(), LABEL] {
        Digest::update(&mut hash, part);
    }
    let mut shared = SharedSecret::default();
    hash.finalize_into((&mut *shared).into());
    shared
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for PublicKey {}

#[cfg(test)]
mod test {
    use super::*;
    use base::Misuse;

    #[test]
    fn decapsulation_returns_the_encapsulated_secret() {
        let key = PrivateKey::generate().unwrap();
        let public = PublicKey::from_bytes(key.public().as_bytes()).unwrap();
        assert_eq!(public, PrivateKey::from_seed(key.seed()).unwrap().public());
        assert_ne!(public, PrivateKey::generate().unwrap().public());
        let (secret, ciphertext) = public.encapsulate().unwrap();
        assert_eq!(ciphertext.len(), CIPHERTEXT_LEN);
        assert_eq!(key.clone().decapsulate(&ciphertext).unwrap(), secret);
        assert_ne!(public.encapsulate().unwrap().0, secret);
        assert_ne!(PrivateKey::generate().unwrap().decapsulate(&ciphertext).unwrap(), secret);
    }

    /// Both libraries agree on encapsulations of each other, also on the secrets of modified ones.
    #[test]
    fn libraries_agree_in_both_directions() {
        for round in 0..50 {
            let pair = mlkem768::generate_key_pair([round; 64]);
            let private = kem::DecapsulationKey::new(&ML_KEM_768, pair.sk()).unwrap();
            let public = kem::EncapsulationKey::new(&ML_KEM_768, pair.pk()).unwrap();

            let (ct_m, ss_m) = public.encapsulate().unwrap();
            let read = |bytes: &[u8]| mlkem768::decapsulate(pair.private_key(), &bytes.try_into().unwrap());
            assert_eq!(read(ct_m.as_ref()), ss_m.as_ref());
            let (ct_m, ss_m) = mlkem768::encapsulate(pair.public_key(), [round; 32]);
            assert_eq!(private.decapsulate(ct_m.as_ref().into()).unwrap().as_ref(), ss_m);
            for at in [0, 7, 959, 960, 1087] {
                let mut changed = *ct_m.as_slice();
                changed[at] ^= 1 << (round % 8);
                let rejected = private.decapsulate(changed[..].into()).unwrap();
                assert_ne!(rejected.as_ref(), ss_m);
                assert_eq!(rejected.as_ref(), read(&changed), "byte {at}");
            }
        }
    }

    // claim: public-key-changed
    #[test]
    fn rejects_low_order() {
        let key = PrivateKey::generate().unwrap();
        let (_, mut ciphertext) = key.public().encapsulate().unwrap();
        ciphertext[CIPHERTEXT_LEN - x25519::LEN..].fill(0);
        assert!(matches!(key.decapsulate(&ciphertext), Err(Error::Authentication)));
        let mut public = key.public().as_bytes().to_vec();
        public[PUBLIC_LEN - x25519::LEN..].fill(0);
        assert!(matches!(PublicKey::from_bytes(&public), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
    }

    #[test]
    fn rejects_wrong_lengths_and_coefficients() {
        let key = PrivateKey::generate().unwrap();
        let public = key.public().as_bytes().to_vec();
        for len in [0, 32, PUBLIC_LEN - 1] {
            assert!(matches!(PublicKey::from_bytes(&public[..len]), Err(Error::Format(_))), "{len} bytes");
        }
        // The first coefficient becomes 4095, above the modulus 3329.
        let mut wide = public.clone();
        wide[..2].fill(0xff);
        assert!(matches!(PublicKey::from_bytes(&wide), Err(Error::Format(_))));
        let (_, ciphertext) = key.public().encapsulate().unwrap();
        assert!(matches!(key.decapsulate(&ciphertext[1..]), Err(Error::Authentication)));
        assert!(matches!(key.decapsulate(&[]), Err(Error::Authentication)));
    }

    #[test]
    fn debug_shows_no_secret() {
        let key = PrivateKey::from_seed(&[0x5a; SEED_LEN]).unwrap();
        assert_eq!(format!("{key:?}"), "PrivateKey(X-Wing)");
        assert!(format!("{:?}", key.public()).starts_with("PublicKey(X-Wing, "));
    }
}

//! MLKEM768-P256, the hybrid KEM of ML-KEM-768 and P-256 (draft-irtf-cfrg-concrete-hybrid-kems; draft-ietf-hpke-pq).
//!
//! ```text
//! private key   = seed[32]; SHAKE256(seed) = d[32] || z[32] || candidates for sk_P[32], of which the first valid one counts
//! public key    = pk_M[1184] || pk_P[65]
//! ciphertext    = ct_M[1088] || ct_P[65]
//! shared secret = SHA3-256(ss_M || ss_P || ct_P || pk_P || "MLKEM768-P256")
//! ```
//!
//! `_M` marks the parts of ML-KEM-768 and `_P` those of P-256, whose points are uncompressed and whose shared secret is the
//! x-coordinate. The libraries are those of [X-Wing](super::xwing), for the same reasons. Keys in hardware, which offer P-256 more
//! often than X25519, are the use of this KEM.

use super::p256;
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
/// Number of bytes in a public key: 1184 of ML-KEM-768 and 65 of P-256.
pub const PUBLIC_LEN: usize = ML_KEM_PUBLIC_LEN + p256::PUBLIC_LEN;
/// Number of bytes in a ciphertext, the encapsulated key.
pub const CIPHERTEXT_LEN: usize = 1088 + p256::PUBLIC_LEN;
/// Number of bytes in a shared secret, which both sides derive from an encapsulation.
pub const SHARED_LEN: usize = 32;

/// Number of words of the stack that are wiped after `libcrux-ml-kem` has used secrets, of which it wipes none. It takes
/// up to 64 KiB (measured).
const STACK: usize = 12 << 10;
/// Number of words of the stack that are wiped after a decapsulation. AWS-LC wipes what it computes ML-KEM with.
const DECAPSULATION_STACK: usize = 1 << 10;

const ML_KEM_PUBLIC_LEN: usize = 1184;
const LABEL: &[u8] = b"MLKEM768-P256";
const INVALID_PUBLIC_KEY: Error =
    Error::Format("expected an MLKEM768-P256 public key: 1249 bytes, of an ML-KEM-768 key and a P-256 key");
const OUT_OF_MEMORY: Error = Error::LimitExceeded("ML-KEM-768 could not be computed: memory is exhausted");

type SharedSecret = Zeroizing<[u8; SHARED_LEN]>;

/// A private key. The seed is wiped on drop, and the state of AWS-LC when its last clone is dropped. `Debug` shows no
/// secret.
#[derive(Clone)]
pub struct PrivateKey {
    seed: Secret<SEED_LEN>,
    ml_kem: Arc<kem::DecapsulationKey>,
    p256: p256::PrivateKey,
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

    /// Expands the key from `seed` to the private keys of ML-KEM-768 and P-256.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if the library cannot allocate the memory that the operation needs.
    pub fn from_seed(seed: &[u8; SEED_LEN]) -> Result<Self, Error> {
        Computation::MlKem768P256.check()?;
        wiping_stack::<STACK, _>(|| {
            let mut shake = Shake256::default();
            shake.update(seed);
            let mut expanded = shake.finalize_xof();
            let (mut dz, mut candidate) = (Zeroizing::new([0; 64]), Zeroizing::new([0; p256::PRIVATE_LEN]));
            expanded.read(&mut *dz);
            let p256 = loop {
                expanded.read(&mut *candidate);
                match p256::PrivateKey::from_bytes(&candidate) {
                    // One value of 2^32 is not below the order.
                    Err(Error::Misuse(_)) => {}
                    key => break key?,
                }
            };
            let pair = mlkem768::generate_key_pair(*dz);
            let public = PublicKey::new(pair.pk(), p256.public());
            // The length is that of the algorithm, so the only reason is the allocation.
            let ml_kem = kem::DecapsulationKey::new(&ML_KEM_768, pair.sk()).map_err(|_| OUT_OF_MEMORY)?;
            Ok(Self { seed: Secret::copy(seed), ml_kem: Arc::new(ml_kem), p256, public })
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
    /// Returns [`Error::Authentication`] if the length is wrong, or the share is no point of P-256, and
    /// [`Error::LimitExceeded`] if the library cannot allocate the memory that the operation needs.
    pub fn decapsulate(&self, ciphertext: &[u8]) -> Result<SharedSecret, Error> {
        wiping_stack::<DECAPSULATION_STACK, _>(|| {
            let ciphertext: &[u8; CIPHERTEXT_LEN] =
                // The conversion to an array fails if the length of the bytes is wrong.
                ciphertext.try_into().map_err(|_| Error::Authentication)?;
            let (ct_m, ct_p) = ciphertext.split_at(CIPHERTEXT_LEN - p256::PUBLIC_LEN);
            // The sender chose the point, and another reason would tell more than necessary.
            let ct_p = p256::PublicKey::from_bytes(ct_p).map_err(|_| Error::Authentication)?;
            // ML-KEM rejects implicitly, and the lengths are right, so the only reason is an allocation.
            let ss_m = self.ml_kem.decapsulate(ct_m.into()).map_err(|_| OUT_OF_MEMORY)?;
            let ss_p = self.p256.diffie_hellman(&ct_p)?;
            Ok(combine(ss_m.as_ref(), &ss_p, &ct_p, &self.public.p256))
        })
    }
}

super::equal_if_public_keys_are!(PrivateKey);
super::debug_keys!("MLKEM768-P256");

/// A public key of MLKEM768-P256, which holds the public keys of ML-KEM-768 and P-256.
#[derive(Clone)]
pub struct PublicKey {
    bytes: Arc<[u8; PUBLIC_LEN]>,
    p256: p256::PublicKey,
}

impl PublicKey {
    /// Parses the encoding of a public key and checks both of its components.
    ///
    /// # Errors
    /// Returns [`Error::Format`] if the length is wrong, the ML-KEM key fails the check of FIPS 203, section 7.2, or the P-256
    /// key is no uncompressed point of the curve.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Computation::MlKem768P256.check()?;
        let (pk_m, pk_p) = bytes.split_first_chunk().ok_or(INVALID_PUBLIC_KEY)?;
        if !mlkem768::validate_public_key(&pk_m.into()) {
            return Err(INVALID_PUBLIC_KEY);
        }
        // The error of the component would not name this kind of key.
        Ok(Self::new(pk_m, p256::PublicKey::from_bytes(pk_p).map_err(|_| INVALID_PUBLIC_KEY)?))
    }

    fn new(pk_m: &[u8; ML_KEM_PUBLIC_LEN], p256: p256::PublicKey) -> Self {
        let mut bytes = [0; PUBLIC_LEN];
        let (start, end) = bytes.split_at_mut(ML_KEM_PUBLIC_LEN);
        start.copy_from_slice(pk_m);
        end.copy_from_slice(p256.as_bytes());
        Self { bytes: Arc::new(bytes), p256 }
    }

    fn ml_kem(&self) -> mlkem768::MlKem768PublicKey {
        let (pk_m, _) = self.bytes.split_first_chunk::<ML_KEM_PUBLIC_LEN>().expect("it is longer");
        pk_m.into()
    }

    /// Returns the encoding of the public key, which has 1249 bytes.
    pub fn as_bytes(&self) -> &[u8; PUBLIC_LEN] {
        &self.bytes
    }

    /// Returns the part of P-256.
    pub fn p256(&self) -> &p256::PublicKey {
        &self.p256
    }

    /// Generates a shared secret, and returns it with its ciphertext for the holder of the private key.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if no random bytes are available, and [`Error::LimitExceeded`] if memory is exhausted.
    pub fn encapsulate(&self) -> Result<(SharedSecret, Vec<u8>), Error> {
        let mut eseed = Zeroizing::new([0; 32]);
        base::random::fill(&mut *eseed)?;
        self.encapsulate_deterministic(&eseed, &p256::PrivateKey::generate()?)
    }

    /// Encapsulates with the given randomness of ML-KEM and an ephemeral key of P-256.
    pub(super) fn encapsulate_deterministic(
        &self,
        eseed: &[u8; 32],
        ephemeral: &p256::PrivateKey,
    ) -> Result<(SharedSecret, Vec<u8>), Error> {
        wiping_stack::<STACK, _>(|| {
            let (ct_m, ss_m) = mlkem768::encapsulate(&self.ml_kem(), *eseed);
            let ss_m = Zeroizing::new(ss_m);
            let (ct_p, ss_p) = (ephemeral.public(), ephemeral.diffie_hellman(&self.p256)?);
            let shared = combine(&*ss_m, &ss_p, &ct_p, &self.p256);
            Ok((shared, [&ct_m.as_slice()[..], ct_p.as_bytes()].concat()))
        })
    }
}

/// Combines the two shared secrets to one.
fn combine(ss_m: &[u8], ss_p: &[u8; 32], ct_p: &p256::PublicKey, pk_p: &p256::PublicKey) -> SharedSecret {
    let mut hash = Sha3_256::new();
    for part in [ss_m, ss_p, ct_p.as_bytes(), pk_p.as_bytes(), LABEL] {
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

    #[test]
    fn rejects_wrong_lengths_points_and_coefficients() {
        let key = PrivateKey::generate().unwrap();
        let public = key.public().as_bytes().to_vec();
        for len in [0, 32, ML_KEM_PUBLIC_LEN, PUBLIC_LEN - 1] {
            assert!(matches!(PublicKey::from_bytes(&public[..len]), Err(Error::Format(_))), "{len} bytes");
        }
        let refused = |at: usize, bytes: &[u8]| {
            let mut wrong = public.clone();
            wrong[at..][..bytes.len()].copy_from_slice(bytes);
            matches!(PublicKey::from_bytes(&wrong), Err(Error::Format(_)))
        };
        // The first coefficient becomes 4095, above the modulus 3329.
        assert!(refused(0, &[0xff, 0xff]));
        assert!(refused(PUBLIC_LEN - 1, &[public[PUBLIC_LEN - 1] ^ 1]), "a point off the curve");
        assert!(refused(ML_KEM_PUBLIC_LEN, &[2]), "the mark of a compressed point");
        let (_, mut ciphertext) = key.public().encapsulate().unwrap();
        assert!(matches!(key.decapsulate(&ciphertext[1..]), Err(Error::Authentication)));
        assert!(matches!(key.decapsulate(&[]), Err(Error::Authentication)));
        ciphertext[CIPHERTEXT_LEN - 1] ^= 1;
        assert!(matches!(key.decapsulate(&ciphertext), Err(Error::Authentication)));
    }

    #[test]
    fn debug_shows_no_secret() {
        let key = PrivateKey::from_seed(&[0x5a; SEED_LEN]).unwrap();
        assert_eq!(format!("{key:?}"), "PrivateKey(MLKEM768-P256)");
        assert!(format!("{:?}", key.public()).starts_with("PublicKey(MLKEM768-P256, "));
    }
}

//! Hybrid KEMs of ML-KEM-768 and a curve: what X-Wing and MLKEM768-P256 have in common.
//!
//! ```text
//! private key   = seed[32]; SHAKE256(seed) = d[32] || z[32] || what the curve's private key is made from
//! public key    = pk_M[1184] || public key of the curve
//! ciphertext    = ct_M[1088] || ephemeral public key of the curve
//! shared secret = SHA3-256(ss_M || ss || ephemeral public key || public key of the curve || label)
//! ```
//!
//! AWS-LC computes the curves. It also decapsulates ML-KEM, from the expanded private key, and
//! wipes it. The crate `libcrux-ml-kem` generates the ML-KEM keys and encapsulates: AWS-LC takes
//! neither a seed nor randomness, and its own generator needs 40 ms for its first bytes in each
//! process.

use crate::prelude::*;
use sha3::{Digest, Sha3_256};

/// Words of stack to wipe after `libcrux-ml-kem` has used secrets: it does not wipe its stack, up
/// to 64 KiB (measured).
pub(super) const STACK: usize = 12 << 10;
/// Words of stack to wipe after a decapsulation. AWS-LC wipes its own ML-KEM values.
pub(super) const DECAPSULATION_STACK: usize = 1 << 10;

/// Length of an ML-KEM-768 public key in bytes.
pub(super) const ML_KEM_PUBLIC_LEN: usize = 1184;
/// Length of an ML-KEM-768 ciphertext in bytes.
pub(super) const ML_KEM_CIPHERTEXT_LEN: usize = 1088;

pub(super) const OUT_OF_MEMORY: Error =
    Error::LimitExceeded("ML-KEM-768 could not be computed: memory is exhausted");

/// Hashes the shared secrets, the curve's public keys and the KEM's label.
pub(super) fn combine(parts: [&[u8]; 5]) -> Zeroizing<[u8; 32]> {
    let mut hash = Sha3_256::new();
    for part in parts {
        hash.update(part);
    }
    let mut shared = Zeroizing::new([0; 32]);
    hash.finalize_into((&mut *shared).into());
    shared
}

/// Defines the keys of a KEM. Its module defines what depends on the curve:
///
/// - `PUBLIC_LEN`, `CIPHERTEXT_LEN`, `LABEL` and `INVALID_PUBLIC_KEY`;
/// - `curve_key(expanded)` reads the curve's private key from the expanded seed;
/// - `curve_public(bytes)` parses and checks the curve's part of a public key;
/// - `share(bytes)` parses the curve's part of a ciphertext.
macro_rules! hybrid_kem {
    ($name:literal, $computation:ident, $curve:ident) => {
        use aws_lc_rs::kem::{self, ML_KEM_768};
        use libcrux_ml_kem::mlkem768;
        use shake::{ExtendableOutput, Shake256, Update};

        /// Length of a private key in bytes: the seed of both components.
        pub const SEED_LEN: usize = 32;
        /// Length of a shared secret in bytes.
        pub const SHARED_LEN: usize = 32;

        type SharedSecret = Zeroizing<[u8; SHARED_LEN]>;

        /// A private key. Its seed is wiped on drop, AWS-LC's state with its last clone. `Debug`
        /// shows no secret.
        #[derive(Clone)]
        pub struct PrivateKey {
            seed: Secret<SEED_LEN>,
            ml_kem: Arc<kem::DecapsulationKey>,
            curve: $curve::PrivateKey,
            public: PublicKey,
        }

        impl PrivateKey {
            /// Generates a private key with the operating system's random generator.
            ///
            /// # Errors
            /// Returns [`Error::Io`] if no random bytes are available, and [`Error::LimitExceeded`]
            /// if memory is exhausted.
            pub fn generate() -> Result<Self> {
                Self::from_seed(&*Secret::generate()?)
            }

            /// Expands `seed` to the private keys of ML-KEM-768 and the curve.
            ///
            /// # Errors
            /// Returns [`Error::LimitExceeded`] if memory is exhausted.
            pub fn from_seed(seed: &[u8; SEED_LEN]) -> Result<Self> {
                Computation::$computation.check()?;
                wiping_stack::<{ hybrid_kem::STACK }, _>(|| {
                    let mut shake = Shake256::default();
                    shake.update(seed);
                    let mut expanded = shake.finalize_xof();
                    let mut dz = Zeroizing::new([0; 64]);
                    expanded.read(&mut *dz);
                    let curve = curve_key(&mut expanded)?;
                    let pair = mlkem768::generate_key_pair(*dz);
                    let public = PublicKey::new(pair.pk(), curve.public());
                    // The length is right, so only the allocation can have failed.
                    let ml_kem = kem::DecapsulationKey::new(&ML_KEM_768, pair.sk())
                        .map_err(|_| hybrid_kem::OUT_OF_MEMORY)?;
                    Ok(Self { seed: Secret::copy(seed), ml_kem: Arc::new(ml_kem), curve, public })
                })
            }

            /// Returns the secret seed of the key.
            pub fn seed(&self) -> &[u8; SEED_LEN] {
                &self.seed
            }

            /// Returns the public key.
            pub fn public(&self) -> PublicKey {
                self.public.clone()
            }

            /// Returns the shared secret of `ciphertext`. A modified ciphertext gives a different
            /// secret, because ML-KEM rejects implicitly (FIPS 203, section 6.3).
            ///
            /// # Errors
            /// Returns [`Error::Authentication`] if the length is wrong, or the share is not a
            /// point of the curve or has low order, and [`Error::LimitExceeded`] if memory is
            /// exhausted.
            pub fn decapsulate(&self, ciphertext: &[u8]) -> Result<SharedSecret> {
                wiping_stack::<{ hybrid_kem::DECAPSULATION_STACK }, _>(|| {
                    if ciphertext.len() != CIPHERTEXT_LEN {
                        return Err(Error::Authentication);
                    }
                    let (ct_m, ct) = ciphertext.split_at(hybrid_kem::ML_KEM_CIPHERTEXT_LEN);
                    let ct = share(ct)?;
                    // ML-KEM rejects implicitly and the lengths are right, so only an allocation
                    // can have failed.
                    let ss_m = self.ml_kem.decapsulate(ct_m.into()).map_err(|_| hybrid_kem::OUT_OF_MEMORY)?;
                    let ss = self.curve.diffie_hellman(&ct).map_err(|why| match why {
                        Error::Misuse(_) => Error::Authentication,
                        other => other,
                    })?;
                    let pk = self.public.curve.as_bytes();
                    Ok(hybrid_kem::combine([ss_m.as_ref(), &*ss, ct.as_bytes(), pk, LABEL]))
                })
            }
        }

        super::equal_by!(PrivateKey: public());
        super::debug_keys!($name);

        /// A public key: those of ML-KEM-768 and the curve.
        #[derive(Clone)]
        pub struct PublicKey {
            bytes: Arc<[u8; PUBLIC_LEN]>,
            curve: $curve::PublicKey,
        }

        impl PublicKey {
            /// Parses a public key and checks both components.
            ///
            /// # Errors
            /// Returns [`Error::Format`] if the length is wrong, the ML-KEM key fails the check of
            /// FIPS 203, section 7.2, or the rest is not a public key of the curve, and
            /// [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) if it has low order.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
                Computation::$computation.check()?;
                let (pk_m, pk) = bytes.split_first_chunk().ok_or(INVALID_PUBLIC_KEY)?;
                if !mlkem768::validate_public_key(&pk_m.into()) {
                    return Err(INVALID_PUBLIC_KEY);
                }
                Ok(Self::new(pk_m, curve_public(pk)?))
            }

            fn new(pk_m: &[u8; ML_KEM_PUBLIC_LEN], curve: $curve::PublicKey) -> Self {
                let mut bytes = [0; PUBLIC_LEN];
                let (start, end) = bytes.split_at_mut(ML_KEM_PUBLIC_LEN);
                start.copy_from_slice(pk_m);
                end.copy_from_slice(curve.as_bytes());
                Self { bytes: Arc::new(bytes), curve }
            }

            /// Returns the encoding.
            pub fn as_bytes(&self) -> &[u8; PUBLIC_LEN] {
                &self.bytes
            }

            /// Generates a shared secret. Returns it with its ciphertext for the holder of the
            /// private key.
            ///
            /// # Errors
            /// Returns [`Error::Io`] if no random bytes are available, and [`Error::LimitExceeded`]
            /// if memory is exhausted.
            pub fn encapsulate(&self) -> Result<(SharedSecret, Vec<u8>)> {
                self.encapsulate_deterministic(&*Secret::generate()?, &$curve::PrivateKey::generate()?)
            }

            /// Encapsulates with given randomness for ML-KEM and a given ephemeral key of the
            /// curve.
            pub(super) fn encapsulate_deterministic(
                &self,
                eseed: &[u8; 32],
                ephemeral: &$curve::PrivateKey,
            ) -> Result<(SharedSecret, Vec<u8>)> {
                wiping_stack::<{ hybrid_kem::STACK }, _>(|| {
                    let pk_m: &[u8; ML_KEM_PUBLIC_LEN] = self.bytes.first_chunk().expect("it is longer");
                    let (ct_m, ss_m) = mlkem768::encapsulate(&pk_m.into(), *eseed);
                    let ss_m = Zeroizing::new(ss_m);
                    let (ct, ss) = (ephemeral.public(), ephemeral.diffie_hellman(&self.curve)?);
                    let pk = self.curve.as_bytes();
                    let shared = hybrid_kem::combine([&*ss_m, &*ss, ct.as_bytes(), pk, LABEL]);
                    Ok((shared, [&ct_m.as_slice()[..], ct.as_bytes()].concat()))
                })
            }
        }

        super::equal_by!(PublicKey: bytes);
    };
}
pub(super) use hybrid_kem;

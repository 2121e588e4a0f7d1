//! MLKEM768-P256, the hybrid KEM of ML-KEM-768 and P-256 (draft-irtf-cfrg-concrete-hybrid-kems;
//! draft-ietf-hpke-pq).
//!
//! ```text
//! private key   = seed[32]; SHAKE256(seed) = d[32] || z[32] || candidates for sk_P[32], of which the first valid one counts
//! public key    = pk_M[1184] || pk_P[65]
//! ciphertext    = ct_M[1088] || ct_P[65]
//! shared secret = SHA3-256(ss_M || ss_P || ct_P || pk_P || "MLKEM768-P256")
//! ```
//!
//! `_M` marks the parts of ML-KEM-768, `_P` those of P-256. Points are uncompressed; the P-256
//! shared secret is the x-coordinate. This KEM is for hardware keys: they offer P-256 more often
//! than X25519.

use super::hybrid_kem::{self, ML_KEM_PUBLIC_LEN, hybrid_kem};
use super::p256;
use crate::prelude::*;
use shake::XofReader;

/// Length of a public key in bytes: 1184 of ML-KEM-768 and 65 of P-256.
pub const PUBLIC_LEN: usize = ML_KEM_PUBLIC_LEN + p256::PUBLIC_LEN;
/// Length of a ciphertext (the encapsulated key) in bytes.
pub const CIPHERTEXT_LEN: usize = hybrid_kem::ML_KEM_CIPHERTEXT_LEN + p256::PUBLIC_LEN;

const LABEL: &[u8] = b"MLKEM768-P256";
const INVALID_PUBLIC_KEY: Error =
    Error::Format("expected an MLKEM768-P256 public key: 1249 bytes, of an ML-KEM-768 key and a P-256 key");

hybrid_kem!("MLKEM768-P256", MlKem768P256, p256);

impl PublicKey {
    /// Returns the P-256 part.
    pub fn p256(&self) -> &p256::PublicKey {
        &self.curve
    }
}

fn curve_key(expanded: &mut impl XofReader) -> Result<p256::PrivateKey> {
    let mut candidate = Zeroizing::new([0; p256::PRIVATE_LEN]);
    loop {
        expanded.read(&mut *candidate);
        match p256::PrivateKey::from_bytes(&candidate) {
            // One value in 2^32 is not below the order.
            Err(Error::Misuse(_)) => {}
            key => return key,
        }
    }
}

fn curve_public(bytes: &[u8]) -> Result<p256::PublicKey> {
    // The component's error would not name this kind of key.
    p256::PublicKey::from_bytes(bytes).map_err(|_| INVALID_PUBLIC_KEY)
}

fn share(bytes: &[u8]) -> Result<p256::PublicKey> {
    // The sender chose the point: another reason would tell too much.
    p256::PublicKey::from_bytes(bytes).map_err(|_| Error::Authentication)
}

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

//! X-Wing, the hybrid KEM of ML-KEM-768 and X25519 (draft-connolly-cfrg-xwing-kem-10).
//!
//! ```text
//! private key   = seed[32]; SHAKE256(seed, 96) = d[32] || z[32] || sk_X[32]      (section 5.2)
//! public key    = pk_M[1184] || pk_X[32]
//! ciphertext    = ct_M[1088] || ct_X[32]                                         (section 5.4)
//! shared secret = SHA3-256(ss_M || ss_X || ct_X || pk_X || "\.//^\")             (section 5.3)
//! ```
//!
//! `_M` marks the parts of ML-KEM-768, `_X` those of X25519.
//!
//! An X25519 public key or ciphertext of low order is refused, as age and the next draft require:
//! with such a share, the X25519 half of the hybrid contributes nothing.

use super::hybrid_kem::{self, ML_KEM_PUBLIC_LEN, hybrid_kem};
use super::x25519;
use crate::prelude::*;
use shake::XofReader;

/// Length of a public key in bytes: 1184 of ML-KEM-768 and 32 of X25519.
pub const PUBLIC_LEN: usize = ML_KEM_PUBLIC_LEN + x25519::LEN;
/// Length of a ciphertext (the encapsulated key) in bytes.
pub const CIPHERTEXT_LEN: usize = hybrid_kem::ML_KEM_CIPHERTEXT_LEN + x25519::LEN;

const LABEL: &[u8] = br"\.//^\";
const INVALID_PUBLIC_KEY: Error =
    Error::Format("expected an X-Wing public key: 1216 bytes, of an ML-KEM-768 key and an X25519 key");

hybrid_kem!("X-Wing", XWing, x25519);

fn curve_key(expanded: &mut impl XofReader) -> Result<x25519::PrivateKey> {
    let mut sk_x = Zeroizing::new([0; x25519::LEN]);
    expanded.read(&mut *sk_x);
    x25519::PrivateKey::from_bytes(&sk_x)
}

fn curve_public(bytes: &[u8]) -> Result<x25519::PublicKey> {
    // The conversion to an array fails only if the length is wrong.
    let pk_x = x25519::PublicKey::from_bytes(bytes.try_into().map_err(|_| INVALID_PUBLIC_KEY)?);
    // A public key of low order gives zero with every private key, any other key with none.
    x25519::PrivateKey::from_bytes(&[1; x25519::LEN])?.diffie_hellman(&pk_x)?;
    Ok(pk_x)
}

fn share(bytes: &[u8]) -> Result<x25519::PublicKey> {
    // The conversion to an array fails only if the length is wrong.
    Ok(x25519::PublicKey::from_bytes(bytes.try_into().map_err(|_| Error::Authentication)?))
}

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

    /// Each library decapsulates what the other encapsulates, and both give the same secrets for
    /// modified ciphertexts.
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

//! ML-KEM of `libcrux-ml-kem` and AWS-LC, which X-Wing uses, with the vectors of NIST and CCTV.
//! X-Wing itself has few vectors.

use aws_lc_rs::kem;
use libcrux_ml_kem::{mlkem512, mlkem768, mlkem1024};
use vectors::MlKemPart;

macro_rules! check {
    ($module:ident, $aws_lc:expr, $case:expr) => {{
        let case = $case;
        let name = format!("{} {}", case.file, case.id);
        match &case.part {
            MlKemPart::Keygen { d, z, ek, dk } => {
                let seed = [&d[..], z].concat();
                let pair = $module::generate_key_pair(seed[..].try_into().unwrap());
                assert!(pair.pk()[..] == ek[..] && pair.sk()[..] == dk[..], "{name}");
            }
            MlKemPart::Decapsulation { dk, c, k } => {
                let key = dk[..].try_into().unwrap();
                assert!($module::decapsulate(&key, &c[..].try_into().unwrap())[..] == k[..], "{name}");
                let key = kem::DecapsulationKey::new(&$aws_lc, dk).unwrap();
                assert!(key.decapsulate(c[..].into()).unwrap().as_ref() == k, "{name}");
            }
            MlKemPart::Encapsulation { ek, m, c, k } => {
                let key = ek[..].try_into().unwrap();
                assert!($module::validate_public_key(&key), "{name}");
                let (ciphertext, shared) = $module::encapsulate(&key, m[..].try_into().unwrap());
                assert!(ciphertext.as_slice()[..] == c[..] && shared[..] == k[..], "{name}");
            }
        }
    }};
}

#[test]
fn published_vectors() {
    let cases = vectors::ml_kem();
    assert_eq!(cases.len(), 50);
    for case in &cases {
        match case.parameters {
            512 => check!(mlkem512, kem::ML_KEM_512, case),
            768 => check!(mlkem768, kem::ML_KEM_768, case),
            1024 => check!(mlkem1024, kem::ML_KEM_1024, case),
            other => panic!("ML-KEM-{other}"),
        }
    }
}

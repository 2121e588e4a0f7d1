//! ML-KEM of the crate `ml-kem`, which X-Wing uses, with the vectors of NIST and CCTV. X-Wing itself has few vectors.

use ml_kem::kem::Decapsulate;
use ml_kem::{DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024};
use vectors::MlKemPart;

macro_rules! check {
    ($parameters:ty, $case:expr) => {{
        let case = $case;
        let name = format!("{} {}", case.file, case.id);
        match &case.part {
            MlKemPart::Keygen { d, z, ek, dk } => {
                let seed = [&d[..], z].concat();
                let key = DecapsulationKey::<$parameters>::from_seed(seed[..].try_into().unwrap());
                use ml_kem::kem::KeyExport;
                assert!(key.encapsulation_key().to_bytes()[..] == ek[..], "{name}");
                #[allow(deprecated, reason = "the vectors have expanded keys")]
                let expanded = ml_kem::ExpandedKeyEncoding::to_expanded_bytes(&key);
                assert!(expanded[..] == dk[..], "{name}");
            }
            MlKemPart::Decapsulation { dk, c, k } => {
                #[allow(deprecated, reason = "the vectors have expanded keys")]
                let key = DecapsulationKey::<$parameters>::from_expanded(dk[..].try_into().unwrap()).unwrap();
                assert!(key.decapsulate(c[..].try_into().unwrap())[..] == k[..], "{name}");
            }
            MlKemPart::Encapsulation { ek, m, c, k } => {
                let key = EncapsulationKey::<$parameters>::new(ek[..].try_into().unwrap()).unwrap();
                let (ciphertext, shared) = key.encapsulate_deterministic(m[..].try_into().unwrap());
                assert!(ciphertext[..] == c[..] && shared[..] == k[..], "{name}");
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
            512 => check!(MlKem512, case),
            768 => check!(MlKem768, case),
            1024 => check!(MlKem1024, case),
            other => panic!("ML-KEM-{other}"),
        }
    }
}

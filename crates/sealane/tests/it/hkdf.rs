//! HKDF (RFC 5869) against its published vectors. AWS-LC computes those with SHA-1, as it does for
//! Tink keysets.

use aws_lc_rs::hkdf as aws_lc;
use hkdf::Hkdf;
use sha2::Sha256;
use vectors::{KdfHash, KdfPart};

struct Len(usize);

impl aws_lc::KeyType for Len {
    fn len(&self) -> usize {
        self.0
    }
}

#[test]
fn rfc_5869() {
    let mut cases = [0; 2];
    for case in vectors::kdf() {
        let KdfPart::Hkdf { hash, info, extracted } = &case.part else { continue };
        let mut output = vec![0; case.output.len()];
        match hash {
            KdfHash::Sha256 => {
                let (key, hkdf) = Hkdf::<Sha256>::extract(Some(&case.salt), &case.secret);
                assert_eq!(key[..], extracted[..], "{} {}", case.file, case.id);
                hkdf.expand(info, &mut output).unwrap();
                cases[0] += 1;
            }
            KdfHash::Sha1 => {
                let salt = aws_lc::Salt::new(aws_lc::HKDF_SHA1_FOR_LEGACY_USE_ONLY, &case.salt);
                let key = salt.extract(&case.secret);
                let info = [&info[..]];
                key.expand(&info, Len(output.len())).unwrap().fill(&mut output).unwrap();
                cases[1] += 1;
            }
        }
        assert_eq!(output, case.output, "{} {}", case.file, case.id);
    }
    // Six of them are fingerprints of keys.
    assert_eq!(cases, [3 + 6, 4]);
}

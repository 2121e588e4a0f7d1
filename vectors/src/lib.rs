//! Published test vectors, and a loader that rejects everything it does not know.
//!
//! The loader panics with the file's name on an unknown key, flag, group type or result, and on a
//! wrong number of cases. It also lists the folders, except `ecdh` and `kem`, and panics if a file
//! has no reader. Otherwise vectors could be left out without notice. `README.md` documents where
//! each file comes from.
//!
//! In every case, `file` is the path relative to the folder `vectors`, and `id` is the number,
//! position or name of the case in its file. The other fields are named after the algorithm's
//! parameters, and documented only where the name is not enough.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "the fields are the parameters of the algorithms, see above")]

mod aegis;
mod age;
mod case;
mod chacha20;
mod chunked;
mod converted;
mod ecdh;
mod ecies;
mod error;
mod fernet;
mod folder;
mod hex;
mod hpke;
mod jwe;
mod kdf;
mod lines;
mod mlkem;
mod oaep;
mod parts;
mod rencrypt;
mod secp256k1;
mod signature;
mod siv;
mod speck;
mod stored_vaults;
mod tink;
mod vaults;
mod wycheproof;

pub use age::{AgeCase, AgeOutcome, age};
pub use case::{
    AeadCase, Argon2Variant, ChaCha20Case, ChaCha20Part, CtrCase, EmeCase, FernetCase, FernetPart, KdfCase,
    KdfHash, KdfPart, MacCase, Outcome, SecretboxCase, SivCase, SpeckCase, SpeckMode, SpeckOrder,
};
pub use chunked::{ChunkedCase, ChunkedFlag};
pub use ecdh::{EcdhCase, EcdhFlag, Rfc7748Case, Rfc7748Part, ecdh_p256, ecdh_x25519, rfc7748};
pub use ecies::{EciesCase, EciesCurve, EciesPart, EciesSymmetric, ecies};
pub use hpke::{HpkeCase, HpkeMessage, XWingCase, hpke, xwing};
pub use jwe::{JweCase, JwePart, jwe};
pub use lines::lines;
pub use mlkem::{MlKemCase, MlKemPart, ml_kem};
pub use oaep::{OaepCase, RsaKey, oaep};
pub use parts::{RsaPartsCase, rsa_parts};
pub use secp256k1::{Agreement, Secp256k1Case, Secp256k1Flag, ecdh_secp256k1};
pub use signature::{SignatureCase, SignatureResult, signatures};
pub use stored_vaults::{Plain, Stored, VaultCase};
pub use tink::{TinkCase, TinkHash, tink};

use error::{Error, Why};
use folder::Reader;

const AEAD: &[(&str, Reader<AeadCase>)] = &[
    ("aead/aegis_draft/aegis-128l-test-vectors.json", aegis::read),
    ("aead/aegis_draft/aegis-128x2-test-vectors.json", aegis::read),
    ("aead/aegis_draft/aegis-128x4-test-vectors.json", aegis::read),
    ("aead/aegis_draft/aegis-256-test-vectors.json", aegis::read),
    ("aead/aegis_draft/aegis-256x2-test-vectors.json", aegis::read),
    ("aead/aegis_draft/aegis-256x4-test-vectors.json", aegis::read),
    ("aead/aes_gcm_spec.json", converted::aes_gcm),
    ("aead/rencrypt.json", rencrypt::read),
    ("aead/rfc8439.json", converted::chacha),
    ("aead/rfc8452.json", converted::aes_gcm_siv),
    ("aead/speck_poly1305.json", speck::checked),
    ("aead/wycheproof/aes_gcm_test.json", wycheproof::read),
    ("aead/wycheproof/chacha20_poly1305_test.json", wycheproof::read),
    ("aead/wycheproof/xchacha20_poly1305_test.json", wycheproof::read),
    ("aead/xaes_256_gcm.json", converted::xaes),
    ("aead/xchacha_draft.json", converted::xchacha),
];

const SPECK_POLY1305: (&str, Reader<AeadCase>) = ("aead/speck_poly1305.json", speck::poly1305);

const BLOCK: &[(&str, Reader<SpeckCase>)] = &[
    ("block/speck_cryptopp_part.json", speck::cryptopp),
    ("block/speck_ctr_seed.json", speck::ctr),
    ("block/speck_paper.json", speck::paper),
];

const STREAM: &[(&str, Reader<CtrCase>)] = &[
    ("stream/aes_ctr_rfc3686.json", converted::aes_ctr),
    ("stream/aes_ctr_sp800_38a.json", converted::aes_ctr),
];

const DAEAD: &[(&str, Reader<SivCase>)] = &[
    ("daead/aes_siv_rfc5297.json", siv::rfc5297),
    ("daead/wycheproof/aes_siv_cmac_test.json", siv::wycheproof),
];

const EME: &[(&str, Reader<EmeCase>)] = &[("eme/eme.json", vaults::eme)];

const SECRETBOX: &[(&str, Reader<SecretboxCase>)] = &[("secretbox/secretbox.json", vaults::secretbox)];

const FERNET: &[(&str, Reader<FernetCase>)] = &[
    ("fernet/generate.json", fernet::generate),
    ("fernet/invalid.json", fernet::invalid),
    ("fernet/verify.json", fernet::verify),
];

const KDF: &[(&str, Reader<KdfCase>)] = &[
    ("kdf/argon2_rfc9106.json", kdf::argon2),
    ("kdf/hkdf_rfc5869.json", kdf::hkdf),
    ("kdf/key_fingerprint.json", kdf::hkdf),
    ("kdf/pbkdf2_sha1_rfc6070.json", kdf::pbkdf2_sha1),
    ("kdf/scrypt_pbkdf2_rfc7914.json", kdf::scrypt_pbkdf2),
];

const CHUNKED: &[(&str, Reader<ChunkedCase>)] =
    &[("streaming/wycheproof/c2sp_chunked_encryption_aes_128_gcm_test.json", chunked::read)];

/// Returns every AEAD message except Speck-Poly1305's, valid and invalid.
///
/// # Panics
/// Panics if a file under `aead` cannot be parsed or is missing.
pub fn aead() -> Vec<AeadCase> {
    folder::read("aead", AEAD).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns every case of ChaCha20, XChaCha20 and HChaCha20 that [`aead`] does not return.
///
/// # Panics
/// Panics if a file cannot be parsed or is missing.
pub fn chacha20() -> Vec<ChaCha20Case> {
    let files = ["aead/rfc8439.json", "aead/xchacha_draft.json"];
    let read = |file| folder::read_one(file, chacha20::read).unwrap_or_else(|error| panic!("{error}"));
    files.into_iter().flat_map(read).collect()
}

/// Returns every case of Poly1305. The file also has cases of [`aead`].
///
/// # Panics
/// Panics if the file cannot be parsed or is missing.
pub fn poly1305() -> Vec<MacCase> {
    folder::read_one("aead/rfc8439.json", converted::poly1305).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns every case of Speck-Poly1305, with a nonce a block long. [`aead`] does not return them.
///
/// # Panics
/// Panics if the file cannot be parsed or is missing.
pub fn speck_poly1305() -> Vec<AeadCase> {
    folder::read_one(SPECK_POLY1305.0, SPECK_POLY1305.1).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns every case of Speck, in all sizes and modes of the files.
///
/// # Panics
/// Panics if a file under `block` cannot be parsed or is missing.
pub fn speck() -> Vec<SpeckCase> {
    folder::read("block", BLOCK).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns every case of AES in counter mode.
///
/// # Panics
/// Panics if a file under `stream` cannot be parsed or is missing.
pub fn aes_ctr() -> Vec<CtrCase> {
    folder::read("stream", STREAM).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns every case of chunked encryption, valid and invalid.
///
/// # Panics
/// Panics if a file under `streaming/wycheproof` cannot be parsed or is missing.
pub fn chunked() -> Vec<ChunkedCase> {
    folder::read("streaming/wycheproof", CHUNKED).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns every AES-SIV message, valid and invalid.
///
/// # Panics
/// Panics if a file under `daead` cannot be parsed or is missing.
pub fn siv() -> Vec<SivCase> {
    folder::read("daead", DAEAD).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns every case of EME.
///
/// # Panics
/// Panics if a file under `eme` cannot be parsed or is missing.
pub fn eme() -> Vec<EmeCase> {
    folder::read("eme", EME).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns every vault made by `tool`, such as `"gocryptfs"`.
///
/// # Panics
/// Panics if a file under `vaults` cannot be parsed or is missing.
pub fn vaults(tool: &str) -> Vec<VaultCase> {
    stored_vaults::read(tool).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns every message of NaCl's secretbox.
///
/// # Panics
/// Panics if a file under `secretbox` cannot be parsed or is missing.
pub fn secretbox() -> Vec<SecretboxCase> {
    folder::read("secretbox", SECRETBOX).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns every Fernet token, valid and invalid.
///
/// # Panics
/// Panics if a file under `fernet` cannot be parsed or is missing.
pub fn fernet() -> Vec<FernetCase> {
    folder::read("fernet", FERNET).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns every key derivation. Some take a gigabyte of memory or several seconds.
///
/// # Panics
/// Panics if a file under `kdf` cannot be parsed or is missing.
pub fn kdf() -> Vec<KdfCase> {
    folder::read("kdf", KDF).unwrap_or_else(|error| panic!("{error}"))
}

#[cfg(test)]
mod test {
    use super::*;

    /// Reads the cases of a file after replacing `from` by `to` in its text.
    fn changed<T>(name: &str, readers: &[(&str, Reader<T>)], from: &str, to: &str) -> Result<Vec<T>, Why> {
        let (_, read) = readers.iter().find(|(known, _)| *known == name).unwrap();
        read(&folder::changed(name, from, to))
    }

    #[test]
    fn rejects_unknown_contents() {
        let aegis = "aead/aegis_draft/aegis-256-test-vectors.json";
        let wycheproof = "aead/wycheproof/aes_gcm_test.json";
        for (name, from, to) in [
            (wycheproof, r#""result": "valid""#, r#""result": "acceptable""#),
            (wycheproof, r#""type": "AeadTest""#, r#""type": "AeadTest2""#),
            (wycheproof, r#""Ktv""#, r#""Known""#),
            (wycheproof, r#""comment""#, r#""remark""#),
            (wycheproof, r#""algorithm": "AES-GCM""#, r#""algorithm": "AES-CCM""#),
            (wycheproof, r#""keySize": 128"#, r#""keySize": 256"#),
            (wycheproof, r#""numberOfTests": 316"#, r#""numberOfTests": 317"#),
            (aegis, r#""error": "verification failed""#, r#""error": "too short""#),
            (aegis, r#""S0_2""#, r#""T0_2""#),
            (aegis, r#""msg""#, r#""message""#),
            ("aead/rfc8439.json", r#""kind": "poly1305""#, r#""kind": "poly1306""#),
            ("aead/rfc8439.json", r#""keystream""#, r#""stream""#),
            ("aead/rfc8452.json", r#""keySize": 128"#, r#""keySize": 256"#),
            ("aead/xaes_256_gcm.json", r#""aad": """#, r#""aad": "0g""#),
            ("aead/xaes_256_gcm.json", r#""aad": """#, r#""aad": "", "more": """#),
        ] {
            assert!(changed(name, AEAD, from, to).is_err(), "{name}: {to} was accepted");
            assert!(changed(name, AEAD, from, from).is_ok(), "{name}: rejected without a change");
        }
        for (name, from, to) in [
            (DAEAD[0].0, r#""aes-192-siv""#, r#""aes-128-siv""#),
            (DAEAD[1].0, r#""keySize": 384"#, r#""keySize": 256"#),
            (DAEAD[1].0, r#""DaeadTest""#, r#""AeadTest""#),
        ] {
            assert!(changed(name, DAEAD, from, to).is_err(), "{name}: {to} was accepted");
            assert!(changed(name, DAEAD, from, from).is_ok(), "{name}: rejected without a change");
        }
        assert!(changed(FERNET[0].0, FERNET, r#""src""#, r#""data""#).is_err());
        let chunked = CHUNKED[0].0;
        assert!(changed(chunked, CHUNKED, r#""WrongKey""#, r#""OtherKey""#).is_err());
        assert!(changed(chunked, CHUNKED, r#""ct": "78da"#, r#""ct": "78db"#).is_err());
        for (name, from, to) in [
            (BLOCK[0].0, r#""mode": "CBC""#, r#""mode": "CFB""#),
            (BLOCK[0].0, r#""name": "Speck64/96""#, r#""name": "Speck64/64""#),
            (BLOCK[1].0, r#""iv": "a0"#, r#""iv": ""#),
            (BLOCK[2].0, r#""paper""#, r#""journal""#),
            (BLOCK[2].0, r#""pt": "6574 694c""#, r#""pt": "6574 694d""#),
            (BLOCK[2].0, r#""keySize": 64"#, r#""keySize": 72"#),
        ] {
            assert!(changed(name, BLOCK, from, to).is_err(), "{name}: {to} was accepted");
            assert!(changed(name, BLOCK, from, from).is_ok(), "{name}: rejected without a change");
        }
        for (name, from, to) in [
            (KDF[0].0, r#""variant": "argon2d""#, r#""variant": "argon2ds""#),
            (KDF[0].0, r#""version": 19"#, r#""version": 16"#),
            (KDF[0].0, r#""tagLen": 32"#, r#""tagLen": 33"#),
            (KDF[1].0, r#""hash": "SHA-256""#, r#""hash": "SHA-384""#),
            (KDF[3].0, r#""iterations": 1,"#, r#""rounds": 1,"#),
            (KDF[4].0, r#""kind": "scrypt""#, r#""kind": "yescrypt""#),
            (KDF[4].0, r#""N": 16,"#, r#""N": 17,"#),
        ] {
            assert!(changed(name, KDF, from, to).is_err(), "{name}: {to} was accepted");
            assert!(changed(name, KDF, from, from).is_ok(), "{name}: rejected without a change");
        }
        let [known, _, eciespy] = ecies::ECIES else { panic!("three files") };
        for (name, from, to) in [
            (known.0, r#""kind": "hkdf""#, r#""kind": "kdf""#),
            (known.0, r#""curve": "ed25519""#, r#""curve": "ed448""#),
            (known.0, r#""nonceLength": 16"#, r#""nonceLength": 12"#),
            (known.0, r#""okm": "2f"#, r#""okm": ""#),
            (eciespy.0, r#""ephemeralCompressed": true"#, r#""ephemeralCompressed": false"#),
            (eciespy.0, r#""hkdfCompressed""#, r#""kdfCompressed""#),
            (eciespy.0, r#""symmetric": "xchacha20""#, r#""symmetric": "chacha20""#),
        ] {
            assert!(changed(name, ecies::ECIES, from, to).is_err(), "{name}: {to} was accepted");
            assert!(changed(name, ecies::ECIES, from, from).is_ok(), "{name}: rejected without a change");
        }
        let tink = tink::TINK[0].0;
        for (from, to) in [(r#""SHA1""#, r#""SHA224""#), (r#""keySize": 16"#, r#""keySize": 17"#)] {
            assert!(changed(tink, tink::TINK, from, to).is_err(), "{to} was accepted");
        }
        let secp256k1 = secp256k1::SECP256K1;
        for (from, to) in [
            (r#""curve": "secp256k1""#, r#""curve": "secp256r1""#),
            (r#""encoding": "asn""#, r#""encoding": "ecpoint""#),
            (r#""result": "acceptable""#, r#""result": "legacy""#),
            (r#""InvalidAsn""#, r#""InvalidBer""#),
        ] {
            assert!(changed(secp256k1.0, &[secp256k1], from, to).is_err(), "{to} was accepted");
        }
        let stream = STREAM[0].0;
        assert!(changed(stream, STREAM, r#""iv": "00"#, r#""iv": ""#).is_err());
    }

    #[test]
    fn rejects_unknown_and_missing_files() {
        let unknown = folder::read("aead", &AEAD[1..]).unwrap_err();
        assert!(matches!(unknown.why, Why::UnknownFile), "{unknown}");
        assert_eq!(unknown.file, AEAD[0].0);
        let more: Vec<_> = AEAD.iter().copied().chain([("aead/other.json", AEAD[0].1)]).collect();
        let missing = folder::read("aead", &more).unwrap_err();
        assert!(matches!(missing.why, Why::Missing), "{missing}");
    }
}

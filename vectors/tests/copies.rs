//! Checks that the files have the published bytes, that every case is read, and that the README
//! lists every file.

use sha2::Digest;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn count<T>(cases: &[T], file: impl Fn(&T) -> &str) -> BTreeMap<&str, usize> {
    cases.iter().fold(BTreeMap::new(), |mut counts, case| {
        *counts.entry(file(case)).or_default() += 1;
        counts
    })
}

#[test]
fn every_case_is_read() {
    let (aead, ctr, chunked) = (vectors::aead(), vectors::aes_ctr(), vectors::chunked());
    let mut counts = count(&aead, |case| &case.file);
    counts.extend(count(&ctr, |case| &case.file));
    counts.extend(count(&chunked, |case| &case.file));
    let (x25519, p256, rfc7748) = (vectors::ecdh_x25519(), vectors::ecdh_p256(), vectors::rfc7748());
    counts.extend(count(&x25519, |case| &case.file));
    counts.extend(count(&p256, |case| &case.file));
    counts.extend(count(&rfc7748, |case| &case.file));
    let (oaep, hpke, xwing) = (vectors::oaep(), vectors::hpke(), vectors::xwing());
    counts.extend(count(&oaep, |case| &case.file));
    counts.extend(count(&hpke, |case| &case.file));
    counts.extend(count(&xwing, |case| &case.file));
    let parts = vectors::rsa_parts();
    counts.extend(count(&parts, |case| &case.file));
    let (speck, speck_poly1305) = (vectors::speck(), vectors::speck_poly1305());
    counts.extend(count(&speck, |case| &case.file));
    counts.extend(count(&speck_poly1305, |case| &case.file));
    let (ecies, tink, secp256k1) = (vectors::ecies(), vectors::tink(), vectors::ecdh_secp256k1());
    counts.extend(count(&ecies, |case| &case.file));
    counts.extend(count(&tink, |case| &case.file));
    counts.extend(count(&secp256k1, |case| &case.file));
    let (siv, fernet) = (vectors::siv(), vectors::fernet());
    counts.extend(count(&siv, |case| &case.file));
    counts.extend(count(&fernet, |case| &case.file));
    let (eme, secretbox) = (vectors::eme(), vectors::secretbox());
    counts.extend(count(&eme, |case| &case.file));
    counts.extend(count(&secretbox, |case| &case.file));
    let (signatures, jwe) = (vectors::signatures(), vectors::jwe());
    counts.extend(count(&jwe, |case| &case.file));
    counts.extend(count(&signatures, |case| &case.file));
    let (kdf, ml_kem) = (vectors::kdf(), vectors::ml_kem());
    counts.extend(count(&ml_kem, |case| &case.file));
    counts.extend(count(&kdf, |case| &case.file));
    // Each block of the Speck paper is two cases, one in each byte order. Of mixed files only
    // messages count: two of RFC 8439, one of the XChaCha draft, and no states of AEGIS.
    let expected = [
        ("aead/aegis_draft/aegis-128l-test-vectors.json", 9),
        ("aead/aegis_draft/aegis-128x2-test-vectors.json", 2),
        ("aead/aegis_draft/aegis-128x4-test-vectors.json", 2),
        ("aead/aegis_draft/aegis-256-test-vectors.json", 9),
        ("aead/aegis_draft/aegis-256x2-test-vectors.json", 2),
        ("aead/aegis_draft/aegis-256x4-test-vectors.json", 2),
        ("aead/aes_gcm_spec.json", 20),
        ("aead/rencrypt.json", 4),
        ("aead/rfc8439.json", 2),
        ("aead/rfc8452.json", 50),
        ("aead/speck_poly1305.json", 8),
        ("aead/wycheproof/aes_gcm_test.json", 316),
        ("aead/wycheproof/chacha20_poly1305_test.json", 325),
        ("aead/wycheproof/xchacha20_poly1305_test.json", 315),
        ("aead/xaes_256_gcm.json", 2),
        ("aead/xchacha_draft.json", 1),
        ("block/speck_cryptopp_part.json", 60),
        ("block/speck_ctr_seed.json", 7),
        ("block/speck_paper.json", 20),
        ("daead/aes_siv_rfc5297.json", 4),
        ("daead/wycheproof/aes_siv_cmac_test.json", 442),
        ("ecdh/wycheproof/ecdh_secp256k1_test.json", 752),
        ("ecdh/wycheproof/ecdh_secp256r1_ecpoint_test.json", 355),
        ("ecdh/wycheproof/x25519_test.json", 518),
        ("ecdh/x25519_rfc7748.json", 6),
        ("ecies/ecies_known.json", 17),
        ("ecies/ecies_suites.json", 15),
        ("ecies/eciespy.json", 27),
        ("eme/eme.json", 6),
        ("fernet/generate.json", 1),
        ("fernet/invalid.json", 8),
        ("fernet/verify.json", 1),
        ("jwe/rfc.json", 10),
        ("jwe/wycheproof/json_web_encryption_test.json", 139),
        ("kdf/argon2_rfc9106.json", 3),
        ("kdf/hkdf_rfc5869.json", 7),
        ("kdf/key_fingerprint.json", 6),
        ("kdf/pbkdf2_sha1_rfc6070.json", 6),
        ("kdf/scrypt_pbkdf2_rfc7914.json", 6),
        ("hpke/hpke_pq_test-vectors_part.json", 7),
        ("hpke/rfc9180_test-vectors_part.json", 64),
        ("hybrid/rsa_pycryptodome.json", 12),
        ("kem/cctv_mlkem/strcmp_ML-KEM-1024.txt", 1),
        ("kem/cctv_mlkem/strcmp_ML-KEM-512.txt", 1),
        ("kem/cctv_mlkem/strcmp_ML-KEM-768.txt", 1),
        ("kem/cctv_mlkem_draft_keygen/intermediate_ML-KEM-1024.txt", 2),
        ("kem/cctv_mlkem_draft_keygen/intermediate_ML-KEM-512.txt", 2),
        ("kem/cctv_mlkem_draft_keygen/intermediate_ML-KEM-768.txt", 2),
        ("kem/cctv_mlkem_draft_keygen/unluckysample_ML-KEM-1024.txt", 2),
        ("kem/cctv_mlkem_draft_keygen/unluckysample_ML-KEM-512.txt", 2),
        ("kem/cctv_mlkem_draft_keygen/unluckysample_ML-KEM-768.txt", 2),
        ("kem/nist_acvp/mlkem768_nist_decap_tests.txt", 10),
        ("kem/nist_acvp/mlkem768_nist_keygen_tests.txt", 25),
        ("kem/xwing_draft_test-vectors.json", 3),
        ("rsa/oaep_label.json", 1),
        ("rsa/pkcs1_v2_1_oaep_vect.txt", 60),
        ("rsa/wycheproof/rsa_oaep_2048_sha256_mgf1sha256_test.json", 37),
        ("secretbox/secretbox.json", 30),
        ("signature/programs.json", 12),
        ("stream/aes_ctr_rfc3686.json", 9),
        ("stream/aes_ctr_sp800_38a.json", 3),
        ("streaming/tink/aes_gcm_hkdf.json", 4),
        ("streaming/wycheproof/c2sp_chunked_encryption_aes_128_gcm_test.json", 35),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
    // RFC 8439 has one case of Poly1305 in section 2.5.2, and eleven in A.3.
    assert_eq!(vectors::poly1305().len(), 12);
}

/// Each file of the testkit is a case.
#[test]
fn every_age_file_is_read() {
    use vectors::AgeOutcome::{ArmorFailure, HeaderFailure, NoMatch, PayloadFailure, Success};
    let mut counts = BTreeMap::new();
    for case in vectors::age() {
        *counts.entry(case.expect).or_insert(0) += 1;
    }
    let expected =
        [(ArmorFailure, 16), (HeaderFailure, 49), (NoMatch, 8), (PayloadFailure, 16), (Success, 18)];
    assert_eq!(counts, BTreeMap::from(expected));
}

/// RFC 8439 has six blocks, four streams and four one-time keys. The XChaCha draft has two streams
/// and a derived key.
/// The tools with vaults.
const VAULTS: [&str; 3] = ["cryptomator", "gocryptfs", "rclone"];

#[test]
fn every_vault_is_read() {
    let found = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("vaults")).unwrap();
    assert_eq!(found.count(), VAULTS.len());
    assert_eq!(VAULTS.map(|tool| vectors::vaults(tool).len()), [7, 9, 8]);
}

#[test]
fn every_part_of_chacha20_is_read() {
    let cases = vectors::chacha20();
    let expected = [("aead/rfc8439.json", 14), ("aead/xchacha_draft.json", 3)];
    assert_eq!(count(&cases, |case| &case.file), BTreeMap::from(expected));
}

#[test]
fn every_file_has_a_checksum_and_a_row_in_the_readme() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (sums, readme) = (root.join("SHA256SUMS"), root.join("README.md"));
    let (sums, readme) = (fs::read_to_string(sums).unwrap(), fs::read_to_string(readme).unwrap());
    let files: Vec<String> = vectors::aead()
        .into_iter()
        .map(|case| case.file)
        .chain(vectors::speck().into_iter().map(|case| case.file))
        .chain(vectors::speck_poly1305().into_iter().map(|case| case.file))
        .chain(vectors::aes_ctr().into_iter().map(|case| case.file))
        .chain(vectors::chunked().into_iter().map(|case| case.file))
        .chain(vectors::age().into_iter().map(|case| case.file))
        .chain(vectors::ecies().into_iter().map(|case| case.file))
        .chain(vectors::tink().into_iter().map(|case| case.file))
        .chain(vectors::ecdh_x25519().into_iter().map(|case| case.file))
        .chain(vectors::ecdh_p256().into_iter().map(|case| case.file))
        .chain(vectors::rfc7748().into_iter().map(|case| case.file))
        .chain(vectors::oaep().into_iter().map(|case| case.file))
        .chain(vectors::hpke().into_iter().map(|case| case.file))
        .chain(vectors::xwing().into_iter().map(|case| case.file))
        .chain(vectors::rsa_parts().into_iter().map(|case| case.file))
        .chain(vectors::ecdh_secp256k1().into_iter().map(|case| case.file))
        .chain(vectors::siv().into_iter().map(|case| case.file))
        .chain(vectors::fernet().into_iter().map(|case| case.file))
        .chain(vectors::eme().into_iter().map(|case| case.file))
        .chain(vectors::secretbox().into_iter().map(|case| case.file))
        .chain(vectors::jwe().into_iter().map(|case| case.file))
        .chain(vectors::kdf().into_iter().map(|case| case.file))
        .chain(vectors::signatures().into_iter().map(|case| case.file))
        .chain(vectors::ml_kem().into_iter().map(|case| case.file))
        .chain(
            VAULTS.iter().flat_map(|tool| vectors::vaults(tool)).flat_map(|case| [case.file, case.archive]),
        )
        .collect();
    for line in sums.lines() {
        let (sum, file) = line.split_once("  ").unwrap();
        assert!(files.iter().any(|read| read == file), "{file}: has a sum and is not read");
        let found = hex::encode(sha2::Sha256::digest(fs::read(root.join(file)).unwrap()));
        assert_eq!(found, sum, "{file}");
    }
    for file in &files {
        assert!(sums.contains(&format!("  {file}\n")), "{file}: no sum");
        // A folder with many small files has one row in the table.
        let row = match file.rsplit_once('/') {
            Some((folder, _)) if folder == "age/testkit" || folder.starts_with("vaults/") => {
                format!("| `{folder}/*` |")
            }
            _ => format!("| `{file}` |"),
        };
        assert!(readme.contains(&row), "{file}: no row in the README");
    }
}

/// `lines.txt` has the same cases as the published files; tests of languages without a JSON reader
/// use it.
#[test]
fn the_lines_are_those_of_the_files() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("lines.txt")).unwrap();
    let lines = vectors::lines();
    let count = |kind: &str| lines.lines().filter(|line| line.starts_with(kind)).count();
    assert_eq!(count("aead "), vectors::aead().len() + vectors::speck_poly1305().len());
    assert_eq!(count("file "), vectors::chunked().len() - 2, "the two of 4 MiB are left out");
    assert_eq!(count("poly1305 "), vectors::poly1305().len());
    // 9 and 3 of AES-CTR, 14 and 2 of ChaCha20; 7 of Speck in big-endian order, and those of
    // Crypto++.
    assert_eq!([count("stream aes"), count("stream chacha20"), count("stream xchacha20")], [12, 14, 2]);
    let (blocks, streams) = (count("block "), count("stream speck"));
    let cbc = vectors::speck().iter().filter(|case| case.mode == vectors::SpeckMode::Cbc).count();
    assert_eq!(blocks + streams + cbc, vectors::speck().len());
    assert!(
        text == lines,
        "vectors/lines.txt differs from the published files: run `cargo run -p sealane-vectors --example lines`"
    );
}

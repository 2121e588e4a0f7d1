//! Published vectors against every entry and every native variant.

use kernels::aegis::{self, Aegis, Kind};
use kernels::aes::{self, Aes};
use kernels::cpu::Features;
use kernels::gcm::{self, Gcm};
use kernels::gcm_siv::{self, GcmSiv};
use kernels::variant::Variant;
use providers::{AeadKey, Algorithm, AuthenticationError, InOut, MessageError, SealError, entries, raw};
use std::collections::BTreeMap;
use vectors::{AeadCase, Outcome};

// claim: tested-vectors
#[test]
fn every_entry_reproduces_the_published_vectors() {
    let cases = vectors::aead();
    let mut not_applicable: BTreeMap<String, usize> = BTreeMap::new();
    let mut checked = 0;
    for case in &cases {
        let algorithm = Algorithm::from_name(&case.algorithm)
            .unwrap_or_else(|| panic!("{}: no algorithm is named {:?}", case.file, case.algorithm));
        if case.nonce.len() != algorithm.nonce_len() {
            let what = format!("{}: {} with nonces of {}", case.file, case.algorithm, case.nonce.len());
            *not_applicable.entry(what).or_default() += 1;
            continue;
        }
        let entries: Vec<_> = entries().filter(|entry| entry.algorithm == algorithm).collect();
        assert!(!entries.is_empty(), "{}: no entry", case.algorithm);
        for entry in entries {
            let name = format!("{} #{} with {}", case.file, case.id, entry.provider.name());
            assert_eq!(entry.available(), Ok(()), "{name}");
            check(case, &*entry.key(&case.key).unwrap(), &name);
            checked += 1;
        }
    }
    for (what, count) in &not_applicable {
        println!("not applicable: {count:3} of {what} bytes");
    }
    let skipped: usize = not_applicable.values().sum();
    println!(
        "{} cases: {} on all entries ({checked} checks), {skipped} not applicable",
        cases.len(),
        cases.len() - skipped
    );
    // Nonces of other lengths: 119 of GCM in Wycheproof and 6 in its specification (covered by the
    // next test), and 9 for each of the two ChaCha20-Poly1305 algorithms.
    assert_eq!(skipped, 119 + 6 + 9 + 9);
}

/// All vectors of AES-GCM, with the key for nonces of any length.
#[test]
fn aes_gcm_with_any_nonce_reproduces_the_published_vectors() {
    let mut cases = vectors::aead();
    cases.retain(|case| matches!(&*case.algorithm, "aes-128-gcm" | "aes-192-gcm" | "aes-256-gcm"));
    let others = cases.iter().filter(|case| case.nonce.len() != 12).count();
    assert_eq!((others, cases.len()), (119 + 6, 316 + 20 + 3));
    for case in &cases {
        let key = raw::gcm_any_nonce(&case.key).unwrap();
        check(case, &key, &format!("{} #{} with any nonce", case.file, case.id));
    }
}

#[test]
fn aes_gcm_rejects_an_empty_nonce() {
    let key = raw::gcm_any_nonce(&[7; 32]).unwrap();
    let (mut data, mut tag) = (*b"plaintext", [0; 16]);
    let sealed = key.seal(&[], b"", InOut::in_place(&mut data), &mut tag);
    assert_eq!(sealed, Err(MessageError::InvalidNonceLength { found: 0, expected: 12 }.into()));
    assert_eq!(&data, b"plaintext");
    assert_eq!(key.open(&[], b"", InOut::in_place(&mut data), &tag), Err(AuthenticationError));
    assert_eq!(data, [0; 9]);
}

fn check(case: &AeadCase, key: &dyn AeadKey, name: &str) {
    let mut data = case.ciphertext.clone();
    let tag = case.tag[..].try_into().expect("every published tag has 16 bytes");
    let opened = key.open(&case.nonce, &case.aad, InOut::in_place(&mut data), tag);
    match case.result {
        Outcome::Valid => {
            assert_eq!(opened, Ok(()), "{name}");
            assert!(data == case.plaintext, "{name}: wrong plaintext");
            let (mut sealed, mut made) = (vec![0; case.plaintext.len()], [0; 16]);
            key.seal(&case.nonce, &case.aad, InOut::apart(&case.plaintext, &mut sealed), &mut made).unwrap();
            assert!(sealed == case.ciphertext && made == case.tag[..], "{name}: seals to other bytes");
        }
        Outcome::Invalid => {
            assert_eq!(opened, Err(AuthenticationError), "{name}: opened");
            assert!(data.iter().all(|&byte| byte == 0), "{name}: the destination is not zero");
        }
    }
}

#[test]
fn every_variant_of_native_aes_reproduces_the_published_streams() {
    let features = providers::features().unwrap();
    let cases = vectors::aes_ctr();
    for row in aes::variants() {
        if let Err(missing) = row.check(features) {
            println!("not available: {} needs {missing}", row.name);
            continue;
        }
        for case in &cases {
            let aes = Aes::new(&case.key, features.intersection(row.needs)).unwrap();
            assert_eq!(aes.variant(), row.name);
            let mut data = vec![0; case.plaintext.len()];
            aes.xor_at(&case.iv, 0, InOut::apart(&case.plaintext, &mut data)).unwrap();
            assert!(data == case.ciphertext, "{} {} with {}", case.file, case.id, row.name);
        }
    }
}

/// All nonce lengths, on every variant that this machine can run.
#[test]
fn every_variant_of_native_aes_gcm_reproduces_the_published_vectors() {
    let gcm = |case: &AeadCase| matches!(&*case.algorithm, "aes-128-gcm" | "aes-192-gcm" | "aes-256-gcm");
    // Providers reject an empty nonce, the kernel accepts it.
    let rejected_by_providers = |case: &AeadCase| case.nonce.is_empty() && case.result == Outcome::Invalid;
    let mut cases = vectors::aead();
    cases.retain(|case| gcm(case) && !rejected_by_providers(case));
    assert!(cases.len() > 300);
    every_variant(gcm::variants(), &cases, |key, features| {
        let key = Gcm::new(key, features).unwrap();
        (key.variant(), Bare(key))
    });
}

#[test]
fn every_variant_of_native_aes_gcm_siv_reproduces_the_published_vectors() {
    let mut cases = vectors::aead();
    cases.retain(|case| matches!(&*case.algorithm, "aes-128-gcm-siv" | "aes-256-gcm-siv"));
    assert!(cases.len() >= 50);
    every_variant(gcm_siv::variants(), &cases, |key, features| {
        let key = GcmSiv::new(key, features).unwrap();
        (key.variant(), Bare(key))
    });
}

#[test]
fn every_variant_of_native_aegis_reproduces_the_published_vectors() {
    for (algorithm, kind) in [
        ("aegis-128l", Kind::Aegis128L),
        ("aegis-128x2", Kind::Aegis128X2),
        ("aegis-128x4", Kind::Aegis128X4),
        ("aegis-256", Kind::Aegis256),
        ("aegis-256x2", Kind::Aegis256X2),
        ("aegis-256x4", Kind::Aegis256X4),
    ] {
        let mut cases = vectors::aead();
        cases.retain(|case| case.algorithm == algorithm);
        assert!(cases.len() >= 2, "{algorithm}");
        every_variant(aegis::variants(), &cases, |key, features| {
            let key = Aegis::new(kind, key, features).unwrap();
            (key.variant(), Bare(key))
        });
    }
}

/// Checks every variant of a kernel.
fn every_variant<K>(
    table: impl Iterator<Item = Variant>,
    cases: &[AeadCase],
    key: impl Fn(&[u8], Features) -> (&'static str, Bare<K>),
) where
    Bare<K>: AeadKey,
{
    let features = providers::features().unwrap();
    for row in table {
        if let Err(missing) = row.check(features) {
            println!("not available: {} needs {missing}", row.name);
            continue;
        }
        for case in cases {
            let (variant, key) = key(&case.key, features.intersection(row.needs));
            assert_eq!(variant, row.name);
            check(case, &key, &format!("{} #{} with {}", case.file, case.id, row.name));
        }
    }
}

/// A key of a kernel, without the checks of the provider.
struct Bare<K>(K);

impl AeadKey for Bare<Gcm> {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> Result<(), SealError> {
        Ok(self.0.seal(nonce, aad, data, tag)?)
    }

    fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationError> {
        self.0.open(nonce, aad, data, tag).map_err(|_| AuthenticationError)
    }
}

impl AeadKey for Bare<GcmSiv> {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> Result<(), SealError> {
        Ok(self.0.seal(nonce.try_into().unwrap(), aad, data, tag)?)
    }

    fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationError> {
        self.0.open(nonce.try_into().unwrap(), aad, data, tag).map_err(|_| AuthenticationError)
    }
}

impl AeadKey for Bare<Aegis> {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> Result<(), SealError> {
        Ok(self.0.seal(nonce, aad, data, tag)?)
    }

    fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationError> {
        self.0.open(nonce, aad, data, tag).map_err(|_| AuthenticationError)
    }
}

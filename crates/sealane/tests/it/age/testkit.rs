//! The age testkit (C2SP/CCTV): each file has the outcome that its header announces.

use sealane::age::armor::{Decoder, View};
use sealane::age::{self, Armor, Identity};
use sealane::file::ReadAt;
use sealane::{Error, Misuse};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use vectors::{AgeCase, AgeOutcome};

/// Translates an error into the outcome that the testkit names.
fn outcome(error: &Error, armored: bool) -> AgeOutcome {
    match error {
        Error::NoMatchingKey | Error::WrongPassphrase | Error::PassphraseRequired => AgeOutcome::NoMatch,
        Error::Armor(_) => AgeOutcome::ArmorFailure,
        // The vector tells whether a file that is not recognized should be armored.
        Error::Format(_) if armored => AgeOutcome::ArmorFailure,
        Error::Format(_) | Error::Header(_) | Error::UnsupportedVersion(_) | Error::WorkFactor { .. } => {
            AgeOutcome::HeaderFailure
        }
        Error::DamagedChunk { .. } | Error::Truncated => AgeOutcome::PayloadFailure,
        other => panic!("{other:?}"),
    }
}

fn identities(case: &AgeCase) -> Vec<Identity> {
    let keys = case.identities.iter().map(|text| text.parse().unwrap());
    keys.chain(case.passphrases.iter().map(|text| Identity::passphrase(text))).collect()
}

/// Decodes PEM armor that is read in pieces of the given size.
fn decode(armored: &[u8], piece: usize) -> Result<Vec<u8>, Error> {
    let (mut decoder, mut binary) = (Decoder::new(), Vec::new());
    for piece in armored.chunks(piece) {
        decoder.push(piece, &mut binary)?;
    }
    decoder.finish(&mut binary)?;
    Ok(binary)
}

/// Decodes armor by random access, in reads of the given size.
fn view(armored: &[u8], piece: usize) -> Result<Vec<u8>, Error> {
    let view = View::new(armored)?;
    let mut binary = vec![0; view.size()? as usize];
    for (at, into) in binary.chunks_mut(piece).enumerate() {
        view.read_exact_at((at * piece) as u64, into)?;
    }
    Ok(binary)
}

// claim: age-errors, tested-age-testkit
#[test]
fn outcomes_of_all_files() {
    use AgeOutcome::{ArmorFailure, HeaderFailure, NoMatch, PayloadFailure, Success};
    let mut counts = BTreeMap::new();
    for case in vectors::age() {
        let found = match age::open(&case.age, &identities(&case)) {
            Ok(plaintext) => {
                assert_eq!(Some(Sha256::digest(&*plaintext).into()), case.payload, "{}", case.file);
                Success
            }
            // The header or the nonce is incomplete, so nothing was decrypted.
            Err(Error::Truncated) if case.payload.is_none() && !case.armored => HeaderFailure,
            Err(Error::Truncated) if case.payload.is_none() => ArmorFailure,
            Err(error) => outcome(&error, case.armored),
        };
        assert_eq!(found, case.expect, "{}: {}", case.file, case.comment);
        *counts.entry(found).or_insert(0) += 1;
    }
    let expected =
        [(ArmorFailure, 16), (HeaderFailure, 49), (NoMatch, 8), (PayloadFailure, 16), (Success, 18)];
    assert_eq!(counts, BTreeMap::from(expected));
}

#[test]
fn sequential_and_random_access_agree() {
    let mut armored = 0;
    for case in vectors::age().into_iter().filter(|case| case.armored) {
        armored += 1;
        let whole = decode(&case.age, usize::MAX);
        for piece in [1, 7, 64, 65, 1000] {
            let (pieces, anywhere) = (decode(&case.age, piece), view(&case.age, piece));
            for other in [&pieces, &anywhere] {
                assert_eq!(other.is_ok(), whole.is_ok(), "{}: {other:?} {whole:?}", case.file);
            }
            if let Ok(whole) = &whole {
                assert_eq!((whole, whole), (&pieces.unwrap(), &anywhere.unwrap()), "{}", case.file);
            }
        }
        assert_eq!(
            whole.is_err(),
            case.expect == AgeOutcome::ArmorFailure,
            "{}: {}",
            case.file,
            case.comment
        );
    }
    assert_eq!(armored, 25);
}

/// The four possible mistakes of a user have different errors.
// claim: age-errors
#[test]
fn mistakes_have_different_errors() {
    let cases = vectors::age();
    let case = |name: &str| cases.iter().find(|case| case.file.ends_with(name)).unwrap();
    let open = |name: &str| age::open(&case(name).age, &identities(case(name))).unwrap_err();
    assert!(matches!(open("/scrypt_no_match"), Error::WrongPassphrase));
    assert!(matches!(open("/x25519_no_match"), Error::NoMatchingKey));
    assert!(matches!(open("/version_unsupported"), Error::UnsupportedVersion(_)));
    assert!(matches!(open("/stanza_bad_start"), Error::Header(_)));
    assert!(matches!(open("/scrypt_work_factor_23"), Error::WorkFactor { requested: 23, max: 20 }));
    for foreign in [&b"PK\x03\x04 a zip archive"[..], b"-", b"a", b"{\"kty\":\"oct\"}"] {
        assert!(matches!(age::open(foreign, &[]), Err(Error::Format(_) | Error::Truncated)), "{foreign:?}");
    }
    assert!(matches!(age::open(b"", &[]), Err(Error::Truncated)));
    // A key instead of a passphrase, and a passphrase instead of a key.
    let (key, passphrase) = (identities(case("/x25519")), identities(case("/scrypt_no_match")));
    assert!(matches!(age::open(&case("/scrypt_no_match").age, &key), Err(Error::PassphraseRequired)));
    assert!(matches!(age::open(&case("/x25519").age, &passphrase), Err(Error::IdentityRequired)));
    assert!(matches!(age::open(&case("/x25519").age, &[]), Err(Error::NoMatchingKey)));
}

/// Each changed byte and each truncation of a file is an error, for binary and armored files.
#[test]
fn changes_and_truncations_are_detected() {
    let identity: Identity = vectors::age()[0].identities[0].parse().unwrap();
    let binary = age::seal(b"plaintext", &[identity.recipient()], Armor::Binary).unwrap();
    let armored = age::seal(b"plaintext", &[identity.recipient()], Armor::Ascii).unwrap();
    let identities = [identity];
    for file in [binary, armored.trim_ascii_end().to_vec()] {
        assert_eq!(*age::open(&file, &identities).unwrap(), b"plaintext");
        for len in 0..file.len() {
            assert!(age::open(&file[..len], &identities).is_err(), "{len} of {} bytes", file.len());
        }
        for at in 0..file.len() {
            for change in [1, 0x20, 0x80] {
                let mut changed = file.clone();
                changed[at] ^= change;
                let opened = age::open(&changed, &identities);
                assert!(opened.is_err(), "byte {at} ^ {change}: {}", String::from_utf8_lossy(&changed));
                assert!(!matches!(opened, Err(Error::Misuse(Misuse::Poisoned) | Error::LimitExceeded(_))));
            }
        }
    }
}

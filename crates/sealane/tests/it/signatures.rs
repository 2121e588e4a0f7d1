//! Signatures of `ssh-keygen` and minisign: their own, ours, damaged ones, and keys that are
//! refused.

use base64ct::{Base64, Encoding};
use sealane::interrupt::with_check;
use sealane::signature::{NAMESPACE, Rejection, Signers, SigningKey};
use sealane::{Error, Misuse};
use std::ops::ControlFlow;
use vectors::{SignatureCase, SignatureResult};

const NO_SECRET: &str = "expected an OpenSSH private key or a minisign secret key, found other content";
const NO_PUBLIC: &str =
    "expected public keys of SSH (ssh-ed25519 AAAA...) or a minisign public key, found other content";
const DAMAGED: &str = "expected a minisign secret key, found a damaged one";

fn format_error<T>(found: Result<T, Error>) -> &'static str {
    match found {
        Err(Error::Format(text)) => text,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("accepted"),
    }
}

fn misuse<T>(found: Result<T, Error>) -> Misuse {
    match found {
        Err(Error::Misuse(misuse)) => misuse,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("accepted"),
    }
}

fn case(id: &str) -> SignatureCase {
    vectors::signatures().into_iter().find(|case| case.id == id).unwrap()
}

/// An Ed25519 key of OpenSSH, without a passphrase.
fn ssh() -> SignatureCase {
    case("1")
}

fn minisign() -> SignatureCase {
    case("8")
}

fn key(case: &SignatureCase) -> SigningKey {
    SigningKey::parse(case.secret_key.as_bytes(), case.passphrase.as_deref()).unwrap()
}

fn signers(case: &SignatureCase) -> Signers {
    Signers::parse(case.public_key.as_bytes()).unwrap()
}

/// Changes the bytes in a PEM document.
fn changed_pem(pem: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let lines: Vec<_> = pem.lines().collect();
    let (first, last) = (lines[0], lines[lines.len() - 1]);
    let mut bytes = Base64::decode_vec(&lines[1..lines.len() - 1].concat()).unwrap();
    change(&mut bytes);
    let text = Base64::encode_string(&bytes);
    let body: Vec<_> = text.as_bytes().chunks(70).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("{first}\n{}\n{last}\n", body.join("\n"))
}

/// Changes the bytes in one line of a document, which is base64.
fn changed_line(text: &str, at: usize, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let mut bytes = Base64::decode_vec(&lines[at]).unwrap();
    change(&mut bytes);
    lines[at] = Base64::encode_string(&bytes);
    lines.join("\n") + "\n"
}

fn position(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).position(|found| found == wanted).unwrap()
}

/// Every signature of the two programs, and ours with their keys.
#[test]
fn signatures_of_the_programs() {
    let [ssh, minisign] = [ssh(), minisign()].map(|case| signers(&case));
    for case in vectors::signatures() {
        let (secret, public) = (case.secret_key.as_bytes(), case.public_key.as_bytes());
        if case.result == SignatureResult::OtherType {
            assert!(matches!(misuse(SigningKey::parse(secret, None)), Misuse::UnsuitableKey(_)));
            assert!(matches!(misuse(Signers::parse(public)), Misuse::UnsuitableKey(_)));
            assert_eq!(ssh.verify(&case.message, &case.signature), Err(Rejection::OtherSigner));
            continue;
        }
        let (key, all) = (key(&case), signers(&case));
        let is_valid = case.result == SignatureResult::Valid;
        let expected = if is_valid { Ok(()) } else { Err(Rejection::Invalid) };
        assert_eq!(all.verify(&case.message, &case.signature), expected, "{}", case.id);
        assert_eq!(Signers::from(&key).verify(&case.message, &case.signature), expected, "{}", case.id);
        assert_eq!(all.verify(b"other", &case.signature), Err(Rejection::Invalid), "{}", case.id);
        // The other kind of key, and another key of the same kind.
        let is_ssh = case.public_key.starts_with("ssh-");
        let other = if is_ssh { &minisign } else { &ssh };
        assert_eq!(other.verify(&case.message, &case.signature), Err(Rejection::OtherSigner));
        let others = vectors::signatures()
            .into_iter()
            .filter(|other| other.result == SignatureResult::Valid && other.public_key != case.public_key);
        for other in others {
            let found = signers(&other).verify(&case.message, &case.signature);
            assert_eq!(found, Err(Rejection::OtherSigner), "{} {}", case.id, other.id);
        }
        let ours = key.sign(b"message", "comment").unwrap();
        assert_eq!(all.verify(b"message", &ours), Ok(()));
        assert_eq!(all.verify(b"massage", &ours), Err(Rejection::Invalid));
        assert_eq!(ours.contains("\ntrusted comment: comment\n"), !is_ssh);
        assert_eq!(key.suffix(), if is_ssh { ".sig" } else { ".minisig" });
        assert!(Signers::SUFFIXES.contains(&key.suffix()));
        let name = if is_ssh { "SigningKey(SSH)" } else { "SigningKey(minisign)" };
        assert_eq!(format!("{key:?}"), name);
    }
}

/// The signed bytes do not contain these fields of the structure, so they are compared.
#[test]
fn fields_that_an_ssh_signature_does_not_cover() {
    let case = ssh();
    let all = signers(&case);
    let verify = |signature: &str| all.verify(&case.message, signature);
    let same = changed_pem(&case.signature, |_| ());
    assert_eq!(verify(&same), Ok(()));
    let other_namespace = changed_pem(&case.signature, |bytes| {
        let at = position(bytes, NAMESPACE.as_bytes());
        bytes[at] = b'S';
    });
    assert_eq!(verify(&other_namespace), Err(Rejection::Invalid));
    let reserved = changed_pem(&case.signature, |bytes| {
        let at = position(bytes, NAMESPACE.as_bytes()) + NAMESPACE.len();
        assert_eq!(bytes[at..at + 4], [0; 4]);
        bytes.splice(at..at + 4, *b"\0\0\0\x01x");
    });
    assert_eq!(verify(&reserved), Err(Rejection::Invalid));
    // A name that is no other one of the standard: those need an at sign.
    let algorithm = changed_pem(&case.signature, |bytes| {
        let at = bytes.windows(4).rposition(|found| found == b"ssh-").unwrap();
        bytes[at + 2] = b'@';
    });
    assert_eq!(verify(&algorithm), Err(Rejection::Invalid));
    let later = changed_pem(&case.signature, |bytes| bytes[9] = 2);
    assert_eq!(verify(&later), Err(Rejection::Malformed));
}

#[test]
fn damaged_signatures() {
    for case in [ssh(), minisign()] {
        let all = signers(&case);
        let text = &case.signature;
        let verify = |signature: &str| all.verify(&case.message, signature);
        assert_eq!(verify(&format!(" \n{text}")).is_ok(), text.starts_with('-'));
        for len in 0..text.trim_end().len() {
            let found = verify(&text[..len]);
            assert!(matches!(found, Err(Rejection::Malformed | Rejection::Invalid)), "{len}: {found:?}");
        }
        for signature in ["", "\n", "x", "-----BEGIN SSH SIGNATURE-----", "untrusted comment: \n"] {
            assert_eq!(verify(signature), Err(Rejection::Malformed), "{signature:?}");
        }
        // A change of any byte, but in what is a comment to minisign.
        let is_ssh = text.starts_with('-');
        let begin = if is_ssh { 0 } else { text.find('\n').unwrap() };
        let is_accepted = |at: &usize| {
            let mut bytes = text.clone().into_bytes();
            bytes[*at] = if bytes[*at] == b'A' { b'B' } else { b'A' };
            verify(std::str::from_utf8(&bytes).unwrap()).is_ok()
        };
        let accepted: Vec<_> = (begin..text.trim_end().len()).filter(is_accepted).collect();
        // Version 0 of the structure of SSH is read like version 1.
        assert_eq!(accepted, if is_ssh { &[43][..] } else { &[] });
    }
    // The signature of the trusted comment has 64 bytes.
    let case = minisign();
    for len in [0, 3, 31, 32, 63, 65, 66, 100] {
        let changed = changed_line(&case.signature, 3, |bytes| bytes.resize(len, 0));
        assert_eq!(signers(&case).verify(&case.message, &changed), Err(Rejection::Malformed), "{len}");
    }
    for len in [0, 10, 73, 75, 100] {
        let changed = changed_line(&case.signature, 1, |bytes| bytes.resize(len, 0));
        assert_eq!(signers(&case).verify(&case.message, &changed), Err(Rejection::Malformed), "{len}");
    }
    let case = ssh();
    let found = signers(&case).verify(&case.message, &format!("{}x\n", case.signature));
    assert_eq!(found, Err(Rejection::Malformed));
    let twice = format!("{0}{0}", case.signature);
    assert_eq!(signers(&case).verify(&case.message, &twice), Err(Rejection::Malformed));
}

#[test]
fn passphrases() {
    let of_ed25519 = |case: &SignatureCase| case.result != SignatureResult::OtherType;
    for case in vectors::signatures().into_iter().filter(of_ed25519) {
        let content = case.secret_key.as_bytes();
        match case.passphrase {
            None => {
                assert!(matches!(misuse(SigningKey::parse(content, Some("any"))), Misuse::KeyNotEncrypted));
            }
            Some(_) => {
                assert!(matches!(misuse(SigningKey::parse(content, None)), Misuse::KeyPassphraseRequired));
                let found = SigningKey::parse(content, Some("other"));
                assert!(matches!(found, Err(Error::WrongPassphrase)), "{found:?}");
            }
        }
    }
}

/// More than 1,024 rounds of bcrypt are refused before they are computed.
#[test]
fn the_rounds_of_a_passphrase_are_limited() {
    let case = case("4");
    for (rounds, is_refused) in [(1024_u32, false), (1025, true), (u32::MAX, true)] {
        let key = changed_pem(&case.secret_key, |bytes| {
            // The salt of 16 bytes and the rounds.
            let at = position(bytes, b"bcrypt") + 6 + 4 + 4 + 16;
            assert_eq!(bytes[at..at + 4], 16_u32.to_be_bytes());
            bytes[at..at + 4].copy_from_slice(&rounds.to_be_bytes());
        });
        let parse = || SigningKey::parse(key.as_bytes(), case.passphrase.as_deref());
        match with_check(|| ControlFlow::Break(()), parse) {
            Err(Error::LimitExceeded(text)) => assert!(is_refused && text.contains("1024"), "{rounds}"),
            Err(Error::Cancelled) => assert!(!is_refused, "{rounds}"),
            other => panic!("{rounds}: {other:?}"),
        }
    }
}

#[test]
fn content_that_is_no_secret_key() {
    let line = |bytes: &[u8]| format!("a comment\n{}\n", Base64::encode_string(bytes));
    let other = [&b"Xd"[..], &[0; 156]].concat();
    let contents = [
        String::new(),
        "one line".into(),
        line(b""),
        line(b"Ed"),
        line(&[&b"Ed"[..], &[1; 155]].concat()),
        line(&[&b"Ed"[..], &[1; 157]].concat()),
        line(&other),
        line(&[&b"Xd"[..], &[1; 156]].concat()),
        "a comment\n*\n".into(),
        ssh().public_key,
        minisign().public_key,
    ];
    for content in contents {
        for passphrase in [None, Some("any")] {
            assert_eq!(
                format_error(SigningKey::parse(content.as_bytes(), passphrase)),
                NO_SECRET,
                "{content}"
            );
        }
    }
    assert_eq!(format_error(SigningKey::parse(b"\xff", None)), NO_SECRET);
    let cut = &ssh().secret_key[..200];
    assert!(matches!(SigningKey::parse(cut.as_bytes(), None), Err(Error::Truncated)));
}

/// Signatures by a key whose halves do not belong together reveal it, so none is returned.
#[test]
fn damaged_secret_keys() {
    let case = minisign();
    // The algorithms have 6 bytes, salt and limits 48, the number of the key 8, and the checksum is
    // after the key.
    for at in [62, 93, 94, 125] {
        let damaged = changed_line(&case.secret_key, 1, |bytes| bytes[at] ^= 1);
        let key = SigningKey::parse(damaged.as_bytes(), None);
        assert_eq!(format_error(key.and_then(|key| key.sign(b"message", "comment"))), DAMAGED, "{at}");
    }
    let case = ssh();
    let damaged = changed_pem(&case.secret_key, |bytes| {
        let at = bytes.len() - 60;
        bytes[at] ^= 1;
    });
    assert_eq!(
        format_error(SigningKey::parse(damaged.as_bytes(), None)),
        "expected an OpenSSH private key of type ssh-ed25519 or ssh-rsa, found a damaged one"
    );
}

#[test]
fn public_keys() {
    let [first, second, mini] = [ssh(), case("4"), minisign()];
    let several = format!("# comment\n\n{}\n  {}\n#\n", first.public_key, second.public_key);
    let all = Signers::parse(several.as_bytes()).unwrap();
    for case in [&first, &second] {
        assert_eq!(all.verify(&case.message, &case.signature), Ok(()));
    }
    assert_eq!(all.verify(&mini.message, &mini.signature), Err(Rejection::OtherSigner));
    // The line without the comment, and line breaks of other systems.
    let line = mini.public_key.lines().nth(1).unwrap();
    for text in [line.to_owned(), format!("\n {line}\r\n"), mini.public_key.replace('\n', "\r\n")] {
        let all = Signers::parse(text.as_bytes()).unwrap();
        assert_eq!(all.verify(&mini.message, &mini.signature), Ok(()));
    }
    let bytes = Base64::decode_vec(line).unwrap();
    let encoded = |bytes: &[u8]| Base64::encode_string(bytes);
    for text in [
        String::new(),
        "# comment\n".into(),
        "other".into(),
        format!("{}x", first.public_key.replace("ssh-", "xxx-")),
        format!("{several}other\n"),
        encoded(&bytes[..41]),
        encoded(&[&bytes[..], b"x"].concat()),
        encoded(&[b"ED", &bytes[2..]].concat()),
        encoded(&[b"Ex", &bytes[2..]].concat()),
        encoded(b"Ed"),
    ] {
        assert_eq!(format_error(Signers::parse(text.as_bytes())), NO_PUBLIC, "{text}");
    }
    assert_eq!(format_error(Signers::parse(b"\xff")), NO_PUBLIC);
    let cut = &first.public_key[..40];
    assert_eq!(
        format_error(Signers::parse(cut.as_bytes())),
        "expected an SSH public key of type ssh-ed25519 or ssh-rsa, found a damaged one"
    );
    // Keys of other types, of which those in hardware need a device.
    let string = |text: &[u8]| [&(text.len() as u32).to_be_bytes(), text].concat();
    let name = "sk-ssh-ed25519@openssh.com";
    let hardware = [string(name.as_bytes()), string(&[7; 32]), string(b"ssh:")].concat();
    for text in [format!("{name} {}", encoded(&hardware)), case("6").public_key, case("7").public_key] {
        assert!(matches!(misuse(Signers::parse(text.as_bytes())), Misuse::UnsuitableKey(_)), "{text}");
    }
}

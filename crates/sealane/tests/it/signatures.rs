//! Signatures of `ssh-keygen` and minisign: their own, ours, damaged ones, and keys that are
//! refused.

use base64ct::{Base64, Encoding};
use sealane::interrupt::with_check;
use sealane::signature::{
    FILE_NAMESPACE, MAX_SIGNATURE_LEN, NAMESPACE, Rejection, Signers, Signing, SigningKey, Verified,
    Verifying,
};
use sealane::{Error, Misuse};
use std::ops::ControlFlow;
use std::time::{Duration, UNIX_EPOCH};
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
        // The invalid ones have another namespace, or their message was not hashed first.
        let is_ssh = case.public_key.starts_with("ssh-");
        let refused = if is_ssh { Rejection::OtherNamespace } else { Rejection::NotPrehashed };
        let expected = if is_valid { Ok(()) } else { Err(refused) };
        assert_eq!(all.verify(&case.message, &case.signature), expected, "{}", case.id);
        assert_eq!(Signers::from(&key).verify(&case.message, &case.signature), expected, "{}", case.id);
        let changed = if is_valid || is_ssh { Rejection::Invalid } else { refused };
        assert_eq!(all.verify(b"other", &case.signature), Err(changed), "{}", case.id);
        // The other kind of key, and another key of the same kind.
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

fn sign(key: &SigningKey, message: &[u8], namespace: &str, comment: Option<&str>) -> Result<String, Error> {
    let mut signing = Signing::new(key, namespace, comment)?;
    signing.update(message);
    signing.finish()
}

/// Verifies the signature of "message" with the namespace "file".
fn verify(signers: &str, signature: &str) -> Result<Verified, Error> {
    verify_with(signers, signature, |verifying| verifying)
}

fn verify_with(
    signers: &str,
    signature: &str,
    change: impl FnOnce(Verifying) -> Verifying,
) -> Result<Verified, Error> {
    let signers = Signers::parse(signers.as_bytes())?;
    let mut verifying = change(Verifying::new(signature.as_bytes(), &signers, FILE_NAMESPACE)?);
    verifying.update(b"message");
    verifying.finish()
}

fn rejection(found: Result<Verified, Error>) -> Rejection {
    match found {
        Err(Error::Signature(rejection)) => rejection,
        other => panic!("{other:?}"),
    }
}

// claim: signature-stream
#[test]
fn a_message_in_pieces_of_any_length() {
    let message: Vec<u8> = (0..70_000_u32).map(|at| (at % 251) as u8).collect();
    for case in [ssh(), minisign()] {
        let (key, all) = (key(&case), signers(&case));
        let whole = sign(&key, &message, FILE_NAMESPACE, None).unwrap();
        for len in [1, 63, 64, 65, 4096, 65_536, 69_999] {
            let mut signing = Signing::new(&key, FILE_NAMESPACE, None).unwrap();
            let mut verifying = Verifying::new(whole.as_bytes(), &all, FILE_NAMESPACE).unwrap();
            for piece in message.chunks(len) {
                std::io::copy(&mut &*piece, &mut signing).unwrap();
                std::io::copy(&mut &*piece, &mut verifying).unwrap();
                verifying.update(b"");
            }
            let ours = signing.finish().unwrap();
            assert_eq!(ours == whole, ours.starts_with('-') || ours.lines().nth(2) == whole.lines().nth(2));
            verifying.finish().unwrap();
        }
        let mut changed = message.clone();
        for at in [0, 1, 35_000, 69_999] {
            changed[at] ^= 1;
            let mut verifying = Verifying::new(whole.as_bytes(), &all, FILE_NAMESPACE).unwrap();
            verifying.update(&changed);
            assert_eq!(rejection(verifying.finish()), Rejection::Invalid, "{at}");
            changed[at] ^= 1;
        }
        assert_eq!(format!("{:?}", Signing::new(&key, "file", None).unwrap()), "Signing { .. }");
    }
}

// claim: signature-signer
#[test]
fn allowed_signers() {
    let (case, other) = (ssh(), case("4"));
    let (line, second) = (case.public_key.trim(), other.public_key.trim());
    let signature = sign(&key(&case), b"message", FILE_NAMESPACE, None).unwrap();
    let fingerprint = verify(line, &signature).unwrap().signer;
    assert!(fingerprint.starts_with("SHA256:") && fingerprint.len() == 50, "{fingerprint}");
    let rsa = self::case("6").public_key;
    for (signers, principals) in [
        (format!("me@example.com {line}"), "me@example.com"),
        (format!("  me@example.com\t {line}\r\n"), "me@example.com"),
        (format!("\"a b\" {line}"), "a b"),
        (format!("\u{feff}# signers\nme {line}"), "me"),
        (format!("# us\n\nyou {second}\nme {line}\n"), "me"),
        (format!("me namespaces=\"git,file\" {line}"), "me"),
        (format!("me Namespaces=\"f*\",valid-after=\"20000101\" {line}"), "me"),
        (format!("me valid-before=\"99991231Z\",valid-after=\"200001010000\" {line}"), "me"),
        // Keys that cannot sign are no reason to refuse the others.
        (format!("you {rsa}\nme {line}"), "me"),
        (format!("you cert-authority {second}\nme {line}"), "me"),
        // One line that accepts it is enough.
        (format!("old valid-before=\"20010101\" {line}\nme {line}"), "me"),
        (format!("me {line}\nold valid-before=\"20010101\" {line}"), "me"),
    ] {
        assert_eq!(verify(&signers, &signature).unwrap().signer, principals, "{signers}");
    }
    for (signers, expected) in [
        (format!("me {second}"), Rejection::OtherSigner),
        (format!("me namespaces=\"git\" {line}"), Rejection::NamespaceNotAllowed),
        (format!("me namespaces=\"*,!file\" {line}"), Rejection::NamespaceNotAllowed),
        (format!("me valid-before=\"20200101Z\" {line}"), Rejection::Expired),
        (format!("me valid-after=\"99990101Z\" {line}"), Rejection::NotYetValid),
        // An authority signs certificates, not messages.
        (format!("me cert-authority {line}\nyou {second}"), Rejection::OtherSigner),
    ] {
        assert_eq!(rejection(verify(&signers, &signature)), expected, "{signers}");
    }
    for text in [format!("you {rsa}"), format!("me cert-authority {line}\nyou {rsa}")] {
        match misuse(Signers::parse(text.as_bytes())) {
            Misuse::UnsuitableKey(why) => assert!(why.contains("certificate authorities"), "{why}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    for options in [
        "unknown",
        "unknown=\"x\"",
        "namespaces",
        "namespaces=",
        "namespaces=file",
        "namespaces=\"\"",
        "namespaces=\"a\\\\b\"",
        "namespaces=\"a\",namespaces=\"b\"",
        ",",
        "namespaces=\"file\",",
        "cert-authority=",
        "cert-authority=\"x\"",
        "cert-authority,cert-authority",
        "valid-before=\"2020\"",
        "valid-before=\"20201301\"",
        "valid-after=20200101",
        "valid-after=\"20200101\",valid-after=\"20200101\"",
    ] {
        let found = format_error(Signers::parse(format!("me {options} {line}").as_bytes()));
        assert!(found.starts_with("expected options of an allowed signer"), "{options}: {found}");
    }
    for text in [
        "me",
        "me ",
        "\"me",
        "me namespaces=\"x",
        &format!("me namespaces=\"a\\\"b\" {line}"),
        &format!("me\0 {line}"),
    ] {
        assert_eq!(format_error(Signers::parse(text.as_bytes())), NO_PUBLIC, "{text}");
    }
    assert!(format_error(Signers::parse(format!("\u{feff}me {line}").as_bytes())).contains("order mark"));
}

// claim: signature-signer
#[test]
fn the_time_of_a_signature() {
    let case = ssh();
    let line = case.public_key.trim();
    let signature = sign(&key(&case), b"message", FILE_NAMESPACE, None).unwrap();
    let day = 86_400 * (365 * 57 + 14);
    for (option, at, expected) in [
        ("valid-before=\"20270101Z\"", day, None),
        ("valid-before=\"20270101Z\"", day + 1, Some(Rejection::Expired)),
        ("valid-after=\"20270101Z\"", day, None),
        ("valid-after=\"20270101Z\"", day - 1, Some(Rejection::NotYetValid)),
        // In every time zone, from UTC+14 to UTC-12.
        ("valid-before=\"20270101\"", day - 14 * 3600, None),
        ("valid-before=\"20270101\"", day - 14 * 3600 + 1, Some(Rejection::Expired)),
        ("valid-after=\"20270101\"", day + 12 * 3600, None),
        ("valid-after=\"20270101\"", day + 12 * 3600 - 1, Some(Rejection::NotYetValid)),
    ] {
        let time = UNIX_EPOCH + Duration::from_secs(at);
        let found = verify_with(&format!("me {option} {line}"), &signature, |verifying| verifying.at(time));
        assert_eq!(
            found.map_or_else(|error| Some(rejection(Err(error))), |_| None),
            expected,
            "{option} {at}"
        );
    }
    // Before 1970, and as late as possible.
    let early = verify_with(&format!("me valid-after=\"19700101Z\" {line}"), &signature, |verifying| {
        verifying.at(UNIX_EPOCH - Duration::from_secs(1))
    });
    assert_eq!(rejection(early), Rejection::NotYetValid);
}

// claim: signature-signer
#[test]
fn revoked_keys() {
    for (case, other) in [(ssh(), case("4")), (minisign(), ssh())] {
        let signature = sign(&key(&case), b"message", FILE_NAMESPACE, None).unwrap();
        let with = |revoked: &str| {
            let revoked = Signers::parse_revoked(revoked.as_bytes()).unwrap();
            verify_with(&case.public_key, &signature, |verifying| verifying.revoked(&revoked))
        };
        assert_eq!(rejection(with(&case.public_key)), Rejection::Revoked);
        for revoked in ["", "# none\n", &other.public_key, &self::case("6").public_key] {
            assert!(with(revoked).is_ok(), "{revoked}");
        }
        // Only a valid signature is known to be by the revoked key.
        let revoked = Signers::parse_revoked(case.public_key.as_bytes()).unwrap();
        let all = signers(&case);
        let mut verifying = Verifying::new(signature.as_bytes(), &all, "file").unwrap().revoked(&revoked);
        verifying.update(b"massage");
        assert_eq!(rejection(verifying.finish()), Rejection::Invalid);
    }
    // A revoked key is revoked whatever else its line says.
    let signature = sign(&key(&ssh()), b"message", FILE_NAMESPACE, None).unwrap();
    let revoked = format!("me cert-authority,namespaces=\"git\" {}", ssh().public_key);
    let revoked = Signers::parse_revoked(revoked.as_bytes()).unwrap();
    let found = verify_with(&ssh().public_key, &signature, |verifying| verifying.revoked(&revoked));
    assert_eq!(rejection(found), Rejection::Revoked);
    for content in ["SSHKRL\n\0\u{1}", "other", "serial: 1"] {
        let found = format_error(Signers::parse_revoked(content.as_bytes()));
        assert!(found.starts_with("expected a list of revoked public keys"), "{content}");
    }
}

/// The error names a private key that is given in the place of a public one.
#[test]
fn a_private_key_is_no_public_key() {
    let pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQA=\n-----END PRIVATE KEY-----\n";
    for secret in [ssh().secret_key.as_str(), &minisign().secret_key, pem, "AGE-SECRET-KEY-1QQQ"] {
        for found in [Signers::parse(secret.as_bytes()), Signers::parse_revoked(secret.as_bytes())] {
            assert!(misuse(found).to_string().contains("found a private key"), "{}", &secret[..19]);
        }
    }
}

// claim: signature-signer
#[test]
fn namespaces_and_comments() {
    let (ssh_case, mini_case) = (ssh(), minisign());
    let (ssh, mini) = (key(&ssh_case), key(&mini_case));
    assert_eq!((ssh.format(), mini.format()), ("ssh", "minisign"));
    let git = sign(&ssh, b"message", "git", None).unwrap();
    assert_eq!(rejection(verify(&ssh_case.public_key, &git)), Rejection::OtherNamespace);
    for comment in ["", " with blanks ", "a\tb", "ü", &"x".repeat(8000)] {
        let signature = sign(&mini, b"message", FILE_NAMESPACE, Some(comment)).unwrap();
        let found = verify(&mini_case.public_key, &signature).unwrap();
        assert_eq!(found.comment, comment);
        assert!(u64::from_str_radix(&found.signer, 16).is_ok(), "{found:?}");
    }
    let signature = sign(&mini, b"message", FILE_NAMESPACE, None).unwrap();
    let comment = verify(&mini_case.public_key, &signature).unwrap().comment;
    assert!(comment.starts_with("timestamp:") && comment.ends_with("\thashed"), "{comment}");
    for (key, namespace, comment) in [
        (&ssh, "", None),
        (&ssh, "file", Some("comment")),
        (&mini, "git", None),
        (&mini, "", None),
        (&mini, "file", Some("two\nlines")),
        (&mini, "file", Some("\r")),
        (&mini, "file", Some("\u{1b}[2J")),
        (&mini, "file", Some(&*"x".repeat(8001))),
    ] {
        let found = misuse(Signing::new(key, namespace, comment));
        assert!(matches!(found, Misuse::SignatureOption(_)), "{namespace} {comment:?}: {found:?}");
    }
    for (case, signature, namespace) in [(&ssh_case, &git, ""), (&mini_case, &signature, "git")] {
        let found = Verifying::new(signature.as_bytes(), &signers(case), namespace);
        assert!(matches!(misuse(found), Misuse::SignatureOption(_)), "{namespace}");
    }
}

/// Content that is no signature is another error than a signature that does not match.
// claim: signature-error
#[test]
fn content_that_is_no_signature() {
    let all = signers(&ssh());
    let long = [ssh().signature.as_bytes(), &vec![b'\n'; MAX_SIGNATURE_LEN]].concat();
    for content in
        [&b""[..], b"\xff\xfe", b"message", &long, &vec![b'x'; 1 << 20], b"-----BEGIN SSH SIGNATURE-----"]
    {
        match Verifying::new(content, &all, FILE_NAMESPACE) {
            Err(error @ Error::Signature(Rejection::Malformed)) => {
                assert_eq!(error.kind(), sealane::error::Kind::Format);
            }
            other => panic!("{other:?}"),
        }
    }
}

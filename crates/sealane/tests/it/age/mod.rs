//! Tests of age files: all recipient types, files of other implementations, and errors.
//!
//! The folder `age/` has keys of ssh-keygen (OpenSSH 9.2) and a file that the program age 1.1.1
//! encrypted for them.

mod limits;
mod recipients;
mod testkit;

use proptest::prelude::*;
use sealane::age::armor::{Decoder, Encoder, View};
use sealane::age::{self, Armor, Header, Identity, Kind, Parsed, Recipient};
use sealane::file::ReadAt;
use sealane::{Error, Misuse};
use sha2::{Digest, Sha256};
use std::io::Write;

const ED25519: &str = include_str!("ed25519");
const ED25519_PUB: &str = include_str!("ed25519.pub");
const ED25519_PROTECTED: &str = include_str!("ed25519_protected");
const RSA2048: &str = include_str!("rsa2048");
const RSA2048_PUB: &str = include_str!("rsa2048.pub");
const RSA3072_PROTECTED: &str = include_str!("rsa3072_protected");
/// Example of c2sp.org/age, "The X25519 recipient type".
const SPEC: &str = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";
const SPEC_RECIPIENT: &str = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj";
/// Example of c2sp.org/age, "The MLKEM768-X25519 (i.e. X-Wing) hybrid post-quantum recipient type".
const SPEC_HYBRID: &str = "AGE-SECRET-KEY-PQ-1XX76JRALNLXDMEW0CRK45QMCCH4X06SE84UN3VPM33W6HWDX0H3SK3ZQFR";
const SPEC_HYBRID_RECIPIENT_SHA256: &str = "a091dd7e0ee9d62b75173dcc98441a0424baa941e66a8776e570a4ae60ff61ea";

/// Returns an identity of each type that has a key.
fn all_identities() -> Vec<Identity> {
    vec![
        Identity::generate(Kind::X25519).unwrap(),
        Identity::generate(Kind::Hybrid).unwrap(),
        ED25519.parse().unwrap(),
        RSA2048.parse().unwrap(),
        Identity::from_ssh(ED25519_PROTECTED, Some("open sesame")).unwrap(),
        Identity::from_ssh(RSA3072_PROTECTED, Some("open sesame")).unwrap(),
    ]
}

#[test]
fn post_quantum_recipients() {
    let is: Vec<_> = all_identities().iter().map(|key| key.recipient().is_post_quantum()).collect();
    assert_eq!(is, [false, true, false, false, false, false]);
    assert!(Identity::passphrase("a").recipient().is_post_quantum());
}

#[test]
fn examples_of_the_specification() {
    let identity: Identity = SPEC.parse().unwrap();
    assert_eq!(identity.recipient().to_string(), SPEC_RECIPIENT);
    assert_eq!(*identity.to_text().unwrap(), SPEC);
    let hybrid: Identity = SPEC_HYBRID.parse().unwrap();
    let recipient = hybrid.recipient().to_string();
    assert_eq!(recipient.len(), 1959);
    assert_eq!(hex::encode(Sha256::digest(&recipient)), SPEC_HYBRID_RECIPIENT_SHA256);
    assert_eq!(recipient.parse::<Recipient>().unwrap().to_string(), recipient);
    assert_eq!(*hybrid.to_text().unwrap(), SPEC_HYBRID);
    assert_eq!(identity.recipient().to_string().parse::<Recipient>().unwrap().to_string(), SPEC_RECIPIENT);
}

#[test]
fn each_identity_decrypts_its_own_files_only() {
    let everybody = all_identities();
    for (at, identity) in everybody.iter().enumerate() {
        let text = identity.recipient().to_string();
        let recipient: Recipient = text.parse().unwrap();
        assert_eq!(recipient.to_string(), text);
        for armor in [Armor::Binary, Armor::Ascii] {
            let file = age::seal(b"hello", std::slice::from_ref(&recipient), armor).unwrap();
            assert_eq!(*age::open(&file, std::slice::from_ref(identity)).unwrap(), b"hello", "{text}");
            let mut others = everybody.clone();
            assert_eq!(*age::open(&file, &others).unwrap(), b"hello");
            others.remove(at);
            assert!(matches!(age::open(&file, &others), Err(Error::NoMatchingKey)), "{text}");
        }
    }
}

#[test]
fn each_of_several_recipients_decrypts_the_file() {
    let mut everybody = all_identities();
    let hybrids = [everybody.remove(1), Identity::generate(Kind::Hybrid).unwrap()];
    for group in [&everybody[..], &hybrids] {
        let recipients: Vec<_> = group.iter().map(Identity::recipient).collect();
        let file = age::seal(b"hello", &recipients, Armor::Binary).unwrap();
        for identity in group {
            assert_eq!(*age::open(&file, std::slice::from_ref(identity)).unwrap(), b"hello");
        }
        let (header, _) = Header::parse_whole(&file).unwrap();
        assert_eq!(header.stanzas().len(), group.len());
        assert!(!header.has_passphrase());
    }
}

#[test]
fn decrypts_a_file_of_the_program_age() {
    let file = include_bytes!("everybody.age");
    let mut identities = all_identities().split_off(2);
    identities.push(SPEC.parse().unwrap());
    for identity in identities {
        assert_eq!(*age::open(file, &[identity]).unwrap(), b"a file for everybody\n");
    }
}

// claim: age-limits
#[test]
fn passphrases() {
    let recipient = Recipient::passphrase_with_work_factor("correct horse", 10).unwrap();
    let file = age::seal(b"hello", &[recipient], Armor::Binary).unwrap();
    let (right, wrong) = (Identity::passphrase("correct horse"), Identity::passphrase("battery staple"));
    assert_eq!(*age::open(&file, &[wrong.clone(), right.clone()]).unwrap(), b"hello");
    assert!(matches!(age::open(&file, std::slice::from_ref(&wrong)), Err(Error::WrongPassphrase)));
    let careful = Identity::passphrase_with_max_work_factor("correct horse", 10);
    assert_eq!(*age::open(&file, &[careful]).unwrap(), b"hello");
    let careful = Identity::passphrase_with_max_work_factor("correct horse", 9);
    assert!(matches!(
        age::open(&file, std::slice::from_ref(&careful)),
        Err(Error::WorkFactor { requested: 10, max: 9 })
    ));
    assert!(Header::parse_whole(&file).unwrap().0.has_passphrase());
    // Two are equal if their passphrases are, whatever their work factors.
    assert!(right == careful && right != wrong && right.recipient() != wrong.recipient());
    assert!(matches!(right.to_text(), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));

    let refused = |text, work| Recipient::passphrase_with_work_factor(text, work).unwrap_err();
    assert!(matches!(refused("", 10), Error::Misuse(Misuse::InvalidRecipients(_))));
    assert!(matches!(refused("a", 0), Error::Misuse(Misuse::InvalidRecipients(_))));
    assert!(matches!(refused("a", 23), Error::WorkFactor { requested: 23, max: 22 }));
    let empty = Identity::passphrase("").recipient();
    assert!(matches!(
        age::seal(b"", &[empty], Armor::Binary),
        Err(Error::Misuse(Misuse::InvalidRecipients(_)))
    ));
}

#[test]
fn rejects_recipients_that_cannot_be_combined() {
    let [x25519, hybrid] =
        [Kind::X25519, Kind::Hybrid].map(|kind| Identity::generate(kind).unwrap().recipient());
    let passphrase = Recipient::passphrase_with_work_factor("a", 1).unwrap();
    let ssh: Recipient = ED25519_PUB.parse().unwrap();
    for together in [
        vec![],
        vec![passphrase.clone(), passphrase.clone()],
        vec![passphrase, x25519.clone()],
        vec![hybrid.clone(), x25519],
        vec![ssh, hybrid],
    ] {
        let refused = age::seal(b"", &together, Armor::Binary);
        assert!(matches!(refused, Err(Error::Misuse(Misuse::InvalidRecipients(_)))), "{together:?}");
    }
}

#[test]
fn rejected_ssh_keys_have_reasons() {
    let open = |text: &str, passphrase| Identity::from_ssh(text, passphrase).unwrap_err();
    assert!(matches!(open(ED25519_PROTECTED, None), Error::Misuse(Misuse::KeyPassphraseRequired)));
    for protected in [ED25519_PROTECTED, RSA3072_PROTECTED] {
        assert!(matches!(open(protected, Some("sesame open")), Error::WrongPassphrase));
    }
    assert!(matches!(open(include_str!("slow"), Some("open sesame")), Error::LimitExceeded(_)));
    assert!(matches!(open(include_str!("ecdsa"), None), Error::Format(_)));
    let pem = open(include_str!("pem"), None).to_string();
    assert!(pem.contains("ssh-keygen -p"), "{pem}");
    assert!(matches!(open(include_str!("rsa1024"), None), Error::Misuse(Misuse::UnsuitableKey(_))));
    let recipient = |text: &str| text.parse::<Recipient>().unwrap_err();
    assert!(matches!(recipient(include_str!("rsa1024.pub")), Error::Misuse(Misuse::UnsuitableKey(_))));
    assert!(matches!(recipient("ssh-ed25519 AAAA"), Error::Format(_)));
    assert!(matches!(recipient(&ED25519_PUB.replacen("ssh-ed25519", "ssh-rsa", 1)), Error::Format(_)));
    assert!(matches!(open(ED25519, Some("unneeded")), Error::Misuse(Misuse::KeyNotEncrypted)));
    // A comment and the kind of line ends are ignored.
    assert!(ED25519.replace('\n', "\r\n").parse::<Identity>().is_ok());
    let bare: Vec<_> = RSA2048_PUB.split(' ').take(2).collect();
    assert_eq!(RSA2048_PUB.parse::<Recipient>().unwrap().to_string(), bare.join(" "));
    // No change of a private key causes a panic.
    for at in 40..ED25519.len() - 40 {
        let mut changed = ED25519.as_bytes().to_vec();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let _ = Identity::from_ssh(std::str::from_utf8(&changed).unwrap(), None);
    }
}

#[test]
fn rejects_other_text_as_recipient_or_identity() {
    let recipient = |text: &str| text.parse::<Recipient>().unwrap_err().to_string();
    let identity = |text: &str| text.parse::<Identity>().unwrap_err().to_string();
    assert!(
        recipient(SPEC).contains("found an identity (AGE-SECRET-KEY-... or AGE-PLUGIN-...), which is secret")
    );
    assert!(!recipient(SPEC).contains(SPEC));
    assert!(identity(SPEC_RECIPIENT).contains("found a recipient (age1...), which cannot decrypt"));
    // A recipient of a key in hardware, from the specification.
    let tagged = "age1tag1qt8lw0ual6avlwmwatk888yqnmdamm7xfd0wak53ut6elz5c4swx2yqdj4e";
    assert_eq!(tagged.parse::<Recipient>().unwrap().to_string(), tagged);
    assert!(identity(tagged).contains("found a recipient (age1...), which cannot decrypt"));
    assert!(identity("ssh-ed25519 AAAA").contains("found a public key, which cannot decrypt"));
    assert!(identity("{\"kty\":\"oct\"}").contains("found JSON"));
    // Valid Bech32 with the prefix of an identity of a plugin, and with an unknown one.
    let [plugin, other] = ["AGE-PLUGIN-NAME-1QQQQQQQQH5MVX8", "AGE-OTHER-KEY-1QQQQQQQQJ3C5A7"];
    assert_eq!(plugin.parse::<Identity>().unwrap().plugin(), Some("name"));
    assert!(recipient(plugin).contains("which is secret") && !recipient(plugin).contains(plugin));
    assert!(identity(other).contains("expected an age identity"));
    assert!(recipient(&other.to_lowercase()).contains("expected a recipient"));
    // Mixed case, the wrong case, typing errors, and surrounding text are refused.
    for wrong in [
        SPEC_RECIPIENT.to_uppercase(),
        SPEC_RECIPIENT.replacen("age1z", "age1Z", 1),
        SPEC_RECIPIENT.replacen("zvky", "zvkz", 1),
        format!(" {SPEC_RECIPIENT}"),
        format!("{SPEC_RECIPIENT}\n"),
        String::new(),
        "age1".into(),
        "a".repeat(5000),
    ] {
        assert!(matches!(wrong.parse::<Recipient>(), Err(Error::Format(_))), "{wrong}");
    }
    for wrong in
        [SPEC.to_lowercase(), SPEC.replacen("GF", "FG", 1), format!("{SPEC} "), "AGE-SECRET-KEY-1".into()]
    {
        assert!(matches!(wrong.parse::<Identity>(), Err(Error::Format(_))), "{wrong}");
    }
}

#[test]
fn list_errors_name_the_line() {
    let text = format!("# recipients\n\n{SPEC_RECIPIENT}\r\n#{SPEC}\n{ED25519_PUB}{RSA2048_PUB}");
    assert_eq!(age::parse_recipients(&text).unwrap().len(), 3);
    let wrong = age::parse_recipients(&format!("{text}\nage1nobody\n")).unwrap_err();
    assert!(matches!(wrong, Error::Line { number: 8, .. }), "{wrong}");
    assert!(wrong.to_string().starts_with("line 8: expected a recipient"), "{wrong}");
    for none in ["", "\n", "# nobody\n"] {
        assert!(matches!(age::parse_recipients(none), Err(Error::Format(_))));
        assert!(matches!(age::parse_identities(none), Err(Error::Format(_))));
    }
    let keys = format!("# created\n# public key: {SPEC_RECIPIENT}\n{SPEC}\n{SPEC_HYBRID}\n");
    assert_eq!(age::parse_identities(&keys).unwrap().len(), 2);
    assert_eq!(age::parse_identities(ED25519).unwrap().len(), 1);
    assert!(matches!(age::parse_identities(&format!("{SPEC}\n{SPEC}x")), Err(Error::Line { number: 2, .. })));
}

#[test]
fn debug_shows_no_secret() {
    for identity in all_identities() {
        let shown = format!("{identity:?}");
        assert!(shown.len() < 24, "{shown}");
    }
    let passphrase = Recipient::passphrase("correct horse").unwrap();
    assert_eq!(format!("{passphrase:?} {passphrase}"), "Recipient((a passphrase)) (a passphrase)");
    let identity: Identity = SPEC.parse().unwrap();
    assert_eq!(format!("{:?}", identity.recipient()), format!("Recipient({SPEC_RECIPIENT})"));
}

/// Tests that plaintexts with lengths around the chunk boundaries decrypt to the same bytes.
#[test]
fn lengths_round_trip() {
    let identity: Identity = SPEC.parse().unwrap();
    for len in [0_usize, 1, 65_535, 65_536, 65_537, 131_072, 200_000] {
        let plain: Vec<u8> = (0..len).map(|at| ((at * 31) >> 3) as u8).collect();
        let file = age::seal(&plain, &[identity.recipient()], Armor::Binary).unwrap();
        let chunks = len.div_ceil(65_536).max(1);
        let (_, header) = Header::parse_whole(&file).unwrap();
        assert_eq!(file.len(), header + 16 + len + 16 * chunks);
        assert_eq!(*age::open(&file, std::slice::from_ref(&identity)).unwrap(), plain);
    }
}

#[test]
fn growing_prefixes_of_a_header() {
    let recipients: Vec<_> = all_identities().iter().map(Identity::recipient).collect();
    let file = age::seal(b"", &[&recipients[..1], &recipients[2..]].concat(), Armor::Binary).unwrap();
    let (_, whole) = Header::parse_whole(&file).unwrap();
    for len in 0..=file.len() {
        match Header::parse(&file[..len]).unwrap() {
            Parsed::NeedsMore(want) => assert!(len < whole && want > len),
            Parsed::Ready((_, found)) => assert!(found == whole && len >= whole),
        }
    }
    assert!(matches!(Header::parse_whole(&file[..whole - 1]), Err(Error::Truncated)));
}

/// A prefix that no header begins with is refused early, and a header has at most 16 MiB.
// claim: age-limits
#[test]
fn rejects_endless_headers() {
    let intro = "age-encryption.org/v1\n";
    for wrong in ["x", "-> X25519  ", "-> X25519 \u{e9}", "--x", "->x"] {
        let text = format!("{intro}{wrong}");
        assert!(matches!(Header::parse(text.as_bytes()), Err(Error::Header(_))), "{text}");
    }
    for (line, times, refused) in [("A", 64, false), ("A", 65, true), ("-", 2, false), ("\r", 1, false)] {
        let text = format!("{intro}-> a\n{}", line.repeat(times));
        let header = Header::parse(text.as_bytes());
        assert_eq!(matches!(header, Err(Error::Header(_))), refused, "{text}: {header:?}");
    }
    let long = format!("{intro}{}", "-> a\n\n".repeat((age::MAX_HEADER_LEN + 10) / 6));
    assert!(matches!(Header::parse(long.as_bytes()), Err(Error::Header("it is longer than 16 MiB"))));
    assert!(
        matches!(Header::parse(&long.as_bytes()[..1 << 20]), Ok(Parsed::NeedsMore(want)) if want == 2 << 20)
    );
    let words = format!("{intro}->{}", " a".repeat(age::MAX_HEADER_LEN / 2));
    assert!(matches!(Header::parse(words.as_bytes()), Err(Error::Header(_))));
}

#[test]
fn errors_of_the_first_line() {
    let refused = |line: &str| Header::parse(format!("age-encryption.org/{line}").as_bytes()).unwrap_err();
    assert!(refused("v1\r\n").to_string().contains("CR LF"));
    assert!(matches!(refused("v2\n"), Error::UnsupportedVersion(_)));
    for line in ["\n", "v\u{1}\n", "v \n"] {
        assert!(matches!(refused(line), Error::Header(_)), "{line:?}");
    }
}

fn armored(bytes: &[u8], piece: usize) -> Vec<u8> {
    let mut encoder = Encoder::new(Vec::new()).unwrap();
    bytes.chunks(piece).for_each(|piece| encoder.write_all(piece).unwrap());
    encoder.finish().unwrap()
}

fn decoded(text: &[u8], piece: usize) -> Result<Vec<u8>, Error> {
    let (mut decoder, mut bytes) = (Decoder::new(), Vec::new());
    text.chunks(piece).try_for_each(|piece| decoder.push(piece, &mut bytes))?;
    decoder.finish(&mut bytes)?;
    Ok(bytes)
}

#[test]
fn armor_is_strict_pem() {
    for len in (0..200).chain([12_287, 12_288, 12_289, 20_000]) {
        let bytes: Vec<u8> = (0..len).map(|at| (at * 7) as u8).collect();
        let text = armored(&bytes, usize::MAX);
        assert!(text.split(|&byte| byte == b'\n').all(|line| line.len() <= 64));
        for piece in [1, 47, 48, 49] {
            assert_eq!(armored(&bytes, piece), text);
        }
        assert_eq!(decoded(&text, 50).unwrap(), bytes);
    }
}

/// Mixed line ends are valid for the sequential decoder, but not for random access.
#[test]
fn mixed_line_ends_prevent_random_access() {
    let bytes = vec![7; 480];
    let text = String::from_utf8(armored(&bytes, 480)).unwrap();
    let crlf = text.replace('\n', "\r\n");
    let mut buffer = vec![0; 480];
    for even in [&text, &crlf] {
        View::new(even.as_bytes()).unwrap().read_exact_at(0, &mut buffer).unwrap();
        assert_eq!(buffer, bytes);
    }
    let half = text.len() / 2;
    for mixed in [
        format!("{}{}", &text[..half], text[half..].replace('\n', "\r\n")),
        format!("{}{}", text[..half].replace('\n', "\r\n"), &text[half..]),
        text.replacen("\n", "\r\n", 1),
    ] {
        assert_eq!(decoded(mixed.as_bytes(), 7).unwrap(), bytes);
        let read = View::new(mixed.as_bytes()).and_then(|view| Ok(view.read_exact_at(0, &mut buffer)?));
        assert!(matches!(read, Err(Error::Armor(_))), "{read:?}");
    }
}

#[test]
fn white_space_around_armor_is_limited() {
    let text = String::from_utf8(armored(b"abc", 3)).unwrap();
    for (before, after, right) in
        [("\n \t\r\n", "\n\n  \n", true), (" ", "", false), ("", " \nx", false), ("\n", "x", false)]
    {
        let text = format!("{before}{text}{after}");
        assert_eq!(decoded(text.as_bytes(), 3).is_ok(), right, "{text:?}");
        assert_eq!(View::new(text.as_bytes()).is_ok(), right, "{text:?}");
    }
    let empty_line = decoded(text.replacen('\n', "\n\n", 1).as_bytes(), 3);
    assert!(matches!(empty_line, Err(Error::Armor("a line is empty"))), "{empty_line:?}");
    for blank in [1000, 1022, 1024, 1100, 5000] {
        for text in [format!("{}{text}", "\n".repeat(blank)), format!("{text}{}", "\n".repeat(blank))] {
            assert_eq!(decoded(text.as_bytes(), 64).is_ok(), blank < 1024);
            assert_eq!(View::new(text.as_bytes()).is_ok(), blank < 1024);
        }
    }
    for (prefix, is) in [
        ("", None),
        ("\n\n", None),
        ("\n-----BEG", None),
        ("-----BEGIN AGE", Some(Armor::Ascii)),
        ("-----BEGIN PGP MESSAGE-----", Some(Armor::Binary)),
        ("age-", Some(Armor::Binary)),
        ("----x", Some(Armor::Binary)),
    ] {
        assert_eq!(Armor::detect(prefix.as_bytes()), is, "{prefix:?}");
    }
    assert_eq!(Armor::detect(" ".repeat(1024).as_bytes()), Some(Armor::Binary));
}

#[test]
fn errors_of_damaged_armor() {
    let (begin, end) = ("-----BEGIN AGE ENCRYPTED FILE-----", "-----END AGE ENCRYPTED FILE-----");
    for rest in ["", "\r", "\n", "\n\n\n"] {
        let view = View::new(format!("{begin}{rest}").into_bytes().as_slice()).map(drop);
        assert!(matches!(view, Err(Error::Truncated)), "{rest:?}");
    }
    let (x, full) = ("x".repeat(2000), "A".repeat(64));
    let padded = format!("{begin}\n{}==\n{full}\n{end}\n", &full[..62]);
    let refused = |text: &str| decoded(text.as_bytes(), usize::MAX).unwrap_err().to_string();
    for (text, cause) in [
        (x.clone(), "its first line is not"),
        (format!("{begin}\n{x}"), "longer than 64 columns"),
        (format!("{begin}\n{end}\n{x}"), "text after its last line"),
        (format!("{begin}\nAAAA\n{full}\n"), "other than the last is shorter"),
        (format!("{begin}\nAAAA\nAAAA\n"), "its last line is not"),
        (padded.clone(), "other than the last is shorter"),
    ] {
        assert!(refused(&text).contains(cause), "{cause}: {}", refused(&text));
    }
    // A full line with padding would move all later bytes.
    let read = View::new(padded.as_bytes()).unwrap().read_exact_at(0, &mut [0]);
    assert!(read.unwrap_err().to_string().contains("other than the last is shorter"));
}

proptest! {
    /// The parser accepts any bytes without a panic, and a prefix gives the same header as the
    /// complete file.
    // claim: input-no-crash
    #[test]
    fn any_bytes_as_a_header(
        lines in prop::collection::vec("(-> |--- |->|)[ -~]{0,6}( [A-Za-z0-9+/=]{0,44})?[\r\u{e9}]?|[A-Za-z0-9+/]{0,66}", 0..8),
        cut in 0..400usize,
    ) {
        let text = format!("age-encryption.org/v1\n{}", lines.join("\n"));
        let bytes = text.as_bytes();
        let whole = Header::parse(bytes);
        match (Header::parse(&bytes[..cut.min(bytes.len())]), whole) {
            (Ok(Parsed::Ready((_, a))), Ok(Parsed::Ready((_, b)))) => prop_assert_eq!(a, b),
            (Ok(Parsed::Ready(_)), other) => prop_assert!(false, "{:?}", other),
            (Err(_), Ok(other)) => prop_assert!(false, "{:?}", other),
            _ => {}
        }
    }

    /// A valid file with one changed byte does not decrypt.
    #[test]
    fn changed_files_do_not_decrypt(at in 0..10_000usize, byte: u8, piece in 1..70usize) {
        let identity: Identity = SPEC.parse().unwrap();
        let mut file = age::seal(b"hello", &[identity.recipient()], Armor::Ascii).unwrap();
        let at = at % (file.len() - 1);
        prop_assume!(file[at] != byte);
        file[at] = byte;
        prop_assert!(age::open(&file, &[identity]).is_err());
        // The size of the pieces does not change the result.
        let whole = decoded(&file, usize::MAX).ok();
        prop_assert_eq!(&decoded(&file, piece).ok(), &whole);
        let view = View::new(&file[..]).and_then(|view| {
            let mut bytes = vec![0; view.size()? as usize];
            view.read_exact_at(0, &mut bytes)?;
            Ok(bytes)
        });
        // Random access accepts fewer encodings of the armor than reading in order does.
        if let Ok(bytes) = view {
            prop_assert_eq!(Some(bytes), whole);
        }
    }

    #[test]
    fn ranges_of_armor(len in 0..3000usize, start in 0..3000u64, count in 0..3000usize, crlf: bool) {
        let bytes: Vec<u8> = (0..len).map(|at| ((at * 13) >> 2) as u8).collect();
        let text = String::from_utf8(armored(&bytes, 100)).unwrap();
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let view = View::new(text.as_bytes()).unwrap();
        prop_assert_eq!(view.size().unwrap(), len as u64);
        let mut into = vec![0; count];
        let n = view.read_at(start, &mut into).unwrap();
        let expected = bytes.get(start as usize..).unwrap_or_default();
        prop_assert_eq!(n, expected.len().min(count));
        prop_assert_eq!(&into[..n], &expected[..n]);
    }
}

//! Fernet tokens: the tests of the specification, and changed tokens.

use base64ct::{Base64Url, Encoding};
use sealane::fernet::{Fernet, Token};
use sealane::{Error, Key, Misuse};
use vectors::FernetPart;

fn fernet() -> Fernet {
    Fernet::new(&Key::from_bytes(&[7; 32])).unwrap()
}

fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    Base64Url::decode_vec(str::from_utf8(text).ok()?).ok()
}

/// Returns the seconds since 1970 of a time of the specification, all of which are on one morning.
fn seconds(time: &str) -> u64 {
    let rest = time.strip_prefix("1985-10-26T01:").unwrap().strip_suffix("-07:00").unwrap();
    let (minutes, seconds) = rest.split_once(':').unwrap();
    499_161_600 + 60 * minutes.parse::<u64>().unwrap() + seconds.parse::<u64>().unwrap()
}

#[test]
fn published_vectors() {
    let mut checked = [0; 3];
    for case in vectors::fernet() {
        let fernet = Fernet::new(&Key::from_bytes(&Base64Url::decode_vec(&case.secret).unwrap())).unwrap();
        let (now, text) = (seconds(&case.now), case.token.as_bytes());
        let content = Token::parse(text).and_then(|token| fernet.decrypt(&token));
        match case.part {
            FernetPart::Generate { iv, data } => {
                let mut out = vec![0; Fernet::token_len(data.len())];
                let len = fernet.encrypt_with_iv(data.as_bytes(), now, &iv, &mut out).unwrap();
                assert_eq!((len, &out[..]), (text.len(), text));
                checked[0] += 1;
            }
            FernetPart::Verify { ttl, data } => {
                let (time, opened) = content.unwrap();
                assert!(*opened == data.as_bytes() && time <= now && now <= time + ttl);
                let token = Token::parse(text).unwrap();
                assert_eq!(Some(token.len()), decoded(text).map(|bytes| bytes.len()));
                checked[1] += 1;
            }
            FernetPart::Invalid { ttl } => {
                match content {
                    Err(error) => assert!(matches!(error, Error::Authentication), "{}: {error}", case.id),
                    // The caller checks the time.
                    Ok((time, _)) => assert!(time + ttl < now || now + 60 < time, "{}", case.id),
                }
                checked[2] += 1;
            }
        }
    }
    assert_eq!(checked, [1, 1, 8]);
}

#[test]
fn tokens_of_every_length() {
    let fernet = fernet();
    for len in 0..200 {
        let data: Vec<u8> = (0..len).map(|i| i as u8).collect();
        let text = fernet.encrypt(&data, 1 << 40).unwrap();
        assert_eq!(text.len(), Fernet::token_len(len));
        let token = Token::parse(&text).unwrap();
        assert_eq!(fernet.time(&token).unwrap(), 1 << 40);
        let (time, opened) = fernet.decrypt(&token).unwrap();
        assert_eq!((time, &opened[..]), (1 << 40, &data[..]));
    }
}

#[test]
fn every_changed_byte_and_every_truncation_is_refused() {
    let fernet = fernet();
    let text = fernet.encrypt(b"sixteen bytes ..", 5).unwrap();
    let bytes = decoded(&text).unwrap();
    let refused = |bytes: &[u8]| match Token::from_bytes(bytes.to_vec()) {
        Err(error) => matches!(error, Error::Authentication),
        Ok(token) => {
            matches!(fernet.time(&token), Err(Error::Authentication))
                && matches!(fernet.decrypt(&token), Err(Error::Authentication))
        }
    };
    assert!(!refused(&bytes));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(refused(&changed), "{at}");
        assert!(refused(&bytes[..at]), "{at} bytes");
        assert!(matches!(Token::parse(&text[..at]), Err(Error::Authentication)), "{at} characters");
    }
}

/// Without the check of the last bits, a token would have several texts.
#[test]
fn a_token_has_one_text() {
    let text = fernet().encrypt(b"x", 5).unwrap();
    let at = text.iter().rposition(|byte| *byte != b'=').unwrap();
    let others = (0..128).filter(|other| *other != text[at]);
    for other in others {
        let mut changed = text.clone();
        changed[at] = other;
        let parsed = Token::parse(&changed).and_then(|token| fernet().time(&token));
        assert!(matches!(parsed, Err(Error::Authentication)), "{other}");
    }
}

#[test]
fn another_key_is_refused() {
    let token = Token::parse(&fernet().encrypt(b"hello", 5).unwrap()).unwrap();
    // The half for HMAC, and both halves.
    for key in [[[8; 16], [7; 16]].concat(), vec![8; 32]] {
        let other = Fernet::new(&Key::from_bytes(&key)).unwrap();
        assert!(matches!(other.decrypt(&token), Err(Error::Authentication)));
    }
    for len in (0..70).filter(|len| *len != 32) {
        let Err(Error::Misuse(misuse)) = Fernet::new(&Key::from_bytes(&vec![1; len])) else {
            panic!("{len}")
        };
        assert_eq!(misuse, Misuse::KeyLength { got: len, want: &[32] });
    }
}

#[test]
fn ivs_differ() {
    let fernet = fernet();
    let mut tokens: Vec<_> = (0..100).map(|_| fernet.encrypt(b"hello", 5).unwrap()).collect();
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), 100);
}

#[test]
fn texts_of_keys() {
    let key = sealane::fernet::decode_key(b"-_8AAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0=").unwrap();
    let expected: Vec<u8> = [0xfb, 0xff].into_iter().chain(0..30).collect();
    assert_eq!(key.as_bytes(), expected);
    for text in [
        &b""[..],
        b"+/8AAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0=",
        b"-_8AAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0e",
        b"-_8AAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHA==",
        b"-_8AAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0",
        b"\xff",
    ] {
        assert!(sealane::fernet::decode_key(text).is_none(), "{text:?}");
    }
}

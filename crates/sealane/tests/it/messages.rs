//! Tests of messages: `Aead` with every provider of every algorithm, and AES-CTR.

use sealane::hazmat::AesCtr;
use sealane::{Aead, Algorithm, Error, InOut, Key, Misuse, Provider};

/// Returns every algorithm from every provider that is available on this machine.
fn every_aead() -> impl Iterator<Item = Aead> {
    let pairs = Algorithm::ALL.iter().flat_map(|&a| Provider::all().into_iter().map(move |p| (a, p)));
    pairs.filter_map(|(algorithm, provider)| {
        let key = Key::from_bytes(&vec![7; algorithm.key_len()]);
        Aead::with_provider(algorithm, &key, Some(provider)).ok()
    })
}

#[test]
fn every_algorithm_has_a_provider() {
    for &algorithm in Algorithm::ALL {
        let key = Key::generate(algorithm.key_len()).unwrap();
        assert!(Aead::new(algorithm, &key).is_ok(), "{}", algorithm.name());
    }
}

#[test]
fn seal_is_nonce_ciphertext_tag() {
    for aead in every_aead() {
        let sealed = aead.seal(b"hello", b"header").unwrap();
        assert_eq!(sealed.len(), 5 + aead.overhead());
        let (nonce, body) = sealed.split_at(aead.nonce_len());
        assert_eq!(aead.encrypt(nonce, b"hello", b"header").unwrap(), body);
        assert_eq!(aead.decrypt(nonce, body, b"header").unwrap(), b"hello");
        assert_eq!(aead.open(&sealed, b"header").unwrap(), b"hello");
        assert_ne!(aead.seal(b"hello", b"header").unwrap(), sealed, "a nonce was repeated");
    }
}

#[test]
fn in_place_gives_the_same_bytes() {
    for aead in every_aead() {
        let mut buffer = vec![0; 100 + aead.overhead() + 3];
        let from = aead.nonce_len();
        buffer[from..][..100].fill(9);
        let total = aead.seal_in_place(&mut buffer, 100, b"").unwrap();
        assert_eq!(total, 100 + aead.overhead());
        assert_eq!(&buffer[total..], [0; 3], "bytes after the message were touched");
        assert_eq!(aead.open(&buffer[..total], b"").unwrap(), [9; 100]);
        assert_eq!(aead.open_in_place(&mut buffer[..total], b"").unwrap(), [9; 100]);
    }
}

// claim: message-changed
#[test]
fn a_failed_open_leaves_no_plaintext() {
    for aead in every_aead() {
        let mut sealed = aead.seal(&[5; 1000], b"").unwrap();
        for at in [0, aead.nonce_len(), sealed.len() / 2, sealed.len() - 1] {
            sealed[at] ^= 1;
            let mut out = vec![0xee; 1003];
            assert!(matches!(aead.open_into(&sealed, &mut out, b""), Err(Error::Authentication)));
            assert!(!out.windows(4).any(|four| four == [5; 4]), "plaintext in the buffer");
            assert_eq!(out[1000..], [0xee; 3]);
            let mut in_place = sealed.clone();
            assert!(aead.open_in_place(&mut in_place, b"").is_err());
            let data = aead.nonce_len()..in_place.len() - aead.tag_len();
            assert!(in_place[data].iter().all(|&b| b == 0));
            sealed[at] ^= 1;
        }
        assert!(matches!(aead.open(&sealed, b"other"), Err(Error::Authentication)));
        for len in 0..aead.overhead() {
            assert!(matches!(aead.open(&sealed[..len], b""), Err(Error::Authentication)));
        }
    }
}

#[test]
fn misuse_is_reported_before_a_byte_is_written() {
    for aead in every_aead() {
        let mut out = [0xee; 20];
        let need = 5 + aead.overhead();
        let error = aead.seal_into(b"hello", &mut out, b"").unwrap_err();
        assert!(matches!(error, Error::Misuse(Misuse::OutputTooShort { got: 20, need: n }) if n == need));
        let nonce = vec![0; aead.nonce_len() + 1];
        let error = aead.encrypt(&nonce, b"", b"").unwrap_err();
        assert!(matches!(error, Error::Misuse(Misuse::NonceLength { .. })), "{error}");
        assert!(aead.decrypt(&nonce, &[0; 40], b"").is_err());
        assert!(aead.seal_in_place(&mut out, usize::MAX - 3, b"").is_err());
        assert_eq!(out, [0xee; 20]);
        let wrong = Key::from_bytes(&[1; 5]);
        assert!(matches!(Aead::new(aead.algorithm(), &wrong), Err(Error::Misuse(Misuse::KeyLength { .. }))));
    }
}

#[test]
fn debug_shows_no_key() {
    let key = Key::from_bytes(&[0xab; 32]);
    let aead = Aead::new(Algorithm::Aes256Gcm, &key).unwrap();
    let ctr = AesCtr::new(key.as_bytes(), &[0; 16]).unwrap();
    for text in [format!("{key:?}"), format!("{aead:?}"), format!("{ctr:?}"), format!("{:?}", aead.buffer(1))]
    {
        assert!(!text.contains("171") && !text.contains("ab, ab") && !text.contains("abab"), "{text}");
    }
}

#[test]
fn an_unavailable_provider_is_an_error() {
    let key = Key::generate(32).unwrap();
    let error = Aead::with_provider(Algorithm::Aegis256, &key, Some(Provider::RustCrypto)).unwrap_err();
    assert!(matches!(error, Error::ProviderUnavailable(_)));
    assert!(error.to_string().contains("native"), "lists the available providers: {error}");
}

/// The child must not use the nonces that its parent uses.
// claim: fork-nonces
#[cfg(unix)]
#[test]
fn a_forked_child_uses_other_nonces() {
    let aead = Aead::new(Algorithm::Aes256Gcm, &Key::generate(32).unwrap()).unwrap();
    let draw = || (0..50).flat_map(|_| aead.seal(b"", b"").unwrap()[..12].to_vec()).collect::<Vec<_>>();
    draw();
    let mut pipe = [0; 2];
    // SAFETY: the child only computes, writes to the pipe and leaves without running any
    // destructor.
    unsafe {
        assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
        match libc::fork() {
            0 => {
                // A panic would go on in the harness, as a second process that runs tests.
                if let Ok(drawn) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(draw)) {
                    libc::write(pipe[1], drawn.as_ptr().cast(), drawn.len());
                }
                libc::_exit(0);
            }
            child => {
                assert!(child > 0);
                libc::close(pipe[1]);
                let mine = draw();
                let mut theirs = vec![0; mine.len()];
                let mut at = 0;
                while at < theirs.len() {
                    let n = libc::read(pipe[0], theirs[at..].as_mut_ptr().cast(), theirs.len() - at);
                    assert!(n > 0);
                    at += n as usize;
                }
                libc::waitpid(child, std::ptr::null_mut(), 0);
                for nonce in mine.chunks(12) {
                    assert!(
                        !theirs.chunks(12).any(|other| other == nonce),
                        "a nonce was drawn on both sides"
                    );
                }
            }
        }
    }
}

#[test]
fn aes_ctr_reproduces_published_vectors_at_any_offset() {
    let cases = vectors::aes_ctr();
    assert!(cases.len() >= 12);
    for case in cases {
        let ctr = AesCtr::new(&case.key, &case.iv).unwrap();
        assert_eq!(ctr.xor_at(0, &case.plaintext).unwrap(), case.ciphertext, "{} {}", case.file, case.id);
        for cut in 0..=case.plaintext.len() {
            let tail = ctr.xor_at(cut as u64, &case.plaintext[cut..]).unwrap();
            assert_eq!(tail, case.ciphertext[cut..]);
        }
    }
}

#[test]
fn aes_ctr_ends_at_2_to_the_64() {
    let ctr = AesCtr::new(&[3; 16], &[0xff; 16]).unwrap();
    let mut data = [0xee; 32];
    let error = ctr.xor(u64::MAX - 30, InOut::in_place(&mut data)).unwrap_err();
    assert!(matches!(error, Error::MessageLength { .. }));
    assert_eq!(data, [0xee; 32]);
    assert!(ctr.xor(u64::MAX - 31, InOut::in_place(&mut data)).is_ok());
    assert!(ctr.xor(u64::MAX, InOut::in_place(&mut data[..0])).is_ok());
    assert!(matches!(AesCtr::new(&[3; 15], &[0; 16]), Err(Error::Misuse(Misuse::KeyLength { got: 15, .. }))));
    assert!(matches!(
        AesCtr::new(&[3; 16], &[0; 12]),
        Err(Error::Misuse(Misuse::NonceLength { got: 12, .. }))
    ));
}

/// In place, the plaintext would be lost if it were encrypted before the slot for the nonce is
/// checked.
#[test]
fn rejects_a_nonce_slot_of_another_length_before_it_encrypts() {
    let aead = Aead::new(Algorithm::Aes256Gcm, &Key::from_bytes(&[1; 32])).unwrap();
    for len in [0, 11, 13, 24] {
        let (mut nonce, mut data, mut tag) = (vec![0; len], *b"plaintext", [0xee; 16]);
        let error = aead.seal_parts(&mut nonce, b"", InOut::in_place(&mut data), &mut tag).unwrap_err();
        assert!(matches!(error, Error::Misuse(Misuse::NonceLength { want: 12, .. })), "{error:?}");
        assert_eq!((&data, tag), (b"plaintext", [0xee; 16]));
    }
}

#[test]
fn rejects_tags_of_another_length() {
    for aead in every_aead() {
        let (nonce, mut data, mut tag) = (vec![1; aead.nonce_len()], *b"plaintext", [0; 16]);
        aead.encrypt_parts(&nonce, b"", InOut::in_place(&mut data), &mut tag).unwrap();
        for len in (0..=40).filter(|&len| len != 16) {
            let mut other = tag.to_vec();
            other.resize(len, 0);
            let opened = aead.decrypt_parts(&nonce, b"", InOut::in_place(&mut data.clone()), &other);
            assert!(matches!(opened, Err(Error::Authentication)), "{aead:?}: a tag of {len} bytes");
            let mut unchanged = data;
            let sealed = aead.encrypt_parts(&nonce, b"", InOut::in_place(&mut unchanged), &mut other);
            assert!(matches!(sealed, Err(Error::Misuse(Misuse::TagLength { want: 16, .. }))), "{aead:?}");
            assert_eq!(unchanged, data);
        }
        aead.decrypt_parts(&nonce, b"", InOut::in_place(&mut data), &tag).unwrap();
        assert_eq!(&data, b"plaintext");
    }
}

#[test]
fn aes_ctr_under_other_counter_blocks() {
    let plain: Vec<u8> = (0..1000).map(|i| i as u8).collect();
    for len in [16, 24, 32] {
        let key = vec![3; len];
        let ctr = AesCtr::new(&key, &[9; 16]).unwrap();
        for iv in [[0; 16], [9; 16], [0xff; 16]] {
            for offset in [0, 1, 16, 777, u64::MAX - 999] {
                let expected = AesCtr::new(&key, &iv).unwrap().xor_at(offset, &plain).unwrap();
                let mut data = plain.clone();
                ctr.xor_under(&iv, offset, InOut::in_place(&mut data)).unwrap();
                assert_eq!(data, expected, "offset {offset}");
            }
        }
        let mut data = [0xee; 17];
        let refused = ctr.xor_under(&[1; 16], u64::MAX - 15, InOut::in_place(&mut data));
        assert!(matches!(refused, Err(Error::MessageLength { .. })));
        assert_eq!(data, [0xee; 17], "written although rejected");
    }
}

/// A binding that catches a panic can use the key afterwards, without a wrapper that asserts it.
#[test]
fn keys_are_safe_to_use_after_a_panic() {
    fn check<T: std::panic::RefUnwindSafe>() {}
    check::<Aead>();
    check::<AesCtr>();
    check::<sealane::hazmat::Aead>();
    check::<sealane::hazmat::ChaCha20>();
    check::<sealane::hazmat::Speck>();
    check::<sealane::hazmat::SpeckCtr>();
}

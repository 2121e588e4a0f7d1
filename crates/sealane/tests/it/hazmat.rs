//! Tests the raw ciphers of `hazmat` against published vectors and against the results of `Aead`.

use sealane::hazmat::{
    Aead, AeadDecryptor, AeadEncryptor, AesCtr, ByteOrder, ChaCha20, Poly1305, Speck, SpeckCtr, SpeckSize,
    XChaCha20,
};
use sealane::{Algorithm, Error, InOut, Key, Misuse};

fn hex(text: &str) -> Vec<u8> {
    hex::decode(text.replace(' ', "")).unwrap()
}

fn count(from: u8, len: usize) -> Vec<u8> {
    (0..len).map(|i| from.wrapping_add(i as u8)).collect()
}

const SUNSCREEN: &[u8] =
    b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the \
                           future, sunscreen would be it.";

/// Tests ChaCha20 with the example of RFC 8439, section 2.4.2.
#[test]
fn chacha20() {
    let stream = ChaCha20::new(&count(0, 32), &hex("000000000000004a00000000"), 1).unwrap();
    let sealed = stream.xor_at(0, SUNSCREEN).unwrap();
    assert_eq!(sealed[..16], hex("6e2e359a2568f98041ba0728dd0d6981"));
    assert_eq!(sealed[112..], hex("874d"));
    // Counter 0 with an offset of one block is the same position.
    let stream = ChaCha20::new(&count(0, 32), &hex("000000000000004a00000000"), 0).unwrap();
    assert_eq!(stream.xor_at(64, SUNSCREEN).unwrap(), sealed);
    assert_eq!(stream.xor_at(64 + 50, &SUNSCREEN[50..]).unwrap(), sealed[50..]);
}

/// The keystream under the AEAD of draft-irtf-cfrg-xchacha-03, A.3.1: its data begins with block 1.
#[test]
fn xchacha20() {
    let stream = XChaCha20::new(&count(0x80, 32), &count(0x40, 24), 1).unwrap();
    let sealed = stream.xor_at(0, SUNSCREEN).unwrap();
    assert_eq!(sealed[..16], hex("bd6d179d3e83d43b9576579493c0e939"));
    let whole = XChaCha20::new(&count(0x80, 32), &count(0x40, 24), 0).unwrap();
    assert_eq!(whole.xor_at(64 + 7, &SUNSCREEN[7..]).unwrap(), sealed[7..]);
}

#[test]
fn chacha20_ends_with_its_last_block() {
    let end = 64 << 32;
    let stream = ChaCha20::new(&[1; 32], &[2; 12], 0).unwrap();
    let from_counter = ChaCha20::new(&[1; 32], &[2; 12], u32::MAX).unwrap();
    let long = XChaCha20::new(&[1; 32], &[2; 24], 0).unwrap();
    assert_eq!(stream.xor_at(end - 64, &[0; 64]).unwrap(), from_counter.xor_at(0, &[0; 64]).unwrap());
    let mut data = [0xee; 65];
    for offset in [end - 64, end - 1, end, u64::MAX - 65, u64::MAX] {
        let past = |result| matches!(result, Err(Error::MessageLength { .. }));
        assert!(past(stream.xor_in_place(offset, &mut data)), "{offset}");
        assert!(past(long.xor_in_place(offset, &mut data)), "{offset}");
        assert!(past(from_counter.xor_in_place(offset - (end - 64), &mut data)), "{offset}");
    }
    assert_eq!(data, [0xee; 65], "written although rejected");
}

/// Tests Poly1305 with the examples of RFC 8439, sections 2.5.2 and 2.6.2.
#[test]
fn poly1305() {
    let key = hex("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b");
    let tag = hex("a8061dc1305136c6c22b8baf0c0127a9");
    for cut in [1, 5, 16, 17, 34] {
        let mut mac = Poly1305::new(&key).unwrap();
        for piece in b"Cryptographic Forum Research Group".chunks(cut) {
            mac.update(piece);
        }
        mac.verify(&tag).unwrap();
    }
    let mac = || Poly1305::new(&key).unwrap();
    assert!(matches!(mac().verify(&tag), Err(Error::Authentication)));
    assert!(matches!(mac().verify(&tag[1..]), Err(Error::Misuse(Misuse::TagLength { got: 15, want: 16 }))));
    // This is the one-time key of RFC 8439, section 2.6.2.
    let once = hex("8ad5a08b905f81cc815040274ab29471a833b637e3fd0da508dbb8e2fdd1a646");
    let mut a = Poly1305::from_chacha20(&count(0x80, 32), &hex("000000000001020304050607")).unwrap();
    let mut b = Poly1305::new(&once).unwrap();
    a.update(b"the same key");
    b.update(b"the same key");
    assert_eq!(a.finalize().unwrap(), b.finalize().unwrap());
}

struct Known {
    name: &'static str,
    iv: &'static str,
    ctr: &'static str,
    sealed: &'static str,
    tag: &'static str,
}

/// Outputs of an independent model of SpeckEx, since no published vector is known. The key is 00 01
/// 02 ….
const KNOWN: [Known; 6] = [
    Known {
        name: "speck32-64",
        iv: "a0a1a2a3",
        ctr: "a4e263b9c5f11f600c272666c1f986d11849c3d539158106ba4fd7",
        sealed: "2f5320b47e0b52e295fe32dec09b3d6e6fe3d041a0651c0ac38cba",
        tag: "12cd043e33aac248ea3564970095fda9",
    },
    Known {
        name: "speck64-96",
        iv: "a0a1a2a3a4a5a6a7",
        ctr: "18ee207a71d545b253f74c823cc1f28021318fa992b81f4059388c",
        sealed: "cd99b6b38e4021292ce0fdc72f039e61cad653340df7b6429f81eb",
        tag: "1703af3ae795943a04beee9f33024d54",
    },
    Known {
        name: "speck64-128",
        iv: "a0a1a2a3a4a5a6a7",
        ctr: "5283ffacf193b5804ea4d57b18356b48fca18e0c2746d577adc12a",
        sealed: "a3044bbd27079e1f0a30a9de8d51d80935dbeb0dd642c6aa794924",
        tag: "c0c7246f80e56501eddd9b0b4aa7734d",
    },
    Known {
        name: "speck128-128",
        iv: "a0a1a2a3a4a5a6a7a8a9aaab00000000",
        ctr: "2c9102629cf3bbcd992ef51758fbbff6ea4b6c4913c95b849685fc",
        sealed: "005ad4b0d70478024b4ffb2f0d07bf114b51b219bd5d9e6ba3dd77",
        tag: "79208fe6d98f5a4776c2b0fc14882c9c",
    },
    Known {
        name: "speck128-192",
        iv: "a0a1a2a3a4a5a6a7a8a9aaab00000000",
        ctr: "6e387e59a1c184023c0e50c82506c800718826804edcea31e11c81",
        sealed: "5cd1e595200d13a3dcdd09955272f3210f64448291267052929a5e",
        tag: "786239a7ed0ef126048c87c18f77c79d",
    },
    Known {
        name: "speck128-256",
        iv: "a0a1a2a3a4a5a6a7a8a9aaab00000000",
        ctr: "5264c8513211057b77ce038b701f53d4a3667d11626f6456d6fb41",
        sealed: "dbc959dda91e4e8fae69dcb7a1c6fcdaf57e4ac96c669042b708ae",
        tag: "0ab21388ee7fa86baf1f3e542f2ee209",
    },
];

const PLAIN: &[u8] = b"Speck-Poly1305 known answer";

fn size(name: &str) -> SpeckSize {
    SpeckSize::from_name(name).unwrap()
}

fn speck_aead(size: SpeckSize, key: &[u8]) -> Aead {
    if size.block_len() == 16 { Aead::new(size, key) } else { Aead::new_small_block(size, key) }.unwrap()
}

#[test]
fn speck_modes() {
    for known in KNOWN {
        let (size, iv) = (size(known.name), hex(known.iv));
        let key = count(0, size.key_len());
        let stream = SpeckCtr::new(size, &key, &iv, ByteOrder::Big).unwrap();
        assert_eq!(stream.xor_at(0, PLAIN).unwrap(), hex(known.ctr), "{}", known.name);
        assert_eq!(stream.xor_at(5, &PLAIN[5..]).unwrap(), hex(known.ctr)[5..], "{}", known.name);

        let aead = speck_aead(size, &key);
        let nonce = &iv[..aead.nonce_len()];
        let body = [hex(known.sealed), hex(known.tag)].concat();
        assert_eq!(aead.encrypt(nonce, PLAIN, b"AAD").unwrap(), body, "{}", known.name);
        assert_eq!(aead.decrypt(nonce, &body, b"AAD").unwrap(), PLAIN, "{}", known.name);
        assert_eq!(aead.open(&[nonce, &body].concat(), b"AAD").unwrap(), PLAIN, "{}", known.name);
        for at in 0..body.len() {
            let mut changed = body.clone();
            changed[at] ^= 1;
            let (data, tag) = changed.split_at_mut(PLAIN.len());
            let opened = aead.decrypt_parts(nonce, b"AAD", InOut::in_place(data), tag);
            assert!(matches!(opened, Err(Error::Authentication)));
            assert_eq!(data, [0; PLAIN.len()], "the destination is not zero");
        }
        assert!(matches!(aead.decrypt(nonce, &body, b"aad"), Err(Error::Authentication)));
        assert!(matches!(aead.decrypt(nonce, &body[..15], b""), Err(Error::Authentication)));
    }
}

/// A counter that wraps, and messages without data or associated data.
#[test]
fn speck_128_256() {
    let (size, key) = (size("speck128-256"), count(0, 32));
    let stream = SpeckCtr::new(size, &key, &[0xff; 16], ByteOrder::Big).unwrap();
    let want =
        "a6466783d637d7d41585969c1f1d63c2d9f8f097693c61deaf1e93c8bdc2f8185329062a82c3922aa3c9c6ffaaaed256";
    assert_eq!(stream.xor_at(0, &[0; 48]).unwrap(), hex(want));
    let aead = Aead::new(size, &key).unwrap();
    assert_eq!(aead.encrypt(&[0; 12], b"", b"").unwrap(), hex("6160f333044f8c3cfaaf7e0a16a20962"));
    let want = "47b23b60d86ff37e4e7d654846fdc21c fbc455f11467eb308d5cff35b3d5212c";
    assert_eq!(aead.encrypt(&[0; 12], &[0; 16], &[0; 16]).unwrap(), hex(want));
}

/// With nonces of a whole block, the keystream starts at any counter, also at one that wraps.
#[test]
fn speck_aead_with_block_nonces() {
    let plain = count(5, 20_000);
    for name in ["speck128-128", "speck128-192", "speck128-256"] {
        let size = size(name);
        let key = count(1, size.key_len());
        let aead = Aead::new_block_nonce(size, &key).unwrap();
        assert_eq!(aead.nonce_len(), 16);
        let prefix = count(7, 12);
        let zeros = [&prefix[..], &[0; 4]].concat();
        let short = Aead::new(size, &key).unwrap().encrypt(&prefix, &plain, b"header").unwrap();
        assert_eq!(aead.encrypt(&zeros, &plain, b"header").unwrap(), short, "{name}");
        for nonce in [count(200, 16), vec![0xff; 16]] {
            let stream = SpeckCtr::new(size, &key, &nonce, ByteOrder::Big).unwrap();
            let keystream = stream.xor_at(0, &vec![0; 32 + plain.len()]).unwrap();
            let ciphertext: Vec<u8> = plain.iter().zip(&keystream[32..]).map(|(a, b)| a ^ b).collect();
            // The input of RFC 8439, section 2.8: each part is padded to 16 bytes, and two lengths
            // follow.
            let mut mac = Poly1305::new(&keystream[..32]).unwrap();
            mac.update(b"header").update(&[0; 10]).update(&ciphertext);
            mac.update(&6u64.to_le_bytes()).update(&20_000u64.to_le_bytes());
            let body = [&ciphertext[..], &mac.finalize().unwrap()].concat();
            assert_eq!(aead.encrypt(&nonce, &plain, b"header").unwrap(), body, "{name}");
            assert_eq!(aead.decrypt(&nonce, &body, b"header").unwrap(), plain, "{name}");
            assert_eq!(aead.open(&[&nonce[..], &body].concat(), b"header").unwrap(), plain, "{name}");
            assert!(matches!(aead.decrypt(&nonce, &body, b"other"), Err(Error::Authentication)));
        }
        assert!(matches!(aead.seal(b"", b""), Err(Error::Misuse(Misuse::CounterBlockForRandom))));
        let refused = aead.encrypt(&prefix, b"", b"");
        assert!(matches!(refused, Err(Error::Misuse(Misuse::NonceLength { got: 12, want: 16 }))));
    }
    let small = Aead::new_block_nonce(size("speck64-96"), &[0; 12]);
    assert!(matches!(small, Err(Error::Misuse(Misuse::SmallBlock(64)))));
}

#[test]
fn speck_aead_in_batches() {
    let aead = Aead::new(size("speck128-256"), &count(9, 32)).unwrap();
    let messages: Vec<Vec<u8>> = (0..200).map(|len| count(3, len)).collect();
    let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
    let sealed = aead.seal_many(&messages, None).unwrap();
    assert!(sealed.iter().zip(&messages).all(|(sealed, m)| aead.open(sealed, b"").unwrap() == *m));
    let mut sealed: Vec<&[u8]> = sealed.iter().map(|sealed| &sealed[..]).collect();
    assert_eq!(aead.open_many(&sealed, None).unwrap(), messages);
    sealed[70] = sealed[71];
    sealed[90] = &[0; 28];
    assert!(matches!(aead.open_many(&sealed, None), Err(Error::InBatch { index: 90, .. })));
    for aead in [
        Aead::new_small_block(size("speck64-128"), &count(9, 16)),
        Aead::new_block_nonce(size("speck128-256"), &count(9, 32)),
    ] {
        let refused = aead.unwrap().seal_many(&messages, None);
        let Err(Error::Misuse(refused)) = refused else { panic!("{refused:?}") };
        assert!(matches!(refused, Misuse::NonceTooShortForRandom | Misuse::CounterBlockForRandom));
    }
}

/// Tests messages of several pieces, both in place and with a separate destination.
#[test]
fn speck_aead_of_every_size() {
    let plain = count(3, 20_000);
    for size in SpeckSize::ALL {
        let key = count(9, size.key_len());
        let aead = speck_aead(size, &key);
        let nonce = vec![1; aead.nonce_len()];
        let sealed = aead.encrypt(&nonce, &plain, b"header").unwrap();
        let mut iv = nonce.clone();
        iv.resize(size.block_len(), 0);
        let stream = SpeckCtr::new(size, &key, &iv, ByteOrder::Big).unwrap();
        assert_eq!(stream.xor_at(32, &plain).unwrap(), sealed[..20_000], "{}", size.name());
        let (mut data, mut tag) = (plain.clone(), [0; 16]);
        aead.encrypt_parts(&nonce, b"header", InOut::in_place(&mut data), &mut tag).unwrap();
        assert_eq!([&data[..], &tag].concat(), sealed, "{}", size.name());
        aead.decrypt_parts(&nonce, b"header", InOut::in_place(&mut data), &tag).unwrap();
        assert_eq!(data, plain, "{}", size.name());
    }
}

/// The vectors of the paper. The little-endian order reverses all bytes.
#[test]
fn speck_blocks() {
    let known = [
        ("speck32-64", "6574694c", "a86842f2"),
        ("speck48-72", "20796c6c6172", "c049a5385adc"),
        ("speck48-96", "6d2073696874", "735e10b6445d"),
        ("speck64-96", "74614620736e6165", "9f7952ec4175946c"),
        ("speck64-128", "3b7265747475432d", "8c6fa548454e028b"),
        ("speck96-96", "65776f68202c656761737520", "9e4d09ab717862bdde8f79aa"),
        ("speck96-144", "656d6974206e69202c726576", "2bf31072228a7ae440252ee6"),
        ("speck128-128", "6c617669757165207469206564616d20", "a65d9851797832657860fedf5c570d18"),
        ("speck128-192", "726148206665696843206f7420746e65", "1be4cf3a13135566f9bc185de03c1886"),
        ("speck128-256", "65736f6874206e49202e72656e6f6f70", "4109010405c0f53e4eeeb48d9c188f43"),
    ];
    let reversed = |bytes: &[u8]| bytes.iter().rev().copied().collect::<Vec<u8>>();
    for (name, plain, sealed) in known {
        let size = size(name);
        let word = size.block_len() / 2;
        // The keys of the paper: words of 0 1 2 3, then 8 9 10 11, and so on, with the last word
        // first.
        let small: Vec<u8> = (0..size.key_len()).map(|i| (i / word * 8.max(word) + i % word) as u8).collect();
        let key = reversed(&small);
        let (plain, sealed) = (hex(plain), hex(sealed));
        let big = Speck::new(size, &key, ByteOrder::Big).unwrap();
        let little = Speck::new(size, &small, ByteOrder::Little).unwrap();
        let mut data = [&plain[..], &plain].concat();
        big.encrypt_blocks(InOut::in_place(&mut data)).unwrap();
        assert_eq!(data, [&sealed[..], &sealed].concat(), "{name}");
        big.decrypt_blocks(InOut::in_place(&mut data)).unwrap();
        assert_eq!(data[..plain.len()], plain, "{name}");
        let mut data = reversed(&plain);
        little.encrypt_blocks(InOut::in_place(&mut data)).unwrap();
        assert_eq!(data, reversed(&sealed), "{name}");
        let refused = big.encrypt_blocks(InOut::in_place(&mut data[1..]));
        let want = Misuse::BlockLength { got: 2 * word - 1, block: 2 * word };
        assert!(matches!(refused, Err(Error::Misuse(misuse)) if misuse == want));
    }
}

#[test]
fn speck_keystreams_end_before_the_counter_repeats() {
    let last = u64::MAX - 15;
    let stream = SpeckCtr::new(size("speck128-256"), &[1; 32], &[2; 16], ByteOrder::Little).unwrap();
    assert_eq!(stream.xor_at(last, &[0; 16]).unwrap().len(), 16);
    assert!(matches!(stream.xor_at(last, &[0; 17]), Err(Error::MessageLength { .. })));
    // 2^32 blocks of 4 bytes, from any initial counter.
    let stream = SpeckCtr::new(size("speck32-64"), &[1; 8], &[0xff; 4], ByteOrder::Big).unwrap();
    assert_eq!(stream.xor_at((4 << 32) - 4, &[0; 4]).unwrap().len(), 4);
    let mut data = [0xee; 5];
    for offset in [(4 << 32) - 4, 4 << 32, u64::MAX - 5] {
        assert!(matches!(stream.xor_in_place(offset, &mut data), Err(Error::MessageLength { .. })));
    }
    assert_eq!(data, [0xee; 5], "written although rejected");
}

const STREAMED: [Algorithm; 5] = [
    Algorithm::Aes128Gcm,
    Algorithm::Aes192Gcm,
    Algorithm::Aes256Gcm,
    Algorithm::ChaCha20Poly1305,
    Algorithm::XChaCha20Poly1305,
];

#[test]
fn pieces_give_the_same_message_as_one_call() {
    for algorithm in STREAMED {
        let key = Key::from_bytes(&count(7, algorithm.key_len()));
        let aead = sealane::Aead::new(algorithm, &key).unwrap();
        let nonce = count(1, algorithm.nonce_len());
        for len in [0, 1, 15, 16, 63, 64, 65, 200, 1000, 8191, 8192, 8193, 30_000] {
            for (aad_len, cut) in [(0, 1), (13, 16), (16, 17), (40, 63), (5, 64), (1000, 100), (3, 20_000)] {
                if cut == 1 && len > 1000 {
                    continue;
                }
                let (aad, plain) = (count(3, aad_len), count(5, len));
                let whole = aead.encrypt(&nonce, &plain, &aad).unwrap();
                let (ciphertext, tag) = whole.split_at(len);
                let mut encryptor = AeadEncryptor::new(algorithm, key.as_bytes(), &nonce).unwrap();
                let mut decryptor = AeadDecryptor::new(algorithm, key.as_bytes(), &nonce).unwrap();
                for piece in aad.chunks(cut) {
                    encryptor.aad(piece).unwrap();
                    decryptor.aad(piece).unwrap();
                }
                let mut sealed = Vec::new();
                plain.chunks(cut).for_each(|piece| sealed.extend(encryptor.update(piece).unwrap()));
                let mut opened = ciphertext.to_vec();
                opened.chunks_mut(cut).for_each(|piece| decryptor.xor(InOut::in_place(piece)).unwrap());
                let what = format!("{} len {len} aad {aad_len} cut {cut}", algorithm.name());
                assert!(sealed == ciphertext && opened == plain, "{what}");
                assert_eq!(encryptor.finalize().unwrap(), tag, "{what}");
                assert!(decryptor.finalize(tag).is_ok(), "{what}");
            }
        }
    }
}

#[test]
fn rejects_pieces_out_of_order() {
    for algorithm in STREAMED {
        let (key, nonce) = (vec![1; algorithm.key_len()], vec![2; algorithm.nonce_len()]);
        let mut message = AeadEncryptor::new(algorithm, &key, &nonce).unwrap();
        message.aad(b"a").unwrap().aad(b"b").unwrap();
        message.update(b"").unwrap();
        message.aad(b"c").unwrap();
        let sealed = message.update(b"data").unwrap();
        assert!(matches!(message.aad(b"late"), Err(Error::Misuse(Misuse::AadAfterData))));
        let tag = message.finalize().unwrap();
        let open = |aad: &[u8], tag: &[u8]| {
            let mut message = AeadDecryptor::new(algorithm, &key, &nonce).unwrap();
            message.aad(aad).unwrap().update(&sealed).unwrap();
            message.finalize(tag)
        };
        assert!(open(b"abc", &tag).is_ok());
        assert!(matches!(open(b"ab", &tag), Err(Error::Authentication)));
        assert!(matches!(
            open(b"abc", &tag[..4]),
            Err(Error::Misuse(Misuse::TagLength { got: 4, want: 16 }))
        ));
    }
}

#[test]
fn rejects_wrong_lengths() {
    let key = |result: Result<(), Error>, got, want: &[usize]| match result {
        Err(Error::Misuse(Misuse::KeyLength { got: g, want: w })) => assert_eq!((g, w), (got, want)),
        other => panic!("{other:?}"),
    };
    let nonce = |result: Result<(), Error>, got, want| match result {
        Err(Error::Misuse(Misuse::NonceLength { got: g, want: w })) => assert_eq!((g, w), (got, want)),
        other => panic!("{other:?}"),
    };
    for len in [0, 16, 31, 33] {
        key(ChaCha20::new(&vec![0; len], &[0; 12], 0).map(drop), len, &[32]);
        key(XChaCha20::new(&vec![0; len], &[0; 24], 0).map(drop), len, &[32]);
        key(Poly1305::new(&vec![0; len]).map(drop), len, &[32]);
        key(Poly1305::from_chacha20(&vec![0; len], &[0; 12]).map(drop), len, &[32]);
        nonce(ChaCha20::new(&[0; 32], &vec![0; len], 0).map(drop), len, 12);
        nonce(XChaCha20::new(&[0; 32], &vec![0; len], 0).map(drop), len, 24);
    }
    for size in SpeckSize::ALL {
        key(Speck::new(size, &[0; 5], ByteOrder::Big).map(drop), 5, &[size.key_len()]);
        let ctr = SpeckCtr::new(size, &vec![0; size.key_len()], &[0; 5], ByteOrder::Big);
        nonce(ctr.map(drop), 5, size.block_len());
    }
    for algorithm in STREAMED {
        let fits = vec![0; algorithm.key_len()];
        let made = AeadEncryptor::new(algorithm, &[0; 5], &vec![0; algorithm.nonce_len()]);
        key(made.map(drop), 5, &[algorithm.key_len()]);
        nonce(AeadDecryptor::new(algorithm, &fits, &[0; 5]).map(drop), 5, algorithm.nonce_len());
    }
    for &algorithm in Algorithm::ALL.iter().filter(|algorithm| !STREAMED.contains(algorithm)) {
        let refused = AeadEncryptor::new(algorithm, &[], &[]);
        assert!(
            matches!(refused, Err(Error::Misuse(Misuse::StreamingUnsupported(which))) if which == algorithm)
        );
    }
}

#[test]
fn debug_shows_no_key_and_types_are_send_and_sync() {
    fn check<T: Send + Sync + std::fmt::Debug>(part: &T) {
        let text = format!("{part:?}");
        assert!(text.ends_with(", .. }") && !text.contains("107") && !text.contains("6b"), "{text}");
    }
    let k = [0x6b; 32];
    let size = size("speck128-256");
    check(&ChaCha20::new(&k, &[0; 12], 0).unwrap());
    check(&XChaCha20::new(&k, &[0; 24], 0).unwrap());
    check(&Poly1305::new(&k).unwrap());
    check(&Speck::new(size, &k, ByteOrder::Big).unwrap());
    check(&SpeckCtr::new(size, &k, &[0; 16], ByteOrder::Big).unwrap());
    check(&Aead::new(size, &k).unwrap());
    check(&AeadEncryptor::new(Algorithm::Aes256Gcm, &k, &[0; 12]).unwrap());
    check(&AeadDecryptor::new(Algorithm::ChaCha20Poly1305, &k, &[0; 12]).unwrap());
}

/// Each object names the variant that the listing of this machine shows as chosen.
#[test]
fn variants_are_those_of_the_listing() {
    let listing = sealane::listing();
    let chosen = |algorithm: &str| {
        let line = listing
            .iter()
            .find(|line| line.chosen && (line.algorithm, line.provider) == (algorithm, "native"));
        line.unwrap_or_else(|| panic!("{algorithm}")).variant
    };
    assert_eq!(AesCtr::new(&[1; 16], &[2; 16]).unwrap().variant(), chosen("aes-ctr"));
    assert_eq!(ChaCha20::new(&[1; 32], &[2; 12], 0).unwrap().variant(), chosen("chacha20"));
    assert_eq!(XChaCha20::new(&[1; 32], &[2; 24], 0).unwrap().variant(), chosen("chacha20"));
    assert_eq!(Poly1305::new(&[1; 32]).unwrap().variant(), chosen("poly1305"));
    for size in SpeckSize::ALL {
        let (key, iv) = (count(9, size.key_len()), count(1, size.block_len()));
        let speck = Speck::new(size, &key, ByteOrder::Big).unwrap();
        assert_eq!((speck.name(), speck.block_len()), (size.name(), size.block_len()));
        assert_eq!(speck.variant(), chosen("speck"));
        assert_eq!(SpeckCtr::new(size, &key, &iv, ByteOrder::Big).unwrap().variant(), chosen("speck"));
        let aead = speck_aead(size, &key);
        assert_eq!((aead.size(), aead.variant(), aead.tag_len()), (size, chosen("speck"), 16));
        assert_eq!(aead.overhead(), aead.nonce_len() + aead.tag_len());
        let sealed = aead.encrypt(&count(0, aead.nonce_len()), PLAIN, b"").unwrap();
        assert_eq!(sealed.len(), PLAIN.len() + aead.tag_len());
    }
    for &algorithm in Algorithm::ALL {
        let aead = sealane::Aead::new(algorithm, &Key::generate(algorithm.key_len()).unwrap()).unwrap();
        let line = listing.iter().find(|line| line.chosen && line.algorithm == algorithm.name());
        if let Some(line) = line {
            assert_eq!((aead.variant(), aead.provider().name()), (line.variant, line.provider));
        }
        assert_eq!(aead.max_plaintext_len(), algorithm.max_plaintext_len());
    }
}

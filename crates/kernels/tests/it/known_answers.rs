//! Checks that the known answers of the self-tests are those of the reference implementations.

#[path = "../../src/self_test/mod.rs"]
#[allow(dead_code, reason = "the reference implementations precompute nothing and take no pieces")]
mod self_test;

use kernels::speck::Size;
use self_test::{TEXT, aegis, aes, chacha20, digest, gcm, gcm_siv, poly1305, salsa20, speck, text};

#[test]
#[cfg_attr(miri, ignore = "large")]
fn aes_keystreams_and_blocks() {
    use aes::{BLOCK, CUT, KEY, KNOWN_ANSWERS, MACED, STREAM};
    for answer in &KNOWN_ANSWERS {
        let reference = reference::aes::Aes::new_vartime(&KEY[..answer.key_len]);
        assert_eq!(reference.encrypt_block_vartime(&BLOCK), answer.block, "{}", answer.key_len);
        let mut stream = TEXT[..STREAM].to_vec();
        let (head, tail) = stream.split_at_mut(CUT);
        reference.xor_at_vartime(&BLOCK, 0, head);
        reference.xor_at_vartime(&BLOCK, CUT as u64, tail);
        assert_eq!(digest(&stream), answer.stream, "{}", answer.key_len);
        let mac = text(MACED).chunks(16).fold([0; 16], |x: [u8; 16], block| {
            reference.encrypt_block_vartime(&std::array::from_fn(|i| x[i] ^ block[i]))
        });
        assert_eq!(mac, answer.mac, "{}", answer.key_len);
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn chacha20_keystreams() {
    use chacha20::{AAD, CUT, KEY, KNOWN_ANSWERS, Nonce};
    for answer in &KNOWN_ANSWERS {
        let mut stream = text(answer.len).to_vec();
        let (head, tail) = stream.split_at_mut(CUT);
        for (offset, piece) in [(0, head), (CUT as u64, tail)] {
            match &answer.nonce {
                Nonce::Short(nonce) => {
                    reference::chacha20::xor_at_vartime(&KEY, nonce, answer.counter(), offset, piece);
                }
                Nonce::Long(nonce) => {
                    reference::chacha20::xor_extended_at_vartime(
                        &KEY,
                        nonce,
                        answer.counter(),
                        offset,
                        piece,
                    );
                }
            }
        }
        assert_eq!(digest(&stream), answer.stream, "{}", answer.len);
        let (mut before, counter) = ([0; 64], answer.counter() - 1);
        match &answer.nonce {
            Nonce::Short(nonce) => {
                reference::chacha20::xor_at_vartime(&KEY, nonce, counter, 0, &mut before);
            }
            Nonce::Long(nonce) => {
                reference::chacha20::xor_extended_at_vartime(&KEY, nonce, counter, 0, &mut before);
            }
        }
        let mut message = AAD.to_vec();
        message.resize(message.len().next_multiple_of(16), 0);
        message.extend(stream);
        message.resize(message.len().next_multiple_of(16), 0);
        let tag = reference::poly1305::tag_vartime(before.first_chunk().unwrap(), &message);
        assert_eq!(u128::from_be_bytes(tag), answer.tag, "{}", answer.len);
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn salsa20_keystreams() {
    use salsa20::{CUT, KEY, KNOWN_ANSWERS, NONCE};
    assert!(CUT.is_multiple_of(64));
    for answer in &KNOWN_ANSWERS {
        let block = u64::from(answer.counter);
        let keystream = reference::salsa20::keystream_vartime(&KEY, &NONCE, block, answer.len);
        let stream: Vec<u8> = keystream.iter().zip(text(answer.len)).map(|(x, y)| x ^ y).collect();
        assert_eq!(digest(&stream), answer.stream, "{}", answer.len);
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn gcm_messages() {
    use gcm::{KEY, KNOWN_ANSWERS, NONCE};
    for answer in &KNOWN_ANSWERS {
        let reference = reference::gcm::Gcm::new_vartime(&KEY[..answer.key_len]);
        let (_, tag) = reference.seal_vartime(&NONCE, answer.aad, answer.plain);
        assert_eq!(u128::from_be_bytes(tag), answer.tag, "{} {}", answer.key_len, answer.plain.len());
    }
}

#[test]
fn gcm_siv_messages() {
    use gcm_siv::{KEY, KNOWN_ANSWERS, NONCE};
    for answer in &KNOWN_ANSWERS {
        let reference = reference::gcm_siv::GcmSiv::new_vartime(&KEY[..answer.key_len]);
        let (sealed, tag) = reference.seal_vartime(&NONCE, answer.aad, answer.plain);
        assert_eq!(u128::from_be_bytes(tag), answer.tag, "{} {}", answer.key_len, answer.plain.len());
        assert_eq!(digest(&sealed), answer.sealed, "{} {}", answer.key_len, answer.plain.len());
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn poly1305_tags() {
    for answer in &poly1305::KNOWN_ANSWERS {
        let tag = reference::poly1305::tag_vartime(&answer.key, answer.message);
        assert_eq!(u128::from_be_bytes(tag), answer.tag, "{}", answer.message.len());
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn aegis_messages() {
    use aegis::{KEY, KNOWN_ANSWERS, NONCE};
    for answer in &KNOWN_ANSWERS {
        let reference = reference::aegis::Aegis::new(&KEY[..answer.key_len], answer.degree);
        let (sealed, tag) = reference.seal_vartime(&NONCE[..answer.key_len], answer.aad, answer.plain);
        assert_eq!(u128::from_be_bytes(tag), answer.tag, "{} {}", answer.key_len, answer.degree);
        assert_eq!(digest(&sealed), answer.sealed, "{} {}", answer.key_len, answer.degree);
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn speck_keystreams_and_blocks() {
    use reference::speck::{Order, Speck};
    use speck::{CUTS, KEY, KNOWN_ANSWERS, LEN, iv};
    assert_eq!((CUTS[0], CUTS[CUTS.len() - 1]), (0, LEN));
    for answer in &KNOWN_ANSWERS {
        let (name, size) = (answer.size, Size::from_name(answer.size).unwrap());
        let block = size.block_len();
        for (order, digests) in [(Order::Big, answer.big), (Order::Little, answer.little)] {
            let reference = Speck::new_vartime(8 * block as u32, &KEY[..size.key_len()], order);
            let mut stream = text(LEN).to_vec();
            reference.xor_at_vartime(&iv(block)[..block], 0, &mut stream);
            assert_eq!(digest(&stream), digests.stream, "{name} {order:?}");
            let blocks = text(LEN).chunks(block).flat_map(|block| reference.encrypt_block_vartime(block));
            assert_eq!(digest(&blocks.collect::<Vec<_>>()), digests.blocks, "{name} {order:?}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn the_digest_depends_on_every_bit_and_on_the_order_of_blocks() {
    use aes::STREAM;
    let text = &TEXT[..STREAM];
    let changed = |change: &dyn Fn(&mut [u8])| {
        let mut text = text.to_vec();
        change(&mut text);
        digest(&text) != digest(&TEXT[..STREAM])
    };
    for i in 0..STREAM {
        for bit in 0..8 {
            assert!(changed(&|text| text[i] ^= 1 << bit), "byte {i} bit {bit}");
            // The same bit of the next block, the highest too, which no product moves.
            let next = (i + 16).min(STREAM - 1);
            if next != i {
                assert!(
                    changed(&|text| {
                        text[i] ^= 1 << bit;
                        text[next] ^= 1 << bit;
                    }),
                    "bytes {i} and {next} bit {bit}"
                );
            }
        }
    }
    for i in 1..STREAM / 16 {
        assert!(changed(&|text| text[16 * i - 16..16 * i + 16].rotate_left(16)), "blocks {} and {i}", i - 1);
    }
}

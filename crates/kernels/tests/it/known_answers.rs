//! The answers that a variant must give before it is used are those of the reference implementations.

// The folders as in the crate, so that one file finds the other.
#[path = "../../src/aegis"]
mod aegis {
    pub(crate) mod answers;
}
#[path = "../../src/aes"]
pub(crate) mod aes {
    pub(crate) mod answers;
}
#[path = "../../src/chacha20"]
mod chacha20 {
    pub(crate) mod answers;
}
#[path = "../../src/gcm"]
mod gcm {
    #[allow(dead_code, reason = "the reference makes nothing ahead")]
    pub(crate) mod answers;
}
#[path = "../../src/gcm_siv"]
mod gcm_siv {
    pub(crate) mod answers;
}
#[path = "../../src/poly1305"]
mod poly1305 {
    #[allow(dead_code, reason = "the reference takes no pieces")]
    pub(crate) mod answers;
}

#[path = "../../src/speck"]
mod speck {
    pub(crate) mod answers;
    mod size {
        pub(crate) use kernels::speck::Size;
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn streams() {
    use aes::answers::{ANSWERS, BLOCK, CUT, KEY, STREAM, TEXT, digest};
    for answer in ANSWERS {
        let reference = reference::aes::Aes::new_vartime(&KEY[..answer.key]);
        assert_eq!(reference.encrypt_block_vartime(&BLOCK), answer.block, "{}", answer.key);
        let mut stream = TEXT[..STREAM].to_vec();
        let (head, tail) = stream.split_at_mut(CUT);
        reference.xor_at_vartime(&BLOCK, 0, head);
        reference.xor_at_vartime(&BLOCK, CUT as u64, tail);
        assert_eq!(digest(&stream), answer.stream, "{}", answer.key);
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn streams_of_chacha20() {
    use chacha20::answers::{ANSWERS, CUT, KEY, Nonce, TEXT};
    for answer in &ANSWERS {
        let mut stream = TEXT[..answer.len].to_vec();
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
        assert_eq!(aes::answers::digest(&stream), answer.stream, "{}", answer.len);
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn messages() {
    use gcm::answers::{ANSWERS, KEY, NONCE};
    for answer in &ANSWERS {
        let reference = reference::gcm::Gcm::new_vartime(&KEY[..answer.key]);
        let (_, tag) = reference.seal_vartime(&NONCE, answer.aad, answer.plain);
        assert_eq!(u128::from_be_bytes(tag), answer.tag, "{} {}", answer.key, answer.plain.len());
    }
}

#[test]
fn messages_of_gcm_siv() {
    use gcm_siv::answers::{ANSWERS, KEY, NONCE};
    for answer in &ANSWERS {
        let reference = reference::gcm_siv::GcmSiv::new_vartime(&KEY[..answer.key]);
        let (sealed, tag) = reference.seal_vartime(&NONCE, answer.aad, answer.plain);
        assert_eq!(u128::from_be_bytes(tag), answer.tag, "{} {}", answer.key, answer.plain.len());
        assert_eq!(aes::answers::digest(&sealed), answer.sealed, "{} {}", answer.key, answer.plain.len());
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn macs() {
    for answer in &poly1305::answers::ANSWERS {
        let tag = reference::poly1305::tag_vartime(&answer.key, answer.message);
        assert_eq!(u128::from_be_bytes(tag), answer.tag, "{}", answer.message.len());
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn messages_of_aegis() {
    use aegis::answers::{ANSWERS, KEY, NONCE};
    for answer in &ANSWERS {
        let reference = reference::aegis::Aegis::new(&KEY[..answer.key], answer.degree);
        let (sealed, tag) = reference.seal_vartime(&NONCE[..answer.key], answer.aad, answer.plain);
        assert_eq!(u128::from_be_bytes(tag), answer.tag, "{} {}", answer.key, answer.degree);
        assert_eq!(aes::answers::digest(&sealed), answer.sealed, "{} {}", answer.key, answer.degree);
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn streams_and_blocks_of_speck() {
    use aes::answers::digest;
    use reference::speck::{Order, Speck};
    use speck::answers::{ANSWERS, CUTS, KEY, TEXT, first};
    assert_eq!((CUTS[0], CUTS[CUTS.len() - 1]), (0, TEXT.len()));
    for answer in ANSWERS {
        let (name, block) = (answer.size.name(), answer.size.block_len());
        for (order, digests) in [(Order::Big, answer.big), (Order::Little, answer.little)] {
            let reference = Speck::new_vartime(8 * block as u32, &KEY[..answer.size.key_len()], order);
            let mut stream = TEXT.to_vec();
            reference.xor_at_vartime(&first(block)[..block], 0, &mut stream);
            assert_eq!(digest(&stream), digests.stream, "{name} {order:?}");
            let blocks = TEXT.chunks(block).flat_map(|block| reference.encrypt_block_vartime(block));
            assert_eq!(digest(&blocks.collect::<Vec<_>>()), digests.blocks, "{name} {order:?}");
        }
    }
}

/// Nothing that is the same for two texts is a digest.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn a_digest_sees_every_bit_and_every_exchange() {
    use aes::answers::{STREAM, TEXT, digest};
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

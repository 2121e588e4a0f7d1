//! Every variant of Speck against the reference implementation, for all sizes and both byte orders.

use crate::guarded::{Edge, GuardedBuffer};
use crate::variants::{available, check_removal, every};
use kernels::InOut;
use kernels::cpu::Features;
use kernels::error::{KeyError, MessageError, Part};
use kernels::speck::{self, ByteOrder, Size, Speck};
use reference::speck::{Order, Speck as Reference};
use vectors::{SpeckMode, SpeckOrder};

const LENGTHS: core::ops::RangeInclusive<usize> = 0..=1100;
const ORDERS: [(ByteOrder, Order); 2] = [(ByteOrder::Big, Order::Big), (ByteOrder::Little, Order::Little)];

fn key(size: Size) -> Vec<u8> {
    (0..size.key_len()).map(|i| (97 * i + 13) as u8).collect()
}

fn reference(size: Size, order: Order) -> Reference {
    Reference::new_vartime(8 * size.block_len() as u32, &key(size), order)
}

/// Calls `check` for each size and byte order, with the reference implementation and the keys of
/// all variants.
fn each_reference(mut check: impl FnMut(&str, Size, &Reference, &[Speck])) {
    let variants = available(speck::variants());
    for size in Size::ALL {
        for (order, reference_order) in ORDERS {
            let on = |(name, features): &(&'static str, Features)| {
                let speck = Speck::new(size, &key(size), order, *features).unwrap();
                assert_eq!((speck.variant(), speck.size()), (*name, size));
                speck
            };
            let keys: Vec<Speck> = variants.iter().map(on).collect();
            check(&format!("{} {order:?}", size.name()), size, &reference(size, reference_order), &keys);
        }
    }
}

/// Test data with the period 251. It is a prime number, so all blocks are different, and exchanging
/// two is detected.
fn pattern(i: usize) -> u8 {
    (i % 251) as u8 ^ 0x3c
}

/// Counters that overflow the low word or the whole block, immediately, soon, and after a group of
/// every variant, and one that does not.
fn ivs(size: Size) -> Vec<Vec<u8>> {
    let bits = 8 * size.block_len() as u32;
    let (all, low) = (u128::MAX >> (128 - bits), u128::MAX >> (128 - bits / 2));
    let high = 0x0123_4567_89ab_cdef_u128 << (bits / 2) & all;
    let numbers = [
        0,
        all,
        all - 1,
        all - 21,
        high | low,
        high | (low - 1),
        high | (low - 2),
        high | (low - 60),
        high | (low - 300),
        high | 0xfe,
        0x9ce3_1a56_7d12_0f8b_3b1f_6a5d_84c2_e971 & all,
    ];
    numbers.iter().map(|number| number.to_be_bytes()[16 - size.block_len()..].to_vec()).collect()
}

/// Returns the keystream of the reference implementation from `offset` on.
fn keystream(reference: &Reference, iv: &[u8], offset: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    reference.xor_at_vartime(iv, offset, &mut bytes);
    bytes
}

/// A test that is small enough for Miri, which checks every access without guard pages.
#[test]
fn selected_lengths() {
    for size in Size::ALL {
        for (order, reference_order) in ORDERS {
            let speck = Speck::new(size, &key(size), order, Features::detect()).unwrap();
            let reference = reference(size, reference_order);
            let iv = vec![0xff; size.block_len()];
            let keystream = keystream(&reference, &iv, 0, 200);
            for (offset, len) in [(0, 0), (3, 1), (5, 40), (0, 163)] {
                let mut data: Vec<u8> = (0..len).map(pattern).collect();
                speck.xor_at(&iv, offset as u64, InOut::in_place(&mut data)).unwrap();
                let want = (0..len).map(|i| pattern(i) ^ keystream[offset + i]);
                assert!(want.eq(data), "{} {order:?} offset {offset} len {len}", size.name());
            }
            for blocks in [0, 1, 11] {
                let plain: Vec<u8> = (0..blocks * size.block_len()).map(pattern).collect();
                let mut data = vec![0; plain.len()];
                speck.encrypt_blocks(InOut::apart(&plain, &mut data)).unwrap();
                let want =
                    plain.chunks(size.block_len()).flat_map(|block| reference.encrypt_block_vartime(block));
                assert!(want.eq(data.iter().copied()), "{} {order:?} {blocks} blocks", size.name());
                speck.decrypt_blocks(InOut::in_place(&mut data)).unwrap();
                assert_eq!(data, plain);
            }
        }
    }
}

/// The blocks of the paper, and messages in CTR and CBC mode of other projects.
#[test]
#[cfg_attr(miri, ignore = "files")]
fn published_vectors() {
    let cases = vectors::speck();
    assert_eq!(cases.len(), 87);
    for (variant, features) in available(speck::variants()) {
        for case in &cases {
            let size = Size::from_name(&case.algorithm).unwrap();
            let order = match case.order {
                SpeckOrder::Big => ByteOrder::Big,
                SpeckOrder::Little => ByteOrder::Little,
            };
            let speck = Speck::new(size, &case.key, order, features).unwrap();
            let name = format!("{variant} {} #{} {}", case.file, case.id, case.algorithm);
            let mut data = vec![0; case.plaintext.len()];
            match case.mode {
                SpeckMode::Ctr => {
                    speck.xor_at(&case.iv, 0, InOut::apart(&case.plaintext, &mut data)).unwrap();
                    assert_eq!(data, case.ciphertext, "{name}");
                }
                SpeckMode::Ecb => {
                    speck.encrypt_blocks(InOut::apart(&case.plaintext, &mut data)).unwrap();
                    assert_eq!(data, case.ciphertext, "{name}");
                    speck.decrypt_blocks(InOut::in_place(&mut data)).unwrap();
                    assert_eq!(data, case.plaintext, "{name}");
                }
                SpeckMode::Cbc => {
                    speck.decrypt_blocks(InOut::apart(&case.ciphertext, &mut data)).unwrap();
                    let before = case.iv.iter().chain(&case.ciphertext);
                    data.iter_mut().zip(before).for_each(|(byte, before)| *byte ^= before);
                    assert_eq!(data, case.plaintext, "{name}");
                }
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_length_from_every_offset() {
    each_reference(|name, size, reference, keys| {
        let ivs = ivs(size);
        let keystreams: Vec<_> = ivs.iter().map(|iv| keystream(reference, iv, 0, 1300)).collect();
        for len in every(LENGTHS) {
            let from: Vec<u8> = (0..len).map(pattern).collect();
            let (mut in_place, mut apart) = (from.clone(), vec![0xee; len]);
            for i in 0..ivs.len() {
                let offset = (7 * len + 17 * i) % 90;
                let (iv, keystream) = (&ivs[i], &keystreams[i][offset..]);
                let good = |got: &[u8]| {
                    got.iter().zip(&from).zip(keystream).fold(0, |differ, ((x, y), k)| differ | (x ^ y ^ k))
                        == 0
                };
                for speck in keys {
                    let name = format!("{} {name}", speck.variant());
                    in_place.copy_from_slice(&from);
                    speck.xor_at(iv, offset as u64, InOut::in_place(&mut in_place)).unwrap();
                    assert!(good(&in_place), "{name} iv {i} offset {offset} len {len} in place");
                    speck.xor_at(iv, offset as u64, InOut::apart(&from, &mut apart)).unwrap();
                    assert!(good(&apart), "{name} iv {i} offset {offset} len {len} apart");
                }
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_offset() {
    const SOME: [usize; 13] = [1, 3, 4, 12, 17, 63, 97, 200, 256, 511, 769, 1025, 2000];
    each_reference(|name, size, reference, keys| {
        for iv in ivs(size) {
            let keystream = keystream(reference, &iv, 0, 3200);
            for offset in every(0..1100) {
                let len = SOME[offset % SOME.len()];
                for speck in keys {
                    let mut data = vec![0; len];
                    speck.xor_at(&iv, offset as u64, InOut::in_place(&mut data)).unwrap();
                    let variant = speck.variant();
                    assert!(
                        data == keystream[offset..][..len],
                        "{variant} {name} {iv:x?} offset {offset} len {len}"
                    );
                }
            }
        }
    });
}

/// Returns the number of bytes in the whole keystream, at most 2^64.
fn whole(size: Size) -> u128 {
    let block = size.block_len() as u128;
    if block < 8 { block << (8 * block) } else { 1 << 64 }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn far_offsets() {
    each_reference(|name, size, reference, keys| {
        let block = size.block_len() as u64;
        let words = 1u64.checked_shl(4 * block as u32).and_then(|blocks| blocks.checked_mul(block));
        let middles = [words.unwrap_or(1 << 40), 1 << 33, 1 << 32, 1 << 63];
        for middle in middles.into_iter().filter(|middle| u128::from(*middle) < whole(size)) {
            for offset in
                [middle - 1111, middle - 17, middle - block, middle - 1, middle, middle + 1, middle + 40]
            {
                for iv in &ivs(size)[5..8] {
                    let want = keystream(reference, iv, offset, 1234);
                    for speck in keys {
                        let mut data = vec![0; want.len()];
                        speck.xor_at(iv, offset, InOut::in_place(&mut data)).unwrap();
                        assert!(data == want, "{} {name} {iv:x?} offset {offset:x}", speck.variant());
                    }
                }
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn rejects_data_past_the_period() {
    each_reference(|name, size, reference, keys| {
        let iv = vec![7; size.block_len()];
        for speck in keys {
            let name = format!("{} {name}", speck.variant());
            let xor = |offset, data: &mut [u8]| speck.xor_at(&iv, offset, InOut::in_place(data));
            let past_end =
                |found| Err(MessageError::TooLong { part: Part::Keystream, found, limit: whole(size) });
            for len in LENGTHS.step_by(9).filter(|len| *len > 0) {
                let last = (whole(size) - len as u128) as u64;
                let mut data = vec![0; len];
                xor(last, &mut data).unwrap();
                assert!(data == keystream(reference, &iv, last, len), "{name} len {len}");
                // One more byte is an error, and nothing may be written.
                let mut data = vec![0xab; len + 1];
                assert_eq!(xor(last, &mut data), past_end(whole(size) + 1), "{name} len {len}");
                assert!(data.iter().all(|b| *b == 0xab), "{name} len {len}");
            }
            let end = (whole(size) - 1) as u64;
            assert_eq!(xor(end, &mut []), Ok(()));
            assert_eq!(xor(end, &mut [0]), Ok(()));
            assert_eq!(xor(end, &mut [0; 2]), past_end(whole(size) + 1));
            assert_eq!(xor(u64::MAX, &mut [0; 2]), past_end((1 << 64) + 1));
        }
    });
}

#[test]
fn rejects_ivs_of_other_lengths() {
    for size in Size::ALL {
        let speck = Speck::new(size, &key(size), ByteOrder::Big, Features::detect()).unwrap();
        for len in (0..40).filter(|len| *len != size.block_len()) {
            let mut data = [0xab; 20];
            let wrong = speck.xor_at(&vec![0; len], 0, InOut::in_place(&mut data));
            assert_eq!(
                wrong,
                Err(MessageError::InvalidNonceLength { found: len, expected: size.block_len() })
            );
            assert_eq!(data, [0xab; 20]);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn large_lengths() {
    each_reference(|name, size, reference, keys| {
        for iv in &ivs(size)[8..] {
            let keystream = keystream(reference, iv, 0, (64 << 10) + 100);
            for len in [2 << 10, 4 << 10, 16 << 10, 64 << 10].into_iter().flat_map(|n| [n - 1, n, n + 1]) {
                for (offset, speck) in
                    [0, 3, 16, 17].into_iter().flat_map(|n| keys.iter().map(move |k| (n, k)))
                {
                    let mut data = vec![0; len];
                    speck.xor_at(iv, offset as u64, InOut::in_place(&mut data)).unwrap();
                    let variant = speck.variant();
                    assert!(
                        data == keystream[offset..][..len],
                        "{variant} {name} {iv:x?} offset {offset} len {len}"
                    );
                }
            }
        }
    });
}

/// Checks long data with a low word of 16 bits, which overflows every 256 KiB.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn low_word_overflows_repeatedly() {
    for (order, reference_order) in ORDERS {
        let size = Size::Speck32_64;
        let iv = [0xff, 0xfd, 0xff, 0x00];
        let want = keystream(&reference(size, reference_order), &iv, 3, 800_000);
        for (name, features) in available(speck::variants()) {
            let speck = Speck::new(size, &key(size), order, features).unwrap();
            let mut data = vec![0; want.len()];
            speck.xor_at(&iv, 3, InOut::in_place(&mut data)).unwrap();
            assert!(data == want, "{name} {order:?}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn pieces_equal_one_call() {
    let len = 1300;
    each_reference(|name, size, _, keys| {
        for (iv, speck) in ivs(size)[6..9].iter().flat_map(|iv| keys.iter().map(move |speck| (iv, speck))) {
            let mut whole: Vec<u8> = (0..len).map(pattern).collect();
            speck.xor_at(iv, 5, InOut::in_place(&mut whole)).unwrap();
            for cut in 0..=len {
                let mut data: Vec<u8> = (0..len).map(pattern).collect();
                let (a, b) = data.split_at_mut(cut);
                speck.xor_at(iv, 5 + cut as u64, InOut::in_place(b)).unwrap();
                speck.xor_at(iv, 5, InOut::in_place(a)).unwrap();
                assert!(data == whole, "{} {name} cut at {cut}", speck.variant());
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_number_of_blocks() {
    each_reference(|name, size, reference, keys| {
        let block = size.block_len();
        let plain: Vec<u8> = (0..1000 * block).map(pattern).collect();
        let sealed: Vec<u8> =
            plain.chunks(block).flat_map(|block| reference.encrypt_block_vartime(block)).collect();
        let opened = plain.chunks(block).flat_map(|block| reference.decrypt_block_vartime(block));
        let opened: Vec<u8> = opened.collect();
        for len in (0..400).chain([767, 768, 769, 999, 1000]).map(|blocks| blocks * block) {
            for speck in keys {
                let name = format!("{} {name} {len} bytes", speck.variant());
                let mut data = vec![0xee; len];
                speck.encrypt_blocks(InOut::apart(&plain[..len], &mut data)).unwrap();
                assert!(data == sealed[..len], "{name}: encrypted apart");
                speck.decrypt_blocks(InOut::in_place(&mut data)).unwrap();
                assert!(data == plain[..len], "{name}: decrypted in place");
                speck.encrypt_blocks(InOut::in_place(&mut data)).unwrap();
                assert!(data == sealed[..len], "{name}: encrypted in place");
                speck.decrypt_blocks(InOut::apart(&plain[..len], &mut data)).unwrap();
                assert!(data == opened[..len], "{name}: decrypted apart");
            }
        }
        for speck in keys {
            for len in (0..600).filter(|len| len % block > 0) {
                let mut data = vec![0xab; len];
                let partial = Err(MessageError::PartialBlock { found: len, block_len: block });
                assert_eq!(speck.encrypt_blocks(InOut::in_place(&mut data)), partial);
                assert_eq!(speck.decrypt_blocks(InOut::in_place(&mut data)), partial);
                assert!(data.iter().all(|byte| *byte == 0xab), "{name} {len}");
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_alignment() {
    const MARGIN: usize = 80;
    each_reference(|name, size, reference, keys| {
        let iv = ivs(size).remove(10);
        let keystream = keystream(reference, &iv, 9, 1700);
        for n in 0..64 * 64 {
            let (read, write, len) = (n % 64, n / 64, [600, 64, 33, 131, 1657][n % 5]);
            let speck = &keys[n % keys.len()];
            let from: Vec<u8> = (0..read + len).map(pattern).collect();
            let from = &from[read..];
            let mut to = vec![0xa5u8; MARGIN + write + len + MARGIN];
            let at = MARGIN + write;
            speck.xor_at(&iv, 9, InOut::apart(from, &mut to[at..at + len])).unwrap();
            let good = |i: usize, b: u8| match i.checked_sub(at) {
                Some(i) if i < len => b == from[i] ^ keystream[i],
                _ => b == 0xa5,
            };
            assert!(
                to.iter().enumerate().all(|(i, b)| good(i, *b)),
                "{} {name} from {read} to {write} len {len}",
                speck.variant()
            );
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn accesses_no_byte_out_of_bounds() {
    let (mut source, mut target) = (GuardedBuffer::new(), GuardedBuffer::new());
    each_reference(|name, size, reference, keys| {
        let (iv, block) = (ivs(size).remove(7), size.block_len());
        let keystream = keystream(reference, &iv, 0, 1200);
        for (len, speck) in LENGTHS.flat_map(|len| keys.iter().map(move |speck| (len, speck))) {
            for (edge, offset) in [(Edge::Start, len % 16), (Edge::End, 0), (Edge::End, len % 37)] {
                let (from, to) = (source.bytes(len, edge), target.bytes(len, edge));
                from.iter_mut().enumerate().for_each(|(i, b)| *b = pattern(i));
                speck.xor_at(&iv, offset as u64, InOut::apart(from, to)).unwrap();
                let good = to.iter().enumerate().all(|(i, b)| *b == pattern(i) ^ keystream[offset + i]);
                assert!(good, "{} {name} len {len} offset {offset} {edge:?} apart", speck.variant());
                // The second call restores the data.
                speck.xor_at(&iv, offset as u64, InOut::in_place(to)).unwrap();
                assert!(to == from, "{} {name} len {len} offset {offset} {edge:?}", speck.variant());
                if len % block == 0 {
                    speck.encrypt_blocks(InOut::apart(from, to)).unwrap();
                    speck.decrypt_blocks(InOut::in_place(to)).unwrap();
                    assert!(to == from, "{} {name} {len} bytes of blocks {edge:?}", speck.variant());
                }
            }
        }
    });
}

#[test]
fn accepts_only_the_key_lengths_of_the_paper() {
    for size in Size::ALL {
        for len in 0..50 {
            let made = Speck::new(size, &vec![1; len], ByteOrder::Big, Features::detect());
            if len == size.key_len() {
                assert!(made.is_ok());
            } else {
                assert_eq!(made.err(), Some(KeyError::InvalidLength(len)));
            }
        }
    }
}

#[test]
fn removing_features_selects_the_next_variant() {
    let order = ["avx512vbmi2", "avx512vbmi", "avx512f", "avx2", "neon"];
    check_removal(speck::variants, &order, |features| {
        Speck::new(Size::Speck64_128, &[3; 16], ByteOrder::Big, features).unwrap().variant()
    });
}

#[test]
fn keys_are_send_and_sync_and_debug_hides_them() {
    fn crosses<T: Send + Sync>(_: &T) {}
    let speck = Speck::new(Size::Speck128_256, &[0x6b; 32], ByteOrder::Little, Features::NONE).unwrap();
    crosses(&speck);
    assert_eq!(
        format!("{speck:?}"),
        "Speck { size: Speck128_256, order: Little, variant: \"portable\", .. }"
    );
}

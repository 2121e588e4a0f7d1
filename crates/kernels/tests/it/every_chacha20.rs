//! Every variant of ChaCha20 and XChaCha20 against the reference implementation.

use crate::guarded::{Edge, GuardedBuffer};
use crate::variants::{available, check_removal, every};
use ::reference::chacha20 as reference;
use kernels::InOut;
use kernels::chacha20::{self, ChaCha20, XChaCha20};
use kernels::cpu::Features;
use kernels::error::{MessageError, Part};

const KEY: [u8; 32] = {
    let mut key = [0; 32];
    let mut i = 0;
    while i < 32 {
        key[i] = (97 * i + 13) as u8;
        i += 1;
    }
    key
};

const NONCE: [u8; 12] = *b"\x3b\x1f\x6a\xff\xff\xff\xff\x9c\xe3\x1a\x56\x7d";
const LENGTHS: core::ops::RangeInclusive<usize> = 0..=1100;
/// Counters of the first block: at the beginning, where the counter carries to the next byte, and
/// others.
const COUNTERS: [u32; 6] = [0, 1, 0xf9, 0xfff1, 0x00ff_fffd, 0x9ce3_1a56];
/// Number of bytes in all blocks.
const END: u64 = 64 << 32;

/// Calls `check` with a key of each variant.
fn each_variant(mut check: impl FnMut(&str, &ChaCha20)) {
    for (name, features) in available(chacha20::variants()) {
        let key = ChaCha20::new(&KEY, features).unwrap();
        assert_eq!(key.variant(), name);
        check(name, &key);
    }
}

/// Test data with the period 251. It is a prime number, so all blocks are different, and exchanging
/// two is detected.
fn pattern(i: usize) -> u8 {
    (i % 251) as u8 ^ 0x3c
}

/// Returns the keystream of the reference implementation from `offset` on.
fn keystream(counter: u32, offset: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    reference::xor_at_vartime(&KEY, &NONCE, counter, offset, &mut bytes);
    bytes
}

/// Returns a generator of pseudorandom numbers (xorshift) with a fixed seed.
fn random_below() -> impl FnMut(usize) -> usize {
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    move |below| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x % below as u64) as usize
    }
}

/// A test that is small enough for Miri, which checks every access without guard pages.
#[test]
fn selected_lengths() {
    let key = ChaCha20::new(&KEY, Features::detect()).unwrap();
    assert!(!cfg!(miri) || key.variant() == "portable", "Miri has no other instructions");
    let keystream = keystream(COUNTERS[2], 0, 900);
    for (offset, len) in [(0, 0), (0, 16), (3, 1), (5, 40), (63, 17), (65, 256), (0, 259), (70, 830)] {
        let from: Vec<u8> = (0..len).map(pattern).collect();
        let want: Vec<u8> = (0..len).map(|i| pattern(i) ^ keystream[offset + i]).collect();
        let (mut in_place, mut apart) = (from.clone(), vec![0xee; len]);
        key.xor_at(&NONCE, COUNTERS[2], offset as u64, InOut::in_place(&mut in_place)).unwrap();
        key.xor_at(&NONCE, COUNTERS[2], offset as u64, InOut::apart(&from, &mut apart)).unwrap();
        assert_eq!(in_place, want, "offset {offset} len {len} in place");
        assert_eq!(apart, want, "offset {offset} len {len} apart");
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_length_from_every_offset() {
    let keystreams = COUNTERS.map(|counter| keystream(counter, 0, 1300));
    each_variant(|name, key| {
        for len in every(LENGTHS) {
            let from: Vec<u8> = (0..len).map(pattern).collect();
            let (mut in_place, mut apart) = (from.clone(), vec![0xee; len]);
            for offset in (0..66).chain([127, 128, 129]) {
                let which = (len + offset) % COUNTERS.len();
                let counter = COUNTERS[which];
                let good = |got: &[u8]| {
                    let keystream = &keystreams[which][offset..];
                    got.iter().zip(&from).zip(keystream).fold(0, |differ, ((x, y), k)| differ | (x ^ y ^ k))
                        == 0
                };
                in_place.copy_from_slice(&from);
                key.xor_at(&NONCE, counter, offset as u64, InOut::in_place(&mut in_place)).unwrap();
                assert!(good(&in_place), "{name} counter {counter} offset {offset} len {len} in place");
                key.xor_at(&NONCE, counter, offset as u64, InOut::apart(&from, &mut apart)).unwrap();
                assert!(good(&apart), "{name} counter {counter} offset {offset} len {len} apart");
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_offset() {
    const SOME: [usize; 14] = [1, 15, 16, 17, 63, 64, 65, 200, 256, 511, 512, 513, 1025, 2000];
    let keystream = keystream(0xfff1, 0, 3200);
    each_variant(|name, key| {
        for offset in every(0..1100) {
            let len = SOME[offset % SOME.len()];
            let mut data = vec![0; len];
            key.xor_at(&NONCE, 0xfff1, offset as u64, InOut::in_place(&mut data)).unwrap();
            assert!(data == keystream[offset..][..len], "{name} offset {offset} len {len}");
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn offsets_equal_later_counters() {
    each_variant(|name, key| {
        for counter in [0, 1, 0xffff, 0x8000_0000] {
            for block in [1u32, 15, 16, 17, 1 << 16, 0x7fff_fff0] {
                for skip in [0, 1, 63] {
                    let (mut a, mut b) = (vec![0; 700], vec![0; 700]);
                    let offset = 64 * u64::from(block) + skip;
                    key.xor_at(&NONCE, counter, offset, InOut::in_place(&mut a)).unwrap();
                    key.xor_at(&NONCE, counter + block, skip, InOut::in_place(&mut b)).unwrap();
                    assert!(a == b, "{name} counter {counter} block {block} skip {skip}");
                    let want = keystream(counter, offset, 700);
                    assert!(a == want, "{name} counter {counter} block {block} skip {skip}");
                }
            }
        }
    });
}

/// The last block is 2^32 - 1. Data that need another block are an error, and nothing is written.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn rejects_data_past_the_last_block() {
    let past_end = |found| Err(MessageError::TooLong { part: Part::Keystream, found, limit: 64 << 32 });
    each_variant(|name, key| {
        for before in (1..=80).chain([127, 128, 129, 200]) {
            let counter = 0u32.wrapping_sub(before);
            let remaining = 64 * before as usize;
            for offset in [0, 1, 33, 63, remaining - 1] {
                let fits = remaining - offset;
                let want = keystream(counter, offset as u64, fits);
                for len in [fits, fits - 1, fits / 2] {
                    let mut data = vec![0; len];
                    key.xor_at(&NONCE, counter, offset as u64, InOut::in_place(&mut data)).unwrap();
                    assert!(
                        data == want[..len],
                        "{name} {before} blocks before the end, offset {offset} len {len}"
                    );
                }
                for len in [fits + 1, fits + 63, fits + 64, fits + 65, fits + 5000] {
                    let from = vec![1; len];
                    let mut data = vec![0xab; len];
                    let got = key.xor_at(&NONCE, counter, offset as u64, InOut::apart(&from, &mut data));
                    assert_eq!(
                        got,
                        past_end((64 << 32) + (len - fits) as u128),
                        "{name} {before} blocks before the end, offset {offset} len {len}"
                    );
                    assert!(data.iter().all(|b| *b == 0xab), "{name} wrote past the end");
                }
            }
        }
        // The same end, reached by the offset alone.
        let mut data = vec![0; 1000];
        key.xor_at(&NONCE, 0, END - 1000, InOut::in_place(&mut data)).unwrap();
        assert!(data == keystream(0, END - 1000, 1000), "{name}");
        for offset in [END - 999, END, END + 1, u64::MAX - 1000, u64::MAX] {
            for counter in [0, 1, u32::MAX] {
                let mut data = vec![0xab; 1000];
                let got = key.xor_at(&NONCE, counter, offset, InOut::in_place(&mut data));
                assert_eq!(got, past_end(64 * u128::from(counter) + u128::from(offset) + 1000), "{name}");
                assert!(data.iter().all(|b| *b == 0xab), "{name} wrote past the end");
                // Empty data need no block.
                assert_eq!(key.xor_at(&NONCE, counter, offset, InOut::in_place(&mut [])), Ok(()));
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn large_lengths() {
    let max = (64 << 10) + 200;
    for counter in [0, 0x00ff_ff00, 0u32.wrapping_sub(max as u32 / 64 + 1)] {
        let keystream = keystream(counter, 0, max);
        each_variant(|name, key| {
            for len in [1, 2, 3, 4, 5, 6, 7, 8, 16, 64].into_iter().flat_map(|n| {
                let n = n << 10;
                [n - 65, n - 64, n - 1, n, n + 1, n + 64, n + 65]
            }) {
                for offset in [0, 3, 64, 65] {
                    let mut data = vec![0; len];
                    key.xor_at(&NONCE, counter, offset as u64, InOut::in_place(&mut data)).unwrap();
                    assert!(
                        data == keystream[offset..][..len],
                        "{name} counter {counter} offset {offset} len {len}"
                    );
                }
            }
        });
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn pieces_equal_one_call() {
    let len = 1300;
    let mut below = random_below();
    each_variant(|name, key| {
        let mut whole: Vec<u8> = (0..len).map(pattern).collect();
        key.xor_at(&NONCE, 7, 5, InOut::in_place(&mut whole)).unwrap();
        for cut in 0..=len {
            let mut data: Vec<u8> = (0..len).map(pattern).collect();
            let (a, b) = data.split_at_mut(cut);
            key.xor_at(&NONCE, 7, 5 + cut as u64, InOut::in_place(b)).unwrap();
            key.xor_at(&NONCE, 7, 5, InOut::in_place(a)).unwrap();
            assert!(data == whole, "{name} cut at {cut}");
        }
        let len = 20_000;
        let mut whole: Vec<u8> = (0..len).map(pattern).collect();
        key.xor_at(&NONCE, 7, 0, InOut::in_place(&mut whole)).unwrap();
        for round in 0..200 {
            let mut data: Vec<u8> = (0..len).map(pattern).collect();
            let (mut done, max) = (0, [3, 70, 300, 3000, 9000][round % 5]);
            while done < len {
                let n = below(max + 1).min(len - done);
                key.xor_at(&NONCE, 7, done as u64, InOut::in_place(&mut data[done..][..n])).unwrap();
                done += n;
            }
            assert!(data == whole, "{name} pieces of up to {max}");
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_alignment() {
    const MARGIN: usize = 80;
    let keystream = keystream(3, 9, 2700);
    each_variant(|name, key| {
        for n in 0..64 * 64 {
            let (read, write, len) = (n % 64, n / 64, [600, 64, 33, 131, 257, 2690][n % 6]);
            let from: Vec<u8> = (0..read + len).map(pattern).collect();
            let mut to = vec![0xee; write + len + MARGIN];
            let target = &mut to[write..][..len];
            key.xor_at(&NONCE, 3, 9, InOut::apart(&from[read..], target)).unwrap();
            let good = target.iter().enumerate().all(|(i, b)| *b == pattern(read + i) ^ keystream[i]);
            assert!(good, "{name} read {read} write {write} len {len}");
            assert!(
                to[..write].iter().chain(&to[write + len..]).all(|b| *b == 0xee),
                "{name} wrote out of bounds"
            );
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "no mmap")]
fn accesses_no_byte_out_of_bounds() {
    let (mut source, mut target) = (GuardedBuffer::new(), GuardedBuffer::new());
    let keystream = keystream(3, 0, 4000);
    each_variant(|name, key| {
        for len in every(LENGTHS).chain([2047, 2048, 2049, 3071, 3072, 3073, 3700]) {
            for (edge, offset) in [(Edge::Start, len % 64), (Edge::End, 0), (Edge::End, len % 137)] {
                let (from, to) = (source.bytes(len, edge), target.bytes(len, edge));
                from.iter_mut().enumerate().for_each(|(i, b)| *b = pattern(i));
                key.xor_at(&NONCE, 3, offset as u64, InOut::apart(from, to)).unwrap();
                let good = to.iter().enumerate().all(|(i, b)| *b == pattern(i) ^ keystream[offset + i]);
                assert!(good, "{name} len {len} offset {offset} {edge:?} apart");
                // The second call restores the data.
                key.xor_at(&NONCE, 3, offset as u64, InOut::in_place(to)).unwrap();
                assert!(to == from, "{name} len {len} offset {offset} {edge:?} in place");
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn long_nonces() {
    each_variant(|name, _| {
        let (_, features) =
            available(chacha20::variants()).into_iter().find(|(variant, _)| *variant == name).unwrap();
        for seed in 0..50u8 {
            let key: [u8; 32] = core::array::from_fn(|i| (i as u8).wrapping_mul(31) ^ seed);
            let nonce: [u8; 24] = core::array::from_fn(|i| (i as u8).wrapping_mul(73) ^ seed.wrapping_mul(5));
            let x = XChaCha20::new(&key, features).unwrap();
            assert_eq!(x.variant(), name);
            let (counter, offset) = (COUNTERS[usize::from(seed) % 6], 7 * u64::from(seed));
            let len = 61 * usize::from(seed);
            let mut want = vec![0x77; len];
            reference::xor_extended_at_vartime(&key, &nonce, counter, offset, &mut want);
            let mut data = vec![0x77; len];
            x.xor_at(&nonce, counter, offset, InOut::in_place(&mut data)).unwrap();
            assert!(data == want, "{name} {seed}");
            // The same with the derived key.
            let mut rest = [0; 12];
            rest[4..].copy_from_slice(&nonce[16..]);
            let derived = x.subkey(nonce[..16].try_into().unwrap());
            assert_eq!(derived.variant(), name);
            derived.xor_at(&rest, counter, offset, InOut::in_place(&mut data)).unwrap();
            assert!(data.iter().all(|b| *b == 0x77), "{name} {seed}");
            let past = x.xor_at(&nonce, u32::MAX, 1, InOut::in_place(&mut [0; 64]));
            let limit = 64 << 32;
            assert_eq!(past, Err(MessageError::TooLong { part: Part::Keystream, found: limit + 1, limit }));
        }
    });
}

/// Vectors of RFC 8439, sections 2.3.2, 2.4.2, 2.6.2 and appendices A.1, A.2, A.4; the XChaCha
/// draft, 2.2.1 and A.3.2.
#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn published_vectors() {
    for (name, features) in available(chacha20::variants()) {
        for case in vectors::chacha20() {
            let what = format!("{name} {} {}", case.file, case.id);
            match case.part {
                vectors::ChaCha20Part::Stream { nonce, counter, plaintext: mut data, ciphertext } => {
                    let here = InOut::in_place(&mut data);
                    if let Ok(nonce) = <[u8; 12]>::try_from(&nonce[..]) {
                        ChaCha20::new(&case.key, features).unwrap().xor_at(&nonce, counter, 0, here).unwrap();
                    } else {
                        let nonce: [u8; 24] = nonce.try_into().unwrap();
                        XChaCha20::new(&case.key, features)
                            .unwrap()
                            .xor_at(&nonce, counter, 0, here)
                            .unwrap();
                    }
                    assert_eq!(data, ciphertext, "{what}");
                }
                vectors::ChaCha20Part::Subkey { nonce, subkey } => {
                    let (mut a, mut b) = ([0; 300], [0; 300]);
                    let derived = XChaCha20::new(&case.key, features).unwrap().subkey(&nonce);
                    derived.xor_at(&NONCE, 0, 0, InOut::in_place(&mut a)).unwrap();
                    reference::xor_at_vartime(&subkey, &NONCE, 0, 0, &mut b);
                    assert_eq!(a, b, "{what}");
                }
            }
        }
    }
}

#[test]
fn removing_features_selects_the_next_variant() {
    let order = ["avx512vl", "avx512bw", "avx512f", "bmi2", "avx2", "neon"];
    check_removal(chacha20::variants, &order, |features| ChaCha20::new(&KEY, features).unwrap().variant());
}

#[test]
fn keys_are_send_and_sync_and_debug_hides_them() {
    fn crosses<T: Send + Sync>(_: &T) {}
    let key = ChaCha20::new(&[0x6b; 32], Features::NONE).unwrap();
    let long = XChaCha20::new(&[0x6b; 32], Features::NONE).unwrap();
    crosses(&key);
    crosses(&long);
    assert_eq!(format!("{key:?}"), "ChaCha20 { variant: \"portable\", .. }");
    assert_eq!(format!("{long:?}"), "XChaCha20 { variant: \"portable\", .. }");
}

//! Every variant of AES-CTR against the reference implementation.

use crate::guarded::{Edge, GuardedBuffer};
use crate::variants::{available, check_removal, every};
use kernels::aes::Aes;
use kernels::cpu::Features;
use kernels::error::{KeyError, MessageError, Part};
use kernels::{InOut, aes};

const KEY: [u8; 32] = {
    let mut key = [0; 32];
    let mut i = 0;
    while i < 32 {
        key[i] = (97 * i + 13) as u8;
        i += 1;
    }
    key
};

/// Counters that overflow 32, 64 and all 128 bits within the first blocks, and others.
const IVS: [u128; 8] = [
    0,
    0xffff_fff1,
    0xfffe_ffff_ffff,
    0x0011_2233_4455_6677_ffff_ffff_ffff_fffd,
    0x0011_2233_4455_6677_ffff_ffff_ffff_ffc3,
    u128::MAX,
    u128::MAX - 21,
    0x9ce3_1a56_7d12_0f8b_3b1f_6a5d_84c2_e971,
];

const LENGTHS: core::ops::RangeInclusive<usize> = 0..=1100;

/// Calls `check` for each variant and key size, with the reference implementation.
fn each_key(mut check: impl FnMut(&str, &Aes, &reference::aes::Aes)) {
    for (name, features) in available(aes::variants()) {
        for bits in [128, 192, 256] {
            let key = &KEY[..bits / 8];
            let aes = Aes::new(key, features).unwrap();
            assert_eq!(aes.variant(), name);
            check(&format!("{name} AES-{bits}"), &aes, &reference::aes::Aes::new_vartime(key));
        }
    }
}

/// Test data with the period 251. It is a prime number, so all blocks are different, and exchanging
/// two is detected.
fn pattern(i: usize) -> u8 {
    (i % 251) as u8 ^ 0x3c
}

/// Returns the keystream of the reference implementation from `offset` on.
fn keystream(reference: &reference::aes::Aes, iv: u128, offset: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    reference.xor_at_vartime(&iv.to_be_bytes(), offset, &mut bytes);
    bytes
}

/// A test that is small enough for Miri, which checks every access without guard pages.
#[test]
fn selected_lengths() {
    let aes = Aes::new(&KEY, Features::detect()).unwrap();
    assert!(!cfg!(miri) || aes.variant() == "portable", "Miri has no other instructions");
    let keystream = keystream(&reference::aes::Aes::new_vartime(&KEY), u128::MAX, 0, 300);
    for (offset, len) in [(0, 0), (0, 16), (3, 1), (5, 40), (15, 17), (33, 256), (0, 259)] {
        let from: Vec<u8> = (0..len).map(pattern).collect();
        let want: Vec<u8> = (0..len).map(|i| pattern(i) ^ keystream[offset + i]).collect();
        let (mut in_place, mut apart) = (from.clone(), vec![0xee; len]);
        aes.xor_at(&[0xff; 16], offset as u64, InOut::in_place(&mut in_place)).unwrap();
        aes.xor_at(&[0xff; 16], offset as u64, InOut::apart(&from, &mut apart)).unwrap();
        assert_eq!(in_place, want, "offset {offset} len {len} in place");
        assert_eq!(apart, want, "offset {offset} len {len} apart");
    }
}

// claim: tested-kernels
#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_length_from_every_offset() {
    each_key(|name, aes, reference| {
        let keystreams = IVS.map(|iv| keystream(reference, iv, 0, 1200));
        for len in every(LENGTHS) {
            let from: Vec<u8> = (0..len).map(pattern).collect();
            let (mut in_place, mut apart) = (from.clone(), vec![0xee; len]);
            for offset in 0..71 {
                let which = (len + offset) % IVS.len();
                let iv = IVS[which].to_be_bytes();
                let good = |got: &[u8]| {
                    let keystream = &keystreams[which][offset..];
                    got.iter().zip(&from).zip(keystream).fold(0, |differ, ((x, y), k)| differ | (x ^ y ^ k))
                        == 0
                };
                in_place.copy_from_slice(&from);
                aes.xor_at(&iv, offset as u64, InOut::in_place(&mut in_place)).unwrap();
                assert!(good(&in_place), "{name} iv {which} offset {offset} len {len} in place");
                aes.xor_at(&iv, offset as u64, InOut::apart(&from, &mut apart)).unwrap();
                assert!(good(&apart), "{name} iv {which} offset {offset} len {len} apart");
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_offset() {
    const SOME: [usize; 14] = [1, 15, 16, 17, 63, 64, 65, 200, 256, 511, 512, 513, 1025, 2000];
    each_key(|name, aes, reference| {
        for iv in IVS {
            let keystream = keystream(reference, iv, 0, 3200);
            for offset in every(0..1100) {
                let len = SOME[offset % SOME.len()];
                let mut data = vec![0; len];
                aes.xor_at(&iv.to_be_bytes(), offset as u64, InOut::in_place(&mut data)).unwrap();
                assert!(data == keystream[offset..][..len], "{name} iv {iv:x} offset {offset} len {len}");
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn far_offsets() {
    const BLOCKS_32: u64 = 16 << 32;
    each_key(|name, aes, reference| {
        for iv in IVS {
            for middle in [BLOCKS_32, 1 << 32, 1 << 63, u64::MAX - 2000] {
                for offset in
                    [middle - 1111, middle - 17, middle - 16, middle - 1, middle, middle + 1, middle + 40]
                {
                    let mut data = vec![0; 1234];
                    aes.xor_at(&iv.to_be_bytes(), offset, InOut::in_place(&mut data)).unwrap();
                    let want = keystream(reference, iv, offset, data.len());
                    assert!(data == want, "{name} iv {iv:x} offset {offset:x}");
                }
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn rejects_data_past_2_to_the_64() {
    let limit = 1 << 64;
    let past_end = Err(MessageError::TooLong { part: Part::Keystream, found: limit + 1, limit });
    each_key(|name, aes, reference| {
        for len in LENGTHS.step_by(9).filter(|len| *len > 0) {
            let last = (len as u64).wrapping_neg();
            let mut data = vec![0; len];
            aes.xor_at(&[7; 16], last, InOut::in_place(&mut data)).unwrap();
            assert!(
                data == keystream(reference, u128::from_be_bytes([7; 16]), last, len),
                "{name} len {len}"
            );
            // One more byte is an error, and nothing may be written.
            let mut data = vec![0xab; len + 1];
            assert_eq!(aes.xor_at(&[7; 16], last, InOut::in_place(&mut data)), past_end);
            assert!(data.iter().all(|b| *b == 0xab), "{name} len {len}");
        }
        assert_eq!(aes.xor_at(&[7; 16], u64::MAX, InOut::in_place(&mut [])), Ok(()));
        assert_eq!(aes.xor_at(&[7; 16], u64::MAX, InOut::in_place(&mut [0])), Ok(()));
        assert_eq!(aes.xor_at(&[7; 16], u64::MAX, InOut::in_place(&mut [0; 2])), past_end);
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn large_lengths() {
    each_key(|name, aes, reference| {
        for iv in [0, 0x0011_2233_4455_6677_ffff_ffff_ffff_ff00, u128::MAX - 200] {
            let keystream = keystream(reference, iv, 0, (64 << 10) + 100);
            for len in [2 << 10, 4 << 10, 16 << 10, 64 << 10].into_iter().flat_map(|n| [n - 1, n, n + 1]) {
                for offset in [0, 3, 16, 17] {
                    let mut data = vec![0; len];
                    aes.xor_at(&iv.to_be_bytes(), offset as u64, InOut::in_place(&mut data)).unwrap();
                    assert!(data == keystream[offset..][..len], "{name} iv {iv:x} offset {offset} len {len}");
                }
            }
        }
    });
}

/// Lengths for which two rounds are computed once, from every last byte of the counter. The table
/// is another one when the low 40 bits of the counter overflow, and the data is cut where the low
/// 64 bits do.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn two_rounds_computed_once() {
    const LONG: usize = 64 << 10;
    const PERIOD: usize = 256 * 16;
    const STARTS: [u128; 5] = [
        0,
        0x0102_0304_0506_0708_a1a2_a3a4_feff_fe00,
        // The low 40 bits overflow after 512 blocks, and after so many that long data is left
        // before and behind.
        0x0102_0304_0506_0708_a1a2_a3ff_ffff_fe00,
        0x0102_0304_0506_0708_a1a2_a3ff_ffff_e800,
        0x55u128 << 64 | 0xffff_ffff_ffff_fc00,
    ];
    each_key(|name, aes, reference| {
        for (which, iv) in STARTS.into_iter().enumerate() {
            let keystream = keystream(reference, iv, 0, 4 * LONG);
            let check = |offset: usize, len: usize| {
                let from: Vec<u8> = (0..len).map(pattern).collect();
                let want: Vec<u8> = from.iter().zip(&keystream[offset..]).map(|(x, k)| x ^ k).collect();
                let (mut in_place, mut apart) = (from.clone(), vec![0xee; len]);
                let iv = iv.to_be_bytes();
                aes.xor_at(&iv, offset as u64, InOut::in_place(&mut in_place)).unwrap();
                aes.xor_at(&iv, offset as u64, InOut::apart(&from, &mut apart)).unwrap();
                assert!(in_place == want, "{name} start {which} offset {offset} len {len} in place");
                assert!(apart == want, "{name} start {which} offset {offset} len {len} apart");
            };
            let step = if name.starts_with("portable") { 64 } else { 1 + 12 * which };
            for byte in (0..256).step_by(step) {
                // All remainders of a block, of groups of any width and of a period.
                check(16 * byte, LONG + 37 * byte);
            }
            // From inside a block, and around the smallest length and whole periods.
            for offset in [0, 1, 15, 17, PERIOD - 1, 3 * PERIOD + 5] {
                for len in [LONG - 1, LONG, LONG + 1, LONG + PERIOD - offset % PERIOD, 3 * LONG] {
                    check(offset, len);
                }
            }
        }
    });
}

/// 1 MiB, in which the second byte of the counter changes 256 times.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn one_mebibyte() {
    each_key(|name, aes, reference| {
        let iv = 0xffff_fff0_0000_u128 + 77;
        let keystream = keystream(reference, iv, 0, 1 << 20);
        let mut data = vec![0; 1 << 20];
        aes.xor_at(&iv.to_be_bytes(), 0, InOut::in_place(&mut data)).unwrap();
        assert!(data == keystream, "{name}");
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn pieces_equal_one_call() {
    let len = 1300;
    each_key(|name, aes, _| {
        for iv in [IVS[4], IVS[6], IVS[7]] {
            let iv = iv.to_be_bytes();
            let mut whole: Vec<u8> = (0..len).map(pattern).collect();
            aes.xor_at(&iv, 5, InOut::in_place(&mut whole)).unwrap();
            for cut in 0..=len {
                let mut data: Vec<u8> = (0..len).map(pattern).collect();
                let (a, b) = data.split_at_mut(cut);
                aes.xor_at(&iv, 5 + cut as u64, InOut::in_place(b)).unwrap();
                aes.xor_at(&iv, 5, InOut::in_place(a)).unwrap();
                assert!(data == whole, "{name} cut at {cut}");
            }
        }
    });
}

// claim: tested-kernels
#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_alignment() {
    const MARGIN: usize = 80;
    each_key(|name, aes, reference| {
        let keystream = keystream(reference, IVS[7], 9, 700);
        for n in 0..64 * 64 {
            let (read, write, len) = (n % 64, n / 64, [600, 64, 33, 131, 257][n % 5]);
            let from: Vec<u8> = (0..read + len).map(pattern).collect();
            let from = &from[read..];
            let mut to = vec![0xa5u8; MARGIN + write + len + MARGIN];
            let at = MARGIN + write;
            aes.xor_at(&IVS[7].to_be_bytes(), 9, InOut::apart(from, &mut to[at..at + len])).unwrap();
            let good = |i: usize, b: u8| match i.checked_sub(at) {
                Some(i) if i < len => b == from[i] ^ keystream[i],
                _ => b == 0xa5,
            };
            assert!(
                to.iter().enumerate().all(|(i, b)| good(i, *b)),
                "{name} from {read} to {write} len {len}"
            );
        }
    });
}

// claim: tested-kernels
#[test]
#[cfg_attr(miri, ignore = "large")]
fn accesses_no_byte_out_of_bounds() {
    let (mut source, mut target) = (GuardedBuffer::new(), GuardedBuffer::new());
    each_key(|name, aes, reference| {
        let keystream = keystream(reference, IVS[4], 0, 1200);
        for len in every(LENGTHS) {
            for (edge, offset) in [(Edge::Start, len % 16), (Edge::End, 0), (Edge::End, len % 37)] {
                let (from, to) = (source.bytes(len, edge), target.bytes(len, edge));
                from.iter_mut().enumerate().for_each(|(i, b)| *b = pattern(i));
                aes.xor_at(&IVS[4].to_be_bytes(), offset as u64, InOut::apart(from, to)).unwrap();
                let good = to.iter().enumerate().all(|(i, b)| *b == pattern(i) ^ keystream[offset + i]);
                assert!(good, "{name} len {len} offset {offset} {edge:?} apart");
                // The second call restores the data.
                aes.xor_at(&IVS[4].to_be_bytes(), offset as u64, InOut::in_place(to)).unwrap();
                assert!(to == from, "{name} len {len} offset {offset} {edge:?} in place");
            }
        }
    });
}

/// Checks the vectors of FIPS 197, appendix C: keys 00 01 02 …, block 00 11 22 ….
#[test]
fn fips_197_appendix_c() {
    let key: [u8; 32] = core::array::from_fn(|i| i as u8);
    let block: [u8; 16] = core::array::from_fn(|i| 0x11 * i as u8);
    for (_, features) in available(aes::variants()) {
        for (len, want) in [
            (16, 0x69c4e0d86a7b0430d8cdb78070b4c55a_u128),
            (24, 0xdda97ca4864cdfe06eaf70a0ec0d7191),
            (32, 0x8ea2b7ca516745bfeafc49904b496089),
        ] {
            let aes = Aes::new(&key[..len], features).unwrap();
            assert_eq!(aes.encrypt_block(&block), want.to_be_bytes(), "{} {len}", aes.variant());
        }
    }
}

/// Checks the vectors of SP 800-38A, F.5.1, F.5.3 and F.5.5.
#[test]
fn sp_800_38a_f_5() {
    const PLAIN: [u128; 4] = [
        0x6bc1bee22e409f96e93d7e117393172a,
        0xae2d8a571e03ac9c9eb76fac45af8e51,
        0x30c81c46a35ce411e5fbc1191a0a52ef,
        0xf69f2445df4f9b17ad2b417be66c3710,
    ];
    let iv = 0xf0f1f2f3f4f5f6f7f8f9fafbfcfdfeff_u128.to_be_bytes();
    let bytes = |blocks: &[u128]| blocks.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<u8>>();
    let mut key_192 = bytes(&[0x8e73b0f7da0e6452c810f32b809079e5]);
    key_192.extend(0x62f8ead2522c6b7b_u64.to_be_bytes());
    let cases: [(Vec<u8>, [u128; 4]); 3] = [
        (
            bytes(&[0x2b7e151628aed2a6abf7158809cf4f3c]),
            [
                0x874d6191b620e3261bef6864990db6ce,
                0x9806f66b7970fdff8617187bb9fffdff,
                0x5ae4df3edbd5d35e5b4f09020db03eab,
                0x1e031dda2fbe03d1792170a0f3009cee,
            ],
        ),
        (
            key_192,
            [
                0x1abc932417521ca24f2b0459fe7e6e0b,
                0x090339ec0aa6faefd5ccc2c6f4ce8e94,
                0x1e36b26bd1ebc670d1bd1d665620abf7,
                0x4f78a7f6d29809585a97daec58c6b050,
            ],
        ),
        (
            bytes(&[0x603deb1015ca71be2b73aef0857d7781, 0x1f352c073b6108d72d9810a30914dff4]),
            [
                0x601ec313775789a5b7a7f504bbf3d228,
                0xf443e3ca4d62b59aca84e990cacaf5c5,
                0x2b0930daa23de94ce87017ba2d84988d,
                0xdfc9c58db67aada613c2dd08457941a6,
            ],
        ),
    ];
    for (_, features) in available(aes::variants()) {
        for (key, want) in &cases {
            let aes = Aes::new(key, features).unwrap();
            let mut data = bytes(&PLAIN);
            aes.xor_at(&iv, 0, InOut::in_place(&mut data)).unwrap();
            assert_eq!(data, bytes(want), "{} {}", aes.variant(), key.len());
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn single_blocks_equal_the_reference() {
    each_key(|name, aes, reference| {
        let mut block = [0; 16];
        for _ in 0..300 {
            let next = reference.encrypt_block_vartime(&block);
            assert_eq!(aes.encrypt_block(&block), next, "{name}");
            block = next;
        }
    });
}

#[test]
fn accepts_only_keys_of_16_24_and_32_bytes() {
    for len in 0..100 {
        let made = Aes::new(&vec![1; len], Features::detect());
        match len {
            16 | 24 | 32 => assert!(made.is_ok()),
            _ => assert_eq!(made.err(), Some(KeyError::InvalidLength(len))),
        }
    }
}

#[test]
fn removing_features_selects_the_next_variant() {
    let order = ["bmi2", "avx512vl", "avx512bw", "avx512f", "vaes", "avx2", "aes", "neon"];
    check_removal(aes::variants, &order, |features| Aes::new(&KEY, features).unwrap().variant());
}

#[test]
fn keys_are_send_and_sync_and_debug_hides_them() {
    fn crosses<T: Send + Sync>(_: &T) {}
    let aes = Aes::new(&[0x6b; 32], Features::NONE).unwrap();
    crosses(&aes);
    assert_eq!(format!("{aes:?}"), "Aes { size: Bits256, variant: \"portable\", .. }");
}

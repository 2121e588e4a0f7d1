//! Every variant of Poly1305 against the reference implementation and the published vectors, also
//! in pieces.

use crate::variants::{available, every};
#[cfg(not(miri))]
use kernels::cpu::Features;
use kernels::poly1305::{self, Poly1305};
use reference::poly1305::tag_vartime;

/// Number of blocks in an iteration of the loop for short messages, and in the last vector after
/// it.
const GROUP: usize = 32 + 8;
/// Numbers of bytes at which a variant computes more powers or one more group of vectors. With
/// eight blocks in a vector the groups have 4, 8, 16 and 24 vectors, and with four blocks 4, 8 and
/// 16.
const CUTS: [usize; 20] = [
    192, 384, 832, 1664, // two vectors and twelve, and one more
    640, 1152, 1792, 2176, 3200, // groups of 4 and 8, and the last vector
    4096, 4224, 4160, 4672, 6272, 7232, // 8 and 16
    8192, 8256, 9280, 9344, 12416, // 16 and 24
];

/// A generator of pseudorandom numbers with a fixed seed.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.word() % n as u64) as usize
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| (self.word() >> 56) as u8).collect()
    }

    fn key(&mut self) -> [u8; 32] {
        *self.bytes(32).first_chunk().unwrap()
    }
}

fn random() -> Random {
    Random(0x9e37_79b9_7f4a_7c15)
}

fn tag(key: &[u8; 32], features: Features, pieces: &[&[u8]]) -> [u8; 16] {
    let mut mac = Poly1305::new(key, features).unwrap();
    pieces.iter().for_each(|piece| mac.update(piece));
    mac.finalize()
}

/// Compares the tags of every variant with the reference implementation: for the message, and for
/// the message after so many zeros that powers are computed, which are then used even for a short
/// message.
fn same(what: &str, variants: &[(&'static str, Features)], key: &[u8; 32], message: &[u8]) {
    let zeros = [0; 1024];
    for pieces in [&[message][..], &[&zeros, message]] {
        let want = tag_vartime(key, &pieces.concat());
        for (name, features) in variants {
            let found = tag(key, *features, pieces);
            let n = pieces.len();
            assert_eq!(found, want, "{name}: {what}, {} bytes in piece {n}, key {key:02x?}", message.len());
        }
    }
}

/// Returns keys with r = 1, 2, 4, the largest r, a single high bit and zero, all with the largest
/// s.
fn edge_keys() -> Vec<[u8; 32]> {
    let mut keys = vec![[0xff; 32]; 6];
    for (key, r) in keys.iter_mut().zip([1, 2, 4, u128::MAX, 1 << 123, 0]) {
        key[..16].copy_from_slice(&u128::to_le_bytes(r));
    }
    keys
}

/// A test that is small enough for Miri, which checks every access without guard pages.
#[test]
fn selected_lengths() {
    let (here, mut random) = (Features::detect(), random());
    let name = Poly1305::new(&[1; 32], here).unwrap().variant();
    assert!(!cfg!(miri) || name == "portable", "Miri has no other instructions");
    let message = random.bytes(1500);
    for key in [random.key(), [0xff; 32]] {
        for (start, len) in [(0, 0), (1, 1), (0, 16), (3, 33), (0, 255), (5, 1400)] {
            let message = &message[start..][..len];
            let (head, tail) = message.split_at(len * 4 / 5);
            let want = tag_vartime(&key, message);
            assert_eq!(tag(&key, here, &[message]), want, "{len}");
            assert_eq!(tag(&key, here, &[head, tail]), want, "{len} in two");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn published_vectors() {
    for (name, features) in available(poly1305::variants()) {
        for vectors::MacCase { file, id, key, message, tag: want } in vectors::poly1305() {
            let key = key.try_into().unwrap();
            assert_eq!(tag(&key, features, &[&message]).to_vec(), want, "{name}: {file} #{id}");
        }
    }
}

// claim: tested-kernels
#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_length() {
    let (variants, mut random) = (available(poly1305::variants()), random());
    let message = random.bytes(1100);
    for len in every(0..=1100) {
        same("random", &variants, &random.key(), &message[..len]);
        same("largest", &variants, &[0xff; 32], &[0xff; 1100][..len]);
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn lengths_around_powers_of_two() {
    let (variants, mut random) = (available(poly1305::variants()), random());
    for len in [2 << 10, 4 << 10, 16 << 10, 64 << 10].into_iter().flat_map(|n| [n - 1, n, n + 1]) {
        let message = random.bytes(len);
        same("random", &variants, &random.key(), &message);
        same("largest", &variants, &[0xff; 32], &vec![0xff; len]);
    }
}

/// Lengths around those at which the number of powers or of groups changes.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn lengths_around_cuts() {
    let (variants, mut random) = (available(poly1305::variants()), random());
    let message = random.bytes(13 << 10);
    for cut in CUTS {
        for len in (cut - 144..=cut + 144).step_by(16).chain([cut - 1, cut + 1]) {
            same("random", &variants, &random.key(), &message[..len]);
            same("largest", &variants, &[0xff; 32], &vec![0xff; len]);
            // Every second vector is zero, for vectors of four and of eight blocks, so that
            // differences are negative.
            for vector in [64, 128] {
                let mut message = vec![0xff; len];
                message.chunks_mut(vector).step_by(2).for_each(|vector| vector.fill(0));
                same("every other", &variants, &[0xff; 32], &message);
            }
        }
    }
}

/// The largest values of the accumulator before the first vector, and values around them.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn largest_sums_before_vectors() {
    let variants = available(poly1305::variants());
    for (r, cut) in [1, 2, 4, u128::MAX].into_iter().flat_map(|r| CUTS.map(|cut| (r, cut))) {
        let mut key = [0xff; 32];
        key[..16].copy_from_slice(&r.to_le_bytes());
        // Three blocks before the first vector are 3·2^128 and more: with r = 1, from 2^130 - 8 on.
        for delta in 0..16u128 {
            let (first, second) = (u128::MAX - 7 + delta.min(7), delta.saturating_sub(7));
            let mut message = [first, second, 0].map(u128::to_le_bytes).concat();
            message.resize(48 + cut.next_multiple_of(128), 0xff);
            same("largest sum", &variants, &key, &message);
        }
    }
}

/// Keys with a simple r, and blocks with the smallest or the largest limbs, in every lane.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn edge_keys_and_blocks() {
    let (variants, mut random) = (available(poly1305::variants()), random());
    let blocks =
        [u128::MAX, u128::MAX - 1, u128::MAX - 2, 0, 1, 5, u128::MAX << 44, u128::MAX >> 64, 1 << 127];
    for key in edge_keys() {
        for len in [16, 17, 40, 63, 64, GROUP, 2 * GROUP, 2 * GROUP + 7, 256 + 40, 512 + 200] {
            for _ in 0..12 {
                let message: Vec<u8> =
                    (0..len).flat_map(|_| blocks[random.below(blocks.len())].to_le_bytes()).collect();
                same("edges", &variants, &key, &message);
            }
            for odd in (0..len).step_by(len.div_ceil(100)) {
                // One block is different, in every lane and every step.
                let mut message = vec![0xff; 16 * len];
                message[16 * odd..][..16].fill(0);
                same("one zero", &variants, &key, &message);
                let mut message = vec![0; 16 * len];
                message[16 * odd..][..16].fill(0xff);
                same("one largest", &variants, &key, &message);
            }
        }
    }
}

/// The cases of RFC 8439, A.3 #7 to #11, which test reductions, before and after every number of
/// other blocks.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn published_edges_in_every_lane() {
    let variants = available(poly1305::variants());
    let cases = vectors::poly1305();
    assert_eq!(cases.len(), 12);
    for vectors::MacCase { id, key, message, .. } in &cases[7..] {
        let key: [u8; 32] = key[..].try_into().unwrap();
        for before in 0..2 * GROUP {
            for fill in [0, 0xff] {
                let others = vec![fill; 16 * before];
                same(&format!("#{id} after"), &variants, &key, &[&others, &message[..]].concat());
                let later = vec![fill; 16 * (2 * GROUP - before)];
                same(&format!("#{id} between"), &variants, &key, &[&others, &message[..], &later].concat());
            }
        }
    }
}

/// Sums just below and just above 2^128 and p before the last reduction: with r = 1 the sum is that
/// of the blocks.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn sums_around_the_prime() {
    let variants = available(poly1305::variants());
    let mut key = [0; 32];
    key[0] = 1;
    for quads in 1..GROUP {
        // Four blocks of zeros are 4·2^128 = 5, so with a first block `m` the sum is 5 quads + m.
        let nearly = u128::MAX - 5 * quads as u128;
        for delta in 0..12 {
            let mut message = vec![0; 16 * 4 * quads];
            message[..16].copy_from_slice(&(nearly - 6 + delta).to_le_bytes());
            same("around 2^128", &variants, &key, &message);
            // With three blocks of 2^128 - 1 more, it is p where m = nearly - 1.
            message[16..64].fill(0xff);
            message[..16].copy_from_slice(&(nearly - 8 + delta).to_le_bytes());
            same("around the prime", &variants, &key, &message);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_cut_and_random_pieces() {
    let mut random = random();
    let (key, message) = (random.key(), random.bytes(3000));
    for (name, features) in available(poly1305::variants()) {
        for len in 0..=200 {
            let want = tag_vartime(&key, &message[..len]);
            for cut in 0..=len {
                let (head, tail) = message[..len].split_at(cut);
                assert_eq!(tag(&key, features, &[head, tail]), want, "{name}: {len} cut at {cut}");
            }
        }
        let want = tag_vartime(&key, &message);
        for cut in 0..=message.len() {
            let (head, tail) = message.split_at(cut);
            assert_eq!(tag(&key, features, &[head, tail]), want, "{name}: cut at {cut}");
        }
        for _ in 0..2000 {
            let (mut pieces, mut rest) = (Vec::new(), &message[..]);
            let longest = [20, 300, 1500][random.below(3)];
            while !rest.is_empty() {
                let (piece, later) = rest.split_at(random.below(longest + 1).min(rest.len()));
                pieces.push(piece);
                rest = later;
            }
            let cuts: Vec<usize> = pieces.iter().map(|piece| piece.len()).collect();
            assert_eq!(tag(&key, features, &pieces), want, "{name}: cut into {cuts:?}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn unaligned() {
    let (variants, mut random) = (available(poly1305::variants()), random());
    let (key, message) = (random.key(), random.bytes(3000));
    for start in 0..64 {
        for len in [16, 255, 256, 400, 1024, 2000] {
            same("unaligned", &variants, &key, &message[start..][..len]);
        }
    }
}

// claim: tested-kernels
#[test]
#[cfg(not(miri))]
fn reads_no_byte_out_of_bounds() {
    let mut random = random();
    let (key, message) = (random.key(), random.bytes(1100));
    let mut buffer = crate::guarded::GuardedBuffer::new();
    for (name, features) in available(poly1305::variants()) {
        for len in every(0..=1100) {
            let want = tag_vartime(&key, &message[..len]);
            for edge in [crate::guarded::Edge::Start, crate::guarded::Edge::End] {
                let fenced = buffer.bytes(len, edge);
                fenced.copy_from_slice(&message[..len]);
                assert_eq!(tag(&key, features, &[fenced]), want, "{name}: {len} at the {edge:?}");
            }
        }
    }
}

#[test]
fn selects_the_widest_variant() {
    let here = Features::detect();
    let first = poly1305::variants().find(|variant| variant.check(here).is_ok()).unwrap();
    assert_eq!(Poly1305::new(&[1; 32], here).unwrap().variant(), first.name);
    assert_eq!(Poly1305::new(&[1; 32], Features::NONE).unwrap().variant(), "portable");
    assert!(poly1305::check(here).all(|(variant, check)| check.is_ok() == variant.check(here).is_ok()));
}

#[test]
fn debug_hides_the_key() {
    let mac = Poly1305::new(&[0xa7; 32], Features::NONE).unwrap();
    assert_eq!(format!("{mac:?}"), "Poly1305 { variant: \"portable\", .. }");
}

#[test]
fn macs_are_send_and_sync() {
    fn crosses<T: Send + Sync>(_: &T) {}
    crosses(&Poly1305::new(&[0x6b; 32], Features::NONE).unwrap());
}

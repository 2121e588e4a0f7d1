//! What the rows of ChaCha20 are made of: the vocabulary of quads, and how an authenticated message begins.

use super::*;
use crate::chacha20::body::most_at_start;
use crate::vector::quads::Quads;
use crate::vector::words::Words;

variants! {
    /// Functions that only tests want.
    PARTS: PartsFunctions {
        /// Panics where an operation is wrong.
        fn check_quads(row: &str) = check_quads;
        /// [`chacha20::start`].
        fn start(key: &Key, nonce: &[u8; 12], first: &mut [u8; 64], data: InOut<'_>) = chacha20::start::<_, W>;
        /// [`most_at_start`].
        fn most(to: &mut usize) = most::<_, W>;
    }
    proof = |_| true;
    #[cfg(target_arch = "x86_64")]
    "avx512" = Avx512, 8, ["avx512f", "avx512bw", "avx512vl", "bmi2"];
    #[cfg(target_arch = "x86_64")]
    "avx2" = Avx2, 4, ["avx2"];
    #[cfg(target_arch = "aarch64")]
    "neon" = NeonWords, 4, ["neon"];
    "portable" = Portable, 1, [];
}

fn most<Q: Quads, const N: usize>(_: Q, to: &mut usize) {
    *to = most_at_start::<Q, N>();
}

fn check_quads<Q: Quads>(q: Q, row: &str) {
    let bytes = |salt: usize| (0..Q::BYTES).map(|i| (i * 37 + salt * 91) as u8).collect::<Vec<_>>();
    let stored = |v: Q::V| {
        let mut got = vec![0; Q::BYTES];
        q.store(v, &mut got);
        got
    };
    // Quad `lane` of four vectors, and word `i` of one.
    let four = [0, 1, 2, 3].map(bytes);
    let v = [q.load(&four[0]), q.load(&four[1]), q.load(&four[2]), q.load(&four[3])];
    let word = |j: usize, lane: usize, i: usize| &four[j][16 * lane + 4 * i..][..4];
    let lanes = <Q as Words<u32>>::LANES / 4;

    let quad = *four[0].first_chunk().unwrap();
    assert_eq!(stored(q.repeat(&quad)), quad.repeat(lanes), "{row} repeat");
    for (n, turned) in [(1, q.turn::<1>(v[0])), (2, q.turn::<2>(v[0])), (3, q.turn::<3>(v[0]))] {
        let want: Vec<u8> = (0..4 * lanes).flat_map(|i| word(0, i / 4, (i % 4 + n) % 4).to_vec()).collect();
        assert_eq!(stored(turned), want, "{row} turn {n}");
    }
    for (i, transposed) in q.transpose(v).into_iter().enumerate() {
        let want: Vec<u8> = (0..4 * lanes).flat_map(|j| word(j % 4, j / 4, i).to_vec()).collect();
        assert_eq!(stored(transposed), want, "{row} transpose {i}");
    }
    let woven: Vec<u8> = q.weave(v).into_iter().flat_map(stored).collect();
    let want: Vec<u8> = (0..4 * lanes).flat_map(|i| four[i % 4][16 * (i / 4)..][..16].to_vec()).collect();
    assert_eq!(woven, want, "{row} weave");
    for n in 0..Q::BYTES {
        let part = q.load_part(&four[1][..n]);
        assert_eq!(stored(part), [&four[1][..n], &vec![0; Q::BYTES - n]].concat(), "{row} load {n}");
        let mut to = vec![0xee; Q::BYTES];
        q.store_part(v[1], &mut to[..n]);
        assert_eq!(to, [&four[1][..n], &vec![0xee; Q::BYTES - n]].concat(), "{row} store {n}");
    }
    assert!(core::ptr::eq(q.afresh(&quad), &raw const quad));
}

#[test]
fn every_row() {
    for (row, refusal) in check(PARTS, Features::detect()) {
        if refusal.is_err() {
            eprintln!("NOT RUN: {}", row.name);
            continue;
        }
        let picked = pick(PARTS, Features::detect().only(row.needs)).unwrap();
        assert_eq!(picked.name(), row.name);
        picked.check_quads(row.name);
        let (mut most, key, nonce) = (0, Key([[0x33; 16], [0x44; 16]]), [0x55; 12]);
        picked.most(&mut most);
        assert_eq!(most % 64, 0);
        let stream = |counter, len: usize| {
            let mut data = vec![0; len];
            let key = key.0.as_flattened().try_into().unwrap();
            reference::chacha20::xor_at_vartime(key, &nonce, counter, 0, &mut data);
            data
        };
        let lengths: Vec<usize> = if cfg!(miri) { vec![0, 1, most] } else { (0..=most).collect() };
        for len in lengths {
            let (mut first, mut data) = ([0xee; 64], vec![0; len + 1]);
            picked.start(&key, &nonce, &mut first, InOut::in_place(&mut data[..len]));
            assert_eq!(first[..], stream(0, 64), "{} {len}", row.name);
            assert_eq!(data[..len], stream(1, len), "{} {len}", row.name);
            assert_eq!(data[len], 0);
        }
    }
}

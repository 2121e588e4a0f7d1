//! The vocabulary of words on every instruction set, against integers.

use super::*;
#[cfg(target_arch = "aarch64")]
use crate::vector::neon_words::NeonWords;
use crate::vector::portable::Portable;
use crate::vector::words::Words;
#[cfg(target_arch = "x86_64")]
use crate::vector::x86_words::{Avx2, Avx512};

variants! {
    /// Its operations.
    WORDS: WordsFunctions {
        /// Panics where one is wrong.
        fn check_16(row: &str) = check_16;
        /// Panics where one is wrong.
        fn check_32(row: &str) = check_32;
        /// Panics where one is wrong.
        fn check_64(row: &str) = check_64;
    }
    proof = |_| true;
    #[cfg(target_arch = "x86_64")]
    "avx512" = Avx512, 1, ["avx512f", "avx512bw", "avx512vl", "bmi2"];
    #[cfg(target_arch = "x86_64")]
    "avx2" = Avx2, 1, ["avx2"];
    #[cfg(target_arch = "aarch64")]
    "neon" = NeonWords, 1, ["neon"];
    "portable" = Portable, 1, [];
}

macro_rules! against_integers {
    ($name:ident $word:ident $($n:literal)*) => {
        fn $name<W: Words<$word>>(w: W, row: &str) {
            const SIZE: usize = size_of::<$word>();
            let bytes = |salt: usize| (0..W::BYTES).map(|i| (i * 37 + salt * 91) as u8).collect::<Vec<_>>();
            let (a, b) = (bytes(1), bytes(2));
            let expect = |v: W::V, f: &dyn Fn($word, $word) -> $word| {
                let mut got = vec![0; W::BYTES];
                w.store(v, &mut got);
                for i in 0..W::LANES {
                    let at = |x: &[u8]| $word::from_le_bytes(*x[SIZE * i..].first_chunk().unwrap());
                    assert_eq!(at(&got), f(at(&a), at(&b)), "{row} {} lane {i}", stringify!($word));
                }
            };
            let (x, y) = (w.load(&a), w.load(&b));
            expect(w.splat(12345), &|_, _| 12345);
            expect(w.add(x, y), &|a, b| a.wrapping_add(b));
            expect(w.sub(x, y), &|a, b| a.wrapping_sub(b));
            expect(w.xor(x, y), &|a, b| a ^ b);
            $(
                expect(w.shift_left::<$n>(x), &|a, _| a << $n);
                expect(w.shift_right::<$n>(x), &|a, _| a >> $n);
                expect(w.rotate_left::<$n>(x), &|a, _| a.rotate_left($n));
            )*
        }
    };
}

against_integers! { check_16 u16 1 2 7 8 13 15 }
against_integers! { check_32 u32 1 3 7 8 12 16 24 31 }
against_integers! { check_64 u64 1 3 8 16 32 48 56 63 }

#[test]
fn every_row() {
    // What cannot run here is said by the tests of the ciphers, which have the same rows.
    for (row, _) in check(WORDS, Features::detect()).filter(|(_, refusal)| refusal.is_ok()) {
        let picked = pick(WORDS, Features::detect().only(row.needs)).unwrap();
        assert_eq!(picked.name(), row.name);
        picked.check_16(row.name);
        picked.check_32(row.name);
        picked.check_64(row.name);
    }
}

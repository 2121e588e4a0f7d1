//! Tests of the word operations of every instruction set, against integers.

use super::*;
use crate::vector::words::Words;

variants! {
    /// The operations on words.
    WORDS: WordsFunctions for words {
        /// Panics if an operation on words of this size is wrong.
        fn check_16(variant: &str) = [check_16];
        fn check_32(variant: &str) = [check_32];
        fn check_64(variant: &str) = [check_64];
    }
}

macro_rules! against_integers {
    ($name:ident $word:ident $($n:literal)*) => {
        fn $name<W: Words<$word>>(w: W, variant: &str) {
            const SIZE: usize = size_of::<$word>();
            let bytes = |salt: usize| (0..W::BYTES).map(|i| (i * 37 + salt * 91) as u8).collect::<Vec<_>>();
            let (a, b) = (bytes(1), bytes(2));
            let expect = |v: W::V, f: &dyn Fn($word, $word) -> $word| {
                let mut got = vec![0; W::BYTES];
                w.store(v, &mut got);
                for i in 0..W::LANES {
                    let at = |x: &[u8]| $word::from_le_bytes(*x[SIZE * i..].first_chunk().unwrap());
                    assert_eq!(at(&got), f(at(&a), at(&b)), "{variant} {} lane {i}", stringify!($word));
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
fn every_variant_computes_as_integers_do() {
    // The tests of the ciphers, which have the same variants, report those that cannot run here.
    let passes = |_| true;
    for (variant, _) in WORDS.check(Features::detect(), passes).filter(|(_, check)| check.is_ok()) {
        let selected = WORDS.select(Features::detect().intersection(variant.needs), passes).unwrap();
        assert_eq!(selected.name(), variant.name);
        selected.check_16(variant.name);
        selected.check_32(variant.name);
        selected.check_64(variant.name);
    }
}

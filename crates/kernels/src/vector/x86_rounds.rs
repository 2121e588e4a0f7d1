//! `Rounds` on x86-64, with the vectors of the module `x86`.

use super::rounds::{Degrees, Pair, Rounds, degrees, operations_of_blocks, single_part};
use super::x86::{Aesni, Vaes256, Vaes512, op};
use super::{Blocks, unroll};
use core::arch::x86_64::*;

macro_rules! rounds {
    ($name:ident, $v:ident, $lanes:literal; $and:ident $round:ident; $($own:tt)*) => {
        impl Rounds for $name {
            const LANES: usize = $lanes;
            operations_of_blocks! { $v }

            #[inline(always)]
            fn and(self, a: $v, b: $v) -> $v { op!($and(a, b)) }
            #[inline(always)]
            fn rounds<const N: usize>(self, mut states: [$v; N], keys: [$v; N]) -> [$v; N] {
                unroll!(i < N => {
                    states[i] = op!($round(states[i], keys[i]));
                });
                states
            }

            $($own)*
        }
    };
}

rounds! {
    Aesni, __m128i, 1; _mm_and_si128 _mm_aesenc_si128;

    #[inline(always)]
    fn xor_lanes(self, v: __m128i) -> [u8; 16] { self.first_lane(v) }
}

rounds! {
    Vaes256, __m256i, 2; _mm256_and_si256 _mm256_aesenc_epi128;

    #[inline(always)]
    fn xor_lanes(self, v: __m256i) -> [u8; 16] {
        let halves = (op!(_mm256_castsi256_si128(v)), op!(_mm256_extracti128_si256::<1>(v)));
        self.one().xor_lanes(op!(_mm_xor_si128(halves.0, halves.1)))
    }
}

rounds! {
    Vaes512, __m512i, 4; _mm512_and_si512 _mm512_aesenc_epi128;

    #[inline(always)]
    fn xor_lanes(self, v: __m512i) -> [u8; 16] {
        let halves = (op!(_mm512_castsi512_si256(v)), op!(_mm512_extracti64x4_epi64::<1>(v)));
        self.two().xor_lanes(op!(_mm256_xor_si256(halves.0, halves.1)))
    }
}

degrees! { Aesni, 1; |it| Self = it, Pair<Self> = Pair(it), Pair<Pair<Self>> = Pair(Pair(it)) }
degrees! { Vaes256, 2; |it| Aesni = it.one(), Self = it, Pair<Self> = Pair(it) }
degrees! { Vaes512, 4; |it| Aesni = it.one(), Vaes256 = it.two(), Self = it }

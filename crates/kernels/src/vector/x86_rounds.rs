//! `Rounds` on x86-64, with the vectors of the module `x86`.

use super::rounds::{Degrees, Pair, Rounds, single_part};
use super::x86::{Aesni, Vaes256, Vaes512, op};
use super::{Blocks, unroll};
use core::arch::x86_64::*;

macro_rules! rounds {
    ($name:ident, $v:ident, $lanes:literal; $and:ident $round:ident; $($own:tt)*) => {
        impl Rounds for $name {
            const LANES: usize = $lanes;
            type V = $v;
            single_part! { $v }

            #[inline(always)]
            fn load(self, from: &[u8]) -> $v { Blocks::load(self, from) }
            #[inline(always)]
            fn load_part(self, from: &[u8]) -> $v { Blocks::load_part(self, from, 0) }
            #[inline(always)]
            fn store(self, v: $v, to: &mut [u8]) { Blocks::store(self, v, to); }
            #[inline(always)]
            fn store_part(self, v: $v, to: &mut [u8]) { Blocks::store_part(self, v, to, 0); }
            #[inline(always)]
            fn splat(self, block: &[u8; 16]) -> $v { Blocks::splat(self, block) }

            #[inline(always)]
            fn xor(self, a: $v, b: $v) -> $v { Blocks::xor(self, a, b) }
            #[inline(always)]
            fn and(self, a: $v, b: $v) -> $v { op!($and(a, b)) }
            #[inline(always)]
            fn rounds<const N: usize>(self, mut states: [$v; N], keys: [$v; N]) -> [$v; N] {
                unroll!(i < N => {
                    states[i] = op!($round(states[i], keys[i]));
                });
                states
            }
            #[inline(always)]
            fn fence<const N: usize>(self, words: &mut [$v; N]) { Blocks::fence(self, words); }

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

impl Degrees for Aesni {
    type One = Self;
    type Two = Pair<Self>;
    type Four = Pair<Pair<Self>>;
    const REGISTER_DEGREE: usize = 1;

    #[inline(always)]
    fn degree_1(self) -> Self {
        self
    }
    #[inline(always)]
    fn degree_2(self) -> Pair<Self> {
        Pair(self)
    }
    #[inline(always)]
    fn degree_4(self) -> Pair<Pair<Self>> {
        Pair(Pair(self))
    }
}

impl Degrees for Vaes256 {
    type One = Aesni;
    type Two = Self;
    type Four = Pair<Self>;
    const REGISTER_DEGREE: usize = 2;

    #[inline(always)]
    fn degree_1(self) -> Aesni {
        self.one()
    }
    #[inline(always)]
    fn degree_2(self) -> Self {
        self
    }
    #[inline(always)]
    fn degree_4(self) -> Pair<Self> {
        Pair(self)
    }
}

impl Degrees for Vaes512 {
    type One = Aesni;
    type Two = Vaes256;
    type Four = Self;
    const REGISTER_DEGREE: usize = 4;

    #[inline(always)]
    fn degree_1(self) -> Aesni {
        self.one()
    }
    #[inline(always)]
    fn degree_2(self) -> Vaes256 {
        self.two()
    }
    #[inline(always)]
    fn degree_4(self) -> Self {
        self
    }
}

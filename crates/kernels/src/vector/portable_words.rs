//! The portable implementation of `Words` with plain integers, 128 bits at a time. LLVM compiles
//! them to vectors where the target has any.

use super::portable::Portable;
use super::words::Words;

/// Evaluates `$x` for every index `$i` and returns the results as an array.
macro_rules! lane_by_lane {
    ($lanes:literal $i:ident => $x:expr) => {{
        let mut out = [0; $lanes];
        for $i in 0..$lanes {
            out[$i] = $x;
        }
        out
    }};
}

macro_rules! words {
    ($($word:ident $lanes:literal;)*) => {
        $(
            impl Words<$word> for Portable {
                const LANES: usize = $lanes;
                type V = [$word; $lanes];

                #[inline(always)]
                fn splat(self, x: $word) -> Self::V { [x; $lanes] }
                #[inline(always)]
                fn load(self, from: &[u8]) -> Self::V {
                    let mut v = [0; $lanes];
                    for (x, bytes) in v.iter_mut().zip(from[..16].as_chunks().0) {
                        *x = $word::from_le_bytes(*bytes);
                    }
                    v
                }
                #[inline(always)]
                fn store(self, v: Self::V, to: &mut [u8]) {
                    for (bytes, x) in to[..16].as_chunks_mut().0.iter_mut().zip(v) {
                        *bytes = x.to_le_bytes();
                    }
                }
                #[inline(always)]
                fn add(self, a: Self::V, b: Self::V) -> Self::V { lane_by_lane!($lanes i => a[i].wrapping_add(b[i])) }
                #[inline(always)]
                fn sub(self, a: Self::V, b: Self::V) -> Self::V { lane_by_lane!($lanes i => a[i].wrapping_sub(b[i])) }
                #[inline(always)]
                fn xor(self, a: Self::V, b: Self::V) -> Self::V { lane_by_lane!($lanes i => a[i] ^ b[i]) }
                #[inline(always)]
                fn shift_left<const N: i32>(self, v: Self::V) -> Self::V { lane_by_lane!($lanes i => v[i] << N) }
                #[inline(always)]
                fn shift_right<const N: i32>(self, v: Self::V) -> Self::V { lane_by_lane!($lanes i => v[i] >> N) }
                #[inline(always)]
                fn rotate_left<const N: i32>(self, v: Self::V) -> Self::V {
                    lane_by_lane!($lanes i => v[i].rotate_left(N as u32))
                }
            }
        )*
    };
}

words! {
    u16 8;
    u32 4;
    u64 2;
}

//! `Blocks` and `Products` on aarch64 with the AES instructions, with one block in a vector.
//!
//! `AESE` adds its key *before* the substitution. So round `r` uses key `r - 1`, and the last round
//! uses two keys.

use super::{Blocks, Products, Schedule, Token, load_block, opaque_ref, store_block};
use core::arch::aarch64::*;
use core::arch::asm;

/// The token for NEON and the AES instructions.
#[derive(Clone, Copy, Debug)]
pub struct Neon(());

impl Neon {
    /// Makes the token, in a function that enables the features of the instruction set.
    ///
    /// # Safety
    /// A caller that does not enable these features must know that the processor has them.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub fn new() -> Self {
        Self(())
    }
}

/// Calls one of the helpers below. They exist because NEON intrinsics are `inline(always)` *with*
/// features, and such a function cannot be inlined into a method without them.
macro_rules! op {
    ($f:ident $(::<$i:literal>)? ($($a:expr),*)) => {{
        // SAFETY: the helper or intrinsic does not access memory, and the token `self` exists only
        // where it may run.
        unsafe { $f $(::<$i>)? ($($a),*) }
    }};
}
pub(super) use op;

/// Makes the compiler assume that these array elements are read and written here.
macro_rules! pin {
    ($(($s:ident $($i:literal)*))*) => {
        // SAFETY: the assembly is only a comment naming the operands.
        unsafe {
            asm!($($(concat!("/* {:v} is ", $i, " */"),)*)* $($(inout(vreg) $s[$i],)*)*
                options(pure, nomem, nostack, preserves_flags))
        }
    };
}

impl Token for Neon {}

impl Blocks for Neon {
    const LANES: usize = 1;
    type V = uint8x16_t;
    type S = uint8x16_t;
    type Keys<'a> = &'a Schedule;
    type One = Self;

    #[inline(always)]
    fn one(self) -> Self {
        self
    }
    #[inline(always)]
    fn load(self, from: &[u8]) -> uint8x16_t {
        let from: &[u8; 16] = from.first_chunk().unwrap();
        // SAFETY: reads the 16 bytes of the array; needs no alignment.
        unsafe { vld1q_u8(from.as_ptr()) }
    }
    #[inline(always)]
    fn load_part(self, from: &[u8], skip: usize) -> uint8x16_t {
        self.load(&load_block(from, skip, 0).to_le_bytes())
    }
    #[inline(always)]
    fn store(self, v: uint8x16_t, to: &mut [u8]) {
        let to: &mut [u8; 16] = to.first_chunk_mut().unwrap();
        // SAFETY: writes the 16 bytes of the array; needs no alignment.
        unsafe { vst1q_u8(to.as_mut_ptr(), v) }
    }
    #[inline(always)]
    fn store_part(self, v: uint8x16_t, to: &mut [u8], skip: usize) {
        let mut block = [0; 16];
        self.store(v, &mut block);
        store_block(u128::from_le_bytes(block), to, skip, 0);
    }
    #[inline(always)]
    fn splat(self, block: &[u8; 16]) -> uint8x16_t {
        self.load(block)
    }
    #[inline(always)]
    fn zero_extend(self, block: &[u8; 16]) -> uint8x16_t {
        self.load(block)
    }
    #[inline(always)]
    fn first_lane(self, v: uint8x16_t) -> [u8; 16] {
        let mut block = [0; 16];
        self.store(v, &mut block);
        block
    }

    #[inline(always)]
    fn xor(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        op!(veorq_u8(a, b))
    }
    #[inline(always)]
    fn swap_bytes(self, v: uint8x16_t) -> uint8x16_t {
        let v = op!(vrev64q_u8(v));
        op!(vextq_u8::<8>(v, v))
    }
    #[inline(always)]
    fn add64(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        op!(vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b))))
    }

    #[inline(always)]
    fn column<const I: usize>(self, v: uint8x16_t) -> uint8x16_t {
        match I {
            1 => op!(vreinterpretq_u8_u32(vdupq_laneq_u32::<1>(vreinterpretq_u32_u8(v)))),
            _ => op!(vreinterpretq_u8_u32(vdupq_laneq_u32::<3>(vreinterpretq_u32_u8(v)))),
        }
    }
    #[inline(always)]
    fn rot_word(self, v: uint8x16_t) -> uint8x16_t {
        let v = op!(vreinterpretq_u32_u8(v));
        op!(vreinterpretq_u8_u32(vsriq_n_u32::<8>(vshlq_n_u32::<24>(v), v)))
    }
    #[inline(always)]
    fn sub_word(self, v: uint8x16_t) -> uint8x16_t {
        // ShiftRows does not change four equal columns, so `AESE` with key zero is SubBytes.
        op!(last_round(v, self.load(&[0; 16])))
    }
    #[inline(always)]
    fn running_sum(self, v: uint8x16_t) -> uint8x16_t {
        let zero = op!(vdupq_n_u8(0));
        let v = op!(veorq_u8(v, vextq_u8::<12>(zero, v)));
        op!(veorq_u8(v, vextq_u8::<8>(zero, v)))
    }
    #[inline(always)]
    fn keys(self, schedule: &Schedule) -> &Schedule {
        schedule
    }
    #[inline(always)]
    fn aes_first(self, v: uint8x16_t, _: &&Schedule) -> uint8x16_t {
        v
    }
    #[inline(always)]
    fn aes_round(self, s: uint8x16_t, keys: &&Schedule, r: usize) -> uint8x16_t {
        op!(round(s, self.load(keys.round(r - 1))))
    }
    #[inline(always)]
    fn aes_bytes(self, s: uint8x16_t) -> uint8x16_t {
        s
    }
    #[inline(always)]
    fn aes_add(self, s: uint8x16_t, bytes: uint8x16_t) -> uint8x16_t {
        self.xor(s, bytes)
    }
    #[inline(always)]
    fn aes_last(self, s: uint8x16_t, keys: &&Schedule, r: usize, data: uint8x16_t) -> uint8x16_t {
        let s = op!(last_round(s, self.load(keys.round(r - 1))));
        self.xor(s, self.xor(data, self.load(keys.round(r))))
    }

    #[inline(always)]
    fn fence<const N: usize>(self, s: &mut [uint8x16_t; N]) {
        op!(fence(s))
    }
}

impl Products for Neon {
    #[inline(always)]
    fn truncate(self, v: uint8x16_t, n: usize) -> uint8x16_t {
        op!(vandq_u8(v, self.load(&PREFIX_MASK[16 - n.min(16)..])))
    }
    #[inline(always)]
    fn swap_halves(self, v: uint8x16_t) -> uint8x16_t {
        op!(vextq_u8::<8>(v, v))
    }
    #[inline(always)]
    fn xor_lanes(self, v: uint8x16_t) -> uint8x16_t {
        v
    }
    #[inline(always)]
    fn alternate<const N: usize>(self, a: uint8x16_t, _: uint8x16_t) -> uint8x16_t {
        a
    }
    #[inline(always)]
    fn swap_lanes<const N: usize>(self, v: uint8x16_t) -> uint8x16_t {
        v
    }
    #[inline(always)]
    fn low_halves(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        op!(vreinterpretq_u8_u64(vzip1q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b))))
    }
    #[inline(always)]
    fn and(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        op!(vandq_u8(a, b))
    }
    #[inline(always)]
    fn aes_round_with(self, v: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
        self.xor(op!(round(v, self.load(&[0; 16]))), key)
    }
    #[inline(always)]
    fn aes_last_with(self, v: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
        self.xor(op!(last_round(v, self.load(&[0; 16]))), key)
    }
    #[inline(always)]
    fn add32(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        op!(vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b))))
    }
    #[inline(always)]
    fn clmul_low(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        op!(low_product(a, b))
    }
    #[inline(always)]
    fn clmul_high(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        op!(high_product(a, b))
    }
    #[inline(always)]
    fn clmul_field(self, v: uint8x16_t) -> uint8x16_t {
        self.clmul_low(v, self.load(&FIELD))
    }

    #[inline(always)]
    fn fence_with_sums<const N: usize>(self, s: &mut [uint8x16_t; N], sums: &mut [uint8x16_t; 3]) {
        op!(fence_with_sums(s, sums))
    }
    #[inline(always)]
    fn opaque_ref<T>(self, x: &T) -> &T {
        opaque_ref(x)
    }
}

/// x^63 + x^62 + x^57 in the low half.
const FIELD: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0];

/// 16 bytes of ones and 16 of zeros. Any mask of the first bytes of a vector is a slice of them.
static PREFIX_MASK: [u8; 32] = {
    let mut bytes = [0; 32];
    let mut i = 0;
    while i < 16 {
        bytes[i] = 0xff;
        i += 1;
    }
    bytes
};

// The intrinsics of this feature are inlined only into functions that have it.

#[inline]
#[target_feature(enable = "neon,aes")]
fn round(s: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
    vaesmcq_u8(vaeseq_u8(s, key))
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn last_round(s: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
    vaeseq_u8(s, key)
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn low_product(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    let (a, b) = (vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b));
    vreinterpretq_u8_p128(vmull_p64(vgetq_lane_u64::<0>(a), vgetq_lane_u64::<0>(b)))
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn high_product(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vreinterpretq_u8_p128(vmull_high_p64(vreinterpretq_p64_u8(a), vreinterpretq_p64_u8(b)))
}

#[inline]
#[target_feature(enable = "neon")]
fn fence<const N: usize>(s: &mut [uint8x16_t; N]) {
    // The operands of `asm!` cannot be generic, so there is one arm for each length in use.
    match N {
        4 => pin!((s 0 1 2 3)),
        6 => pin!((s 0 1 2 3 4 5)),
        8 => pin!((s 0 1 2 3 4 5 6 7)),
        12 => pin!((s 0 1 2 3 4 5 6 7 8 9 10 11)),
        _ => {}
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn fence_with_sums<const N: usize>(s: &mut [uint8x16_t; N], sums: &mut [uint8x16_t; 3]) {
    if N == 8 {
        pin!((s 0 1 2 3 4 5 6 7) (sums 0 1 2));
    }
}

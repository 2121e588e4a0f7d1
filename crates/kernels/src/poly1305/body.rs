//! Poly1305 on vectors, written once for every instruction set.
//!
//! With LANES blocks in a vector, lane i absorbs the blocks i, i + LANES, i + 2 LANES, … All lanes
//! multiply by R = r^LANES after each vector, but the last vector is multiplied by different
//! powers, and the lanes are added:
//!
//! ```text
//! for each vector m of LANES blocks but the last:
//!     h = (h + m) * R
//! h = sum of lanes of ((h + m) * [r^LANES, …, r^2, r])
//! ```
//!
//! The departure is that several vectors m1, m2, …, mn are aggregated, as in GHASH:
//!
//! ```text
//! h = (h + m1) R^n + m2 R^(n - 1) + … + mn R
//! ```
//!
//! This needs one carry instead of n, but also n powers of R, so the number of powers grows with
//! the length of the message.
#![forbid(unsafe_code)]

use super::radix::{Radix, Radix26, Radix44};
use super::scalar::{Element, State};
use crate::InOut;
use crate::vector::inout::{Parts, copy_once, read_once};
use crate::vector::limbs::Limbs;
#[cfg(target_arch = "aarch64")]
use crate::vector::neon_limbs::NeonLimbs;
use crate::vector::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::vector::x86_limbs::{Avx2Limbs, Ifma512};
use crate::vector::{Token, unroll};
use crate::zero::wipe;
use core::iter;
use core::mem::take;

/// Number of bytes of a piece from which on vectors are faster, if the powers are available. With
/// any variant these are a vector and some blocks before it, which take as long as the sum over the
/// lanes.
pub(crate) const SHORT: usize = 128;
/// Number of words for the powers of R, which are 24 powers of 6 words or 16 of 9. It limits how
/// many vectors are aggregated.
///
/// With 32 powers of 6 words long messages are 4 % faster. But the words are cleared and wiped for
/// messages of 512 bytes too, which would become 4 % slower.
const STEPS: usize = 144;
/// Maximum number of vectors for which only four powers of R are computed. Four powers need no
/// multiplication of vectors, which takes the time of one and a half carries.
const MAX_VECTORS_FOUR_POWERS: usize = 12;
/// Number of bytes from which on two vectors of powers of R are computed. Each vector takes about
/// 50 cycles, and saves carries of 35 cycles.
const LEN_TWO_VECTORS: usize = 4 << 10;
/// Length from which all powers of R are computed, for the same reason.
const LEN_ALL_POWERS: usize = 8 << 10;

/// Powers of `r`. They are wiped from memory on drop, and computing them takes longer than
/// authenticating a short message.
#[repr(C, align(64))]
pub(crate) struct Powers {
    /// The factors of the last vector, from r^LANES for its first block down to r.
    pub(super) last: [u64; 48],
    /// R, R^2, R^3, …: first word 0 of each power, then word 1 of each, and so on.
    pub(super) steps: [u64; STEPS],
}

impl Powers {
    pub(crate) const EMPTY: Self = Self { last: [0; 48], steps: [0; STEPS] };
}

impl Drop for Powers {
    fn drop(&mut self) {
        wipe(&mut self.last);
        wipe(&mut self.steps);
    }
}

/// The operations of Poly1305 that depend on the instruction set.
pub(crate) trait Lanes: Token {
    /// Computes the powers for pieces of at most `len` bytes.
    fn set_up(self, state: &State, powers: &mut Powers, len: usize);
    /// Absorbs whole blocks, at least [`SHORT`] bytes, for which [`Lanes::set_up`] has computed the
    /// powers.
    fn absorb(self, state: &mut State, powers: &Powers, blocks: impl Input);
}

macro_rules! lanes {
    ($($token:ident: $radix:ident;)*) => {
        $(
            impl Lanes for $token {
                #[inline(always)]
                fn set_up(self, state: &State, powers: &mut Powers, len: usize) {
                    make_powers::<Self, $radix>(self, state, powers, len);
                }
                #[inline(always)]
                fn absorb(self, state: &mut State, powers: &Powers, blocks: impl Input) {
                    absorb::<Self, $radix>(self, state, powers, blocks);
                }
            }
        )*
    };
}

#[cfg(target_arch = "x86_64")]
lanes! { Ifma512: Radix44; Avx2Limbs: Radix26; }
#[cfg(target_arch = "aarch64")]
lanes! { NeonLimbs: Radix26; }

/// Without vectors there are no powers to compute, and the scalar code absorbs everything.
impl Lanes for Portable {
    #[inline(always)]
    fn set_up(self, _: &State, _: &mut Powers, _: usize) {}
    #[inline(always)]
    fn absorb(self, state: &mut State, _: &Powers, blocks: impl Input) {
        each_block(state, blocks);
    }
}

/// Calls [`Lanes::set_up`], for the table of variants.
#[inline(always)]
pub(crate) fn set_up<P: Lanes>(p: P, state: &State, powers: &mut Powers, len: usize) {
    p.set_up(state, powers, len);
}

/// Absorbs data of any length, padded with zeros to whole blocks as in the AEAD (RFC 8439, section
/// 2.8). For data of [`SHORT`] bytes or more, [`set_up`] must have computed the powers.
#[inline(always)]
pub(crate) fn padded<P: Lanes>(p: P, state: &mut State, powers: &Powers, data: &[u8]) {
    padded_input(p, state, powers, data);
}

/// [`padded`] that also copies the source of `data` to its destination. Each byte of the source is
/// read once.
#[inline(always)]
pub(crate) fn padded_copying<P: Lanes>(p: P, state: &mut State, powers: &Powers, data: InOut<'_>) {
    match data.into_parts() {
        Parts::InPlace(data) => padded_input(p, state, powers, &*data),
        Parts::Apart(from, to) => padded_input(p, state, powers, Copied { from, to }),
    }
}

#[inline(always)]
fn padded_input<P: Lanes>(p: P, state: &mut State, powers: &Powers, mut data: impl Input) {
    let blocks = data.len() & !15;
    if blocks >= SHORT {
        p.absorb(state, powers, data.take(blocks));
    }
    each_block(state, data);
}

/// Absorbs data without vectors, padded with zeros.
#[inline(always)]
fn each_block(state: &mut State, mut data: impl Input) {
    let mut blocks = data.take(data.len() & !15);
    state.integers(iter::from_fn(|| (blocks.len() > 0).then(|| blocks.take(16).load_integer())));
    state.padded(data.read());
}

/// Bytes that are absorbed: a slice, or [`Copied`].
pub(crate) trait Input: Sized {
    /// Returns the number of bytes.
    fn len(&self) -> usize;
    /// Removes the first `len` bytes and returns them.
    fn take(&mut self, len: usize) -> Self;
    /// Returns the bytes.
    fn read(&mut self) -> &[u8];
    /// Returns the integer that a block of 16 bytes represents.
    fn load_integer(&mut self) -> u128;
    /// Loads `LANES` blocks, see [`Limbs::halves`].
    fn load<P: Limbs>(&mut self, p: P) -> [P::V; 2];
}

impl Input for &[u8] {
    #[inline(always)]
    fn len(&self) -> usize {
        (**self).len()
    }
    #[inline(always)]
    fn take(&mut self, len: usize) -> Self {
        let (taken, rest) = self.split_at(len);
        *self = rest;
        taken
    }
    #[inline(always)]
    fn read(&mut self) -> &[u8] {
        self
    }
    #[inline(always)]
    fn load_integer(&mut self) -> u128 {
        u128::from_le_bytes(*self.first_chunk().unwrap())
    }
    #[inline(always)]
    fn load<P: Limbs>(&mut self, p: P) -> [P::V; 2] {
        p.halves([p.load_bytes(self), p.load_bytes(&self[8 * P::LANES..])])
    }
}

/// Bytes that are copied while they are absorbed.
///
/// So the copy has the bytes that were absorbed, even if another process changes `from` at the same
/// time. A separate copy takes 5 to 10 % of the time of ChaCha20-Poly1305. This one takes at most
/// 5 %, since it is computed beside the multiplications.
struct Copied<'a> {
    from: &'a [u8],
    to: &'a mut [u8],
}

impl Input for Copied<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.from.len()
    }
    #[inline(always)]
    fn take(&mut self, len: usize) -> Self {
        let (from, rest_from) = self.from.split_at(len);
        let (to, rest_to) = take(&mut self.to).split_at_mut(len);
        *self = Self { from: rest_from, to: rest_to };
        Self { from, to }
    }
    #[inline(always)]
    fn read(&mut self) -> &[u8] {
        copy_once(self.from, self.to)
    }
    #[inline(always)]
    fn load_integer(&mut self) -> u128 {
        let block = read_once(self.from.first_chunk().unwrap());
        self.to[..16].copy_from_slice(&block);
        u128::from_le_bytes(block)
    }
    #[inline(always)]
    fn load<P: Limbs>(&mut self, p: P) -> [P::V; 2] {
        let blocks = [p.load_bytes(self.from), p.load_bytes(&self.from[8 * P::LANES..])];
        p.store_bytes(blocks[0], self.to);
        p.store_bytes(blocks[1], &mut self.to[8 * P::LANES..]);
        p.halves(blocks)
    }
}

#[inline(always)]
fn make_powers<P: Limbs, R: Radix<P>>(p: P, state: &State, powers: &mut Powers, len: usize) {
    let mut exponents = [0; 8];
    unroll!(lane < 8 => {
        if lane < P::LANES {
            exponents[lane] = P::LANES - P::ORDER[lane];
        }
    });
    let four = four_powers(state.r());
    R::store_factors(p, in_lanes::<P, R>(p, four, &exponents), &mut powers.last, P::LANES);
    let step = pow_lanes::<P>(four);
    let (stride, count) = (STEPS / R::WORDS, steps::<P, R>(len));
    if count == 1 {
        return R::store_factors(p, R::splat(p, step), &mut powers.steps, stride);
    }
    let four = four_powers(step);
    let exponents = [1, 2, 3, 4, 5, 6, 7, 8];
    if count == 4 {
        return R::store_factors(p, in_four::<P, R>(p, four, &exponents), &mut powers.steps, stride);
    }
    let mut elements = in_lanes::<P, R>(p, four, &exponents);
    R::store_factors(p, elements, &mut powers.steps, stride);
    if count > P::LANES {
        let factors = R::factors(p, R::splat(p, pow_lanes::<P>(four)));
        for i in (P::LANES..count).step_by(P::LANES) {
            elements = multiply::<P, R>(p, elements, factors);
            R::store_factors(p, elements, &mut powers.steps[i..], stride);
        }
    }
}

/// Returns how many powers of R are computed for a piece of `len` bytes. It never decreases with
/// the length.
///
/// As many vectors of the piece are aggregated, even if more powers are available. The number of
/// available powers is stored next to secrets, so the constant-time check would treat a branch on
/// it as a branch on a secret.
#[inline(always)]
fn steps<P: Limbs, R: Radix<P>>(len: usize) -> usize {
    let vectors = len / (16 * P::LANES);
    match len {
        _ if vectors <= 2 => 1,
        _ if vectors <= MAX_VECTORS_FOUR_POWERS => 4,
        ..LEN_TWO_VECTORS => P::LANES,
        LEN_TWO_VECTORS..LEN_ALL_POWERS => 2 * P::LANES,
        _ => STEPS / R::WORDS,
    }
}

/// Returns x, x^2, x^3 and x^4.
#[inline(always)]
fn four_powers(x: Element) -> [Element; 4] {
    let square = x.mul(x);
    [x, square, square.mul(x), square.mul(square)]
}

/// Returns x^LANES, the factor of one step over a whole vector.
#[inline(always)]
fn pow_lanes<P: Limbs>([.., fourth]: [Element; 4]) -> Element {
    if P::LANES == 8 { fourth.mul(fourth) } else { fourth }
}

/// Returns x to the power of `exponents`, from 1 to LANES.
#[inline(always)]
fn in_lanes<P: Limbs, R: Radix<P>>(p: P, four: [Element; 4], exponents: &[usize; 8]) -> R::Elements {
    let elements = in_four::<P, R>(p, four, exponents);
    if P::LANES < 8 {
        return elements;
    }
    let more = choose::<P, R>(p, 2, exponents, R::splat(p, four[3]), R::splat(p, Element::ONE));
    multiply::<P, R>(p, elements, R::factors(p, more))
}

/// Computes [`in_lanes`] with 4 subtracted from exponents above 4.
#[inline(always)]
fn in_four<P: Limbs, R: Radix<P>>(p: P, four: [Element; 4], exponents: &[usize; 8]) -> R::Elements {
    let [x, square, cube, fourth] = four;
    let low = choose::<P, R>(p, 0, exponents, R::splat(p, square), R::splat(p, x));
    let high = choose::<P, R>(p, 0, exponents, R::splat(p, fourth), R::splat(p, cube));
    choose::<P, R>(p, 1, exponents, high, low)
}

/// Returns `a` in the lanes where `bit` is set in the exponent minus 1, and `b` in the others.
#[inline(always)]
fn choose<P: Limbs, R: Radix<P>>(
    p: P,
    bit: usize,
    exponents: &[usize; 8],
    a: R::Elements,
    b: R::Elements,
) -> R::Elements {
    let (mut mask, mut other) = ([0; 8], [0; 8]);
    unroll!(lane < 8 => {
        if lane < P::LANES {
            let set = (exponents[lane] - 1) >> bit & 1 == 1;
            mask[lane] = if set { u64::MAX } else { 0 };
            other[lane] = !mask[lane];
        }
    });
    R::choose(p, p.load_words(&mask), a, p.load_words(&other), b)
}

/// Multiplies lane by lane and computes the carries.
#[inline(always)]
pub(super) fn multiply<P: Limbs, R: Radix<P>>(
    p: P,
    elements: R::Elements,
    factors: R::Factors,
) -> R::Elements {
    R::carry(p, R::add_products(p, R::zero(p), elements, factors))
}

#[inline(always)]
fn absorb<P: Limbs, R: Radix<P>>(p: P, state: &mut State, powers: &Powers, mut rest: impl Input) {
    let (bytes, len) = (16 * P::LANES, rest.len());
    // The blocks that do not fill a vector are absorbed first, while the vectors are being loaded.
    // At the end they would have to wait for everything else.
    each_block(state, rest.take(len % bytes));
    let (mut h, max_steps) = (R::insert_accumulator(p, state.accumulator()), steps::<P, R>(len));
    while rest.len() > bytes {
        let steps = (rest.len() / bytes - 1).min(max_steps);
        h = group::<P, R>(p, h, &powers.steps, rest.take(steps * bytes));
    }
    if rest.len() < bytes {
        return;
    }
    let elements = R::add(p, h, R::elements(p, rest.load(p)));
    state.set_accumulator(R::sum_lanes(p, multiply::<P, R>(p, elements, R::load_factors(p, &powers.last))));
}

/// Absorbs at least one vector with one carry. There must be as many powers as vectors.
#[inline(always)]
pub(super) fn group<P: Limbs, R: Radix<P>>(
    p: P,
    h: R::Elements,
    steps: &[u64],
    mut blocks: impl Input,
) -> R::Elements {
    let mut first = blocks.take(16 * P::LANES);
    let (stride, mut sums) = (STEPS / R::WORDS, R::zero(p));
    let later = blocks.len() / (16 * P::LANES);
    for power in (0..later).rev() {
        let factors = R::splat_factors(p, &steps[power..], stride);
        sums = R::add_products(p, sums, R::elements(p, blocks.take(16 * P::LANES).load(p)), factors);
    }
    // The first vector is multiplied last, because `h` is known last.
    let factors = R::splat_factors(p, &steps[later..], stride);
    R::carry(p, R::add_products(p, sums, R::add(p, h, R::elements(p, first.load(p))), factors))
}

//! Poly1305 in vectors, once, for every instruction set.
//!
//! Lane i takes the blocks i, i + LANES, i + 2 LANES, …, so that one step multiplies by R = r^LANES; only the
//! last vector is multiplied by other powers, from r^LANES down to r. Several steps are aggregated, as in
//! GHASH: vectors m1, m2, …, mn turn a sum h into (h + m1) R^n + m2 R^(n - 1) + … + mn R, with one carry
//! instead of n. The longer a message is, the more powers are worth making.
#![forbid(unsafe_code)]

use super::SHORT;
use super::radix::{Radix, Radix26, Radix44};
use super::scalar::{Number, State};
use crate::vector::limbs::Limbs;
#[cfg(target_arch = "aarch64")]
use crate::vector::neon_limbs::NeonLimbs;
use crate::vector::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::vector::x86_limbs::{Avx2Limbs, Ifma512};
use crate::vector::{Token, unroll};
use crate::zero::wipe;

/// Room for powers of R, in words: for 24 of 6 words, or 16 of 9. So many vectors are aggregated at most.
///
/// With 32 of 6 words long messages are 4 % faster; but the room is cleared and wiped for messages of 512
/// bytes too, and they would be 4 % slower.
const STEPS: usize = 144;
/// Vectors of data up to which four powers of R are enough. They need no product of vectors, in whose time
/// one and a half carries are done.
const FEW: usize = 12;
/// Bytes from which on two vectors of powers of R are worth making, and from which on all: each takes about
/// 50 cycles, and a carry, of which there are then fewer, 35.
const TWO: usize = 4 << 10;
const ALL: usize = 8 << 10;

/// Powers of a key's point. They take longer to make than a short message does. Wiped on drop.
#[repr(C, align(64))]
pub(crate) struct Powers {
    /// From r^LANES, for the first block of a vector, down to r.
    last: [u64; 48],
    /// R, R^2, R^3, …: first a word of each, then the next of each.
    steps: [u64; STEPS],
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

/// What a row does with many blocks.
pub(crate) trait Lanes: Token {
    /// Makes the powers for pieces of at most `len` bytes.
    fn set_up(self, state: &State, powers: &mut Powers, len: usize);
    /// Takes in whole blocks, which are [`SHORT`] bytes or more, and for which there are powers.
    fn absorb(self, state: &mut State, powers: &Powers, blocks: &[u8]);
}

macro_rules! lanes {
    ($($token:ident: $radix:ident;)*) => {
        $(
            impl Lanes for $token {
                #[inline(always)]
                fn set_up(self, state: &State, powers: &mut Powers, len: usize) {
                    make::<Self, $radix>(self, state, powers, len);
                }
                #[inline(always)]
                fn absorb(self, state: &mut State, powers: &Powers, blocks: &[u8]) {
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

/// No vectors, so no powers.
impl Lanes for Portable {
    #[inline(always)]
    fn set_up(self, _: &State, _: &mut Powers, _: usize) {}
    #[inline(always)]
    fn absorb(self, state: &mut State, _: &Powers, blocks: &[u8]) {
        state.blocks(blocks);
    }
}

/// [`Lanes::set_up`] for the table.
#[inline(always)]
pub(crate) fn set_up<P: Lanes>(p: P, state: &State, powers: &mut Powers, len: usize) {
    p.set_up(state, powers, len);
}

/// Takes in data of any length, for which there are powers if it is [`SHORT`] or longer. Up to 15 zeros make
/// the last block whole, as AEADs want it (RFC 8439, section 2.8); of whole blocks nothing is changed.
#[inline(always)]
pub(crate) fn padded<P: Lanes>(p: P, state: &mut State, powers: &Powers, data: &[u8]) {
    let (blocks, rest) = data.split_at(data.len() & !15);
    if blocks.len() < SHORT {
        state.padded(data);
    } else {
        p.absorb(state, powers, blocks);
        state.padded(rest);
    }
}

/// The powers for `len` bytes.
#[inline(always)]
fn make<P: Limbs, R: Radix<P>>(p: P, state: &State, powers: &mut Powers, len: usize) {
    let mut exponents = [0; 8];
    unroll!(lane < 8 => {
        if lane < P::LANES {
            exponents[lane] = P::LANES - P::ORDER[lane];
        }
    });
    let four = first_four(state.point());
    R::store(p, in_lanes::<P, R>(p, four, &exponents), &mut powers.last, P::LANES);
    let step = whole::<P>(four);
    let (stride, count) = (STEPS / R::WORDS, steps::<P, R>(len));
    if count == 1 {
        return R::store(p, R::splat(p, step), &mut powers.steps, stride);
    }
    let four = first_four(step);
    let exponents = [1, 2, 3, 4, 5, 6, 7, 8];
    if count == 4 {
        return R::store(p, in_four::<P, R>(p, four, &exponents), &mut powers.steps, stride);
    }
    let mut numbers = in_lanes::<P, R>(p, four, &exponents);
    R::store(p, numbers, &mut powers.steps, stride);
    if count > P::LANES {
        let factors = R::factors(p, R::splat(p, whole::<P>(four)));
        for i in (P::LANES..count).step_by(P::LANES) {
            numbers = times::<P, R>(p, numbers, factors);
            R::store(p, numbers, &mut powers.steps[i..], stride);
        }
    }
}

/// How many powers of R a piece of `len` bytes deserves, never fewer than a shorter one. So many of its
/// vectors are aggregated, also where there are more powers: their number, beside secrets, would count as
/// one of them.
#[inline(always)]
fn steps<P: Limbs, R: Radix<P>>(len: usize) -> usize {
    let vectors = len / (16 * P::LANES);
    match len {
        _ if vectors <= 2 => 1,
        _ if vectors <= FEW => 4,
        ..TWO => P::LANES,
        TWO..ALL => 2 * P::LANES,
        _ => STEPS / R::WORDS,
    }
}

/// x, x^2, x^3, x^4.
#[inline(always)]
fn first_four(x: Number) -> [Number; 4] {
    let square = x.times(x);
    [x, square, square.times(x), square.times(square)]
}

/// x^LANES.
#[inline(always)]
fn whole<P: Limbs>([.., fourth]: [Number; 4]) -> Number {
    if P::LANES == 8 { fourth.times(fourth) } else { fourth }
}

/// x to the `exponents`, which are from 1 to LANES.
#[inline(always)]
fn in_lanes<P: Limbs, R: Radix<P>>(p: P, four: [Number; 4], exponents: &[usize; 8]) -> R::Numbers {
    let numbers = in_four::<P, R>(p, four, exponents);
    if P::LANES < 8 {
        return numbers;
    }
    let more = choose::<P, R>(p, 2, exponents, R::splat(p, four[3]), R::splat(p, Number::ONE));
    times::<P, R>(p, numbers, R::factors(p, more))
}

/// The same, of which exponents above 4 have 4 taken off.
#[inline(always)]
fn in_four<P: Limbs, R: Radix<P>>(p: P, four: [Number; 4], exponents: &[usize; 8]) -> R::Numbers {
    let [x, square, cube, fourth] = four;
    let low = choose::<P, R>(p, 0, exponents, R::splat(p, square), R::splat(p, x));
    let high = choose::<P, R>(p, 0, exponents, R::splat(p, fourth), R::splat(p, cube));
    choose::<P, R>(p, 1, exponents, high, low)
}

/// `a` in the lanes with an exponent that, less 1, has the `bit`; `b` in the others.
#[inline(always)]
fn choose<P: Limbs, R: Radix<P>>(
    p: P,
    bit: usize,
    exponents: &[usize; 8],
    a: R::Numbers,
    b: R::Numbers,
) -> R::Numbers {
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

/// Products.
#[inline(always)]
fn times<P: Limbs, R: Radix<P>>(p: P, numbers: R::Numbers, factors: R::Factors) -> R::Numbers {
    R::carry(p, R::add_products(p, R::zero(p), numbers, factors))
}

#[inline(always)]
fn absorb<P: Limbs, R: Radix<P>>(p: P, state: &mut State, powers: &Powers, blocks: &[u8]) {
    let bytes = 16 * P::LANES;
    // What fills no vector comes first, beside the loads, and not last, behind everything.
    let (head, mut rest) = blocks.split_at(blocks.len() % bytes);
    state.blocks(head);
    let (mut h, most) = (R::enter(p, state.sum()), steps::<P, R>(blocks.len()));
    while rest.len() > bytes {
        let steps = (rest.len() / bytes - 1).min(most);
        let (now, later) = rest.split_at(steps * bytes);
        h = group::<P, R>(p, h, &powers.steps, now);
        rest = later;
    }
    if rest.len() < bytes {
        return;
    }
    let numbers = R::add(p, h, R::load(p, rest));
    state.go_on(R::leave(p, times::<P, R>(p, numbers, R::restore(p, &powers.last))));
}

/// As many steps as there are vectors, one at least.
#[inline(always)]
fn group<P: Limbs, R: Radix<P>>(p: P, h: R::Numbers, steps: &[u64], blocks: &[u8]) -> R::Numbers {
    let (first, later) = blocks.split_at(16 * P::LANES);
    let (stride, mut sums) = (STEPS / R::WORDS, R::zero(p));
    let mut power = later.len() / (16 * P::LANES);
    for vector in later.chunks_exact(16 * P::LANES) {
        power -= 1;
        let factors = R::every(p, &steps[power..], stride);
        sums = R::add_products(p, sums, R::load(p, vector), factors);
    }
    // The first last, because `h` is known last.
    let factors = R::every(p, &steps[later.len() / (16 * P::LANES)..], stride);
    R::carry(p, R::add_products(p, sums, R::add(p, h, R::load(p, first)), factors))
}

//! Poly1305 in vectors, once, for every instruction set.
//!
//! Lane i takes the blocks i, i + LANES, i + 2 LANES, …, so that one step multiplies by R = r^LANES; only the last vector
//! is multiplied by other powers, from r^LANES down to r. Several steps are aggregated, as in GHASH: four vectors
//! m0 to m3 turn a sum h into (h + m0) R^4 + m1 R^3 + m2 R^2 + m3 R, with one carry instead of four.
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

/// Vectors that are aggregated.
const GROUP: usize = 4;

/// Powers of a key's point. They take longer to make than a short message does. Wiped on drop.
///
/// Factors lie as vectors, also where all lanes are equal: so each is an operand of the instruction that multiplies.
#[repr(C, align(64))]
pub(crate) struct Powers {
    /// From r^LANES, for the first block of a vector, down to r.
    last: Factors,
    /// R, R^2, R^3, R^4.
    steps: [Factors; GROUP],
}

/// A factor for each lane: 5 words for each of 8 lanes, or 9 for each of 4.
type Factors = [u64; 40];

impl Powers {
    pub(crate) const EMPTY: Self = Self { last: [0; 40], steps: [[0; 40]; GROUP] };
}

impl Drop for Powers {
    fn drop(&mut self) {
        wipe(&mut self.last);
        wipe(self.steps.as_flattened_mut());
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

/// Takes in data of any length, for which there are powers if it is [`SHORT`] or longer. Up to 15 zeros make the last block
/// whole, as AEADs want it (RFC 8439, section 2.8); of whole blocks nothing is changed.
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
    let r = state.point();
    let square = r.times(r);
    let fourth = square.times(square);
    let (one, first, second) = (R::splat(p, Number::ONE), R::splat(p, r), R::splat(p, square));
    // By the bits of how many times more than once r is a factor.
    let last = &mut powers.last;
    let mut numbers = choose::<P, R>(p, 0, second, first);
    R::store(p, choose::<P, R>(p, 1, second, one), last);
    numbers = times::<P, R>(p, numbers, last);
    let step = if P::LANES == 8 {
        R::store(p, choose::<P, R>(p, 2, R::splat(p, fourth), one), last);
        numbers = times::<P, R>(p, numbers, last);
        fourth.times(fourth)
    } else {
        fourth
    };
    R::store(p, numbers, last);
    R::store(p, R::splat(p, step), &mut powers.steps[0]);
    if len > 2 * 16 * P::LANES {
        let square = step.times(step);
        R::store(p, R::splat(p, square), &mut powers.steps[1]);
        R::store(p, R::splat(p, square.times(step)), &mut powers.steps[2]);
        R::store(p, R::splat(p, square.times(square)), &mut powers.steps[3]);
    }
}

/// `a` in the lanes of blocks before which an odd number of `2^bit` others lie, counted from the end of a vector; `b` in
/// the others.
#[inline(always)]
fn choose<P: Limbs, R: Radix<P>>(p: P, bit: usize, a: R::Numbers, b: R::Numbers) -> R::Numbers {
    let (mut mask, mut other) = ([0; 8], [0; 8]);
    unroll!(lane < 8 => {
        if lane < P::LANES {
            let set = (P::LANES - 1 - P::ORDER[lane]) >> bit & 1 == 1;
            mask[lane] = if set { u64::MAX } else { 0 };
            other[lane] = !mask[lane];
        }
    });
    R::choose(p, p.words(&mask), a, p.words(&other), b)
}

/// Products.
#[inline(always)]
fn times<P: Limbs, R: Radix<P>>(p: P, numbers: R::Numbers, factors: &Factors) -> R::Numbers {
    R::carry(p, R::add_products(p, R::zero(p), numbers, factors))
}

#[inline(always)]
fn absorb<P: Limbs, R: Radix<P>>(p: P, state: &mut State, powers: &Powers, blocks: &[u8]) {
    let bytes = 16 * P::LANES;
    // What fills no vector comes first, beside the loads, and not last, behind everything.
    let (head, mut rest) = blocks.split_at(blocks.len() % bytes);
    state.blocks(head);
    let mut h = R::enter(p, state.sum());
    while rest.len() > GROUP * bytes {
        let steps = &p.afresh(powers).steps;
        h = group::<P, R, GROUP>(p, h, steps, rest);
        rest = &rest[GROUP * bytes..];
    }
    let steps = &powers.steps;
    match rest.len() / bytes {
        4 => h = group::<P, R, 3>(p, h, steps, rest),
        3 => h = group::<P, R, 2>(p, h, steps, rest),
        2 => h = group::<P, R, 1>(p, h, steps, rest),
        _ => {}
    }
    let Some(last) = rest.len().checked_sub(bytes) else { return };
    let numbers = R::add(p, h, R::load(p, &rest[last..]));
    state.go_on(R::leave(p, times::<P, R>(p, numbers, &powers.last)));
}

/// `N` steps.
#[inline(always)]
fn group<P: Limbs, R: Radix<P>, const N: usize>(
    p: P,
    h: R::Numbers,
    steps: &[Factors; GROUP],
    blocks: &[u8],
) -> R::Numbers {
    let mut sums = R::zero(p);
    let blocks = &blocks[..N * 16 * P::LANES];
    // The last first, because `h` is known last.
    unroll!(i < 4 => {
        if i < N {
            let mut numbers = R::load(p, &blocks[(N - 1 - i) * 16 * P::LANES..]);
            if i == N - 1 {
                numbers = R::add(p, h, numbers);
            }
            sums = R::add_products(p, sums, numbers, &steps[i]);
        }
    });
    R::carry(p, sums)
}

//! The portable implementation of `Rounds`: bit-sliced rounds of AES, up to sixteen blocks at once.
#![forbid(unsafe_code)]

use super::portable::{Portable, round};
use super::rounds::{Degrees, Rounds, degrees, single_part};
use super::{Token, load_block, store_block};

/// The token for vectors of `D` blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes<const D: usize>(());

impl<const D: usize> Token for Lanes<D> {
    const LONG: bool = true;
}

impl<const D: usize> Rounds for Lanes<D> {
    const LANES: usize = D;
    type V = [u128; D];
    single_part! { [u128; D] }

    fn load(self, from: &[u8]) -> [u128; D] {
        self.load_part(&from[..Self::BYTES])
    }
    #[inline(never)]
    fn load_part(self, from: &[u8]) -> [u128; D] {
        core::array::from_fn(|i| load_block(from, 0, i))
    }
    fn store(self, v: [u128; D], to: &mut [u8]) {
        self.store_part(v, &mut to[..Self::BYTES]);
    }
    #[inline(never)]
    fn store_part(self, v: [u128; D], to: &mut [u8]) {
        for (i, block) in v.into_iter().enumerate() {
            store_block(block, to, 0, i);
        }
    }
    fn splat(self, block: &[u8; 16]) -> [u128; D] {
        [u128::from_le_bytes(*block); D]
    }
    fn xor_lanes(self, v: [u128; D]) -> [u8; 16] {
        v.into_iter().fold(0, |sum, block| sum ^ block).to_le_bytes()
    }

    fn xor(self, a: [u128; D], b: [u128; D]) -> [u128; D] {
        core::array::from_fn(|i| a[i] ^ b[i])
    }
    fn and(self, a: [u128; D], b: [u128; D]) -> [u128; D] {
        core::array::from_fn(|i| a[i] & b[i])
    }
    fn rounds<const N: usize>(self, states: [[u128; D]; N], mut keys: [[u128; D]; N]) -> [[u128; D]; N] {
        let out = keys.as_flattened_mut().chunks_mut(16);
        for (states, out) in states.as_flattened().chunks(16).zip(out) {
            let mut all = [0; 16];
            all[..states.len()].copy_from_slice(states);
            for (out, state) in out.iter_mut().zip(round(&all)) {
                *out ^= state;
            }
        }
        keys
    }
}

degrees! { Portable, 0; |_| Lanes<1> = Lanes(()), Lanes<2> = Lanes(()), Lanes<4> = Lanes(()) }

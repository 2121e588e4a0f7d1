//! The portable implementation of `Quads` with plain integers, one quad in a vector.
#![forbid(unsafe_code)]

use super::portable::Portable;
use super::quads::Quads;
use super::words::Words;
use super::{load_block, store_block};

impl Quads for Portable {
    #[inline(always)]
    fn splat_quad(self, quad: &[u8; 16]) -> [u32; 4] {
        Words::<u32>::load(self, quad)
    }
    #[inline(always)]
    fn rotate_lanes<const N: usize>(self, v: [u32; 4]) -> [u32; 4] {
        [v[N % 4], v[(N + 1) % 4], v[(N + 2) % 4], v[(N + 3) % 4]]
    }
    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [[u32; 4]; 4]) -> [[u32; 4]; 4] {
        [
            [a[0], b[0], c[0], d[0]],
            [a[1], b[1], c[1], d[1]],
            [a[2], b[2], c[2], d[2]],
            [a[3], b[3], c[3], d[3]],
        ]
    }
    #[inline(always)]
    fn transpose_quads(self, v: [[u32; 4]; 4]) -> [[u32; 4]; 4] {
        v
    }
    #[inline(always)]
    fn load_part(self, from: &[u8]) -> [u32; 4] {
        Words::<u32>::load(self, &load_block(from, 0, 0).to_le_bytes())
    }
    #[inline(always)]
    fn store_part(self, v: [u32; 4], to: &mut [u8]) {
        let mut block = [0; 16];
        Words::<u32>::store(self, v, &mut block);
        store_block(u128::from_le_bytes(block), to, 0, 0);
    }
}

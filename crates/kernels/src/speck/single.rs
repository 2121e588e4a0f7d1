//! Speck on a single block with integers, and the key schedule (ePrint 2013/404, section 4).
//!
//! A key of m words l\[m-2\], …, l\[0\], k\[0\] is expanded with the round function of encryption:
//!
//! ```text
//! for i in 0..rounds - 1:
//!     l[i + m - 1] = (k[i] + (l[i] >>> alpha)) ^ i
//!     k[i + 1]     = (k[i] <<< beta) ^ l[i + m - 1]
//! ```
//!
//! Each round depends on the previous one, so vectors would not be faster here.
#![forbid(unsafe_code)]

use crate::vector::pairs::{ByteOrder, Word, word};
use crate::zero::wipe;

/// The round keys in the order of encryption. Keys past the last round are zero, and all of them
/// are wiped from memory on drop.
pub(crate) struct Schedule([u64; 34]);

impl Schedule {
    pub(crate) const EMPTY: Self = Self([0; 34]);

    #[inline(always)]
    pub(crate) fn keys(&self, rounds: usize) -> &[u64] {
        &self.0[..rounds]
    }

    /// Expands a key of `M` words (section 4.2 of the paper).
    #[inline(never)]
    pub(crate) fn expand<W: Word, const M: usize>(&mut self, order: ByteOrder, key: &[u8], rounds: usize) {
        let word = |i: usize| match order {
            ByteOrder::Big => word::<W>(order, &key[(M - 1 - i) * W::BYTES..]),
            ByteOrder::Little => word::<W>(order, &key[i * W::BYTES..]),
        };
        let mut k = word(0);
        let mut l = [word(1), if M > 2 { word(2) } else { 0 }, if M > 3 { word(3) } else { 0 }];
        for (i, key) in self.0[..rounds].iter_mut().enumerate() {
            *key = k;
            let [next_l, next_k] = W::round(l[0], k, i as u64);
            k = next_k;
            l = [l[1], l[2], 0];
            l[M - 2] = next_l;
        }
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Encrypts one block, given as its words x and y, and returns the result.
#[inline(always)]
pub(crate) fn encrypt<W: Word>(keys: &[u64], mut block: [u64; 2]) -> [u64; 2] {
    for key in keys {
        block = W::round(block[0], block[1], *key);
    }
    block
}

/// Decrypts one block, given as its words x and y, and returns the result.
#[inline(always)]
pub(crate) fn decrypt<W: Word>(keys: &[u64], mut block: [u64; 2]) -> [u64; 2] {
    for key in keys.iter().rev() {
        block = W::inverse_round(block[0], block[1], *key);
    }
    block
}

//! Speck (ePrint 2013/404, section 4) on many blocks, written once for every instruction set and
//! word size.
//!
//! A block is two words x and y. With the round keys k\[0\], k\[1\], …, encryption is:
//!
//! ```text
//! for k in round keys:
//!     x = ((x >>> alpha) + y) ^ k
//!     y = (y <<< beta) ^ x
//! ```
//!
//! Decryption runs the rounds backwards. A pair of vectors holds the words of as many blocks as a
//! vector has lanes, and `N` pairs are computed in parallel, because each operation of a block
//! depends on the one before it.
//!
//! In counter mode the lanes only count in the low word of a block. The caller splits the data
//! where the low word overflows.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::vector::pairs::{ByteOrder, Pairs, V, Word};
use crate::vector::words::Words;
use crate::vector::{load16, store16, unroll};
use crate::zero::wipe;
use core::marker::PhantomData;

/// Number of bytes in the blocks of the largest pair of vectors.
const PAIR: usize = 128;

/// What a call does with its data.
pub(crate) const ENCRYPT: u8 = 0;
pub(crate) const DECRYPT: u8 = 1;
const XOR: u8 = 2;

/// XORs `data` with the keystream from byte `skip` of the block with the counter `high`, `low` on.
///
/// The low word of the counter must not overflow within `data`. `N` pairs of vectors are computed
/// in parallel.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn xor_blocks<W: Word, B: Pairs<W>, const N: usize>(
    b: B,
    keys: &[u64],
    order: ByteOrder,
    high: u64,
    low: u64,
    skip: usize,
    mut data: InOut<'_>,
) {
    let call = Call::<W, B> { b, keys, order, word: PhantomData };
    let (mut counter, mut done, len) = ([high, low], 0, data.len());
    if skip > 0 {
        done = len.min(B::PAIR_BYTES - skip);
        call.xor_part(&mut counter, skip, data.part(0, done));
    }
    done = call.groups::<N, XOR>(&mut counter, &mut data, done);
    if done < len {
        call.xor_part(&mut counter, 0, data.part(done, len - done));
    }
}

/// Encrypts or decrypts each block. `N` pairs of vectors are computed in parallel.
#[inline(always)]
pub(crate) fn each_block<W: Word, B: Pairs<W>, const N: usize, const WORK: u8>(
    b: B,
    keys: &[u64],
    order: ByteOrder,
    mut data: InOut<'_>,
) {
    let (call, len) = (Call::<W, B> { b, keys, order, word: PhantomData }, data.len());
    let done = call.groups::<N, WORK>(&mut [0; 2], &mut data, 0);
    if done < len {
        let (mut whole, mut part) = (Scratch::ZERO, data.part(done, len - done));
        copy(part.source(), &mut whole.0);
        call.group::<1, WORK>(&mut [0; 2], InOut::in_place(&mut whole.0[..B::PAIR_BYTES]));
        copy(&whole.0[..part.len()], part.target());
    }
}

/// The instruction set, the round keys and the byte order of a call.
struct Call<'a, W, B> {
    b: B,
    keys: &'a [u64],
    order: ByteOrder,
    word: PhantomData<W>,
}

impl<W: Word, B: Pairs<W>> Call<'_, W, B> {
    /// Processes groups of `N` pairs of vectors from byte `done` of the data on, then groups of
    /// four pairs, of two and of one. Returns the number of bytes that are done then.
    #[inline(always)]
    fn groups<const N: usize, const WORK: u8>(
        &self,
        counter: &mut [u64; 2],
        data: &mut InOut<'_>,
        mut done: usize,
    ) -> usize {
        let len = data.len();
        while len - done >= N * B::PAIR_BYTES {
            self.group::<N, WORK>(counter, data.part(done, N * B::PAIR_BYTES));
            done += N * B::PAIR_BYTES;
        }
        while N > 4 && len - done >= 4 * B::PAIR_BYTES {
            self.group::<4, WORK>(counter, data.part(done, 4 * B::PAIR_BYTES));
            done += 4 * B::PAIR_BYTES;
        }
        while N > 2 && len - done >= 2 * B::PAIR_BYTES {
            self.group::<2, WORK>(counter, data.part(done, 2 * B::PAIR_BYTES));
            done += 2 * B::PAIR_BYTES;
        }
        while N > 1 && len - done >= B::PAIR_BYTES {
            self.group::<1, WORK>(counter, data.part(done, B::PAIR_BYTES));
            done += B::PAIR_BYTES;
        }
        done
    }

    /// Encrypts or decrypts `N` pairs of vectors, or XORs them with their keystream.
    #[inline(always)]
    fn group<const N: usize, const WORK: u8>(&self, counter: &mut [u64; 2], mut data: InOut<'_>) {
        let Self { b, order, .. } = *self;
        if WORK == XOR {
            let (x, y) = self.keystream::<N>(counter);
            unroll!(i < N => { b.xor_blocks(order, [x[i], y[i]], data.part(i * B::PAIR_BYTES, B::PAIR_BYTES)); });
            return;
        }
        let [first, second] = b.load_blocks(order, data.source());
        let (mut x, mut y) = ([first; N], [second; N]);
        unroll!(i < N => { [x[i], y[i]] = b.load_blocks(order, &data.source()[i * B::PAIR_BYTES..]); });
        if WORK == DECRYPT {
            self.decrypt(&mut x, &mut y)
        } else {
            self.encrypt(&mut x, &mut y)
        }
        unroll!(i < N => { b.store_blocks(order, [x[i], y[i]], &mut data.target()[i * B::PAIR_BYTES..]); });
    }

    /// XORs the keystream to a part of the blocks of one pair, from byte `skip` on.
    #[inline(always)]
    fn xor_part(&self, counter: &mut [u64; 2], skip: usize, mut data: InOut<'_>) {
        let (x, y) = self.keystream::<1>(counter);
        let mut keystream = Scratch::ZERO;
        self.b.store_blocks(self.order, [x[0], y[0]], &mut keystream.0);
        let (mut done, len) = (0, data.len());
        while done < len {
            let mut part = data.part(done, (len - done).min(16));
            let key = load16(&keystream.0[skip + done..][..part.len()]);
            store16(load16(part.source()) ^ key, part.target());
            done += part.len();
        }
    }

    /// Returns the encrypted counters of `N` pairs of vectors, and advances the counter.
    #[inline(always)]
    #[allow(clippy::type_complexity)]
    fn keystream<const N: usize>(&self, [high, low]: &mut [u64; 2]) -> ([V<B, W>; N], [V<B, W>; N]) {
        let Self { b, order, .. } = *self;
        let w = b.words();
        let (high, base) = (w.splat(W::lane(*high)), w.add(w.splat(W::lane(*low)), b.block_indices()));
        *low = low.wrapping_add((N * B::BLOCKS) as u64);
        let (mut x, mut y) = ([high; N], [base; N]);
        unroll!(i < N => { y[i] = w.add(base, w.splat(W::lane((i * B::BLOCKS) as u64))); });
        // The counter is big-endian in both byte orders.
        if order == ByteOrder::Little {
            let high = b.reverse_words(high);
            unroll!(i < N => {
                x[i] = b.reverse_words(y[i]);
                y[i] = high;
            });
        }
        self.encrypt(&mut x, &mut y);
        (x, y)
    }

    /// Computes all rounds of encryption (section 4.1 of the paper).
    #[inline(always)]
    fn encrypt<const N: usize>(&self, x: &mut [V<B, W>; N], y: &mut [V<B, W>; N]) {
        let (b, w) = (self.b, self.b.words());
        for key in self.keys {
            let key = w.splat(W::lane(*key));
            unroll!(i < N => {
                x[i] = w.xor(w.add(W::right_alpha(b, x[i]), y[i]), key);
                y[i] = w.xor(W::left_beta(b, y[i]), x[i]);
            });
        }
    }

    /// Computes all rounds of decryption, with the round keys in reverse order.
    #[inline(always)]
    fn decrypt<const N: usize>(&self, x: &mut [V<B, W>; N], y: &mut [V<B, W>; N]) {
        let (b, w) = (self.b, self.b.words());
        for key in self.keys.iter().rev() {
            let key = w.splat(W::lane(*key));
            unroll!(i < N => {
                y[i] = W::right_beta(b, w.xor(x[i], y[i]));
                x[i] = W::left_alpha(b, w.sub(w.xor(x[i], key), y[i]));
            });
        }
    }
}

/// A buffer for data that are shorter than the blocks of a pair. It is wiped from memory on drop.
struct Scratch([u8; PAIR]);

impl Scratch {
    const ZERO: Self = Self([0; PAIR]);
}

impl Drop for Scratch {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Copies as many bytes as the shorter slice has, without calling `memcpy`.
#[inline(always)]
fn copy(from: &[u8], to: &mut [u8]) {
    for (from, to) in from.chunks(16).zip(to.chunks_mut(16)) {
        let len = from.len().min(to.len());
        store16(load16(&from[..len]), &mut to[..len]);
    }
}

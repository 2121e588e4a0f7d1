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

/// Number of bytes in the blocks of the largest pair of vectors.
const PAIR: usize = 128;

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
    let (mut counter, mut done, len) = ([high, low], 0, data.len());
    if skip > 0 {
        done = len.min(B::PAIR_BYTES - skip);
        xor_part::<W, B>(b, keys, order, &mut counter, skip, data.part(0, done));
    }
    while len - done >= N * B::PAIR_BYTES {
        xor_group::<W, B, N>(b, keys, order, &mut counter, data.part(done, N * B::PAIR_BYTES));
        done += N * B::PAIR_BYTES;
    }
    while N > 4 && len - done >= 4 * B::PAIR_BYTES {
        xor_group::<W, B, 4>(b, keys, order, &mut counter, data.part(done, 4 * B::PAIR_BYTES));
        done += 4 * B::PAIR_BYTES;
    }
    while N > 2 && len - done >= 2 * B::PAIR_BYTES {
        xor_group::<W, B, 2>(b, keys, order, &mut counter, data.part(done, 2 * B::PAIR_BYTES));
        done += 2 * B::PAIR_BYTES;
    }
    while N > 1 && len - done >= B::PAIR_BYTES {
        xor_group::<W, B, 1>(b, keys, order, &mut counter, data.part(done, B::PAIR_BYTES));
        done += B::PAIR_BYTES;
    }
    if done < len {
        xor_part::<W, B>(b, keys, order, &mut counter, 0, data.part(done, len - done));
    }
}

/// XORs the keystream to the blocks of `N` pairs.
#[inline(always)]
fn xor_group<W: Word, B: Pairs<W>, const N: usize>(
    b: B,
    keys: &[u64],
    order: ByteOrder,
    counter: &mut [u64; 2],
    mut data: InOut<'_>,
) {
    let (mut x, mut y) = counters::<W, B, N>(b, order, counter);
    encrypt::<W, B, N>(b, keys, &mut x, &mut y);
    unroll!(i < N => { b.xor_blocks(order, [x[i], y[i]], data.part(i * B::PAIR_BYTES, B::PAIR_BYTES)); });
}

/// XORs the keystream to a part of the blocks of one pair, from byte `skip` on.
#[inline(always)]
fn xor_part<W: Word, B: Pairs<W>>(
    b: B,
    keys: &[u64],
    order: ByteOrder,
    counter: &mut [u64; 2],
    skip: usize,
    mut data: InOut<'_>,
) {
    let (mut x, mut y) = counters::<W, B, 1>(b, order, counter);
    encrypt::<W, B, 1>(b, keys, &mut x, &mut y);
    let mut keystream = Scratch::ZERO;
    b.store_blocks(order, [x[0], y[0]], &mut keystream.0);
    let (mut done, len) = (0, data.len());
    while done < len {
        let mut part = data.part(done, (len - done).min(16));
        let key = load16(&keystream.0[skip + done..][..part.len()]);
        store16(load16(part.source()) ^ key, part.target());
        done += part.len();
    }
}

/// Returns the words of the counter blocks of `N` pairs, and advances the counter.
#[inline(always)]
#[allow(clippy::type_complexity)]
fn counters<W: Word, B: Pairs<W>, const N: usize>(
    b: B,
    order: ByteOrder,
    [high, low]: &mut [u64; 2],
) -> ([V<B, W>; N], [V<B, W>; N]) {
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
    (x, y)
}

/// Encrypts or decrypts each block. `N` pairs of vectors are computed in parallel.
#[inline(always)]
pub(crate) fn each_block<W: Word, B: Pairs<W>, const N: usize, const DECRYPT: bool>(
    b: B,
    keys: &[u64],
    order: ByteOrder,
    mut data: InOut<'_>,
) {
    let (mut done, len) = (0, data.len());
    while len - done >= N * B::PAIR_BYTES {
        group::<W, B, N, DECRYPT>(b, keys, order, data.part(done, N * B::PAIR_BYTES));
        done += N * B::PAIR_BYTES;
    }
    while N > 4 && len - done >= 4 * B::PAIR_BYTES {
        group::<W, B, 4, DECRYPT>(b, keys, order, data.part(done, 4 * B::PAIR_BYTES));
        done += 4 * B::PAIR_BYTES;
    }
    while N > 2 && len - done >= 2 * B::PAIR_BYTES {
        group::<W, B, 2, DECRYPT>(b, keys, order, data.part(done, 2 * B::PAIR_BYTES));
        done += 2 * B::PAIR_BYTES;
    }
    while N > 1 && len - done >= B::PAIR_BYTES {
        group::<W, B, 1, DECRYPT>(b, keys, order, data.part(done, B::PAIR_BYTES));
        done += B::PAIR_BYTES;
    }
    if done < len {
        let (mut whole, mut part) = (Scratch::ZERO, data.part(done, len - done));
        copy(part.source(), &mut whole.0);
        group::<W, B, 1, DECRYPT>(b, keys, order, InOut::in_place(&mut whole.0[..B::PAIR_BYTES]));
        copy(&whole.0[..part.len()], part.target());
    }
}

/// Encrypts or decrypts the blocks of `N` pairs.
#[inline(always)]
fn group<W: Word, B: Pairs<W>, const N: usize, const DECRYPT: bool>(
    b: B,
    keys: &[u64],
    order: ByteOrder,
    mut data: InOut<'_>,
) {
    let [first, second] = b.load_blocks(order, data.source());
    let (mut x, mut y) = ([first; N], [second; N]);
    unroll!(i < N => { [x[i], y[i]] = b.load_blocks(order, &data.source()[i * B::PAIR_BYTES..]); });
    if DECRYPT {
        decrypt::<W, B, N>(b, keys, &mut x, &mut y);
    } else {
        encrypt::<W, B, N>(b, keys, &mut x, &mut y);
    }
    unroll!(i < N => { b.store_blocks(order, [x[i], y[i]], &mut data.target()[i * B::PAIR_BYTES..]); });
}

/// Computes all rounds of encryption (section 4.1 of the paper).
#[inline(always)]
fn encrypt<W: Word, B: Pairs<W>, const N: usize>(
    b: B,
    keys: &[u64],
    x: &mut [V<B, W>; N],
    y: &mut [V<B, W>; N],
) {
    let w = b.words();
    for key in keys {
        let key = w.splat(W::lane(*key));
        unroll!(i < N => {
            x[i] = w.xor(w.add(W::right_alpha(b, x[i]), y[i]), key);
            y[i] = w.xor(W::left_beta(b, y[i]), x[i]);
        });
    }
}

/// Computes all rounds of decryption, with the round keys in reverse order.
#[inline(always)]
fn decrypt<W: Word, B: Pairs<W>, const N: usize>(
    b: B,
    keys: &[u64],
    x: &mut [V<B, W>; N],
    y: &mut [V<B, W>; N],
) {
    let w = b.words();
    for key in keys.iter().rev() {
        let key = w.splat(W::lane(*key));
        unroll!(i < N => {
            y[i] = W::right_beta(b, w.xor(x[i], y[i]));
            x[i] = W::left_alpha(b, w.sub(w.xor(x[i], key), y[i]));
        });
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

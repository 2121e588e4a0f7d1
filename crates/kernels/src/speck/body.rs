//! Speck on many blocks, once, for every instruction set and every size of word.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::vector::pairs::{ByteOrder, Pairs, V, Word};
use crate::vector::words::Words;
use crate::vector::{load16, store16, unroll};
use crate::zero::wipe;

/// Bytes of the largest pair.
const PAIR: usize = 128;

/// XORs the keystream to `data`, from byte `skip` of the block with the counter `high`, `low` on.
///
/// Only the low word counts; the caller cuts where it overflows. `N` pairs are in flight.
#[inline(always)]
pub(crate) fn xor_blocks<W: Word, B: Pairs<W>, const N: usize>(
    b: B,
    keys: &[u64],
    order: ByteOrder,
    [high, mut low]: [u64; 2],
    mut skip: usize,
    mut data: InOut<'_>,
) {
    let mut done = 0;
    while done < data.len() {
        let left = data.len() - done;
        let n = if N > 1 && skip == 0 && left >= N * B::PAIR {
            let n = left - left % (N * B::PAIR);
            xor_groups::<W, B, N>(b, keys, order, [high, low], data.part(done, n));
            n
        } else if N > 4 && skip == 0 && left >= 4 * B::PAIR {
            xor_groups::<W, B, 4>(b, keys, order, [high, low], data.part(done, 4 * B::PAIR));
            4 * B::PAIR
        } else if N > 2 && skip == 0 && left >= 2 * B::PAIR {
            xor_groups::<W, B, 2>(b, keys, order, [high, low], data.part(done, 2 * B::PAIR));
            2 * B::PAIR
        } else if skip == 0 && left >= B::PAIR {
            xor_groups::<W, B, 1>(b, keys, order, [high, low], data.part(done, B::PAIR));
            B::PAIR
        } else {
            let n = left.min(B::PAIR - skip);
            xor_part::<W, B>(b, keys, order, [high, low], skip, data.part(done, n));
            n
        };
        low = low.wrapping_add(((skip + n) / (2 * W::BYTES)) as u64);
        skip = 0;
        done += n;
    }
}

/// Whole groups of `N` pairs.
#[inline(always)]
fn xor_groups<W: Word, B: Pairs<W>, const N: usize>(
    b: B,
    keys: &[u64],
    order: ByteOrder,
    [high, mut low]: [u64; 2],
    mut data: InOut<'_>,
) {
    let group = N * B::PAIR;
    let mut done = 0;
    while done < data.len() {
        // Of a length that the compiler knows, so that nothing below is checked.
        let mut part = data.part(done, group);
        let (mut x, mut y) = counters::<W, B, N>(b, order, [high, low]);
        encrypt::<W, B, N>(b, keys, &mut x, &mut y);
        unroll!(i < N => { b.xor_blocks(order, [x[i], y[i]], part.part(i * B::PAIR, B::PAIR)); });
        low = low.wrapping_add((N * B::BLOCKS) as u64);
        done += group;
    }
}

/// A part of one pair, from byte `skip` on.
#[inline(always)]
fn xor_part<W: Word, B: Pairs<W>>(
    b: B,
    keys: &[u64],
    order: ByteOrder,
    counter: [u64; 2],
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

/// The counter blocks of `N` pairs, as words.
#[inline(always)]
#[allow(clippy::type_complexity)]
fn counters<W: Word, B: Pairs<W>, const N: usize>(
    b: B,
    order: ByteOrder,
    [high, low]: [u64; 2],
) -> ([V<B, W>; N], [V<B, W>; N]) {
    let w = b.words();
    let (high, base) = (w.splat(W::lane(high)), w.add(w.splat(W::lane(low)), b.numbers()));
    let (mut x, mut y) = ([high; N], [base; N]);
    unroll!(i < N => { y[i] = w.add(base, w.splat(W::lane((i * B::BLOCKS) as u64))); });
    // The counter is big-endian whatever the block is.
    if order == ByteOrder::Little {
        let high = b.reverse_words(high);
        unroll!(i < N => {
            x[i] = b.reverse_words(y[i]);
            y[i] = high;
        });
    }
    (x, y)
}

/// Encrypts blocks, or decrypts them (`BACK`). `N` pairs are in flight.
#[inline(always)]
pub(crate) fn each_block<W: Word, B: Pairs<W>, const N: usize, const BACK: bool>(
    b: B,
    keys: &[u64],
    order: ByteOrder,
    mut data: InOut<'_>,
) {
    let mut done = 0;
    while done < data.len() {
        let left = data.len() - done;
        done += if N > 1 && left >= N * B::PAIR {
            let n = left - left % (N * B::PAIR);
            groups::<W, B, N, BACK>(b, keys, order, data.part(done, n));
            n
        } else if N > 4 && left >= 4 * B::PAIR {
            groups::<W, B, 4, BACK>(b, keys, order, data.part(done, 4 * B::PAIR));
            4 * B::PAIR
        } else if N > 2 && left >= 2 * B::PAIR {
            groups::<W, B, 2, BACK>(b, keys, order, data.part(done, 2 * B::PAIR));
            2 * B::PAIR
        } else if left >= B::PAIR {
            groups::<W, B, 1, BACK>(b, keys, order, data.part(done, B::PAIR));
            B::PAIR
        } else {
            let mut whole = Scratch::ZERO;
            let mut part = data.part(done, left);
            copy(part.source(), &mut whole.0);
            groups::<W, B, 1, BACK>(b, keys, order, InOut::in_place(&mut whole.0[..B::PAIR]));
            copy(&whole.0[..left], part.target());
            left
        };
    }
}

/// Whole groups of `N` pairs.
#[inline(always)]
fn groups<W: Word, B: Pairs<W>, const N: usize, const BACK: bool>(
    b: B,
    keys: &[u64],
    order: ByteOrder,
    mut data: InOut<'_>,
) {
    let group = N * B::PAIR;
    let mut done = 0;
    while done < data.len() {
        // Of a length that the compiler knows, so that nothing below is checked.
        let mut part = data.part(done, group);
        let [first, second] = b.load_blocks(order, part.source());
        let (mut x, mut y) = ([first; N], [second; N]);
        unroll!(i < N => { [x[i], y[i]] = b.load_blocks(order, &part.source()[i * B::PAIR..]); });
        if BACK {
            decrypt::<W, B, N>(b, keys, &mut x, &mut y);
        } else {
            encrypt::<W, B, N>(b, keys, &mut x, &mut y);
        }
        unroll!(i < N => { b.store_blocks(order, [x[i], y[i]], &mut part.target()[i * B::PAIR..]); });
        done += group;
    }
}

/// All rounds (4.1 of the paper).
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

/// All rounds backwards.
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

/// A pair in memory, for what is shorter than one. Wiped on drop.
struct Scratch([u8; PAIR]);

impl Scratch {
    const ZERO: Self = Self([0; PAIR]);
}

impl Drop for Scratch {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// As many bytes as the shorter one has, without a call.
#[inline(always)]
fn copy(from: &[u8], to: &mut [u8]) {
    for (from, to) in from.chunks(16).zip(to.chunks_mut(16)) {
        let len = from.len().min(to.len());
        store16(load16(&from[..len]), &mut to[..len]);
    }
}

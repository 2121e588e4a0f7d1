//! AES-GCM-SIV for every instruction set: many short messages in one call.
//!
//! Most of the time of a short message goes to its keys: one is derived and expanded after the
//! other, in long chains. So several messages are processed side by side, one in each lane of `N`
//! vectors. Each message has its own keys, so the round keys and H differ between the lanes too:
//!
//! ```text
//! H, keys = derived from (nonce of message 0 | nonce of message 1 | …)
//! for each block i:
//!     sums = (sums XOR (block i of message 0 | block i of message 1 | …)) · H
//! tags = AES(keys, ((sums XOR lengths) · H XOR nonces) with the top bits cleared)
//! for each block i:
//!     keystreams = AES(keys, counters + i)
//! ```
//!
//! The vectors of several blocks of a message are transposed before they are hashed, and so are the
//! keystreams before they are XORed to the data.
#![forbid(unsafe_code)]

use crate::aes::body::{expand_128, expand_256};
use crate::batch::{Sealed, parts};
use crate::gcm::batch::{NONCE_LEN, lanes_of};
use crate::ghash::times;
use crate::stitch::{load, store};
use crate::vector::{NUMBERS, Products, Schedule, each_round, load16, unroll};
use core::ops::Range;

/// Largest length in bytes of the data, and of the associated data, of a short message.
pub(crate) const SHORT: usize = 64;
/// Largest number of blocks of a short message.
const BLOCKS: usize = SHORT / 16;
/// Number of messages that are processed side by side: `L` in each of `N` vectors. On Zen 4, eight
/// messages take more time each.
pub(crate) const MESSAGES: usize = 4;

const TOP_BIT: [u8; 16] = (1u128 << 127).to_le_bytes();
const BELOW_TOP_BIT: [u8; 16] = (u128::MAX >> 1).to_le_bytes();
/// The mask of block `i` of a message with `n` blocks is at index `n + BLOCKS - 1 - i`.
const MASKS: [[u8; 16]; 2 * BLOCKS] = {
    let mut masks = [[0; 16]; 2 * BLOCKS];
    let mut i = BLOCKS;
    while i < masks.len() {
        masks[i] = [0xff; 16];
        i += 1;
    }
    masks
};

/// Messages with their own keys, one in each of the `L` lanes of `N` vectors.
struct Messages<B: Products, const N: usize, const L: usize> {
    b: B,
    h: [B::V; N],
    keys: [[B::V; N]; 15],
    nonces: [B::V; N],
    /// The largest number of blocks of a message.
    blocks: usize,
}

impl<B: Products, const N: usize, const L: usize> Messages<B, N, L> {
    /// Derives the keys, as `derive` in `body.rs` does.
    #[inline(always)]
    fn derive<const R: usize>(
        b: B,
        key_generating_key: &Schedule,
        nonces: [&[u8; NONCE_LEN]; MESSAGES],
        blocks: usize,
    ) -> Self {
        let keys = b.keys(key_generating_key);
        let count = if R == 10 { 4 } else { 6 };
        let zero = b.splat(&[0; 16]);
        // The encrypted blocks.
        let mut e = [[zero; N]; 6];
        let (mut padded, mut shifted) = ([[zero; L]; N], [[zero; L]; N]);
        unroll!(n < N => {
            unroll!(m < L => {
                let nonce = load16(nonces[n * L + m]);
                padded[n][m] = b.splat(&nonce.to_le_bytes());
                shifted[n][m] = b.splat(&(nonce << 32).to_le_bytes());
            });
            let mut s = [b.aes_first(zero, &keys); 6];
            unroll!(i < 6 => {
                if i < count {
                    s[i] = b.aes_first(b.xor(lanes_of(b, shifted[n]), b.splat(&NUMBERS[i])), &keys);
                }
            });
            each_round!(R, b, r after 0 => {
                unroll!(i < 6 => {
                    if i < count {
                        s[i] = b.aes_round(s[i], &keys, r);
                    }
                });
            });
            unroll!(i < 6 => {
                if i < count {
                    e[i][n] = b.aes_last(s[i], &keys, R, zero);
                }
            });
        });
        let mut derived = [[zero; N]; 3];
        let (mut nonces, mut keys) = ([zero; N], [[zero; N]; 15]);
        unroll!(n < N => {
            unroll!(i < 3 => { derived[i][n] = b.low_halves(e[2 * i][n], e[2 * i + 1][n]); });
            nonces[n] = lanes_of(b, padded[n]);
        });
        if R == 10 {
            expand_128(b, derived[1], &mut keys);
        } else {
            expand_256(b, derived[1], derived[2], &mut keys);
        }
        Self { b, h: derived[0], keys, nonces, blocks }
    }

    /// Encrypts a block of each message.
    #[inline(always)]
    fn encrypt<const R: usize>(&self, mut v: [B::V; N]) -> [B::V; N] {
        let b = self.b;
        unroll!(n < N => { v[n] = b.xor(v[n], self.keys[0][n]); });
        each_round!(R, b, r after 0 => {
            unroll!(n < N => { v[n] = b.aes_round_with(v[n], self.keys[r][n]); });
        });
        unroll!(n < N => { v[n] = b.aes_last_with(v[n], self.keys[R][n]); });
        v
    }

    /// Returns the tags of the transposed plaintexts.
    #[inline(always)]
    fn tags<const R: usize>(
        &self,
        aad: &[u8],
        lens: &[usize; MESSAGES],
        data: &[[B::V; BLOCKS]; N],
    ) -> [B::V; N] {
        let b = self.b;
        let mut sum = [b.splat(&[0; 16]); N];
        for block in aad.chunks(16) {
            let block = b.splat(&load16(block).to_le_bytes());
            unroll!(n < N => { sum[n] = times(b, b.xor(sum[n], block), self.h[n]); });
        }
        unroll!(i < BLOCKS => {
            if i < self.blocks {
                unroll!(n < N => {
                    // The sum of a shorter message stays as it is.
                    let mut masks = [sum[n]; L];
                    unroll!(m < L => {
                        let len = lens[n * L + m];
                        masks[m] = b.splat(&MASKS[len.div_ceil(16) + BLOCKS - 1 - i]);
                    });
                    let next = times(b, b.xor(sum[n], data[n][i]), self.h[n]);
                    sum[n] = b.xor(sum[n], b.and(b.xor(sum[n], next), lanes_of(b, masks)));
                });
            }
        });
        unroll!(n < N => {
            let mut lengths = [sum[n]; L];
            unroll!(m < L => {
                let bits = u128::from(8 * aad.len() as u64) | u128::from(8 * lens[n * L + m] as u64) << 64;
                lengths[m] = b.splat(&bits.to_le_bytes());
            });
            sum[n] = times(b, b.xor(sum[n], lanes_of(b, lengths)), self.h[n]);
            sum[n] = b.and(b.xor(sum[n], self.nonces[n]), b.splat(&BELOW_TOP_BIT));
        });
        self.encrypt::<R>(sum)
    }

    /// XORs the keystreams to the data.
    #[inline(always)]
    fn apply_keystreams<const R: usize>(&self, tags: [B::V; N], data: &mut [[B::V; BLOCKS]; N]) {
        let b = self.b;
        let mut keystreams = [[b.splat(&[0; 16]); BLOCKS]; N];
        unroll!(i < BLOCKS => {
            if i < self.blocks {
                let mut counters = tags;
                unroll!(n < N => {
                    let first = b.xor(b.and(tags[n], b.splat(&BELOW_TOP_BIT)), b.splat(&TOP_BIT));
                    counters[n] = b.add32(first, b.splat(&NUMBERS[i]));
                });
                counters = self.encrypt::<R>(counters);
                unroll!(n < N => { keystreams[n][i] = counters[n]; });
            }
        });
        unroll!(n < N => {
            transpose::<B, L>(b, &mut keystreams[n]);
            unroll!(i < BLOCKS => { data[n][i] = b.xor(data[n][i], keystreams[n][i]); });
        });
    }
}

/// Exchanges messages and blocks: vector `v * L + m`, part `v` of message `m`, becomes block
/// `v * L + m` of every message, and back.
#[inline(always)]
fn transpose<B: Products, const L: usize>(b: B, v: &mut [B::V; BLOCKS]) {
    if L > 1 {
        transpose_two::<B, 1>(b, v, [0, 1]);
        transpose_two::<B, 1>(b, v, [2, 3]);
    }
    if L > 2 {
        transpose_two::<B, 2>(b, v, [0, 2]);
        transpose_two::<B, 2>(b, v, [1, 3]);
    }
}

#[inline(always)]
fn transpose_two<B: Products, const DISTANCE: usize>(b: B, v: &mut [B::V; BLOCKS], [i, j]: [usize; 2]) {
    let (x, y) = (v[i], v[j]);
    v[i] = b.alternate::<DISTANCE>(x, b.swap_lanes::<DISTANCE>(y));
    v[j] = b.alternate::<DISTANCE>(b.swap_lanes::<DISTANCE>(x), y);
}

/// Returns which of `len` bytes are in the vector at `i`, see [`transpose`].
#[inline(always)]
fn part<B: Products>(len: usize, i: usize) -> Range<usize> {
    let start = i / B::LANES * B::BYTES;
    start.min(len)..(start + B::BYTES).min(len)
}

/// Seals (`SEAL`) or opens messages, and returns the tags that they should have. `tags` are those
/// that came with the messages, which decryption needs.
#[inline(always)]
fn side_by_side<B: Products, const R: usize, const SEAL: bool, const N: usize, const L: usize>(
    b: B,
    key: &Schedule,
    aad: &[u8],
    nonces: [&[u8; NONCE_LEN]; MESSAGES],
    from: [&[u8]; MESSAGES],
    to: [&mut [u8]; MESSAGES],
    tags: [&[u8; 16]; MESSAGES],
) -> [[u8; 16]; MESSAGES] {
    let zero = b.splat(&[0; 16]);
    let lens = from.map(<[u8]>::len);
    let blocks = lens[0].max(lens[1]).max(lens[2]).max(lens[3]).div_ceil(16);
    let mut data = [[zero; BLOCKS]; N];
    unroll!(n < N => {
        unroll!(i < BLOCKS => {
            let m = n * L + i % L;
            if i / L * L < blocks {
                data[n][i] = load(b, &from[m][part::<B>(lens[m], i)]);
            }
        });
    });
    let messages = Messages::<B, N, L>::derive::<R>(b, b.opaque_ref(key), nonces, blocks);
    let mut in_lanes = [zero; N];
    if SEAL {
        let mut plaintexts = data;
        unroll!(n < N => { transpose::<B, L>(b, &mut plaintexts[n]); });
        in_lanes = messages.tags::<R>(aad, &lens, &plaintexts);
    } else {
        unroll!(n < N => {
            let mut splat = [zero; L];
            unroll!(m < L => { splat[m] = b.splat(tags[n * L + m]); });
            in_lanes[n] = lanes_of(b, splat);
        });
    }
    messages.apply_keystreams::<R>(in_lanes, &mut data);
    unroll!(n < N => {
        unroll!(i < BLOCKS => {
            let m = n * L + i % L;
            if i / L * L < blocks {
                let part = part::<B>(lens[m], i);
                if !SEAL {
                    data[n][i] = b.truncate(data[n][i], part.len());
                }
                store(b, data[n][i], &mut to[m][part]);
            }
        });
    });
    if !SEAL {
        unroll!(n < N => { transpose::<B, L>(b, &mut data[n]); });
        in_lanes = messages.tags::<R>(aad, &lens, &data);
    }
    let mut blocks = [[0; 16]; MESSAGES];
    unroll!(n < N => { b.store(in_lanes[n], blocks[n * L..].as_flattened_mut()); });
    blocks
}

/// Seals groups of messages.
#[inline(always)]
fn seal_groups<B: Products, const R: usize, const N: usize, const L: usize>(
    b: B,
    key: &Schedule,
    aad: &[u8],
    nonces: &[[u8; NONCE_LEN]],
    plaintexts: &[&[u8]],
    sealed: &mut [&mut [u8]],
) {
    let groups = nonces.as_chunks().0.iter().zip(plaintexts.as_chunks().0);
    for ((nonces, from), sealed) in groups.zip(sealed.as_chunks_mut().0) {
        let mut sealed = sealed.each_mut().map(|sealed| Sealed::parts(sealed));
        let to = sealed.each_mut().map(|sealed| &mut *sealed.data);
        let (nonces, none) = (nonces.each_ref(), [&[0; 16]; MESSAGES]);
        let tags = side_by_side::<B, R, true, N, L>(b, key, aad, nonces, *from, to, none);
        for i in 0..MESSAGES {
            *sealed[i].nonce = *nonces[i];
            *sealed[i].tag = tags[i];
        }
    }
}

/// Opens groups of messages.
#[inline(always)]
fn open_groups<B: Products, const R: usize, const N: usize, const L: usize>(
    b: B,
    key: &Schedule,
    aad: &[u8],
    sealed: &[&[u8]],
    plaintexts: &mut [&mut [u8]],
    expected_tags: &mut [[u8; 16]],
) {
    let groups = sealed.as_chunks().0.iter().zip(plaintexts.as_chunks_mut().0);
    for ((sealed, plaintexts), expected_tags) in groups.zip(expected_tags.as_chunks_mut().0) {
        let sealed = sealed.map(parts);
        let nonces = sealed.map(|(nonce, ..)| nonce);
        let from = sealed.map(|(_, ciphertext, _)| ciphertext);
        let tags = sealed.map(|(.., tag)| tag);
        let to = plaintexts.each_mut().map(|plaintext| &mut **plaintext);
        *expected_tags = side_by_side::<B, R, false, N, L>(b, key, aad, nonces, from, to, tags);
    }
}

/// Seals short messages to `nonce || ciphertext || tag`. Their number is a multiple of
/// [`MESSAGES`].
///
/// # Panics
/// Panics if the length of a destination is wrong, and in the portable variant.
#[inline(always)]
pub(crate) fn seal<B: Products, const R: usize>(
    b: B,
    key: &Schedule,
    aad: &[u8],
    nonces: &[[u8; NONCE_LEN]],
    plaintexts: &[&[u8]],
    sealed: &mut [&mut [u8]],
) {
    match B::LANES {
        1 => seal_groups::<B, R, 4, 1>(b, key, aad, nonces, plaintexts, sealed),
        2 => seal_groups::<B, R, 2, 2>(b, key, aad, nonces, plaintexts, sealed),
        4 => seal_groups::<B, R, 1, 4>(b, key, aad, nonces, plaintexts, sealed),
        _ => unreachable!("portable batches are processed one by one"),
    }
}

/// Decrypts short messages `nonce || ciphertext || tag`. Their number is a multiple of
/// [`MESSAGES`]. Stores the tags that they should have in `expected_tags`, and verifies nothing.
///
/// # Panics
/// Panics if the length of a destination is wrong, and in the portable variant.
#[inline(always)]
pub(crate) fn open<B: Products, const R: usize>(
    b: B,
    key: &Schedule,
    aad: &[u8],
    sealed: &[&[u8]],
    plaintexts: &mut [&mut [u8]],
    expected_tags: &mut [[u8; 16]],
) {
    match B::LANES {
        1 => open_groups::<B, R, 4, 1>(b, key, aad, sealed, plaintexts, expected_tags),
        2 => open_groups::<B, R, 2, 2>(b, key, aad, sealed, plaintexts, expected_tags),
        4 => open_groups::<B, R, 1, 4>(b, key, aad, sealed, plaintexts, expected_tags),
        _ => unreachable!("portable batches are opened one by one"),
    }
}

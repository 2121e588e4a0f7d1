//! ChaCha20-Poly1305 (RFC 8439, section 2.8) for every instruction set: many short messages in one
//! call.
//!
//! Blocks of several messages are computed side by side, whatever their lengths. Each of them has
//! its own counter and nonce, so row `d` of the state is another one in each lane:
//!
//! ```text
//! d      = 0 || nonce 0 | 1 || nonce 0 | … | 0 || nonce 1 | 1 || nonce 1 | …
//! blocks = block function of the constants, the key and d
//! for each message:
//!     ciphertext = plaintext XOR its blocks, from the second on
//!     tag        = Poly1305(its first block[..32], …)
//! ```
//!
//! Poly1305 is computed without vectors, but the processor overlaps the tags of several messages.
#![forbid(unsafe_code)]

use super::body::{CONSTANTS, Key, word, words_to_rows};
use super::rounds::State;
use crate::InOut;
use crate::batch::{Sealed, parts};
use crate::poly1305::scalar::State as Mac;
use crate::vector::inout::read_once;
use crate::vector::quads::Quads;
use crate::vector::unroll;
use crate::zero::wipe;

/// Largest length in bytes of the data of a short message. A longer message takes longer in a batch
/// than alone on AVX2.
pub(crate) const SHORT: usize = 448;
/// The same for the portable variant, whose vectors have a single quad. It gains 12 % at this
/// length and lost 10 % at the other one (Zen 4).
pub(crate) const SHORT_PORTABLE: usize = 64;
/// Number of blocks that are computed before their messages are processed: two states of the widest
/// variant.
const BLOCKS: usize = 32;

/// Returns the number of blocks of a message with this length of the data. The first one has the
/// key of Poly1305.
const fn blocks_of(len: usize) -> usize {
    1 + len.div_ceil(64)
}

const _: () = assert!(blocks_of(SHORT) <= BLOCKS, "every short message has room");

/// Blocks of the keystream for several messages, one after the other. Wiped from memory on drop.
/// The caller makes it: the analysis of the machine code takes a stack frame with an array of
/// secrets for secret as a whole.
#[repr(C, align(64))]
pub(crate) struct Blocks {
    keystream: [[u8; 64]; BLOCKS],
    /// Rows `d` of the states.
    rows: [[u8; 16]; BLOCKS],
}

impl Drop for Blocks {
    fn drop(&mut self) {
        wipe(self.keystream.as_flattened_mut());
    }
}

impl Blocks {
    pub(crate) const EMPTY: Self = Self { keystream: [[0; 64]; BLOCKS], rows: [[0; 16]; BLOCKS] };

    /// Computes the blocks of as many messages as there is room for, from their nonces and lengths,
    /// and returns the number of messages.
    #[inline(always)]
    fn compute<'a, Q: Quads, const N: usize>(
        &mut self,
        q: Q,
        key: &Key,
        messages: impl Iterator<Item = (&'a [u8; 12], usize)>,
    ) -> usize {
        let (mut count, mut end) = (0, 0);
        for (nonce, len) in messages {
            let Some(rows) = self.rows.get_mut(end..end + blocks_of(len)) else { break };
            // In integers: the processor would wait for the stores of parts of a row.
            let nonce = read_once(nonce);
            let [x, y, z] = [0, 1, 2].map(|i| word(&nonce, i));
            let nonce = u128::from(x) << 32 | u128::from(y) << 64 | u128::from(z) << 96;
            for (counter, row) in rows.iter_mut().enumerate() {
                *row = (nonce | counter as u128).to_le_bytes();
            }
            end += rows.len();
            count += 1;
        }
        let mut at = 0;
        while at < end {
            at += if N == 1 || end - at <= Q::LANES / 4 {
                self.in_rows(q, key, at)
            } else if N == 4 || end - at <= Q::LANES {
                self.in_words::<Q, 4>(q, key, at)
            } else {
                self.in_words::<Q, 8>(q, key, at)
            };
        }
        count
    }

    /// Computes as many blocks as a vector has quads.
    #[inline(always)]
    fn in_rows<Q: Quads>(&mut self, q: Q, key: &Key, at: usize) -> usize {
        let [a, b, c] = [q.splat_quad(&CONSTANTS), q.splat_quad(&key.0[0]), q.splat_quad(&key.0[1])];
        let d = q.load(self.rows[at..].as_flattened());
        let mut s = State::<Q, 1> { a: [a], b: [b], c: [c], d: [d] };
        s.rounds_in_rows(q, &mut ());
        s = State {
            a: [q.add(s.a[0], a)],
            b: [q.add(s.b[0], b)],
            c: [q.add(s.c[0], c)],
            d: [q.add(s.d[0], d)],
        };
        self.store(q, at, s.keystream(q, 0));
        Q::LANES / 4
    }

    /// Computes as many blocks as `N / 4` vectors have words.
    #[inline(always)]
    fn in_words<Q: Quads, const N: usize>(&mut self, q: Q, key: &Key, at: usize) -> usize {
        let zero = q.splat(0);
        let mut s = State::<Q, N> { a: [zero; N], b: [zero; N], c: [zero; N], d: [zero; N] };
        unroll!(i < 8 => {
            if i < N {
                s.a[i] = q.splat(word(&CONSTANTS, i % 4));
                s.b[i] = q.splat(word(&key.0[0], i % 4));
                s.c[i] = q.splat(word(&key.0[1], i % 4));
                s.d[i] = q.load(self.rows[at + i * Q::LANES / 4..].as_flattened());
            }
        });
        unroll!(i < 2 => {
            if 4 * i < N {
                let d = q.transpose([s.d[4 * i], s.d[4 * i + 1], s.d[4 * i + 2], s.d[4 * i + 3]]);
                unroll!(j < 4 => { s.d[4 * i + j] = d[j]; });
            }
        });
        let d = s.d;
        s.quarter_rounds(q);
        s.rounds_in_words(q, &mut ());
        unroll!(i < 2 => {
            if 4 * i < N {
                let s = words_to_rows(q, key, s.four_columns(4 * i), |j| d[4 * i + j]);
                unroll!(j < 4 => { self.store(q, at + (4 * i + j) * Q::LANES / 4, s.keystream(q, j)); });
            }
        });
        N / 4 * Q::LANES
    }

    #[inline(always)]
    fn store<Q: Quads>(&mut self, q: Q, at: usize, keystream: [Q::V; 4]) {
        let to = self.keystream[at..].as_flattened_mut();
        unroll!(i < 4 => { q.store(keystream[i], &mut to[i * Q::BYTES..]); });
    }

    /// Seals, or opens if `SEAL` is false, the message whose blocks begin at `at`, and returns its
    /// tag. The ciphertext, which is read once, replaces the blocks, padded with zeros.
    #[inline(always)]
    fn message<Q: Quads, const SEAL: bool>(
        &mut self,
        q: Q,
        at: &mut usize,
        aad: &[u8],
        mut data: InOut<'_>,
    ) -> [u8; 16] {
        let (len, mut done) = (data.len(), 0);
        let blocks = &mut self.keystream[*at..][..blocks_of(len)];
        *at += blocks.len();
        let (first, blocks) = blocks.as_flattened_mut().split_first_chunk_mut::<64>().unwrap();
        while len - done >= Q::BYTES {
            let mut data = data.part(done, Q::BYTES);
            let x = q.load(data.source());
            let y = q.xor(x, q.load(&blocks[done..]));
            q.store(y, data.target());
            q.store(if SEAL { y } else { x }, &mut blocks[done..]);
            done += Q::BYTES;
        }
        if done < len {
            let mut data = data.part(done, len - done);
            let x = q.load_part(data.source());
            let y = q.xor(x, q.load_part(&blocks[done..len]));
            q.store_part(y, data.target());
            q.store(if SEAL { y } else { x }, &mut blocks[done..]);
        }
        let mut mac = Mac::start(first.first_chunk().unwrap());
        mac.padded(aad);
        mac.blocks(&blocks[..len.next_multiple_of(16)]);
        mac.integers(core::iter::once(aad.len() as u128 | (len as u128) << 64));
        mac.finish()
    }
}

/// Seals short messages to `nonce || ciphertext || tag`.
///
/// # Panics
/// Panics if the length of a destination is wrong.
#[inline(always)]
pub(crate) fn seal<Q: Quads, const N: usize>(
    q: Q,
    key: &Key,
    blocks: &mut Blocks,
    aad: &[u8],
    nonces: &[[u8; 12]],
    plaintexts: &[&[u8]],
    sealed: &mut [&mut [u8]],
) {
    let mut done = 0;
    while done < nonces.len() {
        let messages = nonces[done..].iter().zip(&plaintexts[done..]);
        let lengths = messages.clone().map(|(nonce, plaintext)| (nonce, plaintext.len()));
        let (count, mut at) = (blocks.compute::<Q, N>(q, key, lengths), 0);
        for ((nonce, plaintext), sealed) in messages.zip(&mut sealed[done..]).take(count) {
            let sealed = Sealed::parts(sealed);
            *sealed.nonce = *nonce;
            *sealed.tag = blocks.message::<Q, true>(q, &mut at, aad, InOut::apart(plaintext, sealed.data));
        }
        done += count;
    }
}

/// Decrypts short messages `nonce || ciphertext || tag`. Stores the tags that they should have in
/// `expected_tags`, and verifies nothing.
///
/// # Panics
/// Panics if the length of a destination is wrong.
#[inline(always)]
pub(crate) fn open<Q: Quads, const N: usize>(
    q: Q,
    key: &Key,
    blocks: &mut Blocks,
    aad: &[u8],
    sealed: &[&[u8]],
    plaintexts: &mut [&mut [u8]],
    expected_tags: &mut [[u8; 16]],
) {
    let mut done = 0;
    while done < sealed.len() {
        let messages = sealed[done..].iter().map(|sealed| parts(sealed));
        let lengths = messages.clone().map(|(nonce, ciphertext, _)| (nonce, ciphertext.len()));
        let (count, mut at) = (blocks.compute::<Q, N>(q, key, lengths), 0);
        let to = plaintexts[done..].iter_mut().zip(&mut expected_tags[done..]);
        for ((_, ciphertext, _), (plaintext, tag)) in messages.zip(to).take(count) {
            *tag = blocks.message::<Q, false>(q, &mut at, aad, InOut::apart(ciphertext, plaintext));
        }
        done += count;
    }
}

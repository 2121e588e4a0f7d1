//! AES-GCM for every instruction set: many short messages in one call.
//!
//! A message of 64 bytes takes less time than the checks and the calls around it.
//!
//! If a vector has several lanes, that many messages are processed side by side, whatever their
//! lengths. Each message has its own vectors for its data, and one lane of a shared vector for
//! everything else:
//!
//! ```text
//! masks = AES(key, J0 of message 0 | J0 of message 1 | …)
//! for each message i:
//!     data  = data XOR AES(key, counters)
//!     sum i = ciphertext · (H^(n+1) | H^n | … | H^2)            n blocks, products not reduced
//! sums = all lanes of sum 0 | all lanes of sum 1 | …
//! tags = masks XOR reduce(sums XOR (lengths of message 0 | lengths of message 1 | …) · H)
//! ```
//!
//! On Zen 4, hashing one group between the rounds of the next was another 13 % faster with 512 bits
//! and no faster with 256, for twice the code: 16 registers are too few.
#![forbid(unsafe_code)]

use super::body::short;
use crate::InOut;
use crate::batch::{Sealed, parts};
use crate::ghash::{BigEndian, ByteOrder, Sum};
use crate::stitch::{Call, Hashed, Key};
use crate::vector::{Products, each_round, unroll};

/// Largest length in bytes of the data of a short message, for which the powers of short messages
/// suffice.
pub(crate) const SHORT: usize = 64;

/// Length in bytes of the nonces that are used directly (SP 800-38D, section 7.1).
pub(crate) const NONCE_LEN: usize = 12;

/// Returns J0 for a nonce of 96 bits: the nonce and a counter of 1 (SP 800-38D, section 7.1).
#[inline(always)]
pub(crate) fn j0(nonce: &[u8; NONCE_LEN]) -> u128 {
    u128::from_be_bytes(j0_block(nonce))
}

#[inline(always)]
fn j0_block(nonce: &[u8; NONCE_LEN]) -> [u8; 16] {
    let mut block = [0; 16];
    block[..NONCE_LEN].copy_from_slice(nonce);
    block[15] = 1;
    block
}

/// The XOR of J0 and each counter block of a short message.
const COUNTERS: [[u8; 16]; SHORT / 16] = {
    let mut counters = [[0; 16]; SHORT / 16];
    let mut i = 0;
    while i < counters.len() {
        counters[i][15] = 1 ^ (i as u8 + 2);
        i += 1;
    }
    counters
};

/// Vectors for the data of `M` short messages, and one for the masks.
const VECTORS: usize = SHORT / 16 + 1;

/// Seals (`SEAL`) or opens `M` messages, as many as a vector has lanes, and returns their tags. The
/// data of a message have at most `V` vectors.
#[inline(always)]
fn side_by_side<B: Products, const R: usize, const SEAL: bool, const M: usize, const V: usize>(
    b: B,
    key: &Key,
    aad_hash: u128,
    aad_len: u64,
    nonces: [&[u8; NONCE_LEN]; M],
    from: [&[u8]; M],
    to: [&mut [u8]; M],
) -> [[u8; 16]; M] {
    // The round keys are loaded again for each group of messages. Kept in registers, they would be
    // spilled to the stack.
    let key = b.opaque_ref(key);
    let keys = b.keys(&key.schedule);
    let zero = b.splat(&[0; 16]);
    let (mut j0s, mut lengths) = ([zero; M], [zero; M]);
    // The states of AES for the data, and at the end for the masks.
    let mut s = [b.aes_first(zero, &keys); VECTORS];
    unroll!(i < M => {
        j0s[i] = b.splat(&j0_block(nonces[i]));
        lengths[i] = b.splat(&(8 * from[i].len() as u128).to_le_bytes());
        unroll!(k < V => {
            let counters = b.load(&COUNTERS.as_flattened()[k * B::BYTES..]);
            s[i * V + k] = b.aes_first(b.xor(j0s[i], counters), &keys);
        });
    });
    s[VECTORS - 1] = b.aes_first(lanes_of(b, j0s), &keys);
    each_round!(R, b, r after 0 => {
        unroll!(i < 5 => { s[i] = b.aes_round(s[i], &keys, r); });
    });
    // Without the fence LLVM encrypts J0 last, one round after the other.
    b.fence(&mut s);

    let (counter, state) = (zero, b.zero_extend(&aad_hash.to_le_bytes()));
    let call = Call::<B, BigEndian, V, _>::new(b, &key.schedule, &key.short_powers, counter, state, [0; 16]);
    let mut sums = [[zero; M]; 3];
    unroll!(i < M => {
        let mut sum = Sum::new(b);
        let mut keystream = [s[0]; V];
        unroll!(k < V => { keystream[k] = s[i * V + k]; });
        let hashed = if SEAL { Hashed::Target } else { Hashed::Source };
        // With masks, parts of vectors are as fast as whole ones.
        call.last_data::<V, R>(hashed, InOut::apart(from[i], to[i]), keystream, &mut sum, B::LANES == 4);
        unroll!(part < 3 => { sums[part][i] = sum.0[part]; });
    });
    let mut sum = Sum::new(b);
    unroll!(part < 3 => { sum.0[part] = sums_of(b, sums[part]); });
    let (h, halves) = key.short_powers.in_each_lane(b, 1);
    let aad_bits = b.splat(&(u128::from(8 * aad_len) << 64).to_le_bytes());
    sum.add(b, b.xor(lanes_of(b, lengths), aad_bits), h, halves);
    let tags = call.last::<R>(s[VECTORS - 1], BigEndian::reverse_bytes(b, sum.reduce(b)));
    let mut blocks = [[0; 16]; M];
    b.store(tags, blocks.as_flattened_mut());
    blocks
}

/// Returns lane 0 of vector 0, lane 1 of vector 1 and so on.
#[inline(always)]
pub(crate) fn lanes_of<B: Products, const M: usize>(b: B, v: [B::V; M]) -> B::V {
    let low = b.alternate::<1>(v[0], v[1 % M]);
    if M == 2 { low } else { b.alternate::<2>(low, b.alternate::<1>(v[2 % M], v[3 % M])) }
}

/// Returns the XOR of the lanes of vector 0, then that of vector 1 and so on.
#[inline(always)]
fn sums_of<B: Products, const M: usize>(b: B, v: [B::V; M]) -> B::V {
    let low = sums_of_two::<B, 1>(b, v[0], v[1 % M]);
    if M == 2 { low } else { sums_of_two::<B, 2>(b, low, sums_of_two::<B, 1>(b, v[2 % M], v[3 % M])) }
}

/// Adds each `N` lanes to the next `N`. The sums are at the lanes that
/// [`alternate`](Products::alternate) takes from `x` or `y`.
#[inline(always)]
fn sums_of_two<B: Products, const N: usize>(b: B, x: B::V, y: B::V) -> B::V {
    b.xor(b.alternate::<N>(x, y), b.swap_lanes::<N>(b.alternate::<N>(y, x)))
}

/// Seals short messages, `M` at once, and returns how many it sealed.
#[inline(always)]
fn seal_groups<B: Products, const R: usize, const M: usize, const V: usize>(
    b: B,
    key: &Key,
    aad_hash: u128,
    aad_len: u64,
    nonces: &[[u8; NONCE_LEN]],
    plaintexts: &[&[u8]],
    sealed: &mut [&mut [u8]],
) -> usize {
    let groups = nonces.as_chunks::<M>().0.iter().zip(plaintexts.as_chunks::<M>().0);
    for ((nonces, from), sealed) in groups.zip(sealed.as_chunks_mut::<M>().0) {
        let mut sealed = sealed.each_mut().map(|sealed| Sealed::parts(sealed));
        let to = sealed.each_mut().map(|sealed| &mut *sealed.data);
        let tags = side_by_side::<B, R, true, M, V>(b, key, aad_hash, aad_len, nonces.each_ref(), *from, to);
        for i in 0..M {
            *sealed[i].nonce = nonces[i];
            *sealed[i].tag = tags[i];
        }
    }
    nonces.len() - nonces.len() % M
}

/// Opens short messages, `M` at once, and returns how many it opened.
#[inline(always)]
fn open_groups<B: Products, const R: usize, const M: usize, const V: usize>(
    b: B,
    key: &Key,
    aad_hash: u128,
    aad_len: u64,
    sealed: &[&[u8]],
    plaintexts: &mut [&mut [u8]],
    expected_tags: &mut [[u8; 16]],
) -> usize {
    let groups = sealed.as_chunks::<M>().0.iter().zip(plaintexts.as_chunks_mut::<M>().0);
    for ((sealed, plaintexts), tags) in groups.zip(expected_tags.as_chunks_mut::<M>().0) {
        let nonces = sealed.map(|sealed| sealed.first_chunk().expect("a nonce"));
        let from = sealed.map(|sealed| &sealed[NONCE_LEN..sealed.len() - 16]);
        let to = plaintexts.each_mut().map(|plaintext| &mut **plaintext);
        *tags = side_by_side::<B, R, false, M, V>(b, key, aad_hash, aad_len, nonces, from, to);
    }
    sealed.len() - sealed.len() % M
}

/// Seals short messages to `nonce || ciphertext || tag`.
///
/// # Panics
/// Panics if the length of a destination is wrong.
#[inline(always)]
pub(crate) fn seal<B: Products, const R: usize>(
    b: B,
    key: &Key,
    aad_hash: u128,
    aad_len: u64,
    nonces: &[[u8; NONCE_LEN]],
    plaintexts: &[&[u8]],
    sealed: &mut [&mut [u8]],
) {
    let done = match B::LANES {
        2 => seal_groups::<B, R, 2, 2>(b, key, aad_hash, aad_len, nonces, plaintexts, sealed),
        4 => seal_groups::<B, R, 4, 1>(b, key, aad_hash, aad_len, nonces, plaintexts, sealed),
        _ => 0,
    };
    let messages = nonces[done..].iter().zip(&plaintexts[done..]).zip(&mut sealed[done..]);
    for ((nonce, plaintext), sealed) in messages {
        let sealed = Sealed::parts(sealed);
        *sealed.nonce = *nonce;
        // Each message loads the round keys again. Kept in registers, they would be spilled to the
        // stack.
        let key = b.opaque_ref(key);
        let mut data = InOut::apart(plaintext, sealed.data);
        short::<B, R, true>(b, key, j0(nonce), aad_hash, aad_len, &mut data, sealed.tag);
    }
}

/// Decrypts short messages `nonce || ciphertext || tag`. Stores the tags that they should have in
/// `expected_tags`, and verifies nothing.
///
/// # Panics
/// Panics if the length of a destination is wrong.
#[inline(always)]
pub(crate) fn open<B: Products, const R: usize>(
    b: B,
    key: &Key,
    aad_hash: u128,
    aad_len: u64,
    sealed: &[&[u8]],
    plaintexts: &mut [&mut [u8]],
    expected_tags: &mut [[u8; 16]],
) {
    let done = match B::LANES {
        2 => open_groups::<B, R, 2, 2>(b, key, aad_hash, aad_len, sealed, plaintexts, expected_tags),
        4 => open_groups::<B, R, 4, 1>(b, key, aad_hash, aad_len, sealed, plaintexts, expected_tags),
        _ => 0,
    };
    let messages = sealed[done..].iter().zip(&mut plaintexts[done..]).zip(&mut expected_tags[done..]);
    for ((sealed, plaintext), expected_tag) in messages {
        let (nonce, ciphertext, _) = parts(sealed);
        let key = b.opaque_ref(key);
        let mut data = InOut::apart(ciphertext, plaintext);
        short::<B, R, false>(b, key, j0(nonce), aad_hash, aad_len, &mut data, expected_tag);
    }
}

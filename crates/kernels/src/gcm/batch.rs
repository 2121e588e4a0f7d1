//! AES-GCM for every instruction set: many short messages in one call.
//!
//! A message of 64 bytes takes less time than the checks and the calls around it, so these loops
//! process messages until one is too long for [`short`].
#![forbid(unsafe_code)]

use super::body::short;
use crate::InOut;
use crate::stitch::Key;
use crate::vector::Products;

/// Largest length in bytes of the data of a short message, for which the powers of short messages
/// suffice.
pub(crate) const SHORT: usize = 64;

/// Length in bytes of the nonces that are used directly (SP 800-38D, section 7.1).
pub(crate) const NONCE_LEN: usize = 12;

/// Returns J0 for a nonce of 96 bits: the nonce and a counter of 1 (SP 800-38D, section 7.1).
#[inline(always)]
pub(crate) fn j0(nonce: &[u8; NONCE_LEN]) -> u128 {
    let mut block = [0; 16];
    block[..NONCE_LEN].copy_from_slice(nonce);
    block[15] = 1;
    u128::from_be_bytes(block)
}

/// Seals messages to `nonce || ciphertext || tag`, up to the first that is not short, and stores
/// their number in `done`.
#[expect(clippy::too_many_arguments, reason = "see `short`")]
#[inline(always)]
pub(crate) fn seal<B: Products, const R: usize>(
    b: B,
    key: &Key,
    aad_hash: u128,
    aad_len: u64,
    nonces: &[[u8; NONCE_LEN]],
    plaintexts: &[&[u8]],
    sealed: &mut [&mut [u8]],
    done: &mut usize,
) {
    *done = 0;
    for ((nonce, plaintext), sealed) in nonces.iter().zip(plaintexts).zip(sealed) {
        let Some((head, body)) = sealed.split_first_chunk_mut() else { return };
        let Some((ciphertext, tag)) = body.split_last_chunk_mut() else { return };
        if plaintext.len() > SHORT || plaintext.len() != ciphertext.len() {
            return;
        }
        *head = *nonce;
        // Each message loads the round keys again. Kept in registers, they would be spilled to the
        // stack.
        let key = b.opaque_ref(key);
        let mut data = InOut::apart(plaintext, ciphertext);
        short::<B, R, true>(b, key, j0(nonce), aad_hash, aad_len, &mut data, tag);
        *done += 1;
    }
}

/// Decrypts messages `nonce || ciphertext || tag`, up to the first that is not short, and stores
/// their number in `done`. Stores the tags that they should have in `expected_tags`, and verifies
/// nothing.
#[expect(clippy::too_many_arguments, reason = "see `short`")]
#[inline(always)]
pub(crate) fn open<B: Products, const R: usize>(
    b: B,
    key: &Key,
    aad_hash: u128,
    aad_len: u64,
    sealed: &[&[u8]],
    plaintexts: &mut [&mut [u8]],
    expected_tags: &mut [[u8; 16]],
    done: &mut usize,
) {
    *done = 0;
    for ((sealed, plaintext), expected_tag) in sealed.iter().zip(plaintexts).zip(expected_tags) {
        let Some((nonce, body)) = sealed.split_first_chunk() else { return };
        let Some((ciphertext, _)) = body.split_last_chunk::<16>() else { return };
        if ciphertext.len() > SHORT || ciphertext.len() != plaintext.len() {
            return;
        }
        let key = b.opaque_ref(key);
        let mut data = InOut::apart(ciphertext, plaintext);
        short::<B, R, false>(b, key, j0(nonce), aad_hash, aad_len, &mut data, expected_tag);
        *done += 1;
    }
}

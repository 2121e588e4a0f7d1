//! Known answers of AEGIS: one message for each algorithm.

use super::{counting, text};

/// The keys of RFC 10032, appendices A.4 to A.7: the first 16 or 32 bytes of
/// 00 01 02 …
pub(crate) const KEY: [u8; 32] = counting(0);
/// The nonces of the same appendices: as many bytes of 10 11 12 … as needed.
pub(crate) const NONCE: [u8; 32] = counting(0x10);
const AAD: &[u8] = text(229);
/// At every degree, these are several groups of updates, single updates, and a rest that reaches
/// into every vector.
const PLAIN: &[u8] = text(1405);

/// One message of one of the algorithms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownAnswer {
    pub(crate) key_len: usize,
    /// Number of parallel states of the algorithm: 1, 2 or 4.
    pub(crate) degree: usize,
    pub(crate) aad: &'static [u8],
    pub(crate) plain: &'static [u8],
    pub(crate) tag: u128,
    /// [`super::digest`] of the ciphertext.
    pub(crate) sealed: u128,
}

const fn answer(key_len: usize, degree: usize, tag: u128, sealed: u128) -> KnownAnswer {
    KnownAnswer { key_len, degree, aad: AAD, plain: PLAIN, tag, sealed }
}

/// Made with libaegis, in the crate `aegis` 0.9.20, because the published vectors are short.
pub(crate) static KNOWN_ANSWERS: [KnownAnswer; 6] = [
    answer(16, 1, 0xcc2b9f171d60917aa07594e64e47a795, 0x71d8a8e336165f25c7b20e7c95705498),
    answer(16, 2, 0x7de42feaaee09842514fde63aed72364, 0xcc928ac2eb2d0df38aa6d5a23c63c57e),
    answer(16, 4, 0x72fa87fcf21b4ff61074ea9aaee45d8e, 0x70bf33f2e24243eb4bf1ddaf1053c889),
    answer(32, 1, 0x5b50b5cff202d88a0178f0adb3792642, 0x710ad3695722621f01c6f9d336514a94),
    answer(32, 2, 0x62c6d127006b25032f2a625ac7dc0ac6, 0xf847e8c7f01f7d6d2b8c535d1c150120),
    answer(32, 4, 0x1a73dc5a3cf46874993ee0dd5b774a12, 0x594c565044fcef2eb15f0ef42a983a81),
];

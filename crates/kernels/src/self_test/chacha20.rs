//! Known answers of ChaCha20 and XChaCha20: keystreams that end with the last block that exists.

use super::counting;

/// The key of RFC 8439, section 2.8.2: 80 81 82 ….
pub(crate) const KEY: [u8; 32] = counting(0x80);

/// The nonce of RFC 8439, section 2.8.2.
const NONCE: [u8; 12] = *b"\x07\0\0\0\x40\x41\x42\x43\x44\x45\x46\x47";
/// The nonce of draft-irtf-cfrg-xchacha-03, appendix A.3.1: 40 41 42 ….
const LONG_NONCE: [u8; 24] = *b"@ABCDEFGHIJKLMNOPQRSTUVW";

/// Length of the longest keystream in bytes.
pub(crate) const MAX_LEN: usize = 3900;
/// Offset at which a keystream is cut in two, so that the second piece begins inside a block.
pub(crate) const CUT: usize = 5;

/// A nonce; its length determines the algorithm.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Nonce {
    /// A nonce of ChaCha20 with 12 bytes (RFC 8439).
    Short([u8; 12]),
    /// A 24-byte XChaCha20 nonce; 16 bytes derive a subkey.
    Long([u8; 24]),
}

/// A keystream that ends with the last block that exists, number 2^32 - 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownAnswer {
    pub(crate) nonce: Nonce,
    /// Length in bytes of the data that are encrypted.
    pub(crate) len: usize,
    /// [`super::digest`] of as many bytes of [`super::TEXT`], encrypted.
    pub(crate) stream: u128,
}

impl KnownAnswer {
    /// Returns the number of the first block.
    pub(crate) const fn counter(&self) -> u32 {
        (self.len.div_ceil(64) as u32).wrapping_neg()
    }
}

/// At every width, these reach each number of groups in rows, both numbers of states in words, and
/// a part of a vector. Made with Python's `cryptography` 50, because no published vector has so
/// many blocks.
pub(crate) static KNOWN_ANSWERS: [KnownAnswer; 5] = [
    KnownAnswer { nonce: Nonce::Short(NONCE), len: MAX_LEN, stream: 0xf3a494e99aae2cdd468d26097227c6cf },
    KnownAnswer { nonce: Nonce::Short(NONCE), len: 1100, stream: 0x64391c956bdcc280136952fedb3c64d9 },
    KnownAnswer { nonce: Nonce::Short(NONCE), len: 700, stream: 0xa4232b8094a5f6bb1d1361a75347d9e1 },
    KnownAnswer { nonce: Nonce::Short(NONCE), len: 500, stream: 0x8920fbef66ea197523623e3d6c25b238 },
    KnownAnswer { nonce: Nonce::Long(LONG_NONCE), len: 997, stream: 0x68f80b001d412054e83c798888ccb917 },
];

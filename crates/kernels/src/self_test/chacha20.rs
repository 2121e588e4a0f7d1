//! Known answers of ChaCha20 and XChaCha20: keystreams that end with the last block that exists.

use super::{counting, text};

/// The key of RFC 8439, section 2.8.2: 80 81 82 ….
pub(crate) const KEY: [u8; 32] = counting(0x80);

/// The nonce of RFC 8439, section 2.8.2.
const SHORT: Nonce = Nonce::Short(*b"\x07\0\0\0\x40\x41\x42\x43\x44\x45\x46\x47");
/// The nonce of draft-irtf-cfrg-xchacha-03, appendix A.3.1: 40 41 42 ….
const LONG: Nonce = Nonce::Long(*b"@ABCDEFGHIJKLMNOPQRSTUVW");

/// Length of the longest keystream in bytes.
pub(crate) const MAX_LEN: usize = 3900;
/// Offset at which a keystream is cut in two, so that the second piece begins inside a block.
pub(crate) const CUT: usize = 5;

/// The associated data of all tags.
pub(crate) static AAD: &[u8] = text(33);

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
    /// The tag of [`AAD`] and the ciphertext, both padded to whole blocks, as a big-endian integer.
    /// Its key is the beginning of the block before the first one.
    pub(crate) tag: u128,
}

impl KnownAnswer {
    /// Returns the number of the first block.
    pub(crate) const fn counter(&self) -> u32 {
        (self.len.div_ceil(64) as u32).wrapping_neg()
    }
}

/// At every width, these reach each number of groups in rows, both numbers of states in words, and
/// a part of a vector; on AVX2 also with Poly1305 between the rounds. Made with Python's
/// `cryptography` 50, because no published vector has so many blocks.
pub(crate) static KNOWN_ANSWERS: [KnownAnswer; 6] = [
    answer(SHORT, MAX_LEN, 0xf3a494e99aae2cdd468d26097227c6cf, 0xec4993a09b4bf62ac9978128cc74c2da),
    answer(SHORT, 1100, 0x64391c956bdcc280136952fedb3c64d9, 0x6b9d88b85571ded8d0158fff9a1ba122),
    answer(SHORT, 848, 0x9b83813a1ece319501da94c2e12ef118, 0xfd4a70b9388363ce5c5e9f7940ed78b3),
    answer(SHORT, 700, 0xa4232b8094a5f6bb1d1361a75347d9e1, 0x81591b2df5ccf33695b2b13c472fa355),
    answer(SHORT, 500, 0x8920fbef66ea197523623e3d6c25b238, 0x670512d7406c212c63eb32439e75337b),
    answer(LONG, 997, 0x68f80b001d412054e83c798888ccb917, 0xebecd68ad8ede89e83a27de9c9331068),
];

const fn answer(nonce: Nonce, len: usize, stream: u128, tag: u128) -> KnownAnswer {
    KnownAnswer { nonce, len, stream, tag }
}

//! Known answers of AES: one block, counter mode, and CBC-MAC.

use super::counting;

/// The keys of FIPS 197, appendix C: the first 16, 24 or 32 bytes of 00 01 02 ….
pub(crate) const KEY: [u8; 32] = counting(0);

/// The block of FIPS 197, appendix C: 00 11 22 …. It is also the initial counter block of the
/// keystream.
pub(crate) const BLOCK: [u8; 16] = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff_u128.to_be_bytes();

/// Length of the keystream in bytes. At every width it has a full group, a small group, single
/// vectors and a part of one.
pub(crate) const STREAM: usize = 997;
/// Offset at which the keystream is cut in two, so that the second piece begins inside a block.
pub(crate) const CUT: usize = 5;

/// Length in bytes of the message of CBC-MAC.
pub(crate) const MACED: usize = 80;

/// The results for one key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownAnswer {
    pub(crate) key_len: usize,
    /// [`BLOCK`], encrypted. Published in FIPS 197, C.1 to C.3.
    pub(crate) block: [u8; 16],
    /// [`super::digest`] of the first [`STREAM`] bytes of [`super::TEXT`], encrypted. Made with
    /// Python's `cryptography` 48.
    pub(crate) stream: u128,
    /// CBC-MAC of the first [`MACED`] bytes of [`super::TEXT`]: the last block of CBC with an IV of
    /// zeros, made with Python's `cryptography` 50.
    pub(crate) mac: [u8; 16],
}

pub(crate) static KNOWN_ANSWERS: [KnownAnswer; 3] = [
    KnownAnswer {
        key_len: 16,
        block: 0x69c4e0d86a7b0430d8cdb78070b4c55a_u128.to_be_bytes(),
        stream: 0xc53c422fb7408ca48a68befe421ce6d0,
        mac: 0xb0f4065c0babdecc33b711f88f594e98_u128.to_be_bytes(),
    },
    KnownAnswer {
        key_len: 24,
        block: 0xdda97ca4864cdfe06eaf70a0ec0d7191_u128.to_be_bytes(),
        stream: 0x8d398cf5ad259fc1bd524d43994556dd,
        mac: 0x8b3e92bff9f3d57bfc51a59427f0c583_u128.to_be_bytes(),
    },
    KnownAnswer {
        key_len: 32,
        block: 0x8ea2b7ca516745bfeafc49904b496089_u128.to_be_bytes(),
        stream: 0xc479c1543d62d879e8760fdc88f319c6,
        mac: 0x0e062c9ee27de295b156818ba0a0843a_u128.to_be_bytes(),
    },
];

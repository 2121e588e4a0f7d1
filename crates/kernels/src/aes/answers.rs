//! What every row of AES must compute before it is used. Data only, so that the tests can hold the twin against it.

/// FIPS 197, appendix C: keys 00 01 02 …, of which 16, 24 or 32 bytes are used.
pub(crate) const KEY: [u8; 32] = {
    let mut key = [0; 32];
    let mut i = 0;
    while i < 32 {
        key[i] = i as u8;
        i += 1;
    }
    key
};

/// FIPS 197, appendix C: block 00 11 22 …. It is also the stream's first counter.
pub(crate) const BLOCK: [u8; 16] = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff_u128.to_be_bytes();

/// Plaintext for all answers. Period 251: prime, so that no two blocks look alike and an exchange of two cannot hide.
pub(crate) static TEXT: [u8; 9000] = {
    let mut text = [0; 9000];
    let mut i = 0;
    while i < text.len() {
        text[i] = (i % 251) as u8;
        i += 1;
    }
    text
};

/// The first `len` bytes of [`TEXT`].
pub(crate) const fn text(len: usize) -> &'static [u8] {
    TEXT.split_at(len).0
}

/// Bytes of the stream: whatever the width, it has full groups, a small group, single vectors and a part of one.
pub(crate) const STREAM: usize = 997;
/// Where the stream is cut in two, so that one piece begins inside a block.
pub(crate) const CUT: usize = 5;

/// What comes out under one key.
#[derive(Clone, Copy)]
pub(crate) struct Answer {
    /// Bytes of the key.
    pub(crate) key: usize,
    /// [`BLOCK`], encrypted. Published: FIPS 197, C.1 to C.3.
    pub(crate) block: [u8; 16],
    /// [`digest`] of the first [`STREAM`] bytes of [`TEXT`], encrypted. No vector is published for so many; this was
    /// made with Python's `cryptography` 48, and a test compares the slow twin.
    pub(crate) stream: u128,
}

pub(crate) const ANSWERS: [Answer; 3] = [
    Answer {
        key: 16,
        block: 0x69c4e0d86a7b0430d8cdb78070b4c55a_u128.to_be_bytes(),
        stream: 0xc53c422fb7408ca48a68befe421ce6d0,
    },
    Answer {
        key: 24,
        block: 0xdda97ca4864cdfe06eaf70a0ec0d7191_u128.to_be_bytes(),
        stream: 0x8d398cf5ad259fc1bd524d43994556dd,
    },
    Answer {
        key: 32,
        block: 0x8ea2b7ca516745bfeafc49904b496089_u128.to_be_bytes(),
        stream: 0xc479c1543d62d879e8760fdc88f319c6,
    },
];

/// A sum that depends on every bit and on the order of the blocks. Against faults, not against attackers.
///
/// Every step is one-to-one, so no wrong block gets lost on the way.
pub(crate) fn digest(bytes: &[u8]) -> u128 {
    bytes.chunks(16).fold(0, |sum, part| {
        let mut block = [0; 16];
        block[..part.len()].copy_from_slice(part);
        (sum ^ u128::from_be_bytes(block))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
            .rotate_left(61)
    })
}

//! What every row of ChaCha20 must compute before it is used. Data only, so that the tests can hold the twin against
//! it.

/// RFC 8439, section 2.8.2: keys 80 81 82 ….
pub(crate) const KEY: [u8; 32] = {
    let mut key = [0; 32];
    let mut i = 0;
    while i < 32 {
        key[i] = 0x80 + i as u8;
        i += 1;
    }
    key
};

/// RFC 8439, section 2.8.2.
const NONCE: [u8; 12] = *b"\x07\0\0\0\x40\x41\x42\x43\x44\x45\x46\x47";
/// draft-irtf-cfrg-xchacha-03, appendix A.3.1: nonces 40 41 42 ….
const LONG_NONCE: [u8; 24] = *b"@ABCDEFGHIJKLMNOPQRSTUVW";

/// Plaintext. Period 251: prime, so that no two blocks look alike and an exchange of two cannot hide.
pub(crate) static TEXT: [u8; 3900] = {
    let mut text = [0; 3900];
    let mut i = 0;
    while i < text.len() {
        text[i] = (i % 251) as u8;
        i += 1;
    }
    text
};

/// Where a stream is cut in two, so that one piece begins inside a block.
pub(crate) const CUT: usize = 5;

/// Under which nonce.
#[derive(Clone, Copy)]
pub(crate) enum Nonce {
    /// Of ChaCha20.
    Short([u8; 12]),
    /// Of XChaCha20.
    Long([u8; 24]),
}

/// A stream that ends with the last block that there is.
#[derive(Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) nonce: Nonce,
    /// Bytes of [`TEXT`].
    pub(crate) len: usize,
    /// [`crate::aes::answers::digest`] of them, encrypted.
    pub(crate) stream: u128,
}

impl Answer {
    /// The number of the first block.
    pub(crate) const fn counter(&self) -> u32 {
        (self.len.div_ceil(64) as u32).wrapping_neg()
    }
}

/// Whatever the width, each number of groups in rows is in one of them, both numbers of states in words, and a part of a
/// vector. No vectors are published for so many blocks; these were made with Python's `cryptography` 50, and a test
/// compares the slow twin.
pub(crate) static ANSWERS: [Answer; 5] = [
    Answer { nonce: Nonce::Short(NONCE), len: 3900, stream: 0xf3a494e99aae2cdd468d26097227c6cf },
    Answer { nonce: Nonce::Short(NONCE), len: 1100, stream: 0x64391c956bdcc280136952fedb3c64d9 },
    Answer { nonce: Nonce::Short(NONCE), len: 700, stream: 0xa4232b8094a5f6bb1d1361a75347d9e1 },
    Answer { nonce: Nonce::Short(NONCE), len: 500, stream: 0x8920fbef66ea197523623e3d6c25b238 },
    Answer { nonce: Nonce::Long(LONG_NONCE), len: 997, stream: 0x68f80b001d412054e83c798888ccb917 },
];

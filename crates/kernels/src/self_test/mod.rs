//! Known answers of the self-tests, as data, and what their computation shares.
//!
//! A variant is used only after it has reproduced the known answers of its cipher (see
//! [`crate::variant`]). A few of them are published vectors. The others are longer messages, since
//! no published vector is long enough to reach every loop of a wide variant; they were made with
//! other implementations, and the integration tests compare all of them with the reference
//! implementations, for which they include this module by its path.
#![forbid(unsafe_code)]

pub(crate) mod aegis;
pub(crate) mod aes;
pub(crate) mod chacha20;
pub(crate) mod gcm;
pub(crate) mod gcm_siv;
pub(crate) mod poly1305;
pub(crate) mod salsa20;
pub(crate) mod speck;

/// Plaintext of all known answers. Its period is 251, a prime, so that no two blocks are equal and
/// a swap of two blocks changes the result.
pub(crate) static TEXT: [u8; 9000] = {
    let mut text = [0; 9000];
    let mut i = 0;
    while i < text.len() {
        text[i] = (i % 251) as u8;
        i += 1;
    }
    text
};

/// Returns the first `len` bytes of [`TEXT`].
pub(crate) const fn text(len: usize) -> &'static [u8] {
    TEXT.split_at(len).0
}

/// Returns the bytes `start`, `start + 1`, ….
pub(crate) const fn counting<const N: usize>(start: u8) -> [u8; N] {
    let mut bytes = [0; N];
    let mut i = 0;
    while i < N {
        bytes[i] = start + i as u8;
        i += 1;
    }
    bytes
}

/// Returns a checksum that depends on every bit and on the order of the blocks. It detects faults,
/// not attackers.
///
/// Each step is a bijection of the state, so a difference in a block never disappears in a later
/// step.
pub(crate) fn digest(bytes: &[u8]) -> u128 {
    bytes.chunks(16).fold(0, |sum, part| {
        let mut block = [0; 16];
        block[..part.len()].copy_from_slice(part);
        (sum ^ u128::from_be_bytes(block))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
            .rotate_left(61)
    })
}

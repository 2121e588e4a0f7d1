//! Known answers of AES-GCM-SIV.

use super::text;

/// The keys of RFC 8452, appendices C.1 and C.2: the first 16 or 32 bytes.
pub(crate) const KEY: [u8; 32] = *b"\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
pub(crate) const NONCE: [u8; 12] = *b"\x03\0\0\0\0\0\0\0\0\0\0\0";
const AAD: &[u8] = b"\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0";
const PLAIN: &[u8] = b"\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x04\0";

/// One message of the self-test with its results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownAnswer {
    pub(crate) key_len: usize,
    pub(crate) aad: &'static [u8],
    pub(crate) plain: &'static [u8],
    pub(crate) tag: u128,
    /// [`super::digest`] of the ciphertext; the tag does not cover it.
    pub(crate) sealed: u128,
}

const fn answer(
    key_len: usize,
    aad: &'static [u8],
    plain: &'static [u8],
    tag: u128,
    sealed: u128,
) -> KnownAnswer {
    KnownAnswer { key_len, aad, plain, tag, sealed }
}

/// The short messages are published, see [`KEY`]. The long ones were made with Python's
/// `cryptography` 50; they have the lengths of the known answers of AES-GCM.
pub(crate) static KNOWN_ANSWERS: [KnownAnswer; 4] = [
    answer(16, AAD, PLAIN, 0xbff9b2ef00fb47920cc72a0c0f13b9fd, 0xe259c7ec0d7ec9c024409dff81ff364b),
    answer(32, AAD, PLAIN, 0xcfcdf5042112aa29685c912fc2056543, 0x46b55bbf68cebcdef500f36445d001d5),
    answer(16, AAD, text(1061), 0x8b905ee748d09eed20b81aa591125fb1, 0xd47f71dec206f4cde582e4b1817e80c2),
    answer(32, text(549), text(1485), 0x58f4681b6c11efc89a26d8486f42f4cf, 0x8e6a4307c4017775c032340b0f48533e),
];

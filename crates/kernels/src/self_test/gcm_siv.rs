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

/// The short messages are published, see [`KEY`]. The long ones were made with Python's
/// `cryptography` 50; they have the lengths of the known answers of AES-GCM.
pub(crate) static KNOWN_ANSWERS: [KnownAnswer; 4] = [
    KnownAnswer {
        key_len: 16,
        aad: AAD,
        plain: PLAIN,
        tag: 0xbff9b2ef00fb47920cc72a0c0f13b9fd,
        sealed: 0xe259c7ec0d7ec9c024409dff81ff364b,
    },
    KnownAnswer {
        key_len: 32,
        aad: AAD,
        plain: PLAIN,
        tag: 0xcfcdf5042112aa29685c912fc2056543,
        sealed: 0x46b55bbf68cebcdef500f36445d001d5,
    },
    KnownAnswer {
        key_len: 16,
        aad: AAD,
        plain: text(1061),
        tag: 0x8b905ee748d09eed20b81aa591125fb1,
        sealed: 0xd47f71dec206f4cde582e4b1817e80c2,
    },
    KnownAnswer {
        key_len: 32,
        aad: text(549),
        plain: text(1485),
        tag: 0x58f4681b6c11efc89a26d8486f42f4cf,
        sealed: 0x8e6a4307c4017775c032340b0f48533e,
    },
];

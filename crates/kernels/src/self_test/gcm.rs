//! Known answers of AES-GCM.

use super::text;

/// The keys of test cases 4, 10 and 16 of McGrew and Viega: the first 16, 24 or 32 bytes.
pub(crate) const KEY: [u8; 32] = {
    let half = 0xfeff_e992_8665_731c_6d6a_8f94_6730_8308_u128.to_be_bytes();
    let mut key = [0; 32];
    let mut i = 0;
    while i < 32 {
        key[i] = half[i % 16];
        i += 1;
    }
    key
};
pub(crate) const NONCE: [u8; 12] = *b"\xca\xfe\xba\xbe\xfa\xce\xdb\xad\xde\xca\xf8\x88";
const AAD: &[u8] = b"\xfe\xed\xfa\xce\xde\xad\xbe\xef\xfe\xed\xfa\xce\xde\xad\xbe\xef\xab\xad\xda\xd2";
const PLAIN: &[u8] = b"\
    \xd9\x31\x32\x25\xf8\x84\x06\xe5\xa5\x59\x09\xc5\xaf\xf5\x26\x9a\
    \x86\xa7\xa9\x53\x15\x34\xf7\xda\x2e\x4c\x30\x3d\x8a\x31\x8a\x72\
    \x1c\x3c\x0c\x95\x95\x68\x09\x53\x2f\xcf\x0e\x24\x49\xa6\xb5\x25\
    \xb1\x6a\xed\xf5\xaa\x0d\xe6\x57\xba\x63\x7b\x39";

/// One message of the self-test with its results. The tag covers the ciphertext, so the ciphertext
/// is not stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownAnswer {
    pub(crate) key_len: usize,
    pub(crate) aad: &'static [u8],
    pub(crate) plain: &'static [u8],
    pub(crate) tag: u128,
    /// Whether rounds of AES are precomputed, as they are for long messages: one, and then two.
    pub(crate) precompute: bool,
}

const fn answer(
    key_len: usize,
    aad: &'static [u8],
    plain: &'static [u8],
    tag: u128,
    precompute: bool,
) -> KnownAnswer {
    KnownAnswer { key_len, aad, plain, tag, precompute }
}

/// The short messages are published, see [`KEY`]. The long ones were made with Python's
/// `cryptography` 48.
///
/// At every width, 1061 bytes are full groups and a small rest, and 5000 bytes are full groups and
/// a large rest, and more than a period of the last byte of the counter. Sealing overlaps hashing
/// with AES only from two groups of the widest variant on. The 549 bytes of associated data contain
/// a full group too. There is no long message for 192 bits, because only the number of rounds
/// differs there and the portable variant is slow.
pub(crate) static KNOWN_ANSWERS: [KnownAnswer; 5] = [
    answer(16, AAD, PLAIN, 0x5bc94fbc3221a5db94fae95ae7121a47, false),
    answer(24, AAD, PLAIN, 0x2519498e80f1478f37ba55bd6d27618c, false),
    answer(32, AAD, PLAIN, 0x76fc6ece0f4e1768cddf8853bb2d551b, false),
    answer(16, AAD, text(1061), 0x70a663020108f7065d368acbac624b79, false),
    answer(32, text(549), text(5000), 0xfb19b89ee76dbb52e6c4c9ba62cf780f, true),
];

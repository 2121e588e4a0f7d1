//! What every row of AES-GCM must compute before it is used. Data only, so that the tests can hold the twin against it.

use crate::aes::answers::text;

/// McGrew and Viega, test cases 4, 10 and 16: the first 16, 24 or 32 bytes are the key.
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

/// A message. Its tag stands for the ciphertext, which it covers.
#[derive(Clone, Copy)]
pub(crate) struct Answer {
    /// Bytes of the key.
    pub(crate) key: usize,
    pub(crate) aad: &'static [u8],
    pub(crate) plain: &'static [u8],
    pub(crate) tag: u128,
    /// Whether the first round is made ahead, as for longer messages than these.
    pub(crate) ahead: bool,
}

/// The short ones are published, see [`KEY`]. The long ones, for which no vector is, were made with Python's
/// `cryptography` 48, and a test compares the slow twin.
///
/// Whatever the width, 1061 bytes are full groups and a small rest, 1485 are full groups and a large one. Two groups of
/// the widest row are the least in which sealing hashes beside AES. 549 bytes of additional data are a full group too.
/// None is long for 192 bits: what differs there is the number of rounds, and the portable row takes its time.
pub(crate) static ANSWERS: [Answer; 5] = [
    Answer { key: 16, aad: AAD, plain: PLAIN, tag: 0x5bc94fbc3221a5db94fae95ae7121a47, ahead: false },
    Answer { key: 24, aad: AAD, plain: PLAIN, tag: 0x2519498e80f1478f37ba55bd6d27618c, ahead: false },
    Answer { key: 32, aad: AAD, plain: PLAIN, tag: 0x76fc6ece0f4e1768cddf8853bb2d551b, ahead: false },
    Answer { key: 16, aad: AAD, plain: text(1061), tag: 0x70a663020108f7065d368acbac624b79, ahead: false },
    Answer {
        key: 32,
        aad: text(549),
        plain: text(1485),
        tag: 0xfa647f18b6f46cef171d5ab9e236cfa7,
        ahead: true,
    },
];

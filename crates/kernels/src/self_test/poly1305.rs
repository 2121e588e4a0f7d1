//! Known answers of Poly1305.

use super::text;

/// The key of RFC 8439, section 2.5.2.
const KEY: [u8; 32] = *b"\x85\xd6\xbe\x78\x57\x55\x6d\x33\x7f\x44\x52\xfe\x42\xd5\x06\xa8\
    \x01\x03\x80\x8a\xfb\x0d\xb2\xfd\x4a\xbf\xf6\xaf\x41\x49\xf5\x1b";

/// A message of the self-test and the tag that it must have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownAnswer {
    pub(crate) key: [u8; 32],
    pub(crate) message: &'static [u8],
    pub(crate) tag: u128,
}

/// Offset at which each message is also cut in two. Neither piece consists of whole blocks.
pub(crate) const CUT: usize = 21;

/// The first message is published, see [`KEY`]. The others were made with Python's `cryptography`
/// 50.
///
/// For vectors of four and of eight blocks, they reach each number of powers that is made, each
/// with whole groups, a smaller group, and blocks before the first vector. Four of them have the
/// largest possible point and the largest possible blocks.
pub(crate) static KNOWN_ANSWERS: [KnownAnswer; 12] = [
    KnownAnswer {
        key: KEY,
        message: b"Cryptographic Forum Research Group",
        tag: 0xa8061dc1305136c6c22b8baf0c0127a9,
    },
    KnownAnswer { key: KEY, message: text(300), tag: 0xc2d18019e3c474628ca80e6111e36d82 },
    KnownAnswer { key: KEY, message: text(700), tag: 0x349ab124cf62550728e51e959fe9f8fa },
    KnownAnswer { key: KEY, message: text(823), tag: 0x03e741caf10d61dc450a04356d30fb51 },
    KnownAnswer { key: KEY, message: text(1485), tag: 0x7ca67e35203d0c0da15b55d96673faa1 },
    KnownAnswer { key: KEY, message: text(2160), tag: 0x7efc3c345090912e122b1b90d3988a2c },
    KnownAnswer { key: KEY, message: text(5021), tag: 0x799b65ae214b9a5f8f59371f8cb77260 },
    KnownAnswer { key: KEY, message: text(8999), tag: 0x3e187cb6f6d20a974b7c4aeddaf5312a },
    KnownAnswer { key: [0xff; 32], message: &[0xff; 823], tag: 0x0ebfc61f0dc9816ccc8f9ec0f71f9ab2 },
    KnownAnswer { key: [0xff; 32], message: &[0xff; 2160], tag: 0x26a71d18073b78332be0f4062bf6b6af },
    KnownAnswer { key: [0xff; 32], message: &[0xff; 5021], tag: 0x2ac39fd8e98530effddbf91c93e5f7be },
    KnownAnswer { key: [0xff; 32], message: &[0xff; 8999], tag: 0xc16f4ee2ea0aabd6b1c4d62428b1fcd2 },
];

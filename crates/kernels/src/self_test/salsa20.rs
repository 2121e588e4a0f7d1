//! Known answers of XSalsa20.

/// The key of NaCl's `tests/secretbox.c`.
pub(crate) const KEY: [u8; 32] = *b"\x1b\x27\x55\x64\x73\xe9\x85\xd4\x62\xcd\x51\x19\x7a\x9a\x46\xc7\
    \x60\x09\x54\x9e\xac\x64\x74\xf2\x06\xc4\xee\x08\x44\xf6\x83\x89";
/// The nonce of NaCl's `tests/secretbox.c`.
pub(crate) const NONCE: [u8; 24] =
    *b"\x69\x69\x6e\xe9\x55\xb6\x2b\x73\xcd\x62\xbd\xa8\x75\xfc\x73\xd6\x82\x19\xe0\x03\x6b\x7a\x0b\x37";

/// Offset at which each keystream is cut in two, at a block.
pub(crate) const CUT: usize = 64;

/// A keystream of blocks from `counter` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownAnswer {
    pub(crate) counter: u32,
    /// Length in bytes of the data that are encrypted.
    pub(crate) len: usize,
    /// [`super::digest`] of as many bytes of [`super::TEXT`], encrypted.
    pub(crate) stream: u128,
}

/// At every width, these reach each number of groups and a part of a vector. The second one ends
/// with block 2^32 - 1. Made with a program in Python that agrees with libsodium's secretbox on the
/// blocks from 0 on, since its interface begins with block 0.
pub(crate) static KNOWN_ANSWERS: [KnownAnswer; 5] = [
    answer(0, 2300, 0xdd6ec61b99fb7cf5a5998ccad77966ce),
    answer(0xffff_ffe8, 1500, 0xba3ad9086fea6b1f13d26dd2aa2712d5),
    answer(5, 700, 0x7818053fd6e26269a10bf0f0c507bd7f),
    answer(7, 300, 0x491cf514bf4ff9cc51ef7b716d7af996),
    answer(9, 33, 0xcd9cb9f177fe8f1078bb7d19f408435a),
];

const fn answer(counter: u32, len: usize, stream: u128) -> KnownAnswer {
    KnownAnswer { counter, len, stream }
}

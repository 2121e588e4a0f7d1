//! What every row of Speck must compute before it is used. Data only, so that the tests can hold the twin against it.
//!
//! The paper has one block for each size, which no row computes, since a single block is left to integers. So these were
//! made with a program of its own, in Python, that was held against the paper, and a test compares the slow twin.

use super::size::Size;

/// Keys 00 01 02 …, of which as many bytes are used as the size has.
pub(crate) const KEY: [u8; 32] = crate::aes::answers::KEY;

/// The first counter, as long as a block: its low word overflows after 110 blocks.
pub(crate) const fn first(block: usize) -> [u8; 16] {
    let mut iv = [0; 16];
    let mut i = 0;
    while i < block {
        iv[i] = if i < block / 2 { 0x0f } else { 0xff };
        i += 1;
    }
    iv[block - 1] = 0x91;
    iv
}

/// Bytes of [`TEXT`]: whole blocks of every size.
const LEN: usize = 2448;

/// Plaintext for all answers. Period 251: prime, so that no two blocks look alike and an exchange of two cannot hide.
pub(crate) static TEXT: [u8; LEN] = {
    let mut text = [0; LEN];
    let mut i = 0;
    while i < text.len() {
        text[i] = (i % 251) as u8;
        i += 1;
    }
    text
};

/// Where the stream is cut, so that there are all numbers of vectors, and pieces that begin inside a block.
pub(crate) const CUTS: [usize; 5] = [0, 5, 261, 981, LEN];

/// [`crate::aes::answers::digest`] of [`TEXT`], encrypted.
#[derive(Clone, Copy)]
pub(crate) struct Digests {
    /// In counter mode.
    pub(crate) stream: u128,
    /// Each block by itself.
    pub(crate) blocks: u128,
}

/// What comes out under one key, in either order of bytes.
#[derive(Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) size: Size,
    pub(crate) big: Digests,
    pub(crate) little: Digests,
}

/// For each size of word. Shorter keys differ by the number of rounds, and no row makes them.
pub(crate) const ANSWERS: [Answer; 5] = [
    Answer {
        size: Size::Speck32_64,
        big: Digests {
            stream: 0xe41bef671f5adc6454d8306621fa95be,
            blocks: 0x050e34e4bf2befbb95ec1bbab755a2d9,
        },
        little: Digests {
            stream: 0x9c3c4f70e0e11471bfe9ed879d6eee85,
            blocks: 0x1ae58a8af4bb8a6bd9db94690227f6a0,
        },
    },
    Answer {
        size: Size::Speck48_96,
        big: Digests {
            stream: 0x2c9c8e2cba09f475516f62f4067f4880,
            blocks: 0x3314627a20fd744570f7cf120fd682a1,
        },
        little: Digests {
            stream: 0xc0d775235f4d042b119f45751839838e,
            blocks: 0x331b25d12f111297528cece26718a032,
        },
    },
    Answer {
        size: Size::Speck64_128,
        big: Digests {
            stream: 0x26f6b2da2e2ed16dd86bf78de97257d8,
            blocks: 0x271727ac7b4fc341909561fa6128c51c,
        },
        little: Digests {
            stream: 0x945e96fb85dc14048fd5787ac9614253,
            blocks: 0xf3c76cdfcd21fe7305cb9acb486b30e0,
        },
    },
    Answer {
        size: Size::Speck96_144,
        big: Digests {
            stream: 0x8ab7c2d4b338fceea9bc401c942d2e12,
            blocks: 0x14266c33cd3dcf812bef996a1169fc74,
        },
        little: Digests {
            stream: 0xc7d7b234a3ab6c94f4d08cf48d9a6b9a,
            blocks: 0x40bd2756ae0a4aeb9a8fe4f2679ac01c,
        },
    },
    Answer {
        size: Size::Speck128_256,
        big: Digests {
            stream: 0x6baa152dabc2cecc93255811d155ebca,
            blocks: 0xc76a057a35cd8f47921acedc78289fa4,
        },
        little: Digests {
            stream: 0x9fde5c1830399a994f28d7934686a425,
            blocks: 0x3a7c086619bd62ae3ba2c981ad09004b,
        },
    },
];

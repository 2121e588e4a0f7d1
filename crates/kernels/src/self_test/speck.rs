//! Known answers of Speck: counter mode, and blocks one by one.
//!
//! The paper has one block for each size, which no vector code computes, because a single block is
//! left to integers. So these answers were made with an independent Python program that was
//! compared with the paper.

use super::counting;

/// Keys 00 01 02 …, as many bytes as the size takes.
pub(crate) const KEY: [u8; 32] = counting(0);

/// Returns an initial counter block of `block` bytes; its low word overflows after 111 blocks.
pub(crate) const fn iv(block: usize) -> [u8; 16] {
    let mut iv = [0; 16];
    let mut i = 0;
    while i < block {
        iv[i] = if i < block / 2 { 0x0f } else { 0xff };
        i += 1;
    }
    iv[block - 1] = 0x91;
    iv
}

/// Length of the plaintext in bytes: whole blocks of every size.
pub(crate) const LEN: usize = 2448;

/// Offsets at which the keystream is cut, so that all numbers of vectors occur and pieces begin
/// inside a block.
pub(crate) const CUTS: [usize; 5] = [0, 5, 261, 981, LEN];

/// [`super::digest`] of the first [`LEN`] bytes of [`super::TEXT`], encrypted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digests {
    /// The digest of the data, encrypted in counter mode.
    pub(crate) stream: u128,
    /// The digest of the data, with each block encrypted by itself.
    pub(crate) blocks: u128,
}

/// The results for one key, in either byte order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownAnswer {
    /// Name of the size, as [`Size::from_name`](crate::speck::Size::from_name) accepts it.
    pub(crate) size: &'static str,
    pub(crate) big: Digests,
    pub(crate) little: Digests,
}

/// Makes a known answer. The digests are those of the stream and of the blocks.
const fn answer(size: &'static str, big: [u128; 2], little: [u128; 2]) -> KnownAnswer {
    let [big, little] =
        [Digests { stream: big[0], blocks: big[1] }, Digests { stream: little[0], blocks: little[1] }];
    KnownAnswer { size, big, little }
}

/// One for each size of word. Shorter keys differ only by the number of rounds, and the key
/// schedule uses no vectors.
pub(crate) static KNOWN_ANSWERS: [KnownAnswer; 5] = [
    answer(
        "speck32-64",
        [0xe41bef671f5adc6454d8306621fa95be, 0x050e34e4bf2befbb95ec1bbab755a2d9],
        [0x9c3c4f70e0e11471bfe9ed879d6eee85, 0x1ae58a8af4bb8a6bd9db94690227f6a0],
    ),
    answer(
        "speck48-96",
        [0x2c9c8e2cba09f475516f62f4067f4880, 0x3314627a20fd744570f7cf120fd682a1],
        [0xc0d775235f4d042b119f45751839838e, 0x331b25d12f111297528cece26718a032],
    ),
    answer(
        "speck64-128",
        [0x26f6b2da2e2ed16dd86bf78de97257d8, 0x271727ac7b4fc341909561fa6128c51c],
        [0x945e96fb85dc14048fd5787ac9614253, 0xf3c76cdfcd21fe7305cb9acb486b30e0],
    ),
    answer(
        "speck96-144",
        [0x8ab7c2d4b338fceea9bc401c942d2e12, 0x14266c33cd3dcf812bef996a1169fc74],
        [0xc7d7b234a3ab6c94f4d08cf48d9a6b9a, 0x40bd2756ae0a4aeb9a8fe4f2679ac01c],
    ),
    answer(
        "speck128-256",
        [0x6baa152dabc2cecc93255811d155ebca, 0xc76a057a35cd8f47921acedc78289fa4],
        [0x9fde5c1830399a994f28d7934686a425, 0x3a7c086619bd62ae3ba2c981ad09004b],
    ),
];

//! `Pairs` on x86-64: the words and blocks of Speck.

use super::Token;
use super::inout::InOut;
use super::pairs::{ByteOrder, Pairs, Word};
use super::shuffles::{Shuffle, byte_position, halves, raised, rotated, swapped};
use super::words::Words;
use super::x86::{op, pin};
use super::x86_words::{Avx2, Avx512};
use core::arch::asm;
use core::arch::x86_64::*;

/// The token for vectors of 512 bits with permutations of bytes (VBMI) and shifts across two words
/// (VBMI2).
#[derive(Clone, Copy, Debug)]
pub struct Avx512Bytes(Avx512);

impl Avx512Bytes {
    /// Makes the token, in a function that enables the features of the instruction set.
    ///
    /// # Safety
    /// A caller that does not enable these features must know that the processor has them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
    pub fn new() -> Self {
        Self(Avx512::new())
    }
}

impl Token for Avx512Bytes {}

/// The permutations of 128 bytes between blocks and words. An index is the number of the byte that
/// is taken. In the words, bytes 0 to 63 are those of x, and bytes 64 to 127 those of y.
struct Permutations {
    to_words: [[u8; 64]; 2],
    to_blocks: [[u8; 64]; 2],
}

impl Permutations {
    const fn of(order: ByteOrder, word: usize, lane: usize) -> Self {
        let mut bytes = Self { to_words: [[0; 64]; 2], to_blocks: [[0; 64]; 2] };
        let mut at = 0;
        while at < 128 {
            let (which, block, i) = (at / 64, at % 64 / lane, at % lane);
            if i < word {
                let from = 2 * word * block + byte_position(order, word, which, i);
                bytes.to_words[which][at % 64] = from as u8;
                bytes.to_blocks[from / 64][from % 64] = at as u8;
            }
            at += 1;
        }
        bytes
    }

    const fn both(word: usize, lane: usize) -> [Self; 2] {
        [Self::of(ByteOrder::Big, word, lane), Self::of(ByteOrder::Little, word, lane)]
    }
}

/// Returns the numbers 0, 1, 2, … in lanes of `lane` bytes.
const fn lane_indices(lane: usize) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut i = 0;
    while i < 64 {
        bytes[i] = (i / lane) as u8;
        i += lane;
    }
    bytes
}

impl Avx512Bytes {
    #[inline(always)]
    fn table(self, bytes: &[u8; 64]) -> __m512i {
        Words::<u64>::load(self.0, bytes)
    }
    #[inline(always)]
    fn shuffle(self, v: __m512i, shuffle: &Shuffle) -> __m512i {
        // SAFETY: reads the 16 bytes of the array; needs no alignment.
        let one = unsafe { _mm_loadu_si128(shuffle.as_ptr().cast()) };
        op!(_mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(one)))
    }
    /// Loads `len` bytes (96 or 128).
    #[inline(always)]
    fn load_pair(self, len: usize, from: &[u8]) -> [__m512i; 2] {
        let a = self.table(from.first_chunk().unwrap());
        if len == 128 {
            return [a, self.table(from[64..].first_chunk().unwrap())];
        }
        let from: &[u8; 32] = from[64..].first_chunk().unwrap();
        // SAFETY: reads the 32 bytes of the array; needs no alignment.
        let b = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
        [a, op!(_mm512_zextsi256_si512(b))]
    }
    /// Stores `len` bytes (96 or 128).
    #[inline(always)]
    fn store_pair(self, len: usize, [a, b]: [__m512i; 2], to: &mut [u8]) {
        Words::<u64>::store(self.0, a, to);
        if len == 128 {
            return Words::<u64>::store(self.0, b, &mut to[64..]);
        }
        let to: &mut [u8; 32] = to[64..].first_chunk_mut().unwrap();
        // SAFETY: writes the 32 bytes of the array; needs no alignment.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), _mm512_castsi512_si256(b)) }
    }
    #[inline(always)]
    fn permute(self, [a, b]: [__m512i; 2], tables: &[[u8; 64]; 2]) -> [__m512i; 2] {
        let [first, second] = [self.table(&tables[0]), self.table(&tables[1])];
        [op!(_mm512_permutex2var_epi8(a, first, b)), op!(_mm512_permutex2var_epi8(a, second, b))]
    }
}

#[inline(always)]
fn permutations<W: Word>(order: ByteOrder) -> &'static Permutations {
    let both = const { &Permutations::both(W::BYTES, W::LANE) };
    &both[order as usize]
}

/// Shuffles bytes, with a shuffle that LLVM cannot see. Otherwise LLVM replaces it by a rotation or
/// a shift, which competes with the other rotations of the round for execution ports. On Zen 4
/// shuffles have one port more, and the five operations of a round take 2.5 cycles instead of 2.8.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn shuffle_opaque(v: __m512i, shuffle: &Shuffle) -> __m512i {
    // SAFETY: reads the 16 bytes of the array; needs no alignment.
    let one = unsafe { _mm_loadu_si128(shuffle.as_ptr().cast()) };
    let mut shuffle = [_mm512_broadcast_i32x4(one)];
    pin!(zmm_reg (shuffle 0));
    _mm512_shuffle_epi8(v, shuffle[0])
}

impl<W: Word> Pairs<W> for Avx512Bytes
where
    Avx512: Words<W::Lane, V = __m512i>,
{
    type Words = Avx512;

    #[inline(always)]
    fn words(self) -> Avx512 {
        self.0
    }
    #[inline(always)]
    fn block_indices(self) -> __m512i {
        self.table(const { &lane_indices(W::LANE) })
    }
    #[inline(always)]
    fn rotate_words<const N: i32, const M: i32>(self, v: __m512i) -> __m512i {
        match W::BITS {
            16 => op!(_mm512_shldi_epi16::<N>(v, v)),
            24.. if N % 8 == 0 => {
                op!(shuffle_opaque(v, const { &rotated(W::BYTES, W::LANE, N as usize / 8) }))
            }
            // The bits shifted in from below are the high bits of the word, which is at the top of
            // the second operand.
            24 => op!(_mm512_shldi_epi32::<N>(v, shuffle_opaque(v, const { &raised(W::BYTES, W::LANE) }))),
            48 => op!(_mm512_shldi_epi64::<N>(v, shuffle_opaque(v, const { &raised(W::BYTES, W::LANE) }))),
            _ => self.0.rotate_left::<N>(v),
        }
    }
    #[inline(always)]
    fn reverse_words(self, v: __m512i) -> __m512i {
        self.shuffle(v, const { &swapped(W::BYTES, W::LANE) })
    }
    #[inline(always)]
    fn load_blocks(self, order: ByteOrder, from: &[u8]) -> [__m512i; 2] {
        let tables = permutations::<W>(order);
        self.permute(self.load_pair(<Self as Pairs<W>>::PAIR_BYTES, from), &tables.to_words)
    }
    #[inline(always)]
    fn store_blocks(self, order: ByteOrder, blocks: [__m512i; 2], to: &mut [u8]) {
        let tables = permutations::<W>(order);
        self.store_pair(<Self as Pairs<W>>::PAIR_BYTES, self.permute(blocks, &tables.to_blocks), to);
    }
    #[inline(always)]
    fn xor_blocks(self, order: ByteOrder, blocks: [__m512i; 2], mut data: InOut<'_>) {
        let tables = permutations::<W>(order);
        let [c, d] = self.permute(blocks, &tables.to_blocks);
        let [a, b] = self.load_pair(<Self as Pairs<W>>::PAIR_BYTES, data.source());
        let sums = [self.0.xor(a, c), self.0.xor(b, d)];
        self.store_pair(<Self as Pairs<W>>::PAIR_BYTES, sums, data.target());
    }
}

impl Avx2 {
    #[inline(always)]
    fn shuffle(self, v: __m256i, shuffle: &Shuffle) -> __m256i {
        // SAFETY: reads the 16 bytes of the array; needs no alignment.
        let one = unsafe { _mm_loadu_si128(shuffle.as_ptr().cast()) };
        op!(_mm256_shuffle_epi8(v, _mm256_broadcastsi128_si256(one)))
    }
    /// Loads `len` bytes (12 or 16) to each half of a vector.
    #[inline(always)]
    fn load_halves(self, len: usize, from: &[u8]) -> __m256i {
        if len == 16 {
            return Words::<u64>::load(self, from);
        }
        let from: &[u8; 24] = from.first_chunk().unwrap();
        let low = |at: usize| i64::from_le_bytes(*from[at..].first_chunk().unwrap());
        let high = |at: usize| i64::from(u32::from_le_bytes(*from[at..].first_chunk().unwrap()));
        op!(_mm256_set_epi64x(high(20), low(12), high(8), low(0)))
    }
    /// Stores the first `len` bytes (12 or 16) of each half of a vector.
    #[inline(always)]
    fn store_halves(self, len: usize, v: __m256i, to: &mut [u8]) {
        if len == 16 {
            return Words::<u64>::store(self, v, to);
        }
        let to: &mut [u8; 24] = to.first_chunk_mut().unwrap();
        to[..8].copy_from_slice(&op!(_mm256_extract_epi64::<0>(v)).to_le_bytes());
        to[8..12].copy_from_slice(&op!(_mm256_extract_epi32::<2>(v)).to_le_bytes());
        to[12..20].copy_from_slice(&op!(_mm256_extract_epi64::<2>(v)).to_le_bytes());
        to[20..].copy_from_slice(&op!(_mm256_extract_epi32::<6>(v)).to_le_bytes());
    }
}

/// Returns the indices of the blocks in the order of [`Pairs::load_blocks`]. Each 128-bit lane of
/// two loaded vectors holds as many blocks as words fit into 64 bits. Unpacking then moves the
/// lower halves of the lanes of both vectors to one vector, and the upper halves to the other.
const fn halved_numbers(lane: usize) -> [u8; 32] {
    let (mut bytes, count) = ([0; 32], 8 / lane);
    let mut i = 0;
    while i < 32 / lane {
        let (part, vector, within) = (i / count / 2, i / count % 2, i % count);
        bytes[i * lane] = ((2 * vector + part) * count + within) as u8;
        i += 1;
    }
    bytes
}

impl<W: Word> Pairs<W> for Avx2
where
    Self: Words<W::Lane, V = __m256i>,
{
    type Words = Self;

    #[inline(always)]
    fn words(self) -> Self {
        self
    }
    #[inline(always)]
    fn block_indices(self) -> __m256i {
        Words::<W::Lane>::load(self, const { &halved_numbers(W::LANE) })
    }
    #[inline(always)]
    fn rotate_words<const N: i32, const M: i32>(self, v: __m256i) -> __m256i {
        match W::SPARE {
            0 => Words::<W::Lane>::rotate_left::<N>(self, v),
            _ if N % 8 == 0 => self.shuffle(v, const { &rotated(W::BYTES, W::LANE, N as usize / 8) }),
            8 => self.xor(self.shift_left::<N>(v), self.shift_right::<M>(self.shift_left::<8>(v))),
            _ => self.xor(self.shift_left::<N>(v), self.shift_right::<M>(self.shift_left::<16>(v))),
        }
    }
    #[inline(always)]
    fn reverse_words(self, v: __m256i) -> __m256i {
        self.shuffle(v, const { &swapped(W::BYTES, W::LANE) })
    }
    #[inline(always)]
    fn load_blocks(self, order: ByteOrder, from: &[u8]) -> [__m256i; 2] {
        let (quarter, to_words) = (<Self as Pairs<W>>::PAIR_BYTES / 4, &halves::<W>(order).to_words);
        let a = self.shuffle(self.load_halves(quarter, from), to_words);
        let b = self.shuffle(self.load_halves(quarter, &from[2 * quarter..]), to_words);
        [op!(_mm256_unpacklo_epi64(a, b)), op!(_mm256_unpackhi_epi64(a, b))]
    }
    #[inline(always)]
    fn store_blocks(self, order: ByteOrder, [x, y]: [__m256i; 2], to: &mut [u8]) {
        let (quarter, to_blocks) = (<Self as Pairs<W>>::PAIR_BYTES / 4, &halves::<W>(order).to_blocks);
        let [a, b] = [op!(_mm256_unpacklo_epi64(x, y)), op!(_mm256_unpackhi_epi64(x, y))];
        self.store_halves(quarter, self.shuffle(a, to_blocks), to);
        self.store_halves(quarter, self.shuffle(b, to_blocks), &mut to[2 * quarter..]);
    }
    #[inline(always)]
    fn xor_blocks(self, order: ByteOrder, [x, y]: [__m256i; 2], mut data: InOut<'_>) {
        let (quarter, to_blocks) = (<Self as Pairs<W>>::PAIR_BYTES / 4, &halves::<W>(order).to_blocks);
        let [a, b] = [op!(_mm256_unpacklo_epi64(x, y)), op!(_mm256_unpackhi_epi64(x, y))];
        let [a, b] = [self.shuffle(a, to_blocks), self.shuffle(b, to_blocks)];
        let c = self.load_halves(quarter, data.source());
        let d = self.load_halves(quarter, &data.source()[2 * quarter..]);
        self.store_halves(quarter, Words::<u64>::xor(self, a, c), data.target());
        self.store_halves(quarter, Words::<u64>::xor(self, b, d), &mut data.target()[2 * quarter..]);
    }
}

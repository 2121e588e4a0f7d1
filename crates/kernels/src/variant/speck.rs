//! The rows of Speck.

use super::*;
use crate::speck::body::{each_block, xor_blocks};
use crate::vector::inout::InOut;
#[cfg(target_arch = "aarch64")]
use crate::vector::neon_words::NeonWords;
use crate::vector::pairs::{Bits16, Bits24, Bits32, Bits48, Bits64, ByteOrder};
use crate::vector::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::vector::{x86_pairs::Avx512Bytes, x86_words::Avx2};

variants! {
    /// Speck on many blocks, by bits of a word.
    SPECK: SpeckFunctions {
        /// [`xor_blocks`] for words of 16 bits.
        fn xor_16(keys: &[u64], order: ByteOrder, high: u64, low: u64, skip: usize, data: InOut<'_>) = xor_blocks::<Bits16, _, W>;
        /// [`xor_blocks`] for words of 24 bits.
        fn xor_24(keys: &[u64], order: ByteOrder, high: u64, low: u64, skip: usize, data: InOut<'_>) = xor_blocks::<Bits24, _, W>;
        /// [`xor_blocks`] for words of 32 bits.
        fn xor_32(keys: &[u64], order: ByteOrder, high: u64, low: u64, skip: usize, data: InOut<'_>) = xor_blocks::<Bits32, _, W>;
        /// [`xor_blocks`] for words of 48 bits.
        fn xor_48(keys: &[u64], order: ByteOrder, high: u64, low: u64, skip: usize, data: InOut<'_>) = xor_blocks::<Bits48, _, W>;
        /// [`xor_blocks`] for words of 64 bits.
        fn xor_64(keys: &[u64], order: ByteOrder, high: u64, low: u64, skip: usize, data: InOut<'_>) = xor_blocks::<Bits64, _, W>;
        /// [`each_block`] for words of 16 bits, encrypting.
        fn encrypt_16(keys: &[u64], order: ByteOrder, data: InOut<'_>) = each_block::<Bits16, _, W, false>;
        /// [`each_block`] for words of 24 bits, encrypting.
        fn encrypt_24(keys: &[u64], order: ByteOrder, data: InOut<'_>) = each_block::<Bits24, _, W, false>;
        /// [`each_block`] for words of 32 bits, encrypting.
        fn encrypt_32(keys: &[u64], order: ByteOrder, data: InOut<'_>) = each_block::<Bits32, _, W, false>;
        /// [`each_block`] for words of 48 bits, encrypting.
        fn encrypt_48(keys: &[u64], order: ByteOrder, data: InOut<'_>) = each_block::<Bits48, _, W, false>;
        /// [`each_block`] for words of 64 bits, encrypting.
        fn encrypt_64(keys: &[u64], order: ByteOrder, data: InOut<'_>) = each_block::<Bits64, _, W, false>;
        /// [`each_block`] for words of 16 bits, decrypting.
        fn decrypt_16(keys: &[u64], order: ByteOrder, data: InOut<'_>) = each_block::<Bits16, _, W, true>;
        /// [`each_block`] for words of 24 bits, decrypting.
        fn decrypt_24(keys: &[u64], order: ByteOrder, data: InOut<'_>) = each_block::<Bits24, _, W, true>;
        /// [`each_block`] for words of 32 bits, decrypting.
        fn decrypt_32(keys: &[u64], order: ByteOrder, data: InOut<'_>) = each_block::<Bits32, _, W, true>;
        /// [`each_block`] for words of 48 bits, decrypting.
        fn decrypt_48(keys: &[u64], order: ByteOrder, data: InOut<'_>) = each_block::<Bits48, _, W, true>;
        /// [`each_block`] for words of 64 bits, decrypting.
        fn decrypt_64(keys: &[u64], order: ByteOrder, data: InOut<'_>) = each_block::<Bits64, _, W, true>;
    }
    proof = crate::speck::proof;
    #[cfg(target_arch = "x86_64")]
    "avx512" = Avx512Bytes, 12, ["avx512f", "avx512bw", "avx512vl", "avx512vbmi", "avx512vbmi2", "bmi2"];
    #[cfg(target_arch = "x86_64")]
    "avx2" = Avx2, 6, ["avx2"];
    #[cfg(target_arch = "aarch64")]
    "neon" = NeonWords, 8, ["neon"];
    "portable" = Portable, 2, [];
}

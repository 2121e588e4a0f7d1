//! The table with the functions of Speck that each instruction set computes in its own way.

use crate::InOut;
use crate::cpu::Needs;
use crate::speck::body::{DECRYPT, ENCRYPT, each_block, xor_blocks};
use crate::variant::{Entry, Selected, Table, UNTESTED, Variant};
use crate::vector::pairs::{Bits16, Bits24, Bits32, Bits48, Bits64, ByteOrder};
use core::sync::atomic::AtomicU8;

variants! {
    /// Speck on many blocks.
    SPECK: SpeckFunctions for pairs_of_words {
        /// Calls [`xor_blocks`].
        fn xor(keys: &[u64], order: ByteOrder, high: u64, low: u64, skip: usize, data: InOut<'_>) by usize = [
            xor_blocks::<Bits16, _, W>, xor_blocks::<Bits24, _, W>, xor_blocks::<Bits32, _, W>,
            xor_blocks::<Bits48, _, W>, xor_blocks::<Bits64, _, W>,
        ];
        /// Calls [`each_block`], encrypting.
        fn encrypt(keys: &[u64], order: ByteOrder, data: InOut<'_>) by usize = [
            each_block::<Bits16, _, W, ENCRYPT>, each_block::<Bits24, _, W, ENCRYPT>, each_block::<Bits32, _, W, ENCRYPT>,
            each_block::<Bits48, _, W, ENCRYPT>, each_block::<Bits64, _, W, ENCRYPT>,
        ];
        /// Calls [`each_block`], decrypting.
        fn decrypt(keys: &[u64], order: ByteOrder, data: InOut<'_>) by usize = [
            each_block::<Bits16, _, W, DECRYPT>, each_block::<Bits24, _, W, DECRYPT>, each_block::<Bits32, _, W, DECRYPT>,
            each_block::<Bits48, _, W, DECRYPT>, each_block::<Bits64, _, W, DECRYPT>,
        ];
    }
}

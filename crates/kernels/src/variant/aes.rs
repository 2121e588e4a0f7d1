//! The table with the functions of AES that each instruction set computes in its own way.

use super::*;
use crate::InOut;
use crate::aes::body::{self as aes, KeySize};
use crate::vector::Schedule;

variants! {
    /// AES: the key schedule and the keystream.
    AES: AesFunctions for aes_instructions {
        /// Calls [`aes::expand`].
        fn expand(key: &[u8], schedule: &mut Schedule) = [aes::expand];
        /// Calls [`aes::xor_blocks`].
        fn xor(schedule: &Schedule, counter: u128, skip: usize, data: InOut<'_>) by KeySize =
            [aes::xor_blocks::<_, W, 10>, aes::xor_blocks::<_, W, 12>, aes::xor_blocks::<_, W, 14>];
    }
}

//! The table with the functions of AES that each instruction set computes in its own way.

use crate::InOut;
use crate::aes::body::{self as aes, KeySize};
use crate::aes::inverse;
use crate::aes::two_rounds::TwoRounds;
use crate::cpu::Needs;
use crate::variant::{Entry, Selected, Table, UNTESTED, Variant};
use crate::vector::Schedule;
use core::sync::atomic::AtomicU8;

variants! {
    /// AES: the key schedule, the keystream, CBC-MAC, and blocks that are decrypted. With a loop
    /// over the rounds, the portable keystream takes a sixth longer.
    AES: AesFunctions for aes_instructions {
        /// Calls [`aes::expand`].
        fn expand(key: &[u8], schedule: &mut Schedule) = [aes::expand];
        /// Calls [`aes::xor_blocks`].
        fn xor(schedule: &Schedule, counter: u128, skip: usize, data: InOut<'_>) by KeySize =
            [aes::xor_blocks::<_, W, 10>, aes::xor_blocks::<_, W, 12>, aes::xor_blocks::<_, W, 14>];
        /// Calls [`aes::cbc_mac`].
        fn cbc_mac(schedule: &Schedule, state: &mut [u8; 16], blocks: &[u8]) by KeySize =
            [aes::cbc_mac::<_, 10>, aes::cbc_mac::<_, 12>, aes::cbc_mac::<_, 14>];
        /// Calls [`inverse::decrypt`].
        fn decrypt(schedule: &Schedule, rounds: usize, blocks: &mut [u8]) = [inverse::decrypt];
        /// Calls [`aes::xor_periods`].
        fn xor_periods(schedule: &Schedule, counter: u128, two_rounds: &mut TwoRounds, data: InOut<'_>) by KeySize =
            [aes::xor_periods::<_, W, 10>, aes::xor_periods::<_, W, 12>, aes::xor_periods::<_, W, 14>];
    }
}

//! The rows of AES.

use super::*;
use crate::aes;
use crate::vector::Schedule;
use crate::vector::inout::InOut;
#[cfg(target_arch = "aarch64")]
use crate::vector::neon::Neon;
use crate::vector::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::vector::x86::{Aesni, Vaes256, Vaes512};

variants! {
    /// AES: the key schedule and the keystream.
    AES: AesFunctions {
        /// Expands a key of 16, 24 or 32 bytes.
        fn expand(key: &[u8], schedule: &mut Schedule) = aes::expand;
        /// [`aes::xor_blocks`] for a key of 128 bits.
        fn xor_128(schedule: &Schedule, counter: u128, skip: usize, data: InOut<'_>) = aes::xor_blocks::<_, W, 10>;
        /// [`aes::xor_blocks`] for a key of 192 bits.
        fn xor_192(schedule: &Schedule, counter: u128, skip: usize, data: InOut<'_>) = aes::xor_blocks::<_, W, 12>;
        /// [`aes::xor_blocks`] for a key of 256 bits.
        fn xor_256(schedule: &Schedule, counter: u128, skip: usize, data: InOut<'_>) = aes::xor_blocks::<_, W, 14>;
    }
    proof = aes::proof;
    #[cfg(target_arch = "x86_64")]
    "vaes512" = Vaes512, 8, ["vaes", "avx512f", "avx512bw", "avx512vl", "bmi2"];
    #[cfg(target_arch = "x86_64")]
    "vaes256" = Vaes256, 8, ["vaes", "aes", "avx2"];
    #[cfg(target_arch = "x86_64")]
    "aesni" = Aesni, 8, ["aes", "avx"];
    #[cfg(target_arch = "aarch64")]
    "neon-aes" = Neon, 8, ["neon", "aes"];
    "portable" = Portable, 1, [];
}

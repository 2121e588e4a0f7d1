//! The rows of AES-GCM-SIV.

use super::*;
use crate::aes;
use crate::gcm_siv::body as gcm_siv;
use crate::vector::Schedule;
use crate::vector::inout::InOut;
#[cfg(target_arch = "aarch64")]
use crate::vector::neon::Neon;
use crate::vector::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::vector::x86_products::{AesniProducts, Vaes256Products, Vaes512Products};

variants! {
    /// AES-GCM-SIV: the key schedule, and messages.
    SIV: SivFunctions {
        /// Expands a key of 16 or 32 bytes.
        fn expand(key: &[u8], schedule: &mut Schedule) = aes::expand;
        /// [`gcm_siv::run`] for a key of 128 bits, sealing.
        fn seal_128(root: &Schedule, nonce: u128, aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm_siv::run::<_, W, 10, true>;
        /// [`gcm_siv::run`] for a key of 256 bits, sealing.
        fn seal_256(root: &Schedule, nonce: u128, aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm_siv::run::<_, W, 14, true>;
        /// [`gcm_siv::run`] for a key of 128 bits, opening.
        fn open_128(root: &Schedule, nonce: u128, aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm_siv::run::<_, W, 10, false>;
        /// [`gcm_siv::run`] for a key of 256 bits, opening.
        fn open_256(root: &Schedule, nonce: u128, aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm_siv::run::<_, W, 14, false>;
    }
    proof = crate::gcm_siv::proof;
    #[cfg(target_arch = "x86_64")]
    "vaes512" = Vaes512Products, 8, ["vaes", "vpclmulqdq", "avx512f", "avx512bw", "avx512vl", "bmi2"];
    #[cfg(target_arch = "x86_64")]
    "vaes256" = Vaes256Products, 8, ["vaes", "vpclmulqdq", "aes", "pclmulqdq", "avx2"];
    #[cfg(target_arch = "x86_64")]
    "aesni" = AesniProducts, 8, ["aes", "pclmulqdq", "avx"];
    #[cfg(target_arch = "aarch64")]
    "neon-aes" = Neon, 8, ["neon", "aes"];
    "portable" = Portable, 1, [];
}

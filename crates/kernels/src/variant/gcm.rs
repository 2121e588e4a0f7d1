//! The rows of AES-GCM.

use super::*;
use crate::first_round::{self, FirstRound};
use crate::gcm::{Key, body as gcm};
use crate::ghash::{self, Few, Many};
use crate::vector::Schedule;
use crate::vector::inout::InOut;
#[cfg(target_arch = "aarch64")]
use crate::vector::neon::Neon;
use crate::vector::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::vector::x86_products::{AesniProducts, Vaes256Products, Vaes512Products};

variants! {
    /// AES-GCM: key set-up, hashing, and messages with at most 64 bytes of data or any number.
    GCM: GcmFunctions {
        /// [`gcm::set_up`] for a key of 128 bits.
        fn set_up_128(key: &[u8], expanded: &mut Key) = gcm::set_up::<_, 10>;
        /// [`gcm::set_up`] for a key of 192 bits.
        fn set_up_192(key: &[u8], expanded: &mut Key) = gcm::set_up::<_, 12>;
        /// [`gcm::set_up`] for a key of 256 bits.
        fn set_up_256(key: &[u8], expanded: &mut Key) = gcm::set_up::<_, 14>;
        /// The first round for long messages.
        fn set_up_first_round(schedule: &Schedule, first_round: &mut FirstRound) = first_round::set_up;
        /// The powers for long messages.
        fn set_up_many(few: &Few, many: &mut Many) = ghash::set_up_many;
        /// [`ghash::absorb_into`] with few powers.
        fn absorb_few(few: &Few, bytes: &[u8], hash: &mut u128) = ghash::absorb_into::<_, W, _>;
        /// [`ghash::absorb_into`].
        fn absorb(many: &Many, bytes: &[u8], hash: &mut u128) = ghash::absorb_into::<_, W, _>;
        /// [`gcm::cover`] for a key of 128 bits.
        fn cover_128(key: &Key, counter: u128, data: InOut<'_>) = gcm::cover::<_, W, 10>;
        /// [`gcm::cover`] for a key of 192 bits.
        fn cover_192(key: &Key, counter: u128, data: InOut<'_>) = gcm::cover::<_, W, 12>;
        /// [`gcm::cover`] for a key of 256 bits.
        fn cover_256(key: &Key, counter: u128, data: InOut<'_>) = gcm::cover::<_, W, 14>;
        /// [`gcm::short`] for a key of 128 bits, sealing.
        fn seal_short_128(key: &Key, first: u128, hash: u128, aad: u64, data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm::short::<_, 10, true>;
        /// [`gcm::short`] for a key of 192 bits, sealing.
        fn seal_short_192(key: &Key, first: u128, hash: u128, aad: u64, data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm::short::<_, 12, true>;
        /// [`gcm::short`] for a key of 256 bits, sealing.
        fn seal_short_256(key: &Key, first: u128, hash: u128, aad: u64, data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm::short::<_, 14, true>;
        /// [`gcm::short`] for a key of 128 bits, opening.
        fn open_short_128(key: &Key, first: u128, hash: u128, aad: u64, data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm::short::<_, 10, false>;
        /// [`gcm::short`] for a key of 192 bits, opening.
        fn open_short_192(key: &Key, first: u128, hash: u128, aad: u64, data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm::short::<_, 12, false>;
        /// [`gcm::short`] for a key of 256 bits, opening.
        fn open_short_256(key: &Key, first: u128, hash: u128, aad: u64, data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm::short::<_, 14, false>;
        /// [`gcm::long`] for a key of 128 bits, sealing.
        fn seal_128(key: &Key, many: &Many, first: u128, hash: u128, ahead: Option<&FirstRound>, aad: u64, data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm::long::<_, W, 10, true>;
        /// [`gcm::long`] for a key of 192 bits, sealing.
        fn seal_192(key: &Key, many: &Many, first: u128, hash: u128, ahead: Option<&FirstRound>, aad: u64, data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm::long::<_, W, 12, true>;
        /// [`gcm::long`] for a key of 256 bits, sealing.
        fn seal_256(key: &Key, many: &Many, first: u128, hash: u128, ahead: Option<&FirstRound>, aad: u64, data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm::long::<_, W, 14, true>;
        /// [`gcm::long`] for a key of 128 bits, opening.
        fn open_128(key: &Key, many: &Many, first: u128, hash: u128, ahead: Option<&FirstRound>, aad: u64, data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm::long::<_, W, 10, false>;
        /// [`gcm::long`] for a key of 192 bits, opening.
        fn open_192(key: &Key, many: &Many, first: u128, hash: u128, ahead: Option<&FirstRound>, aad: u64, data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm::long::<_, W, 12, false>;
        /// [`gcm::long`] for a key of 256 bits, opening.
        fn open_256(key: &Key, many: &Many, first: u128, hash: u128, ahead: Option<&FirstRound>, aad: u64, data: &mut InOut<'_>, tag: &mut [u8; 16]) = gcm::long::<_, W, 14, false>;
    }
    proof = crate::gcm::proof;
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

//! The rows of AEGIS.

use super::*;
use crate::aegis::body::{self as aegis, Key};
use crate::vector::inout::InOut;
#[cfg(target_arch = "aarch64")]
use crate::vector::neon::Neon;
use crate::vector::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::vector::x86::{Aesni, Vaes256, Vaes512};

variants! {
    /// AEGIS: messages, with 16-byte tags.
    AEGIS: AegisFunctions {
        /// The largest degree whose state does not lie on the stack.
        fn register_degree(degree: &mut usize) = aegis::register_degree;
        /// AEGIS-128L, sealing.
        fn seal_128l(key: &Key, nonce: &[u8], aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = aegis::eight::<_, 1, true>;
        /// AEGIS-128X2, sealing.
        fn seal_128x2(key: &Key, nonce: &[u8], aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = aegis::eight::<_, 2, true>;
        /// AEGIS-128X4, sealing.
        fn seal_128x4(key: &Key, nonce: &[u8], aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = aegis::eight::<_, 4, true>;
        /// AEGIS-256, sealing.
        fn seal_256(key: &Key, nonce: &[u8], aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = aegis::six::<_, 1, true>;
        /// AEGIS-256X2, sealing.
        fn seal_256x2(key: &Key, nonce: &[u8], aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = aegis::six::<_, 2, true>;
        /// AEGIS-256X4, sealing.
        fn seal_256x4(key: &Key, nonce: &[u8], aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = aegis::six::<_, 4, true>;
        /// AEGIS-128L, opening.
        fn open_128l(key: &Key, nonce: &[u8], aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = aegis::eight::<_, 1, false>;
        /// AEGIS-128X2, opening.
        fn open_128x2(key: &Key, nonce: &[u8], aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = aegis::eight::<_, 2, false>;
        /// AEGIS-128X4, opening.
        fn open_128x4(key: &Key, nonce: &[u8], aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = aegis::eight::<_, 4, false>;
        /// AEGIS-256, opening.
        fn open_256(key: &Key, nonce: &[u8], aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = aegis::six::<_, 1, false>;
        /// AEGIS-256X2, opening.
        fn open_256x2(key: &Key, nonce: &[u8], aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = aegis::six::<_, 2, false>;
        /// AEGIS-256X4, opening.
        fn open_256x4(key: &Key, nonce: &[u8], aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) = aegis::six::<_, 4, false>;
    }
    proof = crate::aegis::proof;
    #[cfg(target_arch = "x86_64")]
    "vaes512" = Vaes512, 1, ["vaes", "avx512f", "avx512bw", "avx512vl", "bmi2"];
    #[cfg(target_arch = "x86_64")]
    "vaes256" = Vaes256, 1, ["vaes", "aes", "avx2"];
    #[cfg(target_arch = "x86_64")]
    "aesni" = Aesni, 1, ["aes", "avx"];
    #[cfg(target_arch = "aarch64")]
    "neon-aes" = Neon, 1, ["neon", "aes"];
    "portable" = Portable, 1, [];
}

//! The rows of ChaCha20.

use super::*;
use crate::chacha20::body as chacha20;
use crate::chacha20::body::Key;
use crate::vector::inout::InOut;
#[cfg(target_arch = "aarch64")]
use crate::vector::neon_words::NeonWords;
use crate::vector::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::vector::x86_words::{Avx2, Avx512};

variants! {
    /// ChaCha20: the keystream, and the keys that XChaCha20 derives.
    CHACHA20: ChaCha20Functions {
        /// [`chacha20::xor`].
        fn xor(key: &Key, nonce: &[u8; 12], counter: u32, skip: usize, data: InOut<'_>) = chacha20::xor::<_, W>;
        /// [`chacha20::subkey`].
        fn subkey(key: &Key, nonce: &[u8; 16], to: &mut Key) = chacha20::subkey;
    }
    proof = crate::chacha20::proof;
    #[cfg(target_arch = "x86_64")]
    "avx512" = Avx512, 8, ["avx512f", "avx512bw", "avx512vl", "bmi2"];
    #[cfg(target_arch = "x86_64")]
    "avx2" = Avx2, 4, ["avx2"];
    #[cfg(target_arch = "aarch64")]
    "neon" = NeonWords, 4, ["neon"];
    "portable" = Portable, 4, [];
}

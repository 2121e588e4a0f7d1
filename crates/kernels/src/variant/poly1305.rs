//! The rows of Poly1305.

use super::*;
use crate::poly1305::{Powers, State, body as poly1305};
#[cfg(target_arch = "aarch64")]
use crate::vector::neon_limbs::NeonLimbs;
use crate::vector::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::vector::x86_limbs::{Avx2Limbs, Ifma512};

variants! {
    /// Poly1305: powers, and data of any length. What is short is the same for all, see [`State`].
    POLY1305: Poly1305Functions {
        /// [`poly1305::set_up`].
        fn set_up(state: &State, powers: &mut Powers, len: usize) = poly1305::set_up;
        /// [`poly1305::padded`].
        fn padded(state: &mut State, powers: &Powers, data: &[u8]) = poly1305::padded;
    }
    proof = crate::poly1305::proof;
    #[cfg(target_arch = "x86_64")]
    "avx512ifma" = Ifma512, 8, ["avx512f", "avx512ifma"];
    #[cfg(target_arch = "x86_64")]
    "avx2" = Avx2Limbs, 4, ["avx2"];
    #[cfg(target_arch = "aarch64")]
    "neon" = NeonLimbs, 4, ["neon"];
    "portable" = Portable, 1, [];
}

//! The table with the functions of AES-GCM-SIV that each instruction set computes in its own way.

use super::*;
use crate::InOut;
use crate::aes::body as aes;
use crate::gcm_siv::body::{self as gcm_siv, KeySize};
use crate::vector::Schedule;

variants! {
    /// AES-GCM-SIV: the key schedule, and messages.
    GCM_SIV: GcmSivFunctions for aes_and_products {
        /// Calls [`aes::expand`].
        fn expand(key: &[u8], schedule: &mut Schedule) = [aes::expand];
        /// Calls [`gcm_siv::run`], sealing.
        fn seal(key: &Schedule, nonce: u128, aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) by KeySize =
            [gcm_siv::run::<_, W, 10, true>, gcm_siv::run::<_, W, 14, true>];
        /// Calls [`gcm_siv::run`], opening.
        fn open(key: &Schedule, nonce: u128, aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) by KeySize =
            [gcm_siv::run::<_, W, 10, false>, gcm_siv::run::<_, W, 14, false>];
    }
}

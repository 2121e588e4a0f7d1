//! The table with the functions of AES-GCM-SIV that each instruction set computes in its own way.

use crate::InOut;
use crate::aes::body as aes;
use crate::cpu::Needs;
use crate::gcm::batch::NONCE_LEN;
use crate::gcm_siv::batch;
use crate::gcm_siv::body::{self as gcm_siv, KeySize, MessageKeys};
use crate::ghash::{self, BulkPowers, LittleEndian, ShortPowers};
use crate::variant::{Entry, Selected, Table, UNTESTED, Variant};
use crate::vector::Schedule;
use core::sync::atomic::AtomicU8;

variants! {
    /// AES-GCM-SIV: the key schedule, and messages.
    GCM_SIV: GcmSivFunctions for aes_and_products {
        /// Calls [`aes::expand`].
        fn expand(key: &[u8], schedule: &mut Schedule) = [aes::expand];
        /// Calls [`gcm_siv::run`], sealing.
        fn seal(key: &Schedule, nonce: u128, aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) by KeySize =
            [gcm_siv::run::<_, W, R, true>; R = 10, 14];
        /// Calls [`gcm_siv::run`], opening.
        fn open(key: &Schedule, nonce: u128, aad: &[u8], data: &mut InOut<'_>, tag: &mut [u8; 16]) by KeySize =
            [gcm_siv::run::<_, W, R, false>; R = 10, 14];
        /// Calls [`batch::seal`].
        fn seal_batch(key: &Schedule, aad: &[u8], nonces: &[[u8; NONCE_LEN]], plaintexts: &[&[u8]], sealed: &mut [&mut [u8]])
            by KeySize = [batch::seal::<_, R>; R = 10, 14];
        /// Calls [`batch::open`].
        fn open_batch(key: &Schedule, aad: &[u8], sealed: &[&[u8]], plaintexts: &mut [&mut [u8]], expected_tags: &mut [[u8; 16]])
            by KeySize = [batch::open::<_, R>; R = 10, 14];
        /// Calls [`gcm_siv::message_keys`].
        fn message_keys(key: &Schedule, nonce: u128, keys: &mut MessageKeys) by KeySize =
            [gcm_siv::message_keys::<_, R>; R = 10, 14];
        /// Calls [`ghash::absorb_into`] with the powers for short messages.
        fn absorb_short(powers: &ShortPowers, bytes: &[u8], hash: &mut u128) = [ghash::absorb_into::<_, LittleEndian, W, _>];
        /// Calls [`ghash::absorb_into`].
        fn absorb(powers: &BulkPowers, bytes: &[u8], hash: &mut u128) = [ghash::absorb_into::<_, LittleEndian, W, _>];
        /// Calls [`gcm_siv::encrypt_segment`].
        fn encrypt_segment(keys: &MessageKeys, counter: u128, data: &mut InOut<'_>) by KeySize =
            [gcm_siv::encrypt_segment::<_, W, R>; R = 10, 14];
        /// Calls [`gcm_siv::open_segment`].
        fn open_segment(keys: &MessageKeys, counter: u128, data: &mut InOut<'_>, times_h: &mut u128) by KeySize =
            [gcm_siv::open_segment::<_, W, R>; R = 10, 14];
        /// Calls [`gcm_siv::tag`].
        fn tag(keys: &MessageKeys, nonce: u128, hash: u128, tag: &mut [u8; 16]) by KeySize =
            [gcm_siv::tag::<_, R>; R = 10, 14];
    }
}

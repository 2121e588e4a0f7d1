//! The table with the functions of AES-GCM that each instruction set computes in its own way.

use crate::InOut;
use crate::aes::body::KeySize;
use crate::aes::two_rounds::TwoRounds;
use crate::cpu::Needs;
use crate::first_round::{self, FirstRound};
use crate::gcm::batch;
use crate::gcm::body as gcm;
use crate::ghash::{self, BigEndian, BulkPowers, ShortPowers};
use crate::stitch::Key;
use crate::variant::{Entry, Selected, Table, UNTESTED, Variant};
use crate::vector::Schedule;
use core::sync::atomic::AtomicU8;

variants! {
    /// AES-GCM: key set-up, GHASH, counter mode, and messages.
    GCM: GcmFunctions for aes_and_products {
        /// Calls [`gcm::set_up`].
        fn set_up(key: &[u8], expanded: &mut Key) by KeySize =
            [gcm::set_up::<_, R>; R = 10, 12, 14];
        /// Calls [`first_round::set_up`].
        fn set_up_first_round(schedule: &Schedule, first_round: &mut FirstRound) = [first_round::set_up];
        /// Calls [`ghash::set_up_bulk_powers`].
        fn set_up_bulk_powers(short: &ShortPowers, bulk: &mut BulkPowers) = [ghash::set_up_bulk_powers];
        /// Calls [`ghash::absorb_into`] with the powers for short messages.
        fn absorb_short(powers: &ShortPowers, bytes: &[u8], hash: &mut u128) = [ghash::absorb_into::<_, BigEndian, W, _>];
        /// Calls [`ghash::absorb_into`].
        fn absorb(powers: &BulkPowers, bytes: &[u8], hash: &mut u128) = [ghash::absorb_into::<_, BigEndian, W, _>];
        /// Calls [`gcm::apply_keystream`].
        fn apply_keystream(key: &Key, counter: u128, data: InOut<'_>) by KeySize =
            [gcm::apply_keystream::<_, W, R>; R = 10, 12, 14];
        /// Calls [`gcm::short`], sealing.
        fn seal_short(key: &Key, j0: u128, aad_hash: u128, aad_len: u64, data: &mut InOut<'_>, tag: &mut [u8; 16])
            by KeySize = [gcm::short::<_, R, true>; R = 10, 12, 14];
        /// Calls [`gcm::short`], opening.
        fn open_short(key: &Key, j0: u128, aad_hash: u128, aad_len: u64, data: &mut InOut<'_>, tag: &mut [u8; 16])
            by KeySize = [gcm::short::<_, R, false>; R = 10, 12, 14];
        /// Calls [`batch::seal`].
        fn seal_batch(key: &Key, aad_hash: u128, aad_len: u64, nonces: &[[u8; batch::NONCE_LEN]], plaintexts: &[&[u8]], sealed: &mut [&mut [u8]])
            by KeySize = [batch::seal::<_, R>; R = 10, 12, 14];
        /// Calls [`batch::open`].
        fn open_batch(key: &Key, aad_hash: u128, aad_len: u64, sealed: &[&[u8]], plaintexts: &mut [&mut [u8]], expected_tags: &mut [[u8; 16]])
            by KeySize = [batch::open::<_, R>; R = 10, 12, 14];
        /// Calls [`gcm::long`], sealing.
        fn seal_long(key: &Key, powers: &BulkPowers, j0: u128, aad_hash: u128, first_round: Option<&FirstRound>, two_rounds: Option<&mut TwoRounds>, aad_len: u64, data: &mut InOut<'_>, tag: &mut [u8; 16])
            by KeySize = [gcm::long::<_, W, R, true>; R = 10, 12, 14];
        /// Calls [`gcm::long`], opening.
        fn open_long(key: &Key, powers: &BulkPowers, j0: u128, aad_hash: u128, first_round: Option<&FirstRound>, two_rounds: Option<&mut TwoRounds>, aad_len: u64, data: &mut InOut<'_>, tag: &mut [u8; 16])
            by KeySize = [gcm::long::<_, W, R, false>; R = 10, 12, 14];
        /// Calls [`gcm::groups`], encrypting.
        fn encrypt_groups(key: &Key, powers: &BulkPowers, counter: u128, counter_byte: usize, first_round: Option<&FirstRound>, hash: &mut u128, data: &mut InOut<'_>)
            by KeySize = [gcm::groups::<_, W, R, true>; R = 10, 12, 14];
        /// Calls [`gcm::groups`], decrypting.
        fn decrypt_groups(key: &Key, powers: &BulkPowers, counter: u128, counter_byte: usize, first_round: Option<&FirstRound>, hash: &mut u128, data: &mut InOut<'_>)
            by KeySize = [gcm::groups::<_, W, R, false>; R = 10, 12, 14];
    }
}

//! The key of AES-GCM, and messages in one call.
#![forbid(unsafe_code)]

use super::batch::{SHORT, j0};
use super::body::Preamble;
use crate::InOut;
use crate::aes::body::KeySize;
use crate::aes::two_rounds::TwoRounds;
use crate::cpu::is_intel;
use crate::ct;
use crate::error::{KeyError, MessageError, OpenError, Part};
use crate::first_round::FirstRound;
use crate::ghash::{AlignedBulkPowers, BulkPowers, SHORT_POWERS};
use crate::once::OnceLock;
use crate::stitch::Key;
use crate::tables::gcm::GcmFunctions;
use crate::variant::{Selected, describe_key};
use crate::zero::wipe_dead_stack;
use alloc::boxed::Box;
#[cfg(feature = "std")]
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

mod batch;

/// Largest length of the data in bytes (SP 800-38D, section 5.2.1.1): one block for each of the
/// 2^32 counters except J0's and the one before it.
pub(super) const MAX_DATA_LEN: u128 = (1 << 36) - 32;
/// Largest length of associated data and nonces in bytes: their length in bits has 64 bits.
pub(super) const MAX_AAD_LEN: u128 = (1 << 61) - 1;
/// Data length from which a precomputed first round saves time.
#[cfg(feature = "std")]
const LONG: usize = 4096;
/// Length of the data in bytes from which on a precomputed first round saves more time than its
/// computation takes.
#[cfg(feature = "std")]
const VERY_LONG: usize = 1 << 16;

/// Length of the data in bytes from which on two precomputed rounds save more time than their table
/// takes. Zen 4, whose loop does not reach the bound of its AES rounds, gains nothing from them
/// (`docs/decisions/009-aes-kernels.md`).
fn two_rounds_from() -> usize {
    if is_intel() { 1 << 15 } else { usize::MAX }
}

/// An AES-GCM key and the variant that computes with it.
///
/// Everything derived from the key lives on the heap, so that moving this value leaves no copy
/// behind, and is wiped on drop.
pub struct Gcm {
    key: Box<Key>,
    /// Computed when a message first needs them, since they take longer than a short message;
    /// without `std`, with the key.
    bulk_powers: OnceLock<Box<AlignedBulkPowers>>,
    /// Computed for a very long message or for the second long message, since some keys encrypt
    /// only one.
    first_round: OnceLock<Box<FirstRound>>,
    /// Whether there was a long message with this key before.
    #[cfg(feature = "std")]
    seen_long: AtomicBool,
    /// The value of [`two_rounds_from`]; tests change it.
    two_rounds_from: usize,
    pub(super) size: KeySize,
    pub(super) variant: Selected<GcmFunctions>,
}

describe_key! { Gcm { size } }

impl Gcm {
    pub(super) fn with_variant(variant: Selected<GcmFunctions>, key: &[u8]) -> Result<Self, KeyError> {
        let size = KeySize::of(key)?;
        let mut expanded = Box::new(Key::EMPTY);
        variant.set_up(size, key, &mut expanded);
        let gcm = Self {
            key: expanded,
            bulk_powers: OnceLock::new(),
            first_round: OnceLock::new(),
            #[cfg(feature = "std")]
            seen_long: AtomicBool::new(false),
            two_rounds_from: two_rounds_from(),
            size,
            variant,
        };
        #[cfg(not(feature = "std"))]
        let gcm = Self { bulk_powers: gcm.new_bulk_powers().into(), ..gcm };
        Ok(gcm)
    }

    /// Encrypts `data` and writes the tag of the associated data, the nonce and the message to
    /// `tag`.
    ///
    /// A nonce of 12 bytes is used directly; a nonce of another length is hashed (SP 800-38D,
    /// section 7.1).
    ///
    /// # Errors
    /// Returns [`MessageError::TooLong`] and writes nothing if there are more than 2^36 - 32 bytes
    /// of data, or more than 2^61 - 1 bytes of associated data or of nonce.
    #[inline(always)] // A call takes 2 % of a short message.
    pub fn seal(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), MessageError> {
        let Preamble { j0, aad_hash, aad_len } = self.begin(nonce, aad, data.len())?;
        let (key, size) = (&self.key, self.size);
        let first_round = self.first_round(nonce.len(), data.len());
        if data.len() <= SHORT {
            self.variant.seal_short(size, key, j0, aad_hash, aad_len, &mut data, tag);
        } else {
            let powers = self.bulk_powers();
            self.with_two_rounds(first_round, data.len(), |two| {
                self.variant.seal_long(
                    size,
                    key,
                    powers,
                    j0,
                    aad_hash,
                    first_round,
                    two,
                    aad_len,
                    &mut data,
                    tag,
                );
            });
        }
        self.clean_stack(data.len());
        Ok(())
    }

    /// Decrypts `data` and verifies the tag, which covers the associated data, the nonce and the
    /// message.
    ///
    /// Decryption and verification share a pass, so if the tag is wrong, data to be decrypted in
    /// place is lost.
    ///
    /// # Errors
    /// Returns [`OpenError::AuthenticationFailed`] if the tag is wrong; the destination is zero
    /// then. Returns [`OpenError::Message`] and writes nothing for the same reasons as
    /// [`Self::seal`].
    #[inline(always)] // A call takes 2 % of a short message.
    pub fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), OpenError> {
        let Preamble { j0, aad_hash, aad_len } = self.begin(nonce, aad, data.len())?;
        let (key, size, len) = (&self.key, self.size, data.len());
        let first_round = self.first_round(nonce.len(), len);
        let mut expected_tag = [0; 16];
        if len <= SHORT {
            self.variant.open_short(size, key, j0, aad_hash, aad_len, &mut data, &mut expected_tag);
        } else {
            let (powers, tag) = (self.bulk_powers(), &mut expected_tag);
            self.with_two_rounds(first_round, len, |two| {
                self.variant.open_long(
                    size,
                    key,
                    powers,
                    j0,
                    aad_hash,
                    first_round,
                    two,
                    aad_len,
                    &mut data,
                    tag,
                );
            });
        }
        self.clean_stack(len);
        ct::verified(&mut expected_tag, tag, data)
    }

    /// Precomputes two rounds for messages from `len` bytes on that use a precomputed first round.
    /// The result is the same; by default the processor decides.
    #[doc(hidden)]
    pub fn precompute_two_rounds_from(&mut self, len: usize) {
        self.two_rounds_from = len;
    }

    /// Calls `run`, with an empty table of two rounds if they are to be precomputed for a message
    /// of `len` bytes.
    #[inline(always)]
    pub(super) fn with_two_rounds(
        &self,
        first_round: Option<&FirstRound>,
        len: usize,
        run: impl FnOnce(Option<&mut TwoRounds>),
    ) {
        if first_round.is_some() && len >= self.two_rounds_from {
            TwoRounds::with(|table| {
                run(Some(table));
                // From here, where the variant was called. The caller of this function is a table's
                // length above.
                self.clean_stack(len);
            });
        } else {
            run(None);
        }
    }

    /// Returns the expanded key of AES, and the powers of H for short messages.
    pub(super) fn key(&self) -> &Key {
        &self.key
    }

    /// Checks the lengths of a message and processes what precedes its data.
    #[inline]
    pub(super) fn begin(&self, nonce: &[u8], aad: &[u8], len: usize) -> Result<Preamble, MessageError> {
        Part::Data.check_len(len as u128, MAX_DATA_LEN)?;
        Part::AssociatedData.check_len(aad.len() as u128, MAX_AAD_LEN)?;
        Part::Nonce.check_len(nonce.len() as u128, MAX_AAD_LEN)?;
        let j0 = if let Ok(nonce) = <[u8; 12]>::try_from(nonce) {
            j0(&nonce)
        } else {
            let mut hash = 0;
            self.absorb(nonce, &mut hash);
            self.absorb(&(8 * nonce.len() as u128).to_be_bytes(), &mut hash);
            hash
        };
        let mut aad_hash = 0;
        if !aad.is_empty() {
            self.absorb(aad, &mut aad_hash);
        }
        Ok(Preamble { j0, aad_hash, aad_len: aad.len() as u64 })
    }

    /// Wipes what a variant may have spilled to the stack for `len` bytes. It is called from where
    /// the variant was called. Opening with 512-bit registers has the largest frame, 1.1 KiB. The
    /// frames of a short message and of its associated data have at most 0.3 KiB: with 256-bit
    /// registers, wiping 1.1 KiB took a third of the time of such a message.
    #[inline(always)]
    pub(super) fn clean_stack(&self, len: usize) {
        if len > SHORT {
            wipe_dead_stack::<144>();
        } else if self.variant.spills() {
            wipe_dead_stack::<48>();
        }
    }

    /// Continues GHASH with `bytes`, padded with zeros to whole blocks.
    pub(super) fn absorb(&self, bytes: &[u8], hash: &mut u128) {
        if bytes.len() <= 16 * SHORT_POWERS {
            self.variant.absorb_short(&self.key.short_powers, bytes, hash);
        } else {
            self.variant.absorb(self.bulk_powers(), bytes, hash);
        }
    }

    /// XORs the keystream into `data`, from the block of `counter` on.
    #[inline]
    pub(super) fn apply_keystream(&self, counter: u128, data: InOut<'_>) {
        self.variant.apply_keystream(self.size, &self.key, counter, data);
    }

    /// Returns the precomputed first round for long messages. With a hashed nonce the counter is
    /// secret, so a table must not be indexed with it.
    #[inline]
    pub(super) fn first_round(&self, nonce_len: usize, len: usize) -> Option<&FirstRound> {
        if len <= SHORT || nonce_len != 12 {
            return None;
        }
        let first_round = self.first_round.get().map(|made| &**made);
        #[cfg(feature = "std")]
        let first_round = first_round.or_else(|| {
            let worthwhile = len >= VERY_LONG || len >= LONG && self.seen_long.swap(true, Relaxed);
            worthwhile.then(|| self.set_up_first_round())
        });
        first_round
    }

    #[cold]
    #[cfg(feature = "std")]
    pub(super) fn set_up_first_round(&self) -> &FirstRound {
        self.first_round.get_or_init(|| self.new_first_round())
    }

    /// Used by the self-test only: without a lock, a message cannot store the table in a shared
    /// key.
    #[cfg(not(feature = "std"))]
    pub(super) fn set_up_first_round(&mut self) {
        self.first_round = self.new_first_round().into();
    }

    fn new_first_round(&self) -> Box<FirstRound> {
        let mut first_round = Box::new(FirstRound::EMPTY);
        self.variant.set_up_first_round(&self.key.schedule, &mut first_round);
        first_round
    }

    #[inline]
    pub(super) fn bulk_powers(&self) -> &BulkPowers {
        #[cfg(feature = "std")]
        let aligned = self.bulk_powers.get_or_init(|| self.new_bulk_powers());
        #[cfg(not(feature = "std"))]
        let aligned = self.bulk_powers.get().expect("computed with the key");
        &aligned.0
    }

    fn new_bulk_powers(&self) -> Box<AlignedBulkPowers> {
        let mut aligned = Box::new(AlignedBulkPowers::EMPTY);
        self.variant.set_up_bulk_powers(&self.key.short_powers, &mut aligned.0);
        aligned
    }
}

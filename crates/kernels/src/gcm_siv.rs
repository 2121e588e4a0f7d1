//! AES-GCM-SIV (RFC 8452): authenticated encryption that resists the reuse of a nonce.
//!
//! ```text
//! authentication key, encryption key = derived with AES from the key and the nonce        (section 4)
//! S   = POLYVAL(authentication key, aad, zero-padded || plaintext, zero-padded || bit lengths)
//! tag = AES(encryption key, (S XOR nonce) with the top bit cleared)
//! ciphertext = plaintext XOR AES-CTR(encryption key, tag with the top bit set)            (section 5)
//! ```
//!
//! The initial counter depends on the whole message, so if a nonce is used twice, an attacker only
//! learns whether the two messages are equal. Sealing takes two passes, since the tag precedes the
//! keystream; opening takes one.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::cpu::Features;
use crate::ct;
use crate::error::{KeyError, MessageError, OpenError, Part};
use crate::self_test::gcm_siv::{KEY, KNOWN_ANSWERS, KnownAnswer, NONCE};
use crate::self_test::{TEXT, digest};
use crate::tables::gcm_siv::{GCM_SIV, GcmSivFunctions};
use crate::variant::{Refusal, Selected, Variant, cipher, describe_key};
use crate::vector::Schedule;
use crate::zero::wipe_dead_stack;
use alloc::boxed::Box;

pub(crate) mod batch;
pub(crate) mod body;
mod many;
mod segments;

use body::KeySize;

/// An AES-GCM-SIV key and the variant that computes with it.
///
/// The expanded key lives on the heap, so that moving this value leaves no copy behind, and is
/// wiped on drop. The keys of a message live on the stack and are wiped before the call returns;
/// the portable variant leaves copies.
pub struct GcmSiv {
    schedule: Box<Schedule>,
    size: KeySize,
    variant: Selected<GcmSivFunctions>,
}

/// Largest length of the data, and of the associated data, in bytes (RFC 8452, section 6).
const MAX_LEN: u128 = 1 << 36;
/// Maximum number of bytes of data and associated data for which the registers suffice.
const MAX_UNSPILLED_LEN: usize = 64;

cipher! {
    GCM_SIV: GcmSivFunctions;
    known_answers: KNOWN_ANSWERS;
    passes: passes;
    changed: |answer| [
        KnownAnswer { tag: answer.tag ^ 1, ..answer },
        KnownAnswer { sealed: answer.sealed ^ 1, ..answer },
        KnownAnswer { aad: &[], ..answer },
        KnownAnswer { plain: &answer.plain[1..], ..answer },
    ];
}

describe_key! { GcmSiv { size } }

impl GcmSiv {
    /// Sets up a key of 16 or 32 bytes for the widest variant that `features` allow and that passes
    /// its self-test.
    ///
    /// # Errors
    /// Returns [`KeyError::InvalidLength`] for any other length, and [`KeyError::SelfTestFailed`]
    /// if no variant passes.
    pub fn new(key: &[u8], features: Features) -> Result<Self, KeyError> {
        Self::with_variant(select(features)?, key)
    }

    fn with_variant(variant: Selected<GcmSivFunctions>, key: &[u8]) -> Result<Self, KeyError> {
        let size = KeySize::of(key)?;
        let mut schedule = Box::new(Schedule::EMPTY);
        variant.expand(key, &mut schedule);
        Ok(Self { schedule, size, variant })
    }

    /// Computes the tag and encrypts `data`.
    ///
    /// # Errors
    /// Returns [`MessageError::TooLong`] and writes nothing if data or associated data have more
    /// than 2^36 bytes.
    pub fn seal(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), MessageError> {
        let nonce = check_and_pad(nonce, aad, data.len())?;
        self.variant.seal(self.size, &self.schedule, nonce, aad, &mut data, tag);
        clean_stack(data.len() + aad.len());
        Ok(())
    }

    /// Decrypts `data` and verifies the tag, which covers the associated data, the nonce and the
    /// message.
    ///
    /// The tag covers the plaintext, so if it is wrong, data that was to be decrypted in place is
    /// lost.
    ///
    /// # Errors
    /// Returns [`OpenError::AuthenticationFailed`] if the tag is wrong; the destination is zero
    /// then. Returns [`OpenError::Message`] and writes nothing for the same reasons as
    /// [`Self::seal`].
    pub fn open(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), OpenError> {
        let nonce = check_and_pad(nonce, aad, data.len())?;
        let mut expected_tag = *tag;
        self.variant.open(self.size, &self.schedule, nonce, aad, &mut data, &mut expected_tag);
        clean_stack(data.len() + aad.len());
        ct::verified(&mut expected_tag, tag, data)
    }
}

/// Wipes what a variant may have spilled to the stack. It is called from where the variant was
/// called.
#[inline(always)]
fn clean_stack(len: usize) {
    if len > MAX_UNSPILLED_LEN {
        wipe_dead_stack::<384>();
    }
}

/// Checks the lengths of a message and returns the nonce as a little-endian integer.
fn check_and_pad(nonce: &[u8; 12], aad: &[u8], len: usize) -> Result<u128, MessageError> {
    Part::Data.check_len(len as u128, MAX_LEN)?;
    Part::AssociatedData.check_len(aad.len() as u128, MAX_LEN)?;
    let mut block = [0; 16];
    block[..12].copy_from_slice(nonce);
    Ok(u128::from_le_bytes(block))
}

/// Returns whether a message, sealed out of place and opened in place, has the known results, alone
/// and in a batch.
fn passes(variant: Selected<GcmSivFunctions>, answer: &KnownAnswer) -> bool {
    let Ok(siv) = GcmSiv::with_variant(variant, &KEY[..answer.key_len]) else { return false };
    let (mut data, mut tag) = ([0; TEXT.len()], [0; 16]);
    let data = &mut data[..answer.plain.len()];
    siv.seal(&NONCE, answer.aad, InOut::apart(answer.plain, data), &mut tag).is_ok()
        && u128::from_be_bytes(tag) == answer.tag
        && digest(data) == answer.sealed
        && siv.open(&NONCE, answer.aad, InOut::in_place(data), &tag).is_ok()
        && data == answer.plain
        && crate::batch::self_test(
            answer.plain,
            |nonces, from, to| siv.seal_batch(nonces, answer.aad, from, to).is_ok(),
            |from, to| siv.open_batch(answer.aad, from, to).is_ok(),
            |nonce, data, tag| siv.open(nonce, answer.aad, data, tag).is_ok(),
        )
}

//! AES-GCM (SP 800-38D): AES in counter mode and GHASH in one pass.
//!
//! ```text
//! H  = AES(key, 0)                                          the key of GHASH
//! J0 = nonce || 1                                           if the nonce has 12 bytes, else
//! J0 = GHASH(nonce, zero-padded || 0^64 || bit length)      (section 7.1)
//! ciphertext = data XOR AES(key, inc32(J0)) || AES(key, inc32(inc32(J0))) || …
//! S   = GHASH(aad, zero-padded || ciphertext, zero-padded || bit lengths)
//! tag = S XOR AES(key, J0)
//! ```
//!
//! `inc32` increments the last 32 bits of a counter block modulo 2^32.
//!
//! [`Gcm`] processes whole messages, on one or several threads, and [`Stream`] processes a message
//! in pieces. `crate::ghash` explains how GHASH is computed, and `crate::stitch` how it overlaps
//! with AES.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::cpu::Features;
use crate::error::KeyError;
use crate::self_test::TEXT;
use crate::self_test::gcm::{KEY, KNOWN_ANSWERS, KnownAnswer, NONCE};
use crate::tables::gcm::{GCM, GcmFunctions};
use crate::variant::{Refusal, Selected, Variant, cipher};

pub(crate) mod batch;
pub(crate) mod body;
mod key;
mod segments;
mod stream;

pub use key::Gcm;
pub use stream::Stream;

cipher! {
    GCM: GcmFunctions;
    known_answers: KNOWN_ANSWERS;
    passes: passes;
    changed: |answer| [
        KnownAnswer { tag: answer.tag ^ 1, ..answer },
        KnownAnswer { aad: &[], ..answer },
        KnownAnswer { plain: &answer.plain[1..], ..answer },
    ];
}

impl Gcm {
    /// Sets up a key of 16, 24 or 32 bytes for the widest variant that `features` allow and that
    /// passes its self-test.
    ///
    /// # Errors
    /// Returns [`KeyError::InvalidLength`] for any other length, and [`KeyError::SelfTestFailed`]
    /// if no variant passes.
    pub fn new(key: &[u8], features: Features) -> Result<Self, KeyError> {
        Self::with_variant(select(features)?, key)
    }
}

/// Returns whether a message has the known tag when it is sealed out of place and in pieces, and
/// opens in place.
fn passes(variant: Selected<GcmFunctions>, answer: &KnownAnswer) -> bool {
    let Ok(mut gcm) = Gcm::with_variant(variant, &KEY[..answer.key_len]) else { return false };
    if !answer.precompute {
        return agrees(&gcm, answer);
    }
    gcm.set_up_first_round();
    [usize::MAX, 0].into_iter().all(|len| {
        gcm.precompute_two_rounds_from(len);
        agrees(&gcm, answer)
    })
}

fn agrees(gcm: &Gcm, answer: &KnownAnswer) -> bool {
    let (mut data, mut tag) = ([0; TEXT.len()], [0; 16]);
    let data = &mut data[..answer.plain.len()];
    gcm.seal(&NONCE, answer.aad, InOut::apart(answer.plain, data), &mut tag).is_ok()
        && u128::from_be_bytes(tag) == answer.tag
        && tag_in_pieces(gcm, answer) == Some(answer.tag)
        && crate::batch::self_test(
            answer.plain,
            |nonces, from, to| gcm.seal_batch(nonces, answer.aad, from, to).is_ok(),
            |from, to| gcm.open_batch(answer.aad, from, to).is_ok(),
            |nonce, data, tag| gcm.open(nonce, answer.aad, data, tag).is_ok(),
        )
        && gcm.open(&NONCE, answer.aad, InOut::in_place(data), &tag).is_ok()
        && data == answer.plain
}

/// Returns the tag of a message that is cut inside a block.
fn tag_in_pieces(gcm: &Gcm, answer: &KnownAnswer) -> Option<u128> {
    let mut data = [0; TEXT.len()];
    let mut data = InOut::apart(answer.plain, &mut data[..answer.plain.len()]);
    let (cut, len) = (data.len() / 3, data.len());
    let mut stream = Stream::begin(gcm, &NONCE).ok()?;
    stream.aad(answer.aad).ok()?;
    stream.encrypt(data.part(0, cut)).ok()?;
    stream.encrypt(data.part(cut, len - cut)).ok()?;
    Some(u128::from_be_bytes(stream.finish()))
}

//! AES-GCM-SIV (RFC 8452): counter mode under a counter that the message itself determines, so that a nonce used twice
//! tells no more than whether two messages are the same.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::aes::Size;
use crate::aes::answers::{TEXT, digest};
use crate::cpu::Features;
use crate::ct;
use crate::error::{KeyError, MessageError, OpenError, Part};
use crate::variant::{self, Picked, Refusal, Row, SIV, SivFunctions};
use crate::vector::Schedule;
use crate::zero::{wipe, wipe_dead_stack};
use core::fmt;

pub(crate) mod answers;
pub(crate) mod body;

/// An AES-GCM-SIV key, and the row that computes with it.
///
/// What the key becomes lives on the heap, so moving this value leaves no copy behind, and is wiped when it is dropped.
/// What each message derives from it lives on the stack, and is wiped before the call returns.
pub struct GcmSiv {
    schedule: Box<Schedule>,
    size: Size,
    row: Picked<SivFunctions>,
}

/// The longest data, and the longest additional data (RFC 8452, section 6).
const LONGEST: u128 = 1 << 36;
/// Bytes for which there are enough registers.
const ROOM: usize = 64;

/// All rows that this build has, widest first. The last, `"portable"`, needs nothing.
pub fn variants() -> impl Iterator<Item = Row> {
    variant::rows(SIV)
}

/// Each of them with what speaks against using it. Proves those that nobody has used yet, as the iterator gets there.
pub fn check(features: Features) -> impl Iterator<Item = (Row, Result<(), Refusal>)> {
    variant::check(SIV, features)
}

impl GcmSiv {
    /// Sets up a key of 16 or 32 bytes for the widest row that `features` allow and that passes its self-test.
    pub fn new(key: &[u8], features: Features) -> Result<Self, KeyError> {
        Self::on(variant::pick(SIV, features)?, key)
    }

    fn on(row: Picked<SivFunctions>, key: &[u8]) -> Result<Self, KeyError> {
        let size = match Size::of(key)? {
            Size::Bits192 => return Err(KeyError::InvalidLength(key.len())),
            size => size,
        };
        let mut schedule = Box::new(Schedule::EMPTY);
        row.expand(key, &mut schedule);
        Ok(Self { schedule, size, row })
    }

    /// The row: `"vaes512"`, `"vaes256"`, `"aesni"`, `"neon-aes"` or `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.row.name()
    }

    /// Makes the tag, and then encrypts `data`: two passes, because the tag is what the counter begins with.
    pub fn seal(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), MessageError> {
        let nonce = begin(nonce, aad, data.len())?;
        let (schedule, row) = (&self.schedule, self.row);
        match self.size {
            Size::Bits256 => row.seal_256(schedule, nonce, aad, &mut data, tag),
            _ => row.seal_128(schedule, nonce, aad, &mut data, tag),
        }
        clean(data.len() + aad.len());
        Ok(())
    }

    /// Decrypts `data` if the tag is right.
    ///
    /// It has to decrypt before it can check, so a source that is also the destination is lost where it was forged.
    pub fn open(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), OpenError> {
        let nonce = begin(nonce, aad, data.len())?;
        let (schedule, row) = (&self.schedule, self.row);
        let mut right = *tag;
        match self.size {
            Size::Bits256 => row.open_256(schedule, nonce, aad, &mut data, &mut right),
            _ => row.open_128(schedule, nonce, aad, &mut data, &mut right),
        }
        clean(data.len() + aad.len());
        if ct::equal(&right, tag) {
            return Ok(());
        }
        data.target().fill(0);
        // It would be the tag of that plaintext.
        wipe(&mut right);
        Err(OpenError::AuthenticationFailed)
    }
}

/// After the row has computed, and from where it was called: what it may have parked on the stack.
#[inline(always)]
fn clean(len: usize) {
    if len > ROOM {
        wipe_dead_stack::<384>();
    }
}

/// The nonce as a little-endian integer.
fn begin(nonce: &[u8; 12], aad: &[u8], len: usize) -> Result<u128, MessageError> {
    Part::Data.check_len(len as u128, LONGEST)?;
    Part::AssociatedData.check_len(aad.len() as u128, LONGEST)?;
    let mut block = [0; 16];
    block[..12].copy_from_slice(nonce);
    Ok(u128::from_le_bytes(block))
}

impl fmt::Debug for GcmSiv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GcmSiv")
            .field("size", &self.size)
            .field("variant", &self.variant())
            .finish_non_exhaustive()
    }
}

/// Whether a row computes what is known, sealing apart and opening in place.
pub(crate) fn proof(row: Picked<SivFunctions>) -> bool {
    answers::ANSWERS.iter().all(|answer| computes(row, answer))
}

fn computes(row: Picked<SivFunctions>, answer: &answers::Answer) -> bool {
    use answers::{KEY, NONCE};
    let Ok(siv) = GcmSiv::on(row, &KEY[..answer.key]) else { return false };
    let (mut data, mut tag) = ([0; TEXT.len()], [0; 16]);
    let data = &mut data[..answer.plain.len()];
    siv.seal(&NONCE, answer.aad, InOut::apart(answer.plain, data), &mut tag).is_ok()
        && u128::from_be_bytes(tag) == answer.tag
        && digest(data) == answer.sealed
        && siv.open(&NONCE, answer.aad, InOut::in_place(data), &tag).is_ok()
        && data == answer.plain
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "large")]
    fn a_changed_answer_is_a_wrong_one() {
        for row in variants().filter(|row| row.check(Features::detect()).is_ok()) {
            let picked = variant::pick(SIV, Features::detect().only(row.needs)).unwrap();
            assert_eq!(picked.name(), row.name);
            for answer in answers::ANSWERS {
                assert!(computes(picked, &answer), "{} {}", row.name, answer.key);
                assert!(!computes(picked, &answers::Answer { tag: answer.tag ^ 1, ..answer }));
                assert!(!computes(picked, &answers::Answer { sealed: answer.sealed ^ 1, ..answer }));
                assert!(!computes(picked, &answers::Answer { aad: &[], ..answer }));
                assert!(!computes(picked, &answers::Answer { plain: &answer.plain[1..], ..answer }));
            }
        }
    }
}

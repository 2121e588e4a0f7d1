//! AEGIS (RFC 10032): encryption and authentication in one state of AES rounds, with 16-byte tags.
//!
//! The six algorithms are two families of three degrees. A degree of two or four keeps as many states side by
//! side and is faster where registers are wider; it is another algorithm, whose messages the others do not
//! open.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::aes::answers::{TEXT, digest};
use crate::cpu::Features;
use crate::ct;
use crate::error::{KeyError, MessageError, OpenError, Part};
use crate::variant::{self, AEGIS, AegisFunctions, Picked, Refusal, Row};
use crate::zero::{wipe, wipe_dead_stack};
use body::Key;
use core::fmt;

pub(crate) mod answers;
pub(crate) mod body;

/// Which of the algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// AEGIS-128L (RFC 10032, section 3).
    Aegis128L,
    /// AEGIS-128X2 (section 5.4).
    Aegis128X2,
    /// AEGIS-128X4 (section 5.4).
    Aegis128X4,
    /// AEGIS-256 (section 4).
    Aegis256,
    /// AEGIS-256X2 (section 5.5).
    Aegis256X2,
    /// AEGIS-256X4 (section 5.5).
    Aegis256X4,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Aegis128L,
        Self::Aegis128X2,
        Self::Aegis128X4,
        Self::Aegis256,
        Self::Aegis256X2,
        Self::Aegis256X4,
    ];

    /// Bytes of a key: 16 or 32.
    pub const fn key_len(self) -> usize {
        match self {
            Self::Aegis128L | Self::Aegis128X2 | Self::Aegis128X4 => 16,
            Self::Aegis256 | Self::Aegis256X2 | Self::Aegis256X4 => 32,
        }
    }

    /// States side by side: 1, 2 or 4.
    pub const fn degree(self) -> usize {
        match self {
            Self::Aegis128L | Self::Aegis256 => 1,
            Self::Aegis128X2 | Self::Aegis256X2 => 2,
            Self::Aegis128X4 | Self::Aegis256X4 => 4,
        }
    }

    /// Bytes of a nonce: as many as of a key.
    pub const fn nonce_len(self) -> usize {
        self.key_len()
    }
}

/// An AEGIS key, and the row that computes with it.
///
/// The key lives on the heap, so moving this value leaves no copy behind, and is wiped when it is dropped.
pub struct Aegis {
    key: Box<Key>,
    kind: Kind,
    row: Picked<AegisFunctions>,
    /// Whether the row leaves states on the stack: `make test-ct` finds them where they are not wiped.
    spills: bool,
}

/// The longest data, and the longest additional data (RFC 10032, sections 3 and 4): its length in bits
/// has 64 of them.
const LONGEST: u128 = (1 << 61) - 1;

/// All rows that this build has, widest first. The last, `"portable"`, needs nothing.
pub fn variants() -> impl Iterator<Item = Row> {
    variant::rows(AEGIS)
}

/// Each of them with what speaks against using it. Proves those that nobody has used yet, as the iterator
/// gets there.
pub fn check(features: Features) -> impl Iterator<Item = (Row, Result<(), Refusal>)> {
    variant::check(AEGIS, features)
}

impl Aegis {
    /// Copies a key of [`Kind::key_len`] bytes for the widest row that `features` allow and that passes its
    /// self-test.
    pub fn new(kind: Kind, key: &[u8], features: Features) -> Result<Self, KeyError> {
        Self::on(variant::pick(AEGIS, features)?, kind, key)
    }

    fn on(row: Picked<AegisFunctions>, kind: Kind, key: &[u8]) -> Result<Self, KeyError> {
        if key.len() != kind.key_len() {
            return Err(KeyError::InvalidLength(key.len()));
        }
        let mut copy = Box::new(Key([0; 32]));
        copy.0[..key.len()].copy_from_slice(key);
        let mut register_degree = 0;
        row.register_degree(&mut register_degree);
        Ok(Self { key: copy, kind, row, spills: kind.degree() > register_degree })
    }

    /// Which of the algorithms it is for.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The row: `"vaes512"`, `"vaes256"`, `"aesni"`, `"neon-aes"` or `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.row.name()
    }

    /// Encrypts `data` and makes the tag.
    pub fn seal(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), MessageError> {
        check_lengths(self.kind, nonce, aad.len(), data.len())?;
        let (key, row, data) = (&self.key, self.row, &mut data);
        match self.kind {
            Kind::Aegis128L => row.seal_128l(key, nonce, aad, data, tag),
            Kind::Aegis128X2 => row.seal_128x2(key, nonce, aad, data, tag),
            Kind::Aegis128X4 => row.seal_128x4(key, nonce, aad, data, tag),
            Kind::Aegis256 => row.seal_256(key, nonce, aad, data, tag),
            Kind::Aegis256X2 => row.seal_256x2(key, nonce, aad, data, tag),
            Kind::Aegis256X4 => row.seal_256x4(key, nonce, aad, data, tag),
        }
        self.clean();
        Ok(())
    }

    /// Decrypts `data` if the tag is right.
    ///
    /// It has to decrypt before it can check, so a source that is also the destination is lost where it was
    /// forged.
    pub fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), OpenError> {
        check_lengths(self.kind, nonce, aad.len(), data.len())?;
        let (key, row, mut right) = (&self.key, self.row, [0; 16]);
        match self.kind {
            Kind::Aegis128L => row.open_128l(key, nonce, aad, &mut data, &mut right),
            Kind::Aegis128X2 => row.open_128x2(key, nonce, aad, &mut data, &mut right),
            Kind::Aegis128X4 => row.open_128x4(key, nonce, aad, &mut data, &mut right),
            Kind::Aegis256 => row.open_256(key, nonce, aad, &mut data, &mut right),
            Kind::Aegis256X2 => row.open_256x2(key, nonce, aad, &mut data, &mut right),
            Kind::Aegis256X4 => row.open_256x4(key, nonce, aad, &mut data, &mut right),
        }
        self.clean();
        if ct::equal(&right, tag) {
            return Ok(());
        }
        data.target().fill(0);
        // It would be the tag of that ciphertext.
        wipe(&mut right);
        Err(OpenError::AuthenticationFailed)
    }

    /// After the row has computed, and from where it was called: what it may have parked on the stack.
    #[inline(always)]
    fn clean(&self) {
        if self.spills {
            wipe_dead_stack::<512>();
        }
    }
}

/// Checks the lengths of a message; `aad` and `data` are numbers of bytes.
fn check_lengths(kind: Kind, nonce: &[u8], aad: usize, data: usize) -> Result<(), MessageError> {
    if nonce.len() != kind.nonce_len() {
        return Err(MessageError::InvalidNonceLength { found: nonce.len(), expected: kind.nonce_len() });
    }
    Part::Data.check_len(data as u128, LONGEST)?;
    Part::AssociatedData.check_len(aad as u128, LONGEST)
}

impl fmt::Debug for Aegis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aegis")
            .field("kind", &self.kind)
            .field("variant", &self.variant())
            .finish_non_exhaustive()
    }
}

/// Whether a row computes what is known, sealing apart and opening in place.
pub(crate) fn proof(row: Picked<AegisFunctions>) -> bool {
    // Miri would take minutes for all of them, in every test.
    let few = if cfg!(miri) { 1 } else { answers::ANSWERS.len() };
    answers::ANSWERS[..few].iter().all(|answer| computes(row, answer))
}

fn computes(row: Picked<AegisFunctions>, answer: &answers::Answer) -> bool {
    use answers::{KEY, NONCE};
    let fits = |kind: &Kind| (kind.key_len(), kind.degree()) == (answer.key, answer.degree);
    let Some(kind) = Kind::ALL.into_iter().find(fits) else { return false };
    let Ok(aegis) = Aegis::on(row, kind, &KEY[..answer.key]) else { return false };
    let nonce = &NONCE[..answer.key];
    let (mut data, mut tag) = ([0; TEXT.len()], [0; 16]);
    let data = &mut data[..answer.plain.len()];
    aegis.seal(nonce, answer.aad, InOut::apart(answer.plain, data), &mut tag).is_ok()
        && u128::from_be_bytes(tag) == answer.tag
        && digest(data) == answer.sealed
        && aegis.open(nonce, answer.aad, InOut::in_place(data), &tag).is_ok()
        && data == answer.plain
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "large")]
    fn a_changed_answer_is_a_wrong_one() {
        for row in variants().filter(|row| row.check(Features::detect()).is_ok()) {
            let picked = variant::pick(AEGIS, Features::detect().only(row.needs)).unwrap();
            assert_eq!(picked.name(), row.name);
            for answer in answers::ANSWERS {
                assert!(computes(picked, &answer), "{} {} {}", row.name, answer.key, answer.degree);
                assert!(!computes(picked, &answers::Answer { tag: answer.tag ^ 1, ..answer }));
                assert!(!computes(picked, &answers::Answer { sealed: answer.sealed ^ 1, ..answer }));
                assert!(!computes(picked, &answers::Answer { aad: &[], ..answer }));
                assert!(!computes(picked, &answers::Answer { plain: &answer.plain[1..], ..answer }));
            }
        }
    }

    #[test]
    fn rejects_other_nonce_lengths_and_longer_messages() {
        for kind in Kind::ALL {
            let (nonce, expected, limit) = ([0; 100], kind.nonce_len(), LONGEST as usize);
            for found in 0..100 {
                let checked = check_lengths(kind, &nonce[..found], limit, limit);
                let wrong = Err(MessageError::InvalidNonceLength { found, expected });
                assert_eq!(checked, if found == expected { Ok(()) } else { wrong });
            }
            let nonce = &nonce[..expected];
            let too_long = |part| Err(MessageError::TooLong { part, found: LONGEST + 1, limit: LONGEST });
            assert_eq!(check_lengths(kind, nonce, limit + 1, 0), too_long(Part::AssociatedData));
            assert_eq!(check_lengths(kind, nonce, 0, limit + 1), too_long(Part::Data));
        }
    }
}

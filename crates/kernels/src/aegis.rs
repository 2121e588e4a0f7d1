//! AEGIS (RFC 10032) with 16-byte tags, which encrypts and authenticates with one state that is updated by AES rounds.
//!
//! There are six algorithms: AEGIS-128L and AEGIS-256, each with the degree 1, 2 or 4. An algorithm of degree 2 or 4
//! updates as many states in parallel and is faster on wide registers. Its messages are not compatible with the other
//! degrees. For example, AEGIS-128X2 cannot open a message of AEGIS-128L.
//!
//! `body` shows the algorithm and has its implementation.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::cpu::Features;
use crate::ct;
use crate::error::{KeyError, MessageError, OpenError, Part};
use crate::self_test::aegis::{KEY, KNOWN_ANSWERS, KnownAnswer, NONCE};
use crate::self_test::{TEXT, digest};
use crate::variant::aegis::{AEGIS, AegisFunctions};
use crate::variant::{Refusal, Selected, Variant, cipher, describe_key};
use crate::zero::wipe_dead_stack;
use alloc::boxed::Box;

pub(crate) mod body;
pub(crate) mod kind;

use body::Key;
pub use kind::Kind;

/// An AEGIS key and the variant that computes with it.
///
/// The key is on the heap, so moving this value leaves no copy of it behind, and it is wiped on drop.
///
/// ```
/// use kernels::{InOut, aegis::{Aegis, Kind}, cpu::Features};
///
/// let key = Aegis::new(Kind::Aegis128L, &[7; 16], Features::detect())?;
/// let (mut data, mut tag) = (*b"hello", [0; 16]);
/// key.seal(&[1; 16], b"header", InOut::in_place(&mut data), &mut tag).unwrap();
/// key.open(&[1; 16], b"header", InOut::in_place(&mut data), &tag).unwrap();
/// assert_eq!(&data, b"hello");
/// # Ok::<(), kernels::error::KeyError>(())
/// ```
pub struct Aegis {
    key: Box<Key>,
    kind: Kind,
    variant: Selected<AegisFunctions>,
    /// Whether the variant leaves states on the stack. `make -C tests ct` finds states that are not wiped.
    spills: bool,
}

/// Maximum number of bytes of the data, and of the associated data (RFC 10032, sections 3 and 4), because their length
/// in bits is written with 64 bits.
const LONGEST: u128 = (1 << 61) - 1;

cipher! {
    AEGIS: AegisFunctions;
    // Miri would need minutes for all of them in every test.
    known_answers: KNOWN_ANSWERS[..if cfg!(miri) { 1 } else { KNOWN_ANSWERS.len() }];
    passes: passes;
    changed: |answer| [
        KnownAnswer { tag: answer.tag ^ 1, ..answer },
        KnownAnswer { sealed: answer.sealed ^ 1, ..answer },
        KnownAnswer { aad: &[], ..answer },
        KnownAnswer { plain: &answer.plain[1..], ..answer },
    ];
}

describe_key! { Aegis { kind } }

impl Aegis {
    /// Copies a key of [`Kind::key_len`] bytes for the widest variant that `features` allow and that passes its
    /// self-test.
    ///
    /// # Errors
    /// Returns [`KeyError::InvalidLength`] for any other length, and [`KeyError::SelfTestFailed`] if no variant passes.
    pub fn new(kind: Kind, key: &[u8], features: Features) -> Result<Self, KeyError> {
        Self::with_variant(select(features)?, kind, key)
    }

    fn with_variant(variant: Selected<AegisFunctions>, kind: Kind, key: &[u8]) -> Result<Self, KeyError> {
        if key.len() != kind.key_len() {
            return Err(KeyError::InvalidLength(key.len()));
        }
        let mut copy = Box::new(Key([0; 32]));
        copy.0[..key.len()].copy_from_slice(key);
        let mut register_degree = 0;
        variant.register_degree(&mut register_degree);
        Ok(Self { key: copy, kind, variant, spills: kind.degree() > register_degree })
    }

    /// Returns the algorithm of this key, one of the six of AEGIS.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Encrypts `data` and writes the tag to `tag`.
    ///
    /// # Errors
    /// Returns a [`MessageError`] and writes nothing if a length is wrong or too large.
    pub fn seal(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), MessageError> {
        check_lengths(self.kind, nonce, aad.len(), data.len())?;
        self.variant.seal(self.kind, &self.key, nonce, aad, &mut data, tag);
        self.clean();
        Ok(())
    }

    /// Verifies the tag over the associated data and the message, and decrypts `data`.
    ///
    /// The tag is verified after decryption, so if it is wrong, data that were to be decrypted in place are lost.
    ///
    /// # Errors
    /// Returns [`OpenError::AuthenticationFailed`] if the tag is wrong; the destination is zero then. Returns a
    /// [`MessageError`] and writes nothing for the same reasons as [`Aegis::seal`].
    pub fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), OpenError> {
        check_lengths(self.kind, nonce, aad.len(), data.len())?;
        let mut expected_tag = [0; 16];
        self.variant.open(self.kind, &self.key, nonce, aad, &mut data, &mut expected_tag);
        self.clean();
        ct::verified(&mut expected_tag, tag, data)
    }

    /// Wipes what a variant may have spilled to the stack. It is called from where the variant was called.
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

/// Returns whether a message that is sealed out of place and opened in place has the known results.
fn passes(variant: Selected<AegisFunctions>, answer: &KnownAnswer) -> bool {
    let is_meant = |kind: &Kind| (kind.key_len(), kind.degree()) == (answer.key_len, answer.degree);
    let Some(kind) = Kind::ALL.into_iter().find(is_meant) else { return false };
    let Ok(aegis) = Aegis::with_variant(variant, kind, &KEY[..answer.key_len]) else { return false };
    let nonce = &NONCE[..answer.key_len];
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
    fn rejects_other_nonce_lengths() {
        for kind in Kind::ALL {
            let (nonce, expected) = ([0; 100], kind.nonce_len());
            for found in 0..100 {
                let checked = check_lengths(kind, &nonce[..found], 0, 0);
                let wrong = Err(MessageError::InvalidNonceLength { found, expected });
                assert_eq!(checked, if found == expected { Ok(()) } else { wrong });
            }
        }
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn rejects_longer_messages() {
        for kind in Kind::ALL {
            let (nonce, limit) = (&[0; 100][..kind.nonce_len()], LONGEST as usize);
            assert_eq!(check_lengths(kind, nonce, limit, limit), Ok(()));
            let too_long = |part| Err(MessageError::TooLong { part, found: LONGEST + 1, limit: LONGEST });
            assert_eq!(check_lengths(kind, nonce, limit + 1, 0), too_long(Part::AssociatedData));
            assert_eq!(check_lengths(kind, nonce, 0, limit + 1), too_long(Part::Data));
        }
    }
}

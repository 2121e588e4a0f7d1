//! AEGIS (RFC 10032) with 16-byte tags, which encrypts and authenticates with one state that is
//! updated by AES rounds.
//!
//! There are six algorithms: AEGIS-128L and AEGIS-256, each with the degree 1, 2 or 4. An algorithm
//! of degree 2 or 4 updates as many states in parallel and is faster on wide registers. Its
//! messages are not compatible with the other degrees. For example, AEGIS-128X2 cannot open a
//! message of AEGIS-128L.
//!
//! `body` shows the algorithm and has its implementation.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::cpu::Features;
use crate::ct;
use crate::error::{KeyError, MessageError, OpenError};
use crate::self_test::aegis::{KEY, KNOWN_ANSWERS, KnownAnswer, NONCE};
use crate::self_test::{TEXT, digest};
use crate::tables::aegis::{AEGIS, AegisFunctions};
use crate::variant::{Refusal, Selected, Variant, cipher, describe_key};
use crate::zero::wipe_dead_stack;
use alloc::boxed::Box;

pub(crate) mod body;
pub(crate) mod kind;

use body::Key;
pub use kind::Kind;

/// An AEGIS key and the variant that computes with it.
///
/// The key is on the heap, so moving this value leaves no copy of it behind, and it is wiped on
/// drop.
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
    /// Whether the variant leaves states on the stack. `make -C tests ct` finds states that are not
    /// wiped.
    spills: bool,
}

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
    /// Copies a key of [`Kind::key_len`] bytes for the widest variant that `features` allow and
    /// that passes its self-test.
    ///
    /// # Errors
    /// Returns [`KeyError::InvalidLength`] for any other length, and [`KeyError::SelfTestFailed`]
    /// if no variant passes.
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
        self.kind.check_lengths(nonce, aad.len(), data.len())?;
        self.variant.seal(self.kind, &self.key, nonce, aad, &mut data, tag);
        self.clean();
        Ok(())
    }

    /// Verifies the tag over the associated data and the message, and decrypts `data`.
    ///
    /// The tag is verified after decryption, so if it is wrong, data that were to be decrypted in
    /// place are lost.
    ///
    /// # Errors
    /// Returns [`OpenError::AuthenticationFailed`] if the tag is wrong; the destination is zero
    /// then. Returns a [`MessageError`] and writes nothing for the same reasons as
    /// [`Aegis::seal`].
    pub fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), OpenError> {
        self.kind.check_lengths(nonce, aad.len(), data.len())?;
        let mut expected_tag = [0; 16];
        self.variant.open(self.kind, &self.key, nonce, aad, &mut data, &mut expected_tag);
        self.clean();
        ct::verified(&mut expected_tag, tag, data)
    }

    /// Wipes what a variant may have spilled to the stack. It is called from where the variant was
    /// called.
    #[inline(always)]
    fn clean(&self) {
        if self.spills {
            wipe_dead_stack::<512>();
        }
    }
}

/// Returns whether a message, sealed out of place and opened in place, has the known results.
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

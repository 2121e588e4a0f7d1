//! Every variant of AEGIS against the reference implementation, for all six algorithms.

use crate::layout::Aead;
use kernels::InOut;
use kernels::aegis::{self, Aegis, Kind};
use kernels::cpu::Features;
use kernels::error::{KeyError, MessageError, OpenError};
use kernels::variant::Variant;
use reference::aegis::Aegis as Reference;

/// The algorithm with a key of `BITS` bits and this degree.
pub(crate) struct One<const BITS: usize, const DEGREE: usize>(Aegis);

impl<const BITS: usize, const DEGREE: usize> Aead for One<BITS, DEGREE> {
    type Reference = Reference;

    const KEY_BITS: &'static [usize] = &[BITS];
    const NONCES: &'static [usize] = &[BITS / 8];
    const LONGEST: u64 = (1 << 61) - 1;
    const LONGEST_AAD: Option<u64> = Some((1 << 61) - 1);

    fn variants() -> impl Iterator<Item = Variant> {
        aegis::variants()
    }

    fn new(key: &[u8], features: Features) -> Self {
        let fits = |kind: &Kind| (8 * kind.key_len(), kind.degree()) == (BITS, DEGREE);
        let kind = Kind::ALL.into_iter().find(fits).unwrap();
        Self(Aegis::new(kind, key, features).unwrap())
    }

    fn variant(&self) -> &'static str {
        self.0.variant()
    }

    fn seal(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), MessageError> {
        self.0.seal(nonce, aad, data, tag)
    }

    fn open(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> Result<(), OpenError> {
        self.0.open(nonce, aad, data, tag)
    }

    fn reference(key: &[u8]) -> Reference {
        Reference::new(key, DEGREE)
    }

    fn seal_vartime(reference: &Reference, nonce: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
        reference.seal_vartime(nonce, aad, plain)
    }

    /// AEGIS has no counter.
    fn wrapping(_: &Reference, _: u32, _: usize) -> Option<[Vec<u8>; 3]> {
        None
    }
}

macro_rules! each {
    ($($name:ident: $bits:literal, $degree:literal;)*) => {$(
        mod $name {
            in_every_layout!(crate::every_aegis::One<$bits, $degree>, #[cfg_attr(miri, ignore = "large")]);
        }
    )*};
}
each! {
    aegis_128l: 128, 1;
    aegis_128x2: 128, 2;
    aegis_128x4: 128, 4;
    aegis_256: 256, 1;
    aegis_256x2: 256, 2;
    aegis_256x4: 256, 4;
}

/// A test of every degree and key size that is small enough for Miri, which checks every access
/// without guard pages.
#[test]
fn selected_lengths_of_every_algorithm() {
    for kind in Kind::ALL.into_iter().step_by(if cfg!(miri) { 2 } else { 1 }) {
        let (key, nonce, aad) = (vec![3; kind.key_len()], vec![5; kind.nonce_len()], [9; 5]);
        let aegis = Aegis::new(kind, &key, Features::detect()).unwrap();
        assert!(!cfg!(miri) || aegis.variant() == "portable", "Miri has no other instructions");
        // Somewhat more than the data of one update.
        let plain = vec![7; 33 * kind.degree() + 4];
        let (sealed, want) = Reference::new(&key, kind.degree()).seal_vartime(&nonce, &aad, &plain);
        let (mut data, mut tag) = (vec![0xee; plain.len()], [0xee; 16]);
        aegis.seal(&nonce, &aad, InOut::apart(&plain, &mut data), &mut tag).unwrap();
        assert_eq!((&data, tag), (&sealed, want), "{kind:?}");
        aegis.open(&nonce, &aad, InOut::in_place(&mut data), &tag).unwrap();
        assert_eq!(data, plain, "{kind:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn other_algorithms_reject_the_message() {
    for kind in Kind::ALL {
        let (key, nonce) = (vec![3; kind.key_len()], vec![5; kind.nonce_len()]);
        let (mut data, mut tag) = ([7; 40], [0; 16]);
        let new = |kind| Aegis::new(kind, &key, Features::detect()).unwrap();
        new(kind).seal(&nonce, &[], InOut::in_place(&mut data), &mut tag).unwrap();
        for other in Kind::ALL.into_iter().filter(|other| other.key_len() == kind.key_len()) {
            let mut copy = data;
            let opened = new(other).open(&nonce, &[], InOut::in_place(&mut copy), &tag);
            assert_eq!(opened.is_ok(), other == kind, "{other:?} opening {kind:?}");
        }
    }
}

#[test]
fn rejects_other_key_and_nonce_lengths() {
    for kind in Kind::ALL {
        for len in 0..100 {
            let bytes = vec![1; len];
            let made = Aegis::new(kind, &bytes, Features::detect());
            assert_eq!(
                made.err(),
                (len != kind.key_len()).then_some(KeyError::InvalidLength(len)),
                "{kind:?}"
            );
            if len == kind.nonce_len() {
                continue;
            }
            let key = Aegis::new(kind, &vec![1; kind.key_len()], Features::detect()).unwrap();
            let (mut data, mut tag) = ([0xcd; 20], [0xab; 16]);
            let sealed = key.seal(&bytes, &[], InOut::in_place(&mut data), &mut tag);
            let wrong = MessageError::InvalidNonceLength { found: len, expected: kind.nonce_len() };
            assert_eq!(sealed, Err(wrong));
            let opened = key.open(&bytes, &[], InOut::in_place(&mut data), &tag);
            assert_eq!(opened, Err(OpenError::Message(wrong)));
            assert_eq!((data, tag), ([0xcd; 20], [0xab; 16]));
        }
    }
}

#[test]
fn keys_are_send_and_sync_and_debug_hides_them() {
    fn crosses<T: Send + Sync>(_: &T) {}
    let key = Aegis::new(Kind::Aegis256, &[0x6b; 32], Features::NONE).unwrap();
    crosses(&key);
    assert_eq!(format!("{key:?}"), r#"Aegis { kind: Aegis256, variant: "portable", .. }"#);
}

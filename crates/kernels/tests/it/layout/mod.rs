//! Tests of every variant of an AEAD against its reference implementation, for all layouts of the
//! arguments in memory.
//!
//! A test module implements [`Aead`] for its cipher, and `in_every_layout!` defines the tests.

use crate::guarded::{Edge, GuardedBuffer, Pages};
use crate::variants::{available, every};
use kernels::InOut;
use kernels::cpu::Features;
use kernels::error::{MessageError, OpenError, Part};
use kernels::variant::Variant;
use std::sync::Once;

const AAD_LENGTHS: [usize; 14] = [0, 1, 12, 13, 15, 16, 17, 64, 127, 128, 129, 255, 511, 1000];
const MARGIN: usize = 80;

/// A cipher of the kernels and its reference implementation.
pub(crate) trait Aead: Sized {
    type Reference;

    const KEY_BITS: &'static [usize];
    /// Lengths of nonces in bytes, beginning with the usual one.
    const NONCES: &'static [usize];
    /// Maximum length of the data in bytes.
    const LONGEST: u64;
    /// Maximum length of the associated data in bytes, if more would fit into an address space.
    const LONGEST_AAD: Option<u64>;

    /// Length of the usual nonce in bytes.
    const NONCE: usize = Self::NONCES[0];

    fn variants() -> impl Iterator<Item = Variant>;
    fn new(key: &[u8], features: Features) -> Self;
    fn variant(&self) -> &'static str;
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16])
    -> Result<(), MessageError>;
    fn open(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> Result<(), OpenError>;

    fn reference(key: &[u8]) -> Self::Reference;
    fn seal_vartime(
        reference: &Self::Reference,
        nonce: &[u8],
        aad: &[u8],
        plain: &[u8],
    ) -> (Vec<u8>, [u8; 16]);
    /// Returns a nonce, associated data and a plaintext of `len` bytes for which the counter begins
    /// `before` steps before it wraps, or `None` if there are none.
    fn wrapping(reference: &Self::Reference, before: u32, len: usize) -> Option<[Vec<u8>; 3]>;
}

/// Defines the tests of this module for one cipher. The optional attribute is for the smallest of
/// them.
macro_rules! in_every_layout {
    ($cipher:ty $(, #[$when:meta])?) => {
        in_every_layout! { $cipher:
            $(#[$when])? selected_lengths,
            #[cfg_attr(miri, ignore = "large")] every_length,
            #[cfg_attr(miri, ignore = "large")] every_nonce_and_aad_length,
            #[cfg_attr(miri, ignore = "large")] large_lengths,
            #[cfg_attr(miri, ignore = "large")] counters_wrap_inside_their_word,
            #[cfg_attr(miri, ignore = "large")] every_alignment,
            #[cfg_attr(miri, ignore = "large")] accesses_no_byte_out_of_bounds,
            #[cfg_attr(miri, ignore = "large")] failed_authentication_leaves_zeros,
            #[cfg_attr(any(miri, not(target_os = "linux")), ignore = "maps inaccessible memory")]
            rejects_too_long_input_before_access
        }
    };
    ($cipher:ty: $($(#[$when:meta])* $test:ident),*) => {
        $(
            #[test]
            $(#[$when])*
            fn $test() {
                crate::layout::$test::<$cipher>();
            }
        )*
    };
}

/// Calls `check` for each key size, with the reference implementation and the keys of all variants.
pub(crate) fn each_size<A: Aead>(mut check: impl FnMut(usize, &A::Reference, &[A])) {
    let variants = available(A::variants());
    for bits in A::KEY_BITS {
        let key = &pattern(64, 77)[..bits / 8];
        let keys: Vec<A> = variants
            .iter()
            .map(|(name, features)| {
                let key = A::new(key, *features);
                assert_eq!(key.variant(), *name);
                key
            })
            .collect();
        check(*bits, &A::reference(key), &keys);
    }
}

/// Returns the number of bits in the largest key.
fn largest<A: Aead>() -> usize {
    A::KEY_BITS.iter().copied().max().unwrap()
}

/// Test data with the period 251. It is a prime number, so all blocks are different, and exchanging
/// two is detected.
pub(crate) fn pattern(len: usize, salt: u8) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8 ^ salt).collect()
}

/// Returns the bytes of hexadecimal digits.
#[allow(dead_code, reason = "not every cipher has vectors of its own")]
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    digits
        .as_bytes()
        .chunks(2)
        .map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

/// A message with the ciphertext and the tag of the reference implementation.
pub(crate) struct Case {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    plain: Vec<u8>,
    sealed: Vec<u8>,
    tag: [u8; 16],
}

impl Case {
    pub(crate) fn new<A: Aead>(reference: &A::Reference, nonce: Vec<u8>, aad: usize, len: usize) -> Self {
        Self::of::<A>(reference, [nonce, pattern(aad, 0x91), pattern(len, 0x3c)])
    }

    fn of<A: Aead>(reference: &A::Reference, [nonce, aad, plain]: [Vec<u8>; 3]) -> Self {
        let (sealed, tag) = A::seal_vartime(reference, &nonce, &aad, &plain);
        Self { nonce, aad, plain, sealed, tag }
    }

    /// Checks the message with the keys of all variants, except those that [`skip`] excludes.
    pub(crate) fn check_all<A: Aead>(&self, keys: &[A], bits: usize, alignment: usize) {
        let here = keys.iter().filter(|key| !skip(*key, self.plain.len()));
        here.for_each(|key| self.check(key, bits, alignment));
    }

    /// Seals and opens in place and into another buffer, between canaries. `alignment` determines
    /// the alignments.
    fn check<A: Aead>(&self, key: &A, bits: usize, alignment: usize) {
        let len = self.plain.len();
        let what = || {
            let (variant, nonce, aad) = (key.variant(), self.nonce.len(), self.aad.len());
            format!("{variant} AES-{bits} nonce {nonce} aad {aad} len {len} alignment {alignment}")
        };
        let (read, write) = (alignment % 64, alignment / 7 % 64);
        for (from, to, seal) in [(&self.plain, &self.sealed, true), (&self.sealed, &self.plain, false)] {
            let run = |data: InOut<'_>| {
                let mut tag = self.tag;
                if seal {
                    tag = [0xee; 16];
                    key.seal(&self.nonce, &self.aad, data, &mut tag).unwrap();
                } else {
                    assert_eq!(key.open(&self.nonce, &self.aad, data, &tag), Ok(()), "{} open", what());
                }
                assert_eq!(tag, self.tag, "{} tag", what());
            };
            let mut source = vec![0; read];
            source.extend_from_slice(from);
            let at = MARGIN + write;
            let mut target = vec![0xa5; at + len + MARGIN];
            let untouched = |target: &[u8]| {
                target[..at].iter().all(|b| *b == 0xa5) && target[at + len..].iter().all(|b| *b == 0xa5)
            };
            run(InOut::apart(&source[read..], &mut target[at..at + len]));
            assert!(target[at..at + len] == to[..], "{} seal {seal} apart", what());
            assert!(untouched(&target), "{} seal {seal} apart", what());
            target[at..at + len].copy_from_slice(from);
            run(InOut::in_place(&mut target[at..at + len]));
            assert!(target[at..at + len] == to[..], "{} seal {seal} in place", what());
            assert!(untouched(&target), "{} seal {seal} in place", what());
        }
    }
}

/// Returns whether a length is left out for the slow portable variant, which tests those above 300
/// in steps of 17.
fn skip<A: Aead>(key: &A, len: usize) -> bool {
    static SAID: Once = Once::new();
    let skip = key.variant() == "portable" && len > 300 && !len.is_multiple_of(17);
    if skip {
        SAID.call_once(|| eprintln!("NOT RUN: variant portable with 16 of 17 lengths above 300"));
    }
    skip
}

/// A test that is small enough for Miri, which checks every access without guard pages.
pub(crate) fn selected_lengths<A: Aead>() {
    let bits = largest::<A>();
    let key = pattern(bits / 8, 5);
    let (reference, key) = (A::reference(&key), A::new(&key, Features::detect()));
    assert!(!cfg!(miri) || key.variant() == "portable", "Miri has no other instructions");
    for (i, (aad, len)) in [(0, 0), (13, 64), (0, 17), (20, 300)].into_iter().enumerate() {
        let nonce = A::NONCES[i % A::NONCES.len()];
        Case::new::<A>(&reference, pattern(nonce, 1), aad, len).check(&key, bits, len);
    }
}

pub(crate) fn every_length<A: Aead>() {
    each_size::<A>(|bits, reference, keys| {
        for len in every(0..=1100) {
            for (i, nonce) in [A::NONCE, A::NONCES[len % A::NONCES.len()]].into_iter().enumerate() {
                let aad = AAD_LENGTHS[(len + 5 * i) % AAD_LENGTHS.len()];
                let case = Case::new::<A>(reference, pattern(nonce, len as u8), aad, len);
                case.check_all(keys, bits, 41 * len + i);
            }
        }
    });
}

pub(crate) fn every_nonce_and_aad_length<A: Aead>() {
    each_size::<A>(|bits, reference, keys| {
        for &nonce in A::NONCES {
            for aad in AAD_LENGTHS {
                for len in [0, 1, 16, 63, 64, 65, 255, 256, 257, 511, 512, 513, 700] {
                    let case = Case::new::<A>(reference, pattern(nonce, 0x55), aad, len);
                    case.check_all(keys, bits, nonce + aad + len);
                }
            }
        }
        for aad in every(0..600) {
            let nonce = A::NONCES[aad % A::NONCES.len()];
            let case = Case::new::<A>(reference, pattern(nonce, 0x55), aad, aad % 33);
            keys.iter().for_each(|key| case.check(key, bits, aad));
        }
    });
}

pub(crate) fn large_lengths<A: Aead>() {
    each_size::<A>(|bits, reference, keys| {
        for len in [2 << 10, 4 << 10, 16 << 10, 64 << 10].into_iter().flat_map(|n| [n - 1, n, n + 1]) {
            let case = Case::new::<A>(reference, pattern(A::NONCE, 9), 13, len);
            for key in keys.iter().filter(|key| key.variant() != "portable" || len < 5000) {
                (0..3).for_each(|alignment| case.check(key, bits, 17 * alignment));
            }
        }
        for aad in [4095, 20_000, 66_000] {
            let case = Case::new::<A>(reference, pattern(A::NONCE, 9), aad, 100);
            keys.iter().for_each(|key| case.check(key, bits, aad));
        }
    });
}

/// The counter has 32 bits, and the rest of its block does not change when it wraps.
pub(crate) fn counters_wrap_inside_their_word<A: Aead>() {
    const LENGTHS: [usize; 26] = [
        0, 1, 16, 17, 33, 64, 65, 127, 128, 129, 150, 255, 256, 257, 300, 511, 512, 513, 700, 1023, 1024,
        1025, 1100, 1700, 2048, 4000,
    ];
    each_size::<A>(|bits, reference, keys| {
        for before in [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 18, 31, 32, 33, 34, 35, 64, 65, 70, 200] {
            for message in LENGTHS.into_iter().filter_map(|len| A::wrapping(reference, before, len)) {
                let case = Case::of::<A>(reference, message);
                case.check_all(keys, bits, case.plain.len());
            }
        }
    });
}

pub(crate) fn every_alignment<A: Aead>() {
    each_size::<A>(|bits, reference, keys| {
        for len in [33, 64, 131, 600] {
            let case = Case::new::<A>(reference, pattern(A::NONCE, 1), 13, len);
            for key in keys.iter().filter(|key| key.variant() != "portable") {
                (0..64 * 7).for_each(|alignment| case.check(key, bits, alignment));
            }
        }
    });
}

pub(crate) fn accesses_no_byte_out_of_bounds<A: Aead>() {
    let mut buffers = [(); 4].map(|()| GuardedBuffer::new());
    each_size::<A>(|bits, reference, keys| {
        for len in every(0..=1100) {
            let nonce = A::NONCES[len % A::NONCES.len()];
            let case =
                Case::new::<A>(reference, pattern(nonce, 0x1e), AAD_LENGTHS[len % AAD_LENGTHS.len()], len);
            for key in keys.iter().filter(|key| !skip(*key, len)) {
                for edge in [Edge::Start, Edge::End] {
                    let what = format!("{} AES-{bits} len {len} {edge:?}", key.variant());
                    let [source, target, aad, iv] = &mut buffers;
                    let (from, to) = (source.bytes(len, edge), target.bytes(len, edge));
                    let (aad, iv) = (aad.bytes(case.aad.len(), edge), iv.bytes(nonce, edge));
                    from.copy_from_slice(&case.plain);
                    aad.copy_from_slice(&case.aad);
                    iv.copy_from_slice(&case.nonce);
                    let mut tag = [0; 16];
                    key.seal(iv, aad, InOut::apart(from, to), &mut tag).unwrap();
                    assert!(to == case.sealed && tag == case.tag, "{what} apart");
                    assert_eq!(key.open(iv, aad, InOut::in_place(to), &tag), Ok(()), "{what}");
                    assert!(to == case.plain, "{what} in place");
                    // The same in the other order.
                    key.seal(iv, aad, InOut::in_place(from), &mut tag).unwrap();
                    assert!(from == case.sealed && tag == case.tag, "{what} in place");
                    to.fill(0);
                    assert_eq!(key.open(iv, aad, InOut::apart(from, to), &tag), Ok(()), "{what}");
                    assert!(to == case.plain, "{what} apart");
                }
            }
        }
    });
}

pub(crate) fn failed_authentication_leaves_zeros<A: Aead>() {
    each_size::<A>(|bits, reference, keys| {
        for len in [0, 1, 16, 64, 65, 256, 300, 512, 1600] {
            let case = Case::new::<A>(reference, pattern(A::NONCE, 2), 20, len);
            for key in keys {
                let refused = |nonce: &[u8], aad: &[u8], sealed: &[u8], tag: &[u8; 16]| {
                    let what = format!("{} AES-{bits} len {len}", key.variant());
                    let (mut here, mut there) = (sealed.to_vec(), vec![0xee; sealed.len()]);
                    let opened = key.open(nonce, aad, InOut::in_place(&mut here), tag);
                    assert_eq!(opened, Err(OpenError::AuthenticationFailed), "{what}");
                    let opened = key.open(nonce, aad, InOut::apart(sealed, &mut there), tag);
                    assert_eq!(opened, Err(OpenError::AuthenticationFailed), "{what}");
                    assert!(here.iter().chain(&there).all(|b| *b == 0), "{what}");
                };
                let flipped = |bytes: &[u8], bit: usize| {
                    let mut bytes = bytes.to_vec();
                    bytes[bit / 8] ^= 1 << (bit % 8);
                    bytes
                };
                for bit in 0..128 {
                    let tag = flipped(&case.tag, bit).try_into().unwrap();
                    refused(&case.nonce, &case.aad, &case.sealed, &tag);
                }
                // A step of 37 bytes and one bit reaches every bit of a byte.
                for bit in (0..8 * len).step_by(8 * 37 + 1).chain((8 * len).checked_sub(1)) {
                    refused(&case.nonce, &case.aad, &flipped(&case.sealed, bit), &case.tag);
                }
                for bit in 0..8 * case.nonce.len() {
                    refused(&flipped(&case.nonce, bit), &case.aad, &case.sealed, &case.tag);
                }
                for bit in 0..8 * case.aad.len() {
                    refused(&case.nonce, &flipped(&case.aad, bit), &case.sealed, &case.tag);
                }
                // With one zero more, the authenticated blocks differ only in the lengths.
                let longer = |bytes: &[u8]| [bytes, &[0]].concat();
                refused(&case.nonce, &case.aad[..19], &case.sealed, &case.tag);
                refused(&case.nonce, &longer(&case.aad), &case.sealed, &case.tag);
                refused(&case.nonce, &case.aad, &longer(&case.sealed), &case.tag);
                if len > 0 {
                    refused(&case.nonce, &case.aad, &case.sealed[..len - 1], &case.tag);
                }
            }
        }
    });
}

/// The memory is inaccessible, so the error must be returned before the first byte is read.
pub(crate) fn rejects_too_long_input_before_access<A: Aead>() {
    let no_space = || eprintln!("NOT RUN: data that is too long (no address space for it)");
    let Ok(len) = usize::try_from(A::LONGEST.max(A::LONGEST_AAD.unwrap_or(0)) + 1) else {
        return no_space();
    };
    let Some(pages) = Pages::new(len) else {
        return no_space();
    };
    // SAFETY: the slice is only used as an address and a length. An access is a fault, which fails
    // the test.
    let bytes = unsafe { std::slice::from_raw_parts_mut(pages.start(), len) };
    for (_, features) in available(A::variants()) {
        let (key, mut tag) = (A::new(&vec![1; largest::<A>() / 8], features), [0xab; 16]);
        let nonce = vec![0; A::NONCE];
        let data = &mut bytes[..A::LONGEST as usize + 1];
        let too_long = |part, limit: u64| {
            let limit = u128::from(limit);
            MessageError::TooLong { part, found: limit + 1, limit }
        };
        let refused = too_long(Part::Data, A::LONGEST);
        assert_eq!(key.seal(&nonce, &[], InOut::in_place(data), &mut tag), Err(refused));
        assert_eq!(key.open(&nonce, &[], InOut::in_place(data), &tag), Err(OpenError::Message(refused)));
        if let Some(longest) = A::LONGEST_AAD {
            let (aad, mut data) = (&bytes[..longest as usize + 1], [0xcd; 20]);
            let refused = too_long(Part::AssociatedData, longest);
            assert_eq!(key.seal(&nonce, aad, InOut::in_place(&mut data), &mut tag), Err(refused));
            let opened = key.open(&nonce, aad, InOut::in_place(&mut data), &tag);
            assert_eq!(opened, Err(OpenError::Message(refused)));
            assert_eq!(data, [0xcd; 20]);
        }
        assert_eq!(tag, [0xab; 16]);
    }
}

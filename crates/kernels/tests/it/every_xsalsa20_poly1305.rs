//! Every variant of XSalsa20-Poly1305 against the reference implementation.

use crate::layout::Aead;
use crate::variants::{available, check_removal};
use kernels::InOut;
use kernels::cpu::Features;
use kernels::error::{MessageError, OpenError};
use kernels::variant::Variant;
use kernels::xsalsa20_poly1305::{self as xsalsa20, XSalsa20Poly1305};
use reference::salsa20::seal_vartime;

/// There are no associated data, so they and their length are a part of the nonce.
fn nonce(nonce: &[u8], aad: &[u8]) -> [u8; 24] {
    let mut nonce: [u8; 24] = nonce.try_into().unwrap();
    aad.iter().enumerate().for_each(|(i, byte)| nonce[i % 24] ^= byte.rotate_left(i as u32 / 24));
    nonce[23] ^= aad.len() as u8;
    nonce
}

impl Aead for XSalsa20Poly1305 {
    type Reference = [u8; 32];

    const KEY_BITS: &'static [usize] = &[256];
    const NONCES: &'static [usize] = &[24];
    const LONGEST: u64 = (64 << 32) - 32;
    const LONGEST_AAD: Option<u64> = None;

    fn variants() -> impl Iterator<Item = Variant> {
        xsalsa20::variants()
    }

    fn new(key: &[u8], features: Features) -> Self {
        Self::new(key.try_into().unwrap(), features).unwrap()
    }

    fn variant(&self) -> &'static str {
        self.variant()
    }

    fn seal(&self, n: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> Result<(), MessageError> {
        self.seal(&nonce(n, aad), data, tag)
    }

    fn open(&self, n: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> Result<(), OpenError> {
        self.open(&nonce(n, aad), data, tag)
    }

    fn reference(key: &[u8]) -> [u8; 32] {
        key.try_into().unwrap()
    }

    fn seal_vartime(key: &[u8; 32], n: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
        seal_vartime(key, &nonce(n, aad), plain)
    }

    /// Every message begins with block 0.
    fn wrapping(_: &[u8; 32], _: u32, _: usize) -> Option<[Vec<u8>; 3]> {
        None
    }
}

in_every_layout! { XSalsa20Poly1305:
    selected_lengths,
    #[cfg_attr(miri, ignore = "large")] every_length,
    #[cfg_attr(miri, ignore = "large")] large_lengths,
    #[cfg_attr(miri, ignore = "large")] every_alignment,
    #[cfg_attr(miri, ignore = "large")] accesses_no_byte_out_of_bounds,
    #[cfg_attr(miri, ignore = "large")] failed_authentication_leaves_zeros,
    #[cfg_attr(any(miri, not(target_os = "linux")), ignore = "maps inaccessible memory")]
    rejects_too_long_input_before_access
}

#[test]
fn published_vectors() {
    let cases = vectors::secretbox();
    for (name, features) in available(xsalsa20::variants()) {
        for case in &cases {
            let key = XSalsa20Poly1305::new(&case.key, features).unwrap();
            let (mut data, mut tag) = (case.plaintext.clone(), [0; 16]);
            key.seal(&case.nonce, InOut::in_place(&mut data), &mut tag).unwrap();
            assert_eq!([&tag[..], &data].concat(), case.sealed, "{name} {} {}", case.file, case.id);
        }
    }
}

#[test]
fn removing_features_selects_each_variant() {
    let selected = |features| XSalsa20Poly1305::new(&[7; 32], features).unwrap().variant();
    check_removal(xsalsa20::variants, &["avx512f", "avx2", "neon"], selected);
}

#[test]
fn keys_are_send_and_sync() {
    fn crosses<T: Send + Sync>(_: &T) {}
    crosses(&XSalsa20Poly1305::new(&[0x6b; 32], Features::NONE).unwrap());
}

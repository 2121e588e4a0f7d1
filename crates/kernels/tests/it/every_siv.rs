//! Every variant of AES-SIV against the reference implementation.

use crate::layout::{Aead, hex, pattern};
use crate::variants::available;
use kernels::InOut;
use kernels::aes;
use kernels::cpu::Features;
use kernels::error::{MessageError, OpenError};
use kernels::siv::Siv;
use kernels::variant::Variant;
use reference::siv::Siv as Reference;

/// One header, and no nonce.
impl Aead for Siv {
    type Reference = Reference;

    const KEY_BITS: &'static [usize] = &[256, 384, 512];
    const NONCES: &'static [usize] = &[0];
    const LONGEST: u64 = u64::MAX;
    const LONGEST_AAD: Option<u64> = None;

    fn variants() -> impl Iterator<Item = Variant> {
        aes::variants()
    }

    fn new(key: &[u8], features: Features) -> Self {
        Self::new(key, features).unwrap()
    }

    fn variant(&self) -> &'static str {
        self.variant()
    }

    fn seal(&self, _: &[u8], aad: &[u8], data: InOut<'_>, v: &mut [u8; 16]) -> Result<(), MessageError> {
        self.seal(&[aad], data, v);
        Ok(())
    }

    fn open(&self, _: &[u8], aad: &[u8], data: InOut<'_>, v: &[u8; 16]) -> Result<(), OpenError> {
        self.open(&[aad], data, v)
    }

    fn reference(key: &[u8]) -> Reference {
        Reference::new_vartime(key)
    }

    fn seal_vartime(reference: &Reference, _: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
        reference.seal_vartime(&[aad], plain)
    }

    /// Bits 31 and 63 of the initial counter are zero, so no message wraps.
    fn wrapping(_: &Reference, _: u32, _: usize) -> Option<[Vec<u8>; 3]> {
        None
    }
}

in_every_layout! { Siv:
    selected_lengths,
    #[cfg_attr(miri, ignore = "large")] every_length,
    #[cfg_attr(miri, ignore = "large")] every_nonce_and_aad_length,
    #[cfg_attr(miri, ignore = "large")] large_lengths,
    #[cfg_attr(miri, ignore = "large")] every_alignment,
    #[cfg_attr(miri, ignore = "large")] accesses_no_byte_out_of_bounds,
    #[cfg_attr(miri, ignore = "large")] failed_authentication_leaves_zeros
}

#[test]
fn any_number_of_headers() {
    let headers: Vec<Vec<u8>> = (0..40).map(|i| pattern(i, i as u8)).collect();
    let headers: Vec<&[u8]> = headers.iter().map(|header| &header[..]).collect();
    crate::layout::each_size::<Siv>(|bits, reference, keys| {
        for count in 0..headers.len() {
            let (headers, plain) = (&headers[..count], pattern(count, 0x3c));
            let sealed = reference.seal_vartime(headers, &plain);
            for key in keys {
                let (mut data, mut v) = (plain.clone(), [0; 16]);
                key.seal(headers, InOut::in_place(&mut data), &mut v);
                assert!((&data, v) == (&sealed.0, sealed.1), "{} {bits} {count} headers", key.variant());
                assert_eq!(key.open(headers, InOut::in_place(&mut data), &v), Ok(()));
                assert!(data == plain);
                let other = [headers, &[b""]].concat();
                key.seal(headers, InOut::in_place(&mut data), &mut v);
                let opened = key.open(&other, InOut::in_place(&mut data), &v);
                assert_eq!(opened, Err(OpenError::AuthenticationFailed), "an empty header is a header");
            }
        }
    });
}

/// RFC 5297, appendix A.1.
#[test]
fn rfc_5297_appendix_a_1() {
    for (name, features) in available(aes::variants()) {
        let key = hex("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
        let siv = Siv::new(&key, features).unwrap();
        let (mut data, mut v) = (hex("112233445566778899aabbccddee"), [0; 16]);
        siv.seal(
            &[&hex("101112131415161718191a1b1c1d1e1f2021222324252627")],
            InOut::in_place(&mut data),
            &mut v,
        );
        assert_eq!(v[..], hex("85632d07c6e8f37f950acd320a2ecc93"), "{name}");
        assert_eq!(data, hex("40c02b9690c4dc04daef7f6afe5c"), "{name}");
    }
}

#[test]
fn accepts_only_keys_of_32_48_and_64_bytes() {
    for len in 0..100 {
        let made = Siv::new(&vec![1; len], Features::detect());
        assert_eq!(made.is_ok(), matches!(len, 32 | 48 | 64), "{len} bytes");
    }
}

#[test]
fn keys_are_send_and_sync() {
    fn crosses<T: Send + Sync>(_: &T) {}
    crosses(&Siv::new(&[0x6b; 64], Features::NONE).unwrap());
}

//! Every pair of variants of ChaCha20 and Poly1305 against the reference implementation.

use crate::layout::{Aead, Case, each_size, pattern};
use ::reference::chacha20_poly1305 as reference;
use kernels::InOut;
use kernels::chacha20;
use kernels::chacha20_poly1305::{self, ChaCha20Poly1305, XChaCha20Poly1305};
use kernels::cpu::Features;
use kernels::error::{MessageError, OpenError};
use kernels::poly1305;
use kernels::variant::Variant;

macro_rules! aead {
    ($cipher:ident $nonce:literal) => {
        impl Aead for $cipher {
            type Reference = [u8; 32];

            const KEY_BITS: &'static [usize] = &[256];
            const NONCES: &'static [usize] = &[$nonce];
            const LONGEST: u64 = (1 << 38) - 64;
            const LONGEST_AAD: Option<u64> = None;

            fn variants() -> impl Iterator<Item = Variant> {
                chacha20_poly1305::variants()
            }
            fn new(key: &[u8], features: Features) -> Self {
                Self::new(key.try_into().unwrap(), features).unwrap()
            }
            fn variant(&self) -> &'static str {
                self.variant()
            }
            fn seal(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOut<'_>,
                tag: &mut [u8; 16],
            ) -> Result<(), MessageError> {
                self.seal(nonce.try_into().unwrap(), aad, data, tag)
            }
            fn open(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOut<'_>,
                tag: &[u8; 16],
            ) -> Result<(), OpenError> {
                self.open(nonce.try_into().unwrap(), aad, data, tag)
            }
            fn reference(key: &[u8]) -> [u8; 32] {
                key.try_into().unwrap()
            }
            fn seal_vartime(key: &[u8; 32], nonce: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
                reference::seal_vartime(key, nonce, aad, plain)
            }
            /// The counter begins at 1 and never wraps.
            fn wrapping(_: &[u8; 32], _: u32, _: usize) -> Option<[Vec<u8>; 3]> {
                None
            }
        }
    };
}

aead! { ChaCha20Poly1305 12 }
aead! { XChaCha20Poly1305 24 }

mod short_nonces {
    use super::*;
    in_every_layout!(ChaCha20Poly1305);
}

mod long_nonces {
    use super::*;
    in_every_layout!(XChaCha20Poly1305);
}

/// The lengths around the borders of the groups between whose rounds Poly1305 is computed on AVX2,
/// with every number of bytes after the last group that takes other code, and with associated data
/// that need powers. `every_length` has all lengths to 1,100.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn borders_of_groups() {
    let ends = [0, 1, 15, 16, 17, 31, 33, 127, 128, 129, 256, 257, 384, 385, 511];
    let lengths = (2..9).flat_map(|groups| ends.map(|end| 448 + 512 * groups + end));
    each_size::<ChaCha20Poly1305>(|bits, reference, keys| {
        for (i, len) in crate::variants::every(lengths.clone()).enumerate() {
            let aad = [0, 20, 767, 768, 769, 5000][i % 6];
            Case::new::<ChaCha20Poly1305>(reference, pattern(12, 0x1e), aad, len).check_all(
                keys,
                bits,
                i % 16,
            );
        }
    });
}

/// Checks that every variant of both tables that can run here is part of a pair.
#[test]
#[cfg_attr(miri, ignore = "there is only one variant")]
fn every_variant_is_in_a_pair() {
    let pairs = crate::variants::available(chacha20_poly1305::variants()).into_iter();
    let tried: Vec<_> = pairs
        .map(|(_, features)| ChaCha20Poly1305::new(&[0; 32], features).unwrap())
        .map(|key| [key.variant(), key.mac_variant()])
        .collect();
    for (i, table) in
        [crate::variants::available(chacha20::variants()), crate::variants::available(poly1305::variants())]
            .into_iter()
            .enumerate()
    {
        for (name, _) in table {
            assert!(tried.iter().any(|pair| pair[i] == name), "{name}");
        }
    }
}

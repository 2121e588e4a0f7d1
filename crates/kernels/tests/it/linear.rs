//! GHASH and POLYVAL in whole messages, for all data of a length, by linearity.
//!
//! For a fixed key, nonce and length, the hash of a message is an affine function over GF(2) of its
//! plaintext and its associated data. In AES-GCM the tag is the hash plus a constant. In
//! AES-GCM-SIV the tag is an encryption of the hash, so equal tags mean equal hashes. So if the
//! tags agree with those of the reference implementation for zeros and for every single bit, they
//! agree for all data of this length. The ciphertext of AES-GCM is the plaintext plus a constant.
//! The ciphertext of AES-GCM-SIV depends on the tag, and is only tested.

use crate::layout::{Aead, pattern};
use crate::variants::available;
use kernels::InOut;
use kernels::gcm::Gcm;
use kernels::gcm_siv::GcmSiv;

/// Lengths in bytes around the borders of blocks and of vectors of four blocks.
const AAD: [usize; 8] = [1, 15, 16, 17, 63, 64, 65, 144];
/// The same for data, and around the borders of short messages and of groups of 8, 16 and 32
/// blocks.
const DATA: [usize; 12] = [1, 16, 17, 64, 65, 128, 129, 256, 272, 512, 529, 592];

/// Changes each bit of a message in turn. `seal` returns the tag, computed by a variant or by the
/// reference.
fn each_bit(aad: usize, len: usize, mut compare: impl FnMut(&[u8], &[u8])) {
    let (mut aad, mut plain) = (vec![0; aad], vec![0; len]);
    compare(&aad, &plain);
    for bit in 0..8 * aad.len() {
        aad[bit / 8] = 1 << (bit % 8);
        compare(&aad, &plain);
        aad[bit / 8] = 0;
    }
    for bit in 0..8 * plain.len() {
        plain[bit / 8] = 1 << (bit % 8);
        compare(&aad, &plain);
        plain[bit / 8] = 0;
    }
}

fn all_data<A: Aead>() {
    let (key, nonce) = (pattern(16, 0x5d), pattern(12, 0x19));
    let reference = A::reference(&key);
    let variants: Vec<A> =
        available(A::variants()).into_iter().map(|(_, features)| A::new(&key, features)).collect();
    let lengths = AAD.into_iter().map(|aad| (aad, 0)).chain(DATA.into_iter().map(|len| (0, len)));
    for (aad, len) in lengths.chain([(13, 31)]) {
        each_bit(aad, len, |aad, plain| {
            let (_, expected) = A::seal_vartime(&reference, &nonce, aad, plain);
            for variant in &variants {
                let (mut out, mut tag) = (vec![0; plain.len()], [0; 16]);
                variant.seal(&nonce, aad, InOut::apart(plain, &mut out), &mut tag).unwrap();
                assert_eq!(tag, expected, "{}: {} + {} bytes", variant.variant(), aad.len(), plain.len());
                // Opening hashes in other loops.
                let mut opened = vec![0; plain.len()];
                variant.open(&nonce, aad, InOut::apart(&out, &mut opened), &tag).unwrap();
                assert_eq!(opened, plain);
            }
        });
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn ghash_of_whole_messages() {
    all_data::<Gcm>();
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn polyval_of_whole_messages() {
    all_data::<GcmSiv>();
}

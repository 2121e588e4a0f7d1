//! Batches of every variant against single messages, which other tests compare with the reference
//! implementation.

use crate::guarded::{Edge, GuardedBuffer};
use crate::layout::{Aead, pattern};
use crate::variants::available;
use kernels::InOut;
use kernels::chacha20_poly1305::ChaCha20Poly1305;
use kernels::error::{MessageError, OpenError};
use kernels::gcm::Gcm;
use kernels::gcm_siv::GcmSiv;

/// An AEAD with batches.
trait Batches: Aead {
    fn seal_batch(
        &self,
        nonces: &[[u8; 12]],
        aad: &[u8],
        plaintexts: &[&[u8]],
        sealed: &mut [&mut [u8]],
    ) -> Result<(), (usize, MessageError)>;
    fn open_batch(
        &self,
        aad: &[u8],
        sealed: &[&[u8]],
        plaintexts: &mut [&mut [u8]],
    ) -> Result<(), (usize, OpenError)>;
}

macro_rules! batches {
    ($($test:ident: $aead:ident;)*) => {$(
        impl Batches for $aead {
            fn seal_batch(
                &self,
                nonces: &[[u8; 12]],
                aad: &[u8],
                plaintexts: &[&[u8]],
                sealed: &mut [&mut [u8]],
            ) -> Result<(), (usize, MessageError)> {
                self.seal_batch(nonces, aad, plaintexts, sealed)
            }
            fn open_batch(
                &self,
                aad: &[u8],
                sealed: &[&[u8]],
                plaintexts: &mut [&mut [u8]],
            ) -> Result<(), (usize, OpenError)> {
                self.open_batch(aad, sealed, plaintexts)
            }
        }

        mod $test {
            use super::*;

            #[test]
            fn equals_single_messages() {
                batches_equal_single_messages::<$aead>();
            }

            #[test]
            #[cfg_attr(miri, ignore = "large")]
            fn every_two_lengths() {
                every_two_lengths_side_by_side::<$aead>();
            }

            #[test]
            #[cfg_attr(miri, ignore = "large")]
            fn every_length_and_count() {
                every_length_and_every_count::<$aead>();
            }

            #[test]
            #[cfg_attr(miri, ignore = "large")]
            fn guarded() {
                accesses_no_byte_out_of_bounds::<$aead>();
            }
        }
    )*};
}

batches! {
    chacha20_poly1305: ChaCha20Poly1305;
    gcm: Gcm;
    gcm_siv: GcmSiv;
}

/// Short and long messages in several orders, and more messages than tags are compared at once.
fn batches() -> Vec<Vec<usize>> {
    let mixed = vec![64, 65, 64, 1, 0, 300, 17, 16, 4096, 4097, 5];
    let after_short = |long: usize| (0..9).flat_map(move |short| [vec![48; short], vec![long]].concat());
    let mut batches = vec![vec![], vec![0], vec![65], (0..130).collect(), vec![64; 67], vec![33; 200], mixed];
    batches.extend([after_short(65).collect(), after_short(1100).collect()]);
    batches
}

fn batches_equal_single_messages<A: Batches>() {
    for (variant, features) in available(A::variants()) {
        for bits in A::KEY_BITS {
            let key = A::new(&pattern(bits / 8, 0x17), features);
            for lens in batches() {
                for aad in [0, 1, 16, 100] {
                    equals_single_messages(&key, &lens, &pattern(aad, 0x23), variant);
                }
            }
        }
    }
}

/// Every two lengths of short messages are beside each other in a vector.
fn every_two_lengths_side_by_side<A: Batches>() {
    let lens: Vec<usize> = (0..=64).flat_map(|a| (0..=64).flat_map(move |b| [a, b])).collect();
    for (variant, features) in available(A::variants()) {
        equals_single_messages(&A::new(&pattern(32, 0x17), features), &lens, &pattern(20, 0x23), variant);
    }
}

/// All lengths, in ascending order and in one that mixes long and short ones, and each number of
/// messages; also with associated data for which tags need powers.
fn every_length_and_every_count<A: Batches>() {
    const PRIME: usize = 1103;
    let lens = |factor: usize| (0..PRIME).map(move |i| factor * i % PRIME);
    for (variant, features) in available(A::variants()) {
        let key = A::new(&pattern(32, 0x17), features);
        for (factor, aad) in [(1, 767), (477, 768)] {
            equals_single_messages(&key, &lens(factor).collect::<Vec<_>>(), &pattern(aad, 0x23), variant);
        }
        for count in 0..=40 {
            for modulus in [1, 17, 65, 200, 513] {
                let lens: Vec<usize> =
                    lens(477).take(count).map(|len| len % modulus + 64 / modulus).collect();
                equals_single_messages(&key, &lens, &pattern(count, 0x23), variant);
            }
        }
    }
}

/// A message in each place of a group is at the edge of accessible memory.
fn accesses_no_byte_out_of_bounds<A: Batches>() {
    let [mut source, mut target] = [(); 2].map(|()| GuardedBuffer::new());
    for (variant, features) in available(A::variants()) {
        let key = A::new(&pattern(32, 0x17), features);
        let lens = (0..=65).chain([127, 128, 129, 192, 193, 255, 256, 511, 512, 513]);
        for (len, place) in lens.flat_map(|len| (0..4).map(move |place| (len, place))) {
            let (plain, nonce) = (pattern(len, 0x31), [place as u8; 12]);
            let (mut ciphertext, mut tag) = (vec![0; len], [0; 16]);
            key.seal(&nonce, b"", InOut::apart(&plain, &mut ciphertext), &mut tag).unwrap();
            let single = [&nonce[..], &ciphertext, &tag].concat();
            for edge in [Edge::Start, Edge::End] {
                let (from, to) = (source.bytes(len, edge), target.bytes(len + 28, edge));
                from.copy_from_slice(&plain);
                let mut others = [(); 4].map(|()| vec![0; len + 28]);
                let mut sealed = others.each_mut().map(|other| &mut other[..]);
                let mut plaintexts = [&plain[..]; 4];
                (sealed[place], plaintexts[place]) = (&mut *to, &*from);
                key.seal_batch(&[nonce; 4], b"", &plaintexts, &mut sealed).unwrap();
                assert!(sealed.iter().all(|sealed| **sealed == single), "{variant} {len} {place} {edge:?}");
                let sealed = sealed.map(|sealed| &*sealed);
                let mut others = [(); 4].map(|()| vec![0; len]);
                let mut opened = others.each_mut().map(|other| &mut other[..]);
                from.fill(0);
                opened[place] = from;
                key.open_batch(b"", &sealed, &mut opened).unwrap();
                assert!(opened.iter().all(|opened| **opened == plain), "{variant} {len} {place} {edge:?}");
            }
        }
    }
}

fn equals_single_messages<A: Batches>(key: &A, lens: &[usize], aad: &[u8], variant: &str) {
    // All different, so that it would be noticed if two messages changed places.
    let plaintexts: Vec<Vec<u8>> = lens.iter().enumerate().map(|(i, &len)| pattern(len, i as u8)).collect();
    let nonces: Vec<[u8; 12]> =
        (0..lens.len() as u128).map(|i| *i.to_le_bytes().first_chunk().unwrap()).collect();
    let single: Vec<Vec<u8>> = plaintexts
        .iter()
        .zip(&nonces)
        .map(|(plaintext, nonce)| {
            let (mut data, mut tag) = (vec![0; plaintext.len()], [0; 16]);
            key.seal(nonce, aad, InOut::apart(plaintext, &mut data), &mut tag).unwrap();
            [&nonce[..], &data, &tag].concat()
        })
        .collect();
    let from: Vec<&[u8]> = plaintexts.iter().map(|plaintext| &plaintext[..]).collect();
    let mut sealed: Vec<Vec<u8>> = single.iter().map(|single| vec![0xee; single.len()]).collect();
    let mut to: Vec<&mut [u8]> = sealed.iter_mut().map(|sealed| &mut sealed[..]).collect();
    key.seal_batch(&nonces, aad, &from, &mut to).unwrap();
    assert!(sealed == single, "{variant} {lens:?}");
    let open = |sealed: &[Vec<u8>]| {
        let from: Vec<&[u8]> = sealed.iter().map(|sealed| &sealed[..]).collect();
        let mut opened: Vec<Vec<u8>> = lens.iter().map(|&len| vec![0xee; len]).collect();
        let mut to: Vec<&mut [u8]> = opened.iter_mut().map(|opened| &mut opened[..]).collect();
        (key.open_batch(aad, &from, &mut to), opened)
    };
    assert!(open(&sealed) == (Ok(()), plaintexts.clone()), "{variant} {lens:?}");
    // In each place of a group.
    for forged in (0..lens.len()).step_by(lens.len() / 70 + 1) {
        let last = sealed[forged].len() - 1;
        sealed[forged][last] ^= 0x10;
        let (result, opened) = open(&sealed);
        assert_eq!(result, Err((forged, OpenError::AuthenticationFailed)), "{variant} {lens:?}");
        assert!(opened[..forged] == plaintexts[..forged], "{variant} {lens:?}");
        assert!(opened[forged].iter().all(|&byte| byte == 0), "{variant} {lens:?}");
        let released = |byte: &u8| *byte != 0 && *byte != 0xee;
        assert!(!opened[forged..].iter().flatten().any(released), "{variant} {lens:?}");
        sealed[forged][last] ^= 0x10;
    }
}

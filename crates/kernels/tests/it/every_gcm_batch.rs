//! Batches of every variant of AES-GCM against single messages, which other tests compare with the
//! reference implementation.

use crate::layout::pattern;
use crate::variants::available;
use kernels::InOut;
use kernels::error::OpenError;
use kernels::gcm::{self, Gcm};

/// Short and long messages in several orders, and more messages than tags are compared at once.
fn batches() -> Vec<Vec<usize>> {
    let mixed = vec![64, 65, 64, 1, 0, 300, 17, 16, 4096, 4097, 5];
    vec![vec![], vec![0], vec![65], (0..130).collect(), vec![64; 67], vec![33; 200], mixed]
}

#[test]
fn batches_equal_single_messages() {
    for (variant, features) in available(gcm::variants()) {
        for key_len in [16, 24, 32] {
            let gcm = Gcm::new(&pattern(key_len, 0x17), features).unwrap();
            for lens in batches() {
                for aad in [0, 1, 16, 100] {
                    equals_single_messages(&gcm, &lens, &pattern(aad, 0x23), variant);
                }
            }
        }
    }
}

fn equals_single_messages(gcm: &Gcm, lens: &[usize], aad: &[u8], variant: &str) {
    // All different, so that it would be noticed if two messages changed places.
    let plaintexts: Vec<Vec<u8>> = (0u8..).zip(lens).map(|(i, &len)| pattern(len, i)).collect();
    let nonces: Vec<[u8; 12]> = (0..lens.len()).map(|i| [i as u8; 12]).collect();
    let single: Vec<Vec<u8>> = plaintexts
        .iter()
        .zip(&nonces)
        .map(|(plaintext, nonce)| {
            let (mut data, mut tag) = (vec![0; plaintext.len()], [0; 16]);
            gcm.seal(nonce, aad, InOut::apart(plaintext, &mut data), &mut tag).unwrap();
            [&nonce[..], &data, &tag].concat()
        })
        .collect();
    let from: Vec<&[u8]> = plaintexts.iter().map(|plaintext| &plaintext[..]).collect();
    let mut sealed: Vec<Vec<u8>> = single.iter().map(|single| vec![0xee; single.len()]).collect();
    let mut to: Vec<&mut [u8]> = sealed.iter_mut().map(|sealed| &mut sealed[..]).collect();
    gcm.seal_batch(&nonces, aad, &from, &mut to).unwrap();
    assert!(sealed == single, "{variant} {lens:?}");
    let open = |sealed: &[Vec<u8>]| {
        let from: Vec<&[u8]> = sealed.iter().map(|sealed| &sealed[..]).collect();
        let mut opened: Vec<Vec<u8>> = lens.iter().map(|&len| vec![0xee; len]).collect();
        let mut to: Vec<&mut [u8]> = opened.iter_mut().map(|opened| &mut opened[..]).collect();
        (gcm.open_batch(aad, &from, &mut to), opened)
    };
    assert!(open(&sealed) == (Ok(()), plaintexts.clone()), "{variant} {lens:?}");
    for forged in [0, lens.len() / 2, lens.len().saturating_sub(1)].into_iter().filter(|&at| at < lens.len())
    {
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

//! Every variant of the AEADs that divide a message between threads, against the reference
//! implementation.

use crate::layout::{Aead, pattern};
use crate::variants::available;
use kernels::InOut;
use kernels::chacha20_poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use kernels::cpu::Features;
use kernels::error::{MessageError, OpenError};
use kernels::gcm::Gcm;
use kernels::gcm_siv::GcmSiv;
use kernels::poly1305::{self, Poly1305};
use kernels::segments::{self, Threads};
use kernels::variant::Variant;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Two threads, the last segment first. They leave out segment 1, which the caller of the kernel
/// must process.
struct TwoThreads(usize);

impl Threads for TwoThreads {
    fn segment_len(&self, _: usize) -> usize {
        self.0
    }

    fn run(&self, segments: usize, work: &(dyn Fn(usize) + Sync)) {
        let left = AtomicUsize::new(segments);
        let helper = || {
            while let Ok(left) = left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)) {
                if left != 2 {
                    work(left - 1);
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(helper);
            helper();
        });
        // A number that is no segment, and one that was processed.
        work(segments);
        work(0);
    }
}

/// Implements [`Aead`] for a cipher with segments of 4096 bytes.
macro_rules! on_threads {
    ($module:ident: $cipher:ident, $nonce:expr) => {
        mod $module {
            use super::*;

            struct OnThreads($cipher);

            impl Aead for OnThreads {
                type Reference = <$cipher as Aead>::Reference;

                const KEY_BITS: &'static [usize] = $cipher::KEY_BITS;
                const NONCES: &'static [usize] = $cipher::NONCES;
                const LONGEST: u64 = $cipher::LONGEST;
                const LONGEST_AAD: Option<u64> = $cipher::LONGEST_AAD;

                fn variants() -> impl Iterator<Item = Variant> {
                    <$cipher as Aead>::variants()
                }
                fn new(key: &[u8], features: Features) -> Self {
                    Self(<$cipher as Aead>::new(key, features))
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
                    self.0.seal_on(&TwoThreads(1), $nonce(nonce), aad, data, tag)
                }
                fn open(
                    &self,
                    nonce: &[u8],
                    aad: &[u8],
                    data: InOut<'_>,
                    tag: &[u8; 16],
                ) -> Result<(), OpenError> {
                    self.0.open_on(&TwoThreads(1), $nonce(nonce), aad, data, tag)
                }
                fn reference(key: &[u8]) -> Self::Reference {
                    $cipher::reference(key)
                }
                fn seal_vartime(
                    reference: &Self::Reference,
                    nonce: &[u8],
                    aad: &[u8],
                    plain: &[u8],
                ) -> (Vec<u8>, [u8; 16]) {
                    $cipher::seal_vartime(reference, nonce, aad, plain)
                }
                fn wrapping(reference: &Self::Reference, before: u32, len: usize) -> Option<[Vec<u8>; 3]> {
                    $cipher::wrapping(reference, before, len)
                }
            }

            in_every_layout! { OnThreads:
                #[cfg_attr(miri, ignore = "large")] large_lengths,
                #[cfg_attr(miri, ignore = "large")] counters_wrap_inside_their_word,
                #[cfg_attr(miri, ignore = "large")] failed_authentication_leaves_zeros,
                #[cfg_attr(any(miri, not(target_os = "linux")), ignore = "maps inaccessible memory")]
                rejects_too_long_input_before_access
            }

            /// The lengths around the borders of blocks and of one to three segments, against one
            /// thread.
            #[test]
            #[cfg_attr(miri, ignore = "large")]
            fn every_border_of_segments() {
                for (name, features) in available(OnThreads::variants()) {
                    let (bits, nonces) = (OnThreads::KEY_BITS, OnThreads::NONCES);
                    // The second length of segments is rounded up to 8192 bytes.
                    for (bits, nonce, aad, segment_len) in [
                        (bits[0], nonces[0], 0, 4096),
                        (bits[bits.len() - 1], nonces[nonces.len() - 1], 700, 4097),
                    ] {
                        let key = OnThreads::new(&pattern(32, 77)[..bits / 8], features);
                        let (nonce, aad) = (pattern(nonce, 5), pattern(aad, 6));
                        for len in lengths() {
                            let case =
                                format!("{name}, {bits} bits, {len} bytes in segments of {segment_len}");
                            let threads = TwoThreads(segment_len);
                            let plain = pattern(len, 7);
                            let (mut one, mut expected) = (plain.clone(), [0; 16]);
                            key.0
                                .seal($nonce(&nonce), &aad, InOut::in_place(&mut one), &mut expected)
                                .unwrap();
                            let (mut sealed, mut tag) = (vec![0; len], [0; 16]);
                            let data = InOut::apart(&plain, &mut sealed);
                            key.0.seal_on(&threads, $nonce(&nonce), &aad, data, &mut tag).unwrap();
                            assert!(sealed == one && tag == expected, "{case}");
                            let mut opened = vec![0xee; len];
                            let data = InOut::apart(&sealed, &mut opened);
                            assert_eq!(
                                key.0.open_on(&threads, $nonce(&nonce), &aad, data, &tag),
                                Ok(()),
                                "{case}"
                            );
                            assert!(opened == plain, "{case}");
                            // A changed bit in each segment.
                            for at in (0..len).step_by(4096).chain(len.checked_sub(1)) {
                                sealed[at] ^= 0x80;
                                let data = InOut::apart(&sealed, &mut opened);
                                let result = key.0.open_on(&threads, $nonce(&nonce), &aad, data, &tag);
                                assert_eq!(result, Err(OpenError::AuthenticationFailed), "{case}");
                                assert!(opened.iter().all(|&byte| byte == 0), "{case}");
                                sealed[at] ^= 0x80;
                            }
                        }
                    }
                }
            }
        }
    };
}

on_threads!(gcm: Gcm, std::convert::identity);
on_threads!(gcm_siv: GcmSiv, exactly::<12>);
on_threads!(chacha20_poly1305: ChaCha20Poly1305, exactly::<12>);
on_threads!(xchacha20_poly1305: XChaCha20Poly1305, exactly::<24>);

/// The lengths around the borders of blocks and of segments, after nothing, a part of a block, and
/// pieces for which few or all powers are computed, against one thread.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_border_of_segments_of_poly1305() {
    for (name, features) in available(poly1305::variants()) {
        for (key, text) in [(pattern(32, 77), pattern(20_000, 7)), (vec![0xff; 32], vec![0xff; 20_000])] {
            let key: &[u8; 32] = key.first_chunk().unwrap();
            for before in [&[][..], &[0], &[15], &[1100], &[1100, 5000, 7]] {
                for (len, segment_len) in lengths().flat_map(|len| [(len, 4096), (len, 4097)]) {
                    let [mut one, mut several] = [(); 2].map(|()| Poly1305::new(key, features).unwrap());
                    for mac in [&mut one, &mut several] {
                        before.iter().for_each(|&len| mac.update(&text[..len]));
                    }
                    one.update(&text[..len]);
                    several.update_on(&TwoThreads(segment_len), &text[..len]);
                    for mac in [&mut one, &mut several] {
                        mac.update(&text[..2001]);
                    }
                    assert_eq!(
                        several.finalize(),
                        one.finalize(),
                        "{name}, {len} after {before:?}, {segment_len}"
                    );
                }
            }
        }
    }
}

fn exactly<const LEN: usize>(nonce: &[u8]) -> &[u8; LEN] {
    nonce.try_into().unwrap()
}

/// Returns lengths around the borders of blocks at the borders of segments.
fn lengths() -> impl Iterator<Item = usize> {
    (1..=3usize).flat_map(|segments| {
        [-17i64, -16, -1, 0, 1, 15, 16, 17, 65, 2000]
            .map(|more| (4096 * segments as i64 + more).max(0) as usize)
    })
}

#[test]
fn each_segment_is_processed_once() {
    for len in [0, 1, 4096, 4097, 8192, 20_000] {
        let mut data = vec![0; len];
        segments::each(&TwoThreads(4096), InOut::in_place(&mut data), |at, mut segment| {
            assert_eq!(at % 4096, 0);
            segment.target().iter_mut().for_each(|byte| *byte += 1);
        });
        assert!(data.iter().all(|&byte| byte == 1), "{len}");
    }
}

//! Every variant of AES-GCM against the reference implementation.

use crate::layout::{Aead, Case, each_size, hex, pattern};
use crate::variants::{available, every};
use kernels::InOut;
use kernels::cpu::Features;
use kernels::error::{KeyError, MessageError, OpenError};
use kernels::gcm::{self, Gcm};
use kernels::variant::Variant;
use reference::gcm::Gcm as Reference;

impl Aead for Gcm {
    type Reference = Reference;

    const KEY_BITS: &'static [usize] = &[128, 192, 256];
    const NONCES: &'static [usize] = &[12, 1, 8, 11, 13, 16, 17, 60, 300];
    const LONGEST: u64 = (1 << 36) - 32;
    const LONGEST_AAD: Option<u64> = None;

    fn variants() -> impl Iterator<Item = Variant> {
        gcm::variants()
    }

    fn new(key: &[u8], features: Features) -> Self {
        Self::new(key, features).unwrap()
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
        self.seal(nonce, aad, data, tag)
    }

    fn open(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8; 16]) -> Result<(), OpenError> {
        self.open(nonce, aad, data, tag)
    }

    fn reference(key: &[u8]) -> Reference {
        Reference::new_vartime(key)
    }

    fn seal_vartime(reference: &Reference, nonce: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
        reference.seal_vartime(nonce, aad, plain)
    }

    /// A nonce of 16 bytes is hashed, so there is one for every counter.
    fn wrapping(reference: &Reference, before: u32, len: usize) -> Option<[Vec<u8>; 3]> {
        const REST: u128 = 0x0011_2233_ffff_ffff_ffff_ffff_0000_0000;
        let nonce = reference.nonce_for_vartime(REST | u128::from(0u32.wrapping_sub(before)));
        Some([nonce.to_vec(), pattern(3, 0x91), pattern(len, 0x3c)])
    }
}

in_every_layout!(Gcm);

/// A key that has sealed a very long message, for which it precomputed the first round. With 192
/// bits it precomputes one round, with other sizes two.
mod ahead {
    use super::*;

    struct Ahead(Gcm);

    impl Aead for Ahead {
        type Reference = Reference;

        const KEY_BITS: &'static [usize] = Gcm::KEY_BITS;
        const NONCES: &'static [usize] = Gcm::NONCES;
        const LONGEST: u64 = Gcm::LONGEST;
        const LONGEST_AAD: Option<u64> = Gcm::LONGEST_AAD;

        fn variants() -> impl Iterator<Item = Variant> {
            gcm::variants()
        }
        fn new(key: &[u8], features: Features) -> Self {
            let mut gcm = <Gcm as Aead>::new(key, features);
            gcm.precompute_two_rounds_from(if key.len() == 24 { usize::MAX } else { 0 });
            if !cfg!(miri) {
                gcm.seal(&[0; 12], &[], InOut::in_place(&mut vec![0; 1 << 16]), &mut [0; 16]).unwrap();
            }
            Self(gcm)
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
            Gcm::reference(key)
        }
        fn seal_vartime(
            reference: &Reference,
            nonce: &[u8],
            aad: &[u8],
            plain: &[u8],
        ) -> (Vec<u8>, [u8; 16]) {
            Gcm::seal_vartime(reference, nonce, aad, plain)
        }
        fn wrapping(reference: &Reference, before: u32, len: usize) -> Option<[Vec<u8>; 3]> {
            Gcm::wrapping(reference, before, len)
        }
    }

    in_every_layout!(Ahead);
}

/// The last byte of the counter wraps after 254, 510, … blocks, so these messages end before and
/// after that.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn periods_of_precomputed_rounds() {
    let (nonce, aad) = (pattern(12, 0x3d), pattern(21, 0x77));
    for key in [16, 24, 32].map(|len| pattern(len, 0xb1)) {
        let reference = Gcm::reference(&key);
        let data = pattern(3 * 4096 + 600, 0x2e);
        for len in
            [3072, 3583, 3584, 4063, 4064, 4080, 4095, 4096, 4097, 4608, 8160, 8192, 8700, 12_800, data.len()]
        {
            let plain = &data[..len];
            let (sealed, expected) = Gcm::seal_vartime(&reference, &nonce, &aad, plain);
            for (name, features) in available(gcm::variants()) {
                for from in [0, usize::MAX] {
                    let mut gcm = <Gcm as Aead>::new(&key, features);
                    gcm.seal(&nonce, &[], InOut::in_place(&mut vec![0; 1 << 16]), &mut [0; 16]).unwrap();
                    gcm.precompute_two_rounds_from(from);
                    let (mut out, mut tag) = (vec![0; len], [0; 16]);
                    gcm.seal(&nonce, &aad, InOut::apart(plain, &mut out), &mut tag).unwrap();
                    assert!(out == sealed, "{name}: {len} bytes, two rounds from {from}");
                    assert_eq!(tag, expected, "{name}: {len} bytes, two rounds from {from}");
                    gcm.open(&nonce, &aad, InOut::in_place(&mut out), &tag).unwrap();
                    assert!(out == plain, "{name}: {len} bytes opened, two rounds from {from}");
                }
            }
        }
    }
}

// claim: tested-kernels
#[test]
#[cfg_attr(miri, ignore = "large")]
fn nonces_of_every_length() {
    each_size::<Gcm>(|bits, reference, keys| {
        for len in every(0..600) {
            let case = Case::new::<Gcm>(reference, pattern(len + 1, 0x55), len, len % 33);
            case.check_all(keys, bits, len);
        }
    });
}

/// Test cases 4 to 6, 10 to 12 and 16 to 18 of McGrew and Viega: keys of three sizes, nonces of 12,
/// 8 and 60 bytes.
#[test]
fn mc_grew_and_viega() {
    const KEY: &str = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
    const PLAIN: &str = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                         1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
    const AAD: &str = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
    const LONG: &str = "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728\
                        c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b";
    const NONCES: [&str; 3] = ["cafebabefacedbaddecaf888", "cafebabefacedbad", LONG];
    // The tag depends on the ciphertext, so one ciphertext is enough.
    const SEALED: &str = "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
                          8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662";
    const TAGS: [(usize, [&str; 3]); 3] = [
        (
            16,
            [
                "5bc94fbc3221a5db94fae95ae7121a47",
                "3612d2e79e3b0785561be14aaca2fccb",
                "619cc5aefffe0bfa462af43c1699d050",
            ],
        ),
        (
            24,
            [
                "2519498e80f1478f37ba55bd6d27618c",
                "65dcc57fcf623a24094fcca40d3533f8",
                "dcf566ff291c25bbb8568fc3d376a6d9",
            ],
        ),
        (
            32,
            [
                "76fc6ece0f4e1768cddf8853bb2d551b",
                "3a337dbf46a792c45e454913fe2ea8f2",
                "a44a8266ee1c8eb0c8b5d4cf5ae9f19a",
            ],
        ),
    ];
    for (name, features) in available(gcm::variants()) {
        for (len, tags) in TAGS {
            let gcm = Gcm::new(&hex(KEY)[..len], features).unwrap();
            for (nonce, want) in NONCES.into_iter().zip(tags) {
                let (mut data, mut tag) = (hex(PLAIN), [0; 16]);
                gcm.seal(&hex(nonce), &hex(AAD), InOut::in_place(&mut data), &mut tag).unwrap();
                assert_eq!(tag[..], hex(want), "{name} key {len} nonce {nonce}");
                if len == 32 && nonce.len() == 24 {
                    assert_eq!(data, hex(SEALED), "{name}");
                }
            }
        }
    }
}

#[test]
fn an_empty_nonce_does_not_panic() {
    for (_, features) in available(gcm::variants()) {
        let gcm = Gcm::new(&[1; 16], features).unwrap();
        let (mut data, mut tag) = ([7; 40], [0; 16]);
        gcm.seal(&[], &[], InOut::in_place(&mut data), &mut tag).unwrap();
        assert_eq!(gcm.open(&[], &[], InOut::in_place(&mut data), &tag), Ok(()));
        assert_eq!(data, [7; 40]);
    }
}

#[test]
fn accepts_only_keys_of_16_24_and_32_bytes() {
    for len in 0..100 {
        let made = Gcm::new(&vec![1; len], Features::detect());
        match len {
            16 | 24 | 32 => assert!(made.is_ok()),
            _ => assert_eq!(made.err(), Some(KeyError::InvalidLength(len))),
        }
    }
}

#[test]
fn keys_are_send_and_sync_and_debug_hides_them() {
    fn crosses<T: Send + Sync>(_: &T) {}
    let gcm = Gcm::new(&[0x6b; 32], Features::NONE).unwrap();
    crosses(&gcm);
    assert_eq!(format!("{gcm:?}"), "Gcm { size: Bits256, variant: \"portable\", .. }");
}

//! Every row of the GCM table against the slow twin, in every way that a call can be laid out.
//!
//! `SEALANE_ROWS=vaes512,aesni,portable` makes it a failure if one of these rows cannot run here.

mod pen;

use kernels::InOut;
use kernels::aes::KeyLength;
use kernels::cpu::Features;
use kernels::gcm::{self, Gcm, OpenError};
use pen::{Edge, Pen};
use reference::gcm::Gcm as Twin;

const AAD_LENGTHS: [usize; 14] = [0, 1, 12, 13, 15, 16, 17, 64, 127, 128, 129, 255, 511, 1000];
const NONCE_LENGTHS: [usize; 9] = [12, 1, 8, 11, 13, 16, 17, 60, 300];
const MARGIN: usize = 80;

/// Each row that can run, with features that pick exactly it.
fn rows() -> Vec<(&'static str, Features)> {
    let here = Features::detect();
    let mut rows = Vec::new();
    for row in gcm::variants() {
        match row.check(here) {
            Ok(()) => rows.push((row.name, here.only(row.needs))),
            Err(missing) => eprintln!("NOT RUN: row {} ({missing} is missing)", row.name),
        }
    }
    for wanted in std::env::var("SEALANE_ROWS").unwrap_or_default().split(',').filter(|name| !name.is_empty())
    {
        assert!(
            rows.iter().any(|(name, _)| *name == wanted),
            "SEALANE_ROWS wants {wanted}, which cannot run here"
        );
    }
    rows
}

/// The twin of each key size with the keys of all rows.
fn each_size(mut check: impl FnMut(usize, &Twin, &[Gcm])) {
    let rows = rows();
    for bits in [128, 192, 256] {
        let key = &pattern(32, 77)[..bits / 8];
        let keys: Vec<Gcm> = rows
            .iter()
            .map(|(name, features)| {
                let gcm = Gcm::new(key, *features).unwrap();
                assert_eq!(gcm.variant(), *name);
                gcm
            })
            .collect();
        check(bits, &Twin::new_vartime(key), &keys);
    }
}

/// Period 251: prime, so that no two blocks look alike and an exchange of two cannot hide.
fn pattern(len: usize, salt: u8) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8 ^ salt).collect()
}

/// A message with what the twin makes of it.
struct Case {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    plain: Vec<u8>,
    sealed: Vec<u8>,
    tag: [u8; 16],
}

impl Case {
    fn new(twin: &Twin, nonce: Vec<u8>, aad: usize, len: usize) -> Self {
        let (aad, plain) = (pattern(aad, 0x91), pattern(len, 0x3c));
        let (sealed, tag) = twin.seal_vartime(&nonce, &aad, &plain);
        Self { nonce, aad, plain, sealed, tag }
    }

    /// Both directions, in place and apart, at addresses that `turn` moves, between canaries.
    fn check(&self, gcm: &Gcm, bits: usize, turn: usize) {
        let len = self.plain.len();
        let what = || {
            let (row, nonce, aad) = (gcm.variant(), self.nonce.len(), self.aad.len());
            format!("{row} AES-{bits} nonce {nonce} aad {aad} len {len} turn {turn}")
        };
        let (read, write) = (turn % 64, turn / 7 % 64);
        for (from, to, seal) in [(&self.plain, &self.sealed, true), (&self.sealed, &self.plain, false)] {
            let run = |data: InOut<'_>| {
                let mut tag = self.tag;
                if seal {
                    tag = [0xee; 16];
                    gcm.seal(&self.nonce, &self.aad, data, &mut tag).unwrap();
                } else {
                    assert_eq!(gcm.open(&self.nonce, &self.aad, data, &tag), Ok(()), "{} open", what());
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

/// The portable row is slow, so it sees every length only where a path can end.
fn skip(gcm: &Gcm, len: usize) -> bool {
    gcm.variant() == "portable" && len > 300 && !len.is_multiple_of(17)
}

/// Small enough for Miri, which sees every byte that is touched without any guard page.
#[test]
fn a_little_of_everything() {
    let key = pattern(32, 5);
    let (twin, gcm) = (Twin::new_vartime(&key), Gcm::new(&key, Features::detect()).unwrap());
    assert!(!cfg!(miri) || gcm.variant() == "portable", "Miri has no other instructions");
    for (nonce, aad, len) in [(12, 0, 0), (12, 13, 64), (8, 0, 17), (12, 20, 300)] {
        Case::new(&twin, pattern(nonce, 1), aad, len).check(&gcm, 256, len);
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_length() {
    each_size(|bits, twin, keys| {
        for len in 0..=1100 {
            for (i, nonce) in [12, NONCE_LENGTHS[len % NONCE_LENGTHS.len()]].into_iter().enumerate() {
                let aad = AAD_LENGTHS[(len + 5 * i) % AAD_LENGTHS.len()];
                let case = Case::new(twin, pattern(nonce, len as u8), aad, len);
                for gcm in keys.iter().filter(|gcm| !skip(gcm, len)) {
                    case.check(gcm, bits, 41 * len + i);
                }
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_nonce_and_aad_length() {
    each_size(|bits, twin, keys| {
        for nonce in NONCE_LENGTHS {
            for aad in AAD_LENGTHS {
                for len in [0, 1, 16, 63, 64, 65, 255, 256, 257, 511, 512, 513, 700] {
                    let case = Case::new(twin, pattern(nonce, 0x55), aad, len);
                    for gcm in keys.iter().filter(|gcm| !skip(gcm, len)) {
                        case.check(gcm, bits, nonce + aad + len);
                    }
                }
            }
        }
        for len in 0..600 {
            let case = Case::new(twin, pattern(len + 1, 0x55), len, len % 33);
            keys.iter().filter(|gcm| !skip(gcm, len)).for_each(|gcm| case.check(gcm, bits, len));
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn large_lengths() {
    each_size(|bits, twin, keys| {
        for len in [2 << 10, 4 << 10, 16 << 10, 64 << 10].into_iter().flat_map(|n| [n - 1, n, n + 1]) {
            let case = Case::new(twin, pattern(12, 9), 13, len);
            for gcm in keys.iter().filter(|gcm| gcm.variant() != "portable" || len < 5000) {
                (0..3).for_each(|turn| case.check(gcm, bits, 17 * turn));
            }
        }
        for aad in [4095, 20_000, 66_000] {
            let case = Case::new(twin, pattern(12, 9), aad, 100);
            keys.iter().for_each(|gcm| case.check(gcm, bits, aad));
        }
    });
}

/// The counter has 32 bits and leaves the rest of its block alone when it wraps.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn counters_wrap_inside_their_word() {
    const REST: u128 = 0x0011_2233_ffff_ffff_ffff_ffff_0000_0000;
    each_size(|bits, twin, keys| {
        for before in [1, 2, 3, 4, 5, 6, 9, 17, 18, 32, 33, 34, 35, 65, 70, 200] {
            let nonce = twin.nonce_for_vartime(REST | u128::from(0u32.wrapping_sub(before)));
            for len in [0, 1, 16, 17, 33, 64, 65, 150, 256, 300, 511, 512, 700, 1024, 1100, 1700, 4000] {
                let case = Case::new(twin, nonce.to_vec(), 3, len);
                for gcm in keys.iter().filter(|gcm| !skip(gcm, len)) {
                    case.check(gcm, bits, len);
                }
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_alignment() {
    each_size(|bits, twin, keys| {
        for len in [33, 64, 131, 600] {
            let case = Case::new(twin, pattern(12, 1), 13, len);
            for gcm in keys.iter().filter(|gcm| gcm.variant() != "portable") {
                (0..64 * 7).for_each(|turn| case.check(gcm, bits, turn));
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn no_byte_past_either_end() {
    let mut pens = [(); 4].map(|()| Pen::new());
    each_size(|bits, twin, keys| {
        for len in 0..=1100 {
            let nonce = NONCE_LENGTHS[len % NONCE_LENGTHS.len()];
            let case = Case::new(twin, pattern(nonce, 0x1e), AAD_LENGTHS[len % AAD_LENGTHS.len()], len);
            for gcm in keys.iter().filter(|gcm| !skip(gcm, len)) {
                for edge in [Edge::Start, Edge::End] {
                    let what = format!("{} AES-{bits} len {len} {edge:?}", gcm.variant());
                    let [source, target, aad, iv] = &mut pens;
                    let (from, to) = (source.bytes(len, edge), target.bytes(len, edge));
                    let (aad, iv) = (aad.bytes(case.aad.len(), edge), iv.bytes(nonce, edge));
                    from.copy_from_slice(&case.plain);
                    aad.copy_from_slice(&case.aad);
                    iv.copy_from_slice(&case.nonce);
                    let mut tag = [0; 16];
                    gcm.seal(iv, aad, InOut::apart(from, to), &mut tag).unwrap();
                    assert!(to == case.sealed && tag == case.tag, "{what} apart");
                    assert_eq!(gcm.open(iv, aad, InOut::in_place(to), &tag), Ok(()), "{what}");
                    assert!(to == case.plain, "{what} in place");
                }
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn a_forgery_leaves_zeros() {
    each_size(|bits, twin, keys| {
        for len in [0, 1, 16, 64, 65, 256, 300, 512, 1600] {
            let case = Case::new(twin, pattern(12, 2), 20, len);
            for gcm in keys {
                let refused = |nonce: &[u8], aad: &[u8], sealed: &[u8], tag: &[u8; 16]| {
                    let what = format!("{} AES-{bits} len {len}", gcm.variant());
                    let (mut here, mut there) = (sealed.to_vec(), vec![0xee; len]);
                    let answer = gcm.open(nonce, aad, InOut::in_place(&mut here), tag);
                    assert_eq!(answer, Err(OpenError::Forged), "{what}");
                    let answer = gcm.open(nonce, aad, InOut::apart(sealed, &mut there), tag);
                    assert_eq!(answer, Err(OpenError::Forged), "{what}");
                    assert!(here.iter().chain(&there).all(|b| *b == 0), "{what}");
                };
                for bit in 0..128 {
                    let mut tag = case.tag;
                    tag[bit / 8] ^= 1 << (bit % 8);
                    refused(&case.nonce, &case.aad, &case.sealed, &tag);
                }
                let flipped = |bytes: &[u8], at: usize| {
                    let mut bytes = bytes.to_vec();
                    bytes[at] ^= 0x10;
                    bytes
                };
                for at in (0..len).step_by(37) {
                    refused(&case.nonce, &case.aad, &flipped(&case.sealed, at), &case.tag);
                }
                refused(&flipped(&case.nonce, 11), &case.aad, &case.sealed, &case.tag);
                refused(&case.nonce, &flipped(&case.aad, 19), &case.sealed, &case.tag);
                refused(&case.nonce, &case.aad[..19], &case.sealed, &case.tag);
            }
        }
    });
}

/// The memory may not be touched at all, so the answer comes before the first byte.
#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
fn too_long_is_said_first() {
    const LIMIT: usize = (1 << 36) - 32;
    // SAFETY: a new mapping without any access.
    let all = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        libc::mmap(std::ptr::null_mut(), LIMIT + 1, libc::PROT_NONE, flags, -1, 0)
    };
    if all == libc::MAP_FAILED {
        eprintln!("NOT RUN: data that is too long (no address space for it)");
        return;
    }
    // SAFETY: it is only handed on as an address and a length; whoever touches it dies, which fails the test.
    let data = unsafe { std::slice::from_raw_parts_mut(all.cast::<u8>(), LIMIT + 1) };
    let gcm = Gcm::new(&[1; 32], Features::detect()).unwrap();
    let mut tag = [0xab; 16];
    assert_eq!(gcm.seal(&[0; 12], &[], InOut::in_place(data), &mut tag), Err(gcm::TooLong));
    assert_eq!(tag, [0xab; 16]);
    assert_eq!(gcm.open(&[0; 12], &[], InOut::in_place(data), &tag), Err(OpenError::TooLong));
    // SAFETY: exactly what was mapped.
    unsafe { libc::munmap(all, LIMIT + 1) };
}

fn hex(digits: &str) -> Vec<u8> {
    digits
        .as_bytes()
        .chunks(2)
        .map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

/// McGrew and Viega, test cases 4 to 6, 10 to 12 and 16 to 18: keys of three sizes, nonces of 12, 8 and 60 bytes.
#[test]
fn mc_grew_and_viega() {
    const KEY: &str = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
    const PLAIN: &str = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                         1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
    const AAD: &str = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
    const LONG: &str = "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728\
                        c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b";
    const NONCES: [&str; 3] = ["cafebabefacedbaddecaf888", "cafebabefacedbad", LONG];
    // A tag covers its ciphertext, so one ciphertext is enough.
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
    for (name, features) in rows() {
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
    for (_, features) in rows() {
        let gcm = Gcm::new(&[1; 16], features).unwrap();
        let (mut data, mut tag) = ([7; 40], [0; 16]);
        gcm.seal(&[], &[], InOut::in_place(&mut data), &mut tag).unwrap();
        assert_eq!(gcm.open(&[], &[], InOut::in_place(&mut data), &tag), Ok(()));
        assert_eq!(data, [7; 40]);
    }
}

#[test]
fn only_three_key_lengths() {
    for len in 0..100 {
        let made = Gcm::new(&vec![1; len], Features::detect());
        match len {
            16 | 24 | 32 => assert!(made.is_ok()),
            _ => assert_eq!(made.err(), Some(KeyLength(len))),
        }
    }
}

#[test]
fn nothing_of_the_key_is_printed_and_keys_may_cross_threads() {
    fn crosses<T: Send + Sync>(_: &T) {}
    let gcm = Gcm::new(&[0x6b; 32], Features::NONE).unwrap();
    crosses(&gcm);
    assert_eq!(format!("{gcm:?}"), "Gcm { size: Bits256, variant: \"portable\", .. }");
}

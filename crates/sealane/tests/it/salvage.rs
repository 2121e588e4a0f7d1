//! Damaged files of every format: every chunk that verifies is written, and nothing else.

use sealane::age::{Armor, Identity, Kind};
use sealane::file::{
    DecryptWith, EncryptParams, EncryptWith, FileEnd, FileHeader, Format, Options, Salvaged, encrypt,
    salvage_file,
};
use sealane::keys::{Keyring, Prefix};
use sealane::{Error, Key, Misuse};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            Self(std::env::temp_dir().join(format!("sealane-salvage-{name}-{}", std::process::id())));
        let _ = fs::remove_dir_all(&folder.0);
        fs::create_dir_all(&folder.0).unwrap();
        folder
    }

    /// Salvages a file with this content. Returns the result with the output.
    fn salvage(&self, sealed: &[u8], with: &DecryptWith) -> Result<(Salvaged, Vec<u8>), Error> {
        let (from, to) = (self.0.join("from"), self.0.join("to"));
        fs::write(&from, sealed).unwrap();
        let _ = fs::remove_file(&to);
        match salvage_file(&from, &to, with, Options::default()) {
            Ok(found) => Ok((found, fs::read(&to).unwrap())),
            Err(error) => {
                assert_eq!(fs::read_dir(&self.0).unwrap().count(), 1, "nothing is written");
                Err(error)
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns bytes of which none is zero, so that a hole is not mistaken for data.
fn data(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8 + 1).collect()
}

/// A format with its keys and the positions of its chunks.
struct Case {
    name: &'static str,
    encrypt: EncryptWith,
    decrypt: DecryptWith,
    /// Number of plaintext bytes in a chunk, and number of those by which the first chunk is
    /// shorter.
    chunk: usize,
    lead: usize,
    /// Whether a full chunk can be the last one.
    full_last: bool,
}

fn cases() -> Vec<Case> {
    let key = Key::from_bytes(&[7; 32]);
    let symmetric = |name, format, chunk, lead, full_last| {
        let params =
            EncryptParams { key: Some(key.clone().into()), context: b"c", format, ..Default::default() };
        let encrypt = params.build().unwrap();
        let decrypt = encrypt.to_decrypt().unwrap().clone();
        Case { name, encrypt, decrypt, chunk, lead, full_last }
    };
    let identity = Identity::generate(Kind::X25519).unwrap();
    let other = Identity::generate(Kind::X25519).unwrap();
    vec![
        symmetric("chunked", None, 16_384, 0, false),
        Case {
            name: "age",
            encrypt: EncryptWith::age(&[other.recipient(), identity.recipient()], Armor::Binary),
            decrypt: DecryptWith::age(&[identity]),
            chunk: 65_536,
            lead: 0,
            full_last: true,
        },
        symmetric("tink-4kb", Some(Format::Tink4Kb), 4080, 40, true),
        symmetric("tink-1mb", Some(Format::Tink1Mb), (1 << 20) - 16, 40, true),
    ]
}

impl Case {
    /// Returns the length of the header in a file of this many bytes.
    fn header(&self, sealed: usize, plain: usize) -> usize {
        let len = plain + self.lead;
        let chunks = if self.full_last { len.div_ceil(self.chunk).max(1) } else { len / self.chunk + 1 };
        sealed - plain - 16 * chunks
    }

    /// Returns the range of chunk `index` in the file and in the plaintext.
    fn chunk_at(&self, index: usize, sealed: usize, plain: usize) -> [std::ops::Range<usize>; 2] {
        let header = self.header(sealed, plain);
        let start = |index: usize| (index * self.chunk).saturating_sub(self.lead).min(plain);
        let sealed_start = |index: usize| header + (index * (self.chunk + 16)).saturating_sub(self.lead);
        [sealed_start(index)..sealed_start(index + 1).min(sealed), start(index)..start(index + 1)]
    }
}

#[test]
fn one_changed_bit_costs_one_chunk() {
    let folder = Folder::new("bit");
    for case in cases() {
        let plain = data(7 * case.chunk + 1234);
        let sealed = encrypt(&plain, &case.encrypt).unwrap();
        let (found, out) = folder.salvage(&sealed, &case.decrypt).unwrap();
        assert!(found.is_complete() && out == plain, "{}", case.name);
        for index in [0, 1, 3, 6, 7] {
            let [range, lost] = case.chunk_at(index, sealed.len(), plain.len());
            for at in [range.start, range.start + 100, range.end - 1] {
                let mut changed = sealed.clone();
                changed[at] ^= 1;
                let (found, out) = folder.salvage(&changed, &case.decrypt).unwrap();
                let mut expected = plain.clone();
                expected[lost.clone()].fill(0);
                assert!(out == expected, "{} {index}", case.name);
                let [hole] = &found.holes[..] else { panic!("{found:?}") };
                assert_eq!(hole.chunks, index as u64..index as u64 + 1);
                assert_eq!(hole.plain, lost.start as u64..lost.end as u64);
                assert_eq!(hole.sealed, range.start as u64..range.end as u64);
                assert_eq!(found.verified_len() as usize, plain.len() - lost.len());
                let end = if index == 7 { FileEnd::Damaged } else { FileEnd::Verified };
                assert_eq!((found.header, found.end), (FileHeader::Verified, end), "{}", case.name);
                assert!(!found.is_complete());
            }
        }
    }
}

/// Cut at every kind of place: the output has the complete chunks, and the end is not taken for
/// that of the file.
#[test]
fn a_file_that_was_cut() {
    let folder = Folder::new("cut");
    for case in cases() {
        let plain = data(5 * case.chunk + 99);
        let sealed = encrypt(&plain, &case.encrypt).unwrap();
        for index in 1..6 {
            let [range, at] = case.chunk_at(index, sealed.len(), plain.len());
            for len in [range.start, range.start + 1, range.start + 16, range.start + 17, range.end - 1] {
                let (found, out) = folder.salvage(&sealed[..len], &case.decrypt).unwrap();
                assert!(!found.is_complete(), "{} {index} {len}", case.name);
                assert_ne!(found.end, FileEnd::Verified);
                assert!(
                    out[..at.start] == plain[..at.start] && out[at.start..].iter().all(|&byte| byte == 0)
                );
                assert_eq!(found.verified_len() as usize, at.start, "{} {index} {len} {found:?}", case.name);
                if len == range.start {
                    assert_eq!((found.end, &found.holes[..]), (FileEnd::Cut, &[][..]), "{}", case.name);
                }
            }
        }
        // Not even one chunk is complete.
        let [first, _] = case.chunk_at(0, sealed.len(), plain.len());
        for len in [1, first.start, first.start + 20, first.end - 1] {
            let error = folder.salvage(&sealed[..len], &case.decrypt).unwrap_err();
            let expected = matches!(
                error,
                Error::Truncated | Error::DamagedChunk { index: 0, .. } | Error::Authentication
            );
            assert!(expected, "{} {len} {error:?}", case.name);
            if len == first.start {
                assert!(matches!(error, Error::Truncated), "{} {error:?}", case.name);
            }
        }
    }
}

#[test]
fn consecutive_chunks_are_one_hole_up_to_the_end() {
    let folder = Folder::new("runs");
    for case in cases() {
        let plain = data(40 * case.chunk.min(65_536) + case.chunk);
        let mut sealed = encrypt(&plain, &case.encrypt).unwrap();
        let (len, all) = (sealed.len(), (plain.len() + case.lead) / case.chunk);
        for index in [1, 2, all - 1, all] {
            let [range, _] = case.chunk_at(index, len, plain.len());
            if !range.is_empty() {
                sealed[range.start] ^= 0x80;
            }
        }
        let (found, out) = folder.salvage(&sealed, &case.decrypt).unwrap();
        let ranges: Vec<_> = found.holes.iter().map(|hole| hole.plain.clone()).collect();
        assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
        assert_eq!((found.end, ranges.last().unwrap().end as usize), (FileEnd::Damaged, plain.len()));
        let mut expected = plain.clone();
        ranges.iter().for_each(|range| expected[range.start as usize..range.end as usize].fill(0));
        assert!(out == expected, "{}", case.name);
    }
}

/// The commitment, the MAC and the length do not carry keys. The salt, the nonce and the file key
/// do.
#[test]
fn a_damaged_header() {
    let folder = Folder::new("header");
    for case in cases() {
        let plain = data(3 * case.chunk + 5);
        let sealed = encrypt(&plain, &case.encrypt).unwrap();
        let header = case.header(sealed.len(), plain.len());
        let mut salvaged = 0;
        for at in 0..header {
            let mut changed = sealed.clone();
            changed[at] ^= 2;
            match folder.salvage(&changed, &case.decrypt) {
                Ok((found, out)) => {
                    salvaged += 1;
                    assert_eq!((found.header, found.end), (FileHeader::Damaged, FileEnd::Verified));
                    assert!(found.is_complete() && out == plain, "{} {at}", case.name);
                }
                Err(error) => assert!(
                    matches!(
                        error,
                        Error::Authentication
                            | Error::Header(_)
                            | Error::Format(_)
                            | Error::UnsupportedVersion(_)
                            | Error::NoMatchingKey
                    ),
                    "{error:?}"
                ),
            }
        }
        let expected = match case.name {
            "chunked" => 32..33,
            // The key share and the body of the stanza of the other recipient, and the MAC.
            "age" => 100..150,
            _ => 1..2,
        };
        assert!(expected.contains(&salvaged), "{} {salvaged}", case.name);
    }
}

#[test]
fn another_key_salvages_nothing() {
    let folder = Folder::new("key");
    for case in cases() {
        let sealed = encrypt(&data(200_000), &case.encrypt).unwrap();
        let other = match case.name {
            "age" => DecryptWith::age(&[Identity::generate(Kind::X25519).unwrap()]),
            "chunked" => DecryptWith::key(&Key::from_bytes(&[8; 32]), b"c"),
            _ => {
                let name = case.name.parse().unwrap();
                let ring = Keyring::generate(name, Prefix::Raw).unwrap();
                DecryptWith::keyring(&ring, b"c").unwrap()
            }
        };
        let error = folder.salvage(&sealed, &other).unwrap_err();
        assert!(matches!(error, Error::Authentication | Error::NoMatchingKey), "{error:?}");
    }
}

/// A keyring finds the key of a file by its commitment or its first segment, also if both are
/// damaged.
#[test]
fn a_keyring_finds_the_key_of_a_damaged_file() {
    let folder = Folder::new("ring");
    for (name, first_chunk) in [("aes-256-gcm", 56), ("tink-4kb", 40)] {
        let key_type = name.parse().unwrap();
        let mut ring = Keyring::generate(key_type, Prefix::default_for(&key_type)).unwrap();
        let mut sealed = encrypt(&data(100_000), &EncryptWith::keyring(&ring, b"").unwrap()).unwrap();
        let id = ring.add_new(key_type, Prefix::default_for(&key_type)).unwrap();
        ring.promote(id).unwrap();
        if first_chunk == 56 {
            sealed[30] ^= 1;
        }
        sealed[first_chunk + 3] ^= 1;
        let (found, _) = folder.salvage(&sealed, &DecryptWith::keyring(&ring, b"").unwrap()).unwrap();
        assert_eq!((found.header, found.end), (FileHeader::Damaged, FileEnd::Verified), "{name}");
        assert_eq!(found.holes.len(), 1);
        // Only a chunk in the middle tells the key.
        let last = sealed.len() - 1;
        sealed[last] ^= 1;
        let (found, _) = folder.salvage(&sealed, &DecryptWith::keyring(&ring, b"").unwrap()).unwrap();
        assert_eq!((found.header, found.end), (FileHeader::Damaged, FileEnd::Damaged), "{name}");
        assert_eq!(found.holes.len(), 2);
    }
}

#[test]
fn an_armored_file() {
    let folder = Folder::new("armor");
    let identity = Identity::generate(Kind::X25519).unwrap();
    let plain = data(300_000);
    let sealed = encrypt(&plain, &EncryptWith::age(&[identity.recipient()], Armor::Ascii)).unwrap();
    let with = DecryptWith::age(&[identity]);
    let middle = sealed.len() / 2;
    // Another character of base64, and one that is none.
    for byte in [if sealed[middle] == b'A' { b'B' } else { b'A' }, b'!'] {
        let mut changed = sealed.clone();
        changed[middle] = byte;
        let (found, out) = folder.salvage(&changed, &with).unwrap();
        assert_eq!((found.holes.len(), found.end), (1, FileEnd::Verified));
        let hole = found.holes[0].plain.start as usize..found.holes[0].plain.end as usize;
        assert!(out[..hole.start] == plain[..hole.start] && out[hole.end..] == plain[hole.end..]);
    }
}

#[test]
fn inputs_are_protected() {
    let folder = Folder::new("inputs");
    let key = Key::from_bytes(&[7; 32]);
    let with = DecryptWith::key(&key, b"");
    let from = folder.0.join("from");
    fs::write(&from, encrypt(&data(100), &EncryptWith::key(&key, b"")).unwrap()).unwrap();
    let same = salvage_file(&from, &from, &with, Options::default());
    assert!(matches!(same, Err(Error::Misuse(Misuse::SameFile(_)))), "{same:?}");
    fs::write(&from, b"").unwrap();
    let empty = salvage_file(&from, &folder.0.join("to"), &with, Options::default());
    assert!(matches!(empty, Err(Error::Truncated)), "{empty:?}");
    if Path::new("/dev/null").exists() {
        let device = salvage_file(Path::new("/dev/null"), &folder.0.join("to"), &with, Options::default());
        assert!(matches!(device, Err(Error::Misuse(Misuse::UnsupportedSource(_)))), "{device:?}");
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}

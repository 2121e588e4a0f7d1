//! Files for recipients and passphrases through all interfaces (paths, memory, pieces, random
//! access), binary and armored.

use sealane::Error;
use sealane::age::{Armor, Identity, Kind, Recipient};
use sealane::file::{self, DecryptWith, Decryptor, EncryptWith, Encryptor, Options, Reader, Writer};
use std::fs;
use std::path::PathBuf;

const CHUNK: usize = 65_536;

/// Returns bytes with the period 251, so that any two chunks differ.
fn plain(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("sealane-people-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn keys(kind: Kind, armor: Armor) -> (EncryptWith, DecryptWith) {
    let identity = Identity::generate(kind).unwrap();
    (EncryptWith::age(&[identity.recipient()], armor), DecryptWith::age(&[identity]))
}

fn in_pieces(sealed: &[u8], piece: usize, unlock: &DecryptWith) -> Result<Vec<u8>, Error> {
    let mut decryptor = Decryptor::new(Vec::new(), unlock);
    for piece in sealed.chunks(piece) {
        decryptor.push(piece)?;
    }
    decryptor.finish()
}

#[test]
fn all_interfaces_agree() {
    let folder = Folder::new("ways");
    for (kind, armor) in
        [(Kind::X25519, Armor::Binary), (Kind::X25519, Armor::Ascii), (Kind::Hybrid, Armor::Ascii)]
    {
        let (lock, unlock) = keys(kind, armor);
        for len in [0, 1, 47, 48, 49, CHUNK - 1, CHUNK, CHUNK + 1, 4 * CHUNK, 5 * CHUNK + 7, 5_000_000] {
            let plain = plain(len);
            let sealed = file::encrypt(&plain, &lock).unwrap();
            let (source, target) = (folder.at("plain"), folder.at("sealed"));
            fs::write(&source, &plain).unwrap();
            file::encrypt_file(&source, &target, &lock, Options::default()).unwrap();
            let mut encryptor = Encryptor::new(Vec::new(), &lock).unwrap();
            let mut writer = Writer::create(&folder.at("written"), &lock).unwrap();
            for piece in plain.chunks(100_003) {
                encryptor.push(piece).unwrap();
                writer.push(piece).unwrap();
            }
            writer.finish(file::Durability::Cached).unwrap();
            let files = [
                sealed,
                fs::read(&target).unwrap(),
                encryptor.finish().unwrap(),
                fs::read(folder.at("written")).unwrap(),
            ];
            for sealed in &files {
                assert_eq!(sealed.len(), files[0].len(), "{armor:?} {len}");
                assert_eq!(sealed.starts_with(b"-----BEGIN AGE"), armor == Armor::Ascii);
                assert!(file::decrypt(sealed, &unlock).unwrap() == plain);
                assert!(in_pieces(sealed, 70_001, &unlock).unwrap() == plain);
                let reader = Reader::new(&sealed[..], &unlock).unwrap();
                assert_eq!(reader.size(), len as u64);
                for at in [0, len / 3, len.saturating_sub(3), len] {
                    let mut read = vec![0; 2 * CHUNK + 5];
                    let n = reader.read_at(at as u64, &mut read).unwrap();
                    assert!(read[..n] == plain[at..len.min(at + 2 * CHUNK + 5)]);
                }
            }
            file::decrypt_file(&target, &folder.at("back"), &unlock, Options::default()).unwrap();
            assert!(fs::read(folder.at("back")).unwrap() == plain);
            file::verify_file(&target, &unlock, Options::default()).unwrap();
            let info = file::inspect(&target, None).unwrap();
            assert_eq!((info.format, info.armor, info.plaintext_len), ("age v1", armor, len as u64));
            assert_eq!(info.chunks, (len as u64).div_ceil(CHUNK as u64).max(1));
            assert_eq!(info.recipients.len(), 1);
        }
        let tiny = file::encrypt(b"byte by byte", &lock).unwrap();
        assert_eq!(in_pieces(&tiny, 1, &unlock).unwrap(), b"byte by byte");
    }
}

#[test]
fn reports_each_failure_by_its_own_error() {
    let (lock, unlock) = keys(Kind::X25519, Armor::Binary);
    let (_, other) = keys(Kind::X25519, Armor::Binary);
    let sealed = file::encrypt(&plain(200_000), &lock).unwrap();
    let check_error = |sealed: &[u8], unlock: &DecryptWith, expected: fn(&Error) -> bool| {
        let errors = [
            file::decrypt(sealed, unlock).unwrap_err(),
            in_pieces(sealed, 1000, unlock).unwrap_err(),
            Reader::new(sealed, unlock)
                .and_then(|reader| reader.read_at(0, &mut vec![0; 200_000]).map(drop))
                .unwrap_err(),
        ];
        for error in errors {
            assert!(expected(&error), "{error}");
        }
    };
    check_error(&sealed, &other, |e| matches!(e, Error::NoMatchingKey));
    check_error(b"not an age file", &unlock, |e| matches!(e, Error::Format(_)));
    check_error(b"", &unlock, |e| matches!(e, Error::Truncated | Error::Format(_)));
    check_error(b"age-encryption.org/v9\n-> X\n", &unlock, |e| matches!(e, Error::UnsupportedVersion(_)));
    check_error(&sealed[..100], &unlock, |e| matches!(e, Error::Truncated));
    check_error(&sealed[..sealed.len() - 1], &unlock, |e| matches!(e, Error::DamagedChunk { index: 3, .. }));
    let mut damaged = sealed.clone();
    damaged[150] ^= 1;
    check_error(&damaged, &unlock, |e| matches!(e, Error::Header(_)));
    let mut damaged = sealed.clone();
    *damaged.last_mut().unwrap() ^= 1;
    check_error(&damaged, &unlock, |e| matches!(e, Error::DamagedChunk { index: 3, .. }));

    let lock =
        EncryptWith::age(&[Recipient::passphrase_with_work_factor("right", 10).unwrap()], Armor::Binary);
    let sealed = file::encrypt(b"some", &lock).unwrap();
    let right = DecryptWith::age(&[Identity::passphrase("right")]);
    assert_eq!(file::decrypt(&sealed, &right).unwrap(), b"some");
    check_error(&sealed, &DecryptWith::age(&[Identity::passphrase("wrong")]), |e| {
        matches!(e, Error::WrongPassphrase)
    });
    let meek = DecryptWith::age(&[Identity::passphrase_with_max_work_factor("right", 9)]);
    check_error(&sealed, &meek, |e| matches!(e, Error::WorkFactor { requested: 10, max: 9 }));
}

/// Mixed line ends allow no random access, but the armor can be read in order.
#[test]
fn armor_with_mixed_line_ends_is_read_in_order() {
    let folder = Folder::new("mixed");
    let (lock, unlock) = keys(Kind::X25519, Armor::Ascii);
    let text = String::from_utf8(file::encrypt(&plain(100_000), &lock).unwrap()).unwrap();
    let mixed: String = text
        .lines()
        .enumerate()
        .map(|(i, line)| format!("{line}{}", if i % 2 == 0 { "\n" } else { "\r\n" }))
        .collect();
    fs::write(folder.at("mixed"), &mixed).unwrap();
    assert!(file::decrypt(mixed.as_bytes(), &unlock).unwrap() == plain(100_000));
    assert!(matches!(Reader::new(mixed.as_bytes(), &unlock), Err(Error::Armor(_))));
    file::decrypt_file(&folder.at("mixed"), &folder.at("back"), &unlock, Options::default()).unwrap();
    assert!(fs::read(folder.at("back")).unwrap() == plain(100_000));
    let even = text.replace('\n', "\r\n");
    assert!(Reader::new(even.as_bytes(), &unlock).is_ok());
}

#[test]
fn rejects_recipients_that_cannot_be_combined_before_writing() {
    let folder = Folder::new("together");
    fs::write(folder.at("plain"), b"some").unwrap();
    let [classic, hybrid] =
        [Kind::X25519, Kind::Hybrid].map(|kind| Identity::generate(kind).unwrap().recipient());
    let passphrase = Recipient::passphrase_with_work_factor("x", 10).unwrap();
    for pair in [[classic.clone(), hybrid], [classic, passphrase]] {
        let lock = EncryptWith::age(&pair, Armor::Binary);
        let refused =
            file::encrypt_file(&folder.at("plain"), &folder.at("sealed"), &lock, Options::default());
        assert!(matches!(refused, Err(Error::Misuse(_))));
    }
    let without_recipient = file::encrypt(b"", &EncryptWith::age(&[], Armor::Binary));
    assert!(matches!(without_recipient, Err(Error::Misuse(_))));
    assert!(!folder.at("sealed").exists());
}

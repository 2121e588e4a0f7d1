//! Decryption of the golden files, which other implementations and earlier releases wrote (see
//! tests/golden/README.md).

use sealane::age::Identity;
use sealane::file::{self, DecryptWith, Reader};
use sealane::keys::Keyring;
use sealane::{Key, keys};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

/// Returns the encrypted files of a folder. Files with the suffixes `other` are not encrypted.
fn files(folder: &Path, other: &[&str]) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|path| path.is_file() && !other.iter().any(|end| path.to_str().unwrap().ends_with(end)))
        .collect();
    files.sort();
    files
}

fn stem(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().unwrap()
}

/// Checks that all interfaces decrypt the file, and that the plaintext has the expected bytes.
fn opens(path: &Path, len: &str, unlock: &DecryptWith) {
    let plain: Vec<u8> = (0..len.parse::<usize>().unwrap()).map(|i| (i % 251) as u8).collect();
    let sealed = fs::read(path).unwrap();
    let name = path.display();
    assert!(file::decrypt(&sealed, unlock).unwrap() == plain, "{name}");
    assert_eq!(Reader::new(&sealed[..], unlock).unwrap().size(), plain.len() as u64, "{name}");
    let streamed = file::decrypt_stream(&sealed[..], Vec::new(), unlock, file::Options::default());
    assert!(streamed.unwrap() == plain, "{name}");
}

#[test]
fn chunked_files() {
    let files = files(&folder(), &["README.md"]);
    assert_eq!(files.len(), 8);
    for path in files {
        let [_, bits, len] = stem(&path).split('-').collect::<Vec<_>>()[..] else { panic!("{path:?}") };
        let key: Vec<u8> = (0..bits.parse::<u16>().unwrap() / 8).map(|i| i as u8).collect();
        opens(&path, len, &DecryptWith::key(&Key::from_bytes(&key), b"golden"));
    }
}

#[test]
fn age_files() {
    let files = files(&folder().join("age"), &[".key"]);
    assert_eq!(files.len(), 19);
    for path in files {
        // KIND-N-WRITER, where a kind may have hyphens.
        let mut parts = stem(&path).rsplitn(3, '-');
        let [_, len, kind] = [(); 3].map(|()| parts.next().unwrap());
        let identities = match kind {
            "passphrase" => vec![Identity::passphrase("golden")],
            kind => keys::load_identities(&folder().join(format!("age/{kind}.key")), None).unwrap(),
        };
        opens(&path, len, &DecryptWith::age(&identities));
    }
}

#[test]
fn tink_files() {
    let files = files(&folder().join("tink"), &[".json"]);
    assert_eq!(files.len(), 14);
    for path in files {
        let (template, len) = stem(&path).split_once('-').unwrap();
        let keyring =
            Keyring::from_json(&fs::read_to_string(folder().join(format!("tink/{template}.json"))).unwrap())
                .unwrap();
        opens(&path, len, &DecryptWith::keyring(&keyring, b"golden").unwrap());
    }
}

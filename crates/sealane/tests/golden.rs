//! Files that strangers wrote long ago open today.

use sealane::Key;
use sealane::file::{self, Unlock};
use std::path::Path;

#[test]
fn golden_files_open() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let mut opened = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name == "README.md" {
            continue;
        }
        let parts: Vec<_> = name.trim_end_matches(".sealed").split('-').collect();
        let [_, bits, len] = parts[..] else { panic!("a file of another kind: {name}") };
        let key: Vec<u8> = (0..bits.parse::<u16>().unwrap() / 8).map(|i| i as u8).collect();
        let plain: Vec<u8> = (0..len.parse::<usize>().unwrap()).map(|i| (i % 251) as u8).collect();
        let sealed = std::fs::read(&path).unwrap();
        assert_eq!(
            file::decrypt(&sealed, &Unlock::key(&Key::from_bytes(&key), b"golden")).unwrap(),
            plain,
            "{name}"
        );
        opened += 1;
    }
    assert_eq!(opened, 8);
}

//! The parser of manifests does not panic on any file, and a manifest that was opened can be opened
//! again.
// claim: input-no-crash

use sealane::file::Manifest;
use std::path::Path;

const HEADER: &[u8] = b"{\"sealane\":\"manifest\",\"version\":1}\n";

pub(crate) fn run(input: (bool, &[u8])) {
    let (with_header, lines) = input;
    let path = std::env::temp_dir().join(format!("sealane-fuzz-manifest-{}", std::process::id()));
    let content = [if with_header { HEADER } else { &[] }, lines].concat();
    std::fs::write(&path, &content).expect("a temporary file");
    if let Ok(manifest) = Manifest::open(&path) {
        assert!(!manifest.finished(Path::new("/no/such/source"), Path::new("/no/such/target")));
        drop(manifest);
        // Only an incomplete last line is removed.
        let left = std::fs::read(&path).expect("it is there");
        assert!(content.starts_with(&left) || content.len() < HEADER.len());
        Manifest::open(&path).expect("it was opened before");
    } else {
        assert_eq!(std::fs::read(&path).expect("it is there"), content, "a refused file is unchanged");
    }
}

//! Every target runs on its inputs in `fuzz/seeds` without a failure.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use targets::TARGETS;

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn each_target_has_seeds_and_a_file_for_libfuzzer() {
    let names: BTreeSet<_> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    for folder in ["seeds", "fuzz_targets", "targets/src"] {
        let found: BTreeSet<_> =
            files(folder).iter().map(|path| stem(path)).filter(|name| name != "lib").collect();
        assert_eq!(found, names, "{folder}");
    }
}

#[test]
fn each_seed_passes() {
    let mut failed = Vec::new();
    for (name, target) in TARGETS {
        for path in files(&format!("seeds/{name}")) {
            let bytes = fs::read(&path).unwrap();
            // A target is a function of its input, so nothing is left in an invalid state.
            if catch_unwind(|| target(&bytes)).is_err() {
                failed.push(path);
            }
        }
    }
    assert!(failed.is_empty(), "the messages above are of {failed:#?}");
}

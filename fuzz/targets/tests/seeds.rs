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

/// Returns the name and the bytes of each seed in a packed file, see `fuzz/seeds.py`.
fn unpack(mut packed: &[u8]) -> Vec<(String, &[u8])> {
    let mut seeds = Vec::new();
    while !packed.is_empty() {
        let line_end = packed.iter().position(|byte| *byte == b'\n').unwrap();
        let (name, length) = str::from_utf8(&packed[..line_end]).unwrap().split_once(' ').unwrap();
        let (seed, rest) = packed[line_end + 1..].split_at(length.parse().unwrap());
        seeds.push((name.to_owned(), seed));
        packed = rest.strip_prefix(b"\n").unwrap();
    }
    seeds
}

#[test]
fn each_seed_passes() {
    let mut failed = Vec::new();
    for path in files("seeds") {
        let target = TARGETS.iter().find(|(name, _)| *name == stem(&path)).unwrap().1;
        let packed = fs::read(&path).unwrap();
        let seeds = unpack(&packed);
        assert!(!seeds.is_empty(), "{}", path.display());
        for (name, seed) in seeds {
            // A target is a function of its input, so nothing is left in an invalid state.
            if catch_unwind(|| target(seed)).is_err() {
                failed.push(format!("{} {name}", path.display()));
            }
        }
    }
    assert!(failed.is_empty(), "the messages above are of {failed:#?}");
}

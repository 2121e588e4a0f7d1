//! Vaults as the tools made them.

use crate::memory::Memory;
use crate::tree::{Found, open, read_all};
use sealane::vault::Vault;
use sha2::{Digest, Sha256};
use vectors::{Plain, VaultCase};

pub(crate) fn cases() -> Vec<VaultCase> {
    ["gocryptfs", "cryptomator"].into_iter().flat_map(vectors::vaults).collect()
}

/// Compares every name, length, byte and link of a vault with what the tool put there.
pub(crate) fn compare(vault: &dyn Vault, case: &VaultCase) {
    let mut tree = read_all(vault);
    for (path, plain) in &case.entries {
        let found = tree.remove(path.as_bytes()).unwrap_or_else(|| panic!("{}: no {path}", case.file));
        let found = match found.unwrap_or_else(|error| panic!("{}: {path}: {error}", case.file)) {
            Found::File(bytes) => {
                Plain::File { size: bytes.len() as u64, sha256: Sha256::digest(&bytes).to_vec() }
            }
            Found::Folder => Plain::Folder,
            Found::Link(text) => Plain::Link(String::from_utf8(text).unwrap()),
        };
        assert_eq!(found, *plain, "{}: {path}", case.file);
    }
    assert!(tree.is_empty(), "{}: {:?}", case.file, tree.keys());
}

/// Every name, length, byte and link is what the tool reads.
#[test]
fn vaults_are_read_as_their_tools_read_them() {
    for case in cases() {
        let vault =
            open(&Memory::new(&case.stored), &case.password).unwrap_or_else(|e| panic!("{}: {e}", case.file));
        compare(&*vault, &case);
    }
}

/// Ranges that begin and end around each border of a chunk, and past the end of the file.
#[test]
fn ranges_at_the_borders_of_chunks() {
    for case in cases() {
        let chunk = case.fields["chunk"].as_u64().unwrap();
        let vault = open(&Memory::new(&case.stored), &case.password).unwrap();
        for (path, found) in read_all(&*vault) {
            let Ok(Found::File(whole)) = found else { continue };
            let file = vault.open(&path).unwrap();
            let len = whole.len() as u64;
            let borders =
                (0..=len / chunk + 1).flat_map(|n| [(n * chunk).saturating_sub(1), n * chunk, n * chunk + 1]);
            let mut borders: Vec<_> =
                borders.chain([len.saturating_sub(1), len, len + 1, u64::MAX]).collect();
            borders.sort_unstable();
            borders.dedup();
            for &start in &borders {
                for &end in borders.iter().filter(|end| (start..=len + 1).contains(end)) {
                    let mut into = vec![0xee; (end - start) as usize];
                    let n = file.read_at(start, &mut into).unwrap();
                    let (from, to) = (start.min(len) as usize, end.min(len) as usize);
                    assert_eq!(into[..n], whole[from..to.max(from)], "{}: {start}..{end}", case.file);
                }
                assert_eq!(file.read_at(start.max(len), &mut [0; 9]).unwrap(), 0);
            }
        }
    }
}

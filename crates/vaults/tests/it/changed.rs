//! Changed vaults: every byte of a small one, and what the formats cannot tell.

use crate::keys::CryptomatorKeys;
use crate::memory::{Memory, Shared};
use crate::read::cases;
use crate::tree::{Found, Tree, open, read_all};
use sealane::vault::unlock;
use std::sync::Arc;
use vectors::{Stored, VaultCase};

/// Files up to this length are in the small vault: all kinds of entries are.
const SMALL: usize = 400;

/// Files that only describe a vault, and are no part of what it contains.
fn is_config(path: &[u8]) -> bool {
    path == b"gocryptfs.conf" || path.ends_with(b".cryptomator")
}

/// Files that no reader needs.
fn is_unused(path: &[u8]) -> bool {
    path.ends_with(b".bkup") || path.ends_with(b"dirid.c9r")
}

/// Vaults with all ciphers and all forms of names.
const DIFFERENT: [&str; 7] = [
    "aessiv.json",
    "gcm.json",
    "padded-base64.json",
    "plaintextnames.json",
    "/xchacha.json",
    "v8-siv-gcm.json",
    "v8-siv-ctrmac.json",
];

fn different() -> Vec<VaultCase> {
    let found: Vec<_> =
        cases().into_iter().filter(|case| DIFFERENT.iter().any(|end| case.file.ends_with(end))).collect();
    assert_eq!(found.len(), DIFFERENT.len());
    found
}

/// A vault without its longer files, at the least cost of scrypt.
fn small(case: &VaultCase) -> Memory {
    let mut vault = Memory::new(&case.stored);
    if case.file.contains("cryptomator") {
        CryptomatorKeys::of(&vault, &case.password).rewrap(&mut vault, &case.password);
    }
    vault.0.retain(|path, stored| match stored {
        Stored::File(bytes) => bytes.len() <= SMALL || is_config(path),
        _ => true,
    });
    vault
}

/// Asserts that `changed` tells of each difference from `before` by an error.
fn assert_noticed(before: &Tree, changed: &Tree, what: &str) {
    let errors = changed.values().any(Result::is_err);
    assert!(errors || before == changed, "{what}: not noticed");
    for (path, found) in changed.iter().filter(|(_, found)| found.is_ok()) {
        assert_eq!(before.get(path), Some(found), "{what}: {}", String::from_utf8_lossy(path));
    }
}

// claim: vault-changed
#[test]
fn each_changed_byte_of_a_file_is_noticed() {
    for case in different() {
        let small = small(&case);
        let shared = Shared::new(small.clone());
        let vault = unlock(Arc::new(shared.clone()), case.password.as_bytes()).unwrap();
        let before = read_all(&*vault);
        assert!(before.values().all(Result::is_ok));
        for (path, len) in small.files().iter().filter(|(path, _)| !is_config(path)) {
            for at in 0..*len {
                let change = |vault: &mut Memory| vault.edit(path, |bytes| bytes[at] ^= 1 << (at % 8));
                let changed = shared.with(change, || read_all(&*vault));
                if path.ends_with(b"gocryptfs.diriv") && !changed.values().any(Result::is_err) {
                    // Names have no tag, see below.
                    assert_eq!(changed.len(), before.len());
                    continue;
                }
                let what = format!("{}: {} at {at}", case.file, String::from_utf8_lossy(path));
                assert_noticed(&before, &changed, &what);
                assert_eq!(before == changed, is_unused(path), "{what}");
            }
        }
    }
}

/// Configurations are not authenticated as a whole. A changed byte that does not matter is in a
/// text for people, in white space, in a limit of names between the lengths of two names, or, in
/// format 8 of Cryptomator, in the version of the key file.
#[test]
fn each_changed_byte_of_a_configuration_is_noticed_or_does_not_matter() {
    for case in cases() {
        let vault = small(&case);
        let before = read_all(&*open(&vault, &case.password).unwrap());
        for (path, _) in vault.files().iter().filter(|(path, _)| is_config(path)) {
            let Stored::File(bytes) = &vault.0[path] else { unreachable!() };
            let text = String::from_utf8(bytes.clone()).unwrap();
            let is_format_8 = vault.0.contains_key(&b"vault.cryptomator"[..]);
            let ignored = |field: &str| {
                let Some(start) = text.rfind(&format!("\"{field}\"")) else { return 0..0 };
                // From the name of the field to the end of its value.
                start..start + text[start..].find([',', '}', '\n']).unwrap()
            };
            let fields = match is_format_8 {
                true => vec![ignored("version"), ignored("versionMac")],
                false => vec![ignored("Creator"), ignored("LongNameMax")],
            };
            for (at, byte) in bytes.iter().enumerate() {
                let mut changed = vault.clone();
                changed.edit(path, |bytes| bytes[at] ^= 1);
                let what = format!("{}: {} at {at}", case.file, String::from_utf8_lossy(path));
                match open(&changed, &case.password) {
                    Err(error) => assert!(!error.to_string().contains(&case.password), "{what}"),
                    Ok(vault) => {
                        assert_noticed(&before, &read_all(&*vault), &what);
                        let may =
                            byte.is_ascii_whitespace() || fields.iter().any(|field| field.contains(&at));
                        assert!(may, "{what}: does not matter");
                    }
                }
            }
        }
    }
}

/// Names of gocryptfs have no tag: of 256 changed ones, about one has the padding of a name.
#[test]
fn each_changed_name_is_noticed() {
    for case in different().iter().filter(|case| !case.file.contains("plaintextnames")) {
        let small = small(case);
        let shared = Shared::new(small.clone());
        let vault = unlock(Arc::new(shared.clone()), case.password.as_bytes()).unwrap();
        let before = read_all(&*vault);
        let (mut changes, mut renamed) = (0, 0);
        for path in small.0.keys().filter(|path| !is_config(path) && !is_unused(path)) {
            let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
            for at in start..path.len() {
                let mut name = path.clone();
                name[at] = if name[at] == b'A' { b'B' } else { b'A' };
                // Cryptomator's readers skip names of other programs.
                if path.windows(3).any(|part| part == b".c9") && !name.windows(3).any(|part| part == b".c9") {
                    continue;
                }
                let changed = shared.with(|vault| vault.rename(path, &name), || read_all(&*vault));
                let what = format!("{}: {}", case.file, String::from_utf8_lossy(&name));
                changes += 1;
                if changed.values().any(Result::is_err) {
                    assert_noticed(&before, &changed, &what);
                } else {
                    assert_eq!(changed.len(), before.len(), "{what}");
                    renamed += 1;
                }
            }
        }
        let few = if case.file.contains("gocryptfs") { changes / 100 } else { 0 };
        assert!(renamed <= few, "{}: {renamed} of {changes} changed names decrypt", case.file);
    }
}

/// A file that is cut inside a chunk, or gets a part of one, cannot be whole. One that is cut
/// between chunks is shorter: no format tells.
#[test]
fn cut_files() {
    for case in cases() {
        let vault = Memory::new(&case.stored);
        let chunk = case.fields["chunk"].as_u64().unwrap();
        let shared = Shared::new(vault.clone());
        let open = unlock(Arc::new(shared.clone()), case.password.as_bytes()).unwrap();
        let before = read_all(&*open);
        let is_long = |size: usize| size as u64 > chunk && size as u64 <= 2 * chunk + 200;
        for (path, len) in vault.files().into_iter().filter(|(_, len)| is_long(*len)) {
            let what = |to| format!("{}: {} cut to {to}", case.file, String::from_utf8_lossy(&path));
            let mut shorter = 0;
            // All lengths of a long file, and a few, take too long: those around its chunks.
            let lengths = (0..len).filter(|to| *to < 200 || (*to as u64 % chunk) < 200 || len - to < 60);
            for to in lengths {
                let change = |vault: &mut Memory| vault.edit(&path, |bytes| bytes.truncate(to));
                let changed = shared.with(change, || read_all(&*open));
                let different: Vec<_> =
                    before.iter().filter(|(path, found)| changed.get(*path) != Some(found)).collect();
                assert!(different.len() <= 1, "{}", what(to));
                for (path, found) in different {
                    let Ok(Found::File(whole)) = found else { panic!("{}", what(to)) };
                    if let Ok(Found::File(found)) = &changed[path] {
                        assert_eq!(found.len() as u64 % chunk, 0, "{}", what(to));
                        assert!(whole.starts_with(found));
                        shorter += 1;
                    }
                }
            }
            // To a header or after a chunk; with gocryptfs, also to nothing.
            let accepted = len as u64 / chunk + 2;
            assert!(shorter <= accepted, "{}: {shorter} lengths", what(0));
        }
    }
}

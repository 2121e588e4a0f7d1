//! Reads a whole vault.

use crate::memory::Memory;
use sealane::Error;
use sealane::vault::{EntryKind, Listing, Vault, unlock};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a vault has at a path: the bytes of a file, or the text of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    File(Vec<u8>),
    Folder,
    Link(Vec<u8>),
}

pub(crate) type Tree = BTreeMap<Vec<u8>, Result<Found, String>>;

/// Opens a vault with its passphrase.
pub(crate) fn open(storage: &Memory, password: &str) -> Result<Box<dyn Vault>, Error> {
    unlock(Arc::new(storage.clone()), password.as_bytes())
}

/// Reads everything in a vault. A folder, file or link that cannot be read has the text of its
/// error.
pub(crate) fn read_all(vault: &dyn Vault) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![Vec::new()];
    while let Some(folder) = folders.pop() {
        let entries = match vault.list(&folder).and_then(Listing::whole) {
            Ok(entries) => entries,
            Err(error) => {
                tree.insert(folder, Err(error.to_string()));
                continue;
            }
        };
        for entry in entries {
            let path = match folder.is_empty() {
                true => entry.name,
                false => [&folder[..], b"/", &entry.name].concat(),
            };
            let found = match entry.kind {
                EntryKind::Folder => {
                    folders.push(path.clone());
                    Ok(Found::Folder)
                }
                EntryKind::Link => vault.read_link(&path).map(Found::Link),
                EntryKind::File => read(vault, &path, entry.len).map(Found::File),
                EntryKind::Special => unreachable!("a problem of the list"),
            };
            tree.insert(path, found.map_err(|error| error.to_string()));
        }
    }
    tree
}

/// Reads a file whole, and checks the length in the list.
fn read(vault: &dyn Vault, path: &[u8], listed: u64) -> Result<Vec<u8>, Error> {
    let file = vault.open(path)?;
    assert_eq!(file.size(), listed, "{}", String::from_utf8_lossy(path));
    // One byte more than there is.
    let mut bytes = vec![0xee; file.size() as usize + 1];
    match file.read_at(0, &mut bytes) {
        Ok(len) => {
            assert_eq!(len as u64, file.size());
            bytes.truncate(len);
            Ok(bytes)
        }
        Err(error) => {
            assert!(bytes.iter().all(|byte| *byte == 0), "bytes that do not verify were returned");
            Err(error)
        }
    }
}

//! Inventories: signed lists of the files in an encrypted folder, by which exchanged, old and missing files are found.
//!
//! ```text
//! FILE         = an encrypted file, with the keys of the folder, whose plaintext is the JSON document below
//! FILE.sig     = a signature of FILE as it is stored, by an SSH key; FILE.minisig, by a minisign key
//!
//! {"sealane":"inventory","version":1,"counter":1763917200,
//! "files":[
//! {"name":"a/b.sealed","length":72,"head":"…","tag":"…","since":1763917200}
//! ],
//! "links":[
//! {"name":"c","target":"a/b"}
//! ],
//! "former":[
//! {"name":"a/b.sealed","length":71,"head":"…","tag":"…","since":1763910000,"until":1763917200}
//! ]}
//! ```
//!
//! `head` is the first 56 bytes of a file in base64, which are salt and commitment in chunked-encryption@v1. An age file has `mac`
//! instead, the MAC as its header has it. `tag` is the last 16 bytes. The counter grows with each inventory: it is the Unix
//! time in seconds, or one more than that of the inventory before. `since` is the counter with which a version was listed first.
//! `former` lists versions that were replaced or removed. Names are written as in manifests.

mod compare;
mod draft;
mod folder;
mod mark;
mod signed;

pub use compare::{Difference, Finding};
pub use draft::InventoryDraft;
pub use folder::{compare_inventory, write_inventory};
pub use mark::FileMark;
pub use signed::InventoryKeys;

use super::name::{Name, quoted};
use crate::error::FolderError;
use crate::{Error, Misuse};
// Marks are public, so the encoder may have tables, which are faster than the constant-time code of base64ct.
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mark::Head;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The list of the files and links in an encrypted folder. Names are relative to the folder.
#[derive(Debug, Default)]
pub struct Inventory {
    counter: u64,
    files: BTreeMap<Name, Version>,
    links: BTreeMap<Name, Name>,
    /// Versions that were replaced or removed, the latest last.
    former: Vec<Former>,
}

/// A version of a file, with the counter of the first inventory that lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    mark: FileMark,
    since: u64,
}

/// A version of a file that was replaced or removed, with the counter of the first inventory without it.
#[derive(Debug)]
struct Former {
    name: Name,
    version: Version,
    until: u64,
}

#[derive(Deserialize)]
struct Document {
    sealane: String,
    version: u64,
    counter: u64,
    files: Vec<Entry>,
    links: Vec<LinkEntry>,
    former: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: Name,
    length: u64,
    head: Option<String>,
    mac: Option<String>,
    tag: String,
    since: u64,
    until: Option<u64>,
}

#[derive(Deserialize)]
struct LinkEntry {
    name: Name,
    target: Name,
}

const EXPECTED: Error = Error::Format(
    "expected an inventory, which is JSON and begins with {\"sealane\":\"inventory\",\"version\":1",
);

impl Inventory {
    /// Returns the counter, which is larger than those of earlier inventories of the folder.
    pub fn counter(&self) -> u64 {
        self.counter
    }

    /// Returns the number of files.
    #[expect(clippy::len_without_is_empty, reason = "the number of files, not of all entries")]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Parses the JSON document.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other content, [`Error::UnsupportedVersion`], and [`FolderError::InventoryName`] for a
    /// name that leaves the folder or is listed twice.
    fn parse(json: &[u8]) -> Result<Self, Error> {
        // The position of a mistake does not help, because a program wrote the document.
        let document: Document = serde_json::from_slice(json).map_err(|_| EXPECTED)?;
        match (document.sealane.as_str(), document.version) {
            ("inventory", 1) => {}
            ("inventory", 2..) => {
                return Err(Error::UnsupportedVersion("expected an inventory of version 1"));
            }
            _ => return Err(EXPECTED),
        }
        let mut inventory = Self { counter: document.counter, ..Self::default() };
        for entry in document.files {
            let (name, version, _) = entry.version()?;
            check_name(&name)?;
            if inventory.files.contains_key(&name) {
                return Err(listed_twice(&name));
            }
            inventory.files.insert(name, version);
        }
        for LinkEntry { name, target } in document.links {
            check_name(&name)?;
            if inventory.files.contains_key(&name) || inventory.links.contains_key(&name) {
                return Err(listed_twice(&name));
            }
            inventory.links.insert(name, target);
        }
        for entry in document.former {
            let (name, version, until) = entry.version()?;
            inventory.former.push(Former { name, version, until: until.ok_or(EXPECTED)? });
        }
        Ok(inventory)
    }

    /// Returns the JSON document, with one line for each entry.
    fn to_json(&self) -> String {
        let files = self.files.iter().map(|(name, version)| line(name, version, None));
        let links = self.links.iter().map(|(name, target)| {
            format!("{{\"name\":{},\"target\":{}}}", quoted(&name.to_path()), quoted(&target.to_path()))
        });
        let former = self.former.iter().map(|old| line(&old.name, &old.version, Some(old.until)));
        let mut json =
            format!("{{\"sealane\":\"inventory\",\"version\":1,\"counter\":{},\n\"files\":[", self.counter);
        append(&mut json, files);
        json += "],\n\"links\":[";
        append(&mut json, links);
        json += "],\n\"former\":[";
        append(&mut json, former);
        json + "]}\n"
    }
}

fn append(json: &mut String, lines: impl Iterator<Item = String>) {
    for (at, line) in lines.enumerate() {
        *json += if at == 0 { "\n" } else { ",\n" };
        *json += &line;
    }
    *json += "\n";
}

fn line(name: &Name, version: &Version, until: Option<u64>) -> String {
    let Version { mark: FileMark { len, head, tag }, since } = version;
    let (name, tag) = (quoted(&name.to_path()), STANDARD.encode(tag));
    let (kind, head) = match head {
        Head::Mac(mac) => ("mac", mac.clone()),
        Head::Bytes(bytes) => ("head", STANDARD.encode(bytes)),
    };
    let until = until.map(|until| format!(",\"until\":{until}")).unwrap_or_default();
    format!(
        "{{\"name\":{name},\"length\":{len},\"{kind}\":\"{head}\",\"tag\":\"{tag}\",\"since\":{since}{until}}}"
    )
}

impl Entry {
    fn version(self) -> Result<(Name, Version, Option<u64>), Error> {
        let head = match (self.head, self.mac) {
            // The errors have no content.
            (Some(head), None) => Head::Bytes(STANDARD.decode(head).map_err(|_| EXPECTED)?),
            (None, Some(mac)) => Head::Mac(mac),
            _ => return Err(EXPECTED),
        };
        // The errors have no content.
        let tag = STANDARD.decode(self.tag).map_err(|_| EXPECTED)?;
        let tag = tag.try_into().map_err(|_| EXPECTED)?;
        let mark = FileMark { len: self.length, head, tag };
        Ok((self.name, Version { mark, since: self.since }, self.until))
    }
}

/// Checks that a name is one below the folder: a relative path without `..`.
fn check_name(name: &Name) -> Result<(), Error> {
    let path = name.to_path();
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    // A slash at the end, two slashes or a dot would be a second name of the same file.
    let canonical = path.components().collect::<PathBuf>().as_os_str() == path.as_os_str();
    match inside && canonical && path != Path::new("") && !path.as_os_str().as_encoded_bytes().contains(&0) {
        true => Ok(()),
        false => Err(FolderError::InventoryName(path).into()),
    }
}

fn listed_twice(name: &Name) -> Error {
    FolderError::InventoryName(name.to_path()).into()
}

/// Returns the name of a path below `root`.
fn below(root: &Path, path: &Path) -> Result<Name, Misuse> {
    // The error of the standard library does not name the path.
    let below = path.strip_prefix(root).map_err(|_| Misuse::TargetInsideSource(path.to_owned()))?;
    Ok(Name::of(below))
}

#[cfg(test)]
mod test;

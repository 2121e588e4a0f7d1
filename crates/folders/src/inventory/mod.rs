//! Inventories: signed lists of the files in an encrypted folder, to find exchanged, old and
//! missing files.
//!
//! ```text
//! FILE         = an encrypted file, with the keys of the folder, whose plaintext is the JSON document below
//! FILE.sig     = a signature of FILE as it is stored, by an SSH key; FILE.minisig, by a minisign key
//!
//! {"sealane":"inventory","version":2,"folder":"9f86d081884c7d65…","counter":1763917200,
//! "files":[
//! {"name":"a/b.sealed","length":72,"hash":"…","since":1763917200}
//! ],
//! "links":[
//! {"name":"c","target":"a/b"}
//! ],
//! "former":[
//! {"name":"a/b.sealed","length":71,"hash":"…","since":1763910000,"until":1763917200}
//! ]}
//! ```
//!
//! `folder` identifies the folder: 16 random bytes of its first inventory, in lower-case
//! hexadecimal. `hash` is the hash of the file as stored, in base64; see `file_hash` in the crate
//! of files for its definition. The counter grows with each inventory: it is the Unix time in
//! seconds, or the previous counter plus one if that is larger. `since` is the counter of the first
//! inventory that lists the version. `former` lists versions that were replaced or removed. Names
//! are written as in manifests.
//!
//! Version 1 has no `folder`, and instead of `hash` the ends of a file: `head`, its first 56 bytes
//! in base64 (in an age file `mac`, the MAC as in its header), and `tag`, its last 16 bytes. A list
//! of version 2 has such an entry only for a version that was listed so and no longer exists.

mod compare;
mod draft;
mod folder;
mod signed;

use crate::prelude::*;
pub use compare::{Difference, Finding};
pub use draft::InventoryDraft;
pub(crate) use folder::Content as FolderContent;
pub use folder::{compare_inventory, write_inventory};
pub use signed::InventoryKeys;

use super::identifier::is_identifier;
use super::name::Name;
// Marks are public, so we use an encoder with tables; it is faster than the constant-time code of
// base64ct.
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use files::mark::{Content, HEAD_LEN, Head};
use serde::Deserialize;
use std::fmt::Write as _;
use std::path::Component;

/// The files and links of an encrypted folder. Names are relative to it.
#[derive(Debug, Default)]
pub struct Inventory {
    /// `None` in version 1.
    folder: Option<String>,
    counter: u64,
    files: BTreeMap<Name, Version>,
    links: BTreeMap<Name, Name>,
    /// Replaced or removed versions, the latest last.
    former: Vec<Former>,
}

/// A version of a file, and the counter of the first inventory that lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    mark: FileMark,
    since: u64,
}

/// A replaced or removed version of a file, and the counter of the first inventory without it.
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
    folder: Option<String>,
    counter: u64,
    files: Vec<Entry>,
    links: Vec<LinkEntry>,
    former: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: Name,
    length: u64,
    hash: Option<String>,
    head: Option<String>,
    mac: Option<String>,
    tag: Option<String>,
    since: u64,
    until: Option<u64>,
}

#[derive(Deserialize)]
struct LinkEntry {
    name: Name,
    target: Name,
}

const EXPECTED: Error = Error::Format(
    "expected an inventory, which is JSON and begins with {\"sealane\":\"inventory\",\"version\":",
);

impl Inventory {
    /// Returns the identifier of the folder, 32 hexadecimal digits, the same in all inventories of
    /// the folder. `None` for an inventory of version 1: it does not tell its folder from others,
    /// and holders of the keys can change files without a difference.
    pub fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// Returns the counter, larger than in earlier inventories of the folder.
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
    /// Returns [`Error::Format`] for other content, [`Error::UnsupportedVersion`], and
    /// [`FolderError::InventoryName`] for a name outside the folder or listed twice.
    #[doc(hidden)]
    pub fn parse(json: &[u8]) -> Result<Self> {
        // The position of a mistake does not help: a program wrote the document.
        let document: Document = serde_json::from_slice(json).map_err(|_| EXPECTED)?;
        match (document.sealane.as_str(), document.version, document.folder.as_deref()) {
            ("inventory", 1, None) => {}
            ("inventory", 2, Some(folder)) if is_identifier(folder) => {}
            ("inventory", 3.., _) => {
                return Err(Error::UnsupportedVersion("expected an inventory of version 1 or 2"));
            }
            _ => return Err(EXPECTED),
        }
        let mut inventory = Self { folder: document.folder, counter: document.counter, ..Self::default() };
        for entry in document.files {
            let (name, version, _) = entry.version()?;
            inventory.check_name(&name)?;
            inventory.files.insert(name, version);
        }
        for LinkEntry { name, target } in document.links {
            inventory.check_name(&name)?;
            inventory.links.insert(name, target);
        }
        for entry in document.former {
            let (name, version, until) = entry.version()?;
            inventory.former.push(Former { name, version, until: until.ok_or(EXPECTED)? });
        }
        Ok(inventory)
    }

    /// Checks that a name is a relative path without `..`, and not listed yet.
    fn check_name(&self, name: &Name) -> Result<()> {
        let path = name.to_path();
        let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        // A slash at the end, two slashes or a dot would name the same file again.
        let canonical = path.components().collect::<PathBuf>().as_os_str() == path.as_os_str();
        let is_text = !path.as_os_str().as_encoded_bytes().contains(&0) && !name.has_other_separators();
        let is_new = !self.files.contains_key(name) && !self.links.contains_key(name);
        match inside && canonical && path != Path::new("") && is_text && is_new {
            true => Ok(()),
            false => Err(FolderError::InventoryName(path).into()),
        }
    }

    /// Returns the JSON document, with one line per entry.
    #[doc(hidden)]
    pub fn to_json(&self) -> String {
        let (folder, counter) = (self.folder().unwrap_or_default(), self.counter);
        let mut json = format!(
            "{{\"sealane\":\"inventory\",\"version\":2,\"folder\":\"{folder}\",\"counter\":{counter},\n\"files\":["
        );
        append_lines(&mut json, &self.files, |json, (name, version)| {
            append_version(json, name, version, None);
        });
        json += "],\n\"links\":[";
        append_lines(&mut json, &self.links, |json, (name, target)| {
            *json += "{\"name\":";
            name.append_quoted(json);
            *json += ",\"target\":";
            target.append_quoted(json);
            *json += "}";
        });
        json += "],\n\"former\":[";
        append_lines(&mut json, &self.former, |json, old| {
            append_version(json, &old.name, &old.version, Some(old.until));
        });
        json + "]}\n"
    }
}

/// Appends one line per entry. Everything goes into one text, because an allocation takes as long
/// as half a line.
fn append_lines<E>(json: &mut String, entries: impl IntoIterator<Item = E>, append: impl Fn(&mut String, E)) {
    for (at, entry) in entries.into_iter().enumerate() {
        *json += if at == 0 { "\n" } else { ",\n" };
        append(json, entry);
    }
    *json += "\n";
}

fn append_version(json: &mut String, name: &Name, version: &Version, until: Option<u64>) {
    let Version { mark: FileMark { len, content, .. }, since } = version;
    *json += "{\"name\":";
    name.append_quoted(json);
    // Writing to memory cannot fail.
    let _ = write!(json, ",\"length\":{len},");
    let mut append = |field: &str, bytes: &[u8]| {
        let _ = write!(json, "\"{field}\":\"");
        append_base64(json, bytes);
        *json += "\",";
    };
    match content {
        Content::Hash(hash) => append("hash", hash),
        Content::Ends { head: Head::Bytes(head), tag } => {
            append("head", head);
            append("tag", tag);
        }
        Content::Ends { head: Head::Mac(mac), tag } => {
            append("tag", tag);
            let _ = write!(json, "\"mac\":\"{mac}\",");
        }
    }
    let _ = write!(json, "\"since\":{since}");
    if let Some(until) = until {
        let _ = write!(json, ",\"until\":{until}");
    }
    *json += "}";
}

fn append_base64(json: &mut String, bytes: &[u8]) {
    let mut text = [0; HEAD_LEN.div_ceil(3) * 4];
    let encoded = STANDARD.encode_slice(bytes, &mut text).ok().and_then(|len| text.get(..len));
    match encoded.map(std::str::from_utf8) {
        Some(Ok(encoded)) => *json += encoded,
        // Longer than the head of a file.
        _ => *json += &STANDARD.encode(bytes),
    }
}

impl Entry {
    fn version(self) -> Result<(Name, Version, Option<u64>)> {
        // The errors have no content.
        let bytes = |text: String| STANDARD.decode(text).map_err(|_| EXPECTED);
        let content = match (self.hash, self.head, self.mac, self.tag) {
            (Some(hash), None, None, None) => Content::Hash(bytes(hash)?.try_into().map_err(|_| EXPECTED)?),
            (None, head, mac, Some(tag)) => {
                // As above.
                let tag = bytes(tag)?.try_into().map_err(|_| EXPECTED)?;
                let head = match (head, mac) {
                    (Some(head), None) => Head::Bytes(bytes(head)?),
                    (None, Some(mac)) => Head::Mac(mac),
                    _ => return Err(EXPECTED),
                };
                Content::Ends { head, tag }
            }
            _ => return Err(EXPECTED),
        };
        let mark = FileMark { len: self.length, content };
        Ok((self.name, Version { mark, since: self.since }, self.until))
    }
}

/// Returns the name of a path below `root`.
fn below(root: &Path, path: &Path) -> Result<Name, Misuse> {
    // The paths of a job begin with the root as given, and comparing it is faster than comparing
    // components. The rest of a path with dots or several slashes may have another form.
    if let (Some(root), Some(path)) = (root.to_str(), path.to_str())
        && let Some(below) = path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'))
        && !root.is_empty()
        && !below.starts_with(['/', '.'])
        && !below.ends_with(['/', '.'])
    {
        return Ok(Name::of(Path::new(below)));
    }
    // The error of the standard library does not name the path.
    let below = path.strip_prefix(root).map_err(|_| Misuse::TargetInsideSource(path.to_owned()))?;
    Ok(Name::of(below))
}

#[cfg(test)]
mod test;

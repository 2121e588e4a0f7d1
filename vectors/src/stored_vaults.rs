//! Reads vaults that other tools made: the stored files in a tar archive, and the plaintext that
//! the tool reads from them in a JSON file beside it.

use crate::Why;
use crate::folder::{BinaryFile, binary};
use crate::hex::Hex;
use serde::Deserialize;
use std::io::Read;

/// A vault that a tool made.
#[derive(Debug)]
pub struct VaultCase {
    /// Path of the JSON file.
    pub file: String,
    /// Path of the archive.
    pub archive: String,
    /// The passphrase.
    pub password: String,
    /// All fields of the JSON file, for what only some tools have.
    pub fields: serde_json::Map<String, serde_json::Value>,
    /// The stored files, folders and links.
    pub stored: Vec<(Vec<u8>, Stored)>,
    /// What the tool reads, by plaintext path.
    pub entries: Vec<(String, Plain)>,
}

/// What is stored at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    File(Vec<u8>),
    Folder,
    Link(Vec<u8>),
}

/// What a tool reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plain {
    File { size: u64, sha256: Vec<u8> },
    Folder,
    Link(String),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
enum Entry {
    File { path: String, size: u64, sha256: Hex },
    Dir { path: String },
    Symlink { path: String, target: String },
}

#[derive(Deserialize)]
struct Document {
    password: String,
    entries: Vec<Entry>,
    tar_bytes: usize,
    #[serde(flatten)]
    fields: serde_json::Map<String, serde_json::Value>,
}

pub(crate) fn read(tool: &str) -> Result<Vec<VaultCase>, crate::Error> {
    let mut files = binary(&format!("vaults/{tool}"))?.into_iter();
    let mut cases = Vec::new();
    // The archive follows its description in the order of names.
    while let Some(file) = files.next() {
        let about = |why| crate::Error { file: file.name.clone(), why };
        let archive = files.next().ok_or_else(|| about(Why::Missing))?;
        if Some(archive.name.as_str())
            != file.name.strip_suffix("json").map(|name| name.to_owned() + "tar").as_deref()
        {
            return Err(about(Why::UnknownFile));
        }
        cases.push(case(&file, archive).map_err(about)?);
    }
    Ok(cases)
}

fn case(file: &BinaryFile, archive: BinaryFile) -> Result<VaultCase, Why> {
    let Document { password, entries, tar_bytes, fields } =
        serde_json::from_slice(&file.bytes).map_err(Why::Json)?;
    if tar_bytes != archive.bytes.len() {
        return Err(Why::Count { announced: tar_bytes, found: archive.bytes.len() });
    }
    let entries = entries.into_iter().map(|entry| match entry {
        Entry::File { path, size, sha256 } => (path, Plain::File { size, sha256: sha256.0 }),
        Entry::Dir { path } => (path, Plain::Folder),
        Entry::Symlink { path, target } => (path, Plain::Link(target)),
    });
    Ok(VaultCase {
        file: file.name.clone(),
        password,
        fields,
        stored: stored(&archive.bytes)?,
        entries: entries.collect(),
        archive: archive.name,
    })
}

fn stored(archive: &[u8]) -> Result<Vec<(Vec<u8>, Stored)>, Why> {
    let mut stored = Vec::new();
    for entry in tar::Archive::new(archive).entries()? {
        let mut entry = entry?;
        let path = entry.path_bytes().into_owned();
        let path = path.strip_prefix(b"./").unwrap_or(&path);
        let path = path.strip_suffix(b"/").unwrap_or(path).to_vec();
        let kind = entry.header().entry_type();
        let what = if kind.is_dir() {
            Stored::Folder
        } else if kind.is_symlink() {
            Stored::Link(entry.link_name_bytes().ok_or(Why::Missing)?.into_owned())
        } else if kind.is_file() {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            Stored::File(bytes)
        } else {
            return Err(Why::UnknownEntry(String::from_utf8_lossy(&path).into_owned()));
        };
        stored.push((path, what));
    }
    Ok(stored)
}

//! Lists the folders with vectors and passes each file to its reader.

use crate::error::{Error, Why};
use serde::de::DeserializeOwned;
use std::fs;
use std::path::Path;

/// Parses the cases of one file.
pub(crate) type Reader<T> = fn(&File) -> Result<Vec<T>, Why>;

/// A text file with vectors, read into memory.
pub(crate) struct File {
    /// Path relative to `vectors`, separated by `/`.
    pub(crate) name: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Why> {
        Ok(serde_json::from_str(&self.text)?)
    }
}

/// A binary file with vectors, read into memory.
pub(crate) struct BinaryFile {
    /// Path relative to `vectors`, separated by `/`.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Returns every file below `folder`, where each file is a case.
pub(crate) fn binary(folder: &str) -> Result<Vec<BinaryFile>, Error> {
    let mut names = Vec::new();
    list(folder, &mut names)?;
    names.sort();
    let read = |name: String| match fs::read(root().join(&name)) {
        Ok(bytes) => Ok(BinaryFile { name, bytes }),
        Err(error) => Err(Error { file: name, why: error.into() }),
    };
    names.into_iter().map(read).collect()
}

/// Reads every file below `folder`. `readers` must name exactly the files that exist.
pub(crate) fn read<T>(folder: &str, readers: &[(&str, Reader<T>)]) -> Result<Vec<T>, Error> {
    let mut names = Vec::new();
    list(folder, &mut names)?;
    names.sort();
    if let Some((missing, _)) = readers.iter().find(|(known, _)| names.iter().all(|name| name != known)) {
        return Err(Error { file: (*missing).into(), why: Why::Missing });
    }
    let mut cases = Vec::new();
    for name in names {
        let reader = readers.iter().find(|(known, _)| *known == name);
        let Some((name, read)) = reader else { return Err(Error { file: name, why: Why::UnknownFile }) };
        cases.extend(read_one(name, *read)?);
    }
    Ok(cases)
}

/// Reads one file and returns its cases.
pub(crate) fn read_one<T>(name: &str, read: Reader<T>) -> Result<Vec<T>, Error> {
    let found = fs::read_to_string(root().join(name)).map_err(Why::from);
    let cases = found.and_then(|text| read(&File { name: name.into(), text }));
    cases.map_err(|why| Error { file: name.into(), why })
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn list(folder: &str, names: &mut Vec<String>) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error { file: folder.into(), why: error.into() };
    for entry in fs::read_dir(root().join(folder)).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        match entry.file_type().map_err(failed)?.is_dir() {
            true => list(&name, names)?,
            false => names.push(name),
        }
    }
    Ok(())
}

/// Reads a file and replaces `from` by `to` in its text.
#[cfg(test)]
pub(crate) fn changed(name: &str, from: &str, to: &str) -> File {
    let text = fs::read_to_string(root().join(name)).unwrap();
    assert!(text.contains(from), "{name} has no {from}");
    File { name: name.into(), text: text.replacen(from, to, 1) }
}

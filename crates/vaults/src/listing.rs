//! What a folder of a vault contains, and errors about what is stored there.

use crate::prelude::*;

/// What a folder of a vault contains.
#[derive(Debug, Default)]
pub struct Listing {
    /// Entries, in the order of the plaintext names.
    pub entries: Vec<Entry>,
    /// Stored paths that are not listed, each with the reason: a name that does not decrypt, that
    /// no folder can contain, or that stands twice; a pipe, a socket or a device.
    pub problems: Vec<(Vec<u8>, Error)>,
}

const SPECIAL: &str = "expected a file, a folder or a link, found a pipe, a socket or a device";

/// A stored path, and what lies there: `None` for what is not in the vault.
pub(crate) type Found = (Vec<u8>, Result<Option<Entry>>);

impl Listing {
    /// Sorts and checks what was found. Of two files with one name, none is listed, because either
    /// could be the wrong one.
    pub(crate) fn new(found: impl IntoIterator<Item = Found>) -> Self {
        let (mut listing, mut named) = (Self::default(), Vec::new());
        for (path, entry) in found {
            let checked = entry.and_then(|entry| {
                entry.iter().try_for_each(|entry| match entry.kind {
                    EntryKind::Special => Err(Error::Format(SPECIAL)),
                    _ => checked(&entry.name).map(|_| ()),
                })?;
                Ok(entry)
            });
            match checked {
                Ok(entry) => named.extend(entry.map(|entry| (entry, path))),
                Err(error) => listing.problems.push((path.clone(), in_vault(&path, error))),
            }
        }
        named.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        for group in named.chunk_by(|(a, _), (b, _)| a.name == b.name) {
            if let [(entry, _)] = group {
                listing.entries.push(entry.clone());
            }
            for (_, path) in &group[1..] {
                let error = FolderError::DuplicateName { other: path_of(&group[0].1) }.into();
                listing.problems.push((path.clone(), in_vault(path, error)));
            }
        }
        listing
    }

    /// Returns the entries of a folder without problems.
    ///
    /// # Errors
    /// Returns the first problem.
    pub fn whole(self) -> Result<Vec<Entry>> {
        self.problems.into_iter().next().map_or(Ok(self.entries), |(_, error)| Err(error))
    }
}

/// Returns a name that a folder can contain.
///
/// # Errors
/// Returns [`FolderError::NameInvalid`] for any other.
pub(crate) fn checked(name: &[u8]) -> Result<&[u8]> {
    match matches!(name, b"" | b"." | b"..") || name.iter().any(|byte| matches!(byte, 0 | b'/')) {
        true => Err(FolderError::NameInvalid.into()),
        false => Ok(name),
    }
}

/// Adds the stored path to an error that names no file.
pub(crate) fn in_vault(path: &[u8], error: Error) -> Error {
    match error {
        Error::Io { path: None, source } => Error::io(&path_of(path), source),
        error if error.subject().is_some() => error,
        error => Error::InVault { path: path_of(path), source: Box::new(error) },
    }
}

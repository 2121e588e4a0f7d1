//! The description of an encrypted folder: its options and its wrapped keys, in one public file.
//!
//! ```text
//! FOLDER/.sealane = {
//!   "sealane": "folder",
//!   "version": 1; 2 for a folder with files that only recipients read,
//!   "folder": 16 random bytes in hexadecimal, the identifier of the folder, also in inventories,
//!   "suffix": suffix of encrypted files,
//!   "names": whether names are encrypted,
//!   "preserve": whether modes, times and links are kept,
//!   "recipients": the recipients of the keys, to wrap changed keys for them,
//!   "keyset": the wrapped keys, see `FolderKeys`; in version 2 empty,
//!   "mac": the MAC of this document with an empty "mac", in hexadecimal, see `FolderKeys::mac`;
//!          in version 2 the signature of the same, as of an inventory, or empty
//! }
//! ```
//!
//! In version 2, each file is an age file for the recipients, and the folder has no keys.
//! The file is exactly as we write it, byte by byte, so every change is found.

use crate::identifier::is_identifier;
use crate::prelude::*;
use crate::tree::Suffix;
use base::os;
use engine::folder::is_temporary_name;
use engine::io::open_regular;
use keys::age::Header;
use keys::age::armor::decode;
use keys::signature::Signers;
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Component;

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    pub(crate) sealane: String,
    pub(crate) version: u64,
    pub(crate) folder: String,
    pub(crate) suffix: String,
    pub(crate) names: bool,
    pub(crate) preserve: bool,
    pub(crate) recipients: Vec<String>,
    pub(crate) keyset: String,
    pub(crate) mac: String,
}

/// The members of a document that every version has.
#[derive(Deserialize)]
struct AnyVersion {
    sealane: String,
    version: u64,
}

/// The description of a folder, not authenticated yet.
#[derive(Clone, Debug)]
pub struct Description {
    pub(crate) path: PathBuf,
    pub(crate) document: Document,
}

/// Returns whether a relative path leads out of its folder.
fn leaves(path: &Path) -> bool {
    let deeper = |depth: usize, part: Component<'_>| match part {
        Component::ParentDir => depth.checked_sub(1),
        Component::CurDir => Some(depth),
        _ => Some(depth + 1),
    };
    path.components().try_fold(0, deeper).is_none()
}

impl Description {
    /// Name of the description in its folder.
    pub const NAME: &'static str = ".sealane";
    /// Maximum length of a description in bytes. One for 1000 recipients is shorter.
    pub const MAX_LEN: usize = 1 << 18;

    /// Reads the description of a folder; `None` if it has none.
    ///
    /// # Errors
    /// Returns the errors of [`Self::parse`], [`FolderError::SecondDescription`],
    /// [`FolderError::DescriptionGone`], and [`Error::Io`].
    pub fn find(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(Self::NAME);
        match path.symlink_metadata() {
            Ok(found) if found.is_file() => {}
            Ok(found) if found.is_dir() => return none(folder, &path),
            // A link may lead to the description of another folder.
            Ok(_) => return Err(FolderError::DescriptionInvalid(path).into()),
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return none(folder, &path);
            }
            // The folder cannot be read at all, or its path is too long for a name.
            Err(_) => return Ok(None),
        }
        let found = Self::parse(&path, &read(&path)?)?;
        for (name, _) in Folder::list(folder).map_err(|e| Error::io(folder, e))? {
            if is_copy(&name) && read(&folder.join(&name)).is_ok_and(|content| is_description(&content)) {
                return Err(FolderError::SecondDescription { path, other: name }.into());
            }
        }
        Ok(Some(found))
    }

    /// Returns the folder above a path that has a description, with the rest of the path.
    ///
    /// # Errors
    /// Returns the errors of [`Self::find`].
    pub fn find_above(path: &Path) -> Result<Option<(Self, PathBuf)>> {
        for (up, folder) in path.ancestors().enumerate() {
            let at = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let is_absent = || at.join(Self::NAME).symlink_metadata().is_err();
            // In /tmp, anyone could describe the folders of all others.
            if up > 0 && (is_absent() || is_public(at)) || leaves(path.strip_prefix(folder).unwrap_or(path)) {
                continue;
            }
            match Self::find(at) {
                Ok(Some(found)) => {
                    return Ok(Some((found, path.strip_prefix(folder).unwrap_or(path).to_owned())));
                }
                // Far above, it may be another file of this name.
                Err(Error::Folder(FolderError::DescriptionInvalid(other))) if up > 0 && !is_ours(&other) => {}
                Err(Error::Folder(FolderError::DescriptionGone { .. })) if up > 0 => {}
                found => drop(found?),
            }
        }
        Ok(None)
    }

    /// Parses a description; `path` names it in errors.
    ///
    /// # Errors
    /// Returns [`FolderError::DescriptionInvalid`] and [`FolderError::DescriptionVersion`].
    pub fn parse(path: &Path, content: &[u8]) -> Result<Self> {
        let invalid = || Error::from(FolderError::DescriptionInvalid(path.to_owned()));
        if content.len() > Self::MAX_LEN {
            return Err(invalid());
        }
        // Where a mistake is does not help: the program wrote the document.
        let AnyVersion { sealane, version } = serde_json::from_slice(content).map_err(|_| invalid())?;
        match (&*sealane, version) {
            ("folder", 1 | 2) => {}
            ("folder", found @ 3..) => {
                return Err(FolderError::DescriptionVersion { path: path.to_owned(), found }.into());
            }
            _ => return Err(invalid()),
        }
        // As above.
        let document: Document = serde_json::from_slice(content).map_err(|_| invalid())?;
        let is_suffix = Suffix::Add(OsStr::new(&document.suffix)).check().is_ok();
        let is_keyed = document.keyset.is_empty() == (document.version == 2);
        let is_ours = is_suffix && is_identifier(&document.folder) && is_keyed;
        match is_ours && document.to_json().as_bytes() == content {
            true => Ok(Self { path: path.to_owned(), document }),
            false => Err(invalid()),
        }
    }

    /// Returns the path of the description.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the suffix of encrypted files.
    pub fn suffix(&self) -> &str {
        &self.document.suffix
    }

    /// Returns the suffix by which unfinished files are told from others, see `JobOptions`. `None`
    /// if an encrypted file can have such a name.
    #[doc(hidden)]
    pub fn unfinished(&self) -> Option<&OsStr> {
        let Document { suffix, names, .. } = &self.document;
        Some(OsStr::new(suffix)).filter(|suffix| *names || !suffix.is_empty())
    }

    /// Returns whether names are encrypted.
    pub fn names(&self) -> bool {
        self.document.names
    }

    /// Returns whether modes, times and links are kept.
    pub fn preserve(&self) -> bool {
        self.document.preserve
    }

    /// Returns the identifier of the folder, 32 hexadecimal digits.
    pub fn identifier(&self) -> &str {
        &self.document.folder
    }

    /// Returns the recipients of the keys, or in a write-only folder of the files.
    pub fn recipients(&self) -> &[String] {
        &self.document.recipients
    }

    /// Returns whether each file is for the recipients alone, so that who writes cannot read.
    pub fn is_write_only(&self) -> bool {
        self.document.version == 2
    }

    /// Verifies the signature of a folder that is write-only. Keys authenticate the others.
    ///
    /// # Errors
    /// Returns [`Error::Format`] without a signature, and [`Error::Signature`].
    pub fn check_signer(&self, signers: &Signers) -> Result<()> {
        let Document { version: 2, mac, .. } = &self.document else { return Ok(()) };
        if mac.is_empty() {
            return Err(Error::Format("expected a signed description, found one without a signature"));
        }
        Ok(signers.verify(self.document.unsigned().as_bytes(), mac)?)
    }

    /// Returns whether identities or a passphrase unwrap the keys, instead of a key.
    pub fn is_for_identities(&self) -> bool {
        !self.document.keyset.starts_with('{')
    }

    /// Returns whether the keys are encrypted with a passphrase.
    pub fn has_passphrase(&self) -> bool {
        let is_for =
            |file: Vec<u8>| Header::parse_whole(&file).is_ok_and(|(header, _)| header.has_passphrase());
        self.is_for_identities()
            && decode(self.document.keyset.as_bytes()).is_ok_and(|file| is_for(file.to_vec()))
    }
}

impl Document {
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("texts, numbers and booleans") + "\n"
    }

    /// Returns what the MAC authenticates.
    pub(crate) fn unsigned(&self) -> String {
        Self { mac: String::new(), ..self.clone() }.to_json()
    }
}

/// Returns that a folder has no description, unless it had one that this user has opened: who can
/// write to the folder could otherwise make jobs write as if it had never had one.
fn none(folder: &Path, path: &Path) -> Result<Option<Description>> {
    match keys::known_line(path, None) {
        Some((known, line)) => {
            Err(FolderError::DescriptionGone { folder: folder.to_owned(), known, line }.into())
        }
        None => Ok(None),
    }
}

/// Returns whether every user can make files in a folder, and no user can remove those of others.
pub(crate) fn is_public(folder: &Path) -> bool {
    let mode = folder.metadata().ok().and_then(|found| os::mode(&found));
    mode.is_some_and(|mode| mode & 0o1002 == 0o1002)
}

/// Reads a description; one that is too long, so far that this is seen.
fn read(path: &Path) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let mut file = open_regular(path)?.take(Description::MAX_LEN as u64 + 1);
    file.read_to_end(&mut content).map_err(|e| Error::io(path, e))?;
    Ok(content)
}

/// Returns whether a file may be the copy of a description that a conflict left. The temporary file
/// of a killed rotation is no copy.
fn is_copy(name: &OsStr) -> bool {
    let lower = name.to_string_lossy().to_lowercase();
    let is_named = lower.trim_start_matches('.').starts_with("sealane");
    is_named && name != Description::NAME && !is_temporary_name(name)
}

/// Returns whether a file is a description, damaged or not.
fn is_ours(path: &Path) -> bool {
    read(path).is_ok_and(|found| String::from_utf8_lossy(&found).contains("\"sealane\": \"folder\""))
}

fn is_description(content: &[u8]) -> bool {
    serde_json::from_slice::<AnyVersion>(content).is_ok_and(|found| found.sealane == "folder")
}

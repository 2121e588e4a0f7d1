//! Errors of jobs over folders.

use std::path::PathBuf;

/// Why a job over a folder cannot begin or is incomplete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// Invalid exclude pattern (gitignore syntax). The text contains the pattern and the mistake.
    #[error("expected a pattern of gitignore: {0}")]
    InvalidPattern(String),
    /// A part of the source could not be listed. Nothing is removed, because unseen files may still
    /// exist.
    #[error("nothing was removed, because {problems} paths of the source could not be processed")]
    IncompleteListing {
        /// Number of paths that could not be listed or processed.
        problems: usize,
    },
    /// The source has no file (its disk may not be mounted), so nothing is removed.
    #[error("nothing was removed, because the source has no file; check that its disk is mounted")]
    EmptySource,
    /// All or most of the encrypted files have no source, so the source may be a wrong one.
    #[error(
        "nothing was removed, because {removed} of the {held} files in the output folder have no source; check that this is the right source and that its disk is mounted, or remove them with --delete-all (in Python, delete='all')"
    )]
    MostRemoved {
        /// Number of files to remove.
        removed: usize,
        /// Number of files that jobs wrote.
        held: usize,
    },
    /// The target folder is the source folder, where removing an encrypted file could remove the
    /// only copy.
    #[error("nothing was removed, because the output is the input folder; use another output folder")]
    InPlace,
    /// A name in an inventory leaves the folder, is empty or is listed twice.
    #[error("expected names below the folder in the inventory, each once, found {0:?}; take another copy")]
    InventoryName(PathBuf),
    /// The inventory lies inside a folder of the job and would be taken for one of its files.
    #[error("{0}: the inventory lies in the input or the output folder; choose a place outside of them")]
    InventoryInside(PathBuf),
    /// The inventory has no signature beside it.
    #[error("{0}: expected a signature in {0}.sig or {0}.minisig, found none; take another copy")]
    SignatureMissing(PathBuf),
    /// The inventory does not decrypt: the keys of its folder were replaced.
    #[error("{0}: the inventory is under an earlier key of the folder")]
    InventoryRetired(PathBuf),
    /// The inventory was signed with a key that is not accepted.
    #[error("{0}: the signature was made with another key; check that this is the expected signer")]
    OtherSigner(PathBuf),
    /// The inventory or its signature was changed or truncated.
    #[error(
        "{path}: does not match the signature {signature}: one of them was changed or cut; take another copy of both"
    )]
    SignatureInvalid {
        /// Path of the inventory.
        path: PathBuf,
        /// Path of the signature beside it.
        signature: PathBuf,
    },
    /// The inventory is older than expected.
    #[error(
        "{path}: expected an inventory with a counter of at least {expected}, found {found}: it is an older one"
    )]
    OldInventory {
        /// Path of the inventory.
        path: PathBuf,
        /// Counter of this inventory.
        found: u64,
        /// Smallest accepted counter.
        expected: u64,
    },
    /// The inventory is of another folder, or of version 1, which does not name its folder.
    #[error(
        "{path}: expected the inventory of folder {expected}, found {}: folder and inventory are others, or the inventory that named it was lost",
        found.as_deref().map_or("one of version 1, which names no folder".into(), |id| format!("that of {id}"))
    )]
    OtherFolder {
        /// Path of the inventory.
        path: PathBuf,
        /// The folder's identifier in this inventory; `None` in version 1.
        found: Option<String>,
        /// The expected identifier.
        expected: String,
    },
    /// A link in an encrypted folder leads out of it. Anyone who can write there may have made it.
    #[error(
        "the link leads to {0:?}, outside of the folder, so it is not restored; use --preserve-all (in Python, preserve='all') if you trust everybody who can write to the encrypted folder"
    )]
    LinkLeadsOut(PathBuf),
    /// A text is not the identifier of a folder.
    #[error("expected the identifier of a folder, which is 32 digits 0 to 9 and a to f, found {0:?}")]
    InvalidIdentifier(String),
    /// A name is too long: its encrypted form would not fit in a file system.
    #[error(
        "expected a name of at most {max} bytes, which fits when it is encrypted, found {found}; use a shorter name"
    )]
    NameTooLong {
        /// Length of the name in bytes.
        found: usize,
        /// Maximum length in bytes, with the suffix.
        max: usize,
    },
    /// The path in a symbolic link is too long to be encrypted.
    #[error(
        "expected a link with a path of at most {max} bytes, which fits when it is encrypted, found {found}"
    )]
    LinkTooLong {
        /// Length of the path in bytes.
        found: usize,
        /// Maximum length in bytes.
        max: usize,
    },
    /// An encrypted name, or the encrypted path in a link, is not authentic: the key is wrong or
    /// the file was moved.
    #[error(
        "the name does not decrypt: it is under another key, the file or its folder was renamed or moved, or another program made it"
    )]
    NameNotAuthentic,
    /// A decrypted name is not a file name (such as `..`), so no folder job wrote it.
    #[error(
        "the name decrypts to something that is not the name of a file; the key was used for something else"
    )]
    NameInvalid,
    /// A name lacks the suffix of encrypted files.
    #[error("expected a name that ends with the suffix {0:?}; check the suffix, or leave this file out")]
    SuffixMissing(std::ffi::OsString),
    /// Another encrypted name stands for the same file, for example under a retired key.
    #[error(
        "{other} stands for the same name; remove the older of the two, or, if it is under a retired key, disable the key"
    )]
    DuplicateName {
        /// Path of the other file.
        other: PathBuf,
    },
    /// The target of a file is also that of a folder.
    #[error("its output has the name of the folder {other}; rename one of the two")]
    FolderHasTarget {
        /// Path of the source folder.
        other: PathBuf,
    },
    /// Names are to be encrypted, but the target folder is the source folder.
    #[error("the output is the input folder, and the names of both would mix; use another output folder")]
    NamesInPlace,
    /// Names are encrypted, but the manifest lies in the encrypted folder and would reveal them.
    #[error(
        "{0}: the manifest would reveal the names, because it lies in the encrypted folder; choose another place"
    )]
    ManifestReveals(PathBuf),
    /// The manifest is a source or a target of the job, or lies inside a source.
    #[error("{0}: the manifest is among the sources or the targets; choose another place for it")]
    ManifestAmong(PathBuf),
    /// A folder has no description.
    #[error(
        "{0}: expected a folder that describes itself, found no file .sealane in it; 'sealane init' makes one"
    )]
    NoDescription(PathBuf),
    /// A folder has lost its description: the file of known keys shows that it had one. Without it,
    /// a job would write with other keys, and perhaps with plaintext names.
    #[error(
        "{folder}: expected the description .sealane, which this user has opened here before, found none; restore it from a backup. For another folder in its place, remove line {line} of {}",
        known.display()
    )]
    DescriptionGone {
        /// The folder.
        folder: PathBuf,
        /// The user's file of known keys.
        known: PathBuf,
        /// The line of this folder in it.
        line: usize,
    },
    /// A folder to be described has a description.
    #[error("{0}: the folder has a description already; choose a new or an empty folder")]
    DescriptionExists(PathBuf),
    /// A folder to be described has files, which may be encrypted with other options.
    #[error("{folder}: expected a new or an empty folder, found {found:?} in it; choose another one")]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
        /// A name in it.
        found: std::ffi::OsString,
    },
    /// A file in the place of a folder's description is none, or not as it was written.
    #[error(
        "{0}: expected the description of a folder, as 'sealane init' writes it, found other content; restore it from a backup"
    )]
    DescriptionInvalid(PathBuf),
    /// A folder's description is of a later version.
    #[error("{path}: expected a description of version 1, found version {found}; use a newer sealane")]
    DescriptionVersion {
        /// Path of the description.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// A folder has two descriptions, such as a copy that a conflict left.
    #[error("{path}: found a second description, {other:?}; keep the right one, and move the other away")]
    SecondDescription {
        /// Path of the description.
        path: PathBuf,
        /// Name of the other one.
        other: std::ffi::OsString,
    },
    /// A folder's description does not belong to its keys: an option was changed, or the keys.
    #[error(
        "{0}: this description was changed without the folder's key, so nothing was read or written; restore it from a backup"
    )]
    DescriptionChanged(PathBuf),
    /// The keys of a folder are under another key than the given one.
    #[error("{0}: the key does not open this folder, or the description was changed; give the right key")]
    FolderKey(PathBuf),
    /// The file has the name that is reserved for the folder's description.
    #[error("the name is reserved in the encrypted folder; rename it, or leave it out")]
    ReservedName,
    /// The output is in an encrypted folder that describes itself, and is not for it.
    #[error(
        "{0}: the output is in an encrypted folder that describes itself, where plaintext and files under other keys don't belong; choose another folder"
    )]
    OutputDescribed(PathBuf),
    /// The source is in an encrypted folder that describes itself.
    #[error(
        "{0}: the source is in an encrypted folder that describes itself, so its files are encrypted already; name the plaintext folder as the source and the encrypted one as the output"
    )]
    SourceDescribed(PathBuf),
    /// The output is in a vault of another tool.
    #[error("{0}: the output is in a vault of another tool, which sealane only reads; choose another folder")]
    OutputIsVault(PathBuf),
    /// All names in the source or target look like encrypted ones, and there is no key of names.
    #[error(
        "{0}: the names in this folder are encrypted; give their key (--encrypt-names, in Python encrypt_names); if 'sealane init' made the folder, restore its lost file .sealane"
    )]
    NamesEncrypted(PathBuf),
    /// All names to be restored end like encrypted files, and there is no suffix to remove.
    #[error(
        "{folder}: all names in this folder end with {suffix:?}; give it (--suffix {suffix}), or --suffix '' to keep it; if 'sealane init' made the folder, restore its lost file .sealane"
    )]
    SuffixForgotten {
        /// The source folder.
        folder: PathBuf,
        /// The suffix.
        suffix: &'static str,
    },
}

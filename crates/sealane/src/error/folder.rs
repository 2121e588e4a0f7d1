//! The errors of jobs over whole folders.

use std::fmt;
use std::path::PathBuf;

/// A reason why a job over a whole folder does not begin or is not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FolderError {
    /// A pattern of files to exclude is not one of gitignore, and the text gives the pattern and the mistake.
    InvalidPattern(String),
    /// A part of the source could not be listed, so nothing is removed: the files that were not seen may exist.
    IncompleteListing {
        /// Number of paths that could not be listed or processed.
        problems: usize,
    },
    /// The source has no file, for example because its disk is not mounted, so nothing is removed.
    EmptySource,
    /// The target folder is the source folder, so removing encrypted files could remove the only copy.
    InPlace,
    /// A name in an inventory leaves the folder, is empty or is listed twice.
    InventoryName(PathBuf),
    /// The inventory at this path lies inside a folder of the job, where it would be taken for one of its files.
    InventoryInside(PathBuf),
    /// The inventory at this path has no signature beside it.
    SignatureMissing(PathBuf),
    /// The signature at this path was made with another key than those that are accepted.
    OtherSigner(PathBuf),
    /// The inventory or its signature was changed or cut.
    SignatureInvalid {
        /// Path of the inventory.
        path: PathBuf,
        /// Path of the signature beside it.
        signature: PathBuf,
    },
    /// The inventory is older than the one that is expected.
    OldInventory {
        /// Path of the inventory.
        path: PathBuf,
        /// Counter of the inventory that was found.
        found: u64,
        /// Smallest counter that is accepted.
        expected: u64,
    },
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidPattern(text) => write!(f, "expected a pattern of gitignore: {text}"),
            Self::IncompleteListing { problems } => {
                write!(
                    f,
                    "nothing was removed, because {problems} paths of the source could not be processed"
                )
            }
            Self::EmptySource => f.write_str(
                "nothing was removed, because the source has no file; check that its disk is mounted",
            ),
            Self::InPlace => f.write_str(
                "nothing was removed, because the output is the input folder; use another output folder",
            ),
            Self::InventoryName(name) => write!(
                f,
                "expected names below the folder in the inventory, each once, found {name:?}; take another copy"
            ),
            Self::InventoryInside(path) => write!(
                f,
                "{}: the inventory lies in the input or the output folder; choose a place outside of them",
                path.display()
            ),
            Self::SignatureMissing(path) => write!(
                f,
                "{0}: expected a signature in {0}.sig or {0}.minisig, found none; take another copy",
                path.display()
            ),
            Self::OtherSigner(path) => write!(
                f,
                "{}: the signature was made with another key; check that this is the expected signer",
                path.display()
            ),
            Self::SignatureInvalid { path, signature } => write!(
                f,
                "{}: does not match the signature {}: one of them was changed or cut; take another copy of both",
                path.display(),
                signature.display()
            ),
            Self::OldInventory { path, found, expected } => write!(
                f,
                "{}: expected an inventory with a counter of at least {expected}, found {found}: it is an older one",
                path.display()
            ),
        }
    }
}

impl std::error::Error for FolderError {}

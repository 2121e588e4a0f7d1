//! Public facts about an encrypted file, read without a key and not verified.

use super::file_cipher::Description;
use super::foreign::foreign;
use super::format::{FORMATS, Format};
use super::paths::Source;
use crate::prelude::*;

/// Format, recipients and size of an encrypted file, read without a key. Not verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Info {
    /// Name of the format's specification, such as "age v1".
    pub format: &'static str,
    /// Whether the file has the format's mark. Only age files have one; any other format is a guess
    /// that only the key confirms.
    pub recognized: bool,
    /// Whether the file is text (armored) or binary.
    pub armor: Armor,
    /// Recipient kinds in header order, such as "X25519"; empty unless it is an age file.
    pub recipients: Vec<String>,
    /// Size of the file in bytes, armor included.
    pub file_len: u64,
    /// Size of the plaintext in bytes, if the file is complete.
    pub plaintext_len: u64,
    /// Number of chunks of the plaintext.
    pub chunks: u64,
    /// Plaintext bytes per full chunk; only the last chunk may have fewer.
    pub chunk_len: u64,
}

/// Reads public facts about the file `from`.
///
/// Age files are recognised by their first line. Files of other formats have no mark, so any other
/// file is described as a file in `format`, by default chunked-encryption@v1. Without `format`,
/// text and files with a known mark, such as archives, are refused.
///
/// # Errors
/// Returns [`Error::Truncated`] if no complete file has this size; [`Error::Header`],
/// [`Error::Armor`], [`Error::Format`] or [`Error::UnsupportedVersion`] for a damaged or foreign
/// file; [`Error::Io`] if it cannot be read; [`Misuse::UnsupportedSource`] for a pipe.
///
/// # Example
/// ```
/// use sealane::file::{EncryptWith, encrypt, inspect};
///
/// let path = std::env::temp_dir().join(format!("sealane-inspect-{}", std::process::id()));
/// let key = sealane::Key::generate(32)?;
/// std::fs::write(&path, encrypt(&[7; 100_000], &EncryptWith::key(&key, b""))?)?;
/// let info = inspect(&path, None)?;
/// assert_eq!((info.plaintext_len, info.chunks, info.chunk_len), (100_000, 7, 16_384));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), sealane::Error>(())
/// ```
pub fn inspect(from: &Path, format: Option<Format>) -> Result<Info> {
    let source = Source::open(from)?;
    let Some(file_len) = source.file_len() else {
        return Err(Misuse::UnsupportedSource("inspection requires a regular file").into());
    };
    inspect_source(&source.file, file_len, format).map_err(|e| e.about(from))
}

/// Describes an encrypted file of `file_len` bytes, as [`inspect`].
///
/// # Errors
/// As [`inspect`], without the path.
pub fn inspect_source(file: &dyn ReadAt, file_len: u64, format: Option<Format>) -> Result<Info> {
    if file_len == 0 {
        return Err(Error::Truncated);
    }
    // bounded: 2 KiB.
    let mut prefix = vec![0; file_len.min(2048) as usize];
    file.read_exact_at(0, &mut prefix)?;
    let detected = FORMATS.iter().find(|entry| entry.detect.is_some_and(|detect| detect(&prefix)));
    if let (None, None, Some(found)) = (detected, format, foreign(&prefix)) {
        return Err(Error::Format(found));
    }
    let entry = detected.unwrap_or(format.unwrap_or(Format::Chunked).entry());
    let Description { layout, armor, sealed_len, recipients } = (entry.describe)(file, file_len)?;
    let plan = layout.plan_sealed(sealed_len)?;
    Ok(Info {
        format: entry.specification,
        recognized: detected.is_some(),
        armor,
        recipients,
        file_len,
        plaintext_len: plan.plain_len,
        chunks: plan.chunks(),
        chunk_len: layout.chunk,
    })
}

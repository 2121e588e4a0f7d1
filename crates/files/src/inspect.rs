//! Public facts about an encrypted file, read without a key and not verified.

use super::file_cipher::Description;
use super::format::{FORMATS, Format};
use super::paths::Source;
use base::{Error, Misuse};
use engine::io::ReadAt;
use keys::age::Armor;
use std::path::Path;

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
pub fn inspect(from: &Path, format: Option<Format>) -> Result<Info, Error> {
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
pub fn inspect_source(file: &dyn ReadAt, file_len: u64, format: Option<Format>) -> Result<Info, Error> {
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

/// Defines marks: a position, the bytes there, and the content that they show.
macro_rules! marks {
    ($($at:literal $mark:literal $content:literal;)*) => {
        [$(($at, $mark, concat!("expected an encrypted file, found ", $content))),*]
    };
}

/// Marks of files that are not ours. Encrypted bytes look random: one file in 2^24 has a mark of
/// three bytes.
static MARKS: [(usize, &[u8], &str); 20] = marks! {
    0 b"\x1f\x8b\x08" "gzip";
    0 b"PK\x03\x04" "a zip archive";
    0 b"BZh" "bzip2";
    0 b"\xfd7zXZ\0" "xz";
    0 b"\x28\xb5\x2f\xfd" "Zstandard";
    0 b"7z\xbc\xaf\x27\x1c" "a 7z archive";
    257 b"ustar" "a tar archive";
    0 b"Salted__" "a file of 'openssl enc'";
    0 b"RCLONE\0\0" "a file of rclone crypt";
    0 b"PAR1" "a Parquet file";
    0 b"PARE" "an encrypted Parquet file";
    0 b"%PDF-" "PDF";
    0 b"\x89PNG" "PNG";
    0 b"\xff\xd8\xff" "JPEG";
    0 b"\x7fELF" "a program";
    0 b"SQLite format 3\0" "a SQLite database";
    0 b"\x89HDF\r\n" "HDF5";
    0 b"openssh-key-v1\0" "an SSH key";
    0 b"-----BEGIN PGP " "text of OpenPGP";
    0 b"-----BEGIN " "PEM";
};

/// Returns the error about a file that is not ours.
fn foreign(prefix: &[u8]) -> Option<&'static str> {
    let found =
        MARKS.iter().find(|(at, mark, _)| prefix.get(*at..).is_some_and(|rest| rest.starts_with(mark)));
    let is_text = || {
        let text = prefix.utf8_chunks().next();
        // The last character may be cut.
        let whole = text.filter(|text| text.valid().len() + 4 > prefix.len());
        whole.is_some_and(|text| !text.valid().contains(|c: char| c.is_control() && !c.is_ascii_whitespace()))
    };
    found.map(|found| found.2).or_else(|| is_text().then_some("expected an encrypted file, found text"))
}

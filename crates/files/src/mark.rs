//! The mark of an encrypted file's version: its length, and a hash of all its bytes as stored.
//!
//! Inventories of version 1 have weaker marks: the first and last bytes of a file. A file's keys
//! follow from random bytes in its header, so two files have different ones. But tags and MACs are
//! no collision-resistant hashes: anyone with the key of a file can change it and keep them.

use super::armor::DearmoredSource;
use super::file_hash::{FileHash, HASH_LEN};
use crate::prelude::*;
use engine::io::open_regular;
use engine::options::Options;
use engine::pipeline::run_reporting;
use engine::prefix::parse_prefix;
use keys::age::Header;

/// Maximum bytes taken from the start of a file for a mark of version 1. In chunked-encryption@v1:
/// salt and commitment; in Tink files: the header and some ciphertext.
pub const HEAD_LEN: usize = 56;
/// Bytes taken from the end of a file for a mark of version 1.
const TAG_LEN: usize = 16;
const AGE: &[u8] = b"age-encryption.org/";
/// Characters of an age header's MAC, in base64 without padding.
const MAC_CHARS: usize = 43;
/// Bytes that a thread reads and hashes at once; they stay in the cache.
const PIECE_LEN: u64 = 1 << 18;

/// The mark of an encrypted file's version; see the format of `Inventory`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileMark {
    /// Length of the file in bytes. In version 1, of the decoded data if armored.
    #[doc(hidden)]
    pub len: u64,
    #[doc(hidden)]
    pub content: Content,
}

/// What identifies the bytes of a file.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// The hash of all bytes, as `file_hash` defines it.
    Hash([u8; HASH_LEN]),
    /// The ends of a file, in version 1. `tag` is the last bytes: the tag of the last chunk.
    Ends { head: Head, tag: [u8; TAG_LEN] },
}

/// The part of a mark of version 1 taken from the start of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    /// The MAC of an age header, in base64 as in the header.
    Mac(String),
    /// The first 56 bytes of any other file.
    Bytes(Vec<u8>),
}

impl FileMark {
    /// Reads a file, on one thread, and returns its mark. Needs no key and verifies nothing.
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path; its kind is [`std::io::ErrorKind::Unsupported`] for a
    /// pipe, a socket or a device. Never waits for the writer of a pipe.
    pub fn of(path: &Path) -> Result<Self> {
        Self::read(path, Options { threads: std::num::NonZeroUsize::new(1), ..Options::default() })
    }

    /// Like [`Self::of`], on several threads and with progress.
    ///
    /// # Errors
    /// Returns the errors of [`Self::of`], and [`Error::Cancelled`].
    #[doc(hidden)]
    pub fn read(path: &Path, mut options: Options<'_>) -> Result<Self> {
        let file = open_regular(path)?;
        let len = file.size().map_err(|e| Error::io(path, e))?;
        let (hash, jobs) = (FileHash::new(len), len.div_ceil(PIECE_LEN));
        let buffer = || memory::zeroed(len.min(PIECE_LEN) as usize);
        run_reporting(jobs, len, &mut options, buffer, |job, piece| {
            let start = job * PIECE_LEN;
            let piece = &mut piece[..(len - start).min(PIECE_LEN) as usize];
            file.read_exact_at(start, piece).map_err(|e| Error::io(path, e))?;
            hash.add(start, piece).map(|()| piece.len())
        })?;
        // Every byte was added.
        Self::of_hash(len, hash).ok_or(Error::Truncated)
    }

    /// Returns the mark of a file of `len` bytes; `None` unless all of them were hashed.
    pub(crate) fn of_hash(len: u64, hash: FileHash) -> Option<Self> {
        Some(Self { len, content: Content::Hash(hash.finish()?) })
    }

    /// Reads the mark of version 1, of an encrypted file.
    ///
    /// # Errors
    /// Returns the errors of [`Self::of`]; [`Error::Truncated`] for a file of less than 16 bytes;
    /// [`Error::Header`] or [`Error::Armor`] for a damaged age file.
    #[doc(hidden)]
    pub fn of_ends(path: &Path) -> Result<Self> {
        let file = open_regular(path)?;
        let source = DearmoredSource::new(&file, Armor::detect);
        source.and_then(|source| Self::ends(&source, source.size()?)).map_err(|e| e.about(path))
    }

    fn ends(source: &dyn ReadAt, len: u64) -> Result<Self> {
        let mut first = memory::zeroed(len.min(HEAD_LEN as u64) as usize)?;
        source.read_exact_at(0, &mut first)?;
        let head = match first.starts_with(AGE) {
            true => Head::Mac(
                parse_prefix(source, len, |prefix, _| Header::parse(prefix))
                    .and_then(|(_, header_len)| mac(source, header_len as u64))?,
            ),
            false => Head::Bytes(first),
        };
        Ok(Self { len, content: Content::Ends { head, tag: tag(source, len)? } })
    }
}

/// Returns the MAC at the end of an age header of `len` bytes; the header ends with a line feed.
fn mac(source: &(impl ReadAt + ?Sized), len: u64) -> Result<String> {
    const SHORT: Error = Error::Header("it has no MAC");
    let mut mac = [0; MAC_CHARS];
    let start = len.checked_sub(MAC_CHARS as u64 + 1).ok_or(SHORT)?;
    source.read_exact_at(start, &mut mac)?;
    // In a parsed header, these characters are base64.
    String::from_utf8(mac.to_vec()).map_err(|_| SHORT)
}

fn tag(source: &(impl ReadAt + ?Sized), len: u64) -> Result<[u8; TAG_LEN]> {
    let mut tag = [0; TAG_LEN];
    let start = len.checked_sub(TAG_LEN as u64).ok_or(Error::Truncated)?;
    source.read_exact_at(start, &mut tag)?;
    Ok(tag)
}

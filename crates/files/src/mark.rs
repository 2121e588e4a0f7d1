//! The mark of an encrypted file's version: bytes unique to it, readable without the key.
//!
//! A file's keys follow from random bytes in its header, so two files have different marks even if
//! their content is equal. Changing the header or the end without the key changes the mark or
//! invalidates the file: the head is the commitment or the MAC of the header, and the tag of the
//! last chunk authenticates the end.

use base::{Error, memory};
use engine::io::{ReadAt, open};
use engine::prefix::parse_prefix;
use keys::age::armor::View;
use keys::age::{Armor, Header};
use std::fs::File;
use std::path::Path;

/// Bytes taken from the start of a file for a symmetric key. In chunked-encryption@v1: salt and
/// commitment; in Tink files: the header and some ciphertext.
pub const HEAD_LEN: usize = 56;
/// Bytes taken from the end of a file.
pub(crate) const TAG_LEN: usize = 16;
const AGE: &[u8] = b"age-encryption.org/";
/// Characters of an age header's MAC, in base64 without padding.
const MAC_CHARS: usize = 43;
/// Bytes between the header of an age file and its first chunk.
const NONCE_LEN: usize = 16;

/// The mark of an encrypted file's version; see the format of `Inventory`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileMark {
    /// Length of the file in bytes; of the decoded data if armored.
    #[doc(hidden)]
    pub len: u64,
    #[doc(hidden)]
    pub head: Head,
    /// The last bytes of the file: the tag of the last chunk.
    #[doc(hidden)]
    pub tag: [u8; TAG_LEN],
}

/// The part of a mark taken from the start of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    /// The MAC of an age header, in base64 as in the header.
    Mac(String),
    /// The first 56 bytes of any other file.
    Bytes(Vec<u8>),
}

impl FileMark {
    /// Reads the mark of an encrypted file, without its key. Verifies nothing.
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path; [`Error::Truncated`] for a file of less than 16 bytes;
    /// [`Error::Header`] or [`Error::Armor`] for a damaged age file.
    pub fn of(path: &Path) -> Result<Self, Error> {
        Self::read(path).map_err(|e| e.about(path))
    }

    fn read(path: &Path) -> Result<Self, Error> {
        let file = open(path)?;
        let len = file.metadata()?.len();
        // bounded: 2 KiB.
        let mut prefix = vec![0; len.min(2048) as usize];
        file.read_exact_at(0, &mut prefix)?;
        match Armor::detect(&prefix) {
            Some(Armor::Ascii) => {
                let view = View::new(&file)?;
                Self::of_source(&view, view.size()?)
            }
            _ => Self::of_source(&file, len),
        }
    }

    fn of_source(source: &dyn ReadAt, len: u64) -> Result<Self, Error> {
        let mut first = memory::zeroed(len.min(HEAD_LEN as u64) as usize)?;
        source.read_exact_at(0, &mut first)?;
        let head = match first.starts_with(AGE) {
            true => Head::Mac(
                parse_prefix(source, len, |prefix, _| Header::parse(prefix))
                    .and_then(|(_, header_len)| mac(source, header_len as u64))?,
            ),
            false => Head::Bytes(first),
        };
        Ok(Self { len, head, tag: tag(source, len)? })
    }

    /// Returns the mark of a file just written. `header` includes the nonce in age files; `tag` is
    /// the end of the file. Reads the file only if its header is shorter than the mark.
    #[doc(hidden)]
    pub fn of_written(header: &[u8], tag: [u8; TAG_LEN], file: &File, len: u64) -> Result<Self, Error> {
        if header.starts_with(AGE) {
            let end = (header.len() - NONCE_LEN) as u64;
            return Ok(Self { len, head: Head::Mac(mac(header, end)?), tag });
        }
        let mut head = memory::zeroed(len.min(HEAD_LEN as u64) as usize)?;
        match header.get(..head.len()) {
            Some(header) => head.copy_from_slice(header),
            None => file.read_exact_at(0, &mut head)?,
        }
        Ok(Self { len, head: Head::Bytes(head), tag })
    }
}

/// Returns the MAC at the end of an age header of `len` bytes; the header ends with a line feed.
fn mac(source: &(impl ReadAt + ?Sized), len: u64) -> Result<String, Error> {
    const SHORT: Error = Error::Header("it has no MAC");
    let mut mac = [0; MAC_CHARS];
    let start = len.checked_sub(MAC_CHARS as u64 + 1).ok_or(SHORT)?;
    source.read_exact_at(start, &mut mac)?;
    // In a parsed header, these characters are base64.
    String::from_utf8(mac.to_vec()).map_err(|_| SHORT)
}

fn tag(source: &(impl ReadAt + ?Sized), len: u64) -> Result<[u8; TAG_LEN], Error> {
    let mut tag = [0; TAG_LEN];
    let start = len.checked_sub(TAG_LEN as u64).ok_or(Error::Truncated)?;
    source.read_exact_at(start, &mut tag)?;
    Ok(tag)
}

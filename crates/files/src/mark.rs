//! The mark of a version of an encrypted file: bytes that no other version has, without the key.
//!
//! The keys of a file follow from random bytes of its header, so two files have different marks, also with the same content.
//! A change of the header or of the end without the key changes the mark or makes the file invalid: the head is the commitment or
//! the MAC of the header, and the tag of the last chunk authenticates the end.

use base::{Error, memory};
use engine::io::{ReadAt, open};
use engine::prefix::parse_prefix;
use keys::age::armor::View;
use keys::age::{Armor, Header};
use std::fs::File;
use std::path::Path;

/// Number of bytes at the beginning of a file for a symmetric key: salt and commitment in chunked-encryption@v1, and the header
/// and some ciphertext in Tink files.
pub const HEAD_LEN: usize = 56;
/// Number of bytes at the end of a file that are a part of its mark.
pub(crate) const TAG_LEN: usize = 16;
const AGE: &[u8] = b"age-encryption.org/";
/// Number of characters of the MAC of an age header, in base64 without padding.
const MAC_CHARS: usize = 43;
/// Number of bytes between the header of an age file and its first chunk.
const NONCE_LEN: usize = 16;

/// The mark of a version of an encrypted file; see the format of `Inventory`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileMark {
    /// Length of the file in bytes; for armor, of the decoded data.
    #[doc(hidden)]
    pub len: u64,
    #[doc(hidden)]
    pub head: Head,
    /// The last bytes of the file, which are the tag of the last chunk.
    #[doc(hidden)]
    pub tag: [u8; TAG_LEN],
}

/// The part of a mark that is at the beginning of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    /// The MAC of an age header, in base64 as the header has it.
    Mac(String),
    /// The first 56 bytes of another file.
    Bytes(Vec<u8>),
}

impl FileMark {
    /// Reads the mark of an encrypted file, without its key. Nothing is verified.
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path, [`Error::Truncated`] for a file of less than 16 bytes, and
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

    /// Returns the mark of a file that was written with this header, which includes the nonce in age files. `tag` is the end of the
    /// file. Reads the file only if its header is shorter than the mark.
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

/// Returns the MAC at the end of an age header of `len` bytes, which ends with a line feed.
fn mac(source: &(impl ReadAt + ?Sized), len: u64) -> Result<String, Error> {
    const SHORT: Error = Error::Header("it has no MAC");
    let mut mac = [0; MAC_CHARS];
    let start = len.checked_sub(MAC_CHARS as u64 + 1).ok_or(SHORT)?;
    source.read_exact_at(start, &mut mac)?;
    // The characters are base64 in a parsed header.
    String::from_utf8(mac.to_vec()).map_err(|_| SHORT)
}

fn tag(source: &(impl ReadAt + ?Sized), len: u64) -> Result<[u8; TAG_LEN], Error> {
    let mut tag = [0; TAG_LEN];
    let start = len.checked_sub(TAG_LEN as u64).ok_or(Error::Truncated)?;
    source.read_exact_at(start, &mut tag)?;
    Ok(tag)
}

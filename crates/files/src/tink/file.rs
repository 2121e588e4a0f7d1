//! Files of a keyring of AES-GCM-HKDF streaming keys.

use super::cipher::Tink;
use super::parameters::{TAG_LEN, split};
use crate::age_file::refuse_age;
use crate::file_cipher::{CreateFile, OpenFile};
use crate::prelude::*;
use engine::salvage::opens;
use keys::Purpose;

/// A keyring of streaming keys and its files' context (Tink: associated data).
#[derive(Debug)]
pub(crate) struct TinkFile {
    keyring: Keyring,
    context: Vec<u8>,
}

impl TinkFile {
    /// Binds a keyring to a context.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] unless the keys are streaming keys.
    pub(crate) fn new(keyring: Keyring, context: &[u8]) -> Result<Self, Misuse> {
        match keyring.purpose() {
            Purpose::Streaming => Ok(Self { keyring, context: context.to_vec() }),
            _ => Err(Misuse::UnsuitableKey("expected a keyring of streaming keys, found another one")),
        }
    }

    /// Derives the cipher of the file that begins with `beginning`. A single key is not tested. Of
    /// several keys, the one that opens the first segment is used.
    ///
    /// # Errors
    /// Returns [`Error::NoMatchingKey`] if none of several keys opens it; [`Error::Truncated`] if
    /// it ends too early; the errors of [`Tink::open`].
    pub(super) fn find(&self, beginning: &[u8], extent: Prefix) -> Result<Parsed<FileCipher>> {
        let mut more = 0;
        let single = self.keyring.streaming().nth(1).is_none();
        for (parameters, key) in self.keyring.streaming() {
            let header_len = parameters.header_len();
            let Some(header) = beginning.get(..header_len) else {
                more = more.max(header_len);
                continue;
            };
            if single {
                return Ok(Parsed::Ready(Box::new(Tink::open(parameters, key, &self.context, header)?)));
            }
            // The header has another key's length.
            if split(parameters, header).is_none() {
                continue;
            }
            let (segment_len, len) = (parameters.segment_len(), beginning.len());
            let (segment, last) = match extent {
                _ if len > segment_len => (&beginning[header_len..segment_len], false),
                Prefix::Whole => (&beginning[header_len..], true),
                Prefix::Partial => {
                    more = more.max(segment_len + 1);
                    continue;
                }
            };
            let tink = Tink::open(parameters, key, &self.context, header)?;
            let Some(len) = segment.len().checked_sub(TAG_LEN) else { continue };
            let mut plain = Wiped(memory::zeroed(len)?);
            if opens(&tink, ChunkPosition { index: 0, last }, segment, &mut plain)? {
                return Ok(Parsed::Ready(Box::new(tink)));
            }
        }
        match (extent, more) {
            (_, 0) => Err(Error::NoMatchingKey),
            (Prefix::Whole, _) => Err(Error::Truncated),
            (Prefix::Partial, more) => Ok(Parsed::NeedsMore(more)),
        }
    }
}

impl CreateFile for TinkFile {
    fn create_file(&self) -> Result<(FileCipher, Vec<u8>)> {
        let (parameters, key) = self.keyring.streaming().next().expect("the primary key comes first");
        let (tink, header) = Tink::create(parameters, key, &self.context)?;
        Ok((Box::new(tink), header))
    }
}

impl OpenFile for TinkFile {
    fn open_file(&self, prefix: &[u8], extent: Prefix) -> Result<Parsed<FileCipher>> {
        refuse_age(prefix)?;
        self.find(prefix, extent)
    }

    /// Ignores the length at the start of a header: the key's parameters determine it.
    fn open_damaged(&self, prefix: &[u8], extent: Prefix) -> Result<Parsed<Vec<FileCipher>>> {
        let longest = self.keyring.streaming().map(|(parameters, _)| parameters.header_len()).max();
        if extent == Prefix::Partial && prefix.len() < longest.unwrap_or_default() {
            return Ok(Parsed::NeedsMore(longest.unwrap_or_default()));
        }
        let mut ciphers: Vec<FileCipher> = Vec::new();
        for (parameters, key) in self.keyring.streaming() {
            if let Some(header) = prefix.get(..parameters.header_len()) {
                let mut header = header.to_vec();
                header[0] = header.len() as u8;
                ciphers.push(Box::new(Tink::open(parameters, key, &self.context, &header)?));
            }
        }
        Ok(Parsed::Ready(ciphers))
    }
}

//! The payload: chunks of 64 KiB, encrypted with the payload key.
//!
//! ```text
//! payload     = nonce[16] || chunk 0 || … || chunk n
//! payload key = HKDF-SHA-256(file key, nonce, "payload")
//! chunk i     = ChaCha20-Poly1305(payload key, i[11, big-endian] || last[1], up to 65536 bytes); 16 bytes longer
//! last        = 1 for the last chunk, which can be full, and is empty only if the file is empty; else 0
//! ```
//!
//! Source: c2sp.org/age, "Payload".

use super::file_key::FileKey;
use super::header::Header;
use super::{Identity, Recipient, identity, recipient};
use crate::prelude::*;
use engine::pipeline::{ChunkCipher, OpenChunks};
use engine::plan::{ChunkPosition, End, Layout};
use engine::prefix::Parsed;

/// Plaintext bytes in a full chunk.
pub(crate) const CHUNK_LEN: usize = 1 << 16;
/// Bytes between the header and the first chunk.
pub const NONCE_LEN: usize = 16;
const TAG_LEN: usize = 16;

/// The payload key and the layout of a file.
pub struct Payload {
    aead: Aead,
    layout: Layout,
}

impl Payload {
    /// Creates the payload of a new file for `recipients`. Returns it with the bytes before the
    /// first chunk.
    #[doc(hidden)]
    pub fn create(recipients: &[Recipient]) -> Result<(Self, Vec<u8>)> {
        let file_key = FileKey::generate()?;
        let header = recipient::header(recipients, &file_key)?;
        let nonce = base::random::array()?;
        let header = [header.as_bytes(), &nonce].concat();
        Ok((Self::new(&file_key, &nonce, header.len())?, header))
    }

    /// Opens the payload of a file that begins with `prefix`.
    #[doc(hidden)]
    pub fn begin(prefix: &[u8], identities: &[Identity]) -> Result<Parsed<Self>> {
        Self::begin_with(prefix, |header| identity::file_key(header, identities))
    }

    /// Opens the payload like [`Self::begin`], even if the MAC of the header does not match.
    /// Nothing is verified until a chunk is.
    #[doc(hidden)]
    pub fn begin_damaged(prefix: &[u8], identities: &[Identity]) -> Result<Parsed<Self>> {
        Self::begin_with(prefix, |header| identity::file_key_of_damaged(header, identities))
    }

    fn begin_with(prefix: &[u8], file_key: impl FnOnce(&Header) -> Result<FileKey>) -> Result<Parsed<Self>> {
        let (header, len) = match Header::parse(prefix)? {
            Parsed::NeedsMore(len) => return Ok(Parsed::NeedsMore(len)),
            Parsed::Ready(found) => found,
        };
        let Some(nonce) = prefix[len..].first_chunk() else {
            return Ok(Parsed::NeedsMore(len + NONCE_LEN));
        };
        Self::new(&file_key(&header)?, nonce, len + NONCE_LEN).map(Parsed::Ready)
    }

    fn new(file_key: &FileKey, nonce: &[u8; NONCE_LEN], before: usize) -> Result<Self> {
        Ok(Self { aead: file_key.payload(nonce)?, layout: layout(before as u64) })
    }
}

/// Returns the layout of the chunks after `before` bytes of header and nonce; it does not depend on
/// the key.
pub const fn layout(before: u64) -> Layout {
    Layout {
        header: before,
        lead: 0,
        chunk: CHUNK_LEN as u64,
        overhead: TAG_LEN as u64,
        end: End::Marked,
        // The counter has 88 bits and sets no limit.
        max_chunks: 1 << 63,
    }
}

fn nonce(position: ChunkPosition) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[3..11].copy_from_slice(&position.index.to_be_bytes());
    nonce[11] = position.last.into();
    nonce
}

impl OpenChunks for Payload {
    fn layout(&self) -> Layout {
        self.layout
    }

    fn decrypt(&self, position: ChunkPosition, sealed: &[u8], plain: &mut [u8]) -> Result<()> {
        // An empty chunk after a full one would be a second encoding of the same plaintext.
        if plain.is_empty() && position.index > 0 {
            return Err(Error::Authentication);
        }
        let (data, tag) = sealed.split_at(plain.len());
        self.aead.decrypt_parts(&nonce(position), &[], InOut::apart(data, plain), tag)
    }
}

impl ChunkCipher for Payload {
    fn seal(&self, position: ChunkPosition, plain: &[u8], sealed: &mut [u8]) -> Result<()> {
        let (data, tag) = sealed.split_at_mut(plain.len());
        self.aead.encrypt_parts(&nonce(position), &[], InOut::apart(plain, data), tag)
    }
}

debug_fields!(Payload; |it| aead: it.aead);

//! Files of gocryptfs.
//!
//! ```text
//! file    = version[2] = 2 || file id[16] || block 0 || … || block n
//! block i = nonce || ciphertext || tag[16]    4096 plaintext bytes, the last block 1 to 4096
//!           nonce[16] || tag[16] || ciphertext                                  with AES-SIV
//! associated data = i as 8 bytes || file id
//! ```
//!
//! Numbers are big-endian. A block of zeros that is as long as a full block is a hole of 4096
//! zeros. Nothing authenticates it.

use super::config::{Config, Flag, GCM, MasterKey, SIV, XCHACHA};
use crate::prelude::*;
use messages::{Aead, Key};
use providers::{AeadKey, Algorithm};

const HEADER: usize = 18;
const BLOCK: usize = 4096;
const TAG: usize = 16;

/// The cipher of all files of a vault.
pub(super) enum Cipher {
    Gcm(raw::GcmAnyNonce),
    Siv(raw::Siv),
    XChaCha(Aead),
}

/// A file of a vault.
pub(super) struct File {
    cipher: Arc<Cipher>,
    id: [u8; 16],
}

debug_fields!(File);

impl Cipher {
    pub(super) fn new(config: &Config, master: &MasterKey) -> Result<Self> {
        Ok(if config.has(Flag::XChaCha20Poly1305) {
            let key = Key::from_bytes(&master.derive(XCHACHA));
            Self::XChaCha(Aead::new(Algorithm::XChaCha20Poly1305, &key)?)
        } else if config.has(Flag::AesSiv) {
            Self::Siv(raw::siv(&master.derive(SIV))?)
        } else {
            Self::Gcm(raw::gcm_any_nonce(&master.derive(GCM))?)
        })
    }

    const fn nonce_len(&self) -> usize {
        match self {
            Self::Gcm(_) | Self::Siv(_) => 16,
            Self::XChaCha(_) => 24,
        }
    }

    pub(super) const fn overhead(&self) -> usize {
        self.nonce_len() + TAG
    }

    pub(super) const fn layout(&self) -> Layout {
        Layout {
            header: HEADER as u64,
            lead: 0,
            chunk: BLOCK as u64,
            overhead: self.overhead() as u64,
            end: End::Alike,
            max_chunks: u64::MAX,
        }
    }

    /// Opens a block that is longer than `plain` by the overhead.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`]; `plain` is zero then.
    pub(super) fn open(&self, aad: &[u8], block: &[u8], plain: &mut [u8]) -> Result<()> {
        let (nonce, rest) = block.split_at(self.nonce_len());
        // No writer has this nonce: it is what a damaged disk returns.
        if nonce.iter().all(|byte| *byte == 0) {
            plain.fill(0);
            return Err(Error::Authentication);
        }
        let (data, tag) = rest.split_last_chunk().ok_or(Error::Authentication)?;
        match self {
            Self::Gcm(key) => {
                // The only error is a wrong tag.
                key.open(nonce, aad, InOut::apart(data, plain), tag).map_err(|_| Error::Authentication)
            }
            Self::XChaCha(key) => key.decrypt_parts(nonce, aad, InOut::apart(data, plain), tag),
            Self::Siv(key) => {
                let (iv, data) = rest.split_first_chunk().ok_or(Error::Authentication)?;
                // The only error is a wrong synthetic IV.
                key.open(&[aad, nonce], InOut::apart(data, plain), iv).map_err(|_| Error::Authentication)
            }
        }
    }
}

impl File {
    /// Reads the header of a file that is not empty.
    pub(super) fn open(cipher: &Arc<Cipher>, source: &dyn ReadAt) -> Result<Self> {
        let mut header = [0; HEADER];
        if source.size()? < HEADER as u64 {
            return Err(Error::Truncated);
        }
        source.read_exact_at(0, &mut header)?;
        match header.split_first_chunk() {
            Some(([0, 2], id)) if id.iter().any(|byte| *byte != 0) => {
                Ok(Self { cipher: Arc::clone(cipher), id: id.try_into().expect("16 bytes") })
            }
            _ => Err(Error::Header("expected version 2 and an identifier that is not zero")),
        }
    }
}

impl OpenChunks for File {
    fn layout(&self) -> Layout {
        self.cipher.layout()
    }

    fn decrypt(&self, position: ChunkPosition, sealed: &[u8], plain: &mut [u8]) -> Result<()> {
        if plain.len() == BLOCK && sealed.iter().all(|byte| *byte == 0) {
            plain.fill(0);
            return Ok(());
        }
        let mut aad = [0; 24];
        aad[..8].copy_from_slice(&position.index.to_be_bytes());
        aad[8..].copy_from_slice(&self.id);
        self.cipher.open(&aad, sealed, plain)
    }
}

//! Files of Cryptomator: a header with the file's key, and chunks of 32 KiB.
//!
//! ```text
//! SIV_GCM     header = nonce[12] || AES-GCM(vault's key, FF * 8 || file key[32]) || tag[16]
//!             chunk  = nonce[12] || AES-GCM(file key, i || header's nonce as associated data) || tag[16]
//! SIV_CTRMAC  header = nonce[16] || AES-CTR(vault's key, FF * 8 || file key[32]) || mac[32]
//!             chunk  = nonce[16] || AES-CTR(file key) || mac[32]
//!             mac of the header = HMAC-SHA-256(MAC key, nonce || ciphertext)
//!             mac of a chunk    = HMAC-SHA-256(MAC key, header's nonce || i || nonce || ciphertext)
//! ```
//!
//! `i` has 8 bytes, big-endian. Some versions of the library end a file with an empty chunk if its
//! length is a multiple of 32 KiB.

use super::config::{Combo, Config, Keys};
use crate::contents::chunks;
use crate::prelude::*;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use messages::hazmat::AesCtr;
use messages::{Aead, Key};
use providers::Algorithm;

/// Length of the plaintext of a header in bytes: reserved bytes, and the key of the file.
const RESERVED: usize = 8;
const KEY: usize = 32;

/// A cipher with one key.
enum Cipher {
    Gcm(Box<Aead>),
    CtrMac(AesCtr, Arc<hmac::Key>),
}

/// The ciphers of all files of a vault.
pub(super) struct Ciphers {
    pub(super) combo: Combo,
    mac: Arc<hmac::Key>,
    /// Opens headers.
    header: Cipher,
}

/// A file of a vault.
struct File {
    combo: Combo,
    cipher: Cipher,
    nonce: Vec<u8>,
}

debug_fields!(File);

impl Combo {
    const fn nonce_len(self) -> usize {
        match self {
            Self::Gcm => 12,
            Self::CtrMac => 16,
        }
    }

    const fn overhead(self) -> usize {
        match self {
            Self::Gcm => 12 + 16,
            Self::CtrMac => 16 + 32,
        }
    }

    const fn layout(self) -> Layout {
        Layout {
            header: (self.overhead() + RESERVED + KEY) as u64,
            lead: 0,
            chunk: 32 << 10,
            overhead: self.overhead() as u64,
            end: End::Alike,
            max_chunks: u64::MAX,
        }
    }

    /// Returns the length of a file without an empty chunk at its end.
    fn without_empty_chunk(self, sealed_len: u64) -> u64 {
        let Layout { header, overhead, .. } = self.layout();
        match sealed_len.checked_sub(header) {
            Some(body) if body % self.layout().sealed_chunk_len() == overhead => sealed_len - overhead,
            _ => sealed_len,
        }
    }

    /// Returns the length of the plaintext of a file; 0 for a file that cannot be whole.
    pub(super) fn plain_len(self, sealed_len: u64) -> u64 {
        crate::contents::plain_len(self.layout(), self.without_empty_chunk(sealed_len))
    }
}

impl Cipher {
    fn new(combo: Combo, key: &[u8], mac: &Arc<hmac::Key>) -> Result<Self> {
        Ok(match combo {
            Combo::Gcm => Self::Gcm(Box::new(Aead::new(Algorithm::Aes256Gcm, &Key::from_bytes(key))?)),
            Combo::CtrMac => Self::CtrMac(AesCtr::new(key, &[0; 16])?, Arc::clone(mac)),
        })
    }

    /// Opens `nonce || ciphertext || tag`. The associated data differs between the ciphers.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`]; `plain` is zero then.
    fn open(&self, aad: &[&[u8]], sealed: &[u8], plain: &mut [u8]) -> Result<()> {
        match self {
            Self::Gcm(aead) => {
                let (nonce, rest) = sealed.split_at(Combo::Gcm.nonce_len());
                let (data, tag) = rest.split_at(plain.len());
                aead.decrypt_parts(nonce, &aad.concat(), InOut::apart(data, plain), tag)
            }
            Self::CtrMac(ctr, key) => {
                let (signed, tag) = sealed.split_at(Combo::CtrMac.nonce_len() + plain.len());
                let (nonce, data) = signed.split_first_chunk().ok_or(Error::Authentication)?;
                let mut mac = hmac::Context::with_key(key);
                aad.iter().chain(&[signed]).for_each(|part| mac.update(part));
                if verify_slices_are_equal(mac.sign().as_ref(), tag).is_err() {
                    plain.fill(0);
                    return Err(Error::Authentication);
                }
                ctr.xor_under(nonce, 0, InOut::apart(data, plain))
            }
        }
    }
}

impl Ciphers {
    pub(super) fn new(config: &Config, keys: &Keys) -> Result<Self> {
        let mac = Arc::new(hmac::Key::new(hmac::HMAC_SHA256, keys.mac()));
        let header = Cipher::new(config.combo, keys.encryption(), &mac)?;
        Ok(Self { combo: config.combo, mac, header })
    }

    /// Opens the file stored at `path`.
    pub(super) fn open(&self, storage: &dyn Storage, path: &[u8]) -> Result<Box<dyn Contents>> {
        let source = storage.open(path)?;
        let open = || {
            let size = source.size()?;
            let file = self.file(&source, size)?;
            let sealed_len = self.combo.without_empty_chunk(size);
            if sealed_len != size {
                file.check_empty(&source, sealed_len)?;
            }
            Ok((file, sealed_len))
        };
        let (file, sealed_len) = open().map_err(|error| in_vault(path, error))?;
        chunks(path, source, sealed_len, Box::new(file))
    }

    /// Opens the header of a file.
    fn file(&self, source: &dyn ReadAt, size: u64) -> Result<File> {
        let len = self.combo.layout().header as usize;
        let mut header = [0; 88];
        let header = &mut header[..len];
        if size < len as u64 {
            return Err(Error::Truncated);
        }
        source.read_exact_at(0, header)?;
        let mut plain = Zeroizing::new([0; RESERVED + KEY]);
        self.header.open(&[], header, &mut *plain).map_err(|error| match error {
            Error::Authentication => {
                Error::Header("it does not authenticate: it was changed, or is of another vault")
            }
            error => error,
        })?;
        let (reserved, key) = plain.split_at(RESERVED);
        // With SIV_CTRMAC, a chunk of 16 bytes has the length of a header and the same MAC key.
        if reserved != [0xff; RESERVED] {
            return Err(Error::Header("expected 8 reserved bytes FF"));
        }
        let cipher = Cipher::new(self.combo, key, &self.mac)?;
        Ok(File { combo: self.combo, cipher, nonce: header[..self.combo.nonce_len()].to_vec() })
    }
}

impl File {
    /// Verifies the empty chunk at `offset`, which is the last.
    fn check_empty(&self, source: &dyn ReadAt, offset: u64) -> Result<()> {
        let layout = self.combo.layout();
        let mut sealed = memory::zeroed(self.combo.overhead())?;
        source.read_exact_at(offset, &mut sealed)?;
        self.open(ChunkPosition { index: layout.complete_chunks(offset), last: true }, &sealed, &mut [])
    }
}

impl OpenChunks for File {
    fn layout(&self) -> Layout {
        self.combo.layout()
    }

    fn decrypt(&self, position: ChunkPosition, sealed: &[u8], plain: &mut [u8]) -> Result<()> {
        let index = position.index.to_be_bytes();
        let aad: [&[u8]; 2] = match self.combo {
            Combo::Gcm => [&index, &self.nonce],
            Combo::CtrMac => [&self.nonce, &index],
        };
        self.cipher.open(&aad, sealed, plain)
    }
}

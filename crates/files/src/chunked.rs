//! The format C2SP chunked-encryption@v1, also known as Cobblestone-128 and Cobblestone-256.
//!
//! ```text
//! file       = salt[24] || commitment[32] || chunk 0 || … || chunk n
//! key[K] || base nonce[12] || commitment[32] =
//!              HKDF-Expand-SHA512(key, info)
//! info       = "c2sp.org/chunked-encryption@v1+" || aead || 0x00 || salt || context
//! chunk i    = AES-GCM(key, base nonce XOR i, 16384 plaintext bytes, no AAD); 16 bytes longer
//! last chunk = always shorter than 16384 bytes; empty if the length is a multiple
//! ```
//!
//! The commitment is checked before any chunk, so a file opens under exactly one key and context.
//! Never extend or modify a file in place: either would reuse a nonce.

use super::age_file::refuse_age;
use super::file_cipher::{CreateFile, OpenFile};
use crate::prelude::*;
use aws_lc_rs::hkdf;
use engine::pipeline::OpenChunks;
use keys::approved::{Computation, expand_hkdf};
use messages::Aead;
use providers::{Algorithm, InOut};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Plaintext bytes per full chunk in chunked-encryption@v1.
pub const CHUNK_LEN: usize = 16384;
/// Bytes before the first chunk in chunked-encryption@v1.
pub const HEADER_LEN: usize = SALT_LEN + COMMITMENT_LEN;
const TAG_LEN: usize = 16;

/// Positions of the chunks in a file; they depend on no key.
pub(crate) const LAYOUT: Layout = Layout {
    header: HEADER_LEN as u64,
    lead: 0,
    chunk: CHUNK_LEN as u64,
    overhead: TAG_LEN as u64,
    end: End::Short,
    max_chunks: 1 << 38,
};

const SALT_LEN: usize = 24;
const COMMITMENT_LEN: usize = 32;
const NONCE_LEN: usize = 12;

/// Algorithms and their names in the HKDF info, selected by key length.
const SUITES: [(Algorithm, &[u8]); 2] =
    [(Algorithm::Aes128Gcm, b"AEAD_AES_128_GCM"), (Algorithm::Aes256Gcm, b"AEAD_AES_256_GCM")];

/// Symmetric keys and the context of their files. The first key encrypts, all decrypt.
#[derive(Debug)]
pub(super) struct ChunkedFile {
    keys: Vec<Key>,
    context: Vec<u8>,
}

impl ChunkedFile {
    pub(super) fn new(key: &Key, context: &[u8]) -> Self {
        Self { keys: vec![key.clone()], context: context.to_vec() }
    }

    /// Checks the key length before any file is encrypted or decrypted.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] unless the key has 16 or 32 bytes.
    pub(super) fn checked(key: &Key, context: &[u8]) -> Result<Self, Misuse> {
        suite(key).map(|_| Self::new(key, context))
    }

    /// Binds the enabled keys of an AEAD keyring to a context.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] unless each key has 16 or 32 bytes, as all AEAD keys of
    /// keyrings have.
    pub(super) fn keyring(keyring: &Keyring, context: &[u8]) -> Result<Self, Misuse> {
        let keys: Vec<_> = keyring.enabled().map(|enabled| enabled.key.clone()).collect();
        keys.iter().try_for_each(|key| suite(key).map(drop))?;
        Ok(Self { keys, context: context.to_vec() })
    }
}

impl CreateFile for ChunkedFile {
    fn create_file(&self) -> Result<(FileCipher, Vec<u8>)> {
        let (chunked, header) = Chunked::create(&self.keys[0], &self.context)?;
        Ok((Box::new(chunked), header.to_vec()))
    }
}

impl OpenFile for ChunkedFile {
    fn open_file(&self, prefix: &[u8], _: Prefix) -> Result<Parsed<FileCipher>> {
        refuse_age(prefix)?;
        let Some(header) = prefix.first_chunk() else { return Ok(Parsed::NeedsMore(HEADER_LEN)) };
        for key in &self.keys {
            if let Some(chunked) = Chunked::open(key, &self.context, header)? {
                return Ok(Parsed::Ready(Box::new(chunked)));
            }
        }
        // As with a single key, a wrong key, a wrong context and a changed header look the same.
        Err(Error::Authentication)
    }

    /// Ignores the commitment: the keys follow from the salt alone. A file with a damaged salt is
    /// lost.
    fn open_damaged(&self, prefix: &[u8], _: Prefix) -> Result<Parsed<Vec<FileCipher>>> {
        let Some(salt) = prefix.get(..SALT_LEN) else { return Ok(Parsed::NeedsMore(HEADER_LEN)) };
        let cipher = |key| Ok(Box::new(Derived::new(key, &self.context, salt)?.cipher()?) as FileCipher);
        self.keys.iter().map(cipher).collect::<Result<_>>().map(Parsed::Ready)
    }

    fn supports_ranges(&self) -> bool {
        true
    }
}

/// Returns the algorithm for a key of this length, and its name in the HKDF info.
fn suite(key: &Key) -> Result<(Algorithm, &'static [u8]), Misuse> {
    let got = key.as_bytes().len();
    let found = SUITES.into_iter().find(|(algorithm, _)| algorithm.key_len() == got);
    found.ok_or(Misuse::KeyLength { got, want: &[16, 32] })
}

/// The chunk cipher of one file, with its derived key.
struct Chunked {
    aead: Aead,
    base_nonce: [u8; NONCE_LEN],
}

/// Bytes before the first chunk: salt and commitment.
type Header = [u8; HEADER_LEN];

impl Chunked {
    fn create(key: &Key, context: &[u8]) -> Result<(Self, Header)> {
        let mut header = [0; HEADER_LEN];
        base::random::fill(&mut header[..SALT_LEN])?;
        let derived = Derived::new(key, context, &header[..SALT_LEN])?;
        header[SALT_LEN..].copy_from_slice(derived.commitment());
        Ok((derived.cipher()?, header))
    }

    /// Derives the cipher of the file with this header. `None` if the commitment differs: wrong
    /// key, wrong context or changed header.
    fn open(key: &Key, context: &[u8], header: &Header) -> Result<Option<Self>> {
        let derived = Derived::new(key, context, &header[..SALT_LEN])?;
        if bool::from(derived.commitment().ct_eq(&header[SALT_LEN..])) {
            derived.cipher().map(Some)
        } else {
            Ok(None)
        }
    }

    fn nonce(&self, index: u64) -> [u8; NONCE_LEN] {
        let mut nonce = self.base_nonce;
        for (byte, index) in nonce[4..].iter_mut().zip(index.to_be_bytes()) {
            *byte ^= index;
        }
        nonce
    }
}

/// What is derived from a key for one file: chunk key, base nonce and commitment.
struct Derived {
    okm: Zeroizing<[u8; 32 + NONCE_LEN + COMMITMENT_LEN]>,
    algorithm: Algorithm,
}

impl Derived {
    fn new(key: &Key, context: &[u8], salt: &[u8]) -> Result<Self> {
        let (algorithm, name) = suite(key)?;
        let mut okm = Zeroizing::new([0; 32 + NONCE_LEN + COMMITMENT_LEN]);
        let len = algorithm.key_len() + NONCE_LEN + COMMITMENT_LEN;
        let info = [b"c2sp.org/chunked-encryption@v1+", name, &[0], salt, context];
        expand(key.as_bytes(), &info, &mut okm[..len])?;
        Ok(Self { okm, algorithm })
    }

    fn commitment(&self) -> &[u8] {
        &self.okm[self.algorithm.key_len() + NONCE_LEN..][..COMMITMENT_LEN]
    }

    fn cipher(&self) -> Result<Chunked> {
        let (key, rest) = self.okm.split_at(self.algorithm.key_len());
        Ok(Chunked {
            aead: Aead::new(self.algorithm, &Key::from_bytes(key))?,
            base_nonce: *rest.first_chunk().expect("the nonce follows the key"),
        })
    }
}

impl OpenChunks for Chunked {
    fn layout(&self) -> Layout {
        LAYOUT
    }

    fn decrypt(&self, position: ChunkPosition, sealed: &[u8], plain: &mut [u8]) -> Result<()> {
        let (data, tag) = sealed.split_at(plain.len());
        self.aead.decrypt_parts(&self.nonce(position.index), &[], InOut::apart(data, plain), tag)
    }
}

impl ChunkCipher for Chunked {
    fn seal(&self, position: ChunkPosition, plain: &[u8], sealed: &mut [u8]) -> Result<()> {
        let (data, tag) = sealed.split_at_mut(plain.len());
        self.aead.encrypt_parts(&self.nonce(position.index), &[], InOut::apart(plain, data), tag)
    }
}

debug_fields!(Chunked; |it| aead: it.aead);

/// Computes HKDF-Expand with SHA-512 (RFC 5869, section 2.3). The format uses `key` as the
/// pseudorandom key although it is shorter than the hash.
fn expand(key: &[u8], info: &[&[u8]], okm: &mut [u8]) -> Result<()> {
    Computation::HkdfSha2.check()?;
    expand_hkdf(&hkdf::Prk::new_less_safe(hkdf::HKDF_SHA512, key), info, okm)
}

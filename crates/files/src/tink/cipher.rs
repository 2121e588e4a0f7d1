//! The segment cipher of Tink's AES-GCM-HKDF streaming.

use super::parameters::{layout, split};
use crate::prelude::*;
use aws_lc_rs::hkdf;
use engine::pipeline::OpenChunks;
use keys::approved::{Computation, expand_hkdf};
use keys::keyring::{HASHES, Hash, PREFIX_LEN, Parameters, SEGMENTS};
use messages::Aead;
use providers::InOut;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use zeroize::Zeroizing;

const NONCE_LEN: usize = 12;

/// The segment cipher of one file, with its derived key.
pub(crate) struct Tink {
    aead: Aead,
    prefix: [u8; PREFIX_LEN],
    layout: Layout,
    /// Set by the first segment that opens: the header does not commit to the key.
    key_is_verified: AtomicBool,
}

impl Tink {
    pub(crate) fn create(parameters: &Parameters, key: &Key, aad: &[u8]) -> Result<(Self, Vec<u8>)> {
        // bounded: at most 40 bytes.
        let mut header = vec![0; parameters.header_len()];
        base::random::fill(&mut header[1..])?;
        header[0] = header.len() as u8;
        Ok((Self::open(parameters, key, aad, &header)?, header))
    }

    /// Derives the cipher of the file that begins with `header`. A wrong key shows at the first
    /// segment.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`](base::Misuse::KeyLength) for a short key; [`Error::Format`]
    /// for another header length.
    pub(crate) fn open(parameters: &Parameters, key: &Key, aad: &[u8], header: &[u8]) -> Result<Self> {
        parameters.check(key)?;
        let (salt, prefix) = split(parameters, header).ok_or(Error::Format(
            "expected a Tink AES-GCM-HKDF streaming file for a derived key of this length, found another header length",
        ))?;
        let (_, algorithm) =
            SEGMENTS.into_iter().find(|(len, _)| *len == salt.len()).expect("new checks the derived length");
        let mut derived = Zeroizing::new([0; 32]);
        let derived = &mut derived[..salt.len()];
        derive(parameters.hash(), key, salt, aad, derived)?;
        Ok(Self {
            // The engine divides files between threads, so we don't divide segments too.
            aead: Aead::new(algorithm, &Key::from_bytes(derived))?.with_threads(NonZeroUsize::MIN),
            prefix,
            layout: layout(parameters),
            key_is_verified: AtomicBool::new(false),
        })
    }

    fn nonce(&self, position: ChunkPosition) -> Result<[u8; NONCE_LEN]> {
        let index =
            // The dropped error says nothing more.
            u32::try_from(position.index).map_err(|_| Error::LimitExceeded("a file is limited to 2^32 segments"))?;
        let mut nonce = [0; NONCE_LEN];
        nonce[..PREFIX_LEN].copy_from_slice(&self.prefix);
        nonce[PREFIX_LEN..NONCE_LEN - 1].copy_from_slice(&index.to_be_bytes());
        nonce[NONCE_LEN - 1] = position.last.into();
        Ok(nonce)
    }
}

impl OpenChunks for Tink {
    fn layout(&self) -> Layout {
        self.layout
    }

    fn decrypt(&self, position: ChunkPosition, sealed: &[u8], plain: &mut [u8]) -> Result<()> {
        let (data, tag) = sealed.split_at(plain.len());
        self.aead.decrypt_parts(&self.nonce(position)?, &[], InOut::apart(data, plain), tag)?;
        self.key_is_verified.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn key_is_verified(&self) -> bool {
        self.key_is_verified.load(Ordering::Relaxed)
    }
}

impl ChunkCipher for Tink {
    fn seal(&self, position: ChunkPosition, plain: &[u8], sealed: &mut [u8]) -> Result<()> {
        let (data, tag) = sealed.split_at_mut(plain.len());
        self.aead.encrypt_parts(&self.nonce(position)?, &[], InOut::apart(plain, data), tag)
    }
}

debug_fields!(Tink; |it| aead: it.aead);

/// Computes HKDF (RFC 5869) with AWS-LC: it supports SHA-1 and wipes its intermediate values.
fn derive(hash: Hash, key: &Key, salt: &[u8], info: &[u8], out: &mut [u8]) -> Result<()> {
    let computation = if info.is_empty() { Computation::HkdfWithoutInfo } else { Computation::HkdfSha2 };
    computation.check()?;
    let (_, algorithm) =
        HASHES.iter().find(|(known, _)| *known == hash).expect("the table contains every hash");
    expand_hkdf(&hkdf::Salt::new(**algorithm, salt).extract(key.as_bytes()), &[info], out)
}

//! Many messages of AES-GCM in one call.
#![forbid(unsafe_code)]

use super::{Gcm, MAX_AAD_LEN};
use crate::batch;
use crate::error::{MessageError, OpenError, Part};
use crate::gcm::batch::{NONCE_LEN, SHORT};

fn is_short(len: usize) -> bool {
    len <= SHORT
}

impl Gcm {
    /// Seals each of `plaintexts` under the nonce with its index, to `nonce || ciphertext || tag`
    /// in the destination with its index. All messages have the same associated data.
    ///
    /// # Errors
    /// Returns the error of [`Self::seal`] for the first message that has one, with its index.
    ///
    /// # Panics
    /// Panics if there is not one nonce and one destination of the right length for each message.
    pub fn seal_batch(
        &self,
        nonces: &[[u8; NONCE_LEN]],
        aad: &[u8],
        plaintexts: &[&[u8]],
        sealed: &mut [&mut [u8]],
    ) -> Result<(), (usize, MessageError)> {
        let (aad_hash, aad_len) = self.shared_aad(aad).map_err(|error| (0, error))?;
        let short = |nonces: &[[u8; NONCE_LEN]], from: &[&[u8]], to: &mut [&mut [u8]]| {
            self.variant.seal_batch(self.size, &self.key, aad_hash, aad_len, nonces, from, to);
            self.clean_stack(SHORT * nonces.len());
        };
        batch::seal(
            |run| run,
            is_short,
            nonces,
            plaintexts,
            sealed,
            short,
            |nonce, data, tag| self.seal(nonce, aad, data, tag),
        )
    }

    /// Opens each message `nonce || ciphertext || tag` of `sealed` to the destination with its
    /// index. All messages have the same associated data.
    ///
    /// # Errors
    /// Returns the error of [`Self::open`] for the first message that has one, with its index. The
    /// destinations from this one on are zero or unchanged.
    ///
    /// # Panics
    /// Panics if there is not one destination of the right length for each message.
    pub fn open_batch(
        &self,
        aad: &[u8],
        sealed: &[&[u8]],
        plaintexts: &mut [&mut [u8]],
    ) -> Result<(), (usize, OpenError)> {
        let (aad_hash, aad_len) = self.shared_aad(aad).map_err(|error| (0, error.into()))?;
        let short = |from: &[&[u8]], to: &mut [&mut [u8]], tags: &mut [[u8; 16]]| {
            self.variant.open_batch(self.size, &self.key, aad_hash, aad_len, from, to, tags);
            self.clean_stack(SHORT * from.len());
        };
        batch::open(
            |run| run,
            is_short,
            sealed,
            plaintexts,
            short,
            |nonce: &[u8; NONCE_LEN], data, tag| self.open(nonce, aad, data, tag),
        )
    }

    /// Returns the hash and the length of associated data.
    fn shared_aad(&self, aad: &[u8]) -> Result<(u128, u64), MessageError> {
        Part::AssociatedData.check_len(aad.len() as u128, MAX_AAD_LEN)?;
        let mut aad_hash = 0;
        if !aad.is_empty() {
            self.absorb(aad, &mut aad_hash);
        }
        Ok((aad_hash, aad.len() as u64))
    }
}

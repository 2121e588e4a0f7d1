//! Many messages of AES-GCM in one call.
#![forbid(unsafe_code)]

use super::{Gcm, MAX_AAD_LEN};
use crate::InOut;
use crate::ct;
use crate::error::{MessageError, OpenError, Part};
use crate::gcm::batch::{NONCE_LEN, SHORT, Sealed};
use crate::zero::wipe;

/// Number of messages that are decrypted before their tags are compared.
const GROUP: usize = 64;

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
        assert_eq!((nonces.len(), sealed.len()), (plaintexts.len(), plaintexts.len()));
        let (aad_hash, aad_len) = self.shared_aad(aad).map_err(|error| (0, error))?;
        let mut at = 0;
        while at < plaintexts.len() {
            let short = plaintexts[at..].iter().take_while(|plaintext| plaintext.len() <= SHORT).count();
            if short == 0 {
                let to = Sealed::parts(sealed[at]);
                let data = InOut::apart(plaintexts[at], to.data);
                self.seal(&nonces[at], aad, data, to.tag).map_err(|error| (at, error))?;
                *to.nonce = nonces[at];
                at += 1;
                continue;
            }
            let (range, size, key) = (at..at + short, self.size, &self.key);
            let (nonces, from, to) = (&nonces[range.clone()], &plaintexts[range.clone()], &mut sealed[range]);
            self.variant.seal_batch(size, key, aad_hash, aad_len, nonces, from, to);
            self.clean_stack(SHORT * short);
            at += short;
        }
        Ok(())
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
        assert_eq!(sealed.len(), plaintexts.len());
        let (aad_hash, aad_len) = self.shared_aad(aad).map_err(|error| (0, error.into()))?;
        let mut at = 0;
        while at < sealed.len() {
            // Stops at a wrong length too, before a plaintext is written that is not verified.
            let is_short = |(sealed, plaintext): &(&&[u8], &&mut [u8])| {
                plaintext.len() <= SHORT && sealed.len() == plaintext.len() + NONCE_LEN + 16
            };
            let group = sealed[at..].iter().zip(&plaintexts[at..]).take(GROUP);
            let short = group.take_while(is_short).count();
            if short == 0 {
                let (nonce, body) = sealed[at].split_first_chunk::<NONCE_LEN>().expect("a nonce");
                let (ciphertext, tag) = body.split_last_chunk().expect("a tag");
                let data = InOut::apart(ciphertext, plaintexts[at]);
                self.open(nonce, aad, data, tag).map_err(|error| (at, error))?;
                at += 1;
                continue;
            }
            let (range, size, key) = (at..at + short, self.size, &self.key);
            let (from, to) = (&sealed[range.clone()], &mut plaintexts[range]);
            let mut tags = [[0; 16]; GROUP];
            self.variant.open_batch(size, key, aad_hash, aad_len, from, to, &mut tags[..short]);
            self.clean_stack(SHORT * short);
            let authentic = |i: usize| from[i].last_chunk().is_some_and(|tag| ct::equal(&tags[i], tag));
            if let Some(forged) = (0..short).position(|i| !authentic(i)) {
                to[forged..].iter_mut().for_each(|plaintext| plaintext.fill(0));
                // With these tags, read from the stack, forged messages would be accepted.
                wipe(tags.as_flattened_mut());
                return Err((at + forged, OpenError::AuthenticationFailed));
            }
            at += short;
        }
        Ok(())
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

//! The interface that every provider implements: a key that encrypts and decrypts whole messages.

use crate::{AuthenticationError, InOut, KeyError, MessageError, Parts, SealError};

/// A key of one algorithm, expanded by one provider.
///
/// The functions in [`contract`](crate::contract) check an implementation against these rules.
pub trait AeadKey: Send + Sync {
    /// Encrypts `data` and writes the tag to `tag`.
    ///
    /// # Errors
    /// [`SealError::Message`] for a nonce of the wrong length, before anything is written, and for a message that is
    /// longer than the algorithm or the provider allows. A destination apart from the plaintext is zero after an error.
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> Result<(), SealError>;

    /// Decrypts `data` if `tag` matches the message, the associated data, the nonce and the key.
    ///
    /// Another thread or process may change the source during the call. Implementations must decrypt the same bytes that
    /// they authenticate, for example by reading each byte once or by copying the source to the destination first.
    ///
    /// # Errors
    /// [`AuthenticationError`], also for a nonce of the wrong length. The destination is zero then, in place or not.
    fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationError>;
}

/// Copies the source to the destination, for libraries that only work in place.
///
/// Libraries that read the ciphertext twice get a copy as well, since another process may change the source in between.
/// A copy per cache-sized piece would be cheaper than one of the whole message, but the tag covers the whole message
/// and these libraries have no streaming interface.
pub(crate) fn copied(data: Parts<'_>) -> &mut [u8] {
    match data {
        Parts::InPlace(data) => data,
        Parts::Apart(from, to) => {
            to.copy_from_slice(from);
            to
        }
    }
}

/// Clears the destination of a message that failed authentication.
pub(crate) fn rejected(destination: &mut [u8]) -> AuthenticationError {
    destination.fill(0);
    AuthenticationError
}

/// Returns the key as an array.
pub(crate) fn key_array<const LEN: usize>(key: &[u8]) -> Result<&[u8; LEN], KeyError> {
    key.try_into().map_err(|_| KeyError::InvalidLength { found: key.len(), expected: &[LEN] })
}

/// Returns the nonce as an array.
#[inline]
pub(crate) fn nonce_array<const LEN: usize>(nonce: &[u8]) -> Result<&[u8; LEN], MessageError> {
    nonce.try_into().map_err(|_| MessageError::InvalidNonceLength { found: nonce.len(), expected: LEN })
}

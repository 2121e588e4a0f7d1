//! The interface that every provider implements: a key that encrypts and decrypts whole messages.

use crate::batch::{BatchAad, BatchError, open_each, seal_each};
use crate::{AuthenticationError, InOut, KeyError, MessageError, Parts, SealError};
use kernels::segments::Threads;
use std::panic::RefUnwindSafe;

/// A key of one algorithm, expanded by one provider.
///
/// The functions in [`contract`](crate::contract) check an implementation against these rules. A binding to another language
/// catches panics at its boundary, so a key must still be usable after one ([`RefUnwindSafe`]).
pub trait AeadKey: Send + Sync + RefUnwindSafe {
    /// Encrypts `data` and writes the tag to `tag`.
    ///
    /// # Errors
    /// Returns [`SealError::Message`] and writes nothing if the nonce has the wrong length. If the message is longer
    /// than the algorithm or the provider allows, returns [`SealError::Message`] or, if the provider gives no reason,
    /// [`SealError::Unspecified`]. After an error, a destination apart from the plaintext is unchanged or zero.
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> Result<(), SealError>;

    /// Encrypts `data` under a random nonce that the provider generates, and writes it to `nonce` and the tag to `tag`.
    ///
    /// Only providers that have to generate the nonces themselves implement it, for example those of a FIPS module.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal`], and `None` if the caller has to choose the nonce.
    fn seal_fresh(
        &self,
        nonce: &mut [u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Option<Result<(), SealError>> {
        let _ = (nonce, aad, data, tag);
        None
    }

    /// Decrypts `data` if `tag` matches the message, the associated data, the nonce and the key.
    ///
    /// Another thread or process may change the source during the call. Implementations must decrypt the same bytes that
    /// they authenticate, for example by reading each byte once or by copying the source to the destination first.
    ///
    /// # Errors
    /// Returns [`AuthenticationError`], also if the nonce has the wrong length. The destination is zero then.
    fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationError>;

    /// Seals each of `plaintexts` to `nonce || ciphertext || tag` in the destination with its index, which has exactly
    /// this length. `nonces` are the nonces of all messages, one after the other.
    ///
    /// # Errors
    /// Returns the error of [`Self::seal`] for the first message that has one. The destinations after it are unchanged or zero.
    ///
    /// # Panics
    /// Panics if there is not one destination of this length for each message, or not one nonce or associated data.
    fn seal_batch(
        &self,
        nonces: &[u8],
        aad: BatchAad<'_>,
        plaintexts: &[&[u8]],
        sealed: &mut [&mut [u8]],
    ) -> Result<(), BatchError<SealError>> {
        seal_each(|nonce, aad, data, tag| self.seal(nonce, aad, data, tag), nonces, aad, plaintexts, sealed)
    }

    /// Opens each message `nonce || ciphertext || tag` of `sealed` to the destination with its index, which has exactly
    /// the length of its plaintext.
    ///
    /// # Errors
    /// Returns the error of [`Self::open`] for the first message that has one. Its destination is zero then, those before
    /// it have their plaintexts, and those after it are unchanged or zero.
    ///
    /// # Panics
    /// Panics if there is not one destination of this length for each message, or not one associated data.
    fn open_batch(
        &self,
        nonce_len: usize,
        aad: BatchAad<'_>,
        sealed: &[&[u8]],
        plaintexts: &mut [&mut [u8]],
    ) -> Result<(), BatchError<AuthenticationError>> {
        open_each(
            |nonce, aad, data, tag| self.open(nonce, aad, data, tag),
            nonce_len,
            aad,
            sealed,
            plaintexts,
        )
    }

    /// Returns whether [`Self::seal_on`] and [`Self::open_on`] divide a long message between threads.
    fn divides_messages(&self) -> bool {
        false
    }

    /// Encrypts like [`Self::seal`], to the same bytes. An implementation that can divide a message uses `threads`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal`].
    fn seal_on(
        &self,
        threads: &dyn Threads,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), SealError> {
        let _ = threads;
        self.seal(nonce, aad, data, tag)
    }

    /// Decrypts like [`Self::open`]. An implementation that can divide a message uses `threads`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open`]. All of the destination is zero then.
    fn open_on(
        &self,
        threads: &dyn Threads,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationError> {
        let _ = threads;
        self.open(nonce, aad, data, tag)
    }
}

/// Copies the source to the destination, for calls that only work in place.
///
/// Calls that read the ciphertext twice get a copy as well, because another process may change the source in between.
/// A copy per cache-sized piece would be cheaper than one of the whole message, but these calls take the whole message.
pub(crate) fn copied(data: Parts<'_>) -> &mut [u8] {
    match data {
        Parts::InPlace(data) => data,
        Parts::Apart(from, to) => {
            to.copy_from_slice(from);
            to
        }
    }
}

/// Clears the destination of a message that failed authentication, and returns the error.
pub(crate) fn rejected(destination: &mut [u8]) -> AuthenticationError {
    destination.fill(0);
    AuthenticationError
}

/// Returns the key as an array, or an error with its length.
pub(crate) fn key_array<const LEN: usize>(key: &[u8]) -> Result<&[u8; LEN], KeyError> {
    key.try_into().map_err(|_| KeyError::InvalidLength { found: key.len(), expected: &[LEN] })
}

/// Returns the nonce as an array, or an error with its length.
#[inline]
pub(crate) fn nonce_array<const LEN: usize>(nonce: &[u8]) -> Result<&[u8; LEN], MessageError> {
    nonce.try_into().map_err(|_| MessageError::InvalidNonceLength { found: nonce.len(), expected: LEN })
}

/// Implements [`AeadKey`] for the keys of kernels, each with the function that checks a nonce. The key may be in a field.
/// Methods in braces replace those that have a default.
macro_rules! aead_keys {
    ($($key:ty $([$field:tt])?, $checked_nonce:expr $(, { $($own:tt)* })?;)*) => {$(
        impl $crate::AeadKey for $key {
            #[inline]
            fn seal(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: $crate::InOut<'_>,
                tag: &mut [u8; 16],
            ) -> Result<(), $crate::SealError> {
                Ok(self$(.$field)?.seal($checked_nonce(nonce)?, aad, data, tag)?)
            }

            #[inline]
            fn open(
                &self,
                nonce: &[u8],
                aad: &[u8],
                mut data: $crate::InOut<'_>,
                tag: &[u8; 16],
            ) -> Result<(), $crate::AuthenticationError> {
                let Ok(nonce) = $checked_nonce(nonce) else { return Err($crate::key::rejected(data.target())) };
                // Authentication failures are opaque; a kernel that refuses a length has written nothing.
                self$(.$field)?
                    .open(nonce, aad, data.reborrow(), tag)
                    .map_err(|_| $crate::key::rejected(data.target()))
            }

            $($($own)*)?
        }
    )*};
}
pub(crate) use aead_keys;

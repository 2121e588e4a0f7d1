//! Batches: many messages in one call to a key, with one dynamic call for all of them.

use crate::{AuthenticationError, InOut, SealError};

/// The length of the tag of every algorithm, in bytes.
const TAG_LEN: usize = 16;

/// The associated data of the messages of a batch.
#[derive(Clone, Copy, Debug)]
pub enum BatchAad<'a> {
    /// All messages have this associated data.
    Shared(&'a [u8]),
    /// Each message has the associated data with its index.
    Each(&'a [&'a [u8]]),
}

impl<'a> BatchAad<'a> {
    /// Returns the associated data of one message.
    ///
    /// # Panics
    /// Panics if each message has associated data, and there are not more than `index` of them.
    #[inline]
    pub fn of(self, index: usize) -> &'a [u8] {
        match self {
            Self::Shared(aad) => aad,
            Self::Each(aads) => aads[index],
        }
    }

    /// Returns the associated data of the messages from `first` on.
    ///
    /// # Panics
    /// Panics if each message has associated data, and there are fewer than `first` of them.
    #[inline]
    pub fn from(self, first: usize) -> Self {
        match self {
            Self::Shared(aad) => Self::Shared(aad),
            Self::Each(aads) => Self::Each(&aads[first..]),
        }
    }
}

/// An error of one message of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchError<E> {
    /// Index of the message, counted from 0. All messages before it were processed.
    pub index: usize,
    /// The reason why this message could not be processed.
    pub error: E,
}

/// Seals the messages of a batch one after the other, by `seal`.
#[inline]
pub(crate) fn seal_each(
    seal: impl Fn(&[u8], &[u8], InOut<'_>, &mut [u8; TAG_LEN]) -> Result<(), SealError>,
    nonces: &[u8],
    aad: BatchAad<'_>,
    plaintexts: &[&[u8]],
    sealed: &mut [&mut [u8]],
) -> Result<(), BatchError<SealError>> {
    assert_eq!(plaintexts.len(), sealed.len(), "a destination for each message");
    let nonce_len = nonces.len() / plaintexts.len().max(1);
    assert_eq!(nonces.len(), nonce_len * plaintexts.len(), "a nonce for each message");
    for (index, (plaintext, sealed)) in plaintexts.iter().zip(sealed).enumerate() {
        let nonce = &nonces[index * nonce_len..][..nonce_len];
        let (head, body) = sealed.split_at_mut(nonce_len);
        let (ciphertext, tag) = body.split_at_mut(plaintext.len());
        let tag = tag.try_into().expect("a destination of nonce, plaintext and tag");
        seal(nonce, aad.of(index), InOut::apart(plaintext, ciphertext), tag)
            .map_err(|error| BatchError { index, error })?;
        head.copy_from_slice(nonce);
    }
    Ok(())
}

/// Opens the messages of a batch one after the other, by `open`.
#[inline]
pub(crate) fn open_each(
    open: impl Fn(&[u8], &[u8], InOut<'_>, &[u8; TAG_LEN]) -> Result<(), AuthenticationError>,
    nonce_len: usize,
    aad: BatchAad<'_>,
    sealed: &[&[u8]],
    plaintexts: &mut [&mut [u8]],
) -> Result<(), BatchError<AuthenticationError>> {
    assert_eq!(plaintexts.len(), sealed.len(), "a destination for each message");
    for (index, (sealed, plaintext)) in sealed.iter().zip(plaintexts).enumerate() {
        assert_eq!(sealed.len(), nonce_len + plaintext.len() + TAG_LEN, "a destination of the plaintext");
        let (nonce, body) = sealed.split_at(nonce_len);
        let (ciphertext, tag) = body.split_last_chunk().expect("a tag");
        open(nonce, aad.of(index), InOut::apart(ciphertext, plaintext), tag)
            .map_err(|error| BatchError { index, error })?;
    }
    Ok(())
}

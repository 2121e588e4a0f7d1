//! Batches: many messages in one dynamic call to a key.

use crate::{AuthenticationError, InOut, SealError};

/// Tag length of every algorithm, in bytes.
const TAG_LEN: usize = 16;

/// Associated data of a batch.
#[derive(Clone, Copy, Debug)]
pub enum BatchAad<'a> {
    /// One for all messages.
    Shared(&'a [u8]),
    /// One per message, in order.
    Each(&'a [&'a [u8]]),
}

impl<'a> BatchAad<'a> {
    /// Returns the associated data of message `index`.
    ///
    /// # Panics
    /// Panics if there is one per message, but at most `index` of them.
    #[inline]
    pub fn of(self, index: usize) -> &'a [u8] {
        match self {
            Self::Shared(aad) => aad,
            Self::Each(aads) => aads[index],
        }
    }

    /// Returns the associated data from message `first` on.
    ///
    /// # Panics
    /// Panics if there is one per message, but fewer than `first` of them.
    #[inline]
    pub fn from(self, first: usize) -> Self {
        match self {
            Self::Shared(aad) => Self::Shared(aad),
            Self::Each(aads) => Self::Each(&aads[first..]),
        }
    }
}

/// The error of a message in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchError<E> {
    /// Index of the message, counted from 0. Those before it were processed.
    pub index: usize,
    /// Why it could not be processed.
    pub error: E,
}

/// Seals message after message with `seal`.
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

/// Opens message after message with `open`.
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

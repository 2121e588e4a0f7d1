//! Batches: many messages in one dynamic call to a key.

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

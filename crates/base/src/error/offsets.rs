//! The problem with the offsets of packed messages.

/// The problem with the offsets of packed messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OffsetProblem {
    /// There is no offset; packed messages have one more offset than messages.
    #[error("expected one more offset than messages, found no offset")]
    Missing,
    /// The first offset is negative.
    #[error("expected a first offset of 0 or more, found {found}")]
    Negative {
        /// The offset that was found.
        found: i64,
    },
    /// An offset is smaller than the one before it.
    #[error("offset {index} is {found}, expected at least {previous}, the offset before it")]
    Decreasing {
        /// Index of the smaller offset.
        index: usize,
        /// The offset with this index.
        found: i64,
        /// The offset before it.
        previous: i64,
    },
    /// The last offset is larger than the number of bytes of the data.
    #[error("the last offset is {found}, expected at most {len}, the length of the data")]
    PastEnd {
        /// The offset that was found.
        found: i64,
        /// Length of the data in bytes.
        len: usize,
    },
}

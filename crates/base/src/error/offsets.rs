//! What is wrong with the offsets of packed messages.

/// What is wrong with the offsets of packed messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OffsetProblem {
    /// There is no offset; packed messages have one more offset than messages.
    #[error("expected one more offset than messages, found no offset")]
    Missing,
    /// The first offset is negative.
    #[error("expected a first offset of 0 or more, found {found}")]
    Negative {
        /// This offset.
        found: i64,
    },
    /// An offset is smaller than the one before it.
    #[error("offset {index} is {found}, expected at least {previous}, the offset before it")]
    Decreasing {
        /// Index of the smaller offset.
        index: usize,
        /// The smaller offset.
        found: i64,
        /// The offset before it.
        previous: i64,
    },
    /// The last offset is larger than the length of the data.
    #[error("the last offset is {found}, expected at most {len}, the length of the data")]
    PastEnd {
        /// This offset.
        found: i64,
        /// Length of the data in bytes.
        len: usize,
    },
}

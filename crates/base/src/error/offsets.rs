//! The problem with the offsets of packed messages.

use std::fmt;

/// The problem with the offsets of packed messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffsetProblem {
    /// There is no offset; packed messages have one more offset than messages.
    Missing,
    /// The first offset is negative.
    Negative {
        /// The offset that was found.
        found: i64,
    },
    /// An offset is smaller than the one before it.
    Decreasing {
        /// Index of the smaller offset.
        index: usize,
        /// The offset with this index.
        found: i64,
        /// The offset before it.
        previous: i64,
    },
    /// The last offset is larger than the number of bytes of the data.
    PastEnd {
        /// The offset that was found.
        found: i64,
        /// Length of the data in bytes.
        len: usize,
    },
}

impl fmt::Display for OffsetProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("expected one more offset than messages, found no offset"),
            Self::Negative { found } => write!(f, "expected a first offset of 0 or more, found {found}"),
            Self::Decreasing { index, found, previous } => {
                write!(f, "offset {index} is {found}, expected at least {previous}, the offset before it")
            }
            Self::PastEnd { found, len } => {
                write!(f, "the last offset is {found}, expected at most {len}, the length of the data")
            }
        }
    }
}

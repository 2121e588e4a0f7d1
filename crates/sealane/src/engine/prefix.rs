//! Parsing the beginning of a file while more bytes may follow.

use super::io::ReadAt;
use crate::Error;

/// Whether a prefix is the complete file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// More bytes may follow.
    Partial,
    /// The file ends here.
    Whole,
}

/// The result of parsing a prefix of a file.
#[derive(Debug)]
pub enum Parsed<T> {
    /// The prefix was long enough.
    Ready(T),
    /// The prefix is valid so far but too short. Parse again with at least this many bytes, counted from the start of
    /// the file, or with the complete file.
    NeedsMore(usize),
}

impl<T> Parsed<T> {
    /// Applies `f` to the value of [`Parsed::Ready`].
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> Parsed<U> {
        match self {
            Self::Ready(value) => Parsed::Ready(f(value)),
            Self::NeedsMore(len) => Parsed::NeedsMore(len),
        }
    }
}

/// Calls `parse` with longer and longer prefixes of a file of `size` bytes until the prefix is long enough.
///
/// # Errors
/// [`Error::Truncated`] if the whole file is not enough, and the errors of the source and of `parse`.
pub(crate) fn parse_prefix<T>(
    source: &dyn ReadAt,
    size: u64,
    mut parse: impl FnMut(&[u8], Prefix) -> Result<Parsed<T>, Error>,
) -> Result<T, Error> {
    let mut bytes = Vec::new();
    loop {
        let extent = if bytes.len() as u64 == size { Prefix::Whole } else { Prefix::Partial };
        match parse(&bytes, extent)? {
            Parsed::Ready(value) => return Ok(value),
            Parsed::NeedsMore(_) if extent == Prefix::Whole => return Err(Error::Truncated),
            // The parser may ask for more than the file has and still accept the whole file.
            Parsed::NeedsMore(len) => {
                let len = len.max(bytes.len() + 1);
                bytes.resize(usize::try_from(size).unwrap_or(usize::MAX).min(len), 0);
                source.read_exact_at(0, &mut bytes)?;
            }
        }
    }
}

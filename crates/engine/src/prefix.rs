//! Parses the beginning of a file before the rest is there.

use super::io::ReadAt;
use base::{Error, Result, memory};

/// Whether a prefix is the complete file or only its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// More bytes may follow.
    Partial,
    /// The file ends here.
    Whole,
}

/// The result of parsing a prefix of a file.
#[derive(Debug)]
pub enum Parsed<T> {
    /// The prefix was long enough; this is the parsed value.
    Ready(T),
    /// The prefix is valid so far, but too short. Parse again with at least this many bytes from
    /// the start of the file, or with the complete file.
    NeedsMore(usize),
}

impl<T> Parsed<T> {
    /// Applies `f` to a [`Parsed::Ready`] value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Parsed<U> {
        match self {
            Self::Ready(value) => Parsed::Ready(f(value)),
            Self::NeedsMore(len) => Parsed::NeedsMore(len),
        }
    }
}

/// Calls `parse` with longer and longer prefixes of a file of `size` bytes until the prefix is long
/// enough.
///
/// # Errors
/// Returns [`Error::Truncated`] if the whole file is not enough; the errors of the source and of
/// `parse`.
pub fn parse_prefix<T>(
    source: &dyn ReadAt,
    size: u64,
    mut parse: impl FnMut(&[u8], Prefix) -> Result<Parsed<T>>,
) -> Result<T> {
    let mut bytes = Vec::new();
    loop {
        let extent = if bytes.len() as u64 == size { Prefix::Whole } else { Prefix::Partial };
        match parse(&bytes, extent)? {
            Parsed::Ready(value) => return Ok(value),
            Parsed::NeedsMore(_) if extent == Prefix::Whole => return Err(Error::Truncated),
            // The parser may ask for more than the file has, and still accept the whole file.
            Parsed::NeedsMore(len) => {
                let len = len.max(bytes.len() + 1);
                memory::resize(&mut bytes, usize::try_from(size).unwrap_or(usize::MAX).min(len))?;
                source.read_exact_at(0, &mut bytes)?;
            }
        }
    }
}

//! Detects values that `fork()` copied to a child process.

use crate::random::process_mark;
use crate::{Misuse, Result};

/// Remembers which process created a value that must not be used in two processes.
///
/// `fork()` copies counters of nonces and one-time keys. If parent and child continued, they would
/// use a nonce for two messages. So `hazmat::AeadEncryptor`, `file::Encryptor` and other types
/// contain a guard and return [`Misuse::Forked`] in a child process. The parent continues.
///
/// ```
/// # use base as sealane;
/// struct Counter {
///     next: u64,
///     guard: sealane::ForkGuard,
/// }
///
/// impl Counter {
///     fn next(&mut self) -> Result<u64, sealane::Error> {
///         self.guard.check()?;
///         self.next += 1;
///         Ok(self.next)
///     }
/// }
///
/// let mut counter = Counter { next: 0, guard: sealane::ForkGuard::new()? };
/// assert_eq!(counter.next()?, 1);
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkGuard(u64);

impl ForkGuard {
    /// Creates a guard for a value of this process.
    ///
    /// # Errors
    /// Returns [`Error::Io`](crate::Error::Io) if the operating system has no random bytes.
    #[inline]
    pub fn new() -> Result<Self> {
        Ok(Self(process_mark()?))
    }

    /// Checks that this process created the guard. Takes about a nanosecond on Linux.
    ///
    /// # Errors
    /// Returns [`Misuse::Forked`] in a forked child process and in its children.
    #[inline]
    pub fn check(self) -> Result<()> {
        if Self::new()? == self { Ok(()) } else { Err(Misuse::Forked.into()) }
    }

    /// Returns the ID of the process that created the guard: a random number on Linux.
    #[inline]
    pub fn process(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn all_guards_of_a_process_name_it_alike() {
        let (first, second) = (ForkGuard::new().unwrap(), ForkGuard::new().unwrap());
        first.check().unwrap();
        assert_eq!(first.process(), process_mark().unwrap());
        assert_eq!(first.process(), second.process());
    }
}

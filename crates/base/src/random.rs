//! Random bytes of the operating system, and a mark that changes in a forked child.

use std::fmt::Display;
use std::hash::{BuildHasher, DefaultHasher, Hasher};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Fills `out` with random bytes of the operating system, fit for keys.
#[cfg(not(feature = "fips"))]
#[doc(hidden)]
pub fn fill(out: &mut [u8]) -> io::Result<()> {
    getrandom::fill(out).map_err(|e| match e.raw_os_error() {
        Some(number) => unavailable(&io::Error::from_raw_os_error(number)),
        None => unavailable(&e),
    })
}

/// Fills `out` with random bytes of the FIPS module, fit for keys.
#[cfg(feature = "fips")]
#[doc(hidden)]
pub fn fill(out: &mut [u8]) -> io::Result<()> {
    // The library's error says nothing.
    aws_lc_rs::rand::fill(out).map_err(|_| unavailable(&"the generator of the FIPS module failed"))
}

/// Draws random bytes that are not secret.
///
/// # Errors
/// Returns the errors of [`fill`].
#[doc(hidden)]
pub fn array<const LEN: usize>() -> io::Result<[u8; LEN]> {
    let mut bytes = [0; LEN];
    fill(&mut bytes)?;
    Ok(bytes)
}

fn unavailable(reason: &dyn Display) -> io::Error {
    io::Error::other(format!("the operating system returned no random bytes: {reason}"))
}

/// Checks that the operating system returns random bytes. Call it before AWS-LC draws its own:
/// AWS-LC ends the process if it gets none. Unlike [`fill`], this reads `/dev/urandom` only where
/// the system call does not exist.
#[doc(hidden)]
pub fn check() -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::io::{Errno, retry_on_intr};
        use rustix::rand::{GetRandomFlags, getrandom};
        match retry_on_intr(|| getrandom(&mut [0; 1], GetRandomFlags::empty())) {
            Err(Errno::NOSYS) => {}
            found => return found.map(drop).map_err(|e| unavailable(&e)),
        }
    }
    fill(&mut [0; 1])
}

/// Hashes with a random key, so that an attacker cannot choose inputs with equal hashes. The
/// standard library's hasher panics if the operating system returns no random bytes.
#[derive(Debug)]
pub struct RandomHasher(u64);

impl RandomHasher {
    #[doc(hidden)]
    pub fn new() -> io::Result<Self> {
        Ok(Self(u64::from_le_bytes(array()?)))
    }
}

impl BuildHasher for RandomHasher {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.0);
        hasher
    }
}

/// Returns a number that stays the same within a process and changes in a forked child. Never zero.
/// Without [`providers::fork_mark`], it is the process ID.
#[inline]
#[doc(hidden)]
pub fn process_mark() -> io::Result<u64> {
    match providers::fork_mark() {
        Some(mark) => match mark.load(Ordering::Relaxed) {
            0 => new_mark(mark),
            known => Ok(known),
        },
        None => Ok(u64::from(std::process::id())),
    }
}

/// Sets the mark on first use in this process or after a fork. It is random, so it differs from
/// every ancestor's.
#[cold]
fn new_mark(mark: &AtomicU64) -> io::Result<u64> {
    let fresh = u64::from_le_bytes(array()?) | 1;
    Ok(match mark.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => fresh,
        Err(another_thread) => another_thread,
    })
}

#[cfg(test)]
mod test {
    use super::*;

    /// With equal hashes, an attacker could make every look-up compare all names.
    #[test]
    fn hashes_differ_between_hashers() {
        let (a, b) = (RandomHasher::new().unwrap(), RandomHasher::new().unwrap());
        assert_eq!(a.hash_one("name"), a.hash_one("name"));
        assert_ne!(a.hash_one("name"), b.hash_one("name"));
    }
}

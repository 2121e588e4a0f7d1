//! scrypt (RFC 7914) with limits, for age files and key files.
//!
//! ```text
//! B = PBKDF2(passphrase, salt, 1 round, 128 r p bytes)
//! each of the p blocks of B: mixed with a table of N entries of 128 r bytes
//! key = PBKDF2(passphrase, B, 1 round)
//! ```
//!
//! The memory is 128 r (N + p + 1) bytes: the table, B and one more block. The parameters come from
//! files, so we reserve the memory before the work begins. Otherwise the crate `scrypt` would abort
//! the process when an allocation fails.

use crate::approved::Computation;
use base::interrupt::interruptible;
use base::{Error, memory};
use zeroize::Zeroizing;

/// Cost of a byte of B (PBKDF2 writes and reads it), relative to a byte of the table.
const PBKDF2_WORK: u64 = 4;

const NO_MEMORY: Error = Error::LimitExceeded("scrypt needs more memory than the system has");

/// scrypt parameters from a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Params {
    pub(crate) log_n: u8,
    pub(crate) r: u32,
    pub(crate) p: u32,
}

impl Params {
    /// Returns the memory of the derivation in bytes; `None` above 64 bits.
    pub(crate) fn memory(self) -> Option<u64> {
        let n = 1_u64.checked_shl(self.log_n.into())?;
        let blocks = n.checked_add(self.p.into())?.checked_add(1)?;
        blocks.checked_mul(self.r.into())?.checked_mul(128)
    }

    /// Returns the computed bytes of the table plus the work of PBKDF2; `None` above 64 bits.
    pub(crate) fn work(self) -> Option<u64> {
        let n = 1_u64.checked_shl(self.log_n.into())?;
        let per_block = n.checked_add(PBKDF2_WORK)?.checked_mul(self.r.into())?.checked_mul(128)?;
        per_block.checked_mul(self.p.into())
    }

    /// Derives a key of `len` bytes. The crate `scrypt` does not wipe its memory.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if the memory cannot be allocated, and
    /// [`Error::Cancelled`].
    pub(crate) fn derive(
        self,
        passphrase: &[u8],
        salt: &[u8],
        len: usize,
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        Computation::Scrypt.check()?;
        let bytes = self.memory().and_then(|bytes| usize::try_from(bytes).ok()).ok_or(NO_MEMORY)?;
        // The parameters are outside the limits of the crate.
        let params = scrypt::Params::new(self.log_n, self.r, self.p).map_err(|_| NO_MEMORY)?;
        let (passphrase, salt) = (Zeroizing::new(passphrase.to_vec()), salt.to_vec());
        interruptible(move || {
            // Any error is a lack of memory.
            memory::with_capacity::<u8>(bytes).map_err(|_| NO_MEMORY)?;
            let mut key = Zeroizing::new(memory::zeroed(len)?);
            // The only error is a wrong key length.
            scrypt::scrypt(&passphrase, &salt, &params, &mut key).map_err(|_| NO_MEMORY)?;
            Ok(key)
        })
    }
}

#[cfg(test)]
mod test {
    use super::*;

    const fn params(log_n: u8, r: u32, p: u32) -> Params {
        Params { log_n, r, p }
    }

    #[test]
    fn memory_and_work() {
        // OWASP's parameters: 128 MiB and little more.
        assert_eq!(params(17, 8, 1).memory(), Some((128 << 20) + 2 * 1024));
        assert_eq!(params(17, 8, 1).work(), Some((128 << 20) + 4 * 1024));
        // The key file from an audit: a table of 1 GiB and a B of 2 GiB.
        assert_eq!(params(1, 1 << 22, 4).memory(), Some(7 << 29));
        assert_eq!(params(1, 1, 1 << 24).work(), Some(6 << 31));
        for huge in [params(63, 8, 1), params(64, 1, 1), params(255, 1, 1), params(40, u32::MAX, u32::MAX)] {
            assert_eq!((huge.memory().is_some(), huge.work()), (false, None), "{huge:?}");
        }
    }

    /// No machine has this memory: 1 EiB, and more than the address space.
    // claim: key-file
    #[test]
    fn memory_is_reserved_before_the_work_begins() {
        for params in [params(50, 8, 1), params(30, 1 << 20, 1), params(62, 8, 1)] {
            let refused = params.derive(b"passphrase", b"salt", 32);
            assert!(matches!(refused, Err(Error::LimitExceeded(_))), "{params:?}");
        }
    }
}

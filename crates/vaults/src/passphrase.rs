//! Keys from passphrases, with the parameters of a file that nobody authenticated.

use crate::prelude::*;
use keys::ScryptParams;

/// Computes 32 bytes with scrypt. Checks the cost before the work.
///
/// # Errors
/// Returns [`Error::LimitExceeded`] for parameters that cost too much, and [`Error::Header`] for
/// those that scrypt does not have.
pub(crate) fn scrypt(
    passphrase: &[u8],
    salt: &[u8],
    (n, r, p): (u64, u64, u64),
) -> Result<Zeroizing<Vec<u8>>> {
    if !n.is_power_of_two() || n < 2 || r == 0 || p == 0 {
        return Err(Error::Header("the parameters of scrypt are N, a power of two, and r and p, from 1"));
    }
    ScryptParams::from_file(n.ilog2() as u8, r, p)?.derive(passphrase, salt, 32)
}

//! What `sealane lab` measures of the machine and nobody else wants. No part of the API: it changes without notice.

use crate::Error;
use std::time::{Duration, Instant};

/// Nobody needs more to know a rate, and what cannot be interrupted must end: 2^36 bytes, some seconds.
const MOST: u64 = 1 << 36;

/// The time that this processor's AES instructions alone take for the rounds of `bytes` bytes of AES-CTR with a key of
/// `key_len` bytes, on registers, in this thread. `None` where it has none.
///
/// It is that of the processor, whatever `SEALANE_CPU` says: other libraries, which are compared with it, do not hear that.
///
/// # Errors
/// [`Misuse::KeyLength`](crate::Misuse::KeyLength) unless `key_len` is 16, 24 or 32; [`Error::LimitExceeded`] above
/// 64 GiB; [`Error::SelfTest`] where no row computes AES.
pub fn aes_bound(key_len: usize, bytes: u64) -> Result<Option<Duration>, Error> {
    if bytes > MOST {
        return Err(Error::LimitExceeded("a bound is measured over 64 GiB at most"));
    }
    Ok(providers::raw::aes_bound(key_len)?.map(|bound| {
        let start = Instant::now();
        bound.run(bytes);
        start.elapsed()
    }))
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::Misuse;

    #[test]
    fn the_bound_of_aes() {
        // Where `SEALANE_CPU` took the instructions away, they are there all the same.
        let chosen = crate::listing().into_iter().find(|row| row.algorithm == "aes-ctr" && row.chosen);
        let known = chosen.is_some_and(|row| row.variant != "portable");
        for key_len in [16, 24, 32] {
            let here = aes_bound(key_len, 1 << 20).unwrap();
            assert!(here.map_or(!known, |time| !time.is_zero()), "{key_len}: {here:?}");
        }
        assert!(aes_bound(16, 0).is_ok());
        assert!(matches!(
            aes_bound(20, 1),
            Err(Error::Misuse(Misuse::KeyLength { got: 20, want: &[16, 24, 32] }))
        ));
        for bytes in [MOST + 1, u64::MAX] {
            assert!(matches!(aes_bound(32, bytes), Err(Error::LimitExceeded(_))));
        }
    }
}

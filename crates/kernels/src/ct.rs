//! Constant-time comparisons.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::error::OpenError;
use crate::zero::wipe;
use core::hint::black_box;

/// Returns whether two tags are equal, in a time that does not depend on their bytes.
pub fn equal(a: &[u8; 16], b: &[u8; 16]) -> bool {
    let difference = u128::from_le_bytes(*a) ^ u128::from_le_bytes(*b);
    // Keeps the compiler from comparing before the difference is one word.
    black_box(difference as u64 | (difference >> 64) as u64) == 0
}

/// Compares the tag of a message with the one that it must have, and clears the destination of
/// `data` if they differ.
///
/// # Errors
/// Returns [`OpenError::AuthenticationFailed`].
#[inline(always)]
pub(crate) fn verified(
    expected_tag: &mut [u8; 16],
    tag: &[u8; 16],
    mut data: InOut<'_>,
) -> Result<(), OpenError> {
    if equal(expected_tag, tag) {
        return Ok(());
    }
    data.target().fill(0);
    // With this tag, read from the stack, the forged message would be accepted.
    wipe(expected_tag);
    Err(OpenError::AuthenticationFailed)
}

#[cfg(test)]
mod test {
    use super::equal;

    #[test]
    fn a_difference_in_any_bit_is_found() {
        let tag: [u8; 16] = core::array::from_fn(|i| 7 * i as u8);
        assert!(equal(&tag, &tag));
        for bit in 0..128 {
            let mut other = tag;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!equal(&tag, &other), "{bit}");
        }
    }
}

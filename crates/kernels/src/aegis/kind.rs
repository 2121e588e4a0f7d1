//! The six algorithms of AEGIS, with the lengths of their keys and their other parameters.
#![forbid(unsafe_code)]

use crate::error::{MessageError, Part};

/// Maximum number of bytes of the data, and of the associated data (RFC 10032, sections 3 and 4),
/// because their length in bits is written with 64 bits.
const LONGEST: u128 = (1 << 61) - 1;

/// One of the six algorithms, in the order of the functions in the table of variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// AEGIS-128L (RFC 10032, section 3), with a key of 16 bytes and one state.
    Aegis128L,
    /// AEGIS-128X2 (section 5.4), with a key of 16 bytes and two parallel states.
    Aegis128X2,
    /// AEGIS-128X4 (section 5.4), with a key of 16 bytes and four parallel states.
    Aegis128X4,
    /// AEGIS-256 (section 4), with a key of 32 bytes and one state.
    Aegis256,
    /// AEGIS-256X2 (section 5.5), with a key of 32 bytes and two parallel states.
    Aegis256X2,
    /// AEGIS-256X4 (section 5.5), with a key of 32 bytes and four parallel states.
    Aegis256X4,
}

impl Kind {
    /// All six algorithms, for example to run the same test with each of them.
    pub const ALL: [Self; 6] = [
        Self::Aegis128L,
        Self::Aegis128X2,
        Self::Aegis128X4,
        Self::Aegis256,
        Self::Aegis256X2,
        Self::Aegis256X4,
    ];

    /// Returns the length of a key in bytes: 16 or 32.
    pub const fn key_len(self) -> usize {
        match self {
            Self::Aegis128L | Self::Aegis128X2 | Self::Aegis128X4 => 16,
            Self::Aegis256 | Self::Aegis256X2 | Self::Aegis256X4 => 32,
        }
    }

    /// Returns the number of parallel states: 1, 2 or 4.
    pub const fn degree(self) -> usize {
        match self {
            Self::Aegis128L | Self::Aegis256 => 1,
            Self::Aegis128X2 | Self::Aegis256X2 => 2,
            Self::Aegis128X4 | Self::Aegis256X4 => 4,
        }
    }

    /// Returns the nonce length in bytes, the same as the key's.
    pub const fn nonce_len(self) -> usize {
        self.key_len()
    }

    /// Checks the lengths of a message; `aad` and `data` are numbers of bytes.
    pub(crate) fn check_lengths(self, nonce: &[u8], aad: usize, data: usize) -> Result<(), MessageError> {
        if nonce.len() != self.nonce_len() {
            return Err(MessageError::InvalidNonceLength { found: nonce.len(), expected: self.nonce_len() });
        }
        Part::Data.check_len(data as u128, LONGEST)?;
        Part::AssociatedData.check_len(aad as u128, LONGEST)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn rejects_other_nonce_lengths() {
        for kind in Kind::ALL {
            let (nonce, expected) = ([0; 100], kind.nonce_len());
            for found in 0..100 {
                let checked = kind.check_lengths(&nonce[..found], 0, 0);
                let wrong = Err(MessageError::InvalidNonceLength { found, expected });
                assert_eq!(checked, if found == expected { Ok(()) } else { wrong });
            }
        }
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn rejects_longer_messages() {
        for kind in Kind::ALL {
            let (nonce, limit) = (&[0; 100][..kind.nonce_len()], LONGEST as usize);
            assert_eq!(kind.check_lengths(nonce, limit, limit), Ok(()));
            let too_long = |part| Err(MessageError::TooLong { part, found: LONGEST + 1, limit: LONGEST });
            assert_eq!(kind.check_lengths(nonce, limit + 1, 0), too_long(Part::AssociatedData));
            assert_eq!(kind.check_lengths(nonce, 0, limit + 1), too_long(Part::Data));
        }
    }
}

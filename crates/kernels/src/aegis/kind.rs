//! The six algorithms of AEGIS, with the lengths of their keys and their other parameters.
#![forbid(unsafe_code)]

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

    /// Returns the length of a nonce in bytes, which is that of a key.
    pub const fn nonce_len(self) -> usize {
        self.key_len()
    }
}

//! The ten sizes of Speck (ePrint 2013/404, table 4.1).
#![forbid(unsafe_code)]

/// A size of Speck: the number of bits in a block and in a key (table 4.1 of the paper).
///
/// The keystream of a small block can be distinguished from random data after some hundred kilobytes (blocks of 32
/// bits) or some hundred megabytes (blocks of 48 bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// Speck32/64, with blocks of 32 bits and a key of 64 bits.
    Speck32_64,
    /// Speck48/72, with blocks of 48 bits and a key of 72 bits.
    Speck48_72,
    /// Speck48/96, with blocks of 48 bits and a key of 96 bits.
    Speck48_96,
    /// Speck64/96, with blocks of 64 bits and a key of 96 bits.
    Speck64_96,
    /// Speck64/128, with blocks of 64 bits and a key of 128 bits.
    Speck64_128,
    /// Speck96/96, with blocks of 96 bits and a key of 96 bits.
    Speck96_96,
    /// Speck96/144, with blocks of 96 bits and a key of 144 bits.
    Speck96_144,
    /// Speck128/128, with blocks of 128 bits and a key of 128 bits.
    Speck128_128,
    /// Speck128/192, with blocks of 128 bits and a key of 192 bits.
    Speck128_192,
    /// Speck128/256, with blocks of 128 bits and a key of 256 bits.
    Speck128_256,
}

struct Parameters {
    name: &'static str,
    word_bits: u32,
    key_words: usize,
    rounds: usize,
}

impl Size {
    /// All sizes, from the smallest to the largest.
    pub const ALL: [Self; 10] = [
        Self::Speck32_64,
        Self::Speck48_72,
        Self::Speck48_96,
        Self::Speck64_96,
        Self::Speck64_128,
        Self::Speck96_96,
        Self::Speck96_144,
        Self::Speck128_128,
        Self::Speck128_192,
        Self::Speck128_256,
    ];

    const fn parameters(self) -> Parameters {
        let (name, word_bits, key_words, rounds) = match self {
            Self::Speck32_64 => ("speck32-64", 16, 4, 22),
            Self::Speck48_72 => ("speck48-72", 24, 3, 22),
            Self::Speck48_96 => ("speck48-96", 24, 4, 23),
            Self::Speck64_96 => ("speck64-96", 32, 3, 26),
            Self::Speck64_128 => ("speck64-128", 32, 4, 27),
            Self::Speck96_96 => ("speck96-96", 48, 2, 28),
            Self::Speck96_144 => ("speck96-144", 48, 3, 29),
            Self::Speck128_128 => ("speck128-128", 64, 2, 32),
            Self::Speck128_192 => ("speck128-192", 64, 3, 33),
            Self::Speck128_256 => ("speck128-256", 64, 4, 34),
        };
        Parameters { name, word_bits, key_words, rounds }
    }

    /// Returns the name, which contains the bits of the block and of the key, for example `"speck128-256"`.
    pub const fn name(self) -> &'static str {
        self.parameters().name
    }

    /// Returns the size with this name, or `None` if no size has it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.name() == name)
    }

    /// Number of bytes in a key, 8 to 32.
    pub const fn key_len(self) -> usize {
        self.parameters().key_words * self.word_bits() as usize / 8
    }

    /// Number of bytes in a block, and in an iv: 4, 6, 8, 12 or 16.
    pub const fn block_len(self) -> usize {
        self.word_bits() as usize / 4
    }

    /// Number of bits in a word: 16, 24, 32, 48 or 64, where a block has two words.
    pub const fn word_bits(self) -> u32 {
        self.parameters().word_bits
    }

    /// Number of rounds, 22 to 34.
    pub const fn rounds(self) -> usize {
        self.parameters().rounds
    }
}

#[cfg(test)]
mod test {
    use super::Size;

    #[test]
    fn names_contain_the_numbers_of_bits() {
        for size in Size::ALL {
            let bits = format!("speck{}-{}", 8 * size.block_len(), 8 * size.key_len());
            assert_eq!(size.name(), bits);
            assert_eq!(Size::from_name(size.name()), Some(size));
        }
        assert_eq!(Size::from_name("speck128"), None);
    }
}

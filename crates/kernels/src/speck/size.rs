//! The ten sizes of Speck (ePrint 2013/404, table 4.1).
#![forbid(unsafe_code)]

struct Parameters {
    name: &'static str,
    word_bits: u32,
    key_words: usize,
    rounds: usize,
}

macro_rules! sizes {
    ($($size:ident $block:literal / $key:literal word $word_bits:literal key $key_words:literal rounds $rounds:literal;)*) => {
        /// A size of Speck: the number of bits in a block and in a key (table 4.1 of the paper).
        ///
        /// The keystream of a small block can be distinguished from random data after some hundred
        /// kilobytes (blocks of 32 bits) or some hundred megabytes (blocks of 48 bits).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Size {
            $(
                #[doc = concat!(
                    "Speck", $block, "/", $key, ", with blocks of ", $block, " bits and a key of ", $key, " bits."
                )]
                $size,
            )*
        }

        impl Size {
            /// All sizes, from the smallest to the largest.
            pub const ALL: [Self; [$($block),*].len()] = [$(Self::$size),*];

            const fn parameters(self) -> Parameters {
                let (name, word_bits, key_words, rounds) = match self {
                    $(Self::$size => (concat!("speck", $block, "-", $key), $word_bits, $key_words, $rounds),)*
                };
                Parameters { name, word_bits, key_words, rounds }
            }
        }
    };
}

sizes! {
    Speck32_64 32 / 64     word 16 key 4 rounds 22;
    Speck48_72 48 / 72     word 24 key 3 rounds 22;
    Speck48_96 48 / 96     word 24 key 4 rounds 23;
    Speck64_96 64 / 96     word 32 key 3 rounds 26;
    Speck64_128 64 / 128   word 32 key 4 rounds 27;
    Speck96_96 96 / 96     word 48 key 2 rounds 28;
    Speck96_144 96 / 144   word 48 key 3 rounds 29;
    Speck128_128 128 / 128 word 64 key 2 rounds 32;
    Speck128_192 128 / 192 word 64 key 3 rounds 33;
    Speck128_256 128 / 256 word 64 key 4 rounds 34;
}

impl Size {
    /// Returns the name, which contains the bits of the block and of the key, for example
    /// `"speck128-256"`.
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

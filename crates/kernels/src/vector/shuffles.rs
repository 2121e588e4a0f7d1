//! Constants of byte shuffles for `super::words` and `super::pairs`.
#![forbid(unsafe_code)]

use super::pairs::{ByteOrder, Word};

/// Returns the position in a block of byte `i` of a word of `word` bytes, where byte 0 is the
/// lowest. `which` is 0 for the word x and 1 for y.
pub(crate) const fn byte_position(order: ByteOrder, word: usize, which: usize, i: usize) -> usize {
    match order {
        ByteOrder::Big => word * which + word - 1 - i,
        ByteOrder::Little => word * (1 - which) + i,
    }
}

/// The index for a byte of the result that is zero or undefined.
pub(crate) const NONE: u8 = 0x80;

/// For each byte of 128 bits of the result, the index of the byte that it is taken from.
pub(crate) type Shuffle = [u8; 16];

/// Returns the shuffle that rotates words of `word` bytes in lanes of `lane` bytes left by `by`
/// bytes.
pub(crate) const fn rotated(word: usize, lane: usize, by: usize) -> Shuffle {
    let mut shuffle = [NONE; 16];
    let mut i = 0;
    while i < 16 {
        if i % lane < word {
            shuffle[i] = (i / lane * lane + (i % lane + word - by) % word) as u8;
        }
        i += 1;
    }
    shuffle
}

/// Returns the shuffle that reverses the bytes of words of `word` bytes in lanes of `lane` bytes.
pub(crate) const fn swapped(word: usize, lane: usize) -> Shuffle {
    let mut shuffle = [NONE; 16];
    let mut i = 0;
    while i < 16 {
        if i % lane < word {
            shuffle[i] = (i / lane * lane + word - 1 - i % lane) as u8;
        }
        i += 1;
    }
    shuffle
}

/// Returns the shuffle that moves words of `word` bytes to the upper ends of their lanes of `lane`
/// bytes.
#[cfg(target_arch = "x86_64")]
pub(crate) const fn raised(word: usize, lane: usize) -> Shuffle {
    let mut shuffle = [NONE; 16];
    let mut i = 0;
    while i < 16 {
        if i % lane >= lane - word {
            shuffle[i] = (i - (lane - word)) as u8;
        }
        i += 1;
    }
    shuffle
}

/// Shuffles between blocks and words, for vectors that are shuffled in units of 128 bits. The lower
/// 64 bits of a unit hold as many words x as fit, and the upper 64 bits the words y of the same
/// blocks.
pub(crate) struct Halves {
    pub(crate) to_words: Shuffle,
    pub(crate) to_blocks: Shuffle,
}

impl Halves {
    /// Returns the shuffles for words of `word` bytes in lanes of `lane` bytes.
    pub(crate) const fn of(order: ByteOrder, word: usize, lane: usize) -> Self {
        let mut halves = Self { to_words: [NONE; 16], to_blocks: [NONE; 16] };
        let mut at = 0;
        while at < 16 {
            let (which, block, i) = (at / 8, at % 8 / lane, at % lane);
            if i < word {
                let from = 2 * word * block + byte_position(order, word, which, i);
                halves.to_words[at] = from as u8;
                halves.to_blocks[from] = at as u8;
            }
            at += 1;
        }
        halves
    }

    /// Returns the shuffles for both byte orders, indexed by [`ByteOrder`].
    pub(crate) const fn both(word: usize, lane: usize) -> [Self; 2] {
        [Self::of(ByteOrder::Big, word, lane), Self::of(ByteOrder::Little, word, lane)]
    }
}

/// Returns the shuffles for a word size and a byte order.
#[inline(always)]
pub(crate) fn halves<W: Word>(order: ByteOrder) -> &'static Halves {
    let both = const { &Halves::both(W::BYTES, W::LANE) };
    &both[order as usize]
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn to_words_and_to_blocks_are_inverse() {
        for (word, lane) in [(2, 2), (3, 4), (4, 4), (6, 8), (8, 8)] {
            for halves in Halves::both(word, lane) {
                let bytes = 16 / lane * word;
                let back = (0..bytes).map(|i| halves.to_words[usize::from(halves.to_blocks[i])]);
                assert!(back.eq(0..bytes as u8), "{word}");
                assert!(halves.to_blocks[bytes..].iter().all(|i| *i == NONE));
            }
        }
        // The block x = 010203, y = 040506, as the paper would print it.
        assert_eq!(Halves::of(ByteOrder::Big, 3, 4).to_words[..4], [2, 1, 0, NONE]);
        assert_eq!(Halves::of(ByteOrder::Little, 3, 4).to_words[..4], [3, 4, 5, NONE]);
    }
}

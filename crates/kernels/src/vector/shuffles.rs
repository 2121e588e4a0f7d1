//! Shuffles of bytes for [`super::words`] and [`super::pairs`], where vectors have them.
#![forbid(unsafe_code)]

use super::pairs::ByteOrder;

/// Where a block has byte `i`, from the lowest on, of its word x (0) or y (1).
pub(crate) const fn place(order: ByteOrder, word: usize, which: usize, i: usize) -> usize {
    match order {
        ByteOrder::Big => word * which + word - 1 - i,
        ByteOrder::Little => word * (1 - which) + i,
    }
}

/// A byte that becomes zero, or whatever there is.
pub(crate) const NONE: u8 = 0x80;

/// Bytes of 128 bits that a shuffle takes each byte from.
pub(crate) type Shuffle = [u8; 16];

/// Words with lanes of `lane` bytes after a rotation left by `by` bytes.
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

/// Words with lanes of `lane` bytes, each of them backwards.
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

/// Words with lanes of `lane` bytes at the upper ends of these.
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

/// How blocks become words and words blocks where vectors are shuffled by 128 bits: those words x that fit into 64 bits,
/// and then as many y.
pub(crate) struct Halves {
    pub(crate) to_words: Shuffle,
    pub(crate) to_blocks: Shuffle,
}

impl Halves {
    /// For words of `word` bytes in lanes of `lane` bytes.
    pub(crate) const fn of(order: ByteOrder, word: usize, lane: usize) -> Self {
        let mut halves = Self { to_words: [NONE; 16], to_blocks: [NONE; 16] };
        let mut at = 0;
        while at < 16 {
            let (which, block, i) = (at / 8, at % 8 / lane, at % lane);
            if i < word {
                let from = 2 * word * block + place(order, word, which, i);
                halves.to_words[at] = from as u8;
                halves.to_blocks[from] = at as u8;
            }
            at += 1;
        }
        halves
    }

    /// For both orders.
    pub(crate) const fn both(word: usize, lane: usize) -> [Self; 2] {
        [Self::of(ByteOrder::Big, word, lane), Self::of(ByteOrder::Little, word, lane)]
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn blocks_become_words_and_blocks_again() {
        for (word, lane) in [(2, 2), (3, 4), (4, 4), (6, 8), (8, 8)] {
            for halves in Halves::both(word, lane) {
                let bytes = 16 / lane * word;
                let back = (0..bytes).map(|i| halves.to_words[usize::from(halves.to_blocks[i])]);
                assert!(back.eq(0..bytes as u8), "{word}");
                assert!(halves.to_blocks[bytes..].iter().all(|i| *i == NONE));
            }
        }
        // x = 010203, y = 040506 as the paper prints them.
        assert_eq!(Halves::of(ByteOrder::Big, 3, 4).to_words[..4], [2, 1, 0, NONE]);
        assert_eq!(Halves::of(ByteOrder::Little, 3, 4).to_words[..4], [3, 4, 5, NONE]);
    }
}

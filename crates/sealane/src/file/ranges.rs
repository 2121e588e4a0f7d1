//! Ranges of an encrypted file whose bytes somebody else fetches: from a server that is asked for as little as possible.

use super::chunked::{HEADER_LEN, LAYOUT};
use super::file_cipher::FileCipher;
use super::file_keys::DecryptWith;
use crate::Error;
use crate::engine::plan::{Job, Plan};
use crate::engine::prefix::{Parsed, Prefix};
use std::ops::Range;
use zeroize::Zeroizing;

/// Bytes of a file in the format C2SP chunked-encryption@v1 with this much plaintext.
///
/// # Errors
/// [`Error::LimitExceeded`].
pub fn sealed_len(plain_len: u64) -> Result<u64, Error> {
    Ok(LAYOUT.plan_plain(plain_len)?.sealed_len())
}

/// Bytes of plaintext in a file of that format and of this size, if it is whole. Nothing is verified.
///
/// # Errors
/// [`Error::Truncated`] for a size that no whole file has; [`Error::LimitExceeded`].
pub fn plain_len(sealed_len: u64) -> Result<u64, Error> {
    Ok(LAYOUT.plan_sealed(sealed_len)?.plain_len)
}

/// Where the chunks of a range of plaintext lie in a file of that format, if it is long enough.
pub fn sealed_range(plain: Range<u64>) -> Range<u64> {
    whole(&plain).sealed
}

fn whole(plain: &Range<u64>) -> Job {
    // A range past the format's end is one past every file's: there is nothing to be fetched, and nothing to overflow.
    let most = LAYOUT.plain_start(LAYOUT.max_chunks);
    let (start, end) = (plain.start.min(most), plain.end.min(most));
    let last = if start < end { LAYOUT.chunk_of(end - 1) + 1 } else { LAYOUT.chunk_of(start) };
    LAYOUT.full_chunks(LAYOUT.chunk_of(start)..last)
}

/// Opens ranges of a file in the format C2SP chunked-encryption@v1. Of the file it knows the header alone.
///
/// Every byte it gives was verified. Where the file ends was not, unless a range reaches past it.
#[derive(Debug)]
pub struct Ranges {
    cipher: FileCipher,
}

/// A range whose bytes were fetched. Nothing of it is verified yet.
#[derive(Debug)]
pub struct Fetched<'a> {
    ranges: &'a Ranges,
    sealed: &'a [u8],
    chunks: Job,
    plain: Range<u64>,
}

impl Ranges {
    /// From the first [`HEADER_LEN`] bytes of the file.
    ///
    /// # Errors
    /// [`Error::Truncated`] where there are fewer; [`Error::Authentication`] for another key, another context or a
    /// changed header; [`Error::Format`] for what opens another format.
    pub fn new(header: &[u8], unlock: &DecryptWith) -> Result<Self, Error> {
        if !unlock.supports_ranges() {
            return Err(Error::Format(
                "expected a key for chunked-encryption@v1, the only format that Ranges can read",
            ));
        }
        match unlock.open_file(&header[..header.len().min(HEADER_LEN)], Prefix::Partial)? {
            Parsed::Ready(cipher) => Ok(Self { cipher }),
            Parsed::NeedsMore(_) => Err(Error::Truncated),
        }
    }

    /// A range of plaintext, from what the file has at [`sealed_range`] of it: less where the file ends.
    ///
    /// # Errors
    /// [`Error::Truncated`] where the bytes end between two chunks, as a whole file never does; [`Error::Format`] where
    /// there are more than were asked for.
    pub fn fetched<'a>(&'a self, plain: Range<u64>, sealed: &'a [u8]) -> Result<Fetched<'a>, Error> {
        let wanted = whole(&plain);
        let chunks = match sealed.len().cmp(&wanted.sealed_len()) {
            std::cmp::Ordering::Greater => {
                return Err(Error::UnexpectedLength { got: sealed.len(), want: wanted.sealed_len() });
            }
            std::cmp::Ordering::Equal => wanted,
            std::cmp::Ordering::Less => {
                // So the file ends here, and its last chunk is the one that is not full.
                let file = LAYOUT.plan_sealed(wanted.sealed.start + sealed.len() as u64)?;
                Plan::span(file, wanted.chunks)
            }
        };
        let start = plain.start.min(chunks.plain.end);
        let plain = start..plain.end.clamp(start, chunks.plain.end);
        Ok(Fetched { ranges: self, sealed, chunks, plain })
    }
}

impl Fetched<'_> {
    /// Bytes of plaintext.
    pub fn len(&self) -> usize {
        (self.plain.end - self.plain.start) as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    /// Writes the plaintext to `out`, which has its length; on failure zeros.
    ///
    /// # Errors
    /// [`Error::Authentication`].
    ///
    /// # Panics
    /// Where `out` has another length.
    pub fn open_into(&self, out: &mut [u8]) -> Result<(), Error> {
        assert_eq!(out.len(), self.len());
        let result = self.open_chunks(out);
        if result.is_err() {
            out.fill(0);
        }
        result
    }

    fn open_chunks(&self, mut out: &mut [u8]) -> Result<(), Error> {
        let mut sealed = self.sealed;
        let mut scratch = Zeroizing::new(Vec::new());
        for (position, len) in self.chunks.positions(LAYOUT) {
            let (from, sealed_rest) = sealed.split_at(len + LAYOUT.overhead as usize);
            let start = LAYOUT.plain_start(position.index);
            // Of this chunk, what is wanted.
            let skip = self.plain.start.saturating_sub(start).min(len as u64) as usize;
            let until = self.plain.end.saturating_sub(start).min(len as u64) as usize;
            let (to, out_rest) = out.split_at_mut(until.saturating_sub(skip));
            if to.len() == len {
                self.ranges.cipher.open(position, from, to)?;
            } else {
                scratch.resize(len, 0);
                self.ranges.cipher.open(position, from, &mut scratch)?;
                to.copy_from_slice(&scratch[skip..][..to.len()]);
            }
            (sealed, out) = (sealed_rest, out_rest);
        }
        Ok(())
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::Key;
    use crate::file::{CHUNK_LEN, EncryptWith, encrypt};

    fn open(ranges: &Ranges, file: &[u8], plain: Range<u64>) -> Result<Vec<u8>, Error> {
        let sealed = sealed_range(plain.clone());
        let at = |n: u64| (n as usize).min(file.len());
        let fetched = ranges.fetched(plain, &file[at(sealed.start)..at(sealed.end)])?;
        let mut out = vec![1; fetched.len()];
        fetched.open_into(&mut out).map(|()| out)
    }

    #[test]
    fn every_range_is_that_of_the_plaintext() {
        let key = Key::from_bytes(&[7; 32]);
        let (lock, unlock) = (EncryptWith::key(&key, b"c"), DecryptWith::key(&key, b"c"));
        const CHUNK: u64 = CHUNK_LEN as u64;
        for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 5] {
            let plain: Vec<u8> = (0..len).map(|n| (n % 251) as u8).collect();
            let file = encrypt(&plain, &lock).unwrap();
            assert_eq!(sealed_len(len).unwrap(), file.len() as u64);
            assert_eq!(plain_len(file.len() as u64).unwrap(), len);
            let ranges = Ranges::new(&file, &unlock).unwrap();
            let places =
                [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK, len, len + 1, 9 * CHUNK, u64::MAX];
            for start in places {
                for end in places.into_iter().filter(|&end| end >= start) {
                    let at = |n: u64| n.min(len) as usize;
                    match open(&ranges, &file, start..end) {
                        Ok(out) => assert_eq!(out, plain[at(start)..at(end)], "{len} {start} {end}"),
                        // What lies past the last chunk was not there to be verified.
                        Err(e) => assert!(
                            matches!(e, Error::Truncated) && start / CHUNK > len / CHUNK,
                            "{len} {start} {end}: {e}"
                        ),
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_not_so_is_told() {
        let key = Key::from_bytes(&[7; 32]);
        let (lock, unlock) = (EncryptWith::key(&key, b""), DecryptWith::key(&key, b""));
        let file = encrypt(&[1; 3 * CHUNK_LEN], &lock).unwrap();
        let ranges = Ranges::new(&file, &unlock).unwrap();
        let sealed = sealed_range(5..9);
        let mut chunk = file[sealed.start as usize..sealed.end as usize].to_vec();
        assert!(matches!(
            ranges.fetched(5..9, &[&chunk[..], &[0]].concat()),
            Err(Error::UnexpectedLength { .. })
        ));
        // Cut between two chunks, and within one.
        assert!(matches!(ranges.fetched(0..40_000, &file[56..][..2 * 16_400]), Err(Error::Truncated)));
        let cut = ranges.fetched(0..40_000, &file[56..][..2 * 16_400 + 100]).unwrap();
        let mut out = vec![1; cut.len()];
        assert!(matches!(cut.open_into(&mut out), Err(Error::DamagedChunk { index: 2, .. })));
        assert!(out.iter().all(|&byte| byte == 0));
        chunk[3] ^= 1;
        let changed = ranges.fetched(5..9, &chunk).unwrap();
        let mut out = [1; 4];
        assert!(matches!(changed.open_into(&mut out), Err(Error::DamagedChunk { index: 0, .. })));
        assert_eq!(out, [0; 4]);
        // Another chunk of the same file, another file, another key, too little of a header.
        assert!(open(&ranges, &file[16_400..], 5..9).is_err());
        let other = encrypt(&[1; 3 * CHUNK_LEN], &lock).unwrap();
        assert!(matches!(open(&ranges, &other, 5..9), Err(Error::DamagedChunk { index: 0, .. })));
        let another = DecryptWith::key(&Key::from_bytes(&[8; 32]), b"");
        assert!(matches!(Ranges::new(&file, &another), Err(Error::Authentication)));
        assert!(matches!(Ranges::new(&file[..55], &unlock), Err(Error::Truncated)));
    }
}

//! Decrypts ranges that the caller fetches, for example from an object store in few requests.

use super::chunked::{HEADER_LEN, LAYOUT};
use crate::prelude::*;
use std::ops::Range;

/// Returns the size in bytes of a chunked-encryption@v1 file with a plaintext of `plain_len` bytes.
///
/// Example: a plaintext of 16,384 bytes takes 16,472 bytes: header, one full chunk and an empty
/// last chunk.
///
/// # Errors
/// Returns [`Error::LimitExceeded`] if the plaintext is longer than 2^52 - 1 bytes.
pub fn sealed_len(plain_len: u64) -> Result<u64> {
    Ok(LAYOUT.plan_plain(plain_len)?.sealed_len())
}

/// Returns the plaintext length of a chunked-encryption@v1 file of `sealed_len` bytes, if it is
/// complete. Verifies nothing.
///
/// # Errors
/// Returns [`Error::Truncated`] if no complete file has this size; [`Error::LimitExceeded`] if it
/// is too long.
pub fn plain_len(sealed_len: u64) -> Result<u64> {
    Ok(LAYOUT.plan_sealed(sealed_len)?.plain_len)
}

/// Returns the byte range of a chunked-encryption@v1 file that holds a plaintext range, if the file
/// is long enough.
pub fn sealed_range(plain: Range<u64>) -> Range<u64> {
    chunks_of(&plain).sealed
}

fn chunks_of(plain: &Range<u64>) -> Job {
    // Clamped to the format's longest file, so that nothing overflows.
    let max = LAYOUT.plain_start(LAYOUT.max_chunks);
    let (start, end) = (plain.start.min(max), plain.end.min(max));
    let last = if start < end { LAYOUT.chunk_of(end - 1) + 1 } else { LAYOUT.chunk_of(start) };
    LAYOUT.full_chunks(LAYOUT.chunk_of(start)..last)
}

/// Decrypts ranges of a chunked-encryption@v1 file from its header and each range's sealed bytes.
///
/// All returned bytes are verified. The end of the file is verified only by a range that includes
/// the last chunk. That chunk is empty if the plaintext length is a multiple of
/// [`CHUNK_LEN`](super::CHUNK_LEN).
///
/// ```
/// use sealane::file::{DecryptWith, EncryptWith, HEADER_LEN, RangeDecryptor};
/// use sealane::file::{encrypt, sealed_range};
///
/// let key = sealane::Key::generate(32)?;
/// // An object in a store, for example.
/// let file = encrypt(&[7; 100_000], &EncryptWith::key(&key, b""))?;
///
/// let decryptor = RangeDecryptor::new(&file[..HEADER_LEN], &DecryptWith::key(&key, b""))?;
/// let wanted = 50_000..50_010;
/// let sealed = sealed_range(wanted.clone());
/// let fetched = &file[sealed.start as usize..sealed.end as usize];
/// let range = decryptor.range(wanted, fetched)?;
/// let mut plain = vec![0; range.len()];
/// range.decrypt_into(&mut plain)?;
/// assert_eq!(plain, [7; 10]);
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Debug)]
pub struct RangeDecryptor {
    cipher: FileCipher,
}

/// The sealed bytes of a range. [`FetchedRange::decrypt_into`] verifies them.
#[derive(Debug)]
pub struct FetchedRange<'a> {
    decryptor: &'a RangeDecryptor,
    sealed: &'a [u8],
    chunks: Job,
    plain: Range<u64>,
}

impl RangeDecryptor {
    /// Derives the file's keys from its first [`HEADER_LEN`] bytes.
    ///
    /// # Errors
    /// Returns [`Error::Truncated`] if `header` is shorter; [`Error::Authentication`] for a wrong
    /// key or context or a changed header; [`Error::Format`] for keys of another format.
    pub fn new(header: &[u8], with: &DecryptWith) -> Result<Self> {
        if !with.supports_ranges() {
            return Err(Error::Format(
                "expected a key for chunked-encryption@v1, the only format that RangeDecryptor can read",
            ));
        }
        match with.open_file(&header[..header.len().min(HEADER_LEN)], Prefix::Partial)? {
            Parsed::Ready(cipher) => Ok(Self { cipher }),
            Parsed::NeedsMore(_) => Err(Error::Truncated),
        }
    }

    /// Takes the sealed bytes of a plaintext range: those of [`sealed_range`], or fewer if the file
    /// ends there.
    ///
    /// # Errors
    /// Returns [`Error::Truncated`] if the bytes end between two chunks: no complete file does;
    /// [`Error::UnexpectedLength`] if there are too many bytes.
    pub fn range<'a>(&'a self, plain: Range<u64>, sealed: &'a [u8]) -> Result<FetchedRange<'a>> {
        let wanted = chunks_of(&plain);
        let (got, want) = (sealed.len(), wanted.sealed_len());
        let chunks = match got {
            _ if got > want => return Err(Error::UnexpectedLength { got, want }),
            _ if got == want => wanted,
            // The file ends here, with a last chunk that is not full.
            _ => LAYOUT.plan_sealed(wanted.sealed.start + got as u64)?.span(wanted.chunks),
        };
        let start = plain.start.min(chunks.plain.end);
        let plain = start..plain.end.clamp(start, chunks.plain.end);
        Ok(FetchedRange { decryptor: self, sealed, chunks, plain })
    }
}

impl FetchedRange<'_> {
    /// Returns the number of plaintext bytes in the requested range.
    pub fn len(&self) -> usize {
        (self.plain.end - self.plain.start) as usize
    }

    /// Returns whether the range is empty: it needs no chunk.
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    /// Writes the plaintext to `out`; on failure fills it with zeros.
    ///
    /// # Errors
    /// Returns [`Error::DamagedChunk`] if a chunk does not verify.
    ///
    /// # Panics
    /// Panics unless `out` has [`Self::len`] bytes.
    pub fn decrypt_into(&self, out: &mut [u8]) -> Result<()> {
        assert_eq!(out.len(), self.len());
        memory::clear_on_error(out, |out| self.open_chunks(out))
    }

    fn open_chunks(&self, mut out: &mut [u8]) -> Result<()> {
        let mut sealed = self.sealed;
        let mut scratch = Wiped(Vec::new());
        for (position, len) in self.chunks.positions(LAYOUT) {
            let (from, sealed_rest) = sealed.split_at(len + LAYOUT.overhead as usize);
            let start = LAYOUT.plain_start(position.index);
            // The requested part of this chunk, counted from the chunk's start.
            let skip = self.plain.start.saturating_sub(start).min(len as u64) as usize;
            let until = self.plain.end.saturating_sub(start).min(len as u64) as usize;
            let (to, out_rest) = out.split_at_mut(until.saturating_sub(skip));
            if to.len() == len {
                self.decryptor.cipher.open(position, from, to)?;
            } else {
                memory::resize(&mut scratch, len)?;
                self.decryptor.cipher.open(position, from, &mut scratch)?;
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
    use crate::{CHUNK_LEN, EncryptWith, encrypt};
    use messages::Key;

    fn open(ranges: &RangeDecryptor, file: &[u8], plain: Range<u64>) -> Result<Vec<u8>> {
        let sealed = sealed_range(plain.clone());
        let at = |n: u64| (n as usize).min(file.len());
        let fetched = ranges.range(plain, &file[at(sealed.start)..at(sealed.end)])?;
        let mut out = vec![1; fetched.len()];
        fetched.decrypt_into(&mut out).map(|()| out)
    }

    #[test]
    fn every_range_equals_the_plaintext() {
        let key = Key::from_bytes(&[7; 32]);
        let (lock, unlock) = (EncryptWith::key(&key, b"c"), DecryptWith::key(&key, b"c"));
        const CHUNK: u64 = CHUNK_LEN as u64;
        for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 5] {
            let plain: Vec<u8> = (0..len).map(|n| (n % 251) as u8).collect();
            let file = encrypt(&plain, &lock).unwrap();
            assert_eq!(sealed_len(len).unwrap(), file.len() as u64);
            assert_eq!(plain_len(file.len() as u64).unwrap(), len);
            let ranges = RangeDecryptor::new(&file, &unlock).unwrap();
            let places =
                [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK, len, len + 1, 9 * CHUNK, u64::MAX];
            for start in places {
                for end in places.into_iter().filter(|&end| end >= start) {
                    let at = |n: u64| n.min(len) as usize;
                    match open(&ranges, &file, start..end) {
                        Ok(out) => assert_eq!(out, plain[at(start)..at(end)], "{len} {start} {end}"),
                        // After the last chunk there is nothing to verify.
                        Err(e) => assert!(
                            matches!(e, Error::Truncated) && start / CHUNK > len / CHUNK,
                            "{len} {start} {end}: {e}"
                        ),
                    }
                }
            }
        }
    }

    /// More chunks would cost time and, at the end of the file, look like truncation.
    #[test]
    fn sealed_ranges_hold_no_other_chunks() {
        const CHUNK: u64 = CHUNK_LEN as u64;
        let sealed = |chunks: Range<u64>| LAYOUT.sealed_start(chunks.start)..LAYOUT.sealed_start(chunks.end);
        for (plain, chunks) in [
            (0..1, 0..1),
            (0..CHUNK, 0..1),
            (0..CHUNK + 1, 0..2),
            (CHUNK - 1..CHUNK, 0..1),
            (CHUNK..CHUNK + 1, 1..2),
            (CHUNK - 1..2 * CHUNK, 0..2),
        ] {
            assert_eq!(sealed_range(plain.clone()), sealed(chunks), "{plain:?}");
        }
        assert!(sealed_range(5..5).is_empty());
    }

    #[test]
    fn rejects_wrong_lengths_changed_bytes_and_other_keys() {
        let key = Key::from_bytes(&[7; 32]);
        let (lock, unlock) = (EncryptWith::key(&key, b""), DecryptWith::key(&key, b""));
        let file = encrypt(&[1; 3 * CHUNK_LEN], &lock).unwrap();
        let ranges = RangeDecryptor::new(&file, &unlock).unwrap();
        let sealed = sealed_range(5..9);
        let mut chunk = file[sealed.start as usize..sealed.end as usize].to_vec();
        assert!(matches!(
            ranges.range(5..9, &[&chunk[..], &[0]].concat()),
            Err(Error::UnexpectedLength { .. })
        ));
        // Cut between two chunks, and within one.
        assert!(matches!(ranges.range(0..40_000, &file[56..][..2 * 16_400]), Err(Error::Truncated)));
        let cut = ranges.range(0..40_000, &file[56..][..2 * 16_400 + 100]).unwrap();
        assert!(!cut.is_empty() && ranges.range(0..0, &[]).unwrap().is_empty());
        let mut out = vec![1; cut.len()];
        assert!(matches!(cut.decrypt_into(&mut out), Err(Error::DamagedChunk { index: 2, .. })));
        assert!(out.iter().all(|&byte| byte == 0));
        chunk[3] ^= 1;
        let changed = ranges.range(5..9, &chunk).unwrap();
        let mut out = [1; 4];
        assert!(matches!(changed.decrypt_into(&mut out), Err(Error::DamagedChunk { index: 0, .. })));
        assert_eq!(out, [0; 4]);
        // Another chunk of the same file, another file, another key, too short a header.
        assert!(open(&ranges, &file[16_400..], 5..9).is_err());
        let other = encrypt(&[1; 3 * CHUNK_LEN], &lock).unwrap();
        assert!(matches!(open(&ranges, &other, 5..9), Err(Error::DamagedChunk { index: 0, .. })));
        let another = DecryptWith::key(&Key::from_bytes(&[8; 32]), b"");
        assert!(matches!(RangeDecryptor::new(&file, &another), Err(Error::Authentication)));
        assert!(matches!(RangeDecryptor::new(&file[..55], &unlock), Err(Error::Truncated)));
        let age = DecryptWith::age(&[keys::age::Identity::passphrase("p")]);
        let refused = RangeDecryptor::new(&file, &age).unwrap_err().to_string();
        assert!(refused.contains("the only format that RangeDecryptor can read"), "{refused}");
    }
}

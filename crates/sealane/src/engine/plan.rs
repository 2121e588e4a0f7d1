//! Arithmetic of files that are a header and sealed chunks of one size, the last one shorter.

use crate::Error;
use std::ops::Range;

/// Chunks in one job. 16 chunks of 16 KiB are 256 KiB, which measured best for positional writes and stays in L2.
pub(crate) const CHUNKS_PER_JOB: u64 = 16;

/// Where the chunks of a format lie.
///
/// Every chunk but the last has `chunk` bytes of plaintext; the last has fewer, perhaps none. So the short chunk
/// marks the end, and a file that ends with a full one was cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Bytes before chunk 0.
    pub(crate) header: u64,
    /// Plaintext bytes of a full chunk.
    pub(crate) chunk: u64,
    /// Bytes by which a sealed chunk is longer.
    pub(crate) overhead: u64,
    /// Chunks that one key may seal.
    pub(crate) max_chunks: u64,
}

/// A file of a known size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) layout: Layout,
    /// Bytes of plaintext in the whole file.
    pub(crate) plain_len: u64,
}

/// One thread's work: some consecutive chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    /// Index of its first chunk.
    pub(crate) first: u64,
    /// Its bytes in the plaintext.
    pub(crate) plain: Range<u64>,
    /// Its bytes in the sealed file.
    pub(crate) sealed: Range<u64>,
}

impl Layout {
    /// Bytes of a full sealed chunk.
    pub(crate) fn sealed_chunk(self) -> u64 {
        self.chunk + self.overhead
    }

    /// The plan for `plain_len` bytes to be sealed.
    ///
    /// # Errors
    /// [`Error::LimitExceeded`].
    pub(crate) fn plan_plain(self, plain_len: u64) -> Result<Plan, Error> {
        if plain_len / self.chunk >= self.max_chunks {
            return Err(Error::LimitExceeded("the file is longer than the format can carry"));
        }
        Ok(Plan { layout: self, plain_len })
    }

    /// The plan for a sealed file of `sealed_len` bytes.
    ///
    /// # Errors
    /// [`Error::Truncated`] for a size that no whole file has; [`Error::LimitExceeded`].
    pub(crate) fn plan_sealed(self, sealed_len: u64) -> Result<Plan, Error> {
        let body = sealed_len.checked_sub(self.header).ok_or(Error::Truncated)?;
        let (full, last) = (body / self.sealed_chunk(), body % self.sealed_chunk());
        let last = last.checked_sub(self.overhead).ok_or(Error::Truncated)?;
        self.plan_plain(full * self.chunk + last)
    }
}

impl Plan {
    /// Chunks, the short one at the end included.
    pub(crate) fn chunks(self) -> u64 {
        self.plain_len / self.layout.chunk + 1
    }

    /// Bytes of the sealed file.
    pub(crate) fn sealed_len(self) -> u64 {
        self.layout.header + self.plain_len + self.chunks() * self.layout.overhead
    }

    /// Jobs.
    pub(crate) fn jobs(self) -> u64 {
        self.chunks().div_ceil(CHUNKS_PER_JOB)
    }

    /// Job number `at`.
    pub(crate) fn job(self, at: u64) -> Job {
        self.span(at * CHUNKS_PER_JOB..(at + 1) * CHUNKS_PER_JOB)
    }

    /// The chunks of a range that exist, as one job.
    pub(crate) fn span(self, chunks: Range<u64>) -> Job {
        let Layout { header, chunk, .. } = self.layout;
        let sealed = |index: u64| header + index * self.layout.sealed_chunk();
        let last = chunks.end >= self.chunks();
        let plain_end = if last { self.plain_len } else { chunks.end * chunk };
        let sealed_end = if last { self.sealed_len() } else { sealed(chunks.end) };
        Job {
            first: chunks.start,
            plain: chunks.start * chunk..plain_end,
            sealed: sealed(chunks.start)..sealed_end,
        }
    }
}

impl Job {
    /// Plaintext bytes.
    pub(crate) fn plain_len(&self) -> usize {
        (self.plain.end - self.plain.start) as usize
    }

    /// Sealed bytes.
    pub(crate) fn sealed_len(&self) -> usize {
        (self.sealed.end - self.sealed.start) as usize
    }
}

#[cfg(test)]
mod test {
    use super::*;

    const LAYOUT: Layout = Layout { header: 56, chunk: 16384, overhead: 16, max_chunks: 1 << 38 };

    #[test]
    fn sizes_go_there_and_back() {
        for chunks in [0, 1, 2, 15, 16, 17, 32, 65_536] {
            for around in [0, 1, 15, 16, 17, 16_368, 16_383] {
                let plan = LAYOUT.plan_plain(chunks * 16_384 + around).unwrap();
                assert_eq!(LAYOUT.plan_sealed(plan.sealed_len()).unwrap().plain_len, plan.plain_len);
            }
        }
    }

    #[test]
    fn no_whole_file_has_these_sizes() {
        for sealed in (0..72).chain((0..16).map(|n| 56 + 16_400 + n)).chain([56 + 2 * 16_400]) {
            assert!(matches!(LAYOUT.plan_sealed(sealed), Err(Error::Truncated)), "{sealed}");
        }
    }

    #[test]
    fn the_limit_is_the_formats() {
        assert!(LAYOUT.plan_plain((1 << 52) - 1).is_ok());
        assert!(matches!(LAYOUT.plan_plain(1 << 52), Err(Error::LimitExceeded(_))));
        assert!(matches!(LAYOUT.plan_sealed(u64::MAX), Err(Error::LimitExceeded(_) | Error::Truncated)));
    }

    #[test]
    fn jobs_cover_every_byte_once() {
        for len in [0, 1, 16_383, 16_384, 262_143, 262_144, 262_145, 5_000_000] {
            let plan = LAYOUT.plan_plain(len).unwrap();
            let (mut plain, mut sealed, mut chunks) = (0, 56, 0);
            for job in (0..plan.jobs()).map(|at| plan.job(at)) {
                assert_eq!((job.plain.start, job.sealed.start, job.first), (plain, sealed, chunks));
                (plain, sealed) = (job.plain.end, job.sealed.end);
                chunks += CHUNKS_PER_JOB;
            }
            assert_eq!((plain, sealed), (len, plan.sealed_len()));
        }
    }
}

//! Positions and sizes in a file made of a header and sealed chunks. All chunks have one size; only
//! the last may be shorter.
//!
//! Example: with a header of 56 bytes and chunks of 16,384 bytes that seal to 16,400, a plaintext
//! of 40,000 bytes is three chunks, the last of 7,232 bytes, and the file has 40,104 bytes.

use base::{Error, Result};
use std::ops::Range;

/// Approximate plaintext bytes per job. 256 KiB was fastest for positional writes, and stays in L2
/// (measured).
const JOB_LEN: u64 = 1 << 18;

/// Positions of the chunks in a format.
///
/// ```text
/// sealed = header || chunk 0 || … || chunk n
/// ```
///
/// All chunks but the last are full, except that chunk 0 is shorter by `lead`.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Bytes before chunk 0 in the sealed file.
    pub header: u64,
    /// Plaintext bytes that chunk 0 lacks because the header takes their place; 0 in most formats.
    pub lead: u64,
    /// Plaintext bytes per full chunk; only the last chunk may have fewer.
    pub chunk: u64,
    /// Bytes that sealing adds to a chunk.
    pub overhead: u64,
    /// How the last chunk differs from the others.
    pub end: End,
    /// Maximum number of chunks under one key.
    pub max_chunks: u64,
}

/// How the last chunk differs from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The last chunk is never full and may be empty. A file that ends with a full chunk is
    /// truncated.
    Short,
    /// The last chunk is sealed with a mark. It may be full, and is empty only if the whole
    /// plaintext is.
    Marked,
    /// The last chunk is like all others, and never empty: an empty plaintext has no chunk. A file
    /// that was cut between two chunks looks complete.
    Alike,
}

/// The chunks of a file of known size, grouped into jobs.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub layout: Layout,
    /// Plaintext bytes in the file, without header and tags.
    pub plain_len: u64,
}

/// A unit of work for one thread: consecutive chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Indexes of this job's chunks.
    pub chunks: Range<u64>,
    /// Whether the job includes the last chunk of the file.
    pub is_last: bool,
    /// The job's byte range in the plaintext.
    pub plain: Range<u64>,
    /// The job's byte range in the sealed file, tags included.
    pub sealed: Range<u64>,
}

/// Position of a chunk in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkPosition {
    /// Index of the chunk in the file, counted from 0.
    pub index: u64,
    /// Whether the chunk is the last of the file.
    pub last: bool,
}

impl Layout {
    /// Returns the length in bytes of a full sealed chunk.
    pub fn sealed_chunk_len(self) -> u64 {
        self.chunk + self.overhead
    }

    /// Returns the offset of chunk `index` in the plaintext.
    pub fn plain_start(self, index: u64) -> u64 {
        (index * self.chunk).saturating_sub(self.lead)
    }

    /// Returns the offset of chunk `index` in the sealed file.
    pub fn sealed_start(self, index: u64) -> u64 {
        self.header + (index * self.sealed_chunk_len()).saturating_sub(self.lead)
    }

    /// Returns the index of the chunk that holds the plaintext byte at `offset`.
    pub fn chunk_of(self, offset: u64) -> u64 {
        (offset + self.lead) / self.chunk
    }

    /// Returns a job of full chunks, not including the last of the file.
    pub fn full_chunks(self, chunks: Range<u64>) -> Job {
        Job {
            plain: self.plain_start(chunks.start)..self.plain_start(chunks.end),
            sealed: self.sealed_start(chunks.start)..self.sealed_start(chunks.end),
            chunks,
            is_last: false,
        }
    }

    /// Returns the number of complete chunks in the first `sealed_len` bytes of a sealed file.
    pub fn complete_chunks(self, sealed_len: u64) -> u64 {
        sealed_len.saturating_sub(self.header).saturating_add(self.lead) / self.sealed_chunk_len()
    }

    /// Returns the number of full chunks in `len` plaintext bytes, at least 1.
    pub fn chunks_in(self, len: u64) -> u64 {
        (len / self.chunk).max(1)
    }

    /// Returns the plan for a plaintext of `plain_len` bytes.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if the format has no files of this length.
    pub fn plan_plain(self, plain_len: u64) -> Result<Plan> {
        let plan = Plan { layout: self, plain_len };
        if plain_len > 1 << 62 || plan.chunks() > self.max_chunks {
            return Err(Error::LimitExceeded("the file is longer than the format can carry"));
        }
        Ok(plan)
    }

    /// Returns the plan for a sealed file of `sealed_len` bytes.
    ///
    /// # Errors
    /// Returns [`Error::Truncated`] if no complete file has this size; [`Error::LimitExceeded`] if
    /// the file is too long.
    pub fn plan_sealed(self, sealed_len: u64) -> Result<Plan> {
        let body = sealed_len.checked_sub(self.header).ok_or(Error::Truncated)?;
        // Adds the plaintext bytes that the header displaces.
        let body = body.saturating_add(self.lead);
        let (full, rest) = (body / self.sealed_chunk_len(), body % self.sealed_chunk_len());
        let last = match (rest.checked_sub(self.overhead), self.end) {
            (Some(last), End::Short) => last,
            (Some(last), End::Marked) if last > 0 || full == 0 => last,
            (None, End::Marked) if rest == 0 && full > 0 => 0,
            (Some(last), End::Alike) if last > 0 => last,
            (None, End::Alike) if rest == 0 => 0,
            _ => return Err(Error::Truncated),
        };
        let plain_len = (full * self.chunk + last).checked_sub(self.lead).ok_or(Error::Truncated)?;
        self.plan_plain(plain_len)
    }
}

impl Plan {
    /// Returns the number of chunks, the last one included.
    pub fn chunks(self) -> u64 {
        let Layout { lead, chunk, end, .. } = self.layout;
        let len = self.plain_len + lead;
        match end {
            End::Short => len / chunk + 1,
            End::Marked => len.div_ceil(chunk).max(1),
            End::Alike => len.div_ceil(chunk),
        }
    }

    /// Returns the size of the sealed file in bytes.
    pub fn sealed_len(self) -> u64 {
        self.layout.header + self.plain_len + self.chunks() * self.layout.overhead
    }

    fn chunks_per_job(self) -> u64 {
        self.layout.chunks_in(JOB_LEN).min(self.chunks().max(1))
    }

    pub fn jobs(self) -> u64 {
        self.chunks().div_ceil(self.chunks_per_job())
    }

    /// Returns the job with this index, counted from 0.
    pub fn job(self, index: u64) -> Job {
        let chunks = self.chunks_per_job();
        self.span(index * chunks..(index + 1) * chunks)
    }

    /// Returns the maximum number of plaintext bytes per job.
    pub fn max_plain_len(self) -> usize {
        (self.chunks_per_job() * self.layout.chunk).min(self.plain_len) as usize
    }

    /// Returns the maximum number of sealed bytes per job.
    pub fn max_sealed_len(self) -> usize {
        (self.chunks_per_job() * self.layout.sealed_chunk_len()).min(self.sealed_len()) as usize
    }

    /// Returns those chunks of a range that exist, as one job.
    pub fn span(self, chunks: Range<u64>) -> Job {
        let is_last = chunks.end >= self.chunks();
        let full = self.layout.full_chunks(chunks.start..chunks.end.min(self.chunks()));
        match is_last {
            true => Job {
                plain: full.plain.start..self.plain_len,
                sealed: full.sealed.start..self.sealed_len(),
                is_last,
                ..full
            },
            false => full,
        }
    }
}

impl Job {
    /// Returns the number of plaintext bytes in the job's chunks.
    pub fn plain_len(&self) -> usize {
        (self.plain.end - self.plain.start) as usize
    }

    /// Returns the number of sealed bytes in the job's chunks, tags included.
    pub fn sealed_len(&self) -> usize {
        (self.sealed.end - self.sealed.start) as usize
    }

    /// Iterates over the job's chunks, with their plaintext lengths.
    pub fn positions(&self, layout: Layout) -> impl Iterator<Item = (ChunkPosition, usize)> {
        let (end, plain_end, is_last) = (self.chunks.end, self.plain.end, self.is_last);
        self.chunks.clone().map(move |index| {
            let last = index + 1 == end;
            let until = if last { plain_end } else { layout.plain_start(index + 1) };
            (ChunkPosition { index, last: last && is_last }, (until - layout.plain_start(index)) as usize)
        })
    }
}

#[cfg(test)]
mod test {
    use super::*;

    const LAYOUT: Layout =
        Layout { header: 56, lead: 0, chunk: 16384, overhead: 16, end: End::Short, max_chunks: 1 << 38 };
    const MARKED: Layout = Layout { header: 200, chunk: 65_536, end: End::Marked, ..LAYOUT };
    const ALIKE: Layout = Layout { header: 18, chunk: 4096, overhead: 32, end: End::Alike, ..LAYOUT };
    const WITH_LEAD: Layout = Layout { header: 40, lead: 40, chunk: 4080, end: End::Marked, ..LAYOUT };

    #[test]
    fn sizes_round_trip() {
        for layout in [LAYOUT, MARKED, WITH_LEAD, ALIKE] {
            for chunks in [0, 1, 2, 15, 16, 17, 32, 65_536] {
                for around in [0, 1, 15, 16, 17, 39, 40, 41, layout.chunk - 16, layout.chunk - 1] {
                    let plan = layout.plan_plain(chunks * layout.chunk + around).unwrap();
                    assert_eq!(layout.plan_sealed(plan.sealed_len()).unwrap().plain_len, plan.plain_len);
                }
            }
        }
    }

    /// Each sealed size belongs to one plaintext length or to none.
    #[test]
    fn plan_sealed_accepts_the_sizes_of_complete_files_alone() {
        let small = Layout { chunk: 64, ..WITH_LEAD };
        let ends = [End::Marked, End::Short, End::Alike].map(|end| Layout { lead: 0, end, ..small });
        for layout in ends.into_iter().chain([small]) {
            let sizes: Vec<_> = (0..1000).map(|n| layout.plan_plain(n).unwrap().sealed_len()).collect();
            assert!(sizes.is_sorted());
            for sealed in 0..sizes[999] {
                let plain = sizes.iter().position(|&size| size == sealed);
                assert_eq!(layout.plan_sealed(sealed).ok().map(|plan| plan.plain_len as usize), plain);
            }
        }
    }

    #[test]
    fn rejects_sizes_of_truncated_files() {
        for sealed in (0..72).chain((0..16).map(|n| 56 + 16_400 + n)).chain([56 + 2 * 16_400]) {
            assert!(matches!(LAYOUT.plan_sealed(sealed), Err(Error::Truncated)), "{sealed}");
        }
    }

    #[test]
    fn rejects_lengths_above_the_limit_of_the_format() {
        assert!(LAYOUT.plan_plain((1 << 52) - 1).is_ok());
        assert!(matches!(LAYOUT.plan_plain(1 << 52), Err(Error::LimitExceeded(_))));
        assert!(matches!(LAYOUT.plan_sealed(u64::MAX), Err(Error::LimitExceeded(_) | Error::Truncated)));
    }

    #[test]
    fn rejects_lengths_whose_positions_could_overflow() {
        let layout = Layout { max_chunks: u64::MAX, ..LAYOUT };
        assert!(layout.plan_plain(1 << 62).is_ok());
        for len in [(1 << 62) + 1, u64::MAX] {
            assert!(matches!(layout.plan_plain(len), Err(Error::LimitExceeded(_))), "{len}");
        }
    }

    #[test]
    fn jobs_contain_every_byte_once() {
        for layout in [LAYOUT, MARKED, WITH_LEAD, ALIKE] {
            for len in [0, 1, 4039, 4040, 4041, 16_383, 16_384, 262_143, 262_144, 262_145, 5_000_000] {
                let plan = layout.plan_plain(len).unwrap();
                let (mut plain, mut sealed, mut chunks) = (0, layout.header, 0);
                for job in (0..plan.jobs()).map(|at| plan.job(at)) {
                    assert_eq!(
                        (job.plain.start, job.sealed.start, job.chunks.start),
                        (plain, sealed, chunks)
                    );
                    (plain, sealed, chunks) = (job.plain.end, job.sealed.end, job.chunks.end);
                    let parts: Vec<_> = job.positions(layout).collect();
                    assert_eq!(parts.iter().map(|(_, len)| len).sum::<usize>(), job.plain_len());
                    assert!(job.plain_len() <= plan.max_plain_len());
                    assert_eq!(
                        parts.last().unwrap().0,
                        ChunkPosition { index: chunks - 1, last: chunks == plan.chunks() }
                    );
                    assert!(job.plain.is_empty() || layout.chunk_of(job.plain.start) == job.chunks.start);
                }
                assert_eq!((plain, sealed, chunks), (len, plan.sealed_len(), plan.chunks()));
            }
        }
    }
}

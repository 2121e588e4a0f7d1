//! Arithmetic of files that are a header and sealed chunks of one size, the last one shorter.

use crate::Error;
use std::ops::Range;

/// Plaintext bytes in one job, about. 256 KiB measured best for positional writes and stay in L2.
const JOB_LEN: u64 = 1 << 18;

/// Where the chunks of a format lie.
///
/// ```text
/// sealed = header || chunk 0 || … || chunk n       every chunk but the last is full, and chunk 0 is shorter by `lead`
/// ```
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Bytes before chunk 0.
    pub(crate) header: u64,
    /// Bytes of plaintext by which chunk 0 is shorter, where the header takes their place.
    pub(crate) lead: u64,
    /// Plaintext bytes of a full chunk.
    pub(crate) chunk: u64,
    /// Bytes by which a sealed chunk is longer.
    pub(crate) overhead: u64,
    /// How the end is known.
    pub(crate) end: End,
    /// Chunks that one key may seal.
    pub(crate) max_chunks: u64,
}

/// How the last chunk of a format differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It is never full, perhaps empty. So a file that ends with a full chunk was cut.
    Short,
    /// It is sealed as the last one. It may be full, and is empty only where the whole file is.
    Marked,
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
    /// Their numbers.
    pub(crate) chunks: Range<u64>,
    /// Whether the last of them is the last of all.
    pub(crate) ends: bool,
    /// Its bytes in the plaintext.
    pub(crate) plain: Range<u64>,
    /// Its bytes in the sealed file.
    pub(crate) sealed: Range<u64>,
}

/// Which chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its number, from 0.
    pub(crate) index: u64,
    /// Whether it is the last of all.
    pub(crate) last: bool,
}

impl Layout {
    /// Bytes of a full sealed chunk.
    pub(crate) fn sealed_chunk(self) -> u64 {
        self.chunk + self.overhead
    }

    /// Where chunk `index` begins in the plaintext.
    pub(crate) fn plain_start(self, index: u64) -> u64 {
        (index * self.chunk).saturating_sub(self.lead)
    }

    /// Where chunk `index` begins in the sealed file.
    pub(crate) fn sealed_start(self, index: u64) -> u64 {
        self.header + (index * self.sealed_chunk()).saturating_sub(self.lead)
    }

    /// The chunk in which a byte of the plaintext lies.
    pub(crate) fn chunk_of(self, offset: u64) -> u64 {
        (offset + self.lead) / self.chunk
    }

    /// Full chunks, none of them the last.
    pub(crate) fn inner(self, chunks: Range<u64>) -> Job {
        Job {
            plain: self.plain_start(chunks.start)..self.plain_start(chunks.end),
            sealed: self.sealed_start(chunks.start)..self.sealed_start(chunks.end),
            chunks,
            ends: false,
        }
    }

    /// Chunks that have about `len` bytes of plaintext together.
    pub(crate) fn chunks_in(self, len: u64) -> u64 {
        (len / self.chunk).max(1)
    }

    /// The plan for `plain_len` bytes to be sealed.
    ///
    /// # Errors
    /// [`Error::LimitExceeded`].
    pub(crate) fn plan_plain(self, plain_len: u64) -> Result<Plan, Error> {
        let plan = Plan { layout: self, plain_len };
        if plain_len > 1 << 62 || plan.chunks() > self.max_chunks {
            return Err(Error::LimitExceeded("the file is longer than the format can carry"));
        }
        Ok(plan)
    }

    /// The plan for a sealed file of `sealed_len` bytes.
    ///
    /// # Errors
    /// [`Error::Truncated`] for a size that no whole file has; [`Error::LimitExceeded`].
    pub(crate) fn plan_sealed(self, sealed_len: u64) -> Result<Plan, Error> {
        let body = sealed_len.checked_sub(self.header).ok_or(Error::Truncated)?;
        // As if the header had not taken the place of plaintext.
        let body = body.saturating_add(self.lead);
        let (full, rest) = (body / self.sealed_chunk(), body % self.sealed_chunk());
        let last = match (rest.checked_sub(self.overhead), self.end) {
            (Some(last), End::Short) => last,
            (Some(last), End::Marked) if last > 0 || full == 0 => last,
            (None, End::Marked) if rest == 0 && full > 0 => 0,
            _ => return Err(Error::Truncated),
        };
        let plain_len = (full * self.chunk + last).checked_sub(self.lead).ok_or(Error::Truncated)?;
        self.plan_plain(plain_len)
    }
}

impl Plan {
    /// Chunks, the last one included.
    pub(crate) fn chunks(self) -> u64 {
        let Layout { lead, chunk, end, .. } = self.layout;
        let len = self.plain_len + lead;
        match end {
            End::Short => len / chunk + 1,
            End::Marked => len.div_ceil(chunk).max(1),
        }
    }

    /// Bytes of the sealed file.
    pub(crate) fn sealed_len(self) -> u64 {
        self.layout.header + self.plain_len + self.chunks() * self.layout.overhead
    }

    /// Chunks in a job.
    fn chunks_per_job(self) -> u64 {
        self.layout.chunks_in(JOB_LEN).min(self.chunks())
    }

    /// Jobs.
    pub(crate) fn jobs(self) -> u64 {
        self.chunks().div_ceil(self.chunks_per_job())
    }

    /// Job number `at`.
    pub(crate) fn job(self, at: u64) -> Job {
        let chunks = self.chunks_per_job();
        self.span(at * chunks..(at + 1) * chunks)
    }

    /// Plaintext bytes of the largest job.
    pub(crate) fn most_plain(self) -> usize {
        (self.chunks_per_job() * self.layout.chunk).min(self.plain_len) as usize
    }

    /// Sealed bytes of the largest job.
    pub(crate) fn most_sealed(self) -> usize {
        (self.chunks_per_job() * self.layout.sealed_chunk()).min(self.sealed_len()) as usize
    }

    /// The chunks of a range that exist, as one job.
    pub(crate) fn span(self, chunks: Range<u64>) -> Job {
        let ends = chunks.end >= self.chunks();
        let inner = self.layout.inner(chunks.start..chunks.end.min(self.chunks()));
        match ends {
            true => Job {
                plain: inner.plain.start..self.plain_len,
                sealed: inner.sealed.start..self.sealed_len(),
                ends,
                ..inner
            },
            false => inner,
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

    /// Its chunks and the bytes of plaintext in each.
    pub(crate) fn each(&self, layout: Layout) -> impl Iterator<Item = (Place, usize)> {
        let (Range { end, .. }, plain_end, ends) = (self.chunks.clone(), self.plain.end, self.ends);
        self.chunks.clone().map(move |index| {
            let last = index + 1 == end;
            let until = if last { plain_end } else { layout.plain_start(index + 1) };
            (Place { index, last: last && ends }, (until - layout.plain_start(index)) as usize)
        })
    }
}

#[cfg(test)]
mod test {
    use super::*;

    const LAYOUT: Layout =
        Layout { header: 56, lead: 0, chunk: 16384, overhead: 16, end: End::Short, max_chunks: 1 << 38 };
    const MARKED: Layout = Layout { header: 200, chunk: 65_536, end: End::Marked, ..LAYOUT };
    const LED: Layout = Layout { header: 40, lead: 40, chunk: 4080, end: End::Marked, ..LAYOUT };

    #[test]
    fn sizes_go_there_and_back() {
        for layout in [LAYOUT, MARKED, LED] {
            for chunks in [0, 1, 2, 15, 16, 17, 32, 65_536] {
                for around in [0, 1, 15, 16, 17, 39, 40, 41, layout.chunk - 16, layout.chunk - 1] {
                    let plan = layout.plan_plain(chunks * layout.chunk + around).unwrap();
                    assert_eq!(layout.plan_sealed(plan.sealed_len()).unwrap().plain_len, plan.plain_len);
                }
            }
        }
    }

    /// Every size is that of exactly one plaintext, or of none.
    #[test]
    fn sizes_that_exist_are_the_sizes_of_plaintexts() {
        let small = Layout { chunk: 64, ..LED };
        for layout in [small, Layout { lead: 0, ..small }, Layout { lead: 0, end: End::Short, ..small }] {
            let sizes: Vec<_> = (0..1000).map(|n| layout.plan_plain(n).unwrap().sealed_len()).collect();
            assert!(sizes.is_sorted());
            for sealed in 0..sizes[999] {
                let plain = sizes.iter().position(|&size| size == sealed);
                assert_eq!(layout.plan_sealed(sealed).ok().map(|plan| plan.plain_len as usize), plain);
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
        for layout in [LAYOUT, MARKED, LED] {
            for len in [0, 1, 4039, 4040, 4041, 16_383, 16_384, 262_143, 262_144, 262_145, 5_000_000] {
                let plan = layout.plan_plain(len).unwrap();
                let (mut plain, mut sealed, mut chunks) = (0, layout.header, 0);
                for job in (0..plan.jobs()).map(|at| plan.job(at)) {
                    assert_eq!(
                        (job.plain.start, job.sealed.start, job.chunks.start),
                        (plain, sealed, chunks)
                    );
                    (plain, sealed, chunks) = (job.plain.end, job.sealed.end, job.chunks.end);
                    let parts: Vec<_> = job.each(layout).collect();
                    assert_eq!(parts.iter().map(|(_, len)| len).sum::<usize>(), job.plain_len());
                    assert!(job.plain_len() <= plan.most_plain());
                    assert_eq!(
                        parts.last().unwrap().0,
                        Place { index: chunks - 1, last: chunks == plan.chunks() }
                    );
                    assert!(job.plain.is_empty() || layout.chunk_of(job.plain.start) == job.chunks.start);
                }
                assert_eq!((plain, sealed, chunks), (len, plan.sealed_len(), plan.chunks()));
            }
        }
    }
}

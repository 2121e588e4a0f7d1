//! Opens the chunks of a damaged file that still verify, on several threads.
//!
//! A job is read as a whole. If that fails (at a bad sector, for example), its chunks are read one
//! by one, and unreadable ones become holes too.

use super::io::{NamedSource, WriteAt};
use super::options::Options;
use super::pipeline::{OpenChunks, run_reporting, write};
use super::plan::{ChunkPosition, Job, Layout};
use crate::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Plaintext bytes per job, as for whole files.
const JOB_LEN: u64 = 1 << 18;

/// Writes the plaintext of each chunk of `0..chunks` that verifies to `sink`; returns the others as
/// ordered ranges. All these chunks are full, and the file's last is not among them. Nothing is
/// written for the others.
///
/// # Errors
/// Returns [`Error::Cancelled`]; the errors of `sink`.
pub fn open_intact(
    cipher: &dyn OpenChunks,
    chunks: u64,
    source: NamedSource<'_>,
    sink: &dyn WriteAt,
    options: &mut Options<'_>,
) -> Result<Vec<Range<u64>>> {
    let layout = cipher.layout();
    let per_job = layout.chunks_in(JOB_LEN).min(chunks.max(1));
    let jobs = chunks.div_ceil(per_job);
    let job = |at: u64| layout.full_chunks(at * per_job..chunks.min((at + 1) * per_job));
    let buffers = || {
        let (plain, sealed) = (per_job * layout.chunk, per_job * layout.sealed_chunk_len());
        Ok((Wiped(memory::zeroed(plain as usize)?), memory::zeroed(sealed as usize)?))
    };
    let holes = Mutex::new(Vec::new());
    run_reporting(jobs, layout.plain_start(chunks), options, buffers, |at, (plain, sealed)| {
        let job = job(at);
        let bad = open_job(cipher, &job, source, sink, plain, sealed)?;
        holes.lock().unwrap_or_else(PoisonError::into_inner).extend(bad);
        Ok(job.plain_len())
    })?;
    Ok(merged(holes.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

/// Writes a job's chunks that verify; returns the others.
fn open_job(
    cipher: &dyn OpenChunks,
    job: &Job,
    source: NamedSource<'_>,
    sink: &dyn WriteAt,
    plain: &mut [u8],
    sealed: &mut [u8],
) -> Result<Vec<u64>> {
    let layout = cipher.layout();
    let whole = source.read_exact_at(job.sealed.start, &mut sealed[..job.sealed_len()]).is_ok();
    let mut bad = Vec::new();
    // Verified but unwritten bytes: offset in the job's plaintext, and length.
    let (mut start, mut len) = (0, 0);
    for index in job.chunks.clone() {
        let chunk = layout.full_chunks(index..index + 1);
        let at = (chunk.plain.start - job.plain.start) as usize;
        let from = (chunk.sealed.start - job.sealed.start) as usize;
        let (from, to) = (&mut sealed[from..][..chunk.sealed_len()], &mut plain[at..][..chunk.plain_len()]);
        let read = whole || source.read_exact_at(chunk.sealed.start, from).is_ok();
        if read && opens(cipher, ChunkPosition { index, last: false }, from, to)? {
            len += to.len();
            continue;
        }
        write(sink, job.plain.start + start as u64, &plain[start..start + len])?;
        (start, len) = (at + chunk.plain_len(), 0);
        bad.push(index);
    }
    write(sink, job.plain.start + start as u64, &plain[start..start + len])?;
    Ok(bad)
}

/// Returns whether a chunk verifies. If it does, `plain` holds its plaintext; if not, zeros.
///
/// # Errors
/// Returns the cipher's errors other than [`Error::Authentication`].
pub fn opens(
    cipher: &dyn OpenChunks,
    position: ChunkPosition,
    sealed: &[u8],
    plain: &mut [u8],
) -> Result<bool> {
    Ok(Error::authentic(cipher.decrypt(position, sealed, plain))?.is_some())
}

/// Returns whether any of `chunks` in `source` verifies as a chunk before the last.
///
/// # Errors
/// Returns the errors of [`opens`]. An unreadable chunk does not verify.
pub fn any_opens(cipher: &dyn OpenChunks, chunks: Range<u64>, source: NamedSource<'_>) -> Result<bool> {
    let Layout { chunk, .. } = cipher.layout();
    let mut sealed = memory::zeroed(cipher.layout().sealed_chunk_len() as usize)?;
    let mut plain = Wiped(memory::zeroed(chunk as usize)?);
    for index in chunks {
        let job = cipher.layout().full_chunks(index..index + 1);
        let (from, to) = (&mut sealed[..job.sealed_len()], &mut plain[..job.plain_len()]);
        let read = source.read_exact_at(job.sealed.start, from).is_ok();
        if read && opens(cipher, ChunkPosition { index, last: false }, from, to)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns ranges of consecutive numbers, ascending.
fn merged(mut numbers: Vec<u64>) -> Vec<Range<u64>> {
    numbers.sort_unstable();
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => ranges.push(number..number + 1),
        }
    }
    ranges
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn consecutive_chunks_are_one_range() {
        assert_eq!(merged(vec![]), []);
        assert_eq!(merged(vec![7, 2, 3, 9, 8, 5]), [2..4, 5..6, 7..10]);
    }
}

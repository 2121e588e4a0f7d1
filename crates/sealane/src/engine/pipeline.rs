//! One file to another: read a job, seal or open it, write it where it belongs; all threads at once.

use super::io::{Named, WriteAt};
use super::join::{join, threads};
use super::options::Options;
use super::plan::{CHUNKS_PER_JOB, Job, Layout, Plan};
use crate::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::Zeroizing;

/// A format's chunks under one key.
pub(crate) trait Chunks: Sync {
    /// Where they lie.
    const LAYOUT: Layout;

    /// Seals chunk `index` into `sealed`, which is longer by the layout's overhead.
    fn seal(&self, index: u64, plain: &[u8], sealed: &mut [u8]) -> Result<(), Error>;

    /// Opens chunk `index` into `plain`. On failure `plain` is zero.
    fn open(&self, index: u64, sealed: &[u8], plain: &mut [u8]) -> Result<(), Error>;
}

/// Seals consecutive chunks; the length of `sealed` says how many.
pub(crate) fn seal_chunks<C: Chunks>(
    chunks: &C,
    first: u64,
    plain: &[u8],
    sealed: &mut [u8],
) -> Result<(), Error> {
    let (chunk, overhead) = (C::LAYOUT.chunk as usize, C::LAYOUT.overhead as usize);
    let mut rest = plain;
    for (index, sealed) in (first..).zip(sealed.chunks_mut(chunk + overhead)) {
        let (plain, after) = rest.split_at(sealed.len() - overhead);
        chunks.seal(index, plain, sealed)?;
        rest = after;
    }
    Ok(())
}

/// Opens consecutive chunks; the length of `sealed` says how many.
pub(crate) fn open_chunks<C: Chunks>(
    chunks: &C,
    first: u64,
    sealed: &[u8],
    plain: &mut [u8],
) -> Result<(), Error> {
    let (chunk, overhead) = (C::LAYOUT.chunk as usize, C::LAYOUT.overhead as usize);
    let mut rest = plain;
    for (index, sealed) in (first..).zip(sealed.chunks(chunk + overhead)) {
        let (plain, after) = rest.split_at_mut(sealed.len() - overhead);
        chunks.open(index, sealed, plain)?;
        rest = after;
    }
    Ok(())
}

/// Seals all of `source` into `sink`, but for the header.
pub(crate) fn seal_all<C: Chunks>(
    chunks: &C,
    plan: Plan,
    source: Named<'_>,
    sink: &dyn WriteAt,
    options: &mut Options<'_>,
) -> Result<(), Error> {
    each_job(plan, options, |job, plain, sealed| {
        let (plain, sealed) = (&mut plain[..job.plain_len()], &mut sealed[..job.sealed_len()]);
        source.read_exact_at(job.plain.start, plain)?;
        seal_chunks(chunks, job.first, plain, sealed)?;
        Ok(sink.write_all_at(job.sealed.start, sealed)?)
    })
}

/// Opens all of `source` into `sink`.
pub(crate) fn open_all<C: Chunks>(
    chunks: &C,
    plan: Plan,
    source: Named<'_>,
    sink: &dyn WriteAt,
    options: &mut Options<'_>,
) -> Result<(), Error> {
    each_job(plan, options, |job, plain, sealed| {
        let (plain, sealed) = (&mut plain[..job.plain_len()], &mut sealed[..job.sealed_len()]);
        source.read_exact_at(job.sealed.start, sealed)?;
        open_chunks(chunks, job.first, sealed, plain)?;
        Ok(sink.write_all_at(job.plain.start, plain)?)
    })
}

/// Gives each job of the plan a buffer for its plaintext and one for its sealed bytes, and reports progress.
fn each_job(
    plan: Plan,
    options: &mut Options<'_>,
    work: impl Fn(&Job, &mut [u8], &mut [u8]) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let most = CHUNKS_PER_JOB.min(plan.chunks());
    let room = || {
        let plain = Zeroizing::new(vec![0; (most * plan.layout.chunk) as usize]);
        (plain, vec![0; (most * plan.layout.sealed_chunk()) as usize])
    };
    let done = AtomicU64::new(0);
    let threads = threads(options.threads);
    let mut progress = options.progress(Some(plan.plain_len));
    join(
        threads,
        plan.jobs(),
        room,
        |at, (plain, sealed)| {
            let job = plan.job(at);
            work(&job, plain, sealed)?;
            done.fetch_add(job.plain_len() as u64, Ordering::Relaxed);
            Ok(())
        },
        || progress.at(done.load(Ordering::Relaxed)),
    )?;
    progress.end(plan.plain_len)
}

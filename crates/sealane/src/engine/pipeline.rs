//! One file to another: read a job, seal or open it, write it where it belongs; all threads at once.

use super::io::{Named, WriteAt};
use super::join::{Threads, join};
use super::options::Options;
use super::plan::{Job, Layout, Place, Plan};
use super::threads::thread_count;
use crate::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::Zeroizing;

/// A format's chunks under one key.
pub(crate) trait Chunks: Send + Sync {
    /// Where they lie.
    fn layout(&self) -> Layout;

    /// Seals a chunk into `sealed`, which is longer by the layout's overhead.
    fn seal(&self, place: Place, plain: &[u8], sealed: &mut [u8]) -> Result<(), Error>;

    /// Opens a chunk into `plain`. On failure `plain` is zero.
    fn open(&self, place: Place, sealed: &[u8], plain: &mut [u8]) -> Result<(), Error>;
}

/// Seals the chunks of a job.
pub(crate) fn seal_chunks(
    chunks: &dyn Chunks,
    job: &Job,
    mut plain: &[u8],
    mut sealed: &mut [u8],
) -> Result<(), Error> {
    let layout = chunks.layout();
    for (place, len) in job.each(layout) {
        let (from, plain_rest) = plain.split_at(len);
        let (to, sealed_rest) = sealed.split_at_mut(len + layout.overhead as usize);
        chunks.seal(place, from, to)?;
        (plain, sealed) = (plain_rest, sealed_rest);
    }
    Ok(())
}

/// Opens the chunks of a job.
pub(crate) fn open_chunks(
    chunks: &dyn Chunks,
    job: &Job,
    mut sealed: &[u8],
    mut plain: &mut [u8],
) -> Result<(), Error> {
    let layout = chunks.layout();
    for (place, len) in job.each(layout) {
        let (from, sealed_rest) = sealed.split_at(len + layout.overhead as usize);
        let (to, plain_rest) = plain.split_at_mut(len);
        chunks.open(place, from, to)?;
        (plain, sealed) = (plain_rest, sealed_rest);
    }
    Ok(())
}

/// Seals all of `source` into `sink`, behind the `header`.
pub(crate) fn seal_all(
    chunks: &dyn Chunks,
    header: &[u8],
    plan: Plan,
    source: Named<'_>,
    sink: &dyn WriteAt,
    options: &mut Options<'_>,
) -> Result<(), Error> {
    each_job(plan, header.len(), options, |job, plain, sealed| {
        // In one write with the first chunks: most files are small.
        let head = if job.chunks.start == 0 { header } else { &[] };
        let (plain, sealed) = (&mut plain[..job.plain_len()], &mut sealed[..head.len() + job.sealed_len()]);
        source.read_exact_at(job.plain.start, plain)?;
        let (front, body) = sealed.split_at_mut(head.len());
        front.copy_from_slice(head);
        seal_chunks(chunks, job, plain, body)?;
        write(sink, job.sealed.start - head.len() as u64, sealed)
    })
}

/// Opens all of `source` into `sink`.
pub(crate) fn open_all(
    chunks: &dyn Chunks,
    plan: Plan,
    source: Named<'_>,
    sink: &dyn WriteAt,
    options: &mut Options<'_>,
) -> Result<(), Error> {
    each_job(plan, 0, options, |job, plain, sealed| {
        let (plain, sealed) = (&mut plain[..job.plain_len()], &mut sealed[..job.sealed_len()]);
        source.read_exact_at(job.sealed.start, sealed)?;
        open_chunks(chunks, job, sealed, plain)?;
        write(sink, job.plain.start, plain)
    })
}

/// Bytes that are written at a time. For an aligned megabyte Linux looks for a megabyte of memory in one piece, and where
/// that is in short supply, a file took three times as long (measured).
const WRITE_LEN: usize = 1 << 18;

fn write(sink: &dyn WriteAt, offset: u64, bytes: &[u8]) -> Result<(), Error> {
    for (at, piece) in bytes.chunks(WRITE_LEN).enumerate() {
        sink.write_all_at(offset + (at * WRITE_LEN) as u64, piece)?;
    }
    Ok(())
}

/// Gives each job of the plan a buffer for its plaintext and one for its sealed bytes with a header of `head` bytes, and
/// reports progress.
fn each_job(
    plan: Plan,
    head: usize,
    options: &mut Options<'_>,
    work: impl Fn(&Job, &mut [u8], &mut [u8]) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let room = || {
        let plain = Zeroizing::new(vec![0; plan.most_plain()]);
        (plain, vec![0; head + plan.most_sealed()])
    };
    let done = AtomicU64::new(0);
    let threads = Threads::Made(thread_count(options.threads));
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

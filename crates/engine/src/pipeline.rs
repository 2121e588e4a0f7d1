//! Seals and opens a whole file on several threads. Each thread reads a job, seals or opens its
//! chunks, and writes the result at its position.

use super::io::{NamedSource, WriteAt};
use super::options::Options;
use super::plan::{ChunkPosition, Job, Layout, Plan};
use crate::prelude::*;
use base::parallel::{Workers, run_jobs};
use base::threads::thread_count;
use std::sync::atomic::{AtomicU64, Ordering};

/// Decrypts the chunks of a file format with one file's key.
pub trait OpenChunks: std::fmt::Debug + Send + Sync {
    /// Returns the positions of the chunks.
    fn layout(&self) -> Layout;

    /// Decrypts a chunk into `plain`; zeros it on failure.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`], whatever the cause.
    fn decrypt(&self, position: ChunkPosition, sealed: &[u8], plain: &mut [u8]) -> Result<()>;

    /// Returns whether the key is known to be right (the header commits to it, for example).
    fn key_is_verified(&self) -> bool {
        true
    }

    /// Opens a chunk into `plain`; zeros it on failure.
    ///
    /// # Errors
    /// Returns [`Error::DamagedChunk`] if the key is verified, [`Error::Authentication`] if not.
    fn open(&self, position: ChunkPosition, sealed: &[u8], plain: &mut [u8]) -> Result<()> {
        match self.decrypt(position, sealed, plain) {
            Err(Error::Authentication) => Err(self.damaged(position.index)),
            result => result,
        }
    }

    /// Returns the error for a chunk that does not verify.
    fn damaged(&self, index: u64) -> Error {
        match self.key_is_verified() {
            true => Error::DamagedChunk { index, offset: self.layout().sealed_start(index) },
            false => Error::Authentication,
        }
    }
}

/// Encrypts and decrypts the chunks of a file format with one file's key.
pub trait ChunkCipher: OpenChunks {
    /// Seals a chunk into `sealed`; it is longer than `plain` by the layout's overhead.
    fn seal(&self, position: ChunkPosition, plain: &[u8], sealed: &mut [u8]) -> Result<()>;
}

pub fn seal_chunks(
    cipher: &dyn ChunkCipher,
    job: &Job,
    mut plain: &[u8],
    mut sealed: &mut [u8],
) -> Result<()> {
    let layout = cipher.layout();
    for (position, len) in job.positions(layout) {
        let (from, plain_rest) = plain.split_at(len);
        let (to, sealed_rest) = sealed.split_at_mut(len + layout.overhead as usize);
        cipher.seal(position, from, to)?;
        (plain, sealed) = (plain_rest, sealed_rest);
    }
    Ok(())
}

pub fn open_chunks(
    cipher: &dyn OpenChunks,
    job: &Job,
    mut sealed: &[u8],
    mut plain: &mut [u8],
) -> Result<()> {
    let layout = cipher.layout();
    for (position, len) in job.positions(layout) {
        let (from, sealed_rest) = sealed.split_at(len + layout.overhead as usize);
        let (to, plain_rest) = plain.split_at_mut(len);
        cipher.open(position, from, to)?;
        (plain, sealed) = (plain_rest, sealed_rest);
    }
    Ok(())
}

/// Writes `header` and the sealed chunks of `source` to `sink`.
pub fn seal_all(
    cipher: &dyn ChunkCipher,
    header: &[u8],
    plan: Plan,
    source: NamedSource<'_>,
    sink: &dyn WriteAt,
    options: &mut Options<'_>,
) -> Result<()> {
    each_job(plan, header.len(), options, |job, plain, sealed| {
        // One write for the header and the first chunks: most files are small.
        let head = if job.chunks.start == 0 { header } else { &[] };
        let (plain, sealed) = (&mut plain[..job.plain_len()], &mut sealed[..head.len() + job.sealed_len()]);
        source.read_exact_at(job.plain.start, plain)?;
        let (front, body) = sealed.split_at_mut(head.len());
        front.copy_from_slice(head);
        seal_chunks(cipher, job, plain, body)?;
        write(sink, job.sealed.start - head.len() as u64, sealed)
    })
}

/// Writes the plaintext of the sealed file `source` to `sink`.
pub fn open_all(
    cipher: &dyn OpenChunks,
    plan: Plan,
    source: NamedSource<'_>,
    sink: &dyn WriteAt,
    options: &mut Options<'_>,
) -> Result<()> {
    each_job(plan, 0, options, |job, plain, sealed| {
        let (plain, sealed) = (&mut plain[..job.plain_len()], &mut sealed[..job.sealed_len()]);
        source.read_exact_at(job.sealed.start, sealed)?;
        open_chunks(cipher, job, sealed, plain)?;
        write(sink, job.plain.start, plain)
    })
}

/// Maximum bytes per write. For an aligned write of 1 MiB, Linux looks for 1 MiB of contiguous
/// memory; when that was scarce, writing a file took three times as long (measured).
const WRITE_LEN: usize = 1 << 18;

/// Writes in pieces that end at multiples of [`WRITE_LEN`] in the file.
///
/// With pieces of that length from an odd position on, encrypting a file with two threads took 1.18
/// times as long (measured on Linux 6.18 with ext4).
pub(crate) fn write(sink: &dyn WriteAt, mut offset: u64, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        let len = WRITE_LEN - offset as usize % WRITE_LEN;
        let (piece, rest) = bytes.split_at(len.min(bytes.len()));
        sink.write_all_at(offset, piece)?;
        (offset, bytes) = (offset + piece.len() as u64, rest);
    }
    Ok(())
}

/// Runs `work` for each job of the plan and reports progress. Each thread has a buffer for
/// plaintext and one for sealed bytes, with `head` extra bytes for the file header.
fn each_job(
    plan: Plan,
    head: usize,
    options: &mut Options<'_>,
    work: impl Fn(&Job, &mut [u8], &mut [u8]) -> Result<()> + Sync,
) -> Result<()> {
    let buffers = || {
        let plain = Wiped(memory::zeroed(plan.max_plain_len())?);
        Ok((plain, memory::zeroed(head + plan.max_sealed_len())?))
    };
    run_reporting(plan.jobs(), plan.plain_len, options, buffers, |at, (plain, sealed)| {
        let job = plan.job(at);
        work(&job, plain, sealed)?;
        Ok(job.plain_len())
    })
}

/// Runs numbered jobs on the threads of the options, and reports progress. `work` returns how many
/// of the `total` bytes it has done.
pub fn run_reporting<B>(
    jobs: u64,
    total: u64,
    options: &mut Options<'_>,
    buffers: impl Fn() -> Result<B> + Sync,
    work: impl Fn(u64, &mut B) -> Result<usize> + Sync,
) -> Result<()> {
    let done = AtomicU64::new(0);
    // For a single job the cores are not counted: most files are small.
    let threads = if jobs > 1 { thread_count(options.threads) } else { 1 };
    let mut progress = options.progress(Some(total));
    run_jobs(
        Workers::Spawned(threads),
        jobs,
        buffers,
        |at, buffers, _| {
            done.fetch_add(work(at, buffers)? as u64, Ordering::Relaxed);
            Ok(())
        },
        || progress.update(done.load(Ordering::Relaxed)),
    )?;
    progress.finish(total)
}

#[cfg(test)]
mod test {
    use super::*;
    use std::io;
    use std::sync::Mutex;

    struct Pieces(Mutex<Vec<(u64, Vec<u8>)>>);

    impl WriteAt for Pieces {
        fn write_all_at(&self, offset: u64, from: &[u8]) -> io::Result<()> {
            self.0.lock().unwrap().push((offset, from.to_vec()));
            Ok(())
        }
    }

    #[test]
    fn writes_end_at_multiples_of_their_length() {
        let bytes: Vec<u8> = (0..3 * WRITE_LEN as u32 + 500).map(|i| (i % 251) as u8).collect();
        for offset in [0, 56, WRITE_LEN as u64 - 1, WRITE_LEN as u64, (1 << 40) + 16_400] {
            for len in [0, 1, 400, WRITE_LEN - 56, WRITE_LEN, WRITE_LEN + 1, bytes.len()] {
                let sink = Pieces(Mutex::default());
                write(&sink, offset, &bytes[..len]).unwrap();
                let (mut at, mut written) = (offset, Vec::new());
                for (start, piece) in sink.0.into_inner().unwrap() {
                    assert!(start == at && (1..=WRITE_LEN).contains(&piece.len()), "{offset} {len}");
                    at += piece.len() as u64;
                    written.extend(piece);
                    assert!(
                        at == offset + len as u64 || at.is_multiple_of(WRITE_LEN as u64),
                        "{offset} {len}"
                    );
                }
                assert!(written == bytes[..len], "{offset} {len}");
            }
        }
    }
}

//! Random access to the plaintext of a file made of chunks.

use super::io::{Concurrency, ReadAt};
use super::pipeline::OpenChunks;
use super::plan::{ChunkPosition, Plan};
use super::scratch::with_scratch;
use crate::prelude::*;
use base::parallel::{Workers, run_parts};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Approximate maximum plaintext bytes per read of the source. Shorter reads cost more system time
/// (16 KiB twice as much as 256 KiB, measured); longer ones save nothing.
const READ_LEN: usize = 1 << 19;
/// Limits of this number if threads share the work. A helper starts between two reads of the
/// calling thread, so reads are shorter here. After a pause, reading 512 KiB takes up to 16 %
/// longer with a minimum of 128 KiB (measured).
const JOB_LEN: (usize, usize) = (1 << 16, 1 << 18);
/// Jobs per read, within the limits of [`JOB_LEN`]. With 8 jobs, two threads finish at about the
/// same time.
const JOBS: usize = 8;

/// Returns the minimum number of bytes for more than one thread. At 512 KiB, waking a second thread
/// costs as much as it saves; one that was just running saves a third of the time. At 256 KiB
/// waking costs more (measured).
fn parallel_read_len(concurrency: Concurrency) -> usize {
    match concurrency {
        Concurrency::Parallel => 1 << 19,
        Concurrency::Serialized => 4 << 20,
    }
}

/// Opens the chunks of a file at any position. Threads may share it.
pub struct ChunkReader<S> {
    pub source: S,
    pub cipher: Box<dyn OpenChunks>,
    pub plan: Plan,
    recent: Mutex<Recent>,
}

/// Plaintext of the chunk last read in part.
struct Recent {
    index: Option<u64>,
    plain: Wiped,
}

impl<S> ChunkReader<S> {
    /// Returns the size of the plaintext in bytes.
    pub fn size(&self) -> u64 {
        self.plan.plain_len
    }
}

impl<S: ReadAt> ChunkReader<S> {
    /// Opens the last chunk of a file of `sealed_len` bytes: where the format marks it, the length
    /// of the plaintext is authentic.
    ///
    /// # Errors
    /// Returns [`Error::Truncated`] if no complete file has this size; the errors of
    /// [`Self::read_at`].
    pub fn new(source: S, sealed_len: u64, cipher: Box<dyn OpenChunks>) -> Result<Self> {
        let plan = cipher.layout().plan_sealed(sealed_len)?;
        // Full capacity from the start: growing would leave an unwiped copy.
        let capacity = plan.layout.chunk.min(plan.plain_len) as usize;
        let recent = Mutex::new(Recent { index: None, plain: Wiped(memory::with_capacity(capacity)?) });
        let reader = Self { source, cipher, plan, recent };
        let Some(last) = plan.chunks().checked_sub(1) else { return Ok(reader) };
        let last = plan.span(last..last + 1);
        with_scratch(last.sealed_len(), last.sealed.start, |sealed| {
            reader.source.read_exact_at(last.sealed.start, sealed)?;
            let position = ChunkPosition { index: last.chunks.start, last: true };
            reader.open_chunk(position, sealed, last.plain_len(), |_| ())
        })?;
        Ok(reader)
    }

    /// Fills `into` with the plaintext from `offset`. Returns the number of bytes: fewer at the end
    /// of the file.
    ///
    /// # Errors
    /// Returns [`Error::DamagedChunk`] if a chunk does not verify; [`Error::Io`] if the source
    /// cannot be read. On failure each byte of `into` is unchanged, zero or verified plaintext.
    pub fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        let rest = self.size().saturating_sub(offset);
        let len = usize::try_from(rest).unwrap_or(usize::MAX).min(into.len());
        let copied = self.copy_recent(offset, &mut into[..len]);
        let (mut at, mut into) = (offset + copied as u64, &mut into[copied..len]);
        if into.len() < parallel_read_len(self.source.concurrency()) {
            while !into.is_empty() {
                let piece = self.piece(at, READ_LEN).min(into.len());
                self.read_piece(at, &mut into[..piece], &|| ())?;
                (at, into) = (at + piece as u64, &mut into[piece..]);
            }
            return Ok(len);
        }
        let job_len = (into.len() / JOBS).clamp(JOB_LEN.0, JOB_LEN.1);
        let mut pieces = memory::with_capacity(into.len() / job_len + 2)?;
        while !into.is_empty() {
            let (piece, rest) = into.split_at_mut(self.piece(at, job_len).min(into.len()));
            let len = piece.len() as u64;
            pieces.push(Mutex::new((at, piece)));
            (at, into) = (at + len, rest);
        }
        let workers = Workers::Pooled(usize::MAX);
        run_parts(workers, &pieces, |_, (at, into), start| self.read_piece(*at, into, start))?;
        Ok(len)
    }

    /// Returns the number of bytes from `at` to the end of a chunk, about `len`.
    fn piece(&self, at: u64, len: usize) -> usize {
        let layout = self.plan.layout;
        let next = layout.chunk_of(at) + layout.chunks_in(len as u64);
        usize::try_from(layout.plain_start(next) - at).unwrap_or(usize::MAX)
    }

    /// Returns the recent chunk, unless another thread is using it.
    ///
    /// Waiting would take longer than opening the chunk again, and forever in a forked child if
    /// another of the parent's threads held the lock.
    fn recent(&self) -> Option<MutexGuard<'_, Recent>> {
        match self.recent.try_lock() {
            Ok(recent) => Some(recent),
            // After a panic under the lock, `index` is `None`, so the buffer is not used.
            Err(TryLockError::Poisoned(recent)) => Some(recent.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Opens a chunk of `len` bytes of plaintext, passes the plaintext to `copy`, and keeps it as
    /// the recent chunk.
    fn open_chunk(
        &self,
        position: ChunkPosition,
        sealed: &[u8],
        len: usize,
        copy: impl FnOnce(&[u8]),
    ) -> Result<()> {
        match self.recent() {
            Some(mut recent) => {
                recent.index = None;
                memory::resize(&mut recent.plain, len)?;
                self.cipher.open(position, sealed, &mut recent.plain)?;
                recent.index = Some(position.index);
                copy(&recent.plain);
            }
            None => {
                let mut plain = Wiped(memory::zeroed(len)?);
                self.cipher.open(position, sealed, &mut plain)?;
                copy(&plain);
            }
        }
        Ok(())
    }

    /// Copies bytes from `at` that are in the recent chunk. Returns how many.
    fn copy_recent(&self, at: u64, into: &mut [u8]) -> usize {
        // `at` may be past the end of the file.
        if into.is_empty() {
            return 0;
        }
        let layout = self.plan.layout;
        let Some(recent) = self.recent() else { return 0 };
        let chunk = layout.chunk_of(at);
        if recent.index != Some(chunk) {
            return 0;
        }
        let plain = &recent.plain[(at - layout.plain_start(chunk)) as usize..];
        let len = plain.len().min(into.len());
        into[..len].copy_from_slice(&plain[..len]);
        len
    }

    /// Reads all chunks of `into` at once and opens them, complete ones in place.
    fn read_piece(&self, at: u64, into: &mut [u8], start_helpers: &dyn Fn()) -> Result<()> {
        let layout = self.plan.layout;
        let end = at + into.len() as u64;
        let job = self.plan.span(layout.chunk_of(at)..layout.chunk_of(end - 1) + 1);
        with_scratch(job.sealed_len(), job.sealed.start, |mut sealed| {
            self.source.read_exact_at(job.sealed.start, sealed)?;
            let mut into = into;
            for (position, len) in job.positions(layout) {
                let (from, sealed_rest) = sealed.split_at_mut(len + layout.overhead as usize);
                let start = layout.plain_start(position.index);
                let (from_byte, to_byte) = (at.max(start) - start, end.min(start + len as u64) - start);
                let (to, into_rest) = into.split_at_mut((to_byte - from_byte) as usize);
                if to.len() == len {
                    self.cipher.open(position, from, to)?;
                } else {
                    self.open_chunk(position, from, len, |plain| {
                        to.copy_from_slice(&plain[from_byte as usize..to_byte as usize]);
                    })?;
                }
                (sealed, into) = (sealed_rest, into_rest);
                start_helpers();
            }
            Ok(())
        })
    }
}

debug_fields!([S] ChunkReader<S>; |it| size: it.plan.plain_len);

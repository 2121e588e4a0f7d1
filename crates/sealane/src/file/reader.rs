//! Random access: any range out of the middle of an encrypted file.

use super::armor::DearmoredSource;
use super::file_cipher::FileCipher;
use super::file_keys::DecryptWith;
use crate::Error;
use crate::engine::io::{Concurrency, ReadAt};
use crate::engine::parallel::{Workers, run_jobs};
use crate::engine::pipeline::ChunkCipher;
use crate::engine::plan::{ChunkPosition, Plan};
use crate::engine::scratch::with_scratch;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;

/// Fewest and most bytes of plaintext, about, that are read from the source at once. Short calls cost the system more
/// (16 KiB at a time twice as much as 256 KiB), longer ones bring no more.
const JOB_LEN: (usize, usize) = (1 << 17, 1 << 19);
/// Jobs that a read is cut into, where they are not too short or too long: two threads get done together.
const JOBS: usize = 8;

/// From this many bytes on, other threads bring more than they cost. With 512 KiB, a second one that has to be woken
/// costs as much as it brings, and one that was just at work saves a third of the time; with 256 KiB waking costs more.
fn worth_threads(crowd: Concurrency) -> usize {
    match crowd {
        Concurrency::Parallel => 1 << 19,
        Concurrency::Serialized => 4 << 20,
    }
}

/// An encrypted file that can be read anywhere. May be shared between threads.
///
/// Every byte it returns was verified; the last chunk was verified before its size is believed.
pub struct Reader<S> {
    source: DearmoredSource<S>,
    cipher: FileCipher,
    plan: Plan,
    recent: Mutex<Recent>,
    /// Of [`Read`] and [`Seek`].
    position: u64,
}

/// The chunk that was read in part last.
struct Recent {
    index: Option<u64>,
    plain: Zeroizing<Vec<u8>>,
}

impl<S: ReadAt> Reader<S> {
    /// Verifies the header and the last chunk.
    ///
    /// # Errors
    /// [`Error::Authentication`], [`Error::Truncated`], [`Error::Io`], [`crate::Misuse::KeyLength`] and what else the
    /// format may say.
    pub fn new(source: S, unlock: &DecryptWith) -> Result<Self, Error> {
        let source = DearmoredSource::new(source, unlock)?;
        let size = source.size()?;
        let cipher = unlock.open_source(&source, size)?;
        let plan = cipher.layout().plan_sealed(size)?;
        // Whole from the start: growing would leave a copy that nobody wipes.
        let most = plan.layout.chunk.min(plan.plain_len) as usize;
        let recent = Mutex::new(Recent { index: None, plain: Zeroizing::new(Vec::with_capacity(most)) });
        let reader = Self { source, cipher, plan, recent, position: 0 };
        let last = plan.span(plan.chunks() - 1..plan.chunks());
        with_scratch(last.sealed_len(), last.sealed.start, |sealed| {
            reader.source.read_exact_at(last.sealed.start, sealed)?;
            let position = ChunkPosition { index: last.chunks.start, last: true };
            reader.recent().open(&*reader.cipher, position, sealed, last.plain_len()).map(drop)
        })?;
        Ok(reader)
    }

    /// Bytes of plaintext.
    pub fn size(&self) -> u64 {
        self.plan.plain_len
    }

    /// What is read from.
    pub fn source(&self) -> &S {
        self.source.source()
    }

    /// The bytes of the file, without armor.
    pub(super) fn bytes(&self) -> &dyn ReadAt {
        &self.source
    }

    pub(super) fn cipher(&self) -> &dyn ChunkCipher {
        &*self.cipher
    }

    pub(super) fn plan(&self) -> Plan {
        self.plan
    }

    /// Reads from `offset` until `into` is full or the file ends; returns the number of bytes.
    ///
    /// # Errors
    /// [`Error::Authentication`], [`Error::Io`]. What `into` then holds is verified plaintext, zeros, or what it held.
    pub fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize, Error> {
        let rest = self.size().saturating_sub(offset);
        let len = usize::try_from(rest).unwrap_or(usize::MAX).min(into.len());
        let known = self.recall(offset, &mut into[..len]);
        let (mut at, mut into) = (offset + known as u64, &mut into[known..len]);
        if into.len() < worth_threads(self.source.concurrency()) {
            while !into.is_empty() {
                let piece = self.piece(at, JOB_LEN.1).min(into.len());
                self.read_piece(at, &mut into[..piece])?;
                (at, into) = (at + piece as u64, &mut into[piece..]);
            }
            return Ok(len);
        }
        let job_len = (into.len() / JOBS).clamp(JOB_LEN.0, JOB_LEN.1);
        let mut pieces = Vec::with_capacity(into.len() / job_len + 2);
        while !into.is_empty() {
            let (piece, rest) = into.split_at_mut(self.piece(at, job_len).min(into.len()));
            let len = piece.len() as u64;
            pieces.push(Mutex::new((at, piece)));
            (at, into) = (at + len, rest);
        }
        run_jobs(
            Workers::Pooled,
            pieces.len() as u64,
            || (),
            |job, ()| {
                let mut piece = pieces[job as usize].lock().unwrap_or_else(PoisonError::into_inner);
                let (at, into) = &mut *piece;
                self.read_piece(*at, into)
            },
            || Ok(()),
        )?;
        Ok(len)
    }

    /// Bytes from `at` to the end of a chunk that are about `len`.
    fn piece(&self, at: u64, len: usize) -> usize {
        let layout = self.plan.layout;
        let next = layout.chunk_of(at) + layout.chunks_in(len as u64);
        usize::try_from(layout.plain_start(next) - at).unwrap_or(usize::MAX)
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        // A panic under the lock leaves a buffer that is only trusted where `index` names it.
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies what is at hand of the bytes from `at` on; returns how many.
    fn recall(&self, at: u64, into: &mut [u8]) -> usize {
        // No byte of the file need be at `at`, which may be as large as it likes.
        if into.is_empty() {
            return 0;
        }
        let layout = self.plan.layout;
        let recent = self.recent();
        let chunk = layout.chunk_of(at);
        if recent.index != Some(chunk) {
            return 0;
        }
        let plain = &recent.plain[(at - layout.plain_start(chunk)) as usize..];
        let len = plain.len().min(into.len());
        into[..len].copy_from_slice(&plain[..len]);
        len
    }

    /// Reads all the chunks that `into` needs at once and opens them: those that it has room for in place.
    fn read_piece(&self, at: u64, into: &mut [u8]) -> Result<(), Error> {
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
                    let mut recent = self.recent();
                    let plain = recent.open(&*self.cipher, position, from, len)?;
                    to.copy_from_slice(&plain[from_byte as usize..to_byte as usize]);
                }
                (sealed, into) = (sealed_rest, into_rest);
            }
            Ok(())
        })
    }
}

impl Recent {
    /// Opens a chunk, keeps and shows it.
    fn open(
        &mut self,
        cipher: &dyn ChunkCipher,
        position: ChunkPosition,
        sealed: &[u8],
        len: usize,
    ) -> Result<&[u8], Error> {
        self.index = None;
        self.plain.resize(len, 0);
        cipher.open(position, sealed, &mut self.plain)?;
        self.index = Some(position.index);
        Ok(&self.plain)
    }
}

impl<S: ReadAt> Read for Reader<S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.read_at(self.position, into).map_err(Error::into_io)?;
        self.position += n as u64;
        Ok(n)
    }
}

impl<S: ReadAt> Seek for Reader<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.size().checked_add_signed(by),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl<S> std::fmt::Debug for Reader<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("size", &self.plan.plain_len).finish_non_exhaustive()
    }
}

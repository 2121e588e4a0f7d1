//! Random access: any range out of the middle of an encrypted file.

use super::coat::Bytes;
use super::lock::{Keys, Unlock};
use crate::Error;
use crate::engine::io::ReadAt;
use crate::engine::join::{join, threads};
use crate::engine::pipeline::{Chunks, open_chunks};
use crate::engine::plan::Plan;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroizing;

/// Bytes of plaintext that one thread works on at a time.
const JOB_LEN: u64 = 1 << 18;
/// Below this many bytes a second thread costs more than it brings.
const WORTH_THREADS: usize = 4 << 20;

/// An encrypted file that can be read anywhere. May be shared between threads.
///
/// Every byte it returns was verified; the last chunk was verified before its size is believed.
pub struct Reader<S> {
    source: Bytes<S>,
    keys: Keys,
    plan: Plan,
    recent: Mutex<Recent>,
    /// Of [`Read`] and [`Seek`].
    position: u64,
}

/// The chunk that was read in part last, and room for what is read.
struct Recent {
    index: Option<u64>,
    plain: Zeroizing<Vec<u8>>,
    sealed: Vec<u8>,
}

impl<S: ReadAt> Reader<S> {
    /// Verifies the header and the last chunk.
    ///
    /// # Errors
    /// [`Error::Authentication`], [`Error::Truncated`], [`Error::Io`], [`crate::Misuse::KeyLength`] and what else the
    /// format may say.
    pub fn new(source: S, unlock: &Unlock) -> Result<Self, Error> {
        let source = Bytes::new(source, unlock)?;
        let size = source.size()?;
        let keys = unlock.begin_at(&source, size)?;
        let plan = keys.layout().plan_sealed(size)?;
        let recent = Recent { index: None, plain: Zeroizing::default(), sealed: Vec::new() };
        let reader = Self { source, keys, plan, recent: Mutex::new(recent), position: 0 };
        reader.with_chunk(plan.chunks() - 1, |_| ())?;
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

    pub(super) fn keys(&self) -> &dyn Chunks {
        &*self.keys
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
        let mut into = &mut into[..len];
        let mut at = offset;
        while !into.is_empty() {
            let chunk = self.plan.layout.chunk_of(at);
            // What is left of it, or whole ones where there is room for them.
            let whole = self.plan.layout.chunk_of(at + into.len() as u64);
            let n = if at == self.plan.layout.plain_start(chunk) && whole > chunk {
                let n = (self.plan.layout.plain_start(whole) - at) as usize;
                self.read_chunks(chunk..whole, &mut into[..n])?;
                n
            } else {
                let next = self.plan.layout.plain_start(chunk + 1);
                let n = usize::try_from(next - at).unwrap_or(usize::MAX).min(into.len());
                let skip = (at - self.plan.layout.plain_start(chunk)) as usize;
                self.with_chunk(chunk, |plain| into[..n].copy_from_slice(&plain[skip..][..n]))?;
                n
            };
            into = &mut into[n..];
            at += n as u64;
        }
        Ok(len)
    }

    /// Opens one chunk, if it is not at hand, and shows it.
    fn with_chunk<T>(&self, index: u64, see: impl FnOnce(&[u8]) -> T) -> Result<T, Error> {
        // A panic under the lock leaves a buffer that is only trusted where `index` names it.
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let Recent { index: held, plain, sealed } = &mut *recent;
        if *held != Some(index) {
            *held = None;
            let span = self.plan.span(index..index + 1);
            sealed.resize(span.sealed_len(), 0);
            plain.resize(span.plain_len(), 0);
            self.source.read_exact_at(span.sealed.start, sealed)?;
            open_chunks(&*self.keys, &span, sealed, plain)?;
            *held = Some(index);
        }
        Ok(see(plain))
    }

    /// Opens whole chunks straight into `into`.
    fn read_chunks(&self, chunks: Range<u64>, into: &mut [u8]) -> Result<(), Error> {
        let threads = if into.len() < WORTH_THREADS { 1 } else { threads(None) };
        let step = self.plan.layout.chunks_in(JOB_LEN);
        let mut rest = into;
        let mut parts = Vec::new();
        for first in chunks.clone().step_by(step as usize) {
            let job = self.plan.span(first..chunks.end.min(first + step));
            let (part, after) = rest.split_at_mut(job.plain_len());
            parts.push(Mutex::new((job, part)));
            rest = after;
        }
        join(
            threads,
            parts.len() as u64,
            Vec::new,
            |at, sealed: &mut Vec<u8>| {
                let mut part = parts[at as usize].lock().unwrap_or_else(PoisonError::into_inner);
                let (job, plain) = &mut *part;
                sealed.resize(job.sealed_len(), 0);
                self.source.read_exact_at(job.sealed.start, sealed)?;
                open_chunks(&*self.keys, job, sealed, plain)
            },
            || Ok(()),
        )
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

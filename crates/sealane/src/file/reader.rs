//! Random access: any range out of the middle of an encrypted file.

use super::chunked::{CHUNK_LEN, Chunked, HEADER_LEN, TAG_LEN};
use crate::engine::io::ReadAt;
use crate::engine::join::{join, threads};
use crate::engine::pipeline::{Chunks, open_chunks};
use crate::engine::plan::{CHUNKS_PER_JOB, Plan};
use crate::{Error, Key};
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroizing;

/// Below this many bytes a second thread costs more than it brings.
const WORTH_THREADS: usize = 4 << 20;

/// An encrypted file that can be read anywhere. May be shared between threads.
///
/// Every byte it returns was verified; the last chunk was verified before its size is believed.
pub struct Reader<S> {
    source: S,
    chunked: Chunked,
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
    /// [`Error::Authentication`], [`Error::Truncated`], [`Error::Io`], [`crate::Misuse::KeyLength`].
    pub fn new(source: S, key: &Key, context: &[u8]) -> Result<Self, Error> {
        let mut header = [0; HEADER_LEN];
        let size = source.size()?;
        if size < HEADER_LEN as u64 {
            return Err(Error::Truncated);
        }
        source.read_exact_at(0, &mut header)?;
        let chunked = Chunked::open(key, context, &header)?;
        let plan = Chunked::LAYOUT.plan_sealed(size)?;
        let recent =
            Recent { index: None, plain: Zeroizing::new(Vec::with_capacity(CHUNK_LEN)), sealed: Vec::new() };
        let reader = Self { source, chunked, plan, recent: Mutex::new(recent), position: 0 };
        reader.with_chunk(plan.chunks() - 1, |_| ())?;
        Ok(reader)
    }

    /// Bytes of plaintext.
    pub fn size(&self) -> u64 {
        self.plan.plain_len
    }

    /// What is read from.
    pub fn source(&self) -> &S {
        &self.source
    }

    pub(crate) fn chunked(&self) -> &Chunked {
        &self.chunked
    }

    pub(crate) fn plan(&self) -> Plan {
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
            let (index, skip) = (at / CHUNK_LEN as u64, (at % CHUNK_LEN as u64) as usize);
            let whole = into.len() / CHUNK_LEN;
            let n = if skip == 0 && whole > 0 {
                self.read_chunks(index, &mut into[..whole * CHUNK_LEN])?;
                whole * CHUNK_LEN
            } else {
                let n = into.len().min(CHUNK_LEN - skip);
                self.with_chunk(index, |plain| into[..n].copy_from_slice(&plain[skip..][..n]))?;
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
            self.chunked.open(index, sealed, plain)?;
            *held = Some(index);
        }
        Ok(see(plain))
    }

    /// Opens full chunks straight into `into`.
    fn read_chunks(&self, first: u64, into: &mut [u8]) -> Result<(), Error> {
        let threads = if into.len() < WORTH_THREADS { 1 } else { threads(None) };
        let job_len = CHUNKS_PER_JOB as usize * CHUNK_LEN;
        let parts: Vec<_> = into.chunks_mut(job_len).map(Mutex::new).collect();
        join(
            threads,
            parts.len() as u64,
            Vec::new,
            |at, sealed: &mut Vec<u8>| {
                let mut plain = parts[at as usize].lock().unwrap_or_else(PoisonError::into_inner);
                let first = first + at * CHUNKS_PER_JOB;
                let chunks = (plain.len() / CHUNK_LEN) as u64;
                let span = self.plan.span(first..first + chunks);
                sealed.resize(plain.len() + chunks as usize * TAG_LEN, 0);
                self.source.read_exact_at(span.sealed.start, sealed)?;
                open_chunks(&self.chunked, first, sealed, &mut plain)
            },
            || Ok(()),
        )
    }
}

impl<S: ReadAt> Read for Reader<S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.read_at(self.position, into).map_err(into_io)?;
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

/// For callers that speak [`io::Error`] only; the typed error is inside.
fn into_io(error: Error) -> io::Error {
    match error {
        Error::Io { path: None, source } => source,
        other => io::Error::new(io::ErrorKind::InvalidData, other),
    }
}

impl<S> std::fmt::Debug for Reader<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("size", &self.plan.plain_len).finish_non_exhaustive()
    }
}

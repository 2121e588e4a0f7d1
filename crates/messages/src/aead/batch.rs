//! Many messages in one call: lists, and packed messages like an Arrow column.
//!
//! *Packed* messages lie one after the other in one buffer: message `i` is
//! `data[offsets[i]..offsets[i + 1]]`, so `n` messages have `n + 1` offsets.
//!
//! A call per message of 64 bytes costs more than the cipher: a nonce, checks, a dynamic call and
//! often an allocation. A batch draws its nonces at once and makes one dynamic call per [`GROUP`].
//! Large batches are cut into jobs for the threads of the pool. Messages of a keyring are opened in
//! groups if one key sealed them all, one by one otherwise.

use super::key::{Direction, GROUP, in_batch};
use super::keys::{MessageKeys, Prefixed};
use super::packed::{self, Offset, Packed, data_range, index_of, packed_len};
use crate::prelude::*;
use base::parallel::{Workers, run_parts};
use std::sync::Mutex;

impl MessageKeys {
    /// Seals each message under a fresh random nonce, with the associated data of the same index,
    /// if any.
    ///
    /// # Errors
    /// Returns [`Error::InBatch`] with the error of [`Self::seal`] for the first message that
    /// fails, [`Misuse::CountPerMessage`] if `aads` and `messages` differ in length, and
    /// [`Error::Io`] if the operating system returns no random bytes.
    ///
    /// ```
    /// use sealane::{Aead, Algorithm, Key};
    ///
    /// let aead = Aead::new(Algorithm::Aes256Gcm, &Key::generate(32)?)?;
    /// let sealed = aead.seal_many(&[b"one", b"two"], None)?;
    /// let sealed: Vec<&[u8]> = sealed.iter().map(|sealed| &sealed[..]).collect();
    /// assert_eq!(aead.open_many(&sealed, None)?, [b"one", b"two"]);
    /// # Ok::<(), sealane::Error>(())
    /// ```
    pub fn seal_many(&self, messages: &[&[u8]], aads: Option<&[&[u8]]>) -> Result<Vec<Vec<u8>>> {
        let lens = messages.iter().map(|message| message.len() + self.overhead());
        each_fresh(lens, |out| self.seal_many_into(messages, aads, out))
    }

    /// Opens each message, with the associated data of the same index, if any.
    ///
    /// # Errors
    /// Returns [`Error::InBatch`] with the error of [`Self::open`] for the first message that
    /// fails, and no plaintext; also [`Misuse::CountPerMessage`], as [`Self::seal_many`] does.
    pub fn open_many(&self, sealed: &[&[u8]], aads: Option<&[&[u8]]>) -> Result<Vec<Vec<u8>>> {
        let Some(key) = self.common(sealed.iter().copied()) else {
            return self.open_each(sealed, batch_aad(aads, sealed.len())?);
        };
        let lens = sealed.iter().map(|sealed| sealed.len().saturating_sub(key.overhead()));
        each_fresh(lens, |out| key.open_list(sealed, batch_aad(aads, sealed.len())?, out))
    }

    /// Seals like [`Self::seal_many`], into buffers of exactly the right lengths.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal_many`], and [`Misuse::OutputLength`] or
    /// [`Misuse::CountPerMessage`] for a wrong length or number of buffers. After an error, `out`
    /// is unchanged or zero.
    pub fn seal_many_into(
        &self,
        messages: &[&[u8]],
        aads: Option<&[&[u8]]>,
        out: &mut [&mut [u8]],
    ) -> Result<()> {
        let (key, aad) = (&self.first, batch_aad(aads, messages.len())?);
        key.check_list(messages, aad, out, |len| Some(len + key.overhead()))?;
        let nonces = key.key.batch_nonces(messages.len())?;
        Batch { prefixed: key, direction: Direction::Seal(&nonces), aad }.list(messages, out)
    }

    /// Opens like [`Self::open_many`], into buffers of exactly the plaintexts' lengths.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open_many`] and of [`Self::seal_many_into`]. After an error,
    /// `out` is unchanged or zero.
    pub fn open_many_into(
        &self,
        sealed: &[&[u8]],
        aads: Option<&[&[u8]]>,
        out: &mut [&mut [u8]],
    ) -> Result<()> {
        let aad = batch_aad(aads, sealed.len())?;
        if let Some(key) = self.common(sealed.iter().copied()) {
            return key.open_list(sealed, aad, out);
        }
        counted("an output buffer", out.len(), sealed.len())?;
        let opened = Zeroizing::new(self.open_each(sealed, aad)?);
        for (index, (opened, out)) in opened.iter().zip(&*out).enumerate() {
            let (got, want) = (out.len(), opened.len());
            if got != want {
                return Err(in_batch(index, Misuse::OutputLength { got, want }.into()));
            }
        }
        opened.iter().zip(out).for_each(|(opened, out)| out.copy_from_slice(opened));
        Ok(())
    }

    /// Seals the packed messages `data[offsets[i]..offsets[i + 1]]`, each under a fresh random
    /// nonce, all with the same associated data. Returns the packed results and their offsets.
    ///
    /// # Errors
    /// Returns [`Misuse::Offsets`] if `offsets` do not describe messages in `data`,
    /// [`Error::LimitExceeded`] if the offsets of the result exceed their type, and the errors of
    /// [`Self::seal_many`].
    ///
    /// ```
    /// use sealane::{Aead, Algorithm, Key};
    ///
    /// let aead = Aead::new(Algorithm::Aes256Gcm, &Key::generate(32)?)?;
    /// let (sealed, offsets) = aead.seal_packed(b"onetwo", &[0, 3, 6], b"column 1")?;
    /// assert_eq!(offsets, [0, 31, 62]);
    /// assert_eq!(aead.open_packed(&sealed, &offsets, b"column 1")?, (b"onetwo".to_vec(), vec![0, 3, 6]));
    /// # Ok::<(), sealane::Error>(())
    /// ```
    pub fn seal_packed<O: Offset>(&self, data: &[u8], offsets: &[O], aad: &[u8]) -> Result<Packed<O>> {
        let out_offsets = self.sealed_offsets(offsets, data.len())?;
        let mut out = memory::zeroed(packed_len(&out_offsets))?;
        self.seal_packed_into(data, offsets, aad, &mut out)?;
        Ok((out, out_offsets))
    }

    /// Opens packed messages with the same associated data. Returns the packed plaintexts and their
    /// offsets.
    ///
    /// # Errors
    /// Returns [`Error::InBatch`] with [`Error::Authentication`] for the first message that is not
    /// authentic, and no plaintext; also [`Misuse::Offsets`], as [`Self::seal_packed`] does.
    pub fn open_packed<O: Offset>(&self, data: &[u8], offsets: &[O], aad: &[u8]) -> Result<Packed<O>> {
        let Some(key) = self.common_packed(data, offsets)? else {
            return self.open_each_packed(data, offsets, aad);
        };
        let out_offsets = packed::shorter(offsets, data.len(), key.overhead())?;
        let mut out = memory::zeroed(packed_len(&out_offsets))?;
        key.open_packed_into(data, offsets, aad, &mut out)?;
        Ok((out, out_offsets))
    }

    /// Returns the offsets of the sealed messages, for packed messages in `len` bytes of data. The
    /// last one is the length of the result of [`Self::seal_packed_into`].
    ///
    /// # Errors
    /// Returns [`Misuse::Offsets`] and [`Error::LimitExceeded`], as [`Self::seal_packed`] does.
    pub fn sealed_offsets<O: Offset>(&self, offsets: &[O], len: usize) -> Result<Vec<O>> {
        packed::longer(offsets, len, self.overhead())
    }

    /// Returns the offsets of the plaintexts, for packed sealed messages in `len` bytes of data.
    /// The last one is the length of the result of [`Self::open_packed_into`]. A keyring assumes
    /// that its primary key sealed the messages.
    ///
    /// # Errors
    /// Returns [`Misuse::Offsets`], as [`Self::open_packed`] does, and [`Error::InBatch`] with
    /// [`Error::Authentication`] for the first message that is too short to be authentic.
    pub fn opened_offsets<O: Offset>(&self, offsets: &[O], len: usize) -> Result<Vec<O>> {
        packed::shorter(offsets, len, self.overhead())
    }

    /// Seals packed messages into the start of `out`; [`Self::sealed_offsets`] gives the length.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal_packed`] and [`Misuse::OutputTooShort`]. After an error,
    /// `out` is unchanged or zero.
    pub fn seal_packed_into<O: Offset>(
        &self,
        data: &[u8],
        offsets: &[O],
        aad: &[u8],
        out: &mut [u8],
    ) -> Result<()> {
        let range = data_range(offsets, data.len())?;
        let count = offsets.len() - 1;
        let need = count.saturating_mul(self.overhead()).saturating_add(range.len());
        let out = memory::first(out, need)?;
        let key = &self.first;
        key.check_packed(aad, offsets, 0)?;
        let nonces = key.key.batch_nonces(count)?;
        let direction = Direction::Seal(&nonces);
        Batch { prefixed: key, direction, aad: BatchAad::Shared(aad) }.packed(data, offsets, out)
    }

    /// Opens packed messages into the start of `out`; [`Self::opened_offsets`] gives the length.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open_packed`] and [`Misuse::OutputTooShort`]. After an error,
    /// `out` is unchanged or zero.
    pub fn open_packed_into<O: Offset>(
        &self,
        data: &[u8],
        offsets: &[O],
        aad: &[u8],
        out: &mut [u8],
    ) -> Result<()> {
        if let Some(key) = self.common_packed(data, offsets)? {
            return key.open_packed_into(data, offsets, aad, out);
        }
        let plain = Zeroizing::new(self.open_each_packed(data, offsets, aad)?.0);
        memory::first(out, plain.len())?.copy_from_slice(&plain);
        Ok(())
    }

    /// Returns the key of all packed messages, if one key sealed them all.
    fn common_packed<O: Offset>(&self, data: &[u8], offsets: &[O]) -> Result<Option<&Prefixed>> {
        data_range(offsets, data.len())?;
        let messages = offsets.windows(2).map(|pair| &data[index_of(pair[0])..index_of(pair[1])]);
        Ok(self.common(messages))
    }
}

impl Prefixed {
    /// Opens a list of messages of this key.
    fn open_list(&self, sealed: &[&[u8]], aad: BatchAad<'_>, out: &mut [&mut [u8]]) -> Result<()> {
        self.check_list(sealed, aad, out, |len| len.checked_sub(self.overhead()))?;
        Batch { prefixed: self, direction: Direction::Open, aad }.list(sealed, out)
    }

    /// Opens packed messages of this key.
    fn open_packed_into<O: Offset>(
        &self,
        data: &[u8],
        offsets: &[O],
        aad: &[u8],
        out: &mut [u8],
    ) -> Result<()> {
        packed::check_sealed(offsets, data.len(), self.overhead())?;
        let batch = Batch { prefixed: self, direction: Direction::Open, aad: BatchAad::Shared(aad) };
        let out = memory::first(out, batch.result_len(offsets))?;
        self.check_packed(aad, offsets, self.overhead())?;
        batch.packed(data, offsets, out)
    }

    /// Checks the number and lengths of the outputs of a list. `result_len` maps the length of a
    /// message to the length of its result, or to `None` if the message is too short to be
    /// authentic.
    fn check_list(
        &self,
        messages: &[&[u8]],
        aad: BatchAad<'_>,
        out: &[&mut [u8]],
        result_len: impl Fn(usize) -> Option<usize>,
    ) -> Result<()> {
        counted("an output buffer", out.len(), messages.len())?;
        for (index, (message, out)) in messages.iter().zip(out).enumerate() {
            let (got, want) = (out.len(), result_len(message.len()));
            let checked = want.ok_or(Error::Authentication).and_then(|want| {
                self.key.check_lens(aad.of(index).len(), message.len().min(want))?;
                if got == want { Ok(()) } else { Err(Misuse::OutputLength { got, want }.into()) }
            });
            checked.map_err(|error| in_batch(index, error))?;
        }
        Ok(())
    }

    /// Checks the lengths of packed messages, `overhead` bytes longer than their plaintexts, and of
    /// their associated data.
    fn check_packed<O: Offset>(&self, aad: &[u8], offsets: &[O], overhead: usize) -> Result<()> {
        self.key.check_lens(aad.len(), 0)?;
        // Look at each message only if one could be too long.
        if packed_len(offsets) as u64 > self.key.max_plaintext_len() {
            for (index, pair) in offsets.windows(2).enumerate() {
                let len = index_of(pair[1]) - index_of(pair[0]) - overhead;
                self.key.check_lens(0, len).map_err(|error| in_batch(index, error))?;
            }
        }
        Ok(())
    }
}

/// Messages of one key, with their direction and associated data.
struct Batch<'a> {
    prefixed: &'a Prefixed,
    direction: Direction<'a>,
    aad: BatchAad<'a>,
}

impl Batch<'_> {
    /// Processes a list after its lengths were checked.
    fn list(&self, from: &[&[u8]], to: &mut [&mut [u8]]) -> Result<()> {
        let bytes = from.iter().map(|message| message.len()).sum();
        let job_len = packed::job_len(self.prefixed.key.threads, from.len(), bytes);
        let result = if job_len >= from.len() {
            self.groups(0, from, to)
        } else {
            let mut parts = memory::with_capacity(from.len().div_ceil(job_len))?;
            parts.extend(from.chunks(job_len).zip(to.chunks_mut(job_len)).map(Mutex::new));
            run_parts(self.workers(), &parts, |job, (from, to), _| self.groups(job * job_len, from, to))
        };
        if result.is_err() {
            to.iter_mut().for_each(|out| out.fill(0));
        }
        result
    }

    fn workers(&self) -> Workers {
        Workers::Pooled(self.prefixed.key.threads.map_or(usize::MAX, NonZeroUsize::get))
    }

    /// Processes messages of a list, from index `first` of the batch.
    fn groups(&self, first: usize, from: &[&[u8]], to: &mut [&mut [u8]]) -> Result<()> {
        for (group, (from, to)) in from.chunks(GROUP).zip(to.chunks_mut(GROUP)).enumerate() {
            self.group(first + group * GROUP, from, to)?;
        }
        Ok(())
    }

    /// Processes at most [`GROUP`] messages.
    fn group(&self, first: usize, from: &[&[u8]], to: &mut [&mut [u8]]) -> Result<()> {
        match &self.prefixed.prefix {
            None => self.prefixed.key.group(self.direction, self.aad, first, from, to),
            Some(prefix) => self.prefixed_group(prefix, first, from, to),
        }
    }

    /// Processes at most [`GROUP`] messages with a prefix.
    #[inline(never)]
    fn prefixed_group(
        &self,
        prefix: &[u8],
        first: usize,
        from: &[&[u8]],
        to: &mut [&mut [u8]],
    ) -> Result<()> {
        if let Direction::Open = self.direction {
            let mut bodies = [&[][..]; GROUP];
            for (body, from) in bodies.iter_mut().zip(from) {
                *body = &from[prefix.len()..];
            }
            return self.prefixed.key.group(self.direction, self.aad, first, &bodies[..from.len()], to);
        }
        let mut bodies: [&mut [u8]; GROUP] = std::array::from_fn(|_| Default::default());
        for (body, to) in bodies.iter_mut().zip(to) {
            let slot;
            (slot, *body) = to.split_at_mut(prefix.len());
            slot.copy_from_slice(prefix);
        }
        self.prefixed.key.group(self.direction, self.aad, first, from, &mut bodies[..from.len()])
    }

    /// Processes packed messages after their offsets and lengths were checked. `out` has exactly
    /// the length of the result.
    fn packed<O: Offset>(&self, data: &[u8], offsets: &[O], out: &mut [u8]) -> Result<()> {
        let count = offsets.len() - 1;
        let job_len = packed::job_len(
            self.prefixed.key.threads,
            count,
            index_of(offsets[count]) - index_of(offsets[0]),
        );
        let result = if job_len >= count {
            self.packed_part(data, 0, offsets, out)
        } else {
            let mut parts = memory::with_capacity(count.div_ceil(job_len))?;
            let mut rest = &mut *out;
            for first in (0..count).step_by(job_len) {
                let offsets = &offsets[first..=count.min(first + job_len)];
                let (part, after) = rest.split_at_mut(self.result_len(offsets));
                parts.push(Mutex::new((offsets, part)));
                rest = after;
            }
            run_parts(self.workers(), &parts, |job, (offsets, out), _| {
                self.packed_part(data, job * job_len, offsets, out)
            })
        };
        if result.is_err() {
            out.fill(0);
        }
        result
    }

    /// Returns the length of the packed results.
    #[inline]
    fn result_len<O: Offset>(&self, offsets: &[O]) -> usize {
        let count = offsets.len() - 1;
        let len = index_of(offsets[count]) - index_of(offsets[0]);
        match self.direction {
            Direction::Seal(_) => len + count * self.prefixed.overhead(),
            Direction::Open => len - count * self.prefixed.overhead(),
        }
    }

    /// Processes packed messages, from index `first` of the batch.
    fn packed_part<O: Offset>(
        &self,
        data: &[u8],
        first: usize,
        offsets: &[O],
        mut out: &mut [u8],
    ) -> Result<()> {
        let count = offsets.len() - 1;
        for at in (0..count).step_by(GROUP) {
            let offsets = &offsets[at..=count.min(at + GROUP)];
            let len = offsets.len() - 1;
            let mut from = [&[][..]; GROUP];
            let mut to: [&mut [u8]; GROUP] = std::array::from_fn(|_| Default::default());
            for ((from, to), pair) in from.iter_mut().zip(&mut to).zip(offsets.windows(2)) {
                *from = &data[index_of(pair[0])..index_of(pair[1])];
                (*to, out) = std::mem::take(&mut out).split_at_mut(self.result_len(pair));
            }
            self.group(first + at, &from[..len], &mut to[..len])?;
        }
        Ok(())
    }
}

/// Returns the associated data of a list of `count` messages.
///
/// # Errors
/// Returns [`Misuse::CountPerMessage`] unless there is one per message.
fn batch_aad<'a>(aads: Option<&'a [&'a [u8]]>, count: usize) -> Result<BatchAad<'a>, Misuse> {
    counted("associated data", aads.map_or(count, <[_]>::len), count)?;
    Ok(aads.map_or(BatchAad::Shared(b""), BatchAad::Each))
}

fn counted(part: &'static str, got: usize, want: usize) -> Result<(), Misuse> {
    if got == want { Ok(()) } else { Err(Misuse::CountPerMessage { part, got, want }) }
}

/// Returns new buffers of these lengths, filled by `fill`.
fn each_fresh(
    lens: impl ExactSizeIterator<Item = usize>,
    fill: impl FnOnce(&mut [&mut [u8]]) -> Result<()>,
) -> Result<Vec<Vec<u8>>> {
    let mut results: Vec<Vec<u8>> = memory::with_capacity(lens.len())?;
    for len in lens {
        results.push(memory::zeroed(len)?);
    }
    let mut out = memory::with_capacity(results.len())?;
    out.extend(results.iter_mut().map(|result| &mut result[..]));
    fill(&mut out)?;
    Ok(results)
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::{Aead, Key};
    use providers::Algorithm;

    #[test]
    fn offsets_of_results_that_do_not_fit() {
        let aead = Aead::new(Algorithm::Aes256Gcm, &Key::from_bytes(&[1; 32])).unwrap();
        // Memory of this length does not exist, and is not read.
        let max = i32::MAX;
        let exceeds = |offsets: &[i32]| aead.sealed_offsets(offsets, usize::MAX);
        assert!(
            matches!(exceeds(&[0, max - 27]), Err(Error::LimitExceeded(text)) if text.contains("64-bit"))
        );
        assert_eq!(exceeds(&[0, max - 28]).unwrap(), [0, max]);
        assert_eq!(exceeds(&[56, 58, max]).unwrap(), [0, 30, max]);
        let wide = [0, i64::from(max)];
        assert_eq!(aead.sealed_offsets(&wide, usize::MAX).unwrap(), [0, i64::from(max) + 28]);
        let error = aead.sealed_offsets(&[0, i64::MAX - 3], usize::MAX);
        assert!(matches!(error, Err(Error::LimitExceeded(text)) if text.contains("address space")));
    }

    #[test]
    fn the_limit_is_that_of_the_plaintext() {
        let aead = Aead::new(Algorithm::Aes256Gcm, &Key::from_bytes(&[1; 32])).unwrap();
        let max = aead.max_plaintext_len() as i64;
        for overhead in [0, aead.overhead()] {
            let check = |last: i64| aead.first.check_packed(b"", &[7, 100, last], overhead);
            let longest = 100 + overhead as i64 + max;
            check(longest).unwrap();
            let error = check(longest + 1).unwrap_err();
            let Error::InBatch { index: 1, source } = error else { panic!("{error}") };
            assert!(matches!(*source, Error::MessageLength { found, .. } if found == max as u128 + 1));
        }
    }
}

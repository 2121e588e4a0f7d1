//! Offsets of packed messages, and jobs over them.
//!
//! *Packed* messages lie one after the other in one buffer: message `i` is
//! `data[offsets[i]..offsets[i + 1]]`, so `n` messages have `n + 1` offsets.

use super::key::in_batch;
use crate::prelude::*;
use base::error::OffsetProblem;
use base::parallel::PARALLEL_LEN;
use std::ops::Range;

/// Fixed cost of a message, in bytes that take as long: 25 ns for a message of 16 bytes, and 172 to
/// 215 ns for one of 1 KiB (measured, `lab/record/batches-zen4-2026-11-23.md`).
const MESSAGE_COST: usize = 128;
/// Cost of a batch, in bytes, from which on a helper pays off.
const PARALLEL_COST: usize = PARALLEL_LEN;
/// Cost of a job, in bytes; small, so that threads end at about the same time.
const JOB_COST: usize = 64 << 10;

/// An offset of packed messages: `i32` or `i64`, as in Arrow's binary and large binary columns.
pub trait Offset: Copy + Send + Sync + sealed::Sealed {}

impl Offset for i32 {}
impl Offset for i64 {}

/// Packed messages and their offsets.
pub(super) type Packed<O> = (Vec<u8>, Vec<O>);

mod sealed {
    pub trait Sealed: Into<i64> + TryFrom<i64> + PartialOrd {
        /// Names the limit in the error of a result beyond it.
        const LIMIT: &'static str;
    }

    impl Sealed for i32 {
        const LIMIT: &'static str = "the result exceeds 2^31 - 1 bytes, which 32-bit offsets reach; use 64-bit offsets, or fewer messages in a call";
    }

    impl Sealed for i64 {
        const LIMIT: &'static str = "the result exceeds the address space of this machine";
    }
}

/// Returns the offsets of the results for packed messages in `len` bytes of data, each `overhead`
/// bytes longer.
pub(super) fn longer<O: Offset>(offsets: &[O], len: usize, overhead: usize) -> Result<Vec<O>> {
    let range = data_range(offsets, len)?;
    let overhead = overhead as i64;
    let added = (offsets.len() as i64 - 1).checked_mul(overhead);
    let total = added.and_then(|added| added.checked_add(range.len() as i64));
    if total.is_none_or(|total| O::try_from(total).is_err() || isize::try_from(total).is_err()) {
        return Err(Error::LimitExceeded(O::LIMIT));
    }
    shifted(offsets, overhead)
}

/// Returns the offsets of the results for packed messages in `len` bytes of data, each `overhead`
/// bytes shorter.
pub(super) fn shorter<O: Offset>(offsets: &[O], len: usize, overhead: usize) -> Result<Vec<O>> {
    check_sealed(offsets, len, overhead)?;
    shifted(offsets, -(overhead as i64))
}

/// Checks the offsets of packed messages of at least `overhead` bytes each, in `len` bytes of data.
pub(super) fn check_sealed<O: Offset>(offsets: &[O], len: usize, overhead: usize) -> Result<()> {
    data_range(offsets, len)?;
    let overhead = overhead as i64;
    let short = offsets.windows(2).position(|pair| pair[1].into() - pair[0].into() < overhead);
    short.map_or(Ok(()), |index| Err(in_batch(index, Error::Authentication)))
}

/// Returns the number of messages per job: all of them if one thread is best.
pub(super) fn job_len(threads: Option<NonZeroUsize>, count: usize, bytes: usize) -> usize {
    let cost = count.saturating_mul(MESSAGE_COST).saturating_add(bytes);
    if cost < PARALLEL_COST || threads == Some(NonZeroUsize::MIN) {
        return count.max(1);
    }
    (JOB_COST / (cost / count.max(1)).max(1)).max(1)
}

/// Checks the offsets of packed messages in `len` bytes of data. Returns the range that they cover.
pub(super) fn data_range<O: Offset>(offsets: &[O], len: usize) -> Result<Range<usize>, Misuse> {
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
        return Err(Misuse::Offsets(OffsetProblem::Missing));
    };
    if first.into() < 0 {
        return Err(Misuse::Offsets(OffsetProblem::Negative { found: first.into() }));
    }
    if !offsets.is_sorted() {
        let index = offsets.windows(2).position(|pair| pair[1] < pair[0]).map_or(0, |before| before + 1);
        let (found, previous) = (offsets[index].into(), offsets[index.saturating_sub(1)].into());
        return Err(Misuse::Offsets(OffsetProblem::Decreasing { index, found, previous }));
    }
    match usize::try_from(last.into()) {
        Ok(last) if last <= len => Ok(index_of(first)..last),
        // The conversion fails for offsets beyond the address space; `len` is within it.
        _ => Err(Misuse::Offsets(OffsetProblem::PastEnd { found: last.into(), len })),
    }
}

/// Converts an offset that was checked to lie in the data.
#[inline]
pub(super) fn index_of<O: Offset>(offset: O) -> usize {
    let offset: i64 = offset.into();
    offset as usize
}

/// Returns the length of packed messages: their last offset.
pub(super) fn packed_len<O: Offset>(offsets: &[O]) -> usize {
    offsets.last().map_or(0, |&last| index_of(last))
}

/// Returns offsets from 0 on, for messages that become `by` bytes longer or (negative) shorter. All
/// of them fit.
fn shifted<O: Offset>(offsets: &[O], by: i64) -> Result<Vec<O>> {
    let mut shifted = memory::with_capacity(offsets.len())?;
    let first: i64 = offsets.first().map_or(0, |&first| first.into());
    for (index, &offset) in offsets.iter().enumerate() {
        let offset: i64 = offset.into();
        let moved = offset - first + by * index as i64;
        // The last and largest offset was checked, so no conversion fails.
        shifted.push(O::try_from(moved).map_err(|_| Error::LimitExceeded(O::LIMIT))?);
    }
    Ok(shifted)
}

/// Converts the position of a result. It fits, because it is not after the position of its message.
pub(super) fn offset<O: Offset>(at: usize) -> Result<O> {
    // The conversion cannot fail.
    O::try_from(at as i64).map_err(|_| Error::LimitExceeded(O::LIMIT))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn jobs_have_a_cost_that_depends_on_the_messages() {
        assert_eq!(job_len(None, 0, 0), 1);
        assert_eq!(job_len(None, 2000, 64 * 2000), 2000);
        assert_eq!(job_len(None, 10_000, 640_000), 341);
        assert_eq!(job_len(None, 20, 20 << 20), 1);
        assert_eq!(job_len(Some(NonZeroUsize::MIN), 10_000, 640_000), 10_000);
    }

    /// The data is not read, so it need not exist.
    #[test]
    fn offsets_that_exceed_their_type_are_refused() {
        let len = i32::MAX as usize;
        assert_eq!(longer(&[0, i32::MAX - 28], len, 28).unwrap(), [0, i32::MAX]);
        let refused = longer(&[0, i32::MAX - 27], len, 28);
        assert!(matches!(refused, Err(Error::LimitExceeded(<i32 as sealed::Sealed>::LIMIT))), "{refused:?}");
        let refused = longer(&[0, i64::MAX - 27], usize::MAX, 28);
        assert!(matches!(refused, Err(Error::LimitExceeded(<i64 as sealed::Sealed>::LIMIT))), "{refused:?}");
    }
}

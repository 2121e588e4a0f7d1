//! One message on several threads, cut into segments that are processed in parallel.
//!
//! A segment has the keystream at its offset, and its own sum of the authenticator, which begins
//! with zero. GHASH and Poly1305 are polynomials, so the sums are combined afterwards: for segments
//! of n blocks with the sums S(1), S(2), …
//!
//! ```text
//! S = (…((S(0)·H^n + S(1))·H^n + S(2))·H^n + …)        S(0) is the sum of the associated data
//! ```
//!
//! The bytes are those of the message on one thread. This crate starts no threads; the caller
//! passes them as [`Threads`]. Without the feature `std` there is no lock that threads could share,
//! and the calling thread processes all segments.
#![forbid(unsafe_code)]

use crate::zero::wipe;
use crate::{InOut, Parts};
use alloc::vec::Vec;
#[cfg(not(feature = "std"))]
use core::cell::{RefCell, RefMut};
#[cfg(feature = "std")]
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Threads for the segments of one message.
pub trait Threads {
    /// Returns the length in bytes that the segments of a message of `len` bytes should have. It is
    /// rounded up to a multiple of 4096. One segment is processed on the calling thread.
    fn segment_len(&self, len: usize) -> usize;

    /// Calls `work` with each number below `segments`, on any threads and in any order, and returns
    /// when no call runs any more. The calling thread processes the segments of numbers that
    /// were left out.
    fn run(&self, segments: usize, work: &(dyn Fn(usize) + Sync));
}

/// All segments begin at a multiple of this number of bytes, with the counter byte of the message
/// (see `first_round`) and at a block of every cipher.
const MULTIPLE: usize = 4096;

/// The sum of a segment: a POLYVAL element in two words, or a Poly1305 accumulator in three.
pub(crate) type Sum = [u64; 3];

/// A segment waiting for its thread, or its sum. Wiped from memory on drop.
struct Segment<D> {
    data: Option<D>,
    sum: Sum,
}

/// A segment that one thread at a time may use.
#[cfg(feature = "std")]
type Slot<D> = Mutex<Segment<D>>;
#[cfg(not(feature = "std"))]
type Slot<D> = RefCell<Segment<D>>;

impl<D> Segment<D> {
    fn waiting(data: D) -> Slot<D> {
        Slot::new(Self { data: Some(data), sum: [0; 3] })
    }
}

#[cfg(feature = "std")]
fn lock<D>(slot: &Slot<D>) -> MutexGuard<'_, Segment<D>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(not(feature = "std"))]
fn lock<D>(slot: &Slot<D>) -> RefMut<'_, Segment<D>> {
    slot.borrow_mut()
}

impl<D> Drop for Segment<D> {
    fn drop(&mut self) {
        wipe(&mut self.sum);
    }
}

/// Returns the length of the segments of a message, or `None` if one thread should process it.
pub(crate) fn segment_len(threads: &dyn Threads, len: usize) -> Option<usize> {
    let segment_len = threads.segment_len(len).max(1).checked_next_multiple_of(MULTIPLE)?;
    (segment_len < len).then_some(segment_len)
}

/// Calls `work` for each segment with its offset and its data, on several threads. Then calls
/// `combine` with the length and the sum of each segment, in their order.
pub(crate) fn process(
    threads: &dyn Threads,
    segment_len: usize,
    data: InOut<'_>,
    work: impl Fn(usize, InOut<'_>, &mut Sum) + Sync,
    mut combine: impl FnMut(usize, &Sum),
) {
    let len = data.len();
    let segments: Vec<_> = match data.into_parts() {
        Parts::InPlace(data) => {
            data.chunks_mut(segment_len).map(|data| Segment::waiting(Parts::InPlace(data))).collect()
        }
        Parts::Apart(from, to) => {
            let pairs = from.chunks(segment_len).zip(to.chunks_mut(segment_len));
            pairs.map(|(from, to)| Segment::waiting(Parts::Apart(from, to))).collect()
        }
    };
    let work = |number, data: Parts<'_>, sum: &mut Sum| match data {
        Parts::InPlace(data) => work(number * segment_len, InOut::in_place(data), sum),
        Parts::Apart(from, to) => work(number * segment_len, InOut::apart(from, to), sum),
    };
    run(threads, &segments, work, |number, sum| combine(segment_len.min(len - number * segment_len), sum));
}

/// Calls `work` for each segment of data that is only read, on several threads. Then calls
/// `combine` as [`process`] does.
pub(crate) fn process_read_only(
    threads: &dyn Threads,
    segment_len: usize,
    data: &[u8],
    work: impl Fn(&[u8], &mut Sum) + Sync,
    mut combine: impl FnMut(usize, &Sum),
) {
    let segments: Vec<_> = data.chunks(segment_len).map(Segment::waiting).collect();
    run(
        threads,
        &segments,
        |_, data, sum| work(data, sum),
        |number, sum| {
            combine(segment_len.min(data.len() - number * segment_len), sum);
        },
    );
}

/// Calls `work` with the number, the data and the sum of each segment, then `combine` with each
/// number and its sum.
fn run<D: Send>(
    threads: &dyn Threads,
    segments: &[Slot<D>],
    work: impl Fn(usize, D, &mut Sum) + Sync,
    mut combine: impl FnMut(usize, &Sum),
) {
    let work_on = |number: usize| {
        let Some(segment) = segments.get(number) else { return };
        let mut segment = lock(segment);
        let Segment { data, sum } = &mut *segment;
        if let Some(data) = data.take() {
            work(number, data, sum);
        }
    };
    #[cfg(feature = "std")]
    threads.run(segments.len(), &work_on);
    #[cfg(not(feature = "std"))]
    let _ = threads;
    for (number, segment) in segments.iter().enumerate() {
        work_on(number);
        combine(number, &lock(segment).sum);
    }
}

/// Calls `work` for each segment with its offset and its data, on several threads. A short message
/// is one segment.
pub fn each(threads: &dyn Threads, data: InOut<'_>, work: impl Fn(usize, InOut<'_>) + Sync) {
    match segment_len(threads, data.len()) {
        Some(segment_len) => process(threads, segment_len, data, |at, data, _| work(at, data), |_, _| ()),
        None => work(0, data),
    }
}

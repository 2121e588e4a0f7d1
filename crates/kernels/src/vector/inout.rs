//! Source and destination of an operation: one buffer in place, or two disjoint buffers.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// A source and a destination of the same length, either identical or disjoint.
///
/// A view of the source and a view of the destination never exist at the same time, because each of
/// them borrows the whole value.
#[derive(Debug)]
pub struct InOut<'a> {
    from: *const u8,
    to: *mut u8,
    len: usize,
    life: PhantomData<&'a mut [u8]>,
}

/// The ordinary slices of an [`InOut`].
#[derive(Debug)]
pub enum Parts<'a> {
    /// One buffer as source and destination.
    InPlace(&'a mut [u8]),
    /// Source and destination, which do not overlap.
    Apart(&'a [u8], &'a mut [u8]),
}

/// Memory for a private copy of the source of an [`InOut`], which holds up to `LEN` bytes. Creating
/// it costs nothing.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct SourceCopy<const LEN: usize>(MaybeUninit<[u8; LEN]>);

impl<const LEN: usize> SourceCopy<LEN> {
    /// Creates the memory without a copy in it.
    #[inline(always)]
    pub const fn new() -> Self {
        Self(MaybeUninit::uninit())
    }
}

impl<const LEN: usize> Default for SourceCopy<LEN> {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns `p`, but the compiler cannot see that it is the same pointer and must assume that the
/// memory was written.
///
/// Otherwise it could read the original again instead of a copy.
#[inline(always)]
fn opaque(p: *mut u8) -> *mut u8 {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    {
        let mut p = p;
        // SAFETY: there is no instruction, so `p` is the same pointer after it and no memory is
        // accessed.
        unsafe { core::arch::asm!("/* {} */", inout(reg) p, options(nostack, preserves_flags)) }
        p
    }
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
    core::hint::black_box(p)
}

/// Returns a copy of `bytes` that reads each byte once. Another process may change `bytes` at any
/// time.
#[inline(always)]
pub(crate) fn read_once<const LEN: usize>(bytes: &[u8; LEN]) -> [u8; LEN] {
    let mut copy = *bytes;
    opaque(copy.as_mut_ptr());
    copy
}

/// Copies `from` to `to` and returns the copy. Each byte of `from` is read once.
///
/// # Panics
/// Panics if the lengths differ.
#[inline(always)]
pub(crate) fn copy_once<'a>(from: &[u8], to: &'a mut [u8]) -> &'a [u8] {
    to.copy_from_slice(from);
    // SAFETY: the same slice, borrowed as long as the result.
    unsafe { core::slice::from_raw_parts(opaque(to.as_mut_ptr()), to.len()) }
}

impl<'a> InOut<'a> {
    /// Makes `data` both source and destination.
    pub fn in_place(data: &'a mut [u8]) -> Self {
        let to = data.as_mut_ptr();
        Self { from: to, to, len: data.len(), life: PhantomData }
    }

    /// Makes `from` the source and `to` the destination.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    pub fn apart(from: &'a [u8], to: &'a mut [u8]) -> Self {
        assert_eq!(from.len(), to.len(), "source and destination differ in length");
        Self { from: from.as_ptr(), to: to.as_mut_ptr(), len: to.len(), life: PhantomData }
    }

    /// Returns the number of bytes in the source (and the destination).
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the source and the destination have no bytes.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns whether source and destination are the same buffer.
    #[inline(always)]
    pub fn is_in_place(&self) -> bool {
        core::ptr::eq(self.from, self.to)
    }

    /// Returns the source; in place, it is also the destination.
    #[inline(always)]
    pub fn source(&self) -> &[u8] {
        // SAFETY: made from a slice of this length and lifetime; `to` is not lent while `self` is
        // borrowed here.
        unsafe { core::slice::from_raw_parts(self.from, self.len) }
    }

    /// Returns the destination; in place, it is also the source.
    #[inline(always)]
    pub fn target(&mut self) -> &mut [u8] {
        // SAFETY: made from a unique slice; `self` is borrowed uniquely here, so no other view is
        // alive.
        unsafe { core::slice::from_raw_parts_mut(self.to, self.len) }
    }

    /// Returns the destination for the lifetime of the buffer.
    #[inline(always)]
    pub fn into_target(self) -> &'a mut [u8] {
        // SAFETY: made from a unique slice of this length and lifetime, and `self` is gone.
        unsafe { core::slice::from_raw_parts_mut(self.to, self.len) }
    }

    /// Returns the part of source and destination from byte `at` to byte `at + len`.
    ///
    /// # Panics
    /// Panics if the part ends after the end of the buffers.
    #[inline(always)]
    pub fn part(&mut self, at: usize, len: usize) -> InOut<'_> {
        assert!(at <= self.len && len <= self.len - at, "part past the end");
        // SAFETY: in bounds by the line above.
        let (from, to) = unsafe { (self.from.add(at), self.to.add(at)) };
        InOut { from, to, len, life: PhantomData }
    }

    /// Returns the same operation for a shorter time.
    ///
    /// Its three words are copied one by one. The caller has usually just written them one by one,
    /// and some processors wait 14 ns (Granite Rapids) before they load two of them together,
    /// as a copy of the whole would.
    #[inline(always)]
    pub fn reborrow(&mut self) -> InOut<'_> {
        InOut { from: opaque(self.from.cast_mut()), to: self.to, len: self.len, life: PhantomData }
    }

    /// Copies the source to private memory and returns an operation from the copy to the same
    /// destination.
    ///
    /// Each byte of the source is read once. Another thread or process may change the source at any
    /// time, for example in a shared mapping. A tag and a plaintext that are both computed from
    /// the copy are computed from the same bytes.
    ///
    /// # Panics
    /// If the source has more than `LEN` bytes.
    #[inline(always)]
    pub fn copy_source<'b, const LEN: usize>(self, copy: &'b mut SourceCopy<LEN>) -> InOut<'b>
    where
        'a: 'b,
    {
        assert!(self.len <= LEN, "the copy is too short");
        let at = copy.0.as_mut_ptr().cast::<u8>();
        // SAFETY: both have `len` bytes, by the line above, and `copy` is borrowed uniquely, so
        // they are disjoint.
        unsafe { core::ptr::copy_nonoverlapping(self.from, at, self.len) };
        InOut { from: opaque(at), to: self.to, len: self.len, life: PhantomData }
    }

    /// Returns ordinary slices, for callers that handle the two cases differently.
    pub fn into_parts(self) -> Parts<'a> {
        if self.is_in_place() {
            // SAFETY: made from one unique slice of this length and lifetime, and `self` is gone.
            Parts::InPlace(unsafe { core::slice::from_raw_parts_mut(self.to, self.len) })
        } else {
            // SAFETY: made from a shared and a unique slice, so they cannot overlap, and `self` is
            // gone.
            unsafe {
                Parts::Apart(
                    core::slice::from_raw_parts(self.from, self.len),
                    core::slice::from_raw_parts_mut(self.to, self.len),
                )
            }
        }
    }
}

#[cfg(test)]
mod test {
    use super::{InOut, Parts, SourceCopy, copy_once, read_once};

    #[test]
    fn a_copied_source_does_not_change() {
        let (mut data, mut copy) = ([1, 2, 3], SourceCopy::<4>::new());
        let mut both = InOut::in_place(&mut data).copy_source(&mut copy);
        assert!(!both.is_in_place());
        both.target().fill(9);
        assert_eq!(both.source(), [1, 2, 3]);
        assert_eq!(data, [9; 3]);
        assert_eq!(read_once(&data), [9; 3]);
        assert_eq!(copy_once(&[5, 6, 7], &mut data), [5, 6, 7]);
        assert_eq!(data, [5, 6, 7]);
    }

    #[test]
    #[should_panic(expected = "too short")]
    fn a_longer_source_is_not_copied() {
        InOut::in_place(&mut [0; 5]).copy_source(&mut SourceCopy::<4>::new());
    }

    #[test]
    fn parts_of_disjoint_buffers() {
        let (from, mut to) = ([1, 2, 3, 4, 5], [0; 5]);
        let mut both = InOut::apart(&from, &mut to);
        assert!(!both.is_in_place() && !both.is_empty() && both.len() == 5);
        let mut part = both.part(1, 3);
        assert_eq!(part.source(), [2, 3, 4]);
        part.target().fill(9);
        assert!(both.part(5, 0).is_empty());
        let Parts::Apart(source, target) = both.into_parts() else { panic!("apart") };
        assert_eq!((source, target), (&from[..], &mut [0, 9, 9, 9, 0][..]));
    }

    #[test]
    fn in_place_reads_and_writes_one_buffer() {
        let mut data = [1, 2, 3];
        let mut both = InOut::in_place(&mut data);
        both.part(1, 1).target()[0] = 7;
        assert_eq!(both.source(), [1, 7, 3]);
        assert!(matches!(both.into_parts(), Parts::InPlace([1, 7, 3])));
    }

    #[test]
    #[should_panic(expected = "differ in length")]
    fn different_lengths_panic() {
        InOut::apart(&[1], &mut []);
    }

    #[test]
    fn parts_out_of_bounds_panic() {
        for (at, len) in [(4, 0), (0, 4), (3, 1), (usize::MAX, 2), (2, usize::MAX)] {
            let cut = std::panic::catch_unwind(|| InOut::in_place(&mut [0; 3]).part(at, len).len());
            assert!(cut.is_err(), "{at} {len}");
        }
    }
}

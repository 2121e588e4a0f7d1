//! The buffer protocol: access to memory that Python owns. The only file with `unsafe` in this
//! crate.
//!
//! Any contiguous object with the buffer protocol is accepted as bytes, with any item format:
//! `bytes`, `bytearray`, `memoryview`, `mmap`, `array`, NumPy arrays, pyarrow buffers. A [`Slot`]
//! holds the export during the whole call, so the memory is neither resized nor freed. Results go
//! to new `bytes`, written in place ([`fresh`]), or to the caller's buffer.
//!
//! Arguments become slices only in [`Target::arrange`], after we check that input and output share
//! no byte or are the same bytes. Another Python thread can still write to a buffer during the
//! call, as during every call that releases the interpreter. The result is then undefined, but
//! nothing is read or written out of bounds, because we take each length once. Threads that share a
//! buffer must synchronise their access.

mod populate;

pub(crate) use populate::Writers;

use crate::error::raise;
use crate::objects::{Any, Bytes};
use populate::{Advice, with_populated_pages};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane::{InOut, Misuse};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// One export of a buffer, on the stack. (PyO3's `PyBuffer` is on the heap and costs 14 ns more,
/// measured.)
///
/// Its lifetime is the attachment to the interpreter, so the export is released while attached.
///
/// Invariant: the field `obj` of `view` is initialized. It is null if there is no export to
/// release; otherwise all fields are initialized.
pub(crate) struct Slot<'py> {
    view: MaybeUninit<ffi::Py_buffer>,
    attached: PhantomData<Python<'py>>,
}

impl<'py> Slot<'py> {
    #[inline]
    pub(crate) fn new(_: Python<'py>) -> Self {
        let mut view = MaybeUninit::uninit();
        set_unheld(&mut view);
        Self { view, attached: PhantomData }
    }

    /// Returns the export to release, if any. An exporter that sets no object needs no release.
    #[inline]
    fn held(&self) -> Option<&ffi::Py_buffer> {
        // SAFETY: `obj` is initialized, by the invariant.
        let object = unsafe { (&raw const (*self.view.as_ptr()).obj).read() };
        // SAFETY: all fields are initialized, by the invariant.
        (!object.is_null()).then(|| unsafe { self.view.assume_init_ref() })
    }

    /// Requests an export of `object` and returns its bytes for reading.
    ///
    /// # Errors
    /// Raises `TypeError` if it is not a buffer, and `ValueError` if it is not contiguous.
    #[inline]
    pub(crate) fn read<'a>(&'a mut self, object: &'a Any<'py>) -> PyResult<Source<'a>> {
        if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            // `bytes` are immutable and live as long as the reference, so they need no export.
            let bytes = bytes.as_bytes();
            return Ok(Source { start: bytes.as_ptr(), len: bytes.len(), life: PhantomData });
        }
        Ok(Source::of(self.export(object, ffi::PyBUF_SIMPLE)?))
    }

    /// Returns the bytes of `object` for reading; empty for `None`.
    #[inline]
    pub(crate) fn read_optional<'a>(&'a mut self, object: Option<&'a Any<'py>>) -> PyResult<Source<'a>> {
        match object {
            Some(object) if !object.is_none() => self.read(object),
            _ => Ok(Source { start: [].as_ptr(), len: 0, life: PhantomData }),
        }
    }

    /// Requests a writable export of `object` and returns its bytes for writing.
    ///
    /// # Errors
    /// Raises `TypeError` if it is not a writable buffer, and `ValueError` if it is not contiguous.
    #[inline]
    pub(crate) fn write<'a>(&'a mut self, object: &'a Any<'py>) -> PyResult<Target<'a>> {
        let Source { start, len, .. } = Source::of(self.export(object, ffi::PyBUF_WRITABLE)?);
        Ok(Target { start: start.cast_mut(), len, life: PhantomData })
    }

    /// Requests an export. Unless `flags` contain `PyBUF_ND` and `PyBUF_STRIDES`, it is contiguous
    /// or an error.
    #[inline]
    fn export(&mut self, object: &Any<'py>, flags: std::ffi::c_int) -> PyResult<&ffi::Py_buffer> {
        assert!(self.held().is_none(), "a slot holds one export");
        // SAFETY: `object` is alive and the thread is attached, by its type; `view` has the size of
        // one Py_buffer.
        match unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), self.view.as_mut_ptr(), flags) } {
            // SAFETY: all fields are initialized if the result is 0.
            0 => Ok(unsafe { self.view.assume_init_ref() }),
            _ => Err(self.explain(object, flags)),
        }
    }

    /// Returns the exception for an `object` that refused to export its buffer.
    ///
    /// Exporters refuse with `BufferError`, `ValueError` or `TypeError`. We find the reason with a
    /// second request, for any kind of view, so that the same mistake raises the same exception for
    /// every type of buffer.
    #[cold]
    fn explain(&mut self, object: &Any<'py>, flags: std::ffi::c_int) -> PyErr {
        let refusal = PyErr::fetch(object.py());
        set_unheld(&mut self.view);
        // SAFETY: the arguments are valid for the same reasons as in `export`.
        if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), self.view.as_mut_ptr(), ffi::PyBUF_FULL_RO) }
            != 0
        {
            set_unheld(&mut self.view);
            let _ = PyErr::fetch(object.py());
            return refusal;
        }
        let Some(view) = self.held() else { return refusal };
        // SAFETY: the view was filled by the call above; `C` is one of the orders that the function
        // knows.
        let contiguous = unsafe { ffi::PyBuffer_IsContiguous(view, b'C' as std::ffi::c_char) } != 0;
        if flags == ffi::PyBUF_WRITABLE && view.readonly != 0 {
            PyTypeError::new_err("the output buffer is read-only")
        } else if !contiguous {
            PyValueError::new_err("the buffer is not contiguous")
        } else {
            refusal
        }
    }
}

/// Sets the object of a view to null. If [`Slot::new`] returned it as part of the value, the unset
/// fields would be a constant that every call copies.
#[inline]
fn set_unheld(view: &mut MaybeUninit<ffi::Py_buffer>) {
    // SAFETY: the pointer is one to a field of `view`, to which anything may be written.
    unsafe { (&raw mut (*view.as_mut_ptr()).obj).write(std::ptr::null_mut()) }
}

impl Drop for Slot<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.held().is_some() {
            // SAFETY: the export was not released before, and the thread is attached, by the type.
            unsafe { ffi::PyBuffer_Release(self.view.as_mut_ptr()) }
        }
    }
}

/// Shadows the variable of each buffer argument with the bytes it exports. A missing or None
/// argument is empty.
macro_rules! read {
    ($py:expr; $($argument:ident),* $(; optional $($optional:ident),*)?) => {
        $(
            let mut slot = $crate::buffer::Slot::new($py);
            let $argument = slot.read($argument)?.bytes();
        )*
        $($(
            let mut slot = $crate::buffer::Slot::new($py);
            let $optional = slot.read_optional($optional)?.bytes();
        )*)?
    };
}
pub(crate) use read;

/// Bytes of a Python object that a call reads but does not change.
///
/// Invariant of this type and of [`Target`]: `start` is not null and is valid for `len` bytes
/// during `'a`, because a [`Slot`] or a reference that is borrowed for `'a` holds them.
pub(crate) struct Source<'a> {
    start: *const u8,
    len: usize,
    life: PhantomData<&'a [u8]>,
}

impl<'a> Source<'a> {
    /// Returns the bytes of an export, for reading.
    #[inline]
    fn of(view: &'a ffi::Py_buffer) -> Self {
        let len = usize::try_from(view.len).unwrap_or(0);
        // An empty buffer may have a null pointer, but a slice may not.
        let start = if len == 0 { [].as_ptr() } else { view.buf.cast::<u8>().cast_const() };
        Self { start, len, life: PhantomData }
    }

    /// Returns the bytes, for a call that writes to no [`Target`].
    #[inline]
    pub(crate) fn bytes(self) -> &'a [u8] {
        // SAFETY: the invariant.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns a copy of the first `N` bytes, or `None` if there are fewer.
    #[inline]
    pub(crate) fn first<const N: usize>(&self) -> Option<[u8; N]> {
        // SAFETY: by the invariant and the comparison, `N` bytes can be read. Arrays of bytes need
        // no alignment.
        (N <= self.len).then(|| unsafe { self.start.cast::<[u8; N]>().read() })
    }

    /// Splits off the first `at` bytes, or returns `None` if there are fewer.
    #[inline]
    pub(crate) fn split(self, at: usize) -> Option<(Self, Self)> {
        let rest = self.len.checked_sub(at)?;
        // SAFETY: `at` is at most `len`, by the line above.
        let middle = unsafe { self.start.add(at) };
        Some((Self { len: at, ..self }, Self { start: middle, len: rest, life: PhantomData }))
    }

    #[inline]
    fn span(&self) -> Range<usize> {
        self.start.addr()..self.start.addr() + self.len
    }
}

/// Bytes of a Python object that a call writes and may also read.
pub(crate) struct Target<'a> {
    start: *mut u8,
    len: usize,
    life: PhantomData<&'a mut [u8]>,
}

/// The arguments of one call, which share no byte.
pub(crate) struct Layout<'a, const N: usize> {
    /// Written before the data, such as the nonce of a sealed message.
    pub(crate) head: &'a mut [u8],
    pub(crate) data: Data<'a>,
    /// Written after the data, such as the tag of a sealed message.
    pub(crate) tail: &'a mut [u8],
    /// Other bytes to read, such as the associated data.
    pub(crate) others: [&'a [u8]; N],
}

/// Source and destination of the data. Replaces [`InOut`], which is not `Send` as detached work
/// requires.
pub(crate) enum Data<'a> {
    InPlace(&'a mut [u8]),
    Apart(&'a [u8], &'a mut [u8]),
}

impl<'a> Data<'a> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::InPlace(data) => data.len(),
            Self::Apart(from, _) => from.len(),
        }
    }

    #[inline]
    pub(crate) fn in_out(self) -> InOut<'a> {
        match self {
            Self::InPlace(data) => InOut::in_place(data),
            Self::Apart(from, to) => InOut::apart(from, to),
        }
    }
}

impl<'a> Target<'a> {
    /// Returns the bytes, for a call that reads from no [`Source`].
    #[inline]
    pub(crate) fn bytes(self) -> &'a mut [u8] {
        // SAFETY: the invariant of `Source`; the export is writable.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }

    /// Returns the first `need` bytes of the target, which may be longer.
    ///
    /// # Errors
    /// Raises `ValueError` if the target has fewer bytes.
    #[inline]
    pub(crate) fn first(self, need: usize) -> PyResult<Self> {
        if need > self.len {
            return Err(raise(Misuse::OutputTooShort { got: self.len, need }.into()));
        }
        Ok(Self { len: need, ..self })
    }

    /// Splits the target into head, data and tail. `data` is read in place or from another buffer;
    /// `others` are read.
    ///
    /// # Errors
    /// Raises `ValueError` if the target overlaps what is read, unless `data` is exactly where its
    /// result goes.
    ///
    /// # Panics
    /// Panics if the target is shorter than head and data.
    #[inline]
    pub(crate) fn arrange<const N: usize>(
        self,
        head: usize,
        data: Source<'a>,
        others: [Source<'a>; N],
    ) -> PyResult<Layout<'a, N>> {
        let written = self.start.addr()..self.start.addr() + self.len;
        let in_place = data.start.addr() == written.start + head;
        if (!in_place && overlap(&written, &data.span()))
            || others.iter().any(|other| overlap(&written, &other.span()))
        {
            return Err(raise(Misuse::PartialOverlap.into()));
        }
        // The slice is unique: the other arguments do not overlap it, and `data` in place does not
        // become a slice.
        let (head, rest) = self.bytes().split_at_mut(head);
        let (to, tail) = rest.split_at_mut(data.len);
        let data = if in_place { Data::InPlace(to) } else { Data::Apart(data.bytes(), to) };
        Ok(Layout { head, data, tail, others: others.map(Source::bytes) })
    }

    /// Splits a target that contains the data: `len` bytes after `head`.
    ///
    /// # Errors
    /// Raises `ValueError` if one of `others` overlaps the target: the call would change it while
    /// reading.
    pub(crate) fn arrange_in_place<const N: usize>(
        self,
        head: usize,
        len: usize,
        others: [Source<'a>; N],
    ) -> PyResult<Layout<'a, N>> {
        let start = self.start.cast_const().wrapping_add(head);
        self.arrange(head, Source { start, len, life: PhantomData }, others)
    }

    /// Prepares a copy of `source` to the start of the target, which may overlap it.
    ///
    /// # Errors
    /// Raises `ValueError` if the target is shorter than `source`.
    #[inline]
    pub(crate) fn copy_of(self, source: Source<'a>) -> PyResult<Copying<'a>> {
        let len = source.len;
        Ok(Copying { from: source.start, to: self.first(len)?.start, len, life: PhantomData })
    }
}

/// A pending copy that can run while the thread is detached from the interpreter.
pub(crate) struct Copying<'a> {
    from: *const u8,
    to: *mut u8,
    len: usize,
    life: PhantomData<&'a mut [u8]>,
}

// SAFETY: the memory is valid during `'a` on every thread.
unsafe impl Send for Copying<'_> {}

impl Copying<'_> {
    #[inline]
    pub(crate) fn run(self) {
        // SAFETY: both have `len` bytes, by `copy_of` and the invariant of `Source`; `copy` allows
        // an overlap.
        unsafe { std::ptr::copy(self.from, self.to, self.len) }
    }
}

#[inline]
fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    !a.is_empty() && !b.is_empty() && a.start < b.end && b.start < a.end
}

/// Returns a new `bytes` object of `len` bytes that `fill` writes before any other code sees it.
///
/// # Errors
/// Raises `MemoryError` if the object cannot be allocated, or the error of `fill` after wiping the
/// object.
#[inline]
pub(crate) fn fresh<'py>(
    py: Python<'py>,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> PyResult<()>,
) -> PyResult<Bytes<'py>> {
    fresh_by(py, len, || Writers::One, fill)
}

/// Returns a new `bytes` object with a copy of `content`.
///
/// # Errors
/// Raises `MemoryError` if it cannot be allocated. `PyBytes::new` would panic.
pub(crate) fn copied<'py>(py: Python<'py>, content: &[u8]) -> PyResult<Bytes<'py>> {
    fresh(py, content.len(), |out| {
        out.copy_from_slice(content);
        Ok(())
    })
}

/// Like [`fresh`], for a large object that `fill` may write on several threads; `writers` says how
/// many.
///
/// # Errors
/// Raises the errors of [`fresh`].
#[inline]
pub(crate) fn fresh_by<'py>(
    py: Python<'py>,
    len: usize,
    writers: impl FnOnce() -> Writers,
    fill: impl FnOnce(&mut [u8]) -> PyResult<()>,
) -> PyResult<Bytes<'py>> {
    let object = unset_bytes(py, len)?;
    // SAFETY: the object is new, and no other code sees it before this function returns.
    let out = unsafe { writable(&object) };
    // An address may be sent to another thread; a pointer may not.
    let start = out.as_mut_ptr().expose_provenance();
    // SAFETY: the ranges are parts of `object`, which lives until this function returns.
    let advise = |range, advice| unsafe { advise(range, advice) };
    if let Err(error) = with_populated_pages(start..start + len, advise, writers, || fill(&mut *out)) {
        out.fill(0);
        return Err(error);
    }
    Ok(object)
}

/// Returns new `bytes` objects of these lengths that `fill` writes before any other code sees them.
///
/// # Errors
/// Raises `MemoryError` if an object cannot be allocated, or the error of `fill` after wiping all
/// objects.
pub(crate) fn fresh_many<'py>(
    py: Python<'py>,
    lens: impl ExactSizeIterator<Item = usize>,
    fill: impl FnOnce(&mut [&mut [u8]]) -> PyResult<()>,
) -> PyResult<Vec<Bytes<'py>>> {
    let mut objects = with_memory(lens.len())?;
    for len in lens {
        objects.push(unset_bytes(py, len)?);
    }
    let mut outs = with_memory(objects.len())?;
    // SAFETY: the objects are new, and no other code sees them before this function returns.
    outs.extend(objects.iter().map(|object| unsafe { writable(object) }));
    if let Err(error) = fill(&mut outs) {
        outs.iter_mut().for_each(|out| out.fill(0));
        return Err(error);
    }
    Ok(objects)
}

/// Returns an empty vector with capacity for `len` elements.
///
/// # Errors
/// Raises `MemoryError` if there is not enough memory.
pub(crate) fn with_memory<T>(len: usize) -> PyResult<Vec<T>> {
    let mut empty = Vec::new();
    // The error carries no detail.
    empty.try_reserve_exact(len).map_err(|_| PyMemoryError::new_err("there is no memory for the batch"))?;
    Ok(empty)
}

/// Returns a new `bytes` object of `len` bytes with arbitrary content.
#[inline]
fn unset_bytes(py: Python<'_>, len: usize) -> PyResult<Bytes<'_>> {
    let size = ffi::Py_ssize_t::try_from(len)
        // It fails only for the size.
        .map_err(|_| PyMemoryError::new_err("the result exceeds the address space of this machine"))?;
    // SAFETY: the thread is attached. A null source requests an object with unset content. The
    // result is a new reference to an exact `bytes`, or null with an exception set.
    let object = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), size))?
            .cast_into_unchecked::<PyBytes>()
    };
    Ok(object)
}

/// Returns the content of a new `bytes` object for writing.
///
/// # Safety
/// `object` must come from [`unset_bytes`], and no other code may use it while the result lives.
#[inline]
#[expect(clippy::mut_from_ref, reason = "the object has no other reference, by the contract")]
unsafe fn writable<'a>(object: &'a Bytes<'_>) -> &'a mut [u8] {
    let bytes = object.as_bytes();
    // SAFETY: the object has so many bytes and no other user, by the contract, and its hash is not
    // computed. The empty object is shared, but then no byte is written. The memory comes from a
    // call that is opaque to the compiler, so its content is arbitrary but initialised.
    unsafe { std::slice::from_raw_parts_mut(bytes.as_ptr().cast_mut(), bytes.len()) }
}

/// Advises the operating system about part of an object; returns whether it accepted.
///
/// # Safety
/// `range` must lie inside an object that lives during the call.
#[cfg(target_os = "linux")]
unsafe fn advise(range: Range<usize>, advice: Advice) -> bool {
    let advice = match advice {
        Advice::HugePages => libc::MADV_HUGEPAGE,
        Advice::Populate => libc::MADV_POPULATE_WRITE,
    };
    let start = std::ptr::with_exposed_provenance_mut(range.start);
    // SAFETY: the object lives, by the contract above. Neither advice changes a byte.
    unsafe { libc::madvise(start, range.len(), advice) == 0 }
}

#[cfg(not(target_os = "linux"))]
unsafe fn advise(_: Range<usize>, _: Advice) -> bool {
    false
}

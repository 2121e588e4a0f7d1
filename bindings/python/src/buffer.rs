//! Memory that Python owns: the only `unsafe` of this crate.
//!
//! Whatever speaks the buffer protocol is bytes to us: `bytes`, `bytearray`, `memoryview`, `mmap`, NumPy, `array`,
//! pyarrow; contiguous, of any item format. A [`Slot`] holds the export for the whole call, so nothing can be resized
//! or freed below us. Results are new `bytes`, written in place ([`fresh`]), or the caller's own buffer.
//!
//! What is read and what is written become slices only in [`Target::arrange`], once it is known that they share no
//! byte, or are the very same bytes. Another Python thread may still write to a buffer that it lent us, as it may
//! during any call that releases the interpreter. Then the result is worthless; nothing is read or written out of
//! bounds, because lengths are taken once. Whoever shares a buffer between threads has to keep them apart.

use crate::error::raise;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane::{InOut, Misuse};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Room for one export of a buffer, on the stack. (PyO3's own `PyBuffer` lives on the heap: 14 ns each, measured.)
///
/// The lifetime is that of being attached to the interpreter, so an export is always given back while attached.
pub(crate) struct Slot<'py> {
    view: MaybeUninit<ffi::Py_buffer>,
    held: bool,
    attached: PhantomData<Python<'py>>,
}

impl<'py> Slot<'py> {
    #[inline]
    pub(crate) fn new(_: Python<'py>) -> Self {
        Self { view: MaybeUninit::uninit(), held: false, attached: PhantomData }
    }

    /// What `object` holds, to be read.
    ///
    /// # Errors
    /// `TypeError` where it is no buffer, `ValueError` where it is not contiguous.
    #[inline]
    pub(crate) fn read<'a>(&'a mut self, object: &'a Bound<'py, PyAny>) -> PyResult<Source<'a>> {
        if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            // Cannot change, and lives as long as the reference: no export needed.
            let bytes = bytes.as_bytes();
            return Ok(Source { start: bytes.as_ptr(), len: bytes.len(), life: PhantomData });
        }
        self.export(object, ffi::PyBUF_SIMPLE)?;
        Ok(self.source())
    }

    /// The same, where `None` is as good as nothing to read.
    #[inline]
    pub(crate) fn read_optional<'a>(
        &'a mut self,
        object: Option<&'a Bound<'py, PyAny>>,
    ) -> PyResult<Source<'a>> {
        match object {
            Some(object) if !object.is_none() => self.read(object),
            _ => Ok(Source { start: [].as_ptr(), len: 0, life: PhantomData }),
        }
    }

    /// What `object` holds, to be written.
    ///
    /// # Errors
    /// `TypeError` where it is no buffer or read-only, `ValueError` where it is not contiguous.
    #[inline]
    pub(crate) fn write<'a>(&'a mut self, object: &'a Bound<'py, PyAny>) -> PyResult<Target<'a>> {
        self.export(object, ffi::PyBUF_WRITABLE)?;
        let Source { start, len, .. } = self.source();
        Ok(Target { start: start.cast_mut(), len, life: PhantomData })
    }

    /// A request without `PyBUF_ND` and `PyBUF_STRIDES` is for one contiguous piece of memory or an error.
    #[inline]
    fn export(&mut self, object: &Bound<'py, PyAny>, flags: std::ffi::c_int) -> PyResult<()> {
        assert!(!self.held, "one export a slot");
        // SAFETY: `object` is alive and we are attached, by its type; `view` is room for one Py_buffer.
        match unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), self.view.as_mut_ptr(), flags) } {
            0 => {
                self.held = true;
                Ok(())
            }
            _ => Err(self.explain(object, flags)),
        }
    }

    /// Exporters refuse with `BufferError`, `ValueError` or `TypeError` as they like. A second request, for any kind of
    /// view, tells what was wrong, so that the same mistake is the same exception whoever made the buffer.
    #[cold]
    fn explain(&mut self, object: &Bound<'py, PyAny>, flags: std::ffi::c_int) -> PyErr {
        let refusal = PyErr::fetch(object.py());
        // SAFETY: as in `export`.
        if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), self.view.as_mut_ptr(), ffi::PyBUF_FULL_RO) }
            != 0
        {
            let _ = PyErr::fetch(object.py());
            return refusal;
        }
        self.held = true;
        // SAFETY: filled by the call above, which succeeded.
        let view = unsafe { self.view.assume_init_ref() };
        // SAFETY: the same view; `C` is one of the orders that the function knows.
        let contiguous = unsafe { ffi::PyBuffer_IsContiguous(view, b'C' as std::ffi::c_char) } != 0;
        if flags == ffi::PyBUF_WRITABLE && view.readonly != 0 {
            PyTypeError::new_err("the output buffer is read-only")
        } else if !contiguous {
            PyValueError::new_err("the buffer is not contiguous")
        } else {
            refusal
        }
    }

    /// What was exported.
    #[inline]
    fn source<'a>(&self) -> Source<'a> {
        assert!(self.held);
        // SAFETY: `held` says that `view` was filled.
        let view = unsafe { self.view.assume_init_ref() };
        let len = usize::try_from(view.len).unwrap_or(0);
        // An empty buffer may lie nowhere, and a slice may not.
        let start = if len == 0 { [].as_ptr() } else { view.buf.cast::<u8>().cast_const() };
        Source { start, len, life: PhantomData }
    }
}

impl Drop for Slot<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.held {
            // SAFETY: `held` says that `view` was filled, and it was not released before; we are attached, by the type.
            unsafe { ffi::PyBuffer_Release(self.view.as_mut_ptr()) }
        }
    }
}

/// Bytes to be read.
///
/// Invariant of this and of [`Target`]: `start` is valid for `len` bytes during `'a`, because a [`Slot`] or a
/// reference that is borrowed for `'a` holds them; never null.
pub(crate) struct Source<'a> {
    start: *const u8,
    len: usize,
    life: PhantomData<&'a [u8]>,
}

impl<'a> Source<'a> {
    /// The bytes, for a call that writes to no [`Target`].
    #[inline]
    pub(crate) fn bytes(self) -> &'a [u8] {
        // SAFETY: the invariant.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The first `at` bytes and the rest, or `None` where there are not so many.
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

/// Bytes to be written.
pub(crate) struct Target<'a> {
    start: *mut u8,
    len: usize,
    life: PhantomData<&'a mut [u8]>,
}

/// The parts of one call, which share no byte.
pub(crate) struct Layout<'a, const N: usize> {
    /// What is written before the data.
    pub(crate) head: &'a mut [u8],
    pub(crate) data: Data<'a>,
    /// What is written after the data.
    pub(crate) tail: &'a mut [u8],
    /// What is read besides.
    pub(crate) others: [&'a [u8]; N],
}

/// Where the data comes from and goes to. (An [`InOut`] itself may not be sent to another thread, which detaching from
/// the interpreter asks for.)
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
    /// The bytes, for a call that reads from no [`Source`].
    #[inline]
    pub(crate) fn bytes(self) -> &'a mut [u8] {
        // SAFETY: the invariant of `Source`; the exporter gave the memory for writing.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }

    /// The first `need` bytes.
    ///
    /// # Errors
    /// `ValueError` where there are not so many.
    #[inline]
    pub(crate) fn first(self, need: usize) -> PyResult<Self> {
        if need > self.len {
            return Err(raise(Misuse::OutputTooShort { got: self.len, need }.into()));
        }
        Ok(Self { len: need, ..self })
    }

    /// Cuts the target into head, data and tail around `data`, which is read from where it is written to, or from
    /// elsewhere; `others` are read as well.
    ///
    /// # Errors
    /// `ValueError` where anything that is read shares bytes with the target, but for `data` that already lies where
    /// its result goes.
    ///
    /// # Panics
    /// Where the target is shorter than head and data.
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
        // Unique from here on: what else is read was found to lie elsewhere, and `data`, where it lies here, is not
        // made into a slice of its own.
        let (head, rest) = self.bytes().split_at_mut(head);
        let (to, tail) = rest.split_at_mut(data.len);
        let data = if in_place { Data::InPlace(to) } else { Data::Apart(data.bytes(), to) };
        Ok(Layout { head, data, tail, others: others.map(Source::bytes) })
    }

    /// The same for data that lies in the target, `len` bytes after `head`.
    ///
    /// # Errors
    /// `ValueError` where one of `others` shares bytes with the target.
    pub(crate) fn arrange_in_place<const N: usize>(
        self,
        head: usize,
        len: usize,
        others: [Source<'a>; N],
    ) -> PyResult<Layout<'a, N>> {
        let start = self.start.cast_const().wrapping_add(head);
        self.arrange(head, Source { start, len, life: PhantomData }, others)
    }
}

impl<'a> Target<'a> {
    /// A copy of `source` to the start of the target, of which it may be a part.
    ///
    /// # Errors
    /// As [`Self::first`].
    #[inline]
    pub(crate) fn copy_of(self, source: Source<'a>) -> PyResult<Copying<'a>> {
        let len = source.len;
        Ok(Copying { from: source.start, to: self.first(len)?.start, len, life: PhantomData })
    }
}

/// A copy that is still to be made, with or without the interpreter.
pub(crate) struct Copying<'a> {
    from: *const u8,
    to: *mut u8,
    len: usize,
    life: PhantomData<&'a mut [u8]>,
}

// SAFETY: what is held for `'a` is memory like any other, on whatever thread.
unsafe impl Send for Copying<'_> {}

impl Copying<'_> {
    #[inline]
    pub(crate) fn run(self) {
        // SAFETY: `copy_of` found both to hold `len` bytes, by the invariant of `Source`; they may overlap here.
        unsafe { std::ptr::copy(self.from, self.to, self.len) }
    }
}

#[inline]
fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    !a.is_empty() && !b.is_empty() && a.start < b.end && b.start < a.end
}

/// A new `bytes` object of `len` bytes, written once, by `fill`, before anybody else sees it.
///
/// # Errors
/// `MemoryError`, and those of `fill`; the object is wiped and dropped then.
#[inline]
pub(crate) fn fresh<'py>(
    py: Python<'py>,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> PyResult<()>,
) -> PyResult<Bound<'py, PyBytes>> {
    let size = ffi::Py_ssize_t::try_from(len)
        .map_err(|_| pyo3::exceptions::PyMemoryError::new_err("more than this machine can address"))?;
    // SAFETY: we are attached. A null source asks for an object whose content is not set, and the result is a new
    // reference to an exact `bytes`, or null with an exception set.
    let object = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), size))?
            .cast_into_unchecked::<PyBytes>()
    };
    let start = object.as_bytes().as_ptr().cast_mut();
    // SAFETY: the object has `len` bytes, and nobody else knows of it; its hash was not taken. The empty one is shared
    // by all, but then no byte is written. The memory comes from a call that the compiler cannot see into, which may
    // have left anything in it; `fill` writes it all.
    let out = unsafe { std::slice::from_raw_parts_mut(start, len) };
    if let Err(error) = with_pages_made(start, len, || fill(&mut *out)) {
        out.fill(0);
        return Err(error);
    }
    Ok(object)
}

/// From this many bytes on, huge pages pay.
const WORTH_HUGE_PAGES: usize = 4 << 20;
/// From this many bytes on, a thread that makes them pays as well (62 us, measured).
const WORTH_A_THREAD: usize = 16 << 20;

/// Runs `fill`, which writes to the `len` bytes of a new object at `start`.
///
/// The pages of a large new object do not exist yet, and making them costs more than encrypting: 2.7 GB/s with 4 KiB
/// pages, 15 GB/s with huge ones (measured). So huge ones are asked for, and another thread makes them ahead of `fill`:
/// sealing 256 MiB into a new object takes 67 ms without that thread and 48 ms with it, of which the memory needs 43.
#[cfg(target_os = "linux")]
#[inline]
fn with_pages_made<T>(start: *mut u8, len: usize, fill: impl FnOnce() -> T) -> T {
    use std::sync::atomic::{AtomicBool, Ordering};
    const HUGE: usize = 2 << 20;
    if len < WORTH_HUGE_PAGES {
        return fill();
    }
    // A pointer may not be sent to another thread, an address may.
    let from = start.expose_provenance().next_multiple_of(HUGE);
    let to = (start.addr() + len) / HUGE * HUGE;
    let advise = |from: usize, to: usize, advice| {
        // SAFETY: `from..to` is at most the range above, whose ends were rounded inwards from those of an object that
        // lives until this function returns. Neither advice changes a byte; where one is refused, nothing is lost.
        unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(from), to - from, advice) == 0 }
    };
    advise(from, to, libc::MADV_HUGEPAGE);
    if len < WORTH_A_THREAD {
        return fill();
    }
    let filled = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let ahead = (from..to).step_by(HUGE).take_while(|_| !filled.load(Ordering::Relaxed));
        let make = || ahead.take_while(|&at| advise(at, at + HUGE, libc::MADV_POPULATE_WRITE)).for_each(drop);
        // Where the system gives no thread, `fill` makes the pages as it goes.
        let _ = std::thread::Builder::new().spawn_scoped(scope, make);
        let result = fill();
        filled.store(true, Ordering::Relaxed);
        result
    })
}

#[cfg(not(target_os = "linux"))]
fn with_pages_made<T>(_: *mut u8, _: usize, fill: impl FnOnce() -> T) -> T {
    fill()
}

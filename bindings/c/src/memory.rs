//! The caller's memory and functions: the only file with `unsafe` in this crate.
//!
//! A C pointer arrives in a type that only C can create, such as [`In`], [`Out`] or [`Shared`]:
//! none has a public constructor from a pointer. So each value is a call's argument, and the header
//! requires the pointer to be null or valid. It becomes a reference with the lifetime of a
//! [`Call`], which ends when the function returns to C.
//!
//! Bytes become slices only in [`Output::arrange`] or without an output, after we check that input
//! and output are apart or the same bytes. Another caller thread can still write to the buffers
//! during the call; the header forbids this.

use crate::constants::{SEALANE_CALLING_THREAD, SEALANE_UNKNOWN};
use crate::error::{ArgumentError, CallError, Result, flags};
use sealane::file::{Concurrency, ReadAt};
use sealane::{InOut, Misuse};
use std::alloc::{Layout as Allocation, alloc_zeroed, dealloc};
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, OsStr, c_char, c_void};
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};
use std::os::unix::ffi::OsStrExt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::{io, path::Path};
use zeroize::Zeroize;

/// Number of handles and results held by the caller.
static LIVE: AtomicI64 = AtomicI64::new(0);

pub(crate) fn live() -> i64 {
    LIVE.load(Relaxed)
}

/// A call from C. Its references end with it. So do the handles that the caller frees during it.
#[derive(Default)]
pub(crate) struct Call(RefCell<Vec<Arc<dyn Any>>>);

impl Call {
    pub(crate) fn lend<T>(body: impl FnOnce(&Self) -> T) -> T {
        body(&Self::default())
    }
}

/// `const uint8_t *`: bytes to read.
#[repr(transparent)]
pub(crate) struct In(*const u8);

/// `uint8_t *`: bytes to write.
#[repr(transparent)]
pub(crate) struct Out(*mut u8);

/// `const char *`: zero-terminated text.
#[repr(transparent)]
pub(crate) struct CText(*const c_char);

/// `uint8_t **`: where a result of unknown length goes.
#[repr(transparent)]
pub(crate) struct Given(*mut *mut u8);

/// The caller's pointer to a result, null until [`ResultBytes::give`].
pub(crate) struct Destination<'a>(&'a mut *mut u8);

/// `const T *`: a handle shareable between threads.
#[repr(transparent)]
pub(crate) struct Shared<T>(*const T);

/// `T *`: a handle or structure used by one thread at a time.
#[repr(transparent)]
pub(crate) struct Unique<T>(*mut T);

/// `T *`: a handle changing owner, to the caller or back.
#[repr(transparent)]
pub(crate) struct Owned<T>(*mut T);

/// `const T *`: a caller's structure that begins with its size.
#[repr(transparent)]
pub(crate) struct SizedIn<T>(*const T);

/// `T *`: a caller's structure that begins with its size, to be filled.
#[repr(transparent)]
pub(crate) struct SizedOut<T>(*mut T);

// Bytes.

/// Bytes a call reads; they may overlap its output.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    start: *const u8,
    len: usize,
    call: PhantomData<&'a Call>,
}

pub(crate) struct Output<'a> {
    start: *mut u8,
    len: usize,
    call: PhantomData<&'a Call>,
}

/// The arguments of a call, which share no byte.
pub(crate) struct Layout<'a, const N: usize> {
    /// Written before the data, such as the nonce of a sealed message.
    pub(crate) head: &'a mut [u8],
    pub(crate) data: InOut<'a>,
    /// Written after the data, such as the tag of a sealed message.
    pub(crate) tail: &'a mut [u8],
    /// Other bytes to read, such as the associated data.
    pub(crate) others: [&'a [u8]; N],
}

/// Checks a pointer and its length. No memory is longer than `isize::MAX` or extends past the last
/// address.
fn check(name: &'static str, start: *const u8, len: usize) -> Result<(), ArgumentError> {
    if len > 0 && start.is_null() {
        return Err(ArgumentError::NullBytes { name, len });
    }
    match isize::try_from(len).is_ok() && start.addr().checked_add(len).is_some() {
        true => Ok(()),
        false => Err(ArgumentError::Length { name, len }),
    }
}

impl In {
    #[inline]
    pub(crate) fn input<'a>(
        self,
        _: &'a Call,
        name: &'static str,
        len: usize,
    ) -> Result<Input<'a>, ArgumentError> {
        check(name, self.0, len)?;
        Ok(Input { start: self.0, len, call: PhantomData })
    }

    /// Returns the bytes of argument `name`, for a call that writes no caller bytes.
    #[inline]
    pub(crate) fn bytes<'a>(
        self,
        call: &'a Call,
        name: &'static str,
        len: usize,
    ) -> Result<&'a [u8], ArgumentError> {
        Ok(self.input(call, name, len)?.bytes())
    }
}

impl<'a> Input<'a> {
    pub(crate) const NONE: Self = Self { start: std::ptr::null(), len: 0, call: PhantomData };

    #[inline]
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// Splits off the first `at` bytes, or returns `None` if there are fewer.
    #[inline]
    pub(crate) fn split(self, at: usize) -> Option<(Self, Self)> {
        let len = self.len.checked_sub(at)?;
        Some((Self { len: at, ..self }, Self { start: self.start.wrapping_add(at), len, ..self }))
    }

    /// Returns the bytes. Only `arrange`, or a call that has made no slice of an output, may do so.
    #[inline]
    fn bytes(self) -> &'a [u8] {
        match self.len {
            0 => &[],
            // SAFETY: `check` found the pointer non-null and the length possible. The header
            // requires that these bytes are readable and do not change during the call; the result
            // has the call's lifetime.
            len => unsafe { std::slice::from_raw_parts(self.start, len) },
        }
    }

    fn span(self) -> Range<usize> {
        self.start.addr()..self.start.addr() + self.len
    }
}

impl Out {
    #[inline]
    pub(crate) fn output<'a>(
        self,
        _: &'a Call,
        name: &'static str,
        len: usize,
    ) -> Result<Output<'a>, ArgumentError> {
        check(name, self.0, len)?;
        Ok(Output { start: self.0, len, call: PhantomData })
    }
}

impl<'a> Output<'a> {
    /// Returns all bytes, for a call that reads no caller bytes.
    #[inline]
    pub(crate) fn bytes(self) -> &'a mut [u8] {
        match self.len {
            0 => &mut [],
            // SAFETY: as in `Input::bytes`; the header requires that these bytes are writable and
            // unused by other threads. `arrange` finds overlapping inputs, and `overlaps` a second
            // output.
            len => unsafe { std::slice::from_raw_parts_mut(self.start, len) },
        }
    }

    /// Splits the output into `head` bytes, as many bytes as `data`, and `tail` bytes. `data` may
    /// be where its result goes.
    ///
    /// # Errors
    /// Returns [`Misuse::OutputTooShort`], or [`Misuse::PartialOverlap`] if input and output
    /// overlap in any other way. Nothing is written.
    #[inline]
    pub(crate) fn arrange<const N: usize>(
        self,
        head: usize,
        data: Input<'a>,
        tail: usize,
        others: [Input<'a>; N],
    ) -> Result<Layout<'a, N>> {
        let need = data.len.saturating_add(head).saturating_add(tail);
        if self.len < need {
            return Err(Misuse::OutputTooShort { got: self.len, need }.into());
        }
        let written = self.start.addr()..self.start.addr() + need;
        let in_place = data.len > 0 && data.start.addr() == written.start + head;
        if (!in_place && overlap(&written, &data.span()))
            || others.iter().any(|other| overlap(&written, &other.span()))
        {
            return Err(Misuse::PartialOverlap.into());
        }
        // The slice is unique: the inputs do not overlap it, and `data` in place does not become a
        // slice.
        let (head, rest) = Self { len: need, ..self }.bytes().split_at_mut(head);
        let (to, tail) = rest.split_at_mut(data.len);
        let data = if in_place { InOut::in_place(to) } else { InOut::apart(data.bytes(), to) };
        Ok(Layout { head, data, tail, others: others.map(Input::bytes) })
    }
}

#[inline]
fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    !a.is_empty() && !b.is_empty() && a.start < b.end && b.start < a.end
}

/// Returns a byte count as a call's result. `check` limits all lengths to `isize::MAX`.
#[inline]
pub(crate) fn count(len: usize) -> i64 {
    len as i64
}

// Texts.

impl CText {
    /// Returns the text of argument `name`, or `None` if null.
    pub(crate) fn optional<'a>(
        self,
        call: &'a Call,
        name: &'static str,
    ) -> Result<Option<&'a str>, ArgumentError> {
        let text = self.terminated(call).map(CStr::to_str).transpose();
        // The position of the first invalid byte does not help, and the text may be secret.
        text.map_err(|_| ArgumentError::NotUtf8 { name })
    }

    pub(crate) fn required<'a>(self, call: &'a Call, name: &'static str) -> Result<&'a str, ArgumentError> {
        self.optional(call, name)?.ok_or(ArgumentError::Null { name })
    }

    /// Returns the path of argument `name`; any bytes are allowed.
    pub(crate) fn path<'a>(self, call: &'a Call, name: &'static str) -> Result<&'a Path, ArgumentError> {
        let text = self.terminated(call).ok_or(ArgumentError::Null { name })?;
        Ok(OsStr::from_bytes(text.to_bytes()).as_ref())
    }

    fn terminated(self, _: &Call) -> Option<&CStr> {
        // SAFETY: the pointer is not null. The header requires a terminating zero and that the text
        // does not change during the call; the result has the call's lifetime.
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) })
    }
}

// Handles.

/// A handle that several threads share.
pub(crate) trait Handle: 'static {
    /// Whether calls with it call the caller's functions, so that the caller may free it during a
    /// call. Counting takes time, so calls for messages, which call no function, do not count.
    const COUNTED: bool = false;
}

impl<T: Handle> Shared<T> {
    #[inline]
    pub(crate) fn get<'a>(self, call: &'a Call, name: &'static str) -> Result<&'a T, ArgumentError> {
        if T::COUNTED && !self.0.is_null() {
            // SAFETY: the header requires a handle that `Owned::new` made and that is not freed.
            let held = unsafe {
                Arc::increment_strong_count(self.0);
                Arc::from_raw(self.0)
            };
            call.0.borrow_mut().push(held);
        }
        // SAFETY: the header requires null or a live handle of this type from an earlier call. It
        // lives as long as the call, which holds it if it can be freed in the meantime.
        unsafe { self.0.as_ref() }.ok_or(ArgumentError::Null { name })
    }
}

impl<T> Unique<T> {
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "the call gives its lifetime, not the value")]
    pub(crate) fn get<'a>(self, _: &'a Call, name: &'static str) -> Result<&'a mut T, ArgumentError> {
        // SAFETY: as in `Shared::get`; the header requires that no other call uses the handle at
        // the same time.
        unsafe { self.0.as_mut() }.ok_or(ArgumentError::Null { name })
    }

    /// Writes a value to the caller's structure, if given.
    pub(crate) fn put(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null; the header requires the memory of one `T`, whatever it contains.
            unsafe { self.0.write(value) }
        }
    }
}

impl<T> Owned<T> {
    /// The result of a failed call.
    pub(crate) const NULL: Self = Self(std::ptr::null_mut());

    /// Gives a value to the caller.
    pub(crate) fn new(value: T) -> Self {
        LIVE.fetch_add(1, Relaxed);
        Self(Arc::into_raw(Arc::new(value)).cast_mut())
    }

    /// Takes a value back and drops it, or lets the last call that holds it do so. Does nothing for
    /// null.
    pub(crate) fn free(self) {
        if !self.0.is_null() {
            LIVE.fetch_sub(1, Relaxed);
            // SAFETY: the header requires null or a handle made by `new` and freed once.
            drop(unsafe { Arc::from_raw(self.0) });
        }
    }
}

// Results of unknown length.

/// Bytes the caller will own. Their length precedes them, so that [`Out::free_result`] needs only
/// the pointer.
pub(crate) struct ResultBytes {
    start: NonNull<u8>,
    len: usize,
}

/// Bytes in front of a result; keeps `malloc`'s alignment.
const PREFIX: usize = 16;

fn allocation(len: usize) -> Result<Allocation> {
    let size = len.checked_add(PREFIX).and_then(|size| Allocation::from_size_align(size, PREFIX).ok());
    size.ok_or_else(|| CallError::out_of_memory(len))
}

impl ResultBytes {
    /// Returns `len` zeros; the system maps them when they are written.
    pub(crate) fn zeroed(len: usize) -> Result<Self> {
        let allocation = allocation(len)?;
        // SAFETY: the size is not zero, because of the prefix.
        let start = NonNull::new(unsafe { alloc_zeroed(allocation) });
        let start = start.ok_or_else(|| CallError::out_of_memory(len))?;
        // SAFETY: the allocation begins with the prefix, which is aligned for and longer than a
        // `usize`.
        unsafe { start.cast::<usize>().write(len) };
        LIVE.fetch_add(1, Relaxed);
        // SAFETY: the allocation is at least as long as its prefix.
        Ok(Self { start: unsafe { start.add(PREFIX) }, len })
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `start` points to `len` zeroed bytes that nothing else refers to.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for ResultBytes {
    fn drop(&mut self) {
        self.bytes().zeroize();
        LIVE.fetch_sub(1, Relaxed);
        if let Ok(allocation) = allocation(self.len) {
            // SAFETY: `zeroed` made this allocation with this size, and nothing else frees it.
            unsafe { dealloc(self.start.sub(PREFIX).as_ptr(), allocation) };
        }
    }
}

impl Given {
    /// Sets the caller's pointer to null, which it stays after a failure.
    pub(crate) fn clear(&self) {
        if !self.0.is_null() {
            // SAFETY: not null; the header requires the memory of one pointer, whatever it
            // contains.
            unsafe { self.0.write(std::ptr::null_mut()) };
        }
    }

    pub(crate) fn get<'a>(self, _: &'a Call, name: &'static str) -> Result<Destination<'a>, ArgumentError> {
        self.clear();
        // SAFETY: null, or the memory of one pointer, which `clear` wrote.
        unsafe { self.0.as_mut() }.map(Destination).ok_or(ArgumentError::Null { name })
    }
}

impl Out {
    /// Wipes and frees a call's result. Does nothing for null.
    pub(crate) fn free_result(self) {
        if let Some(start) = NonNull::new(self.0) {
            // SAFETY: the header requires a result of `Given::put`, with its length in front.
            let len = unsafe { start.sub(PREFIX).cast::<usize>().read() };
            drop(ResultBytes { start, len });
        }
    }
}

// Structures that begin with their size.

/// A structure in the header that begins with `size_t size`, the size known to the caller.
///
/// # Safety
/// The type is `repr(C)` and begins with a `usize`. Its members may have any bytes that C writes.
pub(crate) unsafe trait BeginsWithSize: Copy {}

impl<T: BeginsWithSize> SizedIn<T> {
    /// Returns a copy of the structure in argument `name`, or `None` if null.
    pub(crate) fn optional(self, name: &'static str) -> Result<Option<T>, ArgumentError> {
        if self.0.is_null() {
            return Ok(None);
        }
        check_size::<T>(name, self.0)?;
        // SAFETY: not null, and the caller says it has the size of a `T`, whose members may have
        // any bytes.
        Ok(Some(unsafe { self.0.read() }))
    }

    pub(crate) fn required(self, name: &'static str) -> Result<T, ArgumentError> {
        self.optional(name)?.ok_or(ArgumentError::Null { name })
    }
}

impl<T: BeginsWithSize> SizedOut<T> {
    pub(crate) fn put(self, name: &'static str, value: T) -> Result<(), ArgumentError> {
        if self.0.is_null() {
            return Err(ArgumentError::Null { name });
        }
        check_size::<T>(name, self.0)?;
        // SAFETY: not null, and the caller says it has the size of a `T`.
        unsafe { self.0.write(value) };
        Ok(())
    }
}

fn check_size<T: BeginsWithSize>(name: &'static str, start: *const T) -> Result<(), ArgumentError> {
    // SAFETY: the pointer is not null, and every such structure begins with its size.
    let found = unsafe { start.cast::<usize>().read() };
    match size_of::<T>() {
        expected if expected == found => Ok(()),
        expected => Err(ArgumentError::StructSize { name, found, expected }),
    }
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct AeadDescription {
    pub(crate) size: usize,
    pub(crate) nonce_len: usize,
    pub(crate) tag_len: usize,
    pub(crate) max_plaintext_len: u64,
    pub(crate) algorithm: [u8; 32],
    pub(crate) provider: [u8; 32],
    pub(crate) variant: [u8; 32],
}

// SAFETY: it is `repr(C)`, begins with a `usize` and consists of integers.
unsafe impl BeginsWithSize for AeadDescription {}

/// Reports progress. A nonzero result cancels the operation.
type Progress = unsafe extern "C" fn(context: *mut c_void, done: u64, total: u64) -> i32;

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Options {
    size: usize,
    pub(crate) threads: u32,
    pub(crate) flags: u32,
    progress: Option<Progress>,
    context: *mut c_void,
}

// SAFETY: it is `repr(C)` and begins with a `usize`. A function pointer is null or a function, as
// the header requires.
unsafe impl BeginsWithSize for Options {}

impl Options {
    /// Returns a function that reports progress, if the caller wants reports.
    pub(crate) fn progress(self) -> Option<impl FnMut(u64, Option<u64>) -> ControlFlow<()>> {
        let Self { progress, context, .. } = self;
        progress.map(|report| {
            move |done, total: Option<u64>| {
                // SAFETY: the header requires a function that can be called with this context
                // during the call.
                match unsafe { report(context, done, total.unwrap_or(SEALANE_UNKNOWN)) } {
                    0 => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                }
            }
        })
    }
}

/// Reads up to `len` bytes from `offset` and returns their number, or a negative error number.
type ReadFunction = unsafe extern "C" fn(context: *mut c_void, offset: u64, into: *mut u8, len: usize) -> i64;

/// A source read by the caller's functions.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Source {
    size: usize,
    length: u64,
    read_at: Option<ReadFunction>,
    context: *mut c_void,
    flags: u32,
}

// SAFETY: it is `repr(C)` and begins with a `usize`. A function pointer is null or a function, as
// the header requires.
unsafe impl BeginsWithSize for Source {}

pub(crate) struct CallerSource {
    length: u64,
    read_at: ReadFunction,
    context: *mut c_void,
    /// Locked during a read if the caller wants one read at a time.
    one_at_a_time: Option<Mutex<()>>,
}

// SAFETY: the header requires that every thread can call the function, and several at once unless
// reads are locked.
unsafe impl Send for CallerSource {}
// SAFETY: as above.
unsafe impl Sync for CallerSource {}

impl Source {
    pub(crate) fn checked(self) -> Result<CallerSource, ArgumentError> {
        let read_at = self.read_at.ok_or(ArgumentError::NullFunction { name: "source->read_at" })?;
        let calling_thread = flags(self.flags, SEALANE_CALLING_THREAD)? != 0;
        let Self { length, context, .. } = self;
        Ok(CallerSource { length, read_at, context, one_at_a_time: calling_thread.then(Mutex::default) })
    }
}

impl ReadAt for CallerSource {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let _lock = self.one_at_a_time.as_ref().map(|mutex| mutex.lock());
        // SAFETY: the header requires a function that writes at most `len` bytes, and they are
        // there.
        let read = unsafe { (self.read_at)(self.context, offset, into.as_mut_ptr(), into.len()) };
        match usize::try_from(read) {
            Ok(read) if read <= into.len() => Ok(read),
            Ok(_) => Err(io::Error::other("read_at returned more bytes than were requested")),
            // It fails only for a negative number.
            Err(_) => Err(match i32::try_from(read.unsigned_abs()) {
                Ok(code) => io::Error::from_raw_os_error(code),
                Err(_) => io::Error::other("read_at failed"),
            }),
        }
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.length)
    }

    fn concurrency(&self) -> Concurrency {
        match self.one_at_a_time {
            Some(_) => Concurrency::Serialized,
            None => Concurrency::Parallel,
        }
    }
}

/// Returns a call's argument, for tests.
#[cfg(test)]
pub(crate) fn lent<T>(value: &mut T) -> Unique<T> {
    Unique(value)
}

mod outputs;
#[cfg(test)]
mod test;

//! Memory for data whose length comes from an input.
//!
//! `vec![0; len]` aborts the process if memory is short, so a file or a message could kill it. All
//! buffers of such a length come from this module; an architecture test checks that.

use crate::{Error, Misuse, Result};
use std::ops::{Deref, DerefMut};

/// Address space for one more thread: 2 MiB of stack, 64 MiB for an arena of the allocator on
/// Linux, and buffers.
const BYTES_OF_THREAD: usize = 72 << 20;

/// Returns how many of `wanted` threads fit into the address space, the calling one included.
///
/// The standard library aborts the process if a new thread gets no memory for its signal stack. So
/// where address space is limited, we reserve the space and release it at once. On 32-bit systems
/// the space is too large to reserve, and the threads are few.
pub fn affordable_threads(wanted: usize) -> usize {
    if wanted <= 1 {
        return 1;
    }
    let limited = cfg!(target_pointer_width = "64") && address_space_is_limited();
    let affordable = |threads: usize| {
        let bytes = (threads - 1).saturating_mul(BYTES_OF_THREAD);
        // More than a process can address is refused without a limit too.
        !(limited || bytes > isize::MAX as usize) || with_capacity::<u8>(bytes).is_ok()
    };
    let mut threads = wanted;
    while !affordable(threads) {
        threads /= 2;
    }
    threads
}

/// Returns whether this process may get less address space than the processor has: because of a
/// resource limit (`RLIMIT_AS`), or because the system does not overcommit memory.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn address_space_is_limited() -> bool {
    use rustix::process::{Resource, getrlimit};
    use std::sync::LazyLock;
    /// Overcommit mode 2. Assumed if `/proc` is missing.
    static STRICT: LazyLock<bool> = LazyLock::new(|| {
        std::fs::read("/proc/sys/vm/overcommit_memory").map_or(true, |mode| mode.starts_with(b"2"))
    });
    getrlimit(Resource::As).current.is_some() || *STRICT
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn address_space_is_limited() -> bool {
    true
}

/// Returns whether a thread may take the address space that the caller's result needs. We know of
/// no such limit outside Linux.
pub(crate) fn threads_take_from_results() -> bool {
    cfg!(any(target_os = "linux", target_os = "android")) && address_space_is_limited()
}

/// Returns `len` zeros.
///
/// # Errors
/// Returns [`Error::OutOfMemory`].
pub fn zeroed(len: usize) -> Result<Vec<u8>> {
    providers::try_zeroed(len).ok_or(Error::OutOfMemory { bytes: len })
}

/// A buffer for plaintext, wiped on drop with all of its capacity. `Zeroizing` writes byte by byte
/// and the capacity twice, 2.7 GB/s on Zen 4: slower than AES-GCM. This takes 90 GB/s.
#[derive(Default)]
pub struct Wiped(pub Vec<u8>);

impl Deref for Wiped {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Wiped {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        // What was cut off is behind the length.
        self.0.resize(self.0.capacity(), 0);
        providers::wipe(&mut self.0);
    }
}

/// Returns an empty vector with space for `len` elements.
///
/// # Errors
/// Returns [`Error::OutOfMemory`].
pub fn with_capacity<T>(len: usize) -> Result<Vec<T>> {
    let mut empty = Vec::new();
    reserve(&mut empty, len)?;
    Ok(empty)
}

/// Reserves space for `more` elements.
///
/// # Errors
/// Returns [`Error::OutOfMemory`].
pub fn reserve<T>(data: &mut Vec<T>, more: usize) -> Result<()> {
    // The error says no more than this.
    let refused = |_| Error::OutOfMemory { bytes: more.saturating_mul(size_of::<T>()) };
    data.try_reserve_exact(more).map_err(refused)
}

/// Appends `more` to a buffer that grows piece by piece.
///
/// # Errors
/// Returns [`Error::OutOfMemory`] and leaves the buffer unchanged.
pub fn append(bytes: &mut Vec<u8>, more: &[u8]) -> Result<()> {
    // Not exact, so that appending many pieces takes linear time.
    bytes.try_reserve(more.len()).map_err(|_| Error::OutOfMemory { bytes: more.len() })?;
    bytes.extend_from_slice(more);
    Ok(())
}

/// Changes the length of a buffer, filling new bytes with zeros.
///
/// # Errors
/// Returns [`Error::OutOfMemory`] and leaves the buffer unchanged.
pub fn resize(bytes: &mut Vec<u8>, len: usize) -> Result<()> {
    reserve(bytes, len.saturating_sub(bytes.len()))?;
    bytes.resize(len, 0);
    Ok(())
}

/// Returns the first `need` bytes of `out`, or an error if it is shorter.
#[inline]
#[doc(hidden)]
pub fn first(out: &mut [u8], need: usize) -> Result<&mut [u8], Misuse> {
    let got = out.len();
    match out.get_mut(..need) {
        Some(first) => Ok(first),
        None => Err(Misuse::OutputTooShort { got, need }),
    }
}

/// Decrypts to `out` with `open`. On failure, overwrites `out` with zeros.
#[doc(hidden)]
pub fn clear_on_error(out: &mut [u8], open: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
    let opened = open(out);
    if opened.is_err() {
        out.fill(0);
    }
    opened
}

/// Returns a copy of `bytes`.
///
/// # Errors
/// Returns [`Error::OutOfMemory`].
pub fn copy(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = with_capacity(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn threads_that_no_machine_has() {
        assert_eq!([affordable_threads(0), affordable_threads(1), affordable_threads(2)], [1, 1, 2]);
        // Wine grants terabytes that Windows refuses, and kills the process when memory runs out.
        #[cfg(not(windows))]
        {
            let count = affordable_threads(usize::MAX);
            assert!(count > 0 && count < usize::MAX, "{count}");
        }
    }

    /// There is space for three and a half more threads. The limit applies to a whole process, so a
    /// child sets it.
    #[test]
    #[cfg(target_os = "linux")]
    fn threads_within_a_limit_of_address_space() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        if !crate::test::in_child("memory::test::threads_within_a_limit_of_address_space") {
            return;
        }
        let maximum = getrlimit(Resource::As).maximum;
        let limit = |current| setrlimit(Resource::As, Rlimit { current, maximum }).unwrap();
        limit(maximum);
        let strict = std::fs::read("/proc/sys/vm/overcommit_memory").unwrap().starts_with(b"2");
        assert_eq!(address_space_is_limited(), strict || maximum.is_some());
        let pages: u64 =
            std::fs::read_to_string("/proc/self/statm").unwrap().split(' ').next().unwrap().parse().unwrap();
        limit(Some(pages * 4096 + 7 * BYTES_OF_THREAD as u64 / 2));
        assert!(address_space_is_limited());
        assert_eq!([1, 2, 4, 5, 8, 31].map(affordable_threads), [1, 2, 4, 2, 4, 3]);
    }

    #[test]
    fn refuses_what_no_machine_has() {
        const FAR_TOO_MUCH: usize = isize::MAX as usize;
        let refused = |result: Result<()>| matches!(result, Err(Error::OutOfMemory { bytes: FAR_TOO_MUCH }));
        assert!(refused(zeroed(FAR_TOO_MUCH).map(drop)));
        assert!(refused(with_capacity::<u8>(FAR_TOO_MUCH).map(drop)));
        let mut bytes = vec![7];
        assert!(matches!(resize(&mut bytes, FAR_TOO_MUCH), Err(Error::OutOfMemory { .. })));
        assert_eq!(bytes, [7]);
        resize(&mut bytes, 3).unwrap();
        append(&mut bytes, &[8]).unwrap();
        assert_eq!(copy(&bytes).unwrap(), [7, 0, 0, 8]);
        assert_eq!(zeroed(3).unwrap(), [0; 3]);
    }
}

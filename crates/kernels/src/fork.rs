//! Detection of forks: a mark in memory that becomes zero in a child process.

use core::sync::atomic::AtomicU64;

/// Returns a number that is zero at first and becomes zero again in every forked child, or `None`
/// where this is not supported. It is supported on 64-bit Linux since 4.14, but not by the user
/// mode of qemu; then compare process ids.
///
/// A generator of nonces or random bytes that was copied by `fork` must not continue as if it were
/// the only one. If it finds zero here, it stores a number that no ancestor used; if it finds
/// another number than the last time, it starts again. Reading the mark costs one load, whereas
/// reading the process id is a system call.
///
/// Processes that *share* memory (`vfork`, `CLONE_VM`) share the mark too.
pub fn fork_mark() -> Option<&'static AtomicU64> {
    os::mark()
}

#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
mod os {
    use core::ffi::{c_int, c_void};
    use core::ptr::null_mut;
    use core::sync::atomic::AtomicU64;
    use std::sync::OnceLock;

    const PROT_READ_WRITE: c_int = 1 | 2;
    const MAP_PRIVATE_ANONYMOUS: c_int = 0x02 | 0x20;
    const MADV_WIPEONFORK: c_int = 18;
    const NO_ADVICE: c_int = -1;
    /// The kernel rounds up to its page size, never smaller.
    const PAGE: usize = 4096;

    // Declared here, because this crate has no dependencies. `off_t` has 64 bits on every 64-bit
    // Linux. The prototypes are those of mmap(2) and madvise(2), and std links the C library
    // anyway.
    unsafe extern "C" {
        fn mmap(
            at: *mut c_void,
            len: usize,
            prot: c_int,
            flags: c_int,
            file: c_int,
            offset: i64,
        ) -> *mut c_void;
        fn madvise(at: *mut c_void, len: usize, advice: c_int) -> c_int;
    }

    pub(super) fn mark() -> Option<&'static AtomicU64> {
        static MARK: OnceLock<Option<&'static AtomicU64>> = OnceLock::new();
        *MARK.get_or_init(page)
    }

    /// Maps a page for the life of the process. If it cannot be marked, it is never touched, so it
    /// takes no memory.
    fn page() -> Option<&'static AtomicU64> {
        // SAFETY: a new private mapping at any address; existing memory is not touched.
        let page = unsafe { mmap(null_mut(), PAGE, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0) };
        if page.addr() == usize::MAX {
            return None; // MAP_FAILED
        }
        // SAFETY: advice on exactly the mapping just made; it has no other user.
        let accepts = |advice| unsafe { madvise(page, PAGE, advice) } == 0;
        // The user mode of qemu 7.2 accepts any advice and follows none. So invalid advice is tried
        // first.
        if accepts(NO_ADVICE) || !accepts(MADV_WIPEONFORK) {
            return None;
        }
        // SAFETY: the mapping is page-aligned, readable, writable, zero, as long as any u64, and
        // never unmapped.
        Some(unsafe { &*page.cast::<AtomicU64>() })
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", not(miri))))]
mod os {
    use core::sync::atomic::AtomicU64;

    pub(super) fn mark() -> Option<&'static AtomicU64> {
        None
    }
}

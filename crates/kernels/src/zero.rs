//! Memory that must become zero: secrets when they die, and a mark when the process forks.

use core::sync::atomic::AtomicU64;
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
use core::sync::atomic::{Ordering, compiler_fence};

mod sealed {
    pub trait Plain: Copy + Default {}
    impl Plain for u8 {}
    impl Plain for u32 {}
    impl Plain for u64 {}
    impl Plain for u128 {}
}

/// Overwrites with zeros, also where the compiler can prove that nobody reads them.
#[inline]
pub fn wipe<T: sealed::Plain>(data: &mut [T]) {
    data.fill(T::default());
    seen(data);
}

/// Has the compiler believe that somebody reads all of this, so that what was written must be there. Written in one
/// piece and then seen it takes a third of the time of volatile writes, and every message of GCM-SIV wipes its keys.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#[inline(always)]
fn seen<T>(data: &mut [T]) {
    // SAFETY: no instruction. Without `nomem` it counts as one that may read what the pointer leads to.
    unsafe { core::arch::asm!("/* {} */", in(reg) data.as_mut_ptr(), options(nostack, preserves_flags)) }
}

/// The same by volatile reads, where there is no `asm!`.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
fn seen<T: sealed::Plain>(data: &mut [T]) {
    for x in data {
        // SAFETY: `x` is a unique reference to an integer, so it is valid for a read.
        unsafe { core::ptr::read_volatile(x) };
    }
    // What frees or reuses the memory next must stay behind the reads.
    compiler_fence(Ordering::SeqCst);
}

/// Wipes what the call before this one left on the stack: registers that a long loop had no room for. `WORDS` words of 64
/// bits are more than its frame has.
#[inline(never)]
pub(crate) fn wipe_dead_stack<const WORDS: usize>() {
    let mut dead = [0u64; WORDS];
    wipe(&mut dead);
}

/// A number that is zero at first and becomes zero again in every forked child.
///
/// A generator of nonces or random bytes that was copied by `fork` must not go on as if it were alone. Whoever
/// finds zero here writes a number that no ancestor used, and whoever finds another number than at its last visit
/// starts over. Reading it costs one load, where asking for the process id is a system call.
///
/// `None` where the operating system cannot do this (Linux can since 4.14, its emulators cannot); then compare process ids. Processes that
/// *share* memory (`vfork`, `CLONE_VM`) share the mark too.
pub fn fork_mark() -> Option<&'static AtomicU64> {
    fork::mark()
}

#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
mod fork {
    use core::ffi::{c_int, c_void};
    use core::ptr::null_mut;
    use core::sync::atomic::AtomicU64;
    use std::sync::OnceLock;

    const PROT_READ_WRITE: c_int = 1 | 2;
    const MAP_PRIVATE_ANONYMOUS: c_int = 0x02 | 0x20;
    const MADV_WIPEONFORK: c_int = 18;
    const NO_ADVICE: c_int = -1;
    /// The kernel rounds up to its own page, which is never smaller.
    const PAGE: usize = 4096;

    // By hand, because this crate has no dependencies. `off_t` is 64 bits wide on every 64-bit Linux.
    // The prototypes are those of mmap(2) and madvise(2), and std links the C library anyway.
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

    /// A page for the life of the process. One that cannot be marked is never touched, so it costs no memory.
    fn page() -> Option<&'static AtomicU64> {
        // SAFETY: a new private mapping, anywhere; no memory of ours is touched.
        let page = unsafe { mmap(null_mut(), PAGE, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0) };
        if page.addr() == usize::MAX {
            return None; // MAP_FAILED
        }
        // SAFETY: advice on exactly the mapping just made, which nobody else knows.
        let accepts = |advice| unsafe { madvise(page, PAGE, advice) } == 0;
        // qemu's user mode (7.2, tried) takes any advice and follows none. So ask for nonsense first.
        if accepts(NO_ADVICE) || !accepts(MADV_WIPEONFORK) {
            return None;
        }
        // SAFETY: the mapping is page-aligned, readable, writable, zero, as long as any u64, and never unmapped.
        Some(unsafe { &*page.cast::<AtomicU64>() })
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", not(miri))))]
mod fork {
    use core::sync::atomic::AtomicU64;

    pub(super) fn mark() -> Option<&'static AtomicU64> {
        None
    }
}

#[cfg(test)]
mod test {
    use super::wipe;

    #[test]
    fn wipes_exactly_what_it_is_given() {
        for start in 0..16 {
            for end in start..40 {
                let mut data = [0xa5u8; 40];
                wipe(&mut data[start..end]);
                let zero = |i: usize| (start..end).contains(&i);
                assert!(data.iter().enumerate().all(|(i, b)| *b == if zero(i) { 0 } else { 0xa5 }));
            }
        }
        let mut words = [7u32; 5];
        wipe(&mut words[1..4]);
        assert_eq!(words, [7, 0, 0, 0, 7]);
    }
}

//! Creates the memory pages of a large new object ahead of the thread that writes to it.
//!
//! The pages of a large new object do not exist until they are touched, and creating them costs more than encrypting:
//! 2.7 GB/s with pages of 4 KiB, 15 GB/s with huge pages (measured). So huge pages are requested, and if one thread
//! writes, another one creates them ahead of it. For example, sealing 256 MiB into a new object on one thread takes 49 ms
//! without the other thread and 35 ms with it. Several threads that write create the pages themselves: another one would take
//! a core from them (32 ms with it, 27 ms without; `lab/record/one-message-zen4-2026-11-23.md`).

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Size in bytes of a huge page, which is 2 MiB.
const HUGE_PAGE: usize = 2 << 20;
/// Length in bytes from which on huge pages are worth requesting.
const HUGE_PAGES_LEN: usize = 4 << 20;
/// Length in bytes from which on a populating thread is worth its start (62 us, measured).
const THREAD_LEN: usize = 16 << 20;

/// The threads that write to an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writers {
    One,
    Several,
}

impl Writers {
    /// Returns `Several` if the work is divided among threads.
    pub(crate) fn of(is_divided: bool) -> Self {
        if is_divided { Self::Several } else { Self::One }
    }
}

/// Advice to the operating system about a range of memory. Neither changes a byte.
#[derive(Clone, Copy)]
pub(crate) enum Advice {
    /// Use huge pages for the range, where the system has them.
    HugePages,
    /// Create the pages of the range now instead of at the first write to each page.
    Populate,
}

/// Runs `fill`, which writes to the memory at the addresses `object`, while its pages are created. `writers`, which is called
/// for a large object, returns how many threads write.
///
/// `advise` passes an advice about a part of `object` to the operating system and returns whether it was accepted.
#[inline]
pub(crate) fn with_populated_pages<T>(
    object: Range<usize>,
    advise: impl Fn(Range<usize>, Advice) -> bool + Sync,
    writers: impl FnOnce() -> Writers,
    fill: impl FnOnce() -> T,
) -> T {
    if !cfg!(target_os = "linux") || object.len() < HUGE_PAGES_LEN {
        return fill();
    }
    let pages = object.start.next_multiple_of(HUGE_PAGE)..object.end / HUGE_PAGE * HUGE_PAGE;
    advise(pages.clone(), Advice::HugePages);
    if object.len() < THREAD_LEN || writers() == Writers::Several {
        return fill();
    }
    let filled = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let populate = || {
            pages
                .step_by(HUGE_PAGE)
                .take_while(|_| !filled.load(Ordering::Relaxed))
                .take_while(|&page| advise(page..page + HUGE_PAGE, Advice::Populate))
                .for_each(drop);
        };
        // If no thread can be started, `fill` creates the pages itself.
        let _ = std::thread::Builder::new().spawn_scoped(scope, populate);
        let result = fill();
        filled.store(true, Ordering::Relaxed);
        result
    })
}

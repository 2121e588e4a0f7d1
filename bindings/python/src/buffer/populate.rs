//! Creates the memory pages of a large new object ahead of the thread that writes it.
//!
//! The pages of a large new object do not exist until touched, and creating them costs more than
//! encrypting: 2.7 GB/s with 4 KiB pages, 15 GB/s with huge pages (measured). So we request huge
//! pages, and if one thread writes, another creates the pages ahead of it: sealing 256 MiB into a
//! new object on one thread takes 35 ms with the helper and 49 ms without. Several writing threads
//! create the pages themselves; a helper would take a core from them (32 ms with it, 27 ms without;
//! `lab/record/one-message-zen4-2026-11-23.md`).
#![forbid(unsafe_code)]

use sealane::without_signals;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Size of a huge page: 2 MiB.
const HUGE_PAGE: usize = 2 << 20;
/// Length from which huge pages are worth requesting.
const HUGE_PAGES_LEN: usize = 4 << 20;
/// Length from which a populating thread is worth its start (62 us, measured).
const THREAD_LEN: usize = 16 << 20;

/// How many threads write to an object.
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

/// Advice to the operating system about a memory range. Changes no byte.
#[derive(Clone, Copy)]
pub(crate) enum Advice {
    /// Use huge pages for the range where available.
    HugePages,
    /// Create the pages of the range now rather than at the first write.
    Populate,
}

/// Runs `fill`, which writes to the memory at `object`, while its pages are created. For a large
/// object, `writers` tells how many threads write.
///
/// `advise` advises the operating system about part of `object` and returns whether it accepted.
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
        let builder = std::thread::Builder::new().name("sealane".into());
        let _ = without_signals(|| builder.spawn_scoped(scope, populate));
        let result = fill();
        filled.store(true, Ordering::Relaxed);
        result
    })
}

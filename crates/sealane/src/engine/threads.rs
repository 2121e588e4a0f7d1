//! The limits on threads, stated once for single files and for bulk jobs.

use std::num::NonZeroUsize;

/// Limit of [`default_threads`]. More threads do not make a file faster: the kernel's page cache is the bottleneck by
/// then.
const MAX_DEFAULT_THREADS: usize = 8;

/// Limit of a requested number of threads, because each thread allocates buffers of its own.
const MAX_THREADS: usize = 256;

/// Length in bytes from which a bulk job gives one source file all threads. A shorter file gets one thread, and several
/// of them are processed at once: making threads costs 62 µs each (measured), and opening and renaming a file is not
/// parallel.
pub const PARALLEL_FILE_LEN: u64 = 4 << 20;

/// Returns the number of threads used where the caller requests none: one per core, at most 8.
pub(crate) fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_DEFAULT_THREADS)
}

/// Returns the number of threads for a request; `None` stands for the default.
pub(crate) fn thread_count(requested: Option<NonZeroUsize>) -> usize {
    requested.map_or_else(default_threads, |n| n.get().min(MAX_THREADS))
}

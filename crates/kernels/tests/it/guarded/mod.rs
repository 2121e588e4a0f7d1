//! Buffers between two inaccessible pages, so that an access out of bounds is a fault.

use std::ptr::null_mut;

/// The edge of the page at which the bytes are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edge {
    Start,
    End,
}

/// A page with an inaccessible page on either side.
pub(crate) struct GuardedBuffer {
    start: *mut u8,
    len: usize,
    page: usize,
}

impl GuardedBuffer {
    pub(crate) fn new() -> Self {
        // SAFETY: the call only returns a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let len = page;
        // SAFETY: a new mapping, of which the pages between the first and the last are made accessible.
        unsafe {
            let all = libc::mmap(
                null_mut(),
                len + 2 * page,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(all, libc::MAP_FAILED);
            let start = all.byte_add(page);
            assert_eq!(libc::mprotect(start, len, libc::PROT_READ | libc::PROT_WRITE), 0);
            Self { start: start.cast(), len, page }
        }
    }

    /// Returns `len` bytes at an edge.
    pub(crate) fn bytes(&mut self, len: usize, edge: Edge) -> &mut [u8] {
        assert!(len <= self.len);
        let skip = match edge {
            Edge::Start => 0,
            Edge::End => self.len - len,
        };
        // SAFETY: the bytes are in the accessible pages, and `self` is borrowed for as long.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(skip), len) }
    }
}

impl Drop for GuardedBuffer {
    fn drop(&mut self) {
        // SAFETY: this is exactly the mapping of `new`.
        unsafe { libc::munmap(self.start.sub(self.page).cast(), self.len + 2 * self.page) };
    }
}

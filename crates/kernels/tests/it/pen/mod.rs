//! Memory between two pages that nobody may touch.

use std::ptr::null_mut;

/// Which end of the pen the bytes touch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edge {
    Start,
    End,
}

/// Some pages with an inaccessible one on either side.
pub(crate) struct Pen {
    start: *mut u8,
    len: usize,
    page: usize,
}

impl Pen {
    pub(crate) fn new() -> Self {
        // SAFETY: asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let len = page;
        // SAFETY: a new mapping, of which the pages but the first and the last are then opened.
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

    /// `len` bytes at an edge.
    pub(crate) fn bytes(&mut self, len: usize, edge: Edge) -> &mut [u8] {
        assert!(len <= self.len);
        let skip = match edge {
            Edge::Start => 0,
            Edge::End => self.len - len,
        };
        // SAFETY: inside the opened pages, and `self` is borrowed for as long.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(skip), len) }
    }
}

impl Drop for Pen {
    fn drop(&mut self) {
        // SAFETY: exactly what `new` mapped.
        unsafe { libc::munmap(self.start.sub(self.page).cast(), self.len + 2 * self.page) };
    }
}

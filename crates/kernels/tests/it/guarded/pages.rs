//! Memory of the operating system whose pages are inaccessible at first.

#[cfg(unix)]
mod system {
    use std::ptr::null_mut;

    pub(crate) fn page_len() -> usize {
        // SAFETY: the call only returns a number.
        unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
    }

    pub(super) fn reserve(len: usize) -> Option<*mut u8> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping without any access.
        let start = unsafe { libc::mmap(null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
        (start != libc::MAP_FAILED).then_some(start.cast())
    }

    /// # Safety
    /// The pages must be part of what [`reserve`] returned.
    pub(super) unsafe fn make_accessible(start: *mut u8, len: usize) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { libc::mprotect(start.cast(), len, libc::PROT_READ | libc::PROT_WRITE) == 0 }
    }

    /// # Safety
    /// This must be exactly what [`reserve`] returned.
    pub(super) unsafe fn release(start: *mut u8, len: usize) {
        // SAFETY: the caller guarantees it.
        unsafe { libc::munmap(start.cast(), len) };
    }
}

#[cfg(windows)]
mod system {
    use std::ptr::null;
    use windows_sys::Win32::System::Memory::{
        MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_NOACCESS, PAGE_READWRITE, VirtualAlloc, VirtualFree,
    };

    /// The size of pages of Windows on x86-64 and Arm64.
    pub(crate) fn page_len() -> usize {
        4096
    }

    pub(super) fn reserve(len: usize) -> Option<*mut u8> {
        // SAFETY: new address space without any access.
        let start = unsafe { VirtualAlloc(null(), len, MEM_RESERVE, PAGE_NOACCESS) };
        (!start.is_null()).then_some(start.cast())
    }

    /// # Safety
    /// The pages must be part of what [`reserve`] returned.
    pub(super) unsafe fn make_accessible(start: *mut u8, len: usize) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { !VirtualAlloc(start.cast(), len, MEM_COMMIT, PAGE_READWRITE).is_null() }
    }

    /// # Safety
    /// This must be exactly what [`reserve`] returned.
    pub(super) unsafe fn release(start: *mut u8, _: usize) {
        // SAFETY: the caller guarantees it.
        unsafe { VirtualFree(start.cast(), 0, MEM_RELEASE) };
    }
}

pub(crate) use system::page_len;

/// Pages of which none is accessible at first. They are released when this is dropped.
pub(crate) struct Pages {
    start: *mut u8,
    len: usize,
}

impl Pages {
    /// Returns `None` if there is no address space for them.
    pub(crate) fn new(len: usize) -> Option<Self> {
        system::reserve(len).map(|start| Self { start, len })
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    pub(crate) fn make_accessible(&mut self, first: usize, len: usize) {
        assert!(first + len <= self.len);
        // SAFETY: the bytes are part of these pages.
        assert!(unsafe { system::make_accessible(self.start.add(first), len) });
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: exactly what was reserved.
        unsafe { system::release(self.start, self.len) };
    }
}

//! Secrets of libraries that return them by value: boxes that do not leave copies when they move, and stacks that are
//! wiped.

use providers::{wipe_dead_stack, wipe_registers};
use std::ops::Deref;
use zeroize::Zeroize;

/// Secret bytes on the heap, so that a move of their owner copies a pointer and not the secret. They are wiped on drop.
#[derive(Clone)]
pub(crate) struct Secret<const LEN: usize>(Box<[u8; LEN]>);

impl<const LEN: usize> Secret<LEN> {
    /// Copies the bytes to the heap, without a copy on the stack.
    pub(crate) fn copy(bytes: &[u8; LEN]) -> Self {
        let mut boxed = Box::new([0; LEN]);
        boxed.copy_from_slice(bytes);
        Self(boxed)
    }
}

impl<const LEN: usize> Deref for Secret<LEN> {
    type Target = [u8; LEN];

    fn deref(&self) -> &[u8; LEN] {
        &self.0
    }
}

impl<const LEN: usize> Drop for Secret<LEN> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// Wipes the vector registers, and 16 KiB of the stack below the caller, in which calls that have returned may have left
/// copies of secrets.
///
/// Compilers keep keys in registers, and write registers to the stack. The program and the Python package call this function
/// before they report an error, so that a core file of a process that ends with it has no copy of a key there.
pub fn wipe_stack() {
    wipe_registers();
    wipe_dead_stack::<2048>();
}

/// Runs `work` and wipes the stack that it used, up to `WORDS` words of 64 bits. Libraries, and results that move from
/// function to function, leave copies of secrets there.
#[inline]
pub(crate) fn wiping_stack<const WORDS: usize, T>(work: impl FnOnce() -> T) -> T {
    let result = in_own_frame(work);
    wipe_dead_stack::<WORDS>();
    result
}

/// Not inlined, so that its frame lies in the part of the stack that is wiped.
#[inline(never)]
fn in_own_frame<T>(work: impl FnOnce() -> T) -> T {
    work()
}

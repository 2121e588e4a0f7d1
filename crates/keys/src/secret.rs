//! For secrets that libraries return by value: boxes that leave no copies when they move, and wiped
//! stacks.

use base::Result;
use providers::{wipe_dead_stack, wipe_registers};
use std::ops::Deref;
use zeroize::Zeroize;

/// Secret bytes on the heap, wiped on drop: moving the owner copies a pointer, not the secret.
#[derive(Clone)]
pub(crate) struct Secret<const LEN: usize>(Box<[u8; LEN]>);

impl<const LEN: usize> Secret<LEN> {
    /// Copies the bytes to the heap, not over the stack.
    pub(crate) fn copy(bytes: &[u8; LEN]) -> Self {
        let mut boxed = Box::new([0; LEN]);
        boxed.copy_from_slice(bytes);
        Self(boxed)
    }

    /// Draws random bytes.
    pub(crate) fn generate() -> Result<Self> {
        let mut secret = Self(Box::new([0; LEN]));
        base::random::fill(&mut *secret.0)?;
        Ok(secret)
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

/// Wipes the vector registers, and 16 KiB of stack below the caller, where earlier calls may have
/// left copies of secrets.
///
/// Compilers keep keys in registers, and spill registers to the stack. The program and the Python
/// package call this before they report an error: if the process ends with it, its core file has no
/// copy of a key there.
pub fn wipe_stack() {
    wipe_registers();
    wipe_dead_stack::<2048>();
}

/// Runs `work` and wipes the vector registers, and the stack that it used, up to `WORDS` 64-bit
/// words. Libraries leave copies of secrets there, and so do results that move from function to
/// function.
#[inline]
pub(crate) fn wiping_stack<const WORDS: usize, T>(work: impl FnOnce() -> T) -> T {
    let result = in_own_frame(work);
    wipe_registers();
    wipe_dead_stack::<WORDS>();
    result
}

/// Not inlined: its frame must lie in the wiped part of the stack.
#[inline(never)]
fn in_own_frame<T>(work: impl FnOnce() -> T) -> T {
    work()
}

//! What can be done with inputs, outputs and results without `unsafe`.

use super::{Destination, Input, Out, Output, ResultBytes, count, overlap};
use crate::error::Result;
use std::mem::ManuallyDrop;

impl Out {
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }
}

impl Input<'_> {
    /// Copies the bytes to the start of `to` and returns the copy.
    ///
    /// # Panics
    /// Panics if `to` is shorter.
    #[inline]
    pub(crate) fn copy(self, to: &mut [u8]) -> &mut [u8] {
        let to = &mut to[..self.len];
        to.copy_from_slice(self.bytes());
        to
    }
}

impl<'a> Output<'a> {
    /// Returns the first `len` bytes, for a call that reads no caller bytes.
    pub(crate) fn first(self, len: usize) -> Result<&'a mut [u8]> {
        Ok(self.arrange(len, Input::NONE, 0, [])?.head)
    }

    /// Writes `text` and a zero if both fit, and returns the length of the text.
    pub(crate) fn put_text(self, text: &str) -> i64 {
        if let Some(room) = self.bytes().get_mut(..text.len() + 1) {
            room[..text.len()].copy_from_slice(text.as_bytes());
            room[text.len()] = 0;
        }
        count(text.len())
    }

    /// Returns whether two outputs share a byte.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let span = |output: &Self| output.start.addr()..output.start.addr() + output.len;
        overlap(&span(self), &span(other))
    }
}

impl ResultBytes {
    /// Gives the bytes to the caller.
    pub(crate) fn give(self, out: Destination<'_>) -> i64 {
        let bytes = ManuallyDrop::new(self);
        *out.0 = bytes.start.as_ptr();
        count(bytes.len)
    }
}

//! Outputs of one part, results, and calls with two outputs, one of which can be null.

use super::{Destination, Input, Out, Output, ResultBytes, count, overlap};
use crate::error::CallError;
use std::mem::ManuallyDrop;

impl Out {
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }
}

impl<'a> Output<'a> {
    /// Returns the first `len` bytes, for a call that reads no caller bytes.
    pub(crate) fn first(self, len: usize) -> Result<&'a mut [u8], CallError> {
        Ok(self.arrange(len, Input::NONE, 0, [])?.head)
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

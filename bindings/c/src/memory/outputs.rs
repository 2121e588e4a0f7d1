//! Calls with two outputs; one of them can be null.

use super::{Out, Output, overlap};

impl Out {
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }
}

impl Output<'_> {
    /// Returns whether two outputs share a byte.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let span = |output: &Self| output.start.addr()..output.start.addr() + output.len;
        overlap(&span(self), &span(other))
    }
}

//! Where the examples and benches keep what they encrypt.

/// Bytes, all of them touched, that begin `shift` bytes into a page.
///
/// A source and a destination want different shifts: at the same place in a page loads and stores would seem to meet.
pub(crate) struct Lines(Vec<u8>, usize, usize);

impl Lines {
    pub(crate) fn new(len: usize, shift: usize) -> Self {
        let bytes = vec![0x5a; len + 4096 + shift];
        let start = bytes.as_ptr().align_offset(4096) + shift;
        Self(bytes, start, len)
    }
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0[self.1..][..self.2]
    }
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0[self.1..][..self.2]
    }
}

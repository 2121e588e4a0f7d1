//! Buffers for the data that the benchmarks encrypt.

/// A buffer that begins `offset` bytes into a memory page. All its pages are touched.
///
/// Source and destination of one call need different offsets: with equal ones, the processor would
/// take loads and stores at the same place in their pages for the same address and wait.
pub struct PageBuffer {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl PageBuffer {
    /// Allocates a buffer of `len` bytes.
    pub fn new(len: usize, offset: usize) -> Self {
        let memory = vec![0x5a; len + 4096 + offset];
        let start = memory.as_ptr().align_offset(4096) + offset;
        Self { memory, start, len }
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..][..self.len]
    }

    /// Returns the bytes for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..][..self.len]
    }
}

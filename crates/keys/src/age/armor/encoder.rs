//! Streaming encoder of armor.

use super::{BEGIN, COLUMNS, END, LINE_BYTES, encode_line};
use base::debug_fields;
use std::io::{self, Write};

/// Lines encoded and written together, to save calls of the sink.
const BATCH: usize = 256;

/// A writer that encodes to armor. The armor is complete only after [`Encoder::finish`].
pub struct Encoder<W> {
    inner: W,
    /// Bytes of an incomplete line.
    rest: Vec<u8>,
    text: Vec<u8>,
}

impl<W: Write> Encoder<W> {
    /// Creates an encoder and writes the first line.
    ///
    /// # Errors
    /// Returns the errors of the writer; encoding cannot fail.
    pub fn new(mut inner: W) -> io::Result<Self> {
        inner.write_all(BEGIN)?;
        inner.write_all(b"\n")?;
        Ok(Self {
            inner,
            rest: Vec::with_capacity(LINE_BYTES),
            text: Vec::with_capacity(BATCH * (COLUMNS + 1)),
        })
    }

    /// Returns the inner writer.
    #[doc(hidden)]
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// Writes the last lines. Returns the flushed writer.
    ///
    /// # Errors
    /// Returns the errors of the writer; encoding cannot fail.
    pub fn finish(mut self) -> io::Result<W> {
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.lines(&rest)?;
        }
        self.inner.write_all(END)?;
        self.inner.write_all(b"\n")?;
        self.inner.flush()?;
        Ok(self.inner)
    }

    fn lines(&mut self, bytes: &[u8]) -> io::Result<()> {
        for batch in bytes.chunks(BATCH * LINE_BYTES) {
            self.text.clear();
            for line in batch.chunks(LINE_BYTES) {
                self.text.extend_from_slice(encode_line(line, &mut [0; COLUMNS]));
                self.text.push(b'\n');
            }
            self.inner.write_all(&self.text)?;
        }
        Ok(())
    }
}

impl<W: Write> Write for Encoder<W> {
    /// Accepts all of `bytes`. After an error, an unknown part was written: write the armor again.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut later = bytes;
        if !self.rest.is_empty() {
            let free = LINE_BYTES - self.rest.len();
            self.rest.extend_from_slice(later.split_off(..free.min(later.len())).unwrap_or_default());
            if self.rest.len() < LINE_BYTES {
                return Ok(bytes.len());
            }
            let line = std::mem::replace(&mut self.rest, Vec::with_capacity(LINE_BYTES));
            self.lines(&line)?;
        }
        let (full, rest) = later.split_at(later.len() - later.len() % LINE_BYTES);
        self.lines(full)?;
        self.rest.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

debug_fields!([W] Encoder<W>);

#[cfg(test)]
mod test {
    use super::*;

    /// A flush sends waiting text to the receiver, even through a buffer.
    #[test]
    fn flush_reaches_the_receiver() {
        let mut encoder = Encoder::new(io::BufWriter::new(Vec::new())).unwrap();
        encoder.write_all(&[7; LINE_BYTES]).unwrap();
        assert!(encoder.inner.get_ref().is_empty(), "the buffer was written early");
        encoder.flush().unwrap();
        assert_eq!(encoder.inner.get_ref().len(), BEGIN.len() + 1 + COLUMNS + 1);
    }
}

//! Random access to armor. All lines but the last have the same length, so the position of a byte
//! gives its line.

use super::{BEGIN, COLUMNS, END, LINE_BYTES, MAX_BLANK, NO_BEGIN, NO_END, TOO_BLANK, TRAILING, decode_line};
use crate::prelude::*;
use engine::io::ReadAt;

/// Lines read and decoded together, to save calls of the source.
const BATCH: u64 = 1 << 12;

const UNEVEN: Error =
    Error::Armor("its lines do not have the same length and line end; decode it sequentially");

/// The decoded bytes of armor, readable at any position.
///
/// All lines must have the same line end. [`View::new`] verifies the first and the last line; the
/// others are verified when they are read.
#[derive(Debug)]
pub struct View<S> {
    source: S,
    /// Position of the first line of base64 in the file, in bytes.
    start: u64,
    /// Line end of the file: LF or CR LF.
    eol: &'static [u8],
    /// Columns in the last line of base64.
    last: usize,
    /// Lines of base64.
    lines: u64,
    /// Length of the decoded file in bytes.
    size: u64,
}

impl<S: ReadAt> View<S> {
    /// Reads the first and last lines of the armor in `source`; they give its size.
    ///
    /// # Errors
    /// Returns [`Error::Armor`] or [`Error::Truncated`] for damaged armor, and the errors of
    /// `source`.
    pub fn new(source: S) -> Result<Self> {
        let source_size = source.size()?;
        let (start, eol) = beginning(&source, source_size)?;
        let end = ending(&source, start, source_size)?;
        let stride = (COLUMNS + eol.len()) as u64;
        let (full, rest) = ((end - start) / stride, (end - start) % stride);
        let (lines, last) = match (rest as usize).checked_sub(eol.len()) {
            Some(columns @ 1..COLUMNS) => (full + 1, columns),
            None if rest == 0 && full > 0 => (full, COLUMNS),
            None if rest == 0 => (0, 0),
            _ => return Err(UNEVEN),
        };
        let mut view = Self { source, start, eol, last, lines, size: 0 };
        if let Some(before) = lines.checked_sub(1) {
            let mut bytes = Vec::with_capacity(LINE_BYTES);
            view.decode(before, 1, &mut bytes)?;
            view.size = before * LINE_BYTES as u64 + bytes.len() as u64;
        }
        Ok(view)
    }

    /// Returns the source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Decodes some lines and appends the result to `out`.
    fn decode(&self, first: u64, lines: u64, out: &mut Vec<u8>) -> Result<()> {
        let stride = COLUMNS + self.eol.len();
        let ends = first + lines == self.lines;
        let mut len = lines as usize * stride;
        if ends {
            len -= COLUMNS - self.last;
        }
        let mut text = memory::zeroed(len)?;
        self.source.read_exact_at(self.start + first * stride as u64, &mut text)?;
        let count = text.len().div_ceil(stride);
        for (at, line) in text.chunks(stride).enumerate() {
            let columns = line.strip_suffix(self.eol).ok_or(UNEVEN)?;
            let mut bytes = [0; LINE_BYTES];
            let bytes = decode_line(columns, &mut bytes)?;
            if bytes.len() < LINE_BYTES && !(ends && at + 1 == count) {
                return Err(super::SHORT_LINE);
            }
            out.extend_from_slice(bytes);
        }
        Ok(())
    }
}

impl<S: ReadAt> ReadAt for View<S> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let per_line = LINE_BYTES as u64;
        let max = BATCH * per_line - offset % per_line;
        let len = self.size.saturating_sub(offset).min(into.len() as u64).min(max) as usize;
        if len == 0 {
            return Ok(0);
        }
        let (first, skip) = (offset / per_line, (offset % per_line) as usize);
        let lines = (skip + len).div_ceil(LINE_BYTES);
        let mut bytes = memory::with_capacity(lines * LINE_BYTES).map_err(Error::into_io)?;
        self.decode(first, lines as u64, &mut bytes).map_err(Error::into_io)?;
        // The file may have become shorter since the line positions were computed.
        let found = bytes.get(skip..skip + len).ok_or(io::ErrorKind::UnexpectedEof)?;
        into[..len].copy_from_slice(found);
        Ok(len)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }
}

/// Returns the position after the first line, and its line end.
fn beginning(source: &impl ReadAt, size: u64) -> Result<(u64, &'static [u8])> {
    // bounded: little more than 1 KiB.
    let mut text = vec![0; size.min((MAX_BLANK + BEGIN.len() + 2) as u64) as usize];
    source.read_exact_at(0, &mut text)?;
    let blank = text.len() - text.trim_ascii_start().len();
    if blank >= MAX_BLANK {
        return Err(TOO_BLANK);
    }
    // White space before the armor ends with a line feed.
    let (before, first) = text.split_at(blank);
    if !matches!(before, [] | [.., b'\n']) {
        return Err(NO_BEGIN);
    }
    let Some(after) = first.strip_prefix(BEGIN) else {
        return Err(if BEGIN.starts_with(first) { Error::Truncated } else { NO_BEGIN });
    };
    let eol: &[u8] = match after {
        [b'\n', ..] => b"\n",
        [b'\r', b'\n', ..] => b"\r\n",
        [] | [b'\r'] => return Err(Error::Truncated),
        _ => return Err(NO_BEGIN),
    };
    Ok(((blank + BEGIN.len() + eol.len()) as u64, eol))
}

/// Returns the position of the last line.
fn ending(source: &impl ReadAt, start: u64, size: u64) -> Result<u64> {
    let tail = (size - start).min((MAX_BLANK + END.len() + 2) as u64);
    // bounded: little more than 1 KiB.
    let mut text = vec![0; tail as usize];
    source.read_exact_at(size - tail, &mut text)?;
    let trimmed = text.trim_ascii_end();
    let blank = text[trimmed.len()..].strip_prefix(b"\r").unwrap_or(&text[trimmed.len()..]);
    if !matches!(blank, [] | [b'\n', ..]) {
        return Err(TRAILING);
    }
    if blank.len() >= MAX_BLANK {
        return Err(TOO_BLANK);
    }
    let before = trimmed.strip_suffix(END).ok_or(match trimmed {
        [] => Error::Truncated,
        _ => NO_END,
    })?;
    Ok(size - tail + before.len() as u64)
}

//! Streaming decoder of armor.

use super::{
    Armor, BEGIN, COLUMNS, END, LINE_BYTES, MAX_BLANK, NO_BEGIN, NO_END, SHORT_LINE, TOO_BLANK, TRAILING,
    decode_line,
};
use base::{Error, Misuse, Result, memory};
use std::borrow::Cow;

/// Decodes armor that arrives in pieces of any size, as from a network connection.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    /// The start of an incomplete line.
    line: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first line, after this much white space.
    Before(usize),
    /// All lines so far had 64 columns; more may follow.
    Full,
    /// A line was shorter, so it is the last line of base64.
    Short,
    /// After the last line and this much white space.
    After(usize),
    /// An error was returned; no more input is accepted.
    Poisoned,
}

/// Limit of an incomplete line; before the first line, it can be white space.
const MAX_PARTIAL_LEN: usize = MAX_BLANK + BEGIN.len();

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// Creates a decoder at the start of the armor.
    pub fn new() -> Self {
        Self { state: State::Before(0), line: Vec::new() }
    }

    /// Decodes a piece of armor, and appends the result to `out`.
    ///
    /// # Errors
    /// Returns [`Error::Armor`] if the armor is damaged, and [`Misuse::Poisoned`] after an earlier
    /// error.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let state = std::mem::replace(&mut self.state, State::Poisoned);
        self.state = self.pieces(state, piece, out)?;
        Ok(())
    }

    /// Decodes what is left after the last piece, and checks that the armor is complete.
    ///
    /// # Errors
    /// Returns [`Error::Truncated`] if the END line is missing, and the errors of [`Self::push`].
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<()> {
        let line = std::mem::take(&mut self.line);
        let state = match (self.state, line.is_empty()) {
            (state, true) => state,
            // The start of the last line.
            (State::Full | State::Short, false) if line.len() < END.len() && END.starts_with(&line) => {
                return Err(Error::Truncated);
            }
            (state, false) => step(state, &line, out)?,
        };
        match state {
            State::After(_) => Ok(()),
            State::Poisoned => Err(Misuse::Poisoned.into()),
            State::Before(_) | State::Full | State::Short => Err(Error::Truncated),
        }
    }

    fn pieces(&mut self, mut state: State, mut piece: &[u8], out: &mut Vec<u8>) -> Result<State> {
        if state == State::Poisoned {
            return Err(Misuse::Poisoned.into());
        }
        while let Some(end) = piece.iter().position(|&byte| byte == b'\n') {
            let (now, later) = (&piece[..end], &piece[end + 1..]);
            state = match self.line.is_empty() {
                true => step(state, now, out)?,
                false => {
                    self.line.extend_from_slice(now);
                    let next = step(state, &self.line, out)?;
                    self.line.clear();
                    next
                }
            };
            piece = later;
        }
        if self.line.len() + piece.len() > MAX_PARTIAL_LEN {
            return Err(match state {
                State::Before(_) => NO_BEGIN,
                State::After(_) => TRAILING,
                _ => Error::Armor("a line is longer than 64 columns"),
            });
        }
        self.line.extend_from_slice(piece);
        Ok(state)
    }
}

/// Decodes a complete age file if it is armored; returns other files as they are.
///
/// # Errors
/// Returns [`Error::Armor`] and [`Error::Truncated`] if the armor is damaged.
pub fn decode(file: &[u8]) -> Result<Cow<'_, [u8]>> {
    if Armor::detect(file) != Some(Armor::Ascii) {
        return Ok(Cow::Borrowed(file));
    }
    let (mut decoder, mut binary) = (Decoder::new(), memory::with_capacity(file.len() / 4 * 3)?);
    decoder.push(file, &mut binary)?;
    decoder.finish(&mut binary)?;
    Ok(Cow::Owned(binary))
}

/// Decodes a line without its line feed. Returns the next state.
fn step(state: State, line: &[u8], out: &mut Vec<u8>) -> Result<State> {
    let columns = line.strip_suffix(b"\r").unwrap_or(line);
    match state {
        State::Before(blank) | State::After(blank) if line.trim_ascii().is_empty() => {
            let blank = blank + line.len() + 1;
            let next = if matches!(state, State::Before(_)) { State::Before } else { State::After };
            if blank < MAX_BLANK { Ok(next(blank)) } else { Err(TOO_BLANK) }
        }
        State::Before(_) if columns == BEGIN => Ok(State::Full),
        State::Before(_) => Err(NO_BEGIN),
        State::Full | State::Short if columns == END => Ok(State::After(0)),
        State::Full => {
            let mut bytes = [0; LINE_BYTES];
            let bytes = decode_line(columns, &mut bytes)?;
            out.extend_from_slice(bytes);
            Ok(if bytes.len() == LINE_BYTES { State::Full } else { State::Short })
        }
        State::Short => Err(if columns.len() == COLUMNS { SHORT_LINE } else { NO_END }),
        State::After(_) => Err(TRAILING),
        State::Poisoned => Err(Misuse::Poisoned.into()),
    }
}

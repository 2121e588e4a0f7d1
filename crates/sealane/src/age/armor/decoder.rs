//! Armor to bytes, piece by piece.

use super::{
    BEGIN, COLUMNS, END, LINE_BYTES, MOST_BLANK, NO_BEGIN, NO_END, SHORT_LINE, TOO_BLANK, TRAILING,
    decode_line,
};
use crate::{Error, Misuse};

/// Decodes armor that comes in pieces of any size.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    /// A line that may go on.
    line: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// So many bytes of blank lines.
    Before(usize),
    /// Every line so far was full.
    Within,
    /// There was a short line.
    Short,
    /// After the last line there were so many bytes of white space.
    After(usize),
    Lost,
}

/// Bytes of a line that goes on, past which nothing could make it right. Before the first line it may be blank.
const LONGEST: usize = MOST_BLANK + BEGIN.len();

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// Nothing is decoded yet.
    pub fn new() -> Self {
        Self { state: State::Before(0), line: Vec::new() }
    }

    /// Decodes a piece and appends what it is to `out`.
    ///
    /// # Errors
    /// [`Error::Armor`]; from then on [`Misuse::Poisoned`].
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let state = std::mem::replace(&mut self.state, State::Lost);
        self.state = self.pieces(state, piece, out)?;
        Ok(())
    }

    /// Nothing follows: decodes the rest.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::Armor`], [`Misuse::Poisoned`].
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let line = std::mem::take(&mut self.line);
        let state = match (self.state, line.is_empty()) {
            (state, true) => state,
            // It begins right, and could have become the last line.
            (State::Within | State::Short, false) if line.len() < END.len() && END.starts_with(&line) => {
                return Err(Error::Truncated);
            }
            (state, false) => step(state, &line, out)?,
        };
        match state {
            State::After(_) => Ok(()),
            State::Lost => Err(Misuse::Poisoned.into()),
            State::Before(_) | State::Within | State::Short => Err(Error::Truncated),
        }
    }

    fn pieces(&mut self, mut state: State, mut piece: &[u8], out: &mut Vec<u8>) -> Result<State, Error> {
        if state == State::Lost {
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
        if self.line.len() + piece.len() > LONGEST {
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

/// Takes a line without its line feed.
fn step(state: State, line: &[u8], out: &mut Vec<u8>) -> Result<State, Error> {
    let columns = line.strip_suffix(b"\r").unwrap_or(line);
    match state {
        State::Before(blank) if line.trim_ascii().is_empty() => match blank + line.len() + 1 {
            blank if blank < MOST_BLANK => Ok(State::Before(blank)),
            _ => Err(TOO_BLANK),
        },
        State::Before(_) if columns == BEGIN => Ok(State::Within),
        State::Before(_) => Err(NO_BEGIN),
        State::Within | State::Short if columns == END => Ok(State::After(0)),
        State::Within => {
            let mut bytes = [0; LINE_BYTES];
            let bytes = decode_line(columns, &mut bytes)?;
            out.extend_from_slice(bytes);
            Ok(if bytes.len() == LINE_BYTES { State::Within } else { State::Short })
        }
        State::Short => Err(if columns.len() == COLUMNS { SHORT_LINE } else { NO_END }),
        State::After(blank) if line.trim_ascii().is_empty() => match blank + line.len() + 1 {
            blank if blank < MOST_BLANK => Ok(State::After(blank)),
            _ => Err(TOO_BLANK),
        },
        State::After(_) => Err(TRAILING),
        State::Lost => Err(Misuse::Poisoned.into()),
    }
}

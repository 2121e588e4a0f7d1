//! Questions at the terminal, answered without echo.
//!
//! The kernel edits the line, as for `age`, `ssh-keygen` and `openssl`: Backspace deletes a
//! character, every other byte arrives as it was typed. The terminal has its modes again before a
//! signal ends or stops the process; a continued process asks again.

use super::{duplicate, is_default};
use crate::signal;
use rustix::termios::{InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGCONT, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use zeroize::Zeroizing;

/// A question that waits for its answer, while echo is off.
struct Question {
    terminal: File,
    /// Modes before the question.
    modes: Termios,
    prompt: String,
}

static OPEN: Mutex<Option<Question>> = Mutex::new(None);

fn open_question() -> MutexGuard<'static, Option<Question>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Question {
    fn begin(&self, when: OptionalActions) -> io::Result<()> {
        let mut hidden = self.modes.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        // The line end is shown, so that the next output begins on a new line.
        hidden.local_modes.insert(LocalModes::ICANON | LocalModes::ISIG | LocalModes::ECHONL);
        // Modes that change or drop typed bytes.
        hidden.input_modes.remove(InputModes::ISTRIP | InputModes::INLCR | InputModes::IGNCR);
        hidden.input_modes.insert(InputModes::ICRNL);
        // Backspace deletes a character, not one of its bytes.
        #[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
        hidden.input_modes.insert(InputModes::IUTF8);
        tcsetattr(&self.terminal, when, &hidden)?;
        (&self.terminal).write_all(self.prompt.as_bytes())
    }

    fn end(&self) {
        // The terminal may be gone.
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.modes);
    }
}

/// Gives the terminal its modes again if a question is open. A signal is about to end the
/// process.
pub(crate) fn restore() {
    if let Some(question) = open_question().take() {
        question.end();
        let _ = (&question.terminal).write_all(b"\n");
    }
}

/// Ends the question also if reading fails.
struct Asked;

impl Drop for Asked {
    fn drop(&mut self) {
        if let Some(question) = open_question().take() {
            question.end();
        }
    }
}

/// Opens the terminal that controls this process; without one, standard input if it is a
/// terminal.
fn open() -> Option<File> {
    let controlling = File::options().read(true).write(true).open("/dev/tty");
    let input = || duplicate(&io::stdin()).ok().filter(IsTerminal::is_terminal);
    controlling.ok().or_else(input)
}

/// Returns whether there is a terminal to ask at.
pub(crate) fn exists() -> bool {
    open().is_some()
}

/// Shows a line at the terminal, where no log records it.
pub(crate) fn show(text: &str) -> io::Result<()> {
    match open() {
        Some(mut terminal) => terminal.write_all(format!("{text}\n").as_bytes()),
        None => Err(ErrorKind::NotFound.into()),
    }
}

/// Asks at the terminal and returns the typed line, with its line end unless the input ended;
/// `None` without a terminal. Of a line of more than `max_len` bytes and its end, only the start is
/// returned. The program's signal handlers must be installed: from now on, a signal must find the
/// modes to restore.
///
/// # Errors
/// Returns the terminal's error; [`ErrorKind::UnexpectedEof`] for Ctrl-D or a closed terminal.
pub(crate) fn ask(prompt: &str, max_len: usize) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    let Some(terminal) = open() else { return Ok(None) };
    handle_stops();
    let question =
        Question { modes: tcgetattr(&terminal)?, terminal: terminal.try_clone()?, prompt: prompt.into() };
    let _asked = {
        let mut open = open_question();
        question.begin(OptionalActions::Now)?;
        *open = Some(question);
        Asked
    };
    read_line(terminal, max_len + 2).map(Some)
}

/// Reads a line. The kernel returns it whole, and drops what is longer than its buffer.
fn read_line(mut terminal: File, max_len: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut line = Zeroizing::new(Vec::with_capacity(max_len));
    let mut piece = Zeroizing::new(vec![0; max_len]);
    loop {
        match terminal.read(&mut piece[..]) {
            Err(e) if e.kind() == ErrorKind::Interrupted && !signal::requested() => {}
            Err(e) => return Err(e),
            Ok(_) if signal::requested() => return Err(ErrorKind::Interrupted.into()),
            Ok(0) if line.is_empty() => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(0) => return Ok(line),
            // Ctrl-D ends a piece. What does not fit is too long for a passphrase anyway.
            Ok(n) => {
                let rest = line.capacity() - line.len();
                line.extend_from_slice(&piece[..n.min(rest)]);
                if piece[n - 1] == b'\n' || n > rest {
                    return Ok(line);
                }
            }
        }
    }
}

/// Restores the modes before Ctrl-Z stops the process, and asks again when it continues.
fn handle_stops() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let stop = if is_default(SIGTSTP) { SIGTSTP } else { SIGCONT };
        // Without the handler, the system stops the process.
        let Ok(mut signals) = Signals::new([SIGCONT, stop]) else { return };
        let _ = std::thread::Builder::new().spawn(move || {
            for signal in &mut signals {
                if signal == SIGTSTP {
                    if let Some(question) = &*open_question() {
                        question.end();
                    }
                    let _ = emulate_default_handler(SIGTSTP);
                } else if let Some(question) = &*open_question() {
                    // The typed part of the line is discarded, because the prompt is new.
                    let _ = question.begin(OptionalActions::Flush);
                }
            }
        });
    });
}

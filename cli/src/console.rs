//! Output of the program: results, warnings, errors and progress bars.
//!
//! Standard output carries only data and results. Standard error carries one line per failure,
//! `sealane: FILE: what happened; what to do`, and a progress bar if it is a terminal and the job
//! takes longer than 300 ms. With `--json` each line is a JSON document. We escape control
//! characters in file names: a terminal would execute them.

use crate::endpoints;
use crate::error::{Failure, Kind, Result, raw_byte};
use crate::os;
use crate::redact::Redactor;
use crate::signal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Where results, warnings and errors go. The first failure determines the exit status, or an
/// interruption.
pub(crate) struct Console {
    /// Whether `--json` was given.
    pub(crate) json: bool,
    /// Whether `--quiet` was given.
    pub(crate) quiet: bool,
    status: Cell<u8>,
    redactor: Redactor,
}

impl Console {
    pub(crate) fn new(json: bool, quiet: bool, redactor: Redactor) -> Self {
        Self { json, quiet, status: Cell::new(0), redactor }
    }

    pub(crate) fn status(&self) -> u8 {
        self.status.get()
    }

    /// Ends with the status of another process, which has reported its failure itself.
    #[cfg(all(feature = "mount", target_os = "linux"))]
    pub(crate) fn end_with(&self, status: u8) {
        self.status.set(status);
    }

    /// Prints a failure as one line on standard error, and remembers its exit status.
    pub(crate) fn fail(&self, failure: &Failure) {
        if self.status.get() == 0 || failure.kind() == Kind::INTERRUPTED {
            self.status.set(failure.kind().status());
        }
        match failure.kind() {
            Kind::OutputClosed => {}
            Kind::INTERRUPTED if !signal::announce() => {}
            _ => self.print_error(&line(failure, self.json)),
        }
    }

    /// Processes every item, also after one has failed, unless the failure is of a kind in
    /// `ending`. Returns the number of successes.
    pub(crate) fn each<T>(
        &self,
        items: &[T],
        ending: &[Kind],
        process: impl Fn(&T) -> Result<()>,
    ) -> Result<usize> {
        let mut done = 0;
        for item in items {
            match process(item) {
                Err(failure) if ending.contains(&failure.kind()) => return Err(failure),
                Err(failure) => self.fail(&failure),
                Ok(()) => done += 1,
            }
        }
        Ok(done)
    }

    /// Prints a warning as one line on standard error, unless `--quiet` was given.
    pub(crate) fn warn(&self, text: &str) {
        match (self.quiet, self.json) {
            (true, _) => {}
            (_, true) => self.print_error(&json_line(&json!({ "warning": text }))),
            _ => self.print_error(&format!("sealane: warning: {text}")),
        }
    }

    fn print_error(&self, text: &str) {
        print_error(&self.redactor.redact(text));
    }

    /// Prints a result: the document with `--json`, otherwise the text, unless `--quiet` was given.
    pub(crate) fn result(&self, document: impl FnOnce() -> Value, text: &str) -> Result<()> {
        match (self.json, self.quiet) {
            (true, _) => self.print(&format!("{}\n", self.redactor.redact(&json_line(&document())))),
            (_, true) => Ok(()),
            _ => self.print(&format!("{}\n", escaped(&self.redactor.redact(text)))),
        }
    }

    /// Prints a result that only `--json` shows.
    pub(crate) fn document(&self, document: impl FnOnce() -> Value) -> Result<()> {
        if self.json { self.result(document, "") } else { Ok(()) }
    }

    /// Prints the result of a job that made `target` from `source`, which only `--json` shows.
    pub(crate) fn made(&self, source: &str, target: &str, Bar { done, began, .. }: &Bar) -> Result<()> {
        let seconds = began.elapsed().as_secs_f64();
        self.document(|| json!({"source": source, "target": target, "bytes": done, "seconds": seconds}))
    }

    /// Prints text on standard output. A closed output is an error; `print!` would panic.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        written.and_then(|()| endpoints::flush_stdout()).map_err(|e| Failure::stdout(&e))
    }

    /// Returns a progress bar for one job. Without a `total` it shows the bytes processed.
    pub(crate) fn bar(&self, name: &str, total: Option<u64>) -> Bar {
        let pending = !self.quiet && !self.json && io::stderr().is_terminal();
        Bar { shown: None, name: shortened(name), total, began: Instant::now(), pending, done: 0 }
    }
}

/// The progress bar of one job. Dropping it removes it from the terminal.
pub(crate) struct Bar {
    /// The bar on the terminal. Most jobs end before it appears.
    shown: Option<ProgressBar>,
    name: String,
    total: Option<u64>,
    began: Instant,
    /// Whether the bar is still to be shown.
    pending: bool,
    done: u64,
}

impl Bar {
    /// How long a job runs before its bar appears.
    const DELAY: Duration = Duration::from_millis(300);

    /// Shows no bar if the terminal shows the data itself.
    pub(crate) fn unless(mut self, data_on_terminal: bool) -> Self {
        self.pending &= !data_on_terminal;
        self
    }

    /// Replaces the bar's name, for example by the number of files processed so far.
    pub(crate) fn rename(&mut self, name: String) {
        if let Some(bar) = &self.shown {
            bar.set_prefix(name.clone());
        }
        self.name = name;
    }

    /// Removes the bar while `print` prints lines.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.shown {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Sets the number of bytes processed; returns whether to continue.
    pub(crate) fn at(&mut self, done: u64) -> ControlFlow<()> {
        self.done = done;
        if let Some(bar) = &self.shown {
            bar.set_position(done);
        }
        if self.pending && self.began.elapsed() >= Self::DELAY {
            self.pending = false;
            self.show();
        }
        if signal::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn show(&mut self) {
        let template = match self.total {
            Some(_) if os::is_narrow() => "{prefix} {percent}% {bytes_per_sec} {eta}",
            None if os::is_narrow() => "{prefix} {bytes}",
            Some(_) => "{prefix} [{wide_bar}] {bytes}/{total_bytes} {bytes_per_sec} {eta} left",
            None => "{prefix} {spinner} {bytes} {bytes_per_sec} {elapsed}",
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(self.total, ProgressDrawTarget::hidden())
            .with_style(style.progress_chars("=> ").tick_chars("|/-\\ "))
            .with_prefix(self.name.clone())
            .with_position(self.done)
            .with_elapsed(self.began.elapsed());
        // Measures speed from here on: the bar knows nothing of the time until now.
        bar.tick();
        bar.reset_eta();
        bar.set_draw_target(ProgressDrawTarget::stderr());
        bar.tick(); // The next call may come much later.
        self.shown = Some(bar);
    }

    /// Returns the number of bytes processed so far.
    pub(crate) fn done(&self) -> u64 {
        self.done
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

/// Reports an interruption from the signal handler's thread, which has no console. Removes a
/// progress bar first.
pub(crate) fn announce_interrupt(json: bool, advice: Option<&str>) {
    if io::stderr().is_terminal() {
        let _ = io::stderr().write_all(b"\r\x1b[2K");
    }
    let interrupted = Failure::interrupted();
    let failure = if let Some(advice) = advice { interrupted.and(advice) } else { interrupted };
    print_error(&line(&failure, json));
}

/// Prints an age plugin's message on standard error. Plugins run on threads that have no console.
pub(crate) fn announce(json: bool, text: &str) {
    match json {
        true => print_error(&json_line(&json!({ "message": text }))),
        false => print_error(&format!("sealane: {text}")),
    }
}

fn line(failure: &Failure, json: bool) -> String {
    match json {
        true => json_line(&json!({"error": failure.text(), "kind": failure.kind().name()})),
        false => format!("sealane: {}", failure.text()),
    }
}

/// Prints one line on standard error. `eprintln!` would panic if it is closed.
fn print_error(text: &str) {
    let _ = io::stderr().write_all(format!("{}\n", escaped(text)).as_bytes());
}

/// Returns a document in one line. A byte of a file name that is not UTF-8 becomes `\udc80` to
/// `\udcff`, as in the manifest and in Python (`os.fsencode` turns it back).
fn json_line(document: &Value) -> String {
    escaped_with("\\udc", &document.to_string())
}

/// Escapes a text from outside. In names, a byte that is not UTF-8 becomes `\x80` to `\xff` and a
/// backslash becomes two, so `$'...'` of a shell turns them back.
pub(crate) fn escaped(text: &str) -> String {
    escaped_with("\\x", text)
}

fn escaped_with(before_byte: &str, text: &str) -> String {
    let shown = |c| match raw_byte(c) {
        Some(byte @ 0x80..) => format!("{before_byte}{byte:02x}"),
        Some(_) => "\\\\".into(),
        None => String::from(c),
    };
    sealane::error::escaped(&text.chars().map(shown).collect::<String>())
}

/// Returns a file name without its folder, cut at the start to 24 characters to leave space for the
/// bar.
fn shortened(name: &str) -> String {
    const MAX_LEN: usize = 24;
    let name = escaped(name.rsplit('/').next().unwrap_or(name));
    match name.chars().count().checked_sub(MAX_LEN) {
        Some(over @ 1..) => format!("…{}", name.chars().skip(over + 1).collect::<String>()),
        _ => name,
    }
}

//! What the user sees.
//!
//! The rules: standard output carries results and data, nothing else. Standard error carries at most one line for each
//! thing that went wrong, `sealane: FILE: what happened; what to do`, and a bar while a terminal watches and a job takes
//! long enough to wonder about. A job that went well says nothing. With `--json` each of these lines is a JSON object.
//! Names of files are shown with their control characters escaped: a name is data, and a terminal obeys it.

use crate::error::{Failure, Kind};
use crate::interrupt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Where results, warnings and errors go. The first failure decides the exit status.
pub(crate) struct Console {
    json: bool,
    quiet: bool,
    status: Cell<u8>,
}

impl Console {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet, status: Cell::new(0) }
    }

    /// Whether a machine listens.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// Whether silence was asked for.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    pub(crate) fn status(&self) -> u8 {
        self.status.get()
    }

    /// Tells what went wrong.
    pub(crate) fn fail(&self, failure: &Failure) {
        if self.status.get() == 0 {
            self.status.set(failure.kind().status());
        }
        match failure.kind() {
            Kind::ReaderLeft => {}
            Kind::Interrupted if !interrupt::announce() => {}
            _ => say(&worded(failure, self.json)),
        }
    }

    /// Tells what is not good, though it works.
    pub(crate) fn warn(&self, text: &str) {
        match (self.quiet, self.json) {
            (true, _) => {}
            (_, true) => say(&json!({ "warning": text }).to_string()),
            _ => say(&format!("sealane: warning: {text}")),
        }
    }

    /// A result: a document for machines, text for people, who may have asked for silence.
    pub(crate) fn result(&self, document: impl FnOnce() -> Value, text: &str) -> Result<(), Failure> {
        match (self.json, self.quiet) {
            (true, _) => self.print(&format!("{}\n", document())),
            (_, true) => Ok(()),
            _ => self.print(&format!("{}\n", escaped(text))),
        }
    }

    /// Text on standard output. Unlike `print!`, it survives a reader that left.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|e| Failure::stdout(&e))
    }

    /// A bar for one job. Of a job without a known `total` it shows how much was done.
    pub(crate) fn bar(&self, name: &str, total: Option<u64>) -> Bar {
        let wanted = !self.quiet && !self.json && io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let template = match total {
            Some(_) => "{prefix} [{wide_bar}] {bytes}/{total_bytes} {bytes_per_sec} {eta} left",
            None => "{prefix} {spinner} {bytes} {bytes_per_sec} {elapsed}",
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> ").tick_chars("|/-\\ "));
        bar.set_prefix(fitting(name));
        Bar { bar, began: Instant::now(), hidden: wanted, done: 0 }
    }
}

/// The progress of one job. Cleared away when dropped.
pub(crate) struct Bar {
    bar: ProgressBar,
    began: Instant,
    /// It is to be shown, but it is not yet time.
    hidden: bool,
    done: u64,
}

impl Bar {
    /// A shorter job is over before anybody wonders.
    const PATIENCE: Duration = Duration::from_millis(300);

    /// Stays away where `taken`: the terminal shows the data itself.
    pub(crate) fn unless(mut self, taken: bool) -> Self {
        self.hidden &= !taken;
        self
    }

    /// What the bar is called from now on.
    pub(crate) fn rename(&self, name: String) {
        self.bar.set_prefix(name);
    }

    /// Steps aside for lines that are to stay.
    pub(crate) fn aside<T>(&self, say: impl FnOnce() -> T) -> T {
        self.bar.suspend(say)
    }

    /// `done` bytes are done. Says whether to go on.
    pub(crate) fn at(&mut self, done: u64) -> ControlFlow<()> {
        self.done = done;
        self.bar.set_position(done);
        if self.hidden && self.began.elapsed() >= Self::PATIENCE {
            self.hidden = false;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.tick(); // The next report may be long in coming.
        }
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Bytes done so far.
    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    /// Seconds since the job began.
    pub(crate) fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// For the signal's thread, which has no console: takes the bar away, where there may be one, and says it.
pub(crate) fn announce_interrupt(json: bool, advice: Option<&str>) {
    if io::stderr().is_terminal() {
        let _ = io::stderr().write_all(b"\r\x1b[2K");
    }
    let failure = match advice {
        Some(advice) => Failure::interrupted().and(advice),
        None => Failure::interrupted(),
    };
    say(&worded(&failure, json));
}

fn worded(failure: &Failure, json: bool) -> String {
    match json {
        true => json!({"error": failure.text(), "kind": failure.kind().name()}).to_string(),
        false => format!("sealane: {}", failure.text()),
    }
}

/// One line on standard error; `eprintln!` would panic where nobody listens.
fn say(text: &str) {
    let _ = io::stderr().write_all(format!("{}\n", escaped(text)).as_bytes());
}

fn escaped(text: &str) -> String {
    let keep = |c: char| !c.is_control();
    text.chars().map(|c| if keep(c) { c.to_string() } else { c.escape_default().to_string() }).collect()
}

/// The end of a name, which tells most about it, short enough to leave room for the bar.
fn fitting(name: &str) -> String {
    const MOST: usize = 24;
    let name = escaped(name.rsplit('/').next().unwrap_or(name));
    match name.chars().count().checked_sub(MOST) {
        Some(over @ 1..) => format!("…{}", name.chars().skip(over + 1).collect::<String>()),
        _ => name,
    }
}

//! User interface of age plugins: messages on standard error, questions at the terminal.

use crate::console;
use crate::passphrase;
use crate::prelude::*;
use crate::signal;
use sealane::age::Plugins;
use sealane::age::plugin::{Input, Interaction};
use std::io::{BufRead, BufReader};
use std::sync::{Mutex, PoisonError};

/// Maximum bytes in a typed line.
const MAX_LEN: u64 = 1 << 12;

/// Permits plugins to run; they ask at the terminal.
pub(crate) fn at_terminal(console: &Console) -> Plugins {
    Plugins::new(Arc::new(Terminal { json: console.json }))
}

/// The user at the terminal. Without a terminal, plugins are told that there is no user.
struct Terminal {
    json: bool,
}

impl Interaction for Terminal {
    fn message(&self, plugin: &str, text: &str) -> Result<Option<()>, Error> {
        console::announce(self.json, &format!("age plugin {plugin}: {text}"));
        Ok(Some(()))
    }

    fn request(&self, plugin: &str, prompt: &str, input: Input) -> Result<Option<Zeroizing<String>>, Error> {
        let prompt = console::escaped(&format!("age plugin {plugin}: {prompt}: "));
        one_at_a_time(|| match input {
            Input::Public => typed(&prompt),
            _ => passphrase::hidden(&prompt),
        })
    }

    fn confirm(
        &self,
        plugin: &str,
        prompt: &str,
        yes: &str,
        no: Option<&str>,
    ) -> Result<Option<bool>, Error> {
        let choices = match no {
            Some(no) => format!("type 1 for \"{yes}\" or 2 for \"{no}\""),
            None => format!("press Enter for \"{yes}\""),
        };
        let prompt = console::escaped(&format!("age plugin {plugin}: {prompt} ({choices}): "));
        one_at_a_time(|| {
            loop {
                let Some(line) = typed(&prompt)? else { return Ok(None) };
                match (line.trim(), no) {
                    ("", None) | ("1", Some(_)) => return Ok(Some(true)),
                    ("2", Some(_)) => return Ok(Some(false)),
                    _ => {}
                }
            }
        })
    }

    fn waiting(&self, plugin: &str) {
        console::announce(self.json, &format!("waiting for age plugin {plugin}"));
    }

    fn check(&self) -> Result<(), Error> {
        match signal::requested() {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }
}

/// Runs one dialogue at a time: plugins for several files can ask at once, from several threads.
fn one_at_a_time<T>(dialogue: impl FnOnce() -> T) -> T {
    static TERMINAL: Mutex<()> = Mutex::new(());
    let _guard = TERMINAL.lock().unwrap_or_else(PoisonError::into_inner);
    dialogue()
}

/// Returns a line typed visibly, or `None` without a terminal.
fn typed(prompt: &str) -> Result<Option<Zeroizing<String>>, Error> {
    let Ok(terminal) = File::options().read(true).write(true).open("/dev/tty") else { return Ok(None) };
    (&terminal).write_all(prompt.as_bytes())?;
    let mut line = Zeroizing::new(String::new());
    BufReader::new(terminal).take(MAX_LEN).read_line(&mut line)?;
    match line.strip_suffix('\n') {
        Some(text) => Ok(Some(Zeroizing::new(text.to_owned()))),
        // End of input, such as Ctrl-D.
        None => Err(Error::Cancelled),
    }
}

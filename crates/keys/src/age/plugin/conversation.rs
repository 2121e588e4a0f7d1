//! The plugin's phase of the conversation, common to both state machines.

use super::command::{Command, Message};
use super::process::Process;
use super::{Input, Plugins, failure};
use crate::prelude::*;
use base::error::{PluginError, PluginProblem, escaped};
use base64ct::{Base64Unpadded, Encoding};

/// Maximum length in bytes of a text for the user, and of the user's input.
const MAX_TEXT_LEN: usize = 4096;
/// Maximum characters of a plugin's error that we return.
const MAX_ERROR_CHARS: usize = 300;
/// Maximum commands that are not results. Otherwise a plugin could keep the user busy forever.
const MAX_COMMANDS: usize = 1000;

const LONG_TEXT: PluginProblem =
    PluginProblem::Protocol("expected texts of at most 4096 bytes, found a longer one");
const NOT_UTF8: PluginProblem = PluginProblem::Protocol("expected text in UTF-8, found other bytes");
const TOO_MANY: PluginProblem =
    PluginProblem::Protocol("expected at most 1000 messages, questions and errors, found more");
const CONFIRM: PluginProblem =
    PluginProblem::Protocol("expected one or two arguments of 'confirm' in base64, found others");

/// A running plugin, and texts that must not appear in its error messages.
pub(super) struct Conversation<'a> {
    name: &'a str,
    plugins: &'a Plugins,
    process: Process,
    secrets: Vec<&'a str>,
    /// The first error from the plugin.
    reported: Option<String>,
    commands: usize,
}

impl<'a> Conversation<'a> {
    /// Starts the plugin and sends it our phase. Errors will not show `secrets`, compared without
    /// regard to case.
    pub(super) fn begin(
        name: &'a str,
        plugins: &'a Plugins,
        state_machine: &str,
        message: &Message,
        secrets: Vec<&'a str>,
    ) -> Result<Self> {
        let mut process = Process::start(name, plugins, state_machine)?;
        process.send(message.as_bytes())?;
        Ok(Self { name, plugins, process, secrets, reported: None, commands: 0 })
    }

    /// Returns the next of the commands named `results`, for the state machine to process and
    /// confirm with [`Self::ok`]; `None` at the end of the phase. Processes all other commands.
    pub(super) fn next(&mut self, results: &[&str]) -> Result<Option<Command>> {
        loop {
            let command = self.process.receive();
            let command = command.map_err(|error| self.reported_before(error))?;
            if results.contains(&command.kind()) {
                return Ok(Some(command));
            }
            if command.kind() == "done" {
                return Ok(None);
            }
            self.commands += 1;
            if self.commands > MAX_COMMANDS {
                return Err(self.failure(TOO_MANY));
            }
            self.process(&command)?;
        }
    }

    fn process(&mut self, command: &Command) -> Result<()> {
        let (name, interaction) = (self.name, &self.plugins.interaction);
        match command.kind() {
            "msg" => match interaction.message(name, &self.text(&command.body)?)? {
                Some(()) => self.ok(),
                None => self.respond(&["fail"], b""),
            },
            kind @ ("request-public" | "request-secret") => {
                let input = if kind == "request-secret" { Input::Secret } else { Input::Public };
                match interaction.request(name, &self.text(&command.body)?, input)? {
                    Some(text) if text.len() <= MAX_TEXT_LEN => self.respond(&["ok"], text.as_bytes()),
                    _ => self.respond(&["fail"], b""),
                }
            }
            "confirm" => {
                let choices: Vec<_> = command
                    .arguments()
                    .into_iter()
                    .map(|word| self.choice(word))
                    .collect::<Result<_, _>>()?;
                let (yes, no) = match &choices[..] {
                    [yes] => (yes, None),
                    [yes, no] => (yes, Some(no.as_str())),
                    _ => return Err(self.failure(CONFIRM)),
                };
                match interaction.confirm(name, &self.text(&command.body)?, yes, no)? {
                    Some(true) => self.respond(&["ok", "yes"], b""),
                    Some(false) => self.respond(&["ok", "no"], b""),
                    None => self.respond(&["fail"], b""),
                }
            }
            "error" => {
                let text = self.shown(&command.body);
                self.reported.get_or_insert(text);
                self.ok()
            }
            _ => self.respond(&["unsupported"], b""),
        }
    }

    /// Confirms a command.
    pub(super) fn ok(&mut self) -> Result<()> {
        self.respond(&["ok"], b"")
    }

    fn respond(&mut self, words: &[&str], body: &[u8]) -> Result<()> {
        let mut message = Message::new(Message::space(2 * body.len()))?;
        message.command(words, body);
        let sent = self.process.send(message.as_bytes());
        sent.map_err(|error| self.reported_before(error))
    }

    /// Returns the error that the plugin reported before it ended: the plugins of the program age
    /// end without `done` after an error.
    fn reported_before(&mut self, error: Error) -> Error {
        let ended = matches!(&error, Error::Plugin(PluginError { problem: PluginProblem::Ended { .. }, .. }));
        match self.reported.take_if(|_| ended) {
            Some(text) => self.failure(PluginProblem::Reported(text)),
            None => error,
        }
    }

    /// Ends the conversation after the last command. Returns the first error from the plugin.
    pub(super) fn finish(self) -> Option<Error> {
        self.process.finish();
        self.reported.map(|text| failure(self.name, PluginProblem::Reported(text)))
    }

    pub(super) fn failure(&self, problem: PluginProblem) -> Error {
        failure(self.name, problem)
    }

    fn text(&self, body: &[u8]) -> Result<String> {
        if body.len() > MAX_TEXT_LEN {
            return Err(self.failure(LONG_TEXT));
        }
        // The position of the invalid byte does not help.
        std::str::from_utf8(body).map(escaped).map_err(|_| self.failure(NOT_UTF8))
    }

    fn choice(&self, word: &str) -> Result<String> {
        // Either error means what the message says: not base64, or not text.
        let bytes = Base64Unpadded::decode_vec(word).map_err(|_| self.failure(CONFIRM))?;
        std::str::from_utf8(&bytes).map(escaped).map_err(|_| self.failure(CONFIRM))
    }

    /// Returns the text of an error for our user: one short line without secrets of this
    /// conversation.
    fn shown(&self, body: &[u8]) -> String {
        let text = Zeroizing::new(String::from_utf8_lossy(body).into_owned());
        let upper = Zeroizing::new(text.to_ascii_uppercase());
        let marks = ["AGE-SECRET-KEY-", "AGE-PLUGIN-", "PRIVATE KEY-----"];
        let is_secret = |secret: &&str| upper.contains(&*Zeroizing::new(secret.to_ascii_uppercase()));
        if marks.iter().chain(&self.secrets).any(is_secret) {
            return "(a text that contains a secret)".into();
        }
        let short: String = text.chars().take(MAX_ERROR_CHARS).collect();
        let end = if short.len() < text.len() { "…" } else { "" };
        escaped(&short) + end
    }
}

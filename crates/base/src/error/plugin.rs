//! Errors about age plugins.

use std::time::Duration;
use std::{fmt, io};

/// An age plugin could not be used; it may not be installed.
#[derive(Debug)]
pub struct PluginError {
    /// Name of the plugin, without `age-plugin-`.
    pub plugin: String,
    /// The reason; contains no key.
    pub problem: PluginProblem,
}

/// Why an age plugin could not be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum PluginProblem {
    /// The recipient or identity has no `Plugins`, so no program may run for it.
    NotEnabled,
    /// No folder of the search path has the program.
    NotFound,
    /// The operating system could not start the program.
    NotStarted(io::Error),
    /// The plugin sent no complete command within this time, or did not read ours; or was silent for
    /// this time in all.
    TimedOut(Duration),
    /// The plugin ended before the conversation was over.
    Ended {
        /// Exit status in the system's words, if known.
        status: Option<String>,
    },
    /// The plugin violated the protocol. The text says how.
    Protocol(&'static str),
    /// The plugin reported an error. The text is the plugin's, with control characters escaped and
    /// shortened if long.
    Reported(String),
    /// The file key from the plugin does not match the header of the file.
    WrongFileKey,
    /// Plugins are not supported on this operating system.
    UnsupportedSystem,
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plugin, problem } = self;
        write!(f, "age plugin {plugin}: ")?;
        match problem {
            PluginProblem::NotEnabled => f.write_str(
                "plugins are programs, and none may be run for this call; enable plugins if the recipients and \
                 identities are trusted",
            ),
            PluginProblem::NotFound => write!(
                f,
                "expected the program age-plugin-{plugin} in a folder of PATH, found none; install the plugin"
            ),
            PluginProblem::NotStarted(error) => {
                write!(f, "age-plugin-{plugin} cannot be started: {error}; check the installed program")
            }
            PluginProblem::TimedOut(limit) => {
                write!(f, "it was silent for {limit:?} and was ended; check the plugin and its hardware")
            }
            PluginProblem::Ended { status } => {
                f.write_str("expected more commands of the plugin, but it ended")?;
                if let Some(status) = status {
                    write!(f, " ({status})")?;
                }
                f.write_str("; check the installed version")
            }
            PluginProblem::Protocol(what) => {
                write!(f, "it does not follow the protocol of age plugins: {what}; check the installed version")
            }
            PluginProblem::Reported(text) => write!(f, "it reports an error: {text}"),
            PluginProblem::WrongFileKey => f.write_str(
                "its file key does not match the header, so the plugin is wrong or the header was changed; take \
                 another copy of the file",
            ),
            PluginProblem::UnsupportedSystem => {
                f.write_str("plugins are supported on Unix systems only; use another recipient or identity")
            }
        }
    }
}

impl std::error::Error for PluginError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            PluginProblem::NotStarted(source) => Some(source),
            _ => None,
        }
    }
}

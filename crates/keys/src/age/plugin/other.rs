//! Processes of plugins on systems without support for them.

use super::command::Command;
use super::{Plugins, failure};
use base::Result;
use base::error::PluginProblem;

/// A plugin that cannot start.
pub(super) enum Process {}

impl Process {
    pub(super) fn start(name: &str, _: &Plugins, _: &str) -> Result<Self> {
        Err(failure(name, PluginProblem::UnsupportedSystem))
    }

    pub(super) fn send(&mut self, _: &[u8]) -> Result<()> {
        match *self {}
    }

    pub(super) fn receive(&mut self) -> Result<Command> {
        match *self {}
    }

    pub(super) fn finish(self) {
        match self {}
    }
}

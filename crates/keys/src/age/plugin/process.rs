//! The process of a plugin, and the bytes to and from it.
//!
//! Both pipes are non-blocking and this thread waits with `poll`, to notice a plugin that does not
//! read or write. The process ends at the latest when its [`Process`] is dropped, and leaves no
//! zombie.

use super::command::{Command, MAX_COMMAND_LEN};
use super::{Interaction, Plugins, failure, program};
use crate::prelude::*;
use base::error::PluginProblem;
use base::interrupt;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time between checks for cancellation.
const PERIOD: Duration = Duration::from_millis(50);
/// Silence after which the user is reminded of the plugin.
const PATIENCE: Duration = Duration::from_secs(5);
/// A plugin may be silent this many times as long in a whole conversation: enough for touches for
/// several recipients.
const SILENCES: u32 = 10;
/// Time for a plugin to end after the conversation.
const GRACE_PERIOD: Duration = Duration::from_millis(500);

const PIPE: &str = "a pipe is closed at the end only";
const LONG_COMMAND: PluginProblem =
    PluginProblem::Protocol("expected commands of at most 256 KiB, found a longer one");

pub(super) struct Process {
    name: String,
    /// Has both pipes until [`Self::finish`] closes them.
    child: Child,
    interaction: Arc<dyn Interaction>,
    timeout: Duration,
    /// How long we have waited for the plugin in all.
    waited: Duration,
    /// The plugin's bytes that are not parsed yet are at the beginning of the buffer.
    buffer: Zeroizing<Vec<u8>>,
    filled: usize,
}

impl Process {
    /// Starts the plugin `name` with a state machine of the protocol.
    pub(super) fn start(name: &str, plugins: &Plugins, state_machine: &str) -> Result<Self> {
        let fail = |problem| failure(name, problem);
        let path =
            program::find(name, plugins.path.as_deref()).ok_or_else(|| fail(PluginProblem::NotFound))?;
        let buffer = Zeroizing::new(memory::zeroed(MAX_COMMAND_LEN)?);
        let child = std::process::Command::new(path)
            .arg(format!("--age-plugin={state_machine}"))
            .current_dir(program::working_folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| fail(PluginProblem::NotStarted(error)))?;
        let process = Self {
            name: name.to_owned(),
            child,
            interaction: Arc::clone(&plugins.interaction),
            timeout: plugins.timeout,
            waited: Duration::ZERO,
            buffer,
            filled: 0,
        };
        for pipe in [process.stdin().as_fd(), process.stdout().as_fd()] {
            let flags = fcntl_getfl(pipe).map_err(io::Error::from)?;
            fcntl_setfl(pipe, flags | OFlags::NONBLOCK).map_err(io::Error::from)?;
        }
        Ok(process)
    }

    fn stdin(&self) -> &ChildStdin {
        self.child.stdin.as_ref().expect(PIPE)
    }

    fn stdout(&self) -> &ChildStdout {
        self.child.stdout.as_ref().expect(PIPE)
    }

    /// Sends bytes; the plugin must take all of them within the time limit.
    pub(super) fn send(&mut self, mut bytes: &[u8]) -> Result<()> {
        let began = Instant::now();
        while !bytes.is_empty() {
            match self.stdin().write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.waited += self.wait(self.stdin().as_fd(), PollFlags::OUT, began)?;
                }
                // The plugin closed the pipe or ended.
                Err(_) => return Err(self.ended()),
            }
        }
        Ok(())
    }

    /// Returns the plugin's next command; it must be complete within the time limit.
    pub(super) fn receive(&mut self) -> Result<Command> {
        let began = Instant::now();
        let mut reminded = false;
        loop {
            let parsed = Command::parse(&self.buffer[..self.filled]);
            if let Some((command, len)) = parsed.map_err(|problem| failure(&self.name, problem))? {
                self.buffer.copy_within(len..self.filled, 0);
                self.filled -= len;
                return Ok(command);
            }
            if self.filled == self.buffer.len() {
                return Err(failure(&self.name, LONG_COMMAND));
            }
            let stdout = self.child.stdout.as_mut().expect(PIPE);
            match stdout.read(&mut self.buffer[self.filled..]) {
                Ok(0) => return Err(self.ended()),
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.waited += self.wait(self.stdout().as_fd(), PollFlags::IN, began)?;
                    if !reminded && began.elapsed() >= PATIENCE {
                        reminded = true;
                        self.interaction.waiting(&self.name);
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits until a pipe is ready, at most for [`PERIOD`], and returns the time. The limit of one
    /// silence counts from `began`.
    fn wait(&self, pipe: BorrowedFd<'_>, flags: PollFlags, began: Instant) -> Result<Duration> {
        let period = Timespec { tv_sec: 0, tv_nsec: i64::from(PERIOD.subsec_nanos()) };
        let start = Instant::now();
        // The check below finds a signal that ended the wait; the read or write finds any other
        // error.
        let _ = poll(&mut [PollFd::from_borrowed_fd(pipe, flags)], Some(&period));
        self.check_cancelled()?;
        let waited = start.elapsed();
        let total = self.timeout.saturating_mul(SILENCES);
        for (silence, limit) in [(began.elapsed(), self.timeout), (self.waited + waited, total)] {
            if silence >= limit {
                return Err(failure(&self.name, PluginProblem::TimedOut(limit)));
            }
        }
        Ok(waited)
    }

    fn check_cancelled(&self) -> Result<()> {
        self.interaction.check()?;
        interrupt::check()
    }

    /// Returns the error for a closed pipe, or [`Error::Cancelled`]: Ctrl-C goes to the plugin too.
    fn ended(&mut self) -> Error {
        let status = self.wait_for_exit();
        if let Err(cancelled) = self.check_cancelled() {
            return cancelled;
        }
        failure(&self.name, PluginProblem::Ended { status: status.map(|status| status.to_string()) })
    }

    /// Lets the plugin end after the conversation; kills it if it takes too long.
    pub(super) fn finish(mut self) {
        (self.child.stdin, self.child.stdout) = (None, None);
        // The conversation is over, so the exit status does not matter.
        let _ = self.wait_for_exit();
    }

    fn wait_for_exit(&mut self) -> Option<std::process::ExitStatus> {
        let began = Instant::now();
        let mut pause = Duration::from_micros(200);
        while began.elapsed() < GRACE_PERIOD {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) => sleep(pause),
                Err(_) => return None,
            }
            pause = (2 * pause).min(Duration::from_millis(20));
        }
        None
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Neither fails for a child that was not waited for; for any other, there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! A temporary folder in which tests run the program.
#![allow(dead_code, reason = "not all items are used on every platform")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
#[cfg(unix)]
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A temporary folder with the key `k`, removed on drop.
pub(crate) struct Sandbox(PathBuf);

/// The exit status and the output of a program.
pub(crate) struct Outcome {
    pub(crate) status: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        default_signals();
        let name = format!("sealane-cli-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let sandbox = Self(std::env::temp_dir().join(name));
        fs::create_dir(&sandbox.0).unwrap();
        sandbox.run("keygen -o k").succeeded();
        sandbox
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn folder(&self, name: &str) {
        fs::create_dir(self.path(name)).unwrap();
    }

    /// Every path below the folder with its content; for a large file only the length.
    pub(crate) fn content(&self) -> BTreeMap<PathBuf, Result<Vec<u8>, u64>> {
        let mut all = BTreeMap::new();
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let found = path.symlink_metadata().unwrap();
                if found.is_dir() {
                    folders.push(path.clone());
                }
                let small = found.is_file() && found.len() < 4 << 20;
                all.insert(path.clone(), if small { Ok(fs::read(path).unwrap()) } else { Err(found.len()) });
            }
        }
        all
    }

    /// The program, to be run in this folder.
    pub(crate) fn sealane(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealane"));
        command.current_dir(&self.0).env_remove("SEALANE_PROVIDER").env_remove("SEALANE_CPU");
        self.isolate(&mut command);
        command
    }

    /// Hides the keys and the state of the user who runs the tests.
    fn isolate(&self, command: &mut Command) {
        command.env_remove("SEALANE_KEY").env_remove("SEALANE_IDENTITY");
        command.env("SEALANE_KNOWN_KEYS", self.known_keys());
        for (variable, name) in [("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")] {
            command.env(variable, self.known_keys().with_file_name(name));
        }
    }

    /// The file of known keys, beside the folder, so that tests leave the user's file alone.
    pub(crate) fn known_keys(&self) -> PathBuf {
        self.0.with_extension("known").join("keys")
    }

    /// Runs the program with the words of a line, and an empty standard input.
    pub(crate) fn run(&self, line: &str) -> Outcome {
        self.pipe(line, b"")
    }

    /// Runs the program with the words of a line, and a pipe as standard input.
    pub(crate) fn pipe(&self, line: &str, input: &[u8]) -> Outcome {
        self.run_with(self.sealane().args(line.split_whitespace()), input)
    }

    /// Runs a line with a shell, in which `$SEALANE` and `sealane` are the program.
    pub(crate) fn shell(&self, line: &str) -> Outcome {
        let mut shell = Command::new("sh");
        let program = Path::new(env!("CARGO_BIN_EXE_sealane"));
        let path = [program.parent().unwrap().as_os_str(), &std::env::var_os("PATH").unwrap()];
        shell.args(["-c", line]).current_dir(&self.0).env("SEALANE", program);
        self.isolate(&mut shell);
        shell.env("PATH", path.join(OsStr::new(":")));
        self.run_with(&mut shell, b"")
    }

    pub(crate) fn run_with(&self, command: &mut Command, input: &[u8]) -> Outcome {
        let mut child = piped(command);
        let mut stdin = child.stdin.take().unwrap();
        thread::scope(|scope| {
            // The program may fail before it has read everything.
            scope.spawn(move || drop(stdin.write_all(input)));
            Outcome::from(child.wait_with_output().unwrap())
        })
    }

    /// Starts the program with the words of a line.
    pub(crate) fn start(&self, line: &str) -> Child {
        piped(self.sealane().args(line.split_whitespace()))
    }

    /// As [`Self::start`], with encryption so slow that 512 MiB take some seconds. The program
    /// reserves an output's disk space before it writes: a larger file would fill small disks.
    pub(crate) fn start_slow(&self, line: &str) -> Child {
        let mut command = self.sealane();
        command.env("SEALANE_PROVIDER", "native").env("SEALANE_CPU", "-aes,-neon");
        piped(command.args(line.split_whitespace()))
    }

    /// Checks that a line fails with this status and one line that contains these words, that it
    /// prints no result, and that it leaves all files unchanged.
    pub(crate) fn refuses(&self, line: &str, status: i32, words: &str) {
        self.refuses_input(line, b"", status, words);
    }

    /// As [`Self::refuses`], with a pipe as standard input.
    pub(crate) fn refuses_input(&self, line: &str, input: &[u8], status: i32, words: &str) {
        let before = self.content();
        let outcome = self.pipe(line, input);
        outcome.failed(status, words);
        assert!(outcome.out.is_empty(), "{line}: there is output");
        assert!(self.content() == before, "{line}: the folder has changed");
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        let _ = fs::remove_dir_all(self.known_keys().with_file_name(""));
    }
}

impl Outcome {
    /// Checks that the program succeeded and printed nothing on standard error. Returns its output.
    #[track_caller]
    pub(crate) fn succeeded(self) -> Vec<u8> {
        assert_eq!((self.status, self.err.as_str()), (Some(0), ""));
        self.out
    }

    /// As [`Self::succeeded`], with the output as text.
    #[track_caller]
    pub(crate) fn text(self) -> String {
        with_slashes(String::from_utf8(self.succeeded()).unwrap())
    }

    /// Checks that the program failed with this status and one line that contains these words.
    #[track_caller]
    pub(crate) fn failed(&self, status: i32, words: &str) {
        assert_eq!(self.status, Some(status), "{self:?}");
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        assert!(self.err.starts_with("sealane: ") && self.err.ends_with('\n'), "{:?}", self.err);
        assert!(self.err.contains(words), "{:?} in {:?}", words, self.err);
    }
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "status {:?}, {:?}, {:?}", self.status, self.err, String::from_utf8_lossy(&self.out))
    }
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        let err = String::from_utf8(output.stderr).expect("messages are UTF-8 for all file names");
        Self { status: output.status.code(), out: output.stdout, err: with_slashes(err) }
    }
}

/// Returns a text of the program with the paths of Unix, also those in JSON.
fn with_slashes(text: String) -> String {
    if cfg!(windows) { text.replace("\\\\", "/").replace('\\', "/") } else { text }
}

fn piped(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Parses a document. `serde_json` refuses `\udcff`, which stands for a byte 0xff of a name, so
/// that becomes U+F0FF.
pub(crate) fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(&line.replace("\\udc", "\\uf0")).unwrap()
}

/// Returns bytes whose period is not that of the chunks, so that swapped chunks are noticed.
pub(crate) fn data(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8 ^ (i / 16384) as u8).collect()
}

/// Runs another program and returns whether it succeeded.
pub(crate) fn works(program: &str, args: &[&OsStr]) -> bool {
    let quiet = || Stdio::null();
    Command::new(program)
        .args(args)
        .stdout(quiet())
        .stderr(quiet())
        .status()
        .is_ok_and(|status| status.success())
}

/// Gives the programs that tests start the system's default for each signal. In a job in the
/// background of a script or under `nohup`, some are ignored, and children inherit that. Handlers
/// they do not inherit.
#[cfg(unix)]
pub(crate) fn default_signals() {
    use signal_hook::{consts::*, iterator::Signals, low_level::emulate_default_handler};
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let handled = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP, SIGTTOU];
        let mut signals = Signals::new(handled).unwrap();
        let default = |signal| drop(emulate_default_handler(signal));
        thread::spawn(move || signals.forever().for_each(default));
    });
}

#[cfg(windows)]
pub(crate) fn default_signals() {}

/// Sends a signal to a running child.
pub(crate) fn signal(child: &Child, name: &str) {
    // The shell has it built in. Small systems have no program of this name.
    assert!(works("sh", &["-c".as_ref(), format!("kill -{name} {}", child.id()).as_ref()]));
}

/// Waits until the child has installed its handler for Ctrl-C.
pub(crate) fn until_it_handles_signals(child: &Child) {
    until_it_handles(child, "INT");
}

/// Waits until the child has installed its handler for a signal.
pub(crate) fn until_it_handles(child: &Child, name: &str) {
    let number = ["HUP", "INT", "QUIT", "", "", "", "", "", "", "USR1", "", "USR2", "", "ALRM", "TERM"];
    let bit = number.iter().position(|known| *known == name).unwrap();
    let status = format!("/proc/{}/status", child.id());
    until(|| {
        let status = fs::read_to_string(&status).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        u64::from_str_radix(caught.trim(), 16).unwrap() >> bit & 1 == 1
    });
}

/// Waits at most one minute for a condition.
#[track_caller]
pub(crate) fn until(mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(60), "the condition did not hold within a minute");
        thread::sleep(Duration::from_millis(5));
    }
}

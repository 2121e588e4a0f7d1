//! Questions at a terminal: what is typed is what `--passphrase-fd` and `--passphrase-command`
//! take, and the terminal has its modes again whatever happens.
#![cfg(target_os = "linux")]

use crate::common::{Outcome, Sandbox, signal, until, until_it_handles};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Termios, tcgetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, Stdio};

/// The program at a terminal of its own.
struct Terminal {
    child: Child,
    user: File,
    /// The program's side: its modes, also after the program's end.
    program: File,
    shown: Vec<u8>,
}

impl Terminal {
    fn start(sandbox: &Sandbox, line: &str) -> Self {
        let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&user).unwrap();
        unlockpt(&user).unwrap();
        fcntl_setfl(&user, OFlags::NONBLOCK).unwrap();
        let path = ptsname(&user, Vec::new()).unwrap();
        let path = std::ffi::OsStr::from_bytes(path.as_bytes());
        let program = {
            use std::os::unix::fs::OpenOptionsExt;
            let flags = OFlags::NOCTTY.bits() as i32;
            File::options().read(true).write(true).custom_flags(flags).open(path).unwrap()
        };
        // A session of its own, so that nothing asks at the terminal where the tests run.
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(env!("CARGO_BIN_EXE_sealane")).args(line.split(' '));
        let stream = || Stdio::from(program.try_clone().unwrap());
        command.current_dir(sandbox.path("")).stdin(stream()).stdout(stream()).stderr(stream());
        Self { child: command.spawn().unwrap(), user: user.into(), program, shown: Vec::new() }
    }

    fn modes(&self) -> Termios {
        tcgetattr(&self.program).unwrap()
    }

    fn echoes(&self) -> bool {
        self.modes().local_modes.contains(LocalModes::ECHO)
    }

    fn receive(&mut self) {
        let mut piece = [0; 4096];
        while let Ok(n @ 1..) = self.user.read(&mut piece) {
            self.shown.extend_from_slice(&piece[..n]);
        }
    }

    /// Waits until `text` is shown, and forgets what was shown up to it.
    #[track_caller]
    fn waits_for(&mut self, text: &str) {
        until(|| {
            self.receive();
            let ended = matches!(self.child.try_wait(), Ok(Some(_)));
            let at = self.shown.windows(text.len()).position(|part| part == text.as_bytes());
            assert!(at.is_some() || !ended, "{text:?} in {:?}", String::from_utf8_lossy(&self.shown));
            at.inspect(|at| drop(self.shown.drain(..at + text.len()))).is_some()
        });
    }

    #[track_caller]
    fn answers(&mut self, question: &str, typed: &[u8]) {
        self.waits_for(question);
        assert!(!self.echoes(), "the answer would be shown");
        self.user.write_all(typed).unwrap();
    }

    /// Waits for the program's end; returns its exit status and what it showed since the last
    /// question.
    #[track_caller]
    fn ends(mut self) -> (Option<i32>, String) {
        until(|| {
            self.receive();
            matches!(self.child.try_wait(), Ok(Some(_)))
        });
        self.receive();
        assert!(self.echoes(), "the terminal has its modes again");
        let modes = LocalModes::ICANON | LocalModes::ISIG;
        assert!(self.modes().local_modes.contains(modes), "{:?}", self.modes().local_modes);
        let shown = String::from_utf8_lossy(&self.shown).into_owned();
        (self.child.wait().unwrap().code(), shown)
    }
}

const NEW: &str = "new passphrase for the file (empty: make one): ";
const REPEAT: &str = "repeat the passphrase: ";

fn opens(sandbox: &Sandbox, file: &str, passphrase: &[u8]) -> Outcome {
    sandbox.pipe(&format!("decrypt --passphrase-fd 0 {file}"), passphrase)
}

/// Composed and decomposed letters, spaces at the ends, and a letter that was deleted.
// claim: passphrase-channels
#[test]
fn typed_and_piped_passphrases_are_the_same_bytes() {
    let sandbox = Sandbox::new();
    sandbox.write("m", b"data");
    let typed = ["  \u{e4} a\u{308}\u{1f511}  ", "xy\x7fz\u{e9}\x7f\u{e9}"];
    for (at, typed) in typed.into_iter().enumerate() {
        let meant = ["  \u{e4} a\u{308}\u{1f511}  ", "xz\u{e9}"][at];
        let file = format!("f{at}");
        let mut terminal = Terminal::start(&sandbox, &format!("encrypt -q -p -o {file} m"));
        terminal.answers(NEW, format!("{typed}\n").as_bytes());
        terminal.answers(REPEAT, format!("{typed}\r").as_bytes());
        assert_eq!(terminal.ends(), (Some(0), "\r\n".into()));
        assert_eq!(opens(&sandbox, &file, format!("{meant}\r\n").as_bytes()).succeeded(), b"data");
        sandbox.write("words", meant.as_bytes());
        let command = sandbox.run(&format!("decrypt --passphrase-command cat<words {file}"));
        assert_eq!(command.succeeded(), b"data");
    }
    opens(&sandbox, "f0", "  a\u{308} \u{e4}\u{1f511}  \n".as_bytes()).failed(1, "wrong passphrase");
    // A passphrase file asks by itself, as in age, and takes what another program took.
    let mut terminal = Terminal::start(&sandbox, "decrypt -q -o back f1");
    terminal.answers("passphrase of the file: ", "xz\u{e9}\n".as_bytes());
    assert_eq!(terminal.ends().0, Some(0));
    assert_eq!(sandbox.read("back"), b"data");
}

// claim: passphrase-refused
#[test]
fn a_passphrase_that_cannot_be_given_again_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("m", b"data");
    let before = sandbox.content();
    let long = [vec![b'x'; 5000], b"\n".to_vec()].concat();
    let cases: [(&[u8], &str); 7] = [
        (b"a\tb\n", "control characters"),
        (b"left\x1b[D\n", "control characters"),
        (b"p\xe4bc\n", "UTF-8"),
        (b"p\xe4\n", "UTF-8"),
        (b"\xef\xbb\xbfpw\n", "byte order mark"),
        (b"\xff\xfep\n", "UTF-8"),
        (&long, "at most 4094 bytes"),
    ];
    for (typed, words) in cases {
        let mut terminal = Terminal::start(&sandbox, "encrypt -q -p -o x m");
        terminal.answers(NEW, typed);
        if words == "control characters" {
            terminal.answers(REPEAT, typed);
        }
        let (status, shown) = terminal.ends();
        assert!(status == Some(2) && shown.contains(words), "{typed:?}: {status:?} {shown}");
        sandbox.pipe("encrypt -p --passphrase-fd 0 -o x m", typed).failed(2, words);
    }
    assert!(sandbox.content() == before);
    sandbox.pipe("encrypt -p --passphrase-fd 0 -o x m", b"\n").failed(2, "empty");
}

/// `data` under the passphrase `a`, tab, `b`, which we write no files for.
const OF_A_TAB: &str = "\
-----BEGIN AGE ENCRYPTED FILE-----
YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBBQUVDQXdRRkJnY0lDUW9M
REEwT0R3IDEwCkQ4bHFleGhlWjh3UmIzRjB0OVVlWUkxbm5yM3RmSzhmU3JlVm5H
RmRrZTgKLS0tIHNMdXZmYWdsRUFIemw1czI1VVdLT3FTS0xQQmtJdnhFeVVCQlVN
WHpTM00KICEiIyQlJicoKSorLC0uL7iSsIaqjzB/thamkRYRmJ+xiKlR
-----END AGE ENCRYPTED FILE-----
";

/// A tab in the passphrase of an existing file, from `age` for example, is taken as it is.
#[test]
fn an_existing_passphrase_is_taken_as_it_is() {
    let sandbox = Sandbox::new();
    sandbox.write("sealed", OF_A_TAB.as_bytes());
    let mut terminal = Terminal::start(&sandbox, "decrypt -q -o back sealed");
    terminal.answers("passphrase of the file: ", b"a\tb\n");
    assert_eq!(terminal.ends().0, Some(0));
    assert_eq!(sandbox.read("back"), b"data");
}

#[test]
fn an_empty_answer_makes_a_passphrase() {
    let sandbox = Sandbox::new();
    sandbox.write("m", b"data");
    let mut terminal = Terminal::start(&sandbox, "encrypt -q -p -o sealed m");
    terminal.answers(NEW, b"\n");
    let (status, shown) = terminal.ends();
    let made = shown.trim().strip_prefix("the passphrase of the file is: ").unwrap();
    assert!(status == Some(0) && made.len() == 29, "{shown}");
    assert_eq!(opens(&sandbox, "sealed", made.as_bytes()).succeeded(), b"data");
}

/// Also by a signal that an ignored one would have hidden.
// claim: terminal-restored
#[test]
fn every_signal_restores_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.write("m", b"data");
    let before = sandbox.content();
    for name in ["INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "ALRM"] {
        let mut terminal = Terminal::start(&sandbox, "encrypt -q -p -o x m");
        until_it_handles(&terminal.child, name);
        terminal.waits_for(NEW);
        signal(&terminal.child, name);
        let (status, shown) = terminal.ends();
        assert!(status == Some(130) && shown.contains("interrupted"), "{name}: {status:?} {shown}");
    }
    // STKFLT, IO and PWR; the handlers are there before the question.
    for number in ["16", "29", "30"] {
        let mut terminal = Terminal::start(&sandbox, "encrypt -q -p -o x m");
        terminal.waits_for(NEW);
        signal(&terminal.child, number);
        assert_eq!(terminal.ends().0, Some(130), "{number}");
    }
    for typed in [b"\x03", b"\x1c", b"\x04"] {
        let mut terminal = Terminal::start(&sandbox, "encrypt -q -p -o x m");
        terminal.answers(NEW, typed);
        assert_eq!(terminal.ends().0, Some(130), "{typed:?}");
    }
    assert!(sandbox.content() == before);
}

#[test]
fn a_stopped_program_restores_the_terminal_and_asks_again() {
    let sandbox = Sandbox::new();
    sandbox.write("m", b"data");
    let mut terminal = Terminal::start(&sandbox, "encrypt -q -p -o x m");
    terminal.answers(NEW, b"half of it");
    signal(&terminal.child, "TSTP");
    let stat = format!("/proc/{}/stat", terminal.child.id());
    until(|| std::fs::read_to_string(&stat).unwrap().contains(") T "));
    assert!(terminal.echoes(), "a stopped program leaves the terminal to others");
    signal(&terminal.child, "CONT");
    terminal.answers(NEW, b"whole\n");
    terminal.answers(REPEAT, b"whole\n");
    assert_eq!(terminal.ends().0, Some(0));
    assert_eq!(opens(&sandbox, "x", b"whole").succeeded(), b"data");
}

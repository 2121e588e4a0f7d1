//! Interruptions: no incomplete file is left, and one line is printed.
#![cfg(target_os = "linux")]

use crate::common::{Outcome, Sandbox, data, signal, until, until_it_handles, until_it_handles_signals};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn was_interrupted(child: Child) {
    let began = Instant::now();
    Outcome::from(child.wait_with_output().unwrap()).failed(130, "interrupted");
    // The inputs never end, or keep the program busy for longer, also on a busy machine.
    assert!(began.elapsed() < Duration::from_secs(60), "it took too long to stop");
}

#[test]
fn a_signal_ends_reading_from_a_slow_pipe() {
    let sandbox = Sandbox::new();
    let sealed = sandbox.pipe("encrypt -k k", &data(100_000)).succeeded();
    for name in ["INT", "TERM", "HUP"] {
        for (line, input) in [("encrypt -k k -o out", &data(100_000)), ("decrypt -k k -o out", &sealed)] {
            let before = sandbox.content();
            let mut child = sandbox.start(line);
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(&input[..50_000]).unwrap();
            until_it_handles_signals(&child);
            signal(&child, name);
            was_interrupted(child);
            assert!(sandbox.content() == before, "{name}: {line}");
        }
    }
}

#[test]
fn a_pipe_that_ends_with_a_signal_is_not_a_whole_input() {
    let sandbox = Sandbox::new();
    let before = sandbox.content();
    for _ in 0..10 {
        let mut child = sandbox.start("encrypt -k k -o out");
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&data(100_000)).unwrap();
        until_it_handles_signals(&child);
        signal(&child, "INT");
        drop(stdin);
        was_interrupted(child);
        assert!(sandbox.content() == before, "half of the data became a whole file");
    }
}

// claim: disk-atomic
#[test]
fn a_signal_ends_work_on_a_large_file() {
    let sandbox = Sandbox::new();
    File::create(sandbox.path("big")).unwrap().set_len(512 << 20).unwrap();
    sandbox.write("old", b"old");
    for to in ["out", "old"] {
        let before = sandbox.content();
        let child = sandbox.start_slow(&format!("encrypt -k k --threads 1 -o {to} big"));
        until_it_handles_signals(&child);
        sleep(Duration::from_millis(100));
        signal(&child, "INT");
        was_interrupted(child);
        assert!(sandbox.content() == before, "{to}");
    }
}

#[test]
fn a_signal_ends_writing_to_a_blocked_pipe() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(1 << 20));
    let mut child = sandbox.start("encrypt -k k plain");
    until_it_handles_signals(&child);
    let mut first = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    sleep(Duration::from_millis(100));
    signal(&child, "INT");
    // Waits for the end before reading, so that the child stays blocked.
    until(|| child.try_wait().unwrap().is_some());
    was_interrupted(child);
}

/// A script stops at Ctrl-C, also after an error of a file.
#[test]
fn an_interruption_after_an_error_is_an_interruption() {
    let sandbox = Sandbox::new();
    sandbox.folder("in");
    std::os::unix::fs::symlink("none", sandbox.path("in/a")).unwrap();
    File::create(sandbox.path("in/big")).unwrap().set_len(512 << 20).unwrap();
    let child = sandbox.start_slow("encrypt -k k --recursive --threads 1 -o out in");
    until_it_handles_signals(&child);
    sleep(Duration::from_millis(100));
    signal(&child, "INT");
    let outcome = Outcome::from(child.wait_with_output().unwrap());
    assert_eq!(outcome.status, Some(130), "{outcome:?}");
    assert!(outcome.err.contains("in/a: ") && outcome.err.contains("interrupted"), "{outcome:?}");
}

#[test]
fn an_interruption_is_reported_as_json() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.start("encrypt -k k -o out --json");
    // Stays open, so that the child stays blocked.
    let _stdin = child.stdin.take();
    until_it_handles_signals(&child);
    signal(&child, "INT");
    let outcome = Outcome::from(child.wait_with_output().unwrap());
    let error: serde_json::Value = serde_json::from_str(&outcome.err).unwrap();
    assert_eq!((outcome.status, &error["kind"]), (Some(130), &"interrupted".into()));
}

/// `nohup` ignores the hang-up, the background of a script Ctrl-C. The other signals still end the
/// work, and leave no incomplete file even without unnamed files.
#[test]
fn each_ignored_signal_stays_ignored_by_itself() {
    for (ignored, ending) in [("HUP", "TERM"), ("HUP", "INT"), ("INT QUIT", "HUP"), ("TERM", "INT")] {
        for ends in [false, true] {
            let sandbox = Sandbox::new();
            let before = sandbox.content();
            // A shell has a handler of its own for a moment.
            let mut env = Command::new("env");
            env.args(["--default-signal".into(), format!("--ignore-signal={}", ignored.replace(' ', ","))]);
            env.args([env!("CARGO_BIN_EXE_sealane"), "encrypt", "-k", "k", "-o", "out"]);
            env.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = env.current_dir(sandbox.path("")).spawn().unwrap();
            until_it_handles(&child, ending);
            ignored.split(' ').for_each(|name| signal(&child, name));
            if ends {
                let _stdin = child.stdin.take();
                signal(&child, ending);
                was_interrupted(child);
                assert!(sandbox.content() == before, "{ignored} {ending}");
            } else {
                child.stdin.take().unwrap().write_all(b"data").unwrap();
                assert!(child.wait().unwrap().success(), "{ignored}");
                assert_eq!(sandbox.run("decrypt -k k out").succeeded(), b"data");
            }
        }
    }
}

/// Some daemons start programs with SIGCHLD ignored. Then the system does not report how a
/// command ended.
#[cfg(target_os = "linux")]
#[test]
fn commands_run_in_a_process_that_ignores_its_children() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", b"data");
    let run = |line: &str| sandbox.shell(&format!("env --ignore-signal=CHLD sealane {line}"));
    run("encrypt -p --passphrase-command 'echo word' -o sealed plain").succeeded();
    assert_eq!(run("decrypt --passphrase-command 'echo word' sealed").succeeded(), b"data");
    run("decrypt --passphrase-command 'exit 3' sealed").failed(2, "expected a command that succeeds");
}

/// Ctrl-C also ends the command that the program waits for.
#[test]
fn an_interrupted_passphrase_command_is_an_interruption() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", b"data");
    let run = |command| sandbox.shell(&format!("sealane encrypt -p --passphrase-command '{command}' plain"));
    for command in ["kill -INT $PPID $$", "kill -INT $PPID; exit 3"] {
        run(command).failed(130, "interrupted");
    }
}

#[test]
fn a_closed_output_ends_the_program_silently() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(4 << 20));
    sandbox.run("encrypt -k k -o sealed plain").succeeded();
    let lines = [
        "encrypt -k k plain",
        "decrypt -k k sealed",
        "cat -k k --range : sealed",
        "completions bash",
        "providers",
    ];
    for line in lines {
        let mut child = sandbox.start(line);
        drop(child.stdout.take());
        let outcome = Outcome::from(child.wait_with_output().unwrap());
        // A short output may have been written before.
        let gone = outcome.status == Some(141) || (outcome.status == Some(0) && !line.contains("-k"));
        assert!(gone && outcome.err.is_empty(), "{line}: {outcome:?}");
    }
}

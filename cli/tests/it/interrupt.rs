//! Being stopped: nothing is left behind, and it is said once.
#![cfg(target_os = "linux")]

use crate::common::{Room, Said, data, signal, until, until_it_listens};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

fn was_interrupted(child: Child) {
    let began = Instant::now();
    Said::from(child.wait_with_output().unwrap()).failed(130, "interrupted");
    assert!(began.elapsed() < Duration::from_secs(5), "it took too long to stop");
}

#[test]
fn while_it_waits_for_a_slow_pipe() {
    let room = Room::new();
    let sealed = room.pipe("encrypt -k k", &data(100_000)).worked();
    for name in ["INT", "TERM", "HUP"] {
        for (line, input) in [("encrypt -k k -o out", &data(100_000)), ("decrypt -k k -o out", &sealed)] {
            let before = room.content();
            let mut child = room.start(line);
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(&input[..50_000]).unwrap();
            until_it_listens(&child);
            signal(&child, name);
            was_interrupted(child);
            assert!(room.content() == before, "{name}: {line}");
        }
    }
}

#[test]
fn while_its_pipe_ends_because_the_writer_was_interrupted_too() {
    let room = Room::new();
    let before = room.content();
    for _ in 0..10 {
        let mut child = room.start("encrypt -k k -o out");
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&data(100_000)).unwrap();
        until_it_listens(&child);
        signal(&child, "INT");
        drop(stdin);
        was_interrupted(child);
        assert!(room.content() == before, "half of the data became a whole file");
    }
}

#[test]
fn while_it_works_on_a_big_file() {
    let room = Room::new();
    // Takes no room on the disk and a second or more to encrypt.
    File::create(room.path("big")).unwrap().set_len(2 << 30).unwrap();
    room.write("old", b"old");
    for to in ["out", "old"] {
        let before = room.content();
        let child = room.start(&format!("encrypt -k k --threads 1 -o {to} big"));
        until_it_listens(&child);
        sleep(Duration::from_millis(100));
        signal(&child, "INT");
        was_interrupted(child);
        assert!(room.content() == before, "{to}");
    }
}

#[test]
fn while_nobody_reads_its_output() {
    let room = Room::new();
    room.write("plain", &data(1 << 20));
    let mut child = room.start("encrypt -k k plain");
    until_it_listens(&child);
    let mut first = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    sleep(Duration::from_millis(100));
    signal(&child, "INT");
    // Waits for the end before it reads, so that the child stays stuck.
    until(|| child.try_wait().unwrap().is_some());
    was_interrupted(child);
}

#[test]
fn in_json_too() {
    let room = Room::new();
    let mut child = room.start("encrypt -k k -o out --json");
    // Kept open, so that the child stays stuck.
    let _stdin = child.stdin.take();
    until_it_listens(&child);
    signal(&child, "INT");
    let said = Said::from(child.wait_with_output().unwrap());
    let error: serde_json::Value = serde_json::from_str(&said.err).unwrap();
    assert_eq!((said.status, &error["kind"]), (Some(130), &"interrupted".into()));
}

#[test]
fn told_to_ignore_a_hang_up() {
    let room = Room::new();
    let mut child = {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "trap '' HUP; exec \"$0\" encrypt -k k -o out", env!("CARGO_BIN_EXE_sealane")]);
        shell.current_dir(room.path("")).stdin(std::process::Stdio::piped()).spawn().unwrap()
    };
    until(|| fs::read_link(format!("/proc/{}/exe", child.id())).is_ok_and(|exe| exe.ends_with("sealane")));
    sleep(Duration::from_millis(50));
    signal(&child, "HUP");
    child.stdin.take().unwrap().write_all(b"data").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(room.run("decrypt -k k out").worked(), b"data");
}

#[test]
fn its_reader_leaves() {
    let room = Room::new();
    room.write("plain", &data(4 << 20));
    room.run("encrypt -k k -o sealed plain").worked();
    let lines = [
        "encrypt -k k plain",
        "decrypt -k k sealed",
        "cat -k k --range : sealed",
        "completions bash",
        "providers",
    ];
    for line in lines {
        let mut child = room.start(line);
        drop(child.stdout.take());
        let said = Said::from(child.wait_with_output().unwrap());
        // The short ones may have been faster.
        let gone = said.status == Some(141) || (said.status == Some(0) && !line.contains("-k"));
        assert!(gone && said.err.is_empty(), "{line}: {said:?}");
    }
}

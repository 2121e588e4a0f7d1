//! What goes in comes out, whichever way it takes.
#![cfg(unix)]

use crate::common::{Room, data};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

/// Around each border of chunks, jobs and batches of the stream.
const LENGTHS: [usize; 10] = [0, 1, 16383, 16384, 16385, 32768, 262_144, 1 << 20, (1 << 20) + 1, 9_000_001];

#[test]
fn file_to_file() {
    let room = Room::new();
    for len in LENGTHS {
        room.write("plain", &data(len));
        room.run("encrypt -k k -o sealed plain").worked();
        assert_eq!(room.read("sealed").len(), 56 + len + 16 * (len / 16384 + 1));
        room.run("decrypt -k k -o again sealed").worked();
        assert!(room.read("again") == data(len), "{len}");
    }
}

#[test]
fn pipe_to_pipe() {
    let room = Room::new();
    for len in LENGTHS {
        let sealed = room.pipe("encrypt -k k", &data(len)).worked();
        assert!(room.pipe("decrypt -k k", &sealed).worked() == data(len), "{len}");
        assert!(room.pipe("decrypt -k k -o - -", &sealed).worked() == data(len), "{len}");
    }
}

#[test]
fn pipe_to_file_and_file_to_pipe() {
    let room = Room::new();
    for len in LENGTHS {
        room.pipe("encrypt -k k -o sealed", &data(len)).worked();
        assert!(room.run("decrypt -k k sealed").worked() == data(len), "{len}");
        room.write("plain", &data(len));
        let sealed = room.run("encrypt -k k plain").worked();
        room.pipe("decrypt -k k -o again", &sealed).worked();
        assert!(room.read("again") == data(len), "{len}");
    }
}

#[test]
fn redirected_files() {
    let room = Room::new();
    for len in LENGTHS {
        room.write("plain", &data(len));
        room.shell("$SEALANE encrypt -k k <plain >sealed && $SEALANE decrypt -k k <sealed >again").worked();
        assert!(room.read("again") == data(len), "{len}");
        room.shell("$SEALANE encrypt -k k -o sealed <plain && $SEALANE decrypt -k k -o again <sealed")
            .worked();
        assert!(room.read("again") == data(len), "{len}");
    }
}

#[test]
fn appending_keeps_what_was_there() {
    let room = Room::new();
    room.write("plain", b"plain");
    room.run("encrypt -k k -o sealed plain").worked();
    room.shell("echo before >out; $SEALANE decrypt -k k sealed >>out").worked();
    assert_eq!(room.read("out"), b"before\nplain");
    room.shell("echo before >out; $SEALANE decrypt -k k -o /dev/stdout sealed >>out").worked();
    assert_eq!(room.read("out"), b"before\nplain");
}

#[test]
fn a_file_that_was_read_in_part_is_read_on() {
    let room = Room::new();
    room.write("plain", b"first\nsecond\n");
    let sealed = room.shell("{ read line; $SEALANE encrypt -k k; } <plain").worked();
    assert_eq!(room.pipe("decrypt -k k", &sealed).worked(), b"second\n");
    room.shell("{ read line; $SEALANE encrypt -k k -o out; } <plain").worked();
    assert_eq!(room.run("decrypt -k k out").worked(), b"second\n");
}

#[test]
fn named_pipes_and_devices() {
    let room = Room::new();
    room.write("plain", &data(100_000));
    room.shell("mkfifo fifo; cat plain >fifo & $SEALANE encrypt -k k -o sealed fifo").worked();
    let out = room.shell("cat fifo & $SEALANE decrypt -k k -o fifo sealed; wait").worked();
    assert!(out == data(100_000));
    let out = room.shell("cat sealed >fifo & $SEALANE decrypt -k k fifo").worked();
    assert!(out == data(100_000));
    room.run("decrypt -k k -o /dev/null sealed").worked();
    room.run("encrypt -k k -o sealed /dev/null").worked();
    assert!(room.run("decrypt -k k sealed").worked().is_empty());
    // Claims to be empty, and is not.
    let version = room.shell("$SEALANE encrypt -k k /proc/version | $SEALANE decrypt -k k").worked();
    assert_eq!(version, fs::read("/proc/version").unwrap());
}

#[test]
fn several_files() {
    let room = Room::new();
    for (name, len) in [("a", 5), ("b", 100_000), ("c", 0)] {
        room.write(name, &data(len));
    }
    room.folder("sealed");
    room.folder("again");
    room.run("encrypt -k k -o sealed a ./b c").worked();
    room.run("decrypt -k k -o again/ sealed/a sealed/b sealed/c").worked();
    for name in ["a", "b", "c"] {
        assert!(room.read(name) == room.read(format!("again/{name}")));
        assert!(room.read(name) != room.read(format!("sealed/{name}")));
    }
    // One is several, where a pattern matches one.
    room.run("encrypt -k k -o again sealed/c").worked();
    assert_eq!(room.read("again/c").len(), room.read("sealed/c").len() + 72);
}

#[test]
fn one_bad_file_does_not_keep_the_others() {
    let room = Room::new();
    room.write("a", b"a");
    room.write("z", b"z");
    room.folder("out");
    room.run("encrypt -k k -o out a missing z").failed(1, "missing: no such file");
    assert!(room.path("out/a").exists() && room.path("out/z").exists() && !room.path("out/missing").exists());
}

#[test]
fn contexts_and_key_lengths() {
    let room = Room::new();
    room.run("keygen --type aes-128 -o k128").worked();
    room.write("plain", b"data");
    for key in ["k", "k128"] {
        room.run(&format!("encrypt -k {key} -c letters -o sealed plain")).worked();
        assert_eq!(room.run(&format!("decrypt -k {key} --context=letters sealed")).worked(), b"data");
    }
    // Any bytes are a context, as any bytes are a name.
    let odd = OsStr::from_bytes(b"\xff\xfe");
    let sealed = room.run_with(room.sealane().args(["encrypt", "-k", "k", "-c"]).arg(odd), b"data").worked();
    let opened = room.run_with(room.sealane().args(["decrypt", "-k", "k", "-c"]).arg(odd), &sealed);
    assert_eq!(opened.worked(), b"data");
    room.pipe("decrypt -k k", &sealed).failed(1, "authentication failed");
}

#[test]
fn names_of_any_bytes() {
    let room = Room::new();
    let (plain, sealed) = (OsStr::from_bytes(b"\xff\n\x1b[31m"), OsStr::from_bytes(b"-\xfe"));
    room.write(plain, b"data");
    let to = room.path(sealed);
    room.run_with(room.sealane().args(["encrypt", "-k", "k", "-o"]).arg(&to).arg(plain), b"").worked();
    let opened = room.run_with(room.sealane().args(["decrypt", "-k", "k"]).arg(&to), b"");
    assert_eq!(opened.worked(), b"data");
    // In a message such a name is one line, and commands no terminal.
    let said = room.run_with(room.sealane().args(["decrypt", "-k", "k"]).arg(plain), b"");
    said.failed(1, "\\n\\u{1b}[31m: truncated");
}

#[test]
fn an_output_that_exists_is_replaced_through_its_link_with_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::new();
    room.write("plain", b"data");
    room.write("old", b"old");
    fs::set_permissions(room.path("old"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("old", room.path("link")).unwrap();
    room.run("encrypt -k k -o link plain").worked();
    assert!(room.path("link").is_symlink());
    assert_eq!(room.path("old").metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(room.run("decrypt -k k old").worked(), b"data");
}

#[test]
fn threads_and_sync() {
    let room = Room::new();
    room.write("plain", &data(3 << 20));
    for threads in ["1", "2", "5", "256"] {
        room.run(&format!("encrypt -k k --threads {threads} --sync -o sealed plain")).worked();
        room.run(&format!("decrypt -k k --threads {threads} --sync -o again sealed")).worked();
        assert!(room.read("again") == data(3 << 20));
    }
    room.shell("$SEALANE decrypt -k k --sync sealed >again").worked();
    assert!(room.read("again") == data(3 << 20));
    room.run("decrypt -k k --sync sealed").worked();
}

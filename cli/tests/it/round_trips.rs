//! Round trips through files, pipes and devices.

use crate::common::{Sandbox, data};
#[cfg(unix)]
use std::ffi::OsStr;
#[cfg(unix)]
use std::fs;
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt;
#[cfg(unix)]
use std::os::unix::fs::symlink;

/// Lengths around the borders of chunks, jobs and stream batches.
const LENGTHS: [usize; 10] = [0, 1, 16383, 16384, 16385, 32768, 262_144, 1 << 20, (1 << 20) + 1, 9_000_001];

#[test]
fn file_to_file() {
    let sandbox = Sandbox::new();
    for len in LENGTHS {
        sandbox.write("plain", &data(len));
        sandbox.run("encrypt -k k -o sealed plain").succeeded();
        assert_eq!(sandbox.read("sealed").len(), 56 + len + 16 * (len / 16384 + 1));
        sandbox.run("decrypt -k k -o again sealed").succeeded();
        assert!(sandbox.read("again") == data(len), "{len}");
    }
}

#[test]
fn pipe_to_pipe() {
    let sandbox = Sandbox::new();
    for len in LENGTHS {
        let sealed = sandbox.pipe("encrypt -k k", &data(len)).succeeded();
        assert!(sandbox.pipe("decrypt -k k", &sealed).succeeded() == data(len), "{len}");
        assert!(sandbox.pipe("decrypt -k k -o - -", &sealed).succeeded() == data(len), "{len}");
    }
}

#[test]
fn pipe_to_file_and_file_to_pipe() {
    let sandbox = Sandbox::new();
    for len in LENGTHS {
        sandbox.pipe("encrypt -k k -o sealed", &data(len)).succeeded();
        assert!(sandbox.run("decrypt -k k sealed").succeeded() == data(len), "{len}");
        sandbox.write("plain", &data(len));
        let sealed = sandbox.run("encrypt -k k plain").succeeded();
        sandbox.pipe("decrypt -k k -o again", &sealed).succeeded();
        assert!(sandbox.read("again") == data(len), "{len}");
    }
}

#[cfg(unix)]
#[test]
fn redirected_files() {
    let sandbox = Sandbox::new();
    for len in LENGTHS {
        sandbox.write("plain", &data(len));
        sandbox
            .shell("$SEALANE encrypt -k k <plain >sealed && $SEALANE decrypt -k k <sealed >again")
            .succeeded();
        assert!(sandbox.read("again") == data(len), "{len}");
        sandbox
            .shell("$SEALANE encrypt -k k -o sealed <plain && $SEALANE decrypt -k k -o again <sealed")
            .succeeded();
        assert!(sandbox.read("again") == data(len), "{len}");
    }
}

#[cfg(unix)]
#[test]
fn appending_to_a_redirected_file() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", b"plain");
    sandbox.run("encrypt -k k -o sealed plain").succeeded();
    sandbox.shell("echo before >out; $SEALANE decrypt -k k sealed >>out").succeeded();
    assert_eq!(sandbox.read("out"), b"before\nplain");
    sandbox.shell("echo before >out; $SEALANE decrypt -k k -o /dev/stdout sealed >>out").succeeded();
    assert_eq!(sandbox.read("out"), b"before\nplain");
}

#[cfg(unix)]
#[test]
fn a_partly_read_input_is_read_from_its_position() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", b"first\nsecond\n");
    let sealed = sandbox.shell("{ read line; $SEALANE encrypt -k k; } <plain").succeeded();
    assert_eq!(sandbox.pipe("decrypt -k k", &sealed).succeeded(), b"second\n");
    sandbox.shell("{ read line; $SEALANE encrypt -k k -o out; } <plain").succeeded();
    assert_eq!(sandbox.run("decrypt -k k out").succeeded(), b"second\n");
}

#[cfg(unix)]
#[test]
fn named_pipes_and_devices() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(100_000));
    sandbox.shell("mkfifo fifo; cat plain >fifo & $SEALANE encrypt -k k -o sealed fifo").succeeded();
    let out = sandbox.shell("cat fifo & $SEALANE decrypt -k k -o fifo sealed; wait").succeeded();
    assert!(out == data(100_000));
    let out = sandbox.shell("cat sealed >fifo & $SEALANE decrypt -k k fifo").succeeded();
    assert!(out == data(100_000));
    sandbox.run("decrypt -k k -o /dev/null sealed").succeeded();
    sandbox.run("encrypt -k k -o sealed /dev/null").succeeded();
    assert!(sandbox.run("decrypt -k k sealed").succeeded().is_empty());
    // This file has content although its length is 0.
    let version = sandbox.shell("$SEALANE encrypt -k k /proc/version | $SEALANE decrypt -k k").succeeded();
    assert_eq!(version, fs::read("/proc/version").unwrap());
}

#[test]
fn several_files() {
    let sandbox = Sandbox::new();
    for (name, len) in [("a", 5), ("b", 100_000), ("c", 0)] {
        sandbox.write(name, &data(len));
    }
    sandbox.folder("sealed");
    sandbox.folder("again");
    sandbox.run("encrypt -k k -o sealed a ./b c").succeeded();
    sandbox.run("decrypt -k k -o again/ sealed/a sealed/b sealed/c").succeeded();
    for name in ["a", "b", "c"] {
        assert!(sandbox.read(name) == sandbox.read(format!("again/{name}")));
        assert!(sandbox.read(name) != sandbox.read(format!("sealed/{name}")));
    }
    // A single input also goes into a folder, for example when a pattern matches one file.
    sandbox.run("encrypt -k k -o again sealed/c").succeeded();
    assert_eq!(sandbox.read("again/c").len(), sandbox.read("sealed/c").len() + 72);
}

#[test]
fn a_failed_file_does_not_stop_the_others() {
    let sandbox = Sandbox::new();
    sandbox.write("a", b"a");
    sandbox.write("z", b"z");
    sandbox.folder("out");
    sandbox.run("encrypt -k k -o out a missing z").failed(1, "missing: no such file");
    assert!(
        sandbox.path("out/a").exists()
            && sandbox.path("out/z").exists()
            && !sandbox.path("out/missing").exists()
    );
}

#[cfg(unix)]
#[test]
fn contexts_and_key_lengths() {
    let sandbox = Sandbox::new();
    sandbox.run("keygen --type aes-128 -o k128").succeeded();
    sandbox.write("plain", b"data");
    for key in ["k", "k128"] {
        sandbox.run(&format!("encrypt -k {key} -c letters -o sealed plain")).succeeded();
        assert_eq!(sandbox.run(&format!("decrypt -k {key} --context=letters sealed")).succeeded(), b"data");
    }
    // A context may have any bytes, as a file name may.
    let odd = OsStr::from_bytes(b"\xff\xfe");
    let sealed =
        sandbox.run_with(sandbox.sealane().args(["encrypt", "-k", "k", "-c"]).arg(odd), b"data").succeeded();
    let opened = sandbox.run_with(sandbox.sealane().args(["decrypt", "-k", "k", "-c"]).arg(odd), &sealed);
    assert_eq!(opened.succeeded(), b"data");
    sandbox.pipe("decrypt -k k", &sealed).failed(1, "authentication failed");
}

#[cfg(unix)]
#[test]
fn names_of_any_bytes() {
    let sandbox = Sandbox::new();
    let (plain, sealed) = (OsStr::from_bytes(b"\xff\n\x1b[31m"), OsStr::from_bytes(b"-\xfe"));
    sandbox.write(plain, b"data");
    let to = sandbox.path(sealed);
    sandbox
        .run_with(sandbox.sealane().args(["encrypt", "-k", "k", "-o"]).arg(&to).arg(plain), b"")
        .succeeded();
    let opened = sandbox.run_with(sandbox.sealane().args(["decrypt", "-k", "k"]).arg(&to), b"");
    assert_eq!(opened.succeeded(), b"data");
    // In a message, control characters of a name are escaped.
    let outcome = sandbox.run_with(sandbox.sealane().args(["decrypt", "-k", "k"]).arg(plain), b"");
    outcome.failed(1, "\\n\\u{1b}[31m: truncated");
}

#[cfg(unix)]
#[test]
fn an_output_that_exists_is_replaced_through_its_link_with_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.write("plain", b"data");
    sandbox.write("old", b"old");
    fs::set_permissions(sandbox.path("old"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("old", sandbox.path("link")).unwrap();
    sandbox.run("encrypt -k k -o link plain").succeeded();
    assert!(sandbox.path("link").is_symlink());
    assert_eq!(sandbox.path("old").metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(sandbox.run("decrypt -k k old").succeeded(), b"data");
}

#[cfg(unix)]
#[test]
fn threads_and_sync() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(3 << 20));
    for threads in ["1", "2", "5", "256"] {
        sandbox.run(&format!("encrypt -k k --threads {threads} --sync -o sealed plain")).succeeded();
        sandbox.run(&format!("decrypt -k k --threads {threads} --sync -o again sealed")).succeeded();
        assert!(sandbox.read("again") == data(3 << 20));
    }
    sandbox.shell("$SEALANE decrypt -k k --sync sealed >again").succeeded();
    assert!(sandbox.read("again") == data(3 << 20));
    sandbox.run("decrypt -k k --sync sealed").succeeded();
}

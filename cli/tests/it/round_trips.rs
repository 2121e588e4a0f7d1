//! Round trips through files, pipes and devices.

use crate::common::{Sandbox, data};
#[cfg(unix)]
use std::ffi::OsStr;
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt;

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
    outcome.failed(1, "\\n\\u001b[31m: truncated");
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

//! Outputs that are open files of the caller, sources without a true size, and closed streams.
#![cfg(target_os = "linux")]

use crate::common::{Sandbox, data};
use std::fs;
use std::os::unix::fs::symlink;

/// Each command that writes. `OUT` is a path of descriptor 3.
const LINES: [&str; 6] = [
    "sealane encrypt -k k -o OUT m",
    "sealane decrypt -k k -o OUT sealed",
    "sealane keygen -o OUT -q",
    "sealane rewrap -q -i me -R me.pub -o OUT age",
    "sealane encrypt -R me.pub -a -o OUT m",
    "sealane sign -k signer -o OUT m",
];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("m", b"message");
    symlink("/dev/fd/3", sandbox.path("link")).unwrap();
    symlink("link", sandbox.path("link to link")).unwrap();
    let prepare = "sealane keygen -t age -o me > me.pub && sealane encrypt -k k -o sealed m && \
                   sealane encrypt -R me.pub -o age m && sealane keygen -t ed25519 -o signer";
    sandbox.shell(prepare).succeeded();
    sandbox
}

/// What the shell writes before and after stays, and the file stays the one that is open.
// claim: descriptors-written
#[test]
fn an_open_file_is_written_at_its_position() {
    let sandbox = sandbox();
    for line in LINES {
        for name in
            ["/dev/fd/3", "/proc/self/fd/3", "/proc/thread-self/fd/3", "\"$PWD/link to link\"", "./link"]
        {
            for open in ["3> log", "3>> log"] {
                sandbox.write("log", b"");
                sandbox.shell("ln -f log same").succeeded();
                let line = line.replace("OUT", name);
                let script = format!("{{ echo first >&3; {line} || exit; echo last >&3; }} {open}");
                sandbox.shell(&script).succeeded();
                let log = sandbox.read("log");
                assert!(log.starts_with(b"first\n") && log.ends_with(b"last\n"), "{line} {open}");
                assert!(log.len() > "first\nlast\n".len() + 6, "{line} {open}");
                assert!(log == sandbox.read("same"), "{line}: the file was replaced");
            }
        }
    }
    assert!(sandbox.path("link").is_symlink());
}

/// A file without a name: the shell has removed it.
#[test]
fn an_unlinked_file_is_written() {
    let sandbox = sandbox();
    for line in LINES {
        let line = line.replace("OUT", "/dev/fd/3");
        let script = format!("exec 3<> gone; exec 4< gone; rm gone; {line} || exit; cat <&4");
        assert!(sandbox.shell(&script).succeeded().len() > 6, "{line}");
    }
    let written = "sealane encrypt -k k -o /proc/$$/fd/3 m && sealane decrypt -k k /dev/fd/4";
    let script = format!("exec 3<> gone; exec 4< gone; rm gone; {written}");
    assert_eq!(sandbox.shell(&script).succeeded(), b"message");
}

#[test]
fn standard_streams_by_any_name() {
    let sandbox = sandbox();
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let script = format!("{{ echo first; sealane decrypt -k k -o {name} sealed; echo last; }} > log");
        sandbox.shell(&script).succeeded();
        assert_eq!(sandbox.read("log"), b"first\nmessagelast\n", "{name}");
        let script = format!("sealane decrypt -k k -o {name} sealed | cat");
        assert_eq!(sandbox.shell(&script).succeeded(), b"message", "{name}");
    }
    sandbox.shell("sealane decrypt -k k -o /dev/stderr sealed 2> log").succeeded();
    assert_eq!(sandbox.read("log"), b"message");
}

/// Every command that writes takes a pipe, also one with a name.
#[test]
fn a_pipe_is_written() {
    let sandbox = sandbox();
    sandbox.shell("mkfifo pipe").succeeded();
    for line in LINES {
        let line = line.replace("OUT", "pipe");
        let script = format!("cat pipe > log & {line} || exit; wait");
        sandbox.shell(&script).succeeded();
        assert!(sandbox.read("log").len() > 6, "{line}");
    }
    sandbox.shell("sealane keygen -o /dev/null && test -c /dev/null").succeeded();
}

/// What needs a file of its own says so, and writes nothing.
#[test]
fn what_an_open_file_cannot_be() {
    let sandbox = sandbox();
    let before = sandbox.content();
    for (line, words) in [
        ("sealane encrypt -k k -o /dev/fd/3 m 3<> m", "same file"),
        ("sealane rewrap -q -i me -R me.pub -o /dev/fd/3 age 3<> age", "same file"),
        ("sealane decrypt -k k --salvage -o /dev/fd/3 sealed 3<> log", "open descriptor"),
        ("sealane encrypt -k k -o /dev/fd/3 m 3<> k", "would replace k"),
        ("sealane encrypt -k k -o /dev/fd/77 m", "/dev/fd/77"),
        ("sealane encrypt -k k -o /dev/fd/3 m 3< log", "bad file descriptor"),
    ] {
        sandbox.write("log", b"log");
        let outcome = sandbox.shell(line);
        assert!(matches!(outcome.status, Some(1 | 2)) && outcome.err.contains(words), "{line}: {outcome:?}");
        assert_eq!(sandbox.read("log"), b"log", "{line}");
        fs::remove_file(sandbox.path("log")).unwrap();
    }
    assert!(sandbox.content() == before);
}

/// Files of the kernel state a size of 4096 bytes or none.
#[test]
fn a_source_is_read_to_its_end() {
    let sandbox = sandbox();
    let files = ["/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/uevent_seqnum", "/proc/version"];
    for file in files.into_iter().filter(|file| fs::metadata(file).is_ok()) {
        for with in ["-k k", "-R me.pub"] {
            sandbox.run(&format!("encrypt {with} -o out {file}")).succeeded();
            let with = if with == "-k k" { with } else { "-i me" };
            assert_eq!(
                sandbox.run(&format!("decrypt {with} out")).succeeded(),
                fs::read(file).unwrap(),
                "{file}"
            );
            sandbox.run(&format!("encrypt -k k {file}")).succeeded();
        }
    }
}

/// What was read from a descriptor before is not read again, and the rest is left to others.
// claim: passphrase-channels
#[test]
fn a_passphrase_is_read_at_the_position_of_its_descriptor() {
    let sandbox = sandbox();
    sandbox.write("in", b"first\nsecond\nthe data\n");
    let seal = "sealane encrypt -q -p -o out --passphrase-fd";
    for (script, passphrase, rest) in [
        (format!("{seal} 0 -"), "first", "second\nthe data\n"),
        (format!("{seal} 3 - 3<&0"), "first", "second\nthe data\n"),
        (format!("read -r _; {seal} 0 -"), "second", "the data\n"),
    ] {
        for input in ["< in", "< <(cat in)"] {
            sandbox.shell(&format!("bash -c '{{ {script}; }} {input}'")).succeeded();
            let found = sandbox.pipe("decrypt --passphrase-fd 0 out", passphrase.as_bytes()).succeeded();
            assert_eq!(String::from_utf8(found).unwrap(), rest, "{script} {input}");
        }
    }
    // A command that we end has printed its line.
    sandbox.shell("sealane encrypt -q -p --passphrase-command 'yes pw' -o out m").succeeded();
    assert_eq!(sandbox.pipe("decrypt --passphrase-fd 0 out", b"pw").succeeded(), b"message");
    sandbox
        .shell("sealane decrypt --passphrase-fd 1 out 2> err | cat; cat err >&2; exit 1")
        .failed(1, "--passphrase-fd 1: bad file descriptor");
}

/// Programs such as node give their children sockets, and pipes that do not block.
#[test]
fn sockets_and_pipes_that_do_not_block_are_read_to_their_end() {
    use rustix::fs::{OFlags, fcntl_setfl};
    use std::io::Write;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    let sandbox = sandbox();
    for from in ["-", "/dev/stdin", "/dev/fd/0"] {
        for is_socket in [true, false] {
            let (input, mut sender): (OwnedFd, Box<dyn Write + Send>) = if is_socket {
                let (ours, theirs) = UnixStream::pair().unwrap();
                (theirs.into(), Box::new(ours))
            } else {
                let (theirs, ours) = std::io::pipe().unwrap();
                fcntl_setfl(&theirs, OFlags::NONBLOCK).unwrap();
                (theirs.into(), Box::new(ours))
            };
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sealane"));
            command.args(["encrypt", "-k", "k", "-o", "out", from]).current_dir(sandbox.path(""));
            let mut child = command.stdin(input).spawn().unwrap();
            drop(command);
            for piece in data(300_000).chunks(100_000) {
                std::thread::sleep(std::time::Duration::from_millis(50));
                sender.write_all(piece).unwrap();
            }
            drop(sender);
            assert!(child.wait().unwrap().success(), "{from} {is_socket}");
            assert!(sandbox.run("decrypt -k k out").succeeded() == data(300_000), "{from} {is_socket}");
        }
    }
}

#[test]
fn a_pipe_that_does_not_block_is_written() {
    use rustix::fs::{OFlags, fcntl_setfl};
    use std::io::Read;
    let sandbox = sandbox();
    sandbox.write("m", &data(1 << 20));
    let (mut ours, theirs) = std::io::pipe().unwrap();
    fcntl_setfl(&theirs, OFlags::NONBLOCK).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sealane"));
    let mut child = command
        .args(["encrypt", "-k", "k", "m"])
        .current_dir(sandbox.path(""))
        .stdout(theirs)
        .spawn()
        .unwrap();
    drop(command);
    std::thread::sleep(std::time::Duration::from_millis(100));
    let mut sealed = Vec::new();
    ours.read_to_end(&mut sealed).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(sandbox.pipe("decrypt -k k", &sealed).succeeded() == data(1 << 20));
}

/// The output file must not get the number of a closed stream: messages would go into it.
#[test]
fn closed_streams() {
    let sandbox = sandbox();
    sandbox.write("m", &data(100_000));
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        // The result of --json is lost with standard output, and the file is not.
        let outcome = sandbox.shell(&format!("sealane encrypt -k k --json -o out m {closed}"));
        let lost = i32::from(format!(" {closed}").contains(" >&-"));
        assert_eq!(outcome.status, Some(lost), "{closed}: {outcome:?}");
        assert!(sandbox.run("decrypt -k k out").succeeded() == data(100_000), "{closed}");
    }
    let words = "standard output: is closed; name a file";
    for line in ["encrypt -k k m", "decrypt -k k out", "cat -k k out", "--version", "ls --help", "keygen"] {
        sandbox.shell(&format!("sealane {line} >&-")).failed(1, words);
    }
    sandbox.shell("sealane encrypt -k k <&-").failed(1, "standard input: is closed; name a file");
}

/// Results that cannot be written are failures, whatever prints them.
#[cfg(target_os = "linux")]
#[test]
fn a_full_device() {
    let sandbox = sandbox();
    sandbox.write("m", b"m");
    sandbox.run("encrypt -k k -o out m").succeeded();
    for line in [
        "--version",
        "--help",
        "help",
        "ls --help",
        "keygen",
        "providers",
        "providers --json",
        "doctor",
        "completions bash",
        "inspect out",
        "inspect --json out",
        "encrypt -k k m",
        "encrypt -k k --json -o more m",
        "decrypt -k k out",
        "cat -k k out",
        "verify -k k out",
        "init -k k vault",
    ] {
        let outcome = sandbox.shell(&format!("sealane {line} >/dev/full"));
        assert_eq!(outcome.status, Some(1), "{line}: {outcome:?}");
        assert!(outcome.err.contains("standard output: the disk is full"), "{line}: {outcome:?}");
    }
}

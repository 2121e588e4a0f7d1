//! Passphrases that a command prints.

use crate::common::{Sandbox, data};

#[cfg(unix)]
#[test]
fn a_command_prints_the_passphrase() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(10));
    sandbox.write("words", b"correct horse\nsecond line\n");
    let by = |command: &str, more: &str| {
        sandbox.shell(&format!("$SEALANE {more} -p --passphrase-command '{command}'"))
    };
    by("cat words", "encrypt -o sealed plain").succeeded();
    // The command has no part of the data, which is standard input.
    by("cat; echo correct horse", "decrypt -o out - < sealed").succeeded();
    assert!(sandbox.read("out") == data(10));
    by("echo other", "decrypt -o no sealed").failed(1, "wrong passphrase");
    by("exit 3", "decrypt -o no sealed").failed(2, "exit status: 3");
    by("true", "decrypt -o no sealed").failed(2, "found no output");
    by("echo correct horse; false", "decrypt -o no sealed").failed(2, "exit status: 1");
    by("yes abc | tr -d \"\\n\"", "decrypt -o no sealed").failed(2, "longer line");
    by("printf \"\\377\\n\"", "decrypt -o no sealed").failed(2, "UTF-8");
    let both = sandbox.run("decrypt -p --passphrase-fd 0 --passphrase-command true -o no sealed");
    both.failed(2, "cannot be used with");
    assert!(!sandbox.path("no").exists());

    sandbox.write("new", b"battery staple\n");
    let line =
        "$SEALANE rewrap -q -p --old-passphrase-command 'cat words' --passphrase-command 'cat new' sealed";
    sandbox.shell(line).succeeded();
    by("cat new", "decrypt -o again sealed").succeeded();
    assert!(sandbox.read("again") == data(10));
}

#[cfg(windows)]
#[test]
fn a_command_of_windows_prints_the_passphrase() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(100));
    let with = |line: &str, command: &str| {
        let mut sealane = sandbox.sealane();
        sealane.args(line.split_whitespace()).args(["--passphrase-command", command]);
        sandbox.run_with(&mut sealane, b"")
    };
    with("encrypt -p -o sealed plain", "echo correct \"horse\"").succeeded();
    assert!(with("decrypt -p sealed", "(echo correct \"horse\"&echo more)").succeeded() == data(100));
    with("decrypt -p sealed", "echo other").failed(1, "passphrase");
    with("decrypt -p sealed", "exit 3").failed(2, "expected a command that succeeds");
    with("decrypt -p sealed", "rem").failed(2, "found no output");
}

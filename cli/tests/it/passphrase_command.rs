//! Passphrases that a command of Windows prints.
#![cfg(windows)]

use crate::common::{Sandbox, data};

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

//! The examples of each command's help, run as printed.

use crate::common::{Outcome, Sandbox};

/// The files that the examples name.
const FILES: &str = r#"
mkdir -p home/letters keys point ~/.local/share/bash-completion/completions ~/.config/fish/completions
echo hello > notes.txt
echo "Dear Alice," > home/letters/2026.txt
echo app > app.tar.gz
sealane keygen -o key.jwk
sealane keygen -t age -o me.key > team.txt
cp me.key alice.key
sealane keygen --keyring -o ring.json
sealane keygen -t ed25519 -o release.key > release.pub
sealane sign -k release.key app.tar.gz
echo "release@example.com $(cat release.pub)" > allowed_signers
sealane encrypt -k key.jwk -o notes.sealed notes.txt
sealane encrypt -k key.jwk -o disk.sealed notes.txt
sealane encrypt -R team.txt -o notes.age notes.txt
tar c home | sealane encrypt -p > home.tar.age
sealane init -R team.txt described
sealane encrypt -i me.key -o described home
"#;

/// Before the examples of a command: what they make must not be there, and which folder `vault` is.
fn before(command: &str) -> &'static str {
    match command {
        "cat" | "inspect" | "ls" | "rewrap" => "cp -r described vault; export SEALANE_IDENTITY=me.key",
        "decrypt" => "rm -r home notes.txt",
        "keygen" => "rm key.jwk me.key ring.json",
        "rotate" => {
            "sealane encrypt --recursive -k ring.json -o vault home; sealane keyring rotate ring.json"
        }
        "sign" => "rm release.key app.tar.gz.sig",
        _ => "",
    }
}

/// Examples do not say where a passphrase comes from: it is asked for at the terminal.
fn with_passphrase(line: &str) -> String {
    let line = line.replace("encrypt -p", "encrypt -p --passphrase-command 'echo secret'");
    line.replace("decrypt home.tar.age", "decrypt -p --passphrase-command 'echo secret' home.tar.age")
}

fn help(sandbox: &Sandbox, command: &str) -> String {
    String::from_utf8(sandbox.run(&format!("{command} --help")).out).unwrap()
}

#[test]
fn examples_of_the_help_run() {
    let sandbox = Sandbox::new();
    let all = help(&sandbox, "");
    let commands = all.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap().lines();
    let first: Vec<_> = all.split("kept encrypted:\n").nth(1).unwrap().lines().collect();
    assert!(first.len() >= 5, "{all}");
    let made = files();
    run(&made, "", &first);
    let names = commands.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<_> =
        names.map(|line| line.split([' ', ',']).find(|word| !word.is_empty()).unwrap()).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        let text = help(&sandbox, name);
        let examples: Vec<_> = text.split("Examples:\n").nth(1).unwrap_or("").lines().collect();
        assert!(examples.len() >= 2, "the help of {name} has the examples {examples:?}");
        if name == "keyring" {
            for action in ["list", "add", "promote", "enable", "disable", "destroy", "delete", "rotate"] {
                let inner = help(&sandbox, &format!("keyring {action}"));
                assert!(inner.ends_with(&format!("\n\nExamples:\n{}\n", examples.join("\n"))), "{inner}");
            }
        }
        // tests/it/mount.rs and the guide's page on vaults mount.
        if name != "mount" {
            run(&made, name, &examples);
        }
    }
}

/// Makes the files once, because a passphrase takes a second.
fn files() -> Sandbox {
    let sandbox = Sandbox::new();
    shell(&sandbox, FILES).succeeded();
    sandbox
}

fn run(made: &Sandbox, name: &str, examples: &[&str]) {
    let sandbox = Sandbox::new();
    let copy = format!("cp -R '{}/.' .\n", made.path("").display());
    let done = shell(&sandbox, &[&copy, before(name), "\n", &examples.join("\n")].concat());
    assert_eq!(done.status, Some(0), "the examples of {name}: {examples:#?}: {}", done.err);
}

fn shell(sandbox: &Sandbox, script: &str) -> Outcome {
    let script: String = script.lines().map(|line| with_passphrase(line) + "\n").collect();
    sandbox.shell(&["set -eu; export HOME=$PWD\n", &script].concat())
}

//! The default keys: variables and the configuration.

use crate::described::sandbox;
use std::fs;

#[test]
fn default_keys() {
    let sandbox = sandbox();
    sandbox.run("init -k k vault").succeeded();
    sandbox.run("init -R team shared").succeeded();
    let with = |variables: &[(&str, &str)], line: &str| {
        let mut command = sandbox.sealane();
        command.envs(variables.iter().copied()).args(line.split_whitespace());
        sandbox.run_with(&mut command, b"")
    };
    let (key, identity) = (("SEALANE_KEY", "k"), ("SEALANE_IDENTITY", "file:me"));
    with(&[key], "encrypt -o vault in").succeeded();
    with(&[key, identity], "encrypt -o shared in").succeeded();
    with(&[key, identity], "verify vault").succeeded();
    with(&[identity], "verify shared").succeeded();
    // An option wins.
    with(&[key], "verify -k other vault").failed(2, "other");
    with(&[("SEALANE_KEY", "none")], "verify -k k vault").succeeded();
    with(&[key], "encrypt -o file.sealed in/letter.txt").succeeded();
    with(&[key], "verify file.sealed").succeeded();
    with(&[key, identity], "verify file.sealed").failed(2, "choose one with -k or -i");
    let secret = String::from_utf8(sandbox.read("k")).unwrap();
    let outcome = with(&[("SEALANE_KEY", &secret)], "verify vault");
    outcome.failed(2, "SEALANE_KEY: expected a reference to a key");
    assert!(!outcome.err.contains("kty"));
    let config = sandbox.known_keys().with_file_name("config").join("sealane");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), format!("# mine\nkey = \"{}\"\n", sandbox.path("k").display()))
        .unwrap();
    sandbox.run("verify vault").succeeded();
    let text = with(&[identity], "doctor in").text();
    assert!(
        text.contains("config.toml, line 2") && text.contains("file:me, from SEALANE_IDENTITY"),
        "{text}"
    );
    fs::write(config.join("config.toml"), "key = \"k\"\n").unwrap();
    sandbox
        .run("verify vault")
        .failed(2, "config.toml, line 1: expected a path that begins with '/' or '~/'");
    fs::write(config.join("config.toml"), "key = \"/none/k\"\nidentity = \"/none/me\"\n").unwrap();
    sandbox.run("verify vault").failed(1, "config.toml, line 1: /none/k: no such file");
    sandbox.run("verify shared").failed(1, "config.toml, line 2: /none/me: no such file");
    let outcome = sandbox.run("doctor in");
    outcome.failed(1, "2 problems found");
    let text = String::from_utf8_lossy(&outcome.out);
    assert!(
        text.contains("line 1: /none/k: no such") && text.contains("line 2: /none/me: no such"),
        "{text}"
    );
    fs::write(config.join("config.toml"), "key = secret\n").unwrap();
    sandbox.run("doctor in").failed(1, "1 problem found");
    sandbox.run("verify vault").failed(2, "config.toml, line 1: expected key = \"REFERENCE\"");
    fs::write(config.join("config.toml"), "key = \"k\"\nkey = \"k2\"\n").unwrap();
    sandbox.run("verify vault").failed(2, "config.toml, line 2: expected one line for key, found a second");
    fs::write(config.join("config.toml"), b"# \xff\nkey = \"k\"\n").unwrap();
    sandbox.run("verify vault").failed(1, "config.toml: expected text in UTF-8");
    let base64 = "cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4=";
    let outcome = with(&[("SEALANE_KEY", base64)], "verify vault");
    outcome.failed(2, "SEALANE_KEY: expected a reference to a key");
    assert!(!outcome.err.contains(base64));
}

/// Other users must not choose the key.
#[cfg(unix)]
#[test]
fn a_configuration_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = sandbox();
    let config = sandbox.known_keys().with_file_name("config").join("sealane");
    fs::create_dir_all(&config).unwrap();
    let config = config.join("config.toml");
    fs::write(&config, format!("key = \"{}\"\n", sandbox.path("k").display())).unwrap();
    for (mode, is_refused) in [(0o666, true), (0o620, true), (0o644, false)] {
        fs::set_permissions(&config, fs::Permissions::from_mode(mode)).unwrap();
        let outcome = sandbox.run("encrypt -o x in/letter.txt");
        if is_refused {
            outcome.failed(1, "config.toml: other users can change it");
        } else {
            outcome.succeeded();
        }
    }
}

#[cfg(unix)]
#[test]
fn a_configuration_that_is_no_file_is_refused_at_once() {
    let sandbox = sandbox();
    let config = sandbox.known_keys().with_file_name("config").join("sealane");
    fs::create_dir_all(&config).unwrap();
    let made = std::process::Command::new("mkfifo").arg(config.join("config.toml")).status().unwrap();
    assert!(made.success());
    sandbox.run("encrypt -o x in/letter.txt").failed(1, "expected a text file of at most 64 KiB");
}

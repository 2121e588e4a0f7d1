//! The command `sealane doctor`.

use crate::common::Sandbox;
use serde_json::Value;
#[cfg(unix)]
use std::fs::{self, Permissions};
#[cfg(unix)]
use std::os::unix::fs::{PermissionsExt, symlink};

#[cfg(unix)]
fn mode(sandbox: &Sandbox, name: &str, mode: u32) {
    fs::set_permissions(sandbox.path(name), Permissions::from_mode(mode)).unwrap();
}

fn report(sandbox: &Sandbox, line: &str, status: i32) -> Value {
    let outcome = sandbox.run(line);
    assert_eq!(outcome.status, Some(status), "{}", outcome.err);
    serde_json::from_slice(&outcome.out).unwrap()
}

#[test]
fn describes_the_machine_and_the_build() {
    let sandbox = Sandbox::new();
    let text = sandbox.run("doctor").text();
    for words in [
        concat!("sealane    ", env!("CARGO_PKG_VERSION"), " (program), "),
        "system ",
        "processor ",
        "aws-lc-rs 1.",
        "portable   self-test passed: aes-128-gcm",
        "\nfips       off\n",
        "providers in use\n",
        if cfg!(unix) { "  k: mode 0600, ok\n" } else { "  k: rights not checked on this system\n" },
        "problems\n  none\n",
    ] {
        assert!(text.contains(words), "{words:?} in {text}");
    }
    let report = report(&sandbox, "doctor --json", 0);
    assert_eq!(report["machine"]["sealane"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["problems"], Value::Array(vec![]));
    assert_eq!(report["key_files"][0]["path"], "k");
    assert!(report["libraries"]["ring"].is_string() && report["machine"]["threads"].as_u64() > Some(0));
    let variants = report["variants"].as_array().unwrap();
    assert!(variants.iter().any(|entry| entry["variant"] == "portable" && entry["available"] == true));
}

// claim: key-file-doctor
#[cfg(unix)]
#[test]
fn key_files_that_others_can_use() {
    let sandbox = Sandbox::new();
    for (name, line) in [
        ("age", "keygen -t age -o age"),
        ("rsa", "keygen -t rsa-2048 -o rsa"),
        ("ring", "keygen --keyring -o ring"),
    ] {
        let outcome = sandbox.run(line);
        assert_eq!(outcome.status, Some(0), "{}", outcome.err);
        mode(&sandbox, name, 0o640);
    }
    mode(&sandbox, "k", 0o620);
    sandbox.write("hash", "a1".repeat(32).as_bytes());
    sandbox.write("notes", b"\"kty\" {");
    sandbox.write("k\x1b[31m", &sandbox.read("age"));
    mode(&sandbox, "k\x1b[31m", 0o604);
    symlink("missing", sandbox.path("dangling")).unwrap();
    let outcome = sandbox.run("doctor");
    assert_eq!(
        (outcome.status, outcome.err.as_str()),
        (Some(1), "sealane: 5 problems found; the end of the report names them\n")
    );
    let text = String::from_utf8(outcome.out).unwrap();
    assert!(
        text.contains("\n  age: mode 0640, exposed\n") && text.contains("\n  k: mode 0620, exposed\n"),
        "{text}"
    );
    assert!(text.contains("  k: others can change this key; run 'chmod 600 k'\n"), "{text}");
    assert!(
        !text.contains('\x1b')
            && !text.contains("hash")
            && !text.contains("notes")
            && !text.contains("dangling")
    );
    let report = report(&sandbox, "doctor --json age hash", 1);
    assert_eq!(report["key_files"].as_array().unwrap().len(), 2);
    assert_eq!(report["key_files"][0]["mode"], "0640");
    // The report names key files and quotes nothing of them.
    let secrets =
        ["age", "rsa", "ring", "k"].map(|name| String::from_utf8_lossy(&sandbox.read(name)).into_owned());
    for secret in secrets.iter().flat_map(|text| text.split(['\n', '"'])).filter(|part| part.len() > 15) {
        assert!(!text.contains(secret) && !report.to_string().contains(secret), "{secret}");
    }
}

#[test]
fn mistakes_are_reported() {
    let sandbox = Sandbox::new();
    sandbox.refuses("doctor missing", 1, "missing: no such file or folder");
    for (variable, value) in [("SEALANE_CPU", "avx2"), ("SEALANE_PROVIDER", "none")] {
        let mut command = sandbox.sealane();
        let outcome = sandbox.run_with(command.env(variable, value).arg("doctor"), b"");
        outcome.failed(1, "1 problem found");
        assert!(
            String::from_utf8_lossy(&outcome.out)
                .contains(&format!("problems\n  environment variable {variable}"))
        );
    }
    let mut command = sandbox.sealane();
    let outcome = sandbox.run_with(command.env("SEALANE_CPU", "-aes,-neon").args(["doctor", "k"]), b"");
    let text = outcome.text();
    assert!(text.contains("portable"));
    #[cfg(target_arch = "x86_64")]
    assert!(text.contains("removed by SEALANE_CPU: aes"), "{text}");
}

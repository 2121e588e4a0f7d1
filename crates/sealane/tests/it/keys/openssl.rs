//! OpenSSL reads the key files of sealane. The tests need the program `openssl`.

use project::programs::missing;
use sealane::keys::{Existing, Kind, SecretKey};
use std::io::Write;
use std::process::{Command, Stdio};

/// Runs `openssl ARGUMENTS` with `input` on standard input and returns the output.
fn openssl(arguments: &[&str], input: &str) -> String {
    let program =
        Command::new("openssl").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut program = program.unwrap();
    program.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = program.wait_with_output().unwrap();
    assert!(output.status.success(), "openssl {arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// OpenSSL 3.0 does not support X-Wing.
const KINDS: [Kind; 4] = [Kind::X25519, Kind::P256, Kind::Secp256k1, Kind::Rsa2048];

#[test]
fn private_keys_are_read() {
    if missing(&["openssl"]) {
        return;
    }
    for kind in KINDS {
        let key = SecretKey::generate(kind).unwrap();
        let public = key.public().unwrap().to_text().unwrap();
        let plain = key.to_text(None).unwrap();
        assert_eq!(openssl(&["pkey", "-pubout"], &plain), public, "{kind}");
        assert_eq!(openssl(&["pkey"], &plain), *plain, "{kind}");
        let encrypted = key.to_text(Some("naïve passphrase")).unwrap();
        let arguments = ["pkey", "-pubout", "-passin", "pass:naïve passphrase"];
        assert_eq!(openssl(&arguments, &encrypted), public, "{kind}");
    }
}

#[test]
fn public_keys_are_read() {
    if missing(&["openssl"]) {
        return;
    }
    for kind in KINDS {
        let public = SecretKey::generate(kind).unwrap().public().unwrap().to_text().unwrap();
        assert_eq!(openssl(&["pkey", "-pubin", "-pubout"], &public), public, "{kind}");
    }
}

#[test]
fn files_are_read() {
    if missing(&["openssl"]) {
        return;
    }
    let path = std::env::temp_dir().join(format!("sealane-openssl-{}", std::process::id()));
    let key = SecretKey::generate(Kind::P256).unwrap();
    key.save(&path, Some("hunter2"), Existing::Replace).unwrap();
    let name = path.to_str().unwrap();
    let traditional = openssl(&["pkey", "-in", name, "-passin", "pass:hunter2", "-traditional"], "");
    assert!(traditional.starts_with("-----BEGIN EC PRIVATE KEY-----"));
    assert_eq!(SecretKey::from_text(&traditional, None).unwrap().public(), key.public());
    std::fs::remove_file(&path).unwrap();
}

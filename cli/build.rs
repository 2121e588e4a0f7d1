//! Passes the versions of the compiler and the linked libraries to `sealane doctor`.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The libraries that compute ciphers, keys or hashes, whose versions belong into a report of an
/// error.
const LIBRARIES: [&str; 13] = [
    "aes-gcm",
    "aes-gcm-siv",
    "argon2",
    "aws-lc-rs",
    "aws-lc-sys",
    "chacha20poly1305",
    "curve25519-dalek",
    "libcrux-ml-kem",
    "scrypt",
    "secp256k1",
    "sha2",
    "ssh-key",
    "xaes-256-gcm",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    // In the repository the lock file is one folder up; in a published package it is beside the
    // manifest.
    let lock =
        [folder.join("../Cargo.lock"), folder.join("Cargo.lock")].into_iter().find(|path| path.exists());
    let text = lock.as_ref().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    if let Some(path) = lock {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    println!("cargo::rustc-env=SEALANE_LIBRARIES={}", versions(&text).join(" "));
    println!("cargo::rustc-env=SEALANE_COMPILER={}", compiler());
}

/// Returns `name=version` for each library in a lock file, and several entries for several
/// versions.
fn versions(lock: &str) -> Vec<String> {
    let value = |section: &str, name: &str| {
        let line =
            section.lines().find_map(|line| line.strip_prefix(&format!("{name} = \"")).map(str::to_owned));
        line.and_then(|rest| rest.strip_suffix('"').map(str::to_owned))
    };
    lock.split("[[package]]")
        .filter_map(|section| Some((value(section, "name")?, value(section, "version")?)))
        .filter(|(name, _)| LIBRARIES.contains(&name.as_str()))
        .map(|(name, version)| format!("{name}={version}"))
        .collect()
}

/// Returns the compiler's version, such as `rustc 1.89.0`, or `unknown`.
fn compiler() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    match text.split(" (").next().map(str::trim) {
        Some(version) if !version.is_empty() => version.to_owned(),
        _ => "unknown".to_owned(),
    }
}

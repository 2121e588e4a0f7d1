//! A file of 1 GiB in a vault of rclone crypt, read by rclone and by us, in turns.
//!
//! ```text
//! cargo bench -p sealane-lab-bench --bench rclone_speed -- FOLDER [ROUNDS]
//! ```
//!
//! `FOLDER` is where the vault is made, and must be empty. `rclone cat` writes to a pipe, which is
//! read here and thrown away; we read pieces of 1 MiB and throw them away. In rows named cold, the
//! file was dropped from the page cache before. Positions of 4 KiB are read by us alone: rclone has
//! no way to read many positions but a mount or a process for each.

use sealane::vault::{LocalFolder, Rclone};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

const LEN: usize = 1 << 30;
const PIECE: usize = 1 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [folder, rounds @ ..] = &arguments[..] else { return eprintln!("FOLDER [ROUNDS]") };
    let rounds: usize = rounds.first().map_or(5, |rounds| rounds.parse().expect("a number"));
    let folder = Path::new(folder);
    let config = make(folder);
    let remote = Rclone::from_config(&config, "vault").expect("a remote");
    let storage = LocalFolder::open(remote.folder().expect("a local folder")).expect("a folder");
    let vault = remote.open(Arc::new(storage)).expect("a vault");
    println!("{} ({rounds} rounds, medians)", version());
    println!("{:<24}{:>10}{:>10}{:>8}", "1 GiB in order", "rclone s", "ours s", "ratio");
    for cold in [false, true] {
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            for (theirs, times) in [true, false].into_iter().zip(&mut times) {
                if cold {
                    drop_caches(&folder.join("stored"));
                }
                let start = Instant::now();
                let read = if theirs {
                    let mut child = Command::new("rclone")
                        .args([
                            "--config",
                            folder.join("rclone.conf").to_str().expect("UTF-8"),
                            "cat",
                            "vault:file",
                        ])
                        .stdout(Stdio::piped())
                        .spawn()
                        .expect("rclone");
                    let read = discard(child.stdout.take().expect("a pipe"));
                    assert!(child.wait().expect("rclone").success());
                    read
                } else {
                    let file = vault.open(b"file").expect("a file");
                    let (mut piece, mut at) = (vec![0; PIECE], 0);
                    loop {
                        match file.read_at(at, &mut piece).expect("plaintext") {
                            0 => break at as usize,
                            n => at += n as u64,
                        }
                    }
                };
                assert_eq!(read, LEN);
                times.push(start.elapsed().as_secs_f64());
            }
        }
        let [theirs, ours] = times.map(median);
        let what = if cold { "cold" } else { "warm" };
        println!("{what:<24}{theirs:>10.2}{ours:>10.2}{:>8.2}", theirs / ours);
    }
    let file = vault.open(b"file").expect("a file");
    let (mut piece, mut at) = ([0; 4096], 1_u64);
    let start = Instant::now();
    for _ in 0..20_000 {
        at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        file.read_at((at >> 16) % (LEN as u64 - 4096), &mut piece).expect("plaintext");
    }
    println!("4 KiB at random, warm: {:.1} us", start.elapsed().as_secs_f64() * 1e6 / 20_000.0);
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Makes a vault with one file in `folder`, and returns its configuration.
fn make(folder: &Path) -> String {
    let password = Command::new("rclone").args(["obscure", "password"]).output().expect("rclone").stdout;
    let config = format!(
        "[vault]\ntype = crypt\nremote = {}\npassword = {}",
        folder.join("stored").display(),
        String::from_utf8(password).expect("base64")
    );
    fs::write(folder.join("rclone.conf"), &config).expect("a configuration");
    let source = folder.join("source");
    fs::create_dir_all(&source).expect("an empty folder");
    let content: Vec<u8> =
        (0..LEN / 8).flat_map(|i| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()).collect();
    fs::write(source.join("file"), content).expect("space for two files");
    let made = Command::new("rclone")
        .args([
            "--config",
            folder.join("rclone.conf").to_str().expect("UTF-8"),
            "copy",
            source.to_str().expect("UTF-8"),
            "vault:",
        ])
        .status();
    assert!(made.expect("rclone").success());
    fs::remove_dir_all(source).expect("the source");
    config
}

fn discard(mut from: impl Read) -> usize {
    let (mut piece, mut read) = (vec![0; PIECE], 0);
    loop {
        match from.read(&mut piece).expect("a pipe") {
            0 => return read,
            n => read += n,
        }
    }
}

/// Drops the files of a folder from the page cache, with coreutils.
fn drop_caches(folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let dropped = Command::new("dd")
            .args([
                format!("if={}", path.display()),
                "iflag=nocache".into(),
                "count=0".into(),
                "status=none".into(),
            ])
            .status();
        assert!(dropped.expect("dd").success());
    }
}

fn version() -> String {
    let output = Command::new("rclone").arg("version").output().expect("rclone").stdout;
    String::from_utf8_lossy(&output).lines().next().unwrap_or_default().to_owned()
}

//! Budgets as law: parsers and openers in processes with a limit of their memory, their processor
//! time and the length of their files. They end with a result or a typed error, never by a signal.
//!
//! [`child`] is the process: this test binary runs itself with the name of a case and a budget.
#![cfg(target_os = "linux")]

use sealane::age::{self, Armor, Identity, Kind, Recipient};
use sealane::file::{self, DecryptWith, Durability, EncryptWith, Options};
use sealane::keys::{Cost, KeyFile, LoadOptions, derive};
use sealane::{Aead, Algorithm, Error, Key, hazmat};
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

const CASE: &str = "SEALANE_BUDGET_CASE";
const MIB: usize = 1 << 20;
/// Length of the data in the cases whose memory grows with the data.
const LEN: usize = 24 * MIB;
/// Memory in MiB that a process may allocate more than it has at the beginning. Threads and the
/// first allocations of the libraries need one.
const BUDGETS: [usize; 6] = [2, 4, 12, 30, 60, 200];
/// Processor time of a case in seconds.
const CPU_SECONDS: u64 = 60;

/// The outcome that a case may have: a result, or an error that matches.
type Allowed = fn(&Error) -> bool;
/// A case: its name, its work after the preparation, and the errors that are allowed.
type Case = (&'static str, fn() -> Box<dyn FnOnce() -> Result<(), Error>>, Allowed);

fn memory(error: &Error) -> bool {
    matches!(error, Error::OutOfMemory { .. } | Error::LimitExceeded(_))
}

fn key() -> Key {
    Key::from_bytes(&[7; 32])
}

fn age_file(len: usize, armor: Armor) -> (Vec<u8>, Identity) {
    let identity = Identity::generate(Kind::X25519).unwrap();
    (age::seal(&vec![1; len], &[identity.recipient()], armor).unwrap(), identity)
}

/// Encrypted PKCS#8 with scrypt and these parameters, as in the audit: 300 bytes that request
/// gigabytes.
fn scrypt_key(n: u64, r: u64, p: u64) -> Vec<u8> {
    fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
        let content = parts.concat();
        let len = if content.len() < 128 { &[][..] } else { &[0x81] };
        [&[tag], len, &[u8::try_from(content.len()).unwrap()], &content].concat()
    }
    let number = |n: u64| {
        let bytes = n.to_be_bytes();
        let bytes = &bytes[bytes.iter().position(|&byte| byte != 0).unwrap()..];
        der(2, &[if bytes[0] < 128 { &[] } else { &[0] }, bytes])
    };
    let scrypt = der(6, &[&[0x2b, 6, 1, 4, 1, 0xda, 0x47, 4, 11]]);
    let kdf =
        der(0x30, &[&scrypt, &der(0x30, &[&der(4, &[b"saltsalt"]), &number(n), &number(r), &number(p)])]);
    let aes = der(6, &[&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 42]]);
    let cipher = der(0x30, &[&aes, &der(4, &[&[0; 16]])]);
    let pbes2 = der(6, &[&[0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 5, 13]]);
    let algorithm = der(0x30, &[&pbes2, &der(0x30, &[&kdf, &cipher])]);
    der(0x30, &[&algorithm, &der(4, &[&[0; 32]])])
}

fn open_key(n: u64, r: u64, p: u64) -> Box<dyn FnOnce() -> Result<(), Error>> {
    let der = scrypt_key(n, r, p);
    Box::new(move || KeyFile::parse(&der, LoadOptions::passphrase(Some("x"))).map(drop))
}

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sealane-budget-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

const CASES: &[Case] = &[
    (
        "encrypt",
        || {
            let plain = vec![1; LEN];
            Box::new(move || file::encrypt(&plain, &EncryptWith::key(&key(), b"")).map(drop))
        },
        memory,
    ),
    (
        "encrypt with armor",
        || {
            let plain = vec![1; LEN];
            let with =
                EncryptWith::age(&[Identity::generate(Kind::X25519).unwrap().recipient()], Armor::Ascii);
            Box::new(move || file::encrypt(&plain, &with).map(drop))
        },
        memory,
    ),
    (
        "decrypt",
        || {
            let sealed = file::encrypt(&vec![1; LEN], &EncryptWith::key(&key(), b"")).unwrap();
            Box::new(move || file::decrypt(&sealed, &DecryptWith::key(&key(), b"")).map(drop))
        },
        memory,
    ),
    (
        "decrypt armor",
        || {
            let (sealed, identity) = age_file(LEN, Armor::Ascii);
            Box::new(move || file::decrypt(&sealed, &DecryptWith::age(&[identity])).map(drop))
        },
        memory,
    ),
    (
        "age open",
        || {
            let (sealed, identity) = age_file(LEN, Armor::Ascii);
            Box::new(move || age::open(&sealed, &[identity]).map(drop))
        },
        memory,
    ),
    (
        "age seal",
        || {
            let (plain, identity) = (vec![1; LEN], Identity::generate(Kind::X25519).unwrap());
            Box::new(move || age::seal(&plain, &[identity.recipient()], Armor::Ascii).map(drop))
        },
        memory,
    ),
    (
        "decrypt_file with 200 threads",
        || {
            let (from, to) = (folder().join("a"), folder().join("b"));
            std::fs::write(&from, file::encrypt(&vec![1; LEN], &EncryptWith::key(&key(), b"")).unwrap())
                .unwrap();
            let threads = NonZeroUsize::new(200);
            let options = Options { threads, progress: None, durability: Durability::Cached };
            Box::new(move || file::decrypt_file(&from, &to, &DecryptWith::key(&key(), b""), options))
        },
        memory,
    ),
    (
        "reader",
        || {
            let sealed = folder().join("c");
            std::fs::write(&sealed, file::encrypt(&vec![1; LEN], &EncryptWith::key(&key(), b"")).unwrap())
                .unwrap();
            Box::new(move || {
                let file = std::fs::File::open(&sealed)?;
                let mut reader = file::Reader::new(file, &DecryptWith::key(&key(), b""))?;
                let mut piece = [0; 4096];
                Ok(reader.read_exact(&mut piece)?)
            })
        },
        memory,
    ),
    (
        "header of 16 MiB",
        || {
            let (file, identity) = age_file(0, Armor::Binary);
            let header = "-> a\n\n".repeat((16 * MIB - 4096) / 6);
            let at = file.iter().position(|&byte| byte == b'\n').unwrap() + 1;
            let file = [&file[..at], header.as_bytes(), &file[at..]].concat();
            Box::new(move || age::open(&file, &[identity]).map(drop))
        },
        |error| memory(error) || matches!(error, Error::Header(_)),
    ),
    (
        "passphrase of age",
        || {
            let recipient = Recipient::passphrase_with_work_factor("x", 16).unwrap();
            let file = age::seal(b"", &[recipient], Armor::Binary).unwrap();
            Box::new(move || age::open(&file, &[Identity::passphrase("x")]).map(drop))
        },
        memory,
    ),
    (
        "scrypt of a key file",
        || open_key(1 << 17, 8, 1),
        |error| memory(error) || matches!(error, Error::WrongPassphrase),
    ),
    ("scrypt with long blocks", || open_key(2, 1 << 22, 4), memory),
    ("scrypt with many lanes", || open_key(2, 1, 1 << 24), memory),
    (
        "scrypt with 1 GiB",
        || open_key(1 << 20, 8, 1),
        |error| memory(error) || matches!(error, Error::WrongPassphrase),
    ),
    (
        "Argon2id",
        || {
            let cost = Cost { memory_kib: 100 << 10, passes: 1, lanes: 1 };
            Box::new(move || derive(b"x", &[1; 16], 32, cost).map(drop))
        },
        memory,
    ),
    (
        "manifest with an endless line",
        || {
            let path = folder().join("manifest");
            let header = b"{\"sealane\":\"manifest\",\"version\":1}\n".to_vec();
            std::fs::write(&path, [header, vec![b'x'; LEN]].concat()).unwrap();
            Box::new(move || file::Manifest::open(&path).map(drop))
        },
        |error| memory(error) || matches!(error, Error::Line { .. }),
    ),
    (
        "messages",
        || {
            let aead = Aead::new(Algorithm::Aes256Gcm, &key()).unwrap();
            let sealed = aead.seal(&vec![1; LEN], b"").unwrap();
            Box::new(move || aead.seal(&aead.open(&sealed, b"")?, b"").map(drop))
        },
        memory,
    ),
    (
        "keystream",
        || {
            let (keystream, data) = (hazmat::ChaCha20::new(&[7; 32], &[1; 12], 0).unwrap(), vec![1; LEN]);
            Box::new(move || keystream.xor_at(0, &data).map(drop))
        },
        memory,
    ),
];

fn limit(resource: libc::__rlimit_resource_t, value: u64) {
    let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
    // SAFETY: `limit` is a valid structure for the call.
    assert_eq!(unsafe { libc::setrlimit(resource, &limit) }, 0);
}

/// The process of one case. Without the variable there is nothing to do: cargo runs it with the
/// other tests.
#[test]
fn child() {
    let Ok(case) = std::env::var(CASE) else { return };
    let (name, budget) = case.rsplit_once(' ').unwrap();
    let budget: u64 = budget.parse().unwrap();
    let (_, prepare, allowed) = CASES.iter().find(|case| case.0 == name).unwrap();
    let work = prepare();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    let size: u64 = size.trim().trim_end_matches(" kB").parse().unwrap();
    limit(libc::RLIMIT_CPU, CPU_SECONDS);
    limit(libc::RLIMIT_AS, (size << 10) + (budget << 20));
    let result = work();
    let _ = std::fs::remove_dir_all(folder());
    match result {
        Ok(()) => println!("\nOUTCOME ok"),
        Err(error) => {
            assert!(allowed(&error), "{error:?}");
            println!("\nOUTCOME {error}");
        }
    }
}

// claim: age-limits, key-file, input-no-crash, input-memory
#[test]
fn every_case_ends_with_a_result_or_a_typed_error() {
    let began = Instant::now();
    let mut outcomes = Vec::new();
    for (name, ..) in CASES {
        let (mut ok, mut refused) = (0, 0);
        for budget in BUDGETS {
            let output = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "budget::child", "--nocapture", "--test-threads", "1"])
                .env(CASE, format!("{name} {budget}"))
                // Otherwise glibc keeps what the preparation freed, and has room for more in an
                // arena of the thread.
                .env("MALLOC_MMAP_THRESHOLD_", "65536")
                .env("MALLOC_ARENA_MAX", "1")
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let outcome = text.lines().find_map(|line| line.strip_prefix("OUTCOME "));
            let (true, Some(outcome)) = (output.status.success(), outcome) else {
                panic!(
                    "{name}, {budget} MiB: {}\n{text}\n{}",
                    output.status,
                    String::from_utf8_lossy(&output.stderr)
                )
            };
            if outcome == "ok" { ok += 1 } else { refused += 1 }
        }
        outcomes.push((name, ok, refused));
    }
    // The budgets are around what the cases need, so that both outcomes occur.
    assert!(outcomes.iter().filter(|(_, ok, refused)| *ok > 0 && *refused > 0).count() > 8, "{outcomes:?}");
    eprintln!("{outcomes:?} in {:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(600));
}

/// A file that grows above the limit of its length is an error of the system, and no file is left.
// claim: disk-errors
#[test]
fn limit_of_the_length_of_files() {
    const NAME: &str = "SEALANE_BUDGET_FILE";
    if let Ok(folder) = std::env::var(NAME) {
        let folder = PathBuf::from(folder);
        // SAFETY: ignoring a signal runs no code. Without this the system ends the process.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        limit(libc::RLIMIT_FSIZE, MIB as u64);
        let with = EncryptWith::key(&key(), b"");
        let refused = file::encrypt_file(&folder.join("in"), &folder.join("out"), &with, Options::default());
        assert!(
            matches!(&refused, Err(Error::Io { path: Some(path), source }) if source.raw_os_error() == Some(libc::EFBIG) && path.ends_with("out")),
            "{refused:?}"
        );
        return;
    }
    let folder = folder();
    std::fs::write(folder.join("in"), vec![1; 4 * MIB]).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "budget::limit_of_the_length_of_files", "--nocapture"])
        .env(NAME, &folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["in"]);
    std::fs::remove_dir_all(&folder).unwrap();
}

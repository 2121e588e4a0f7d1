//! The other commands, and how they speak.
#![cfg(unix)]

use crate::common::{Room, data, works};
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(text)))
}

#[test]
fn keygen() {
    let room = Room::new();
    let line = room.run("keygen").text();
    assert!(line.starts_with(r#"{"kty":"oct","k":""#) && line.lines().count() == 1, "{line}");
    assert_ne!(line, room.run("keygen --type aes-256 -o -").text());
    for (kind, len) in [("aes-256", 43), ("aes-128", 22)] {
        assert!(room.run(&format!("keygen -t {kind} -o {kind}")).worked().is_empty());
        assert_eq!(json(&room.read(kind))["k"].as_str().unwrap().len(), len);
        assert_eq!(fs::metadata(room.path(kind)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let said = json(&room.run("keygen --json -o new").worked());
    assert_eq!((&said["key"], &said["type"]), (&"new".into(), &"aes-256".into()));
}

#[test]
fn keygen_never_overwrites() {
    let room = Room::new();
    room.write("other", b"something else");
    room.refuses("keygen -o k", 1, "k: the file exists, and a key file is never overwritten");
    room.refuses("keygen -o other", 1, "never overwritten");
    std::os::unix::fs::symlink("nowhere", room.path("dangling")).unwrap();
    room.refuses("keygen -o dangling", 1, "dangling");
    room.refuses("keygen -o missing/k", 1, "missing/k: no such file or folder");
    room.refuses("keygen -o .", 1, "is a folder");
    room.refuses("keygen --type des", 2, "invalid value 'des'");
}

#[test]
fn a_key_that_others_can_read_is_warned_of() {
    let room = Room::new();
    let plain = |mode| fs::set_permissions(room.path("k"), Permissions::from_mode(mode)).unwrap();
    for mode in [0o640, 0o604, 0o644] {
        plain(mode);
        let said = room.pipe("encrypt -k k", b"data");
        said.failed(0, "warning: k: others can read this key; 'chmod 600 k'");
        assert!(!said.out.is_empty());
        room.pipe("encrypt -k k --quiet", b"data").worked();
        let said = room.pipe("encrypt -k k --json", b"data");
        assert!(json(said.err.as_bytes())["warning"].is_string());
    }
    plain(0o400);
    room.pipe("encrypt -k k", b"data").worked();
}

#[test]
fn keys_that_are_none() {
    let room = Room::new();
    room.write("plain", b"data");
    room.write("text", b"hello");
    room.write("binary", &[0xff; 100]);
    room.write("rsa", br#"{"kty":"RSA","n":"AQAB"}"#);
    room.write("short", br#"{"kty":"oct","k":"AAAA"}"#);
    fs::set_permissions(room.path("short"), Permissions::from_mode(0o600)).unwrap();
    for (key, status, words) in [
        ("missing", 1, "missing: no such file"),
        ("text", 1, "text: expected a key file"),
        ("binary", 1, "binary: expected a key file"),
        ("rsa", 1, "rsa: not a symmetric key"),
        ("plain", 1, "plain: expected a key file"),
        ("/dev/null", 1, "expected a key file"),
        ("/dev/zero", 1, "expected a key file"),
        (".", 1, "is a folder"),
        ("-", 2, "standard input carries the data"),
        ("short", 2, "short: the key must have 16 or 32 bytes, not 3"),
    ] {
        for line in ["encrypt -o out plain", "decrypt -o out plain", "verify plain", "cat --range : plain"] {
            room.refuses(&format!("{line} -k {key}"), status, words);
        }
    }
}

#[test]
fn cat_is_a_slice() {
    let room = Room::new();
    let plain = data(100_000);
    room.write("plain", &plain);
    room.run("encrypt -k k -c ctx -o sealed plain").worked();
    for (range, expected) in [
        ("0:10", &plain[..10]),
        ("16380:16390", &plain[16380..16390]),
        ("16384:32768", &plain[16384..32768]),
        (":100", &plain[..100]),
        ("99990:", &plain[99990..]),
        (":", &plain[..]),
        ("50:50", &[]),
        ("99999:200000", &plain[99999..]),
        ("100000:", &[]),
        ("7:18446744073709551615", &plain[7..]),
        ("18446744073709551614:18446744073709551615", &[]),
    ] {
        let out = room.run(&format!("cat -k k -c ctx --range {range} sealed")).worked();
        assert!(out == expected, "{range}");
    }
    room.refuses("cat -k k -c ctx --range 5:3 sealed", 2, "START 5 is larger than END 3");
    for bad in ["5", "a:b", "-1:3", "1:2:3", "0:18446744073709551616"] {
        room.refuses(&format!("cat -k k -c ctx --range={bad} sealed"), 2, "for '--range <START:END>'");
    }
    room.refuses("cat -k k -c ctx --range : -", 2, "expected a regular file");
    room.refuses("cat -k k -c ctx --range : /dev/null", 2, "expected a regular file");
    room.refuses("cat -k k -c other --range : sealed", 1, "authentication failed");
}

#[test]
fn inspect() {
    let room = Room::new();
    room.write("plain", &data(40_000));
    room.run("encrypt -k k -o sealed plain").worked();
    let text = room.run("inspect sealed").text();
    for words in ["chunked-encryption@v1", "40000 bytes", "3 of up to 16384 bytes", "verified    no"] {
        assert!(text.contains(words), "{words:?} in {text}");
    }
    let said = json(&room.run("inspect --json sealed").worked());
    assert_eq!(
        (&said["plaintext_bytes"], &said["chunks"], &said["verified"]),
        (&40000.into(), &3.into(), &false.into())
    );
    room.write("tiny", b"tiny");
    room.write("empty", b"");
    room.refuses("inspect tiny", 1, "tiny: truncated");
    room.refuses("inspect missing", 1, "missing: no such file");
    room.refuses("inspect .", 1, "is a folder");
    for not_plain in ["empty", "/dev/null"] {
        let said = room.run(&format!("inspect {not_plain}"));
        assert!(matches!(said.status, Some(1 | 2)) && said.err.lines().count() == 1, "{said:?}");
    }
}

#[test]
fn verify() {
    let room = Room::new();
    room.write("plain", &data(100_000));
    room.run("encrypt -k k -o a plain").worked();
    room.run("encrypt -k k -o b plain").worked();
    assert_eq!(room.run("verify -k k a b").text(), "a: verified, 100000 bytes\nb: verified, 100000 bytes\n");
    assert_eq!(room.run("verify -k k --quiet a b").text(), "");
    let sealed = room.read("a");
    assert!(room.pipe("verify -k k -", &sealed).text().starts_with("standard input: verified"));
    let said = room.run("verify -k k a plain b --json");
    assert_eq!((said.status, said.out.split(|&b| b == b'\n').count()), (Some(1), 3));
    assert_eq!(json(said.err.as_bytes())["kind"], "authentication");
    room.refuses("verify -k k", 2, "required arguments were not provided: <FILE>");
}

#[test]
fn providers() {
    let room = Room::new();
    let table = room.run("providers").text();
    assert_eq!(
        table.lines().next().unwrap().split_whitespace().collect::<Vec<_>>(),
        ["ALGORITHM", "PROVIDER", "VARIANT", "AVAILABLE"]
    );
    let rows = json(&room.run("providers --json").worked());
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len() + 1, table.lines().count());
    for row in rows {
        let known = ["algorithm", "provider", "variant", "available", "reason", "chosen"];
        assert!(row.as_object().unwrap().keys().all(|key| known.contains(&key.as_str())), "{row}");
        assert_eq!(row["available"] == true, row["reason"] == "", "{row}");
    }
    let one = room.run("providers aes-256-gcm").text();
    assert!(one.lines().skip(1).all(|line| line.starts_with("aes-256-gcm ")), "{one}");
    assert_eq!(one.lines().filter(|line| line.ends_with("yes, chosen")).count(), 1, "{one}");
    // Short names stand under the heads too.
    let raw = room.run("providers speck").text();
    let column = raw.find("PROVIDER").unwrap();
    assert!(raw.lines().skip(1).all(|line| line[column..].starts_with("native ")), "{raw}");
    room.refuses("providers rot13", 2, "unknown algorithm \"rot13\"; expected one of: aes-128-gcm, ");
}

#[test]
fn the_environment_chooses_or_is_refused() {
    let room = Room::new();
    room.write("plain", b"data");
    let with = |name, value, line: &str| {
        room.run_with(room.sealane().env(name, value).args(line.split_whitespace()), b"")
    };
    let ring = with("SEALANE_PROVIDER", "ring", "providers aes-256-gcm").text();
    let chosen = ring.lines().find(|line| line.contains("chosen")).unwrap();
    assert!(chosen.contains(" ring "), "{ring}");
    let sealed = with("SEALANE_PROVIDER", "ring", "encrypt -k k plain").worked();
    assert_eq!(room.pipe("decrypt -k k", &sealed).worked(), b"data");
    for line in ["providers", "encrypt -k k -o out plain"] {
        with("SEALANE_PROVIDER", "rnig", line).failed(2, "no provider is named \"rnig\"");
    }
    with("SEALANE_CPU", "avx512f", "providers").failed(2, "features can only be taken away");
    let slow = with("SEALANE_CPU", "-aes", "providers aes-ctr").text();
    assert!(slow.lines().any(|line| line.contains("portable") && line.ends_with("yes, chosen")), "{slow}");
    with("SEALANE_PROVIDER", "aegis", "encrypt -k k -o out plain").failed(1, "aegis has no aes-256-gcm");
    assert!(!room.path("out").exists());
}

#[test]
fn completions() {
    let room = Room::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = room.run(&format!("completions {shell}")).text();
        assert!(script.contains("sealane") && script.contains("encrypt"), "{shell}");
    }
    room.refuses("completions cmd", 2, "possible values: bash");
}

#[test]
fn help_and_version() {
    let room = Room::new();
    assert_eq!(room.run("--version").text(), format!("sealane {}\n", env!("CARGO_PKG_VERSION")));
    for line in ["--help", "-h", "help", "help encrypt", "cat --help"] {
        assert!(room.run(line).text().contains("Usage: sealane"), "{line}");
    }
    room.refuses("", 2, "'sealane --help'");
    room.refuses("frobnicate", 2, "unrecognized subcommand 'frobnicate'");
    room.refuses("encrypt", 2, "not provided: <--key <KEYFILE>|--recipient <RECIPIENT>|--recipients-file <FILE>|--passphrase>; usage: ");
    room.refuses("encrypt -k k --threads 0 k", 2, "--threads");
    room.refuses("encrypt -k k --threads 1000000 k", 2, "--threads");
}

#[test]
fn results_and_errors_as_json() {
    let room = Room::new();
    room.write("plain", &data(1000));
    let said = json(&room.run("encrypt -k k -o sealed --json plain").worked());
    assert_eq!(
        (&said["source"], &said["target"], &said["bytes"]),
        (&"plain".into(), &"sealed".into(), &1000.into())
    );
    assert!(said["seconds"].is_number());
    // Where standard output carries the data, it carries nothing else.
    assert!(room.run("decrypt -k k --json sealed").worked() == data(1000));
    for (line, status, kind) in [
        ("decrypt -k k -c x --json sealed", 1, "authentication"),
        ("decrypt -k k --json -o out /dev/null", 1, "truncated"),
        ("decrypt -k plain --json sealed", 1, "format"),
        ("decrypt -k k --json missing", 1, "io"),
        ("encrypt -k k --json -o plain plain", 2, "misuse"),
        ("encrypt --json", 2, "misuse"),
    ] {
        let said = room.run(line);
        let error = json(said.err.as_bytes());
        assert_eq!((said.status, &error["kind"]), (Some(status), &kind.into()), "{line}");
        assert!(error["error"].as_str().unwrap().len() > 10 && said.out.is_empty(), "{line}");
    }
}

#[test]
fn a_terminal() {
    let room = Room::new();
    room.write("plain", b"data");
    let script = |line: &str| {
        // Without a name of the terminal, as CI may run, nothing is drawn on it.
        let line = format!("TERM=xterm script -qec '{line}' /dev/null");
        String::from_utf8_lossy(&room.shell(&line).out).into_owned()
    };
    if !works("script", &["-qec".as_ref(), "true".as_ref(), "/dev/null".as_ref()]) {
        eprintln!("NOT TESTED: what a terminal gets; there is no program `script` here");
        return;
    }
    assert!(script("$SEALANE encrypt -k k plain").contains("refusing to print ciphertext to a terminal"));
    assert!(!script("$SEALANE encrypt -k k -o - plain").contains("terminal"));
    assert!(script("$SEALANE encrypt -k k -o sealed plain").is_empty());
    assert_eq!(script("$SEALANE decrypt -k k sealed"), "data");
    // A job that takes a while shows a bar, and takes it away. It still takes a while where the program starts late.
    let slowly = "(cat plain; for i in 1 2 3; do sleep 0.6; head -c 6000000 /dev/zero; done) | $SEALANE";
    let slow = script(&format!("{slowly} encrypt -k k -o sealed"));
    assert!(slow.contains("standard input"), "{slow:?}");
    let quiet = script(&format!("{slowly} encrypt -k k -q -o sealed"));
    assert!(quiet.is_empty(), "{quiet:?}");
}

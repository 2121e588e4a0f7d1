//! The other commands, and the format of the output.

#[cfg(unix)]
use crate::common::works;
use crate::common::{Sandbox, data};
use serde_json::Value;
#[cfg(unix)]
use std::fs::{self, Permissions};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(text)))
}

#[cfg(unix)]
#[test]
fn keygen_writes_keys() {
    let sandbox = Sandbox::new();
    let line = sandbox.run("keygen").text();
    assert!(line.starts_with(r#"{"kty":"oct","k":""#) && line.lines().count() == 1, "{line}");
    assert_ne!(line, sandbox.run("keygen --type aes-256 -o -").text());
    for (kind, len) in [("aes-256", 43), ("aes-128", 22)] {
        assert!(sandbox.run(&format!("keygen -t {kind} -o {kind}")).succeeded().is_empty());
        assert_eq!(json(&sandbox.read(kind))["k"].as_str().unwrap().len(), len);
        assert_eq!(fs::metadata(sandbox.path(kind)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let outcome = json(&sandbox.run("keygen --json -o new").succeeded());
    assert_eq!((&outcome["key"], &outcome["type"]), (&"new".into(), &"aes-256".into()));
}

#[cfg(unix)]
#[test]
fn keygen_never_overwrites() {
    let sandbox = Sandbox::new();
    sandbox.write("other", b"something else");
    sandbox.refuses("keygen -o k", 1, "k: the file exists, and a key file is never overwritten");
    sandbox.refuses("keygen -o other", 1, "never overwritten");
    std::os::unix::fs::symlink("nowhere", sandbox.path("dangling")).unwrap();
    sandbox.refuses("keygen -o dangling", 1, "dangling");
    sandbox.refuses("keygen -o missing/k", 1, "missing/k: no such file or folder");
    sandbox.refuses("keygen -o .", 1, "is a folder");
    sandbox.refuses("keygen --type des", 2, "invalid value 'des'");
}

#[cfg(unix)]
#[test]
fn warns_of_a_key_that_others_can_read() {
    let sandbox = Sandbox::new();
    let plain = |mode| fs::set_permissions(sandbox.path("k"), Permissions::from_mode(mode)).unwrap();
    for mode in [0o640, 0o604, 0o644] {
        plain(mode);
        let outcome = sandbox.pipe("encrypt -k k", b"data");
        outcome.failed(0, "warning: k: others can read this key; run 'chmod 600 k'");
        assert!(!outcome.out.is_empty());
        sandbox.pipe("encrypt -k k --quiet", b"data").succeeded();
        let outcome = sandbox.pipe("encrypt -k k --json", b"data");
        assert!(json(outcome.err.as_bytes())["warning"].is_string());
    }
    plain(0o400);
    sandbox.pipe("encrypt -k k", b"data").succeeded();
}

#[cfg(unix)]
#[test]
fn key_references() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", b"data");
    sandbox.shell("KEY=$(cat k) $SEALANE encrypt -k env:KEY -o sealed plain").succeeded();
    sandbox.shell("HOME=$PWD $SEALANE decrypt -k file:~/k -o again sealed").succeeded();
    assert_eq!(sandbox.read("again"), sandbox.read("plain"));
    sandbox.shell("cp k env:KEY; $SEALANE decrypt -k ./env:KEY -o third sealed").succeeded();
    sandbox.refuses(
        "decrypt -k env:NO_KEY -o x sealed",
        1,
        "env:NO_KEY: the environment variable is not set",
    );
    sandbox.refuses(
        "decrypt -k keyring:a/b -o x sealed",
        1,
        "keyring:a/b: this program has no access to the keyring",
    );
    sandbox.refuses("decrypt -k keyring:a -o x sealed", 2, "keyring:a: expected keyring:SERVICE/USER");
    sandbox.refuses("decrypt -k call:a:b -o x sealed", 2, "work in Python only");
    sandbox.shell("$SEALANE keygen -t age -o me > me.pub").succeeded();
    sandbox.shell("$SEALANE encrypt -R me.pub -o sealed.age plain").succeeded();
    sandbox.shell("ME=$(cat me) $SEALANE decrypt -i env:ME -o fourth sealed.age").succeeded();
    sandbox.refuses(
        "encrypt -k me.pub -o x plain",
        2,
        "sealane: me.pub: expected a symmetric key, found a public key",
    );
}

#[cfg(unix)]
#[test]
fn rejects_files_that_are_not_keys() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", b"data");
    sandbox.write("text", b"hello");
    sandbox.write("binary", &[0xff; 100]);
    sandbox.write("rsa", br#"{"kty":"RSA","n":"AQAB"}"#);
    sandbox.write("short", br#"{"kty":"oct","k":"AAAA"}"#);
    fs::set_permissions(sandbox.path("short"), Permissions::from_mode(0o600)).unwrap();
    for (key, status, words) in [
        ("missing", 1, "missing: no such file"),
        ("text", 1, "text: expected a key file"),
        ("binary", 1, "binary: expected a key file"),
        ("rsa", 1, "rsa: expected a JSON Web Key of type \"oct\""),
        ("plain", 1, "plain: expected a key file"),
        ("/dev/null", 1, "expected a key file"),
        ("/dev/zero", 1, "expected a key file"),
        (".", 1, "is a folder"),
        ("-", 1, "-: expected a key file"),
        ("short", 2, "short: the key must have 16 or 32 bytes, not 3"),
    ] {
        for line in ["encrypt -o out plain", "decrypt -o out plain", "verify plain", "cat --range : plain"] {
            sandbox.refuses(&format!("{line} -k {key}"), status, words);
        }
    }
}

#[cfg(unix)]
#[test]
fn cat_prints_a_range() {
    let sandbox = Sandbox::new();
    let plain = data(100_000);
    sandbox.write("plain", &plain);
    sandbox.run("encrypt -k k -c ctx -o sealed plain").succeeded();
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
        let out = sandbox.run(&format!("cat -k k -c ctx --range {range} sealed")).succeeded();
        assert!(out == expected, "{range}");
    }
    sandbox.refuses("cat -k k -c ctx --range 5:3 sealed", 2, "START 5 is larger than END 3");
    for bad in ["5", "a:b", "-1:3", "1:2:3", "0:18446744073709551616"] {
        sandbox.refuses(&format!("cat -k k -c ctx --range={bad} sealed"), 2, "for '--range <START:END>'");
    }
    sandbox.refuses("cat -k k -c ctx --range : -", 2, "expected a regular file");
    sandbox.refuses("cat -k k -c ctx --range : /dev/null", 2, "expected a regular file");
    sandbox.refuses("cat -k k -c other --range : sealed", 1, "authentication failed");
}

#[cfg(unix)]
#[test]
fn inspect_describes_a_file() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(40_000));
    sandbox.run("encrypt -k k -o sealed plain").succeeded();
    let text = sandbox.run("inspect sealed").text();
    for words in ["chunked-encryption@v1", "40000 bytes", "3 of up to 16384 bytes", "verified    no"] {
        assert!(text.contains(words), "{words:?} in {text}");
    }
    let outcome = json(&sandbox.run("inspect --json sealed").succeeded());
    assert_eq!(
        (&outcome["plaintext_bytes"], &outcome["chunks"], &outcome["verified"]),
        (&40000.into(), &3.into(), &false.into())
    );
    sandbox.write("tiny", b"tiny");
    sandbox.write("empty", b"");
    sandbox.refuses("inspect tiny", 1, "tiny: truncated");
    sandbox.refuses("inspect missing", 1, "missing: no such file");
    sandbox.refuses("inspect .", 1, "is a folder");
    for not_plain in ["empty", "/dev/null"] {
        let outcome = sandbox.run(&format!("inspect {not_plain}"));
        assert!(matches!(outcome.status, Some(1 | 2)) && outcome.err.lines().count() == 1, "{outcome:?}");
    }
}

#[test]
fn verify_reports_each_file() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(100_000));
    sandbox.run("encrypt -k k -o a plain").succeeded();
    sandbox.run("encrypt -k k -o b plain").succeeded();
    assert_eq!(
        sandbox.run("verify -k k a b").text(),
        "a: verified, 100000 bytes\nb: verified, 100000 bytes\n"
    );
    assert_eq!(sandbox.run("verify -k k --quiet a b").text(), "");
    let sealed = sandbox.read("a");
    assert!(sandbox.pipe("verify -k k -", &sealed).text().starts_with("standard input: verified"));
    let outcome = sandbox.run("verify -k k a plain b --json");
    assert_eq!((outcome.status, outcome.out.split(|&b| b == b'\n').count()), (Some(1), 3));
    assert_eq!(json(outcome.err.as_bytes())["kind"], "authentication");
    sandbox.refuses("verify -k k", 2, "required arguments were not provided: <FILE>");
}

#[test]
fn providers_lists_all_entries() {
    let sandbox = Sandbox::new();
    let table = sandbox.run("providers").text();
    assert_eq!(
        table.lines().next().unwrap().split_whitespace().collect::<Vec<_>>(),
        ["ALGORITHM", "PROVIDER", "VARIANT", "AVAILABLE"]
    );
    assert_eq!(table.lines().last(), Some("fips: off"));
    let listing = json(&sandbox.run("providers --json").succeeded());
    let entries = listing["variants"].as_array().unwrap();
    assert_eq!(entries.len() + 2, table.lines().count());
    assert_eq!((&listing["fips"]["enabled"], &listing["fips"]["module"]), (&false.into(), &Value::Null));
    assert!(listing["fips"]["refused"].as_array().unwrap().iter().any(|name| name == "Argon2id"));
    for entry in entries {
        let known = ["algorithm", "provider", "variant", "available", "reason", "chosen"];
        assert!(entry.as_object().unwrap().keys().all(|key| known.contains(&key.as_str())), "{entry}");
        assert_eq!(entry["available"] == true, entry["reason"] == "", "{entry}");
    }
    let one = sandbox.run("providers aes-256-gcm").text();
    let one = one.strip_suffix("fips: off\n").unwrap();
    assert!(one.lines().skip(1).all(|line| line.starts_with("aes-256-gcm ")), "{one}");
    assert_eq!(one.lines().filter(|line| line.ends_with("yes, chosen")).count(), 1, "{one}");
    // Short names are aligned with the head of the table too.
    let raw = sandbox.run("providers speck").text();
    let (raw, column) = (raw.strip_suffix("fips: off\n").unwrap(), raw.find("PROVIDER").unwrap());
    assert!(raw.lines().skip(1).all(|line| line[column..].starts_with("native ")), "{raw}");
    sandbox.refuses("providers rot13", 2, "unknown algorithm \"rot13\"; expected one of: aes-128-gcm, ");
}

#[test]
fn environment_variables_choose_or_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", b"data");
    let with = |name, value, line: &str| {
        sandbox.run_with(sandbox.sealane().env(name, value).args(line.split_whitespace()), b"")
    };
    let listing = with("SEALANE_PROVIDER", "rustcrypto", "providers aes-256-gcm").text();
    let chosen = listing.lines().find(|line| line.contains("chosen")).unwrap();
    assert!(chosen.contains(" rustcrypto "), "{listing}");
    let sealed = with("SEALANE_PROVIDER", "rustcrypto", "encrypt -k k plain").succeeded();
    assert_eq!(sandbox.pipe("decrypt -k k", &sealed).succeeded(), b"data");
    for line in ["providers", "encrypt -k k -o out plain"] {
        with("SEALANE_PROVIDER", "rnig", line).failed(2, "no provider is named \"rnig\"");
    }
    with("SEALANE_CPU", "avx512f", "providers").failed(2, "features can only be removed");
    let slow = with("SEALANE_CPU", "-aes", "providers aes-ctr").text();
    assert!(slow.lines().any(|line| line.contains("portable") && line.ends_with("yes, chosen")), "{slow}");
    // A build with the feature `aegis` has this provider, but it computes no AES-256-GCM.
    let built = sandbox.run("providers").text().contains(" aegis ");
    let refusal = if built { (1, "aegis has no aes-256-gcm") } else { (2, "no provider is named \"aegis\"") };
    with("SEALANE_PROVIDER", "aegis", "encrypt -k k -o out plain").failed(refusal.0, refusal.1);
    assert!(!sandbox.path("out").exists());
}

#[test]
fn completions_for_every_shell() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = sandbox.run(&format!("completions {shell}")).text();
        assert!(script.contains("sealane") && script.contains("encrypt"), "{shell}");
    }
    sandbox.refuses("completions cmd", 2, "possible values: bash");
}

#[test]
fn manual_pages_of_every_command() {
    let sandbox = Sandbox::new();
    sandbox.run("man pages/man1").succeeded();
    sandbox.run("man pages/man1").succeeded();
    let page = |name: &str| String::from_utf8(sandbox.read(format!("pages/man1/{name}.1"))).unwrap();
    assert!(page("sealane").contains("sealane\\-encrypt(1)"), "{}", page("sealane"));
    let encrypt = page("sealane-encrypt");
    for words in [".TH sealane-encrypt 1", "\\-\\-recursive", ".SH SYNOPSIS", "\\-\\-exclude\\-from"] {
        assert!(encrypt.contains(words), "{words}: {encrypt}");
    }
    assert!(page("sealane-keyring-rotate").contains(".SH NAME"));
    assert!(!sandbox.path("pages/man1/sealane-reference.1").exists());
    sandbox.refuses("man k", 1, "k: ");
}

#[test]
fn the_reference_has_every_command_and_option() {
    let sandbox = Sandbox::new();
    let page = sandbox.run("reference").text();
    let help = sandbox.run("--help").text();
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\nOptions:").next().unwrap();
    let names: Vec<_> = commands
        .lines()
        .filter_map(|line| {
            line.strip_prefix("  ").filter(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
        })
        .filter_map(|line| line.split([' ', ',']).next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 10 && !names.contains(&"reference"), "{names:?}");
    for name in names {
        assert!(page.contains(&format!("\n## sealane {name}\n")), "{name}");
        for option in sandbox.run(&format!("{name} --help")).text().split_whitespace() {
            let option = option.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            let is_option =
                option.starts_with("--") && option.len() > 4 && option != "--help" && !option.contains('=');
            assert!(!is_option || page.contains(option), "{name}: {option}");
        }
    }
}

#[test]
fn help_and_version() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run("--version").text(), format!("sealane {}\n", env!("CARGO_PKG_VERSION")));
    for line in ["--help", "-h", "help", "help encrypt", "cat --help"] {
        assert!(sandbox.run(line).text().contains("Usage: sealane"), "{line}");
    }
    let first = sandbox.run("");
    assert_eq!((first.status, first.out.as_slice()), (Some(2), &b""[..]));
    for words in ["sealane keygen -o", "sealane encrypt -k", "sealane decrypt -k", "'sealane --help'"] {
        assert!(first.err.contains(words), "{}", first.err);
    }
    sandbox.refuses("keyring", 2, "'sealane --help'");
    sandbox.refuses("frobnicate", 2, "unrecognized subcommand 'frobnicate'");
    sandbox.refuses("encrypt", 2, "not provided: <--key <KEYFILE>|--recipient <RECIPIENT>|--recipients-file <FILE>|--plugin <NAME>|--passphrase>; usage: ");
    sandbox.refuses("encrypt -k k --threads 0 k", 2, "--threads");
    sandbox.refuses("encrypt -k k --threads 1000000 k", 2, "--threads");
}

#[cfg(unix)]
#[test]
fn results_and_errors_as_json() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(1000));
    let outcome = json(&sandbox.run("encrypt -k k -o sealed --json plain").succeeded());
    assert_eq!(
        (&outcome["source"], &outcome["target"], &outcome["bytes"]),
        (&"plain".into(), &"sealed".into(), &1000.into())
    );
    assert!(outcome["seconds"].is_number());
    let unknown = r#"{"typeUrl":"other","value":"AAAA","keyMaterialType":"SYMMETRIC"}"#;
    let ring = format!(
        r#"{{"primaryKeyId":1,"key":[{{"keyData":{unknown},"status":"ENABLED","keyId":1,"outputPrefixType":"RAW"}}]}}"#
    );
    sandbox.write("ring", ring.as_bytes());
    // Standard output carries either data or results.
    assert!(sandbox.run("decrypt -k k --json sealed").succeeded() == data(1000));
    for (line, status, kind) in [
        ("decrypt -k k -c x --json sealed", 1, "authentication"),
        ("decrypt -k k --json -o out /dev/null", 1, "truncated"),
        ("decrypt -k plain --json sealed", 1, "format"),
        ("decrypt -k k --json missing", 1, "io"),
        ("decrypt -k ring --json sealed", 1, "format"),
        ("encrypt -k k --json -o plain plain", 2, "misuse"),
        ("encrypt --json", 2, "misuse"),
    ] {
        let outcome = sandbox.run(line);
        let error = json(outcome.err.as_bytes());
        assert_eq!((outcome.status, &error["kind"]), (Some(status), &kind.into()), "{line}");
        assert!(error["error"].as_str().unwrap().len() > 10 && outcome.out.is_empty(), "{line}");
    }
}

#[cfg(unix)]
#[test]
fn output_on_a_terminal() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", b"data");
    let script = |line: &str| {
        // Without TERM, for example in CI, no bar is drawn.
        let line = format!("TERM=xterm script -qec '{line}' /dev/null");
        String::from_utf8_lossy(&sandbox.shell(&line).out).into_owned()
    };
    if !works("script", &["-qec".as_ref(), "true".as_ref(), "/dev/null".as_ref()]) {
        eprintln!("NOT TESTED: output on a terminal; the program `script` is missing");
        return;
    }
    assert!(script("$SEALANE encrypt -k k plain").contains("refusing to print ciphertext to a terminal"));
    assert!(!script("$SEALANE encrypt -k k -o - plain").contains("terminal"));
    assert!(script("$SEALANE encrypt -k k -o sealed plain").is_empty());
    assert_eq!(script("$SEALANE decrypt -k k sealed"), "data");
    // A long job shows a bar and removes it. The pauses are long enough for a program that starts late.
    let slowly = "(cat plain; for i in 1 2 3; do sleep 0.6; head -c 6000000 /dev/zero; done) | $SEALANE";
    let slow = script(&format!("{slowly} encrypt -k k -o sealed"));
    assert!(slow.contains("standard input"), "{slow:?}");
    let quiet = script(&format!("{slowly} encrypt -k k -q -o sealed"));
    assert!(quiet.is_empty(), "{quiet:?}");
}

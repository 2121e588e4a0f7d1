//! The other commands, and the format of the output.

#[cfg(unix)]
use crate::common::works;
use crate::common::{Sandbox, data};
use crate::reference;
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
fn keygen_names_a_key_and_a_kid_selects_it() {
    let sandbox = Sandbox::new();
    let key = |kid: &str| sandbox.run(&format!("keygen --kid {kid}")).text();
    let (a, b) = (key("a"), key("b"));
    assert_eq!(json(a.as_bytes())["kid"], "a");
    let set = format!("{{\"keys\":[{a},{b}]}}");
    for (name, text) in [("set", &set), ("b", &b), ("plain", &a)] {
        sandbox.write(name, text.as_bytes());
        fs::set_permissions(sandbox.path(name), Permissions::from_mode(0o600)).unwrap();
    }
    sandbox.run("encrypt -k set --kid b -o sealed plain").succeeded();
    sandbox.run("decrypt -k b -o out sealed").succeeded();
    sandbox.run("decrypt -k set --kid b -o out2 sealed").succeeded();
    assert_eq!(sandbox.read("out"), sandbox.read("out2"));
    sandbox.refuses("decrypt -k set -o x sealed", 2, "select one by its kid: \"a\", \"b\"");
    sandbox.refuses("decrypt -k set --kid c -o x sealed", 2, "no key has the kid \"c\"");
    sandbox.refuses("keygen -t age --kid a -o x", 2, "--kid requires a symmetric key");
    sandbox.refuses("keygen --keyring --kid a -o x", 2, "cannot be used with");
}

#[test]
fn keygen_makes_keys_for_inventories() {
    let sandbox = Sandbox::new();
    let public = sandbox.run("keygen -t ed25519 -o sign").text();
    assert!(public.starts_with("ssh-ed25519 AAAA") && public.lines().count() == 1, "{public}");
    assert_eq!(sandbox.run("keygen -y sign").text(), public);
    sandbox.write("sign.pub", public.as_bytes());
    let signed = "--recursive -k k --inventory list --sign-key sign";
    fs::create_dir(sandbox.path("in")).unwrap();
    sandbox.write("in/one", b"1");
    sandbox.run(&format!("encrypt {signed} -o out in")).succeeded();
    sandbox.run("verify --recursive -k k --inventory list --signer sign.pub out").succeeded();
    let outcome = json(&sandbox.run("keygen --json -t ed25519 -o other").succeeded());
    assert_eq!(outcome["type"], "ed25519");
    assert!(outcome["public"].as_str().unwrap().starts_with("ssh-ed25519 ") && outcome["public"] != public);
    sandbox.refuses("keygen -t ed25519 -o sign", 1, "exists");
    let recipient = sandbox.run("keygen -t age -o id").text();
    sandbox.refuses(&format!("keygen -t ed25519 -r {} -o x", recipient.trim()), 2, "omit -r");
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
}

#[cfg(unix)]
#[test]
fn inspect_refuses_what_is_no_file() {
    let sandbox = Sandbox::new();
    sandbox.write("empty", b"");
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
    let outcome = sandbox.run("verify -k k a plain b --json");
    assert_eq!((outcome.status, outcome.out.split(|&b| b == b'\n').count()), (Some(1), 3));
    assert_eq!(json(outcome.err.as_bytes())["kind"], "authentication");
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
}

/// The shell is asked as its Tab key asks it.
#[cfg(unix)]
#[test]
fn completions_offer_references_algorithms_types_and_files() {
    let sandbox = Sandbox::new();
    sandbox.write("entry.jwk", b"");
    let script = sandbox.run("completions bash").text();
    let offered = |line: &str| {
        let ask = "COMP_WORDS=($1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }
            _sealane sealane \"${COMP_WORDS[-1]}\" \"${COMP_WORDS[-2]}\"; echo ${COMPREPLY[@]}";
        let done = sandbox.shell(&format!("bash -c '{}' - '{line}'", script.replace('\'', "'\\''") + ask));
        done.text().trim().to_owned()
    };
    assert_eq!(offered("sealane encrypt -k en"), "entry.jwk env:");
    assert_eq!(offered("sealane init --wrapping-key aw"), "aws-kms:");
    assert_eq!(offered("sealane decrypt --key aw"), "");
    assert_eq!(offered("sealane keygen -t ed"), "ed25519");
    assert_eq!(offered("sealane encrypt --format tink-4"), "tink-4kb");
    assert_eq!(offered("sealane providers aes-256-gcm-"), "aes-256-gcm-siv");
    let zsh = sandbox.run("completions zsh").text();
    assert!(zsh.contains(r#":KEYFILE:{_files; compadd -S "" -- env\:}' \"#), "{zsh}");
    let fish = sandbox.run("completions fish").text();
    assert!(
        fish.lines()
            .any(|line| line.contains(" init") && line.ends_with("-F -a 'env: aws-kms: vault: pkcs11:'"))
    );
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
}

#[test]
fn the_reference_has_every_command_and_option() {
    let sandbox = Sandbox::new();
    let page = reference::page(cli::program());
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
    assert!(names.len() > 10, "{names:?}");
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
    let first = sandbox.run("");
    assert_eq!((first.status, first.out.as_slice()), (Some(2), &b""[..]));
    for words in ["sealane keygen -o", "sealane encrypt -k", "sealane decrypt -k", "'sealane --help'"] {
        assert!(first.err.contains(words), "{}", first.err);
    }
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
    // A long job shows a bar and removes it. The pauses are long enough for a program that starts
    // late.
    let slowly = "(cat plain; for i in 1 2 3; do sleep 0.6; head -c 6000000 /dev/zero; done) | $SEALANE";
    let slow = script(&format!("{slowly} encrypt -k k -o sealed"));
    assert!(slow.contains("standard input"), "{slow:?}");
    let quiet = script(&format!("{slowly} encrypt -k k -q -o sealed"));
    assert!(quiet.is_empty(), "{quiet:?}");
}

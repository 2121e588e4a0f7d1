//! Vaults that other tools made: list, print, decrypt, verify, inspect, by their plaintext names.
#![cfg(unix)]

use crate::common::{Outcome, Sandbox, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use vectors::{Plain, Stored, VaultCase};

/// Writes the vault as it was stored to the folder `vault`, and its passphrase to the file `pass`.
pub(crate) fn unpack(sandbox: &Sandbox, case: &VaultCase) {
    let _ = fs::remove_dir_all(sandbox.path("vault"));
    fs::create_dir(sandbox.path("vault")).unwrap();
    for (path, stored) in &case.stored {
        let path = sandbox.path("vault").join(OsStr::from_bytes(path));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match stored {
            Stored::Folder => fs::create_dir_all(path).unwrap(),
            Stored::File(bytes) => fs::write(path, bytes).unwrap(),
            Stored::Link(text) => symlink(OsStr::from_bytes(text), path).unwrap(),
        }
    }
    sandbox.write("pass", case.password.as_bytes());
}

/// Runs words with the passphrase of the vault.
pub(crate) fn run(sandbox: &Sandbox, words: &str) -> Outcome {
    sandbox.shell(&format!("sealane {words} --passphrase-fd 3 3< pass"))
}

fn case(tool: &str, file: &str) -> VaultCase {
    let found = vectors::vaults(tool).into_iter().find(|case| case.file.ends_with(file));
    found.unwrap_or_else(|| panic!("vectors have no {file}"))
}

/// Checks that a folder has exactly what the tool read from a vault.
fn has_entries(folder: &Path, case: &VaultCase) {
    let mut found = 0;
    for (path, plain) in &case.entries {
        let path = folder.join(path);
        found += 1;
        match plain {
            Plain::Folder => assert!(path.is_dir(), "{}", path.display()),
            Plain::Link(text) => {
                assert_eq!(fs::read_link(&path).unwrap(), Path::new(text), "{}", path.display())
            }
            Plain::File { sha256, .. } => {
                assert_eq!(Sha256::digest(fs::read(&path).unwrap())[..], sha256[..], "{}", path.display());
            }
        }
    }
    let all = String::from_utf8(std::process::Command::new("find").arg(folder).output().unwrap().stdout);
    assert_eq!(all.unwrap().lines().count() - 1, found, "{}", case.file);
}

#[test]
fn every_tool_is_listed_printed_decrypted_and_verified() {
    for (tool, file, name) in [
        ("gocryptfs", "/gcm.json", "gocryptfs"),
        ("gocryptfs", "/plaintextnames.json", "gocryptfs"),
        ("cryptomator", "/v8-siv-gcm.json", "Cryptomator"),
        ("cryptomator", "/v7.json", "Cryptomator"),
    ] {
        let (sandbox, case) = (Sandbox::new(), case(tool, file));
        unpack(&sandbox, &case);
        let listed = run(&sandbox, "ls -R --json vault").text();
        let listed: BTreeMap<_, _> = listed
            .lines()
            .map(json)
            .map(|entry| (entry["path"].as_str().unwrap().to_owned(), entry))
            .collect();
        assert_eq!(listed.len(), case.entries.len(), "{file}");
        for (path, plain) in &case.entries {
            let entry = &listed[path];
            match plain {
                Plain::Folder => assert_eq!(entry["kind"], "folder"),
                Plain::Link(text) => assert_eq!(entry["target"], **text),
                Plain::File { size, .. } => assert_eq!(entry["bytes"], *size, "{path}"),
            }
        }
        let done = run(&sandbox, "decrypt --recursive -o out vault").text();
        assert!(done.contains(" 0 failed"), "{done}");
        has_entries(&sandbox.path("out"), &case);
        let files = case.entries.iter().filter(|(_, plain)| matches!(plain, Plain::File { .. })).count();
        let done = run(&sandbox, "verify --recursive vault").text();
        assert!(done.contains(&format!("{files} files verified")), "{done}");
        let one = run(&sandbox, "cat vault/sub/inner.bin vault/one.bin").succeeded();
        assert_eq!(one, [sandbox.read("out/sub/inner.bin"), sandbox.read("out/one.bin")].concat());
        assert_eq!(run(&sandbox, "cat --range 2:9 vault/sub/inner.bin").succeeded(), one[2..9]);
        // From inside the vault, a part of it, and one file.
        let part = sandbox.shell("cd vault && sealane ls sub --passphrase-fd 3 3< ../pass").text();
        assert!(part.lines().any(|line| line == "inner.bin"), "{part}");
        run(&sandbox, "decrypt --recursive -o part vault/sub/inner.bin").succeeded();
        assert!(sandbox.read("part") == sandbox.read("out/sub/inner.bin"));
        run(&sandbox, "decrypt -o single vault/sub/inner.bin").succeeded();
        assert!(sandbox.read("single") == sandbox.read("out/sub/inner.bin"));
        assert!(run(&sandbox, "decrypt vault/sub/inner.bin").succeeded() == sandbox.read("single"));
        let verified = run(&sandbox, "verify vault/sub/inner.bin").text();
        assert!(verified.starts_with("vault/sub/inner.bin: verified"), "{verified}");
        let words = "in another tool's vault, 'sealane cat --range' prints what verifies";
        run(&sandbox, "decrypt --salvage -o none vault/sub/inner.bin").failed(2, words);
        assert!(run(&sandbox, "verify vault").text().contains(&format!("{files} files verified")));
        let about = sandbox.run("inspect vault").text();
        assert!(about.starts_with(&format!("tool                {name}\n")), "{about}");
        assert_eq!(json(&sandbox.run("inspect --json vault").text())["tool"], name);
        let secret = ["EncryptedKey", "primaryMasterKey"].map(|field| about.contains(field));
        assert_eq!(secret, [false, false]);
    }
}

#[test]
fn rclone_by_its_configuration() {
    for (file, keys) in [
        ("/standard-base32.json", ""),
        ("/standard-base64.json", "filename_encoding = base64\n"),
        ("/off.json", "filename_encryption = off\n"),
    ] {
        let (sandbox, case) = (Sandbox::new(), case("rclone", file));
        unpack(&sandbox, &case);
        let [one, two] =
            ["password_obscured", "password2_obscured"].map(|key| case.fields[key].as_str().unwrap());
        let folder = sandbox.path("vault");
        let text = format!(
            "[secret]\ntype = crypt\nremote = {}\n{keys}password = {one}\npassword2 = {two}\n",
            folder.display()
        );
        sandbox.write("rclone.conf", text.as_bytes());
        let run = |words: &str| {
            sandbox.shell(&format!("RCLONE_CONFIG=rclone.conf sealane {words} --rclone secret"))
        };
        run("decrypt --recursive -o out .").succeeded();
        has_entries(&sandbox.path("out"), &case);
        assert!(run("ls .").text().lines().any(|line| line == "sub/"));
        assert!(run("cat sub/inner.bin").succeeded() == sandbox.read("out/sub/inner.bin"));
        assert!(run("decrypt sub/inner.bin").succeeded() == sandbox.read("out/sub/inner.bin"));
        assert!(run("verify .").text().contains(" 0 failed"));
        for line in ["ls vault", "cat vault/sub", "verify vault", "decrypt -o none vault"] {
            run(line).failed(
                1,
                "no such file or folder; check the name; with --rclone, paths begin inside secret",
            );
        }
        // Without a configuration there, rclone looks in the home folder.
        sandbox.write(".rclone.conf", text.as_bytes());
        let elsewhere = "RCLONE_CONFIG= XDG_CONFIG_HOME=$PWD/none HOME=$PWD";
        sandbox.shell(&format!("{elsewhere} sealane ls --rclone secret .")).succeeded();
        sandbox.write("vault/.DS_Store", b"?");
        foreign_name_is_reported(run("ls ."), "sub/");
        foreign_name_is_reported(run("verify --recursive ."), "1 failed");
        run("ls none").failed(1, "none: no such file");
        run("ls -k k .").failed(2, "--rclone");
        sandbox.shell("RCLONE_CONFIG=rclone.conf sealane ls --rclone other .").failed(1, "other");
        sandbox.shell("RCLONE_CONFIG=none sealane ls --rclone secret .").failed(1, "none: no such file");
        let long = format!("{text}{}", "\n".repeat(1 << 20));
        for (content, expected) in [
            (long.as_bytes(), "rclone.conf: expected at most 1 MiB, found a longer file"),
            (b"[secret]\n# \xff\n", "rclone.conf: expected a text in UTF-8, found other bytes"),
        ] {
            sandbox.write("rclone.conf", content);
            run("ls .").failed(1, expected);
        }
        sandbox.write("rclone.conf", text.replace(&folder.display().to_string(), "s3:bucket").as_bytes());
        run("ls .").failed(2, "expected a remote that encrypts a local folder, found s3:bucket");
    }
}

#[test]
fn mistakes_name_the_path_and_leave_nothing() {
    let (sandbox, case) = (Sandbox::new(), case("gocryptfs", "/gcm.json"));
    unpack(&sandbox, &case);
    for (words, status, text) in [
        ("ls vault/none", 1, "vault/none: no such file"),
        ("cat vault/none", 1, "vault/none: no such file"),
        ("cat vault/.", 1, "vault/.: is a folder"),
        ("cat vault/sub/../one.bin", 2, "vault/sub/../one.bin: expected names and no '..'"),
        ("ls .", 2, ".: expected a path in a vault, found none of gocryptfs.conf"),
        ("ls none/below", 1, "none/below: no such file"),
        (
            "ls -k k vault",
            2,
            "vault: expected a path in a vault, found none of .sealane; a vault of another tool",
        ),
        ("decrypt --recursive -o out vault/none", 1, "vault/none: no such file"),
        ("decrypt --recursive -o vault/out vault", 2, "vault/out: the output folder is inside"),
        ("decrypt --recursive --suffix .x -o out vault", 2, "vault: --manifest, --suffix"),
        ("decrypt --recursive --manifest m -o out vault", 2, "vault: --manifest, --suffix"),
        ("verify --recursive vault vault/sub", 2, "expected one vault, found several"),
    ] {
        let before = sandbox.content();
        run(&sandbox, words).failed(status, text);
        assert!(sandbox.content() == before, "{words}: the folder has changed");
    }
    sandbox.write("pass", b"wrong");
    run(&sandbox, "ls vault").failed(1, "vault: wrong passphrase");
    // With a key, a path means an encrypted file.
    sandbox.run("encrypt -k k -o vault/plain k").succeeded();
    assert!(sandbox.run("cat -k k vault/plain").succeeded() == sandbox.read("k"));
}

/// A vault without the file that holds its keys is named as that, by every command.
#[test]
fn a_vault_that_has_lost_its_keys() {
    for (tool, file, lost) in [
        ("gocryptfs", "/gcm.json", &["gocryptfs.conf"][..]),
        ("cryptomator", "/v8-siv-gcm.json", &["vault.cryptomator", "masterkey.cryptomator"]),
        ("cryptomator", "/v7.json", &["masterkey.cryptomator"]),
    ] {
        let (sandbox, case) = (Sandbox::new(), case(tool, file));
        unpack(&sandbox, &case);
        for name in lost {
            fs::remove_file(sandbox.path("vault").join(name)).unwrap();
        }
        let stored = case.stored.iter().find(|(path, stored)| {
            matches!(stored, Stored::File(_)) && path.contains(&b'/') && !path.ends_with(b".diriv")
        });
        let stored = String::from_utf8(stored.unwrap().0.clone()).unwrap();
        let before = sandbox.content();
        for words in [
            "decrypt --recursive -o out vault",
            "decrypt --recursive --suffix .x -o out vault",
            "verify --recursive vault",
            "ls vault",
            "cat vault/sub/inner.bin",
            &format!("cat vault/{stored}"),
        ] {
            let outcome = run(&sandbox, words);
            assert_eq!((outcome.status, outcome.err.lines().count()), (Some(1), 1), "{words} {outcome:?}");
            assert!(outcome.err.starts_with("sealane: vault: "), "{words} {outcome:?}");
            assert!(lost.iter().all(|name| outcome.err.contains(name)), "{words} {outcome:?}");
            assert!(sandbox.content() == before, "{words}: the folder has changed");
        }
        sandbox.run("inspect vault").failed(1, "missing, and with");
        let inside = sandbox.shell("cd vault && sealane ls sub --passphrase-fd 3 3< ../pass");
        inside.failed(1, "missing, and with");
    }
    // Names alone are no vault.
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("in/d/AB/notes")).unwrap();
    fs::create_dir_all(sandbox.path("in/gocryptfs.diriv")).unwrap();
    sandbox.write("in/d/AB/notes/x.c9r", b"x");
    sandbox.write("in/x.c9r", b"x");
    sandbox.write("pass", b"x");
    let outcome = run(&sandbox, "verify --recursive in");
    assert!(outcome.err.contains("in: expected an age file"), "{outcome:?}");
}

/// Without any file, no folder is left for them.
#[test]
fn an_output_that_received_nothing_is_not_left() {
    let (sandbox, case) = (Sandbox::new(), case("gocryptfs", "/gcm.json"));
    sandbox.run("keygen -o k2").succeeded();
    fs::create_dir_all(sandbox.path("in/folder")).unwrap();
    sandbox.write("in/folder/1", b"x");
    sandbox.write("in/2", b"x");
    sandbox.run("encrypt --recursive -k k -o sealed in").succeeded();
    for (line, preserve) in [("decrypt", ""), ("decrypt", " --preserve"), ("encrypt", "")] {
        let from = if line == "decrypt" { "sealed" } else { "none" };
        fs::create_dir_all(sandbox.path("none/folder")).unwrap();
        symlink("nowhere", sandbox.path("none/folder/dangling")).unwrap_or_default();
        let line = format!("{line} --recursive{preserve} -k k2 -o out {from}");
        assert_eq!(sandbox.run(&line).status, Some(1), "{line}");
        assert!(!sandbox.path("out").exists(), "{line}");
        // One that was there stays.
        fs::create_dir(sandbox.path("out")).unwrap();
        assert_eq!(sandbox.run(&line).status, Some(1), "{line}");
        assert!(sandbox.path("out").is_dir(), "{line}");
        fs::remove_dir_all(sandbox.path("out")).unwrap();
    }
    // Folders without files are a result.
    fs::create_dir_all(sandbox.path("empty/folder")).unwrap();
    sandbox.run("decrypt --recursive -k k -o out empty").succeeded();
    assert!(sandbox.path("out/folder").is_dir());
    fs::remove_dir_all(sandbox.path("out")).unwrap();

    unpack(&sandbox, &case);
    for (path, stored) in &case.stored {
        let place = sandbox.path("vault").join(OsStr::from_bytes(path));
        match stored {
            Stored::Link(_) => fs::remove_file(place).unwrap(),
            Stored::File(_) if !path.ends_with(b".conf") && !path.ends_with(b".diriv") => {
                fs::write(place, b"not encrypted by gocryptfs").unwrap();
            }
            _ => {}
        }
    }
    assert_eq!(run(&sandbox, "decrypt --recursive -o out vault").status, Some(1));
    assert!(!sandbox.path("out").exists());
}

/// A fault is a line for its file, and the others are complete.
#[test]
fn faults_are_listed_and_the_other_files_are_written() {
    let (sandbox, case) = (Sandbox::new(), case("gocryptfs", "/plaintextnames.json"));
    unpack(&sandbox, &case);
    let mut bytes = sandbox.read("vault/chunk.bin");
    *bytes.last_mut().unwrap() ^= 1;
    sandbox.write("vault/chunk.bin", &bytes);
    sandbox.write("vault/a\u{1b}[31m", &bytes);
    for words in ["verify --recursive vault", "decrypt --recursive -o out vault"] {
        let found = run(&sandbox, words);
        assert_eq!(found.status, Some(1));
        let lines: Vec<_> = found.err.lines().collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines.iter().any(|line| line.starts_with("sealane: vault/chunk.bin: ")), "{lines:?}");
        assert!(lines.iter().any(|line| line.starts_with("sealane: vault/a\\u001b[31m: ")), "{lines:?}");
        assert!(String::from_utf8_lossy(&found.out).contains("2 failed"));
    }
    assert!(!sandbox.path("out/chunk.bin").exists() && sandbox.path("out/sub/inner.bin").exists());
    let listed = run(&sandbox, "ls -l vault").text();
    assert!(listed.contains("a\\u001b[31m") && !listed.contains('\u{1b}'));
    let json = run(&sandbox, "ls --json vault").text();
    assert!(json.lines().all(|line| crate::common::json(line)["path"].is_string()));
}

/// A pipe in a vault is named by every command, and none waits for its writer: not in the place of
/// a file, and not in that of a file which another one names.
#[test]
fn pipes_in_the_place_of_files() {
    let (sandbox, case) = (Sandbox::new(), case("gocryptfs", "/plaintextnames.json"));
    unpack(&sandbox, &case);
    sandbox.shell("mkfifo vault/pipe").succeeded();
    let _socket = std::os::unix::net::UnixListener::bind(sandbox.path("vault/socket")).unwrap();
    for words in
        ["ls vault", "ls -l -R vault", "verify --recursive vault", "decrypt --recursive -o out vault"]
    {
        let found = run(&sandbox, words);
        assert_eq!(found.status, Some(1), "{words}");
        for name in ["pipe", "socket"] {
            let line = format!("vault/{name}: expected a file, a folder or a link, found a pipe");
            assert!(found.err.contains(&line), "{words}: {}", found.err);
        }
    }
    assert!(sandbox.path("out/sub/inner.bin").exists() && !sandbox.path("out/pipe").exists());
    run(&sandbox, "cat vault/pipe").failed(1, "vault/pipe: ");
    let refused = |line: &str, path: &str| {
        let text = format!("{path}: expected a regular file, found a pipe, a socket or a device");
        sandbox.shell(&format!("timeout 60 {line}")).failed(1, &text);
    };
    for place in ["vault/pipe", "vault/socket", "/dev/zero"] {
        refused(&format!("env RCLONE_CONFIG={place} sealane ls --rclone x ."), place);
    }
    sandbox.folder("data");
    sandbox.write("data/file", b"x");
    sandbox.shell("sealane keygen -t ed25519 -o sign >sign.pub").succeeded();
    sandbox.run("encrypt --recursive -k k --inventory list --sign-key sign -o sealed data").succeeded();
    for file in ["list.sig", "list"] {
        sandbox.shell(&format!("mv {file} kept; mkfifo {file}")).succeeded();
        refused("sealane verify --recursive -k k --inventory list --signer sign.pub sealed", file);
        sandbox.shell(&format!("mv kept {file}")).succeeded();
    }
    sandbox.shell("sealane sign -k sign data/file && rm data/file.sig && mkfifo data/file.sig").succeeded();
    refused("sealane verify-signature --signer sign.pub data/file", "data/file.sig");
    sandbox.folder("described");
    sandbox.shell("mkfifo described/.sealane").succeeded();
    let line = "timeout 60 sealane decrypt --recursive -k k -o plain described";
    sandbox.shell(line).failed(1, "described/.sealane: expected the description of a folder");
}

/// Checks that a file of another program is reported, beside what the command prints.
fn foreign_name_is_reported(found: Outcome, text: &str) {
    let lines: Vec<_> = found.err.lines().collect();
    assert_eq!((found.status, lines.len()), (Some(1), 1), "{lines:?}");
    let why = ["the name does not decrypt", "expected a name that ends with the suffix"];
    assert!(why.iter().any(|why| lines[0].contains(&format!("/.DS_Store: {why}"))), "{lines:?}");
    assert!(String::from_utf8_lossy(&found.out).contains(text), "{found:?}");
}

#[test]
fn one_name_that_does_not_decrypt() {
    for file in ["/gcm.json", "/xchacha.json"] {
        let (sandbox, case) = (Sandbox::new(), case("gocryptfs", file));
        unpack(&sandbox, &case);
        sandbox.write("vault/.DS_Store", b"?");
        foreign_name_is_reported(run(&sandbox, "ls -R vault"), "inner.bin");
        foreign_name_is_reported(run(&sandbox, "verify --recursive vault"), "1 failed");
        foreign_name_is_reported(run(&sandbox, "decrypt --recursive -o out vault"), "1 failed");
        has_entries(&sandbox.path("out"), &case);
        assert_eq!(run(&sandbox, "cat vault/sub/inner.bin").succeeded(), sandbox.read("out/sub/inner.bin"));
        run(&sandbox, "ls vault/sub").succeeded();
    }
    // In a folder of ours.
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("data/sub")).unwrap();
    sandbox.write("data/sub/page", b"a page");
    sandbox.run("init -k k --encrypt-names own").succeeded();
    sandbox.run("encrypt -k k -o own data").succeeded();
    sandbox.write("own/.DS_Store", b"?");
    let listed = sandbox.run("ls -R -k k own");
    assert!(listed.status == Some(1) && listed.err.contains("own/.DS_Store: "), "{listed:?}");
    assert_eq!(String::from_utf8_lossy(&listed.out), "sub/\nsub/page\n");
    let done = sandbox.run("decrypt -k k -o restored own");
    assert!(done.status == Some(1) && done.err.contains("own/.DS_Store: "), "{done:?}");
    assert_eq!(sandbox.read("restored/sub/page"), b"a page");
}

//! `sealane keygen --keyring`, `sealane keyring` and `sealane rotate`.

use crate::common::{Sandbox, data};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Returns a sandbox with the keyring `ring`, and the identifier of its key.
fn sandbox() -> (Sandbox, u64) {
    let sandbox = Sandbox::new();
    sandbox.run("keygen --keyring -o ring").succeeded();
    let id = listed(&sandbox, "ring")[0]["id"].as_u64().unwrap();
    (sandbox, id)
}

/// Returns the lines of `sealane keyring list`.
#[track_caller]
fn listed(sandbox: &Sandbox, arguments: &str) -> Vec<Value> {
    let text = sandbox.run(&format!("keyring list --json {arguments}")).text();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn states(sandbox: &Sandbox, arguments: &str) -> Vec<(String, bool)> {
    let key = |key: &Value| (key["state"].as_str().unwrap().to_owned(), key["primary"] == true);
    listed(sandbox, arguments).iter().map(key).collect()
}

/// Returns the identifier of the key that a change prints.
#[track_caller]
fn changed(sandbox: &Sandbox, line: &str) -> u64 {
    let printed: Value = serde_json::from_str(&sandbox.run(line).text()).unwrap();
    printed["id"].as_u64().unwrap()
}

#[test]
fn keys_are_added_promoted_disabled_and_destroyed() {
    let (sandbox, first) = sandbox();
    let text = sandbox.run("keyring list ring").text();
    assert_eq!(text, format!("{first:>10}  enabled    aes-256-gcm         tink     primary\n"));
    sandbox.write("plain", b"hello");
    sandbox.run("encrypt -k ring -o old plain").succeeded();

    let second = changed(&sandbox, "keyring rotate --json ring");
    let third = changed(&sandbox, "keyring add --json -t xaes-256-gcm --prefix raw ring");
    let both = |text: &str, primary| (text.to_owned(), primary);
    let all = [both("enabled", false), both("enabled", true), both("enabled", false)];
    assert_eq!(states(&sandbox, "ring"), all);
    sandbox.run("encrypt -k ring -o new plain").succeeded();
    for file in ["old", "new"] {
        assert_eq!(sandbox.run(&format!("decrypt -k ring {file}")).text(), "hello");
    }
    sandbox.run(&format!("keyring disable -q ring {first}")).succeeded();
    sandbox.refuses("decrypt -k ring -o x old", 1, "authentication failed");
    sandbox.run(&format!("keyring enable -q ring {first}")).succeeded();
    sandbox.run(&format!("keyring promote -q ring {first}")).succeeded();
    sandbox.run(&format!("keyring destroy -q ring {third}")).succeeded();
    let all = [both("enabled", true), both("enabled", false), both("destroyed", false)];
    assert_eq!(states(&sandbox, "ring"), all);
    assert_eq!(listed(&sandbox, "ring")[2]["type"], Value::Null);

    sandbox.refuses(&format!("keyring disable ring {first}"), 1, "promote another key first");
    sandbox.refuses(&format!("keyring enable ring {third}"), 1, "destroyed");
    assert_ne!(second, first);
    sandbox.refuses(&format!("keyring delete ring {first}"), 1, "promote another key first");
    sandbox.run(&format!("keyring delete -q ring {third}")).succeeded();
    assert_eq!(listed(&sandbox, "ring").len(), 2);
}

#[test]
fn a_plain_key_becomes_a_key_of_a_ring() {
    let (sandbox, _) = sandbox();
    sandbox.write("plain", b"hello");
    sandbox.run("encrypt -k k -o file plain").succeeded();
    sandbox.refuses("decrypt -k ring -o x file", 1, "authentication failed");
    changed(&sandbox, "keyring add --json --prefix raw --from k ring");
    assert_eq!(sandbox.run("decrypt -k ring file").text(), "hello");
}

#[test]
fn every_type_has_a_keyring() {
    let sandbox = Sandbox::new();
    let types = ["aes-128-gcm-siv", "xchacha20-poly1305", "aes-256-siv", "tink-1mb"];
    for name in types {
        let text = sandbox.run(&format!("keygen --json --keyring={name} -o {name}")).text();
        let printed: Value = serde_json::from_str(&text).unwrap();
        let found = &listed(&sandbox, name)[0];
        assert_eq!((&printed["type"], &printed["primary"]), (&found["type"], &found["id"]));
        assert_eq!(found["type"], name);
    }
    let printed: Value = serde_json::from_str(&sandbox.run("keygen --keyring").text()).unwrap();
    assert_eq!(printed["key"][0]["outputPrefixType"], "TINK");
}

#[cfg(unix)]
#[test]
fn the_protection_of_the_file_stays() {
    use std::os::unix::fs::PermissionsExt;
    let (sandbox, _) = sandbox();
    sandbox.shell("$SEALANE keygen --keyring -p --passphrase-fd 3 -o locked 3<<x\nwords\nx\n").succeeded();
    sandbox.shell("$SEALANE keyring rotate -q --passphrase-fd 3 locked 3<<x\nwords\nx\n").succeeded();
    let text = sandbox.shell("$SEALANE keyring list --passphrase-fd 3 locked 3<<x\nwords\nx\n").text();
    assert_eq!(text.lines().count(), 2);
    sandbox.shell("$SEALANE keyring list --passphrase-fd 3 locked 3<<x\nother\nx\n").failed(1, "passphrase");
    assert!(sandbox.read("locked").starts_with(b"-----BEGIN AGE"));

    for name in ["one", "two"] {
        let public = sandbox.run(&format!("keygen -t age -o {name}")).succeeded();
        sandbox.write(format!("{name}.pub"), &public);
    }
    let public = String::from_utf8(sandbox.read("one.pub")).unwrap();
    sandbox.run(&format!("keygen --keyring -r {public} -o shared")).succeeded();
    sandbox.refuses("keyring rotate shared", 2, "give an identity");
    sandbox.refuses("keyring rotate -i one shared", 2, "all recipients again");
    sandbox.refuses("keyring rotate -i two -R two.pub shared", 1, "no matching key");
    sandbox.refuses("keyring rotate -R two.pub ring", 2, "encrypted for recipients");
    sandbox.run("keyring rotate -q -i one -R one.pub -R two.pub shared").succeeded();
    for identity in ["one", "two"] {
        assert_eq!(listed(&sandbox, &format!("-i {identity} shared")).len(), 2);
    }
    for file in ["ring", "locked", "shared"] {
        assert_eq!(sandbox.path(file).metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

/// Two commands that change a keyring at once would lose a key.
#[test]
fn a_locked_keyring_is_not_changed() {
    let (sandbox, _) = sandbox();
    let file = locked(&sandbox);
    sandbox.run("keyring rotate ring").failed(2, "another command is changing this keyring");
    assert_eq!(listed(&sandbox, "ring").len(), 1);
    drop(file);
    sandbox.run("keyring rotate -q ring").succeeded();
}

#[cfg(unix)]
fn locked(sandbox: &Sandbox) -> fs::File {
    let file = fs::File::open(sandbox.path("ring")).unwrap();
    file.lock().unwrap();
    file
}

#[cfg(windows)]
fn locked(sandbox: &Sandbox) -> fs::File {
    use std::os::windows::fs::OpenOptionsExt;
    let mut options = fs::File::options();
    options.write(true).create(true).truncate(true).share_mode(0).custom_flags(0x0400_0000);
    options.open(sandbox.path(".ring.lock")).unwrap()
}

/// Encrypts `tree/old`, `tree/a/old` and, after a rotation, `tree/new`.
fn tree(sandbox: &Sandbox) {
    for folder in ["tree", "tree/a", "plain"] {
        sandbox.folder(folder);
    }
    for (name, len) in [("old", 3_000_000), ("a/old", 17), ("new", 20_000)] {
        sandbox.write("plain/x", &data(len));
        if name == "new" {
            sandbox.run("keyring rotate -q ring").succeeded();
        }
        sandbox.run(&format!("encrypt -k ring -c ctx -o tree/{name} plain/x")).succeeded();
    }
}

#[test]
fn only_files_under_retired_keys_are_encrypted_again() {
    let (sandbox, first) = sandbox();
    tree(&sandbox);
    let before = sandbox.read("tree/new");
    let inode = |name: &str| inode(&sandbox.path(name));
    let unchanged = inode("tree/new");
    sandbox.write("tree/foreign", b"not encrypted, or with another key, and longer than a header of a file");
    let outcome = sandbox.run("rotate -k ring -c ctx tree");
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.contains("tree/foreign: authentication failed"), "{outcome:?}");
    let text = String::from_utf8(outcome.out).unwrap();
    assert_eq!(text, "2 files encrypted again, 1 file already under the primary key, 1 failed\n");
    fs::remove_file(sandbox.path("tree/foreign")).unwrap();
    assert_eq!(sandbox.read("tree/new"), before);
    assert_eq!(inode("tree/new"), unchanged);
    sandbox.run(&format!("keyring disable -q ring {first}")).succeeded();
    for (name, len) in [("old", 3_000_000), ("a/old", 17), ("new", 20_000)] {
        sandbox.run(&format!("decrypt -k ring -c ctx -o back tree/{name}")).succeeded();
        assert!(sandbox.read("back") == data(len), "{name}");
    }
    let all = sandbox.content();
    let text = sandbox.run("rotate -k ring -c ctx tree").text();
    assert_eq!(text, "0 files encrypted again, 3 files already under the primary key, 0 failed\n");
    assert!(sandbox.content() == all);
}

#[test]
fn rotation_reports_each_file_as_json() {
    let (sandbox, _) = sandbox();
    tree(&sandbox);
    let text = sandbox.run("rotate --json -k ring -c ctx tree/old tree/new").text();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["source"], &lines[0]["skipped"]), (&"tree/new".into(), &true.into()));
    assert_eq!((&lines[1]["source"], &lines[1]["target"]), (&"tree/old".into(), &"tree/old".into()));
    assert_eq!(lines[2], serde_json::json!({"rotated": 1, "current": 1, "failed": 0}));
    assert!(sandbox.run("rotate -q -k ring -c ctx tree").text().is_empty());
}

#[test]
fn a_damaged_file_stays_as_it_is() {
    let (sandbox, _) = sandbox();
    tree(&sandbox);
    let mut damaged = sandbox.read("tree/old");
    damaged[1_000_000] ^= 1;
    sandbox.write("tree/old", &damaged);
    let outcome = sandbox.run("rotate -k ring -c ctx tree");
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.contains("tree/old"), "{outcome:?}");
    assert!(sandbox.read("tree/old") == damaged);
    assert_eq!(fs::read_dir(sandbox.path("tree")).unwrap().count(), 3);
}

/// Tink files do not commit to their key, so the last segment tells.
#[test]
fn files_of_tink_are_rotated() {
    let sandbox = Sandbox::new();
    sandbox.run("keygen --keyring=tink-4kb -o ring").succeeded();
    tree(&sandbox);
    let text = sandbox.run("rotate -k ring -c ctx tree").text();
    assert_eq!(text, "2 files encrypted again, 1 file already under the primary key, 0 failed\n");
    sandbox.run("verify -q --recursive -k ring -c ctx tree").succeeded();
}

#[cfg(unix)]
fn inode(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    path.metadata().unwrap().ino()
}

#[cfg(not(unix))]
fn inode(_: &Path) -> u64 {
    0
}

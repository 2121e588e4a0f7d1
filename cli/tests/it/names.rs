//! Folders with encrypted names: `--encrypt-names`.
#![cfg(unix)]

use crate::common::{Sandbox, data, signal};
use crate::folders::{documents, listing, summary, tree};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// Returns a folder with the key `k`, the key of names `n`, and the tree `in`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run("keygen -t aes-256-siv -o n").succeeded();
    tree(&sandbox);
    sandbox
}

/// Returns the paths of all files, folders and links below a folder.
fn paths(sandbox: &Sandbox, top: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![sandbox.path(top)];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.symlink_metadata().unwrap().is_dir() {
                waiting.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the encrypted path of a file, which a dry run prints.
fn encrypted(sandbox: &Sandbox, key: &str, source: &str) -> PathBuf {
    let line = format!("encrypt --recursive --preserve --dry-run --json --suffix .s {key} -o vault in");
    let shown = documents(&sandbox.run(&line).succeeded());
    let found = shown.iter().find(|document| document["source"] == source);
    sandbox.path(found.unwrap_or_else(|| panic!("{source} in {shown:?}"))["target"].as_str().unwrap())
}

#[test]
fn one_file_beside_encrypted_names() {
    let sandbox = sandbox();
    sandbox.run("encrypt --recursive --preserve --encrypt-names n -k k -o vault in").succeeded();
    let before = paths(&sandbox, "vault");
    for target in ["vault", "vault/plain", "vault/plain.sealed"] {
        let line = format!("encrypt -k k -o {target} in/plain");
        sandbox.run(&line).failed(2, "the names in this folder are encrypted");
    }
    assert_eq!(paths(&sandbox, "vault"), before);
    // One of the names, and other folders.
    let name = fs::read_dir(sandbox.path("vault")).unwrap().map(|entry| entry.unwrap());
    let file = name.filter(|entry| entry.path().is_file()).map(|entry| entry.path()).next().unwrap();
    sandbox.run(&format!("encrypt -k k -o {} in/plain", file.display())).succeeded();
    fs::create_dir(sandbox.path("empty")).unwrap();
    for target in ["empty", "empty/other", "beside"] {
        sandbox.run(&format!("encrypt -k k -o {target} in/plain")).succeeded();
    }
}

#[test]
fn a_restored_tree_is_the_same() {
    let sandbox = sandbox();
    sandbox.run("keygen -t age -o id").succeeded();
    let recipient = sandbox.run("keygen -y id").text();
    for (at, (with, decrypt)) in
        [("-k k", "-k k"), (&*format!("-r {}", recipient.trim()), "-i id")].into_iter().enumerate()
    {
        let options = "--recursive --preserve --suffix .s --encrypt-names n";
        let line = format!("encrypt {options} --manifest m{at} {with} -o vault{at} in");
        let text = sandbox.run(&line).text();
        assert_eq!(text, "8 files encrypted, 20039 bytes, 3 links, 0 failed\n");
        // No name and no path of a link is left.
        let known =
            ["plain", "run", "secret", "deep", "shut", "empty", "link", "dangling", "CASE", "nowhere", "sub"];
        for path in paths(&sandbox, &format!("vault{at}")) {
            let found = path.symlink_metadata().unwrap();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let name = if found.is_dir() { &name } else { name.strip_suffix(".s").unwrap() };
            let target = fs::read_link(&path).map_or(String::new(), |text| text.to_str().unwrap().to_owned());
            for text in [name, &target] {
                let encoded = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'v').contains(&byte);
                assert!(text.bytes().all(encoded) && !known.contains(&text), "{text}");
            }
        }
        // The paths are the same in every run, so nothing is left to do.
        let again = sandbox.run(&line).text();
        assert_eq!(again, "0 files encrypted, 0 bytes, 8 unchanged, 3 links, 0 failed\n");
        let verified = sandbox.run(&format!("verify {options} {decrypt} vault{at}")).text();
        assert!(verified.ends_with("8 files verified, 20039 bytes, 0 failed\n"), "{verified}");
        // Without the key of the names, content is still verified.
        let content = format!("verify --recursive --preserve --suffix .s {decrypt} vault{at}");
        assert!(sandbox.run(&content).text().ends_with("8 files verified, 20039 bytes, 0 failed\n"));
        sandbox.run(&format!("decrypt {options} {decrypt} -o back{at} vault{at}")).succeeded();
        assert_eq!(listing(&sandbox.path(format!("back{at}"))), listing(&sandbox.path("in")));
    }
}

// claim: names-refused, names-hidden
#[test]
fn a_name_that_does_not_decrypt_writes_nothing() {
    let sandbox = sandbox();
    sandbox.run("encrypt --recursive --preserve --encrypt-names n -k k -o vault in").succeeded();
    sandbox.run("keygen -t aes-256-siv -o other").succeeded();
    let outcome = sandbox.run("decrypt --recursive --preserve --encrypt-names other -k k -o back vault");
    assert_eq!(outcome.status, Some(1));
    // Two files, two links and three folders at the top.
    assert_eq!(outcome.err.matches("the name does not decrypt").count(), 7, "{outcome:?}");
    for name in ["plain", "empty", "folder-link"] {
        assert!(!outcome.err.contains(name), "{outcome:?}");
    }
    assert!(!sandbox.path("back").exists());
    // A renamed file, a foreign file and a moved folder do not stop the others.
    let sandbox = self::sandbox();
    sandbox.run("encrypt --recursive --preserve --suffix .s --encrypt-names n -k k -o vault in").succeeded();
    let [plain, secret] =
        ["in/plain", "in/sub/secret"].map(|source| encrypted(&sandbox, "-k k --encrypt-names n", source));
    fs::rename(&plain, secret.with_file_name(plain.file_name().unwrap())).unwrap();
    sandbox.write("vault/foreign.s", b"foreign");
    sandbox.write("vault/foreign", b"foreign");
    let outcome =
        sandbox.run("decrypt --recursive --preserve --suffix .s --encrypt-names n -k k --json -o back vault");
    assert_eq!(outcome.status, Some(1));
    let kinds: Vec<_> = documents(outcome.err.as_bytes()).iter().map(|one| one["kind"].clone()).collect();
    assert_eq!(kinds, ["format", "authentication", "authentication"], "{outcome:?}");
    assert!(!sandbox.path("back/plain").exists() && sandbox.path("back/run").exists());
    let outcome = sandbox.run("verify --recursive --preserve --suffix .s --encrypt-names n -k k vault");
    assert_eq!((outcome.status, outcome.err.lines().count()), (Some(1), 3), "{outcome:?}");
}

#[test]
fn names_that_are_too_long_are_reported() {
    let sandbox = sandbox();
    sandbox.write("in".to_owned() + "/" + &"x".repeat(140), b"long");
    sandbox.write("in".to_owned() + "/" + &"y".repeat(139), b"fits");
    let line = "encrypt --recursive --preserve --suffix .sealed --encrypt-names n -k k -o vault in";
    let outcome = sandbox.run(line);
    outcome.failed(1, "expected a name of at most 139 bytes");
    assert!(outcome.err.contains("found 140") && outcome.err.contains("in/xxx"), "{outcome:?}");
    assert!(String::from_utf8_lossy(&outcome.out).starts_with("9 files encrypted"), "{outcome:?}");
    // An excluded path is no problem.
    sandbox.run(&format!("{line} --delete")).failed(1, "found 140");
    sandbox.run(&format!("{line} --delete --exclude xxx*")).succeeded();
}

#[test]
fn patterns_apply_to_the_names_before_encryption() {
    let sandbox = sandbox();
    let options = "--recursive --preserve --suffix .s --encrypt-names n -k k";
    sandbox.run(&format!("encrypt {options} --exclude secret --exclude /shut/ -o vault in")).succeeded();
    assert!(!encrypted(&sandbox, "-k k --encrypt-names n", "in/sub/secret").exists());
    // A part of the tree, by its name.
    let text = sandbox.run(&format!("decrypt {options} --exclude /* --exclude !/sub -o part vault")).text();
    assert!(text.starts_with("4 files decrypted") && text.contains("5 excluded"), "{text}");
    assert!(sandbox.path("part/sub/deep/x").exists() && !sandbox.path("part/plain").exists());
    let verified = sandbox.run(&format!("verify {options} --exclude sub --exclude run vault")).text();
    assert!(verified.contains("1 file verified"), "{verified}");
}

#[test]
fn removal_is_decided_by_the_decrypted_name() {
    for with in ["-k k", "-k k --manifest m"] {
        let sandbox = sandbox();
        let line = format!(
            "encrypt --recursive --preserve --delete --json --suffix .s {with} --encrypt-names n -o vault in"
        );
        assert_eq!(summary(&sandbox.run(&line).succeeded())["removed"], 0);
        let before = paths(&sandbox, "vault");
        sandbox.write("vault/foreign.s", b"not encrypted");
        sandbox.folder("vault/strange");
        fs::remove_file(sandbox.path("in/run")).unwrap();
        fs::remove_dir_all(sandbox.path("in/sub/deep")).unwrap();
        let outcome = sandbox.run(&line);
        assert_eq!(outcome.status, Some(0));
        for name in ["vault/foreign.s", "vault/strange"] {
            let said = format!("{name}: its name does not decrypt with the key of the names, so it stays");
            assert!(outcome.err.contains(&said), "{outcome:?}");
            assert!(sandbox.path(name).exists());
        }
        let mut removed: Vec<_> = documents(&outcome.out)
            .iter()
            .filter(|document| document["removed"] == true)
            .map(|document| document["source"].as_str().unwrap().to_owned())
            .collect();
        removed.sort();
        assert_eq!(removed, ["run", "sub/deep/x"]);
        // Two files, and the folder that became empty.
        assert_eq!(paths(&sandbox, "vault").len(), before.len() - 3 + 2);
    }
}

/// Nobody without the key of the names can encrypt the path in a link.
#[test]
fn the_key_of_names_proves_who_wrote_a_link() {
    let sandbox = sandbox();
    let options = "--recursive --preserve --suffix .s -k k --encrypt-names n";
    let line = format!("encrypt {options} --delete -o vault in");
    let link = sandbox.path("in/latest");
    for becomes in [None, Some("in/latest/x")] {
        symlink("plain", &link).unwrap();
        sandbox.run(&line).succeeded();
        let stored = encrypted(&sandbox, "-k k --encrypt-names n", "in/latest");
        assert!(stored.is_symlink());
        fs::remove_file(&link).unwrap();
        if let Some(file) = becomes {
            sandbox.folder("in/latest");
            sandbox.write(file, b"x");
        }
        assert_eq!(sandbox.run(&line).err, "");
        assert!(stored.symlink_metadata().is_err());
    }
    sandbox.run(&format!("decrypt {options} -o back vault")).succeeded();
    assert_eq!(sandbox.read("back/latest/x"), b"x");
}

#[test]
fn a_rotation_moves_every_file_to_the_new_names() {
    for with in ["-k k", "-k k --manifest m"] {
        let sandbox = Sandbox::new();
        tree(&sandbox);
        sandbox.run("keygen --keyring=aes-256-siv -o n").succeeded();
        let options = "--recursive --preserve --suffix .s --encrypt-names n";
        let line = format!("encrypt {options} {with} -o vault in");
        sandbox.run(&line).succeeded();
        let before = paths(&sandbox, "vault");
        let old = sandbox.run("keyring list --json n").text();
        let old = serde_json::from_str::<serde_json::Value>(old.lines().next().unwrap()).unwrap();
        let id = old["id"].as_u64().or(old["primary"].as_u64()).unwrap();
        sandbox.run("keyring rotate n").succeeded();
        // Without --delete, each file has two names, and neither is written.
        sandbox.run(&line).succeeded();
        let both = paths(&sandbox, "vault");
        assert_eq!(both.len(), 2 * before.len());
        let outcome = sandbox.run(&format!("decrypt {options} -k k -o back vault"));
        assert_eq!((outcome.status, outcome.err.matches("stands for the same name").count()), (Some(1), 22));
        assert!(!sandbox.path("back").exists());
        // With --delete, the old names are gone, folders that were empty too.
        sandbox.run(&format!("{line} --delete")).succeeded();
        let after = paths(&sandbox, "vault");
        assert_eq!(after.len(), before.len());
        assert!(before.iter().all(|path| !after.contains(path)));
        sandbox.run(&format!("keyring disable n {id}")).succeeded();
        sandbox.run(&format!("decrypt {options} -k k -o back vault")).succeeded();
        assert_eq!(listing(&sandbox.path("back")), listing(&sandbox.path("in")));
        sandbox.run(&format!("verify {options} -k k vault")).succeeded();
    }
}

#[test]
fn an_inventory_needs_no_key_of_names() {
    if project::programs::missing(&["ssh-keygen"]) {
        return;
    }
    let sandbox = sandbox();
    sandbox.shell("ssh-keygen -q -t ed25519 -N '' -f sign").succeeded();
    let options = "--recursive --preserve --suffix .s -k k --inventory list";
    sandbox.run(&format!("encrypt {options} --encrypt-names n --sign-key sign -o vault in")).succeeded();
    let verify = format!("verify {options} --signer sign.pub vault");
    for names in ["", " --encrypt-names n"] {
        sandbox.run(&format!("{verify}{names}")).succeeded();
    }
    // The list has the names of the encrypted folder only.
    sandbox.run("decrypt -k k -o list.json list").succeeded();
    let listed = String::from_utf8(sandbox.read("list.json")).unwrap();
    assert!(!listed.contains("secret") && !listed.contains("dangling"), "{listed}");
    let [plain, secret] =
        ["in/plain", "in/sub/secret"].map(|source| encrypted(&sandbox, "-k k --encrypt-names n", source));
    fs::remove_file(&secret).unwrap();
    for names in ["", " --encrypt-names n", " --encrypt-names n --exclude plain"] {
        let outcome = sandbox.run(&format!("{verify}{names}"));
        assert_eq!((outcome.status, outcome.err.lines().count()), (Some(1), 1), "{outcome:?}");
        assert!(outcome.err.contains(": missing"), "{outcome:?}");
        // Only the key of the names tells the name.
        assert_eq!(outcome.err.contains("sub/secret, stored in"), !names.is_empty(), "{outcome:?}");
        assert_eq!(outcome.err.contains("secret"), !names.is_empty(), "{outcome:?}");
    }
    // A pattern leaves out a missing file by its name before encryption.
    sandbox.run(&format!("{verify} --encrypt-names n --exclude secret")).succeeded();
    fs::copy(&plain, &secret).unwrap();
    let outcome = sandbox.run(&verify);
    assert!(outcome.err.contains("exchanged"), "{outcome:?}");
}

#[test]
fn rewrapping_and_rotation_keep_the_names() {
    let sandbox = sandbox();
    sandbox.run("keygen --keyring -o ring").succeeded();
    for id in ["a", "b"] {
        sandbox.run(&format!("keygen -t age -o {id}")).succeeded();
    }
    let [a, b] = ["a", "b"].map(|id| sandbox.run(&format!("keygen -y {id}")).text().trim().to_owned());
    let options = "--recursive --encrypt-names n";
    for link in ["in/link", "in/folder-link", "in/sub/dangling"] {
        fs::remove_file(sandbox.path(link)).unwrap();
    }
    sandbox.run(&format!("encrypt {options} -k ring -o rotated in")).succeeded();
    sandbox.run(&format!("encrypt {options} -r {a} -o rewrapped in")).succeeded();
    let before = [paths(&sandbox, "rotated"), paths(&sandbox, "rewrapped")];
    sandbox.run("keyring rotate ring").succeeded();
    assert_eq!(sandbox.run("rotate -k ring rotated").status, Some(0));
    assert_eq!(sandbox.run(&format!("rewrap --recursive -i a -r {b} rewrapped")).status, Some(0));
    assert_eq!([paths(&sandbox, "rotated"), paths(&sandbox, "rewrapped")], before);
    sandbox.run(&format!("decrypt {options} -k ring -o 1 rotated")).succeeded();
    sandbox.run(&format!("decrypt {options} -i b -o 2 rewrapped")).succeeded();
    assert_eq!(sandbox.read("1/sub/secret"), sandbox.read("in/sub/secret"));
    assert_eq!(sandbox.read("2/sub/secret"), sandbox.read("in/sub/secret"));
}

#[test]
fn a_dry_run_shows_the_names() {
    let sandbox = sandbox();
    let options = "--recursive --preserve --suffix .s --encrypt-names n -k k";
    sandbox.run(&format!("encrypt {options} -o vault in")).succeeded();
    let before = sandbox.content();
    let text = sandbox.run(&format!("decrypt {options} --dry-run -o back vault")).text();
    for name in ["-> back/plain\n", "-> back/sub/secret\n", "-> back/link\n", r"-> back/sub/\xff\n."] {
        assert!(text.contains(name), "{name} in {text}");
    }
    assert!(sandbox.content() == before);
}

#[test]
fn keys_of_names_are_checked() {
    let sandbox = sandbox();
    sandbox.run("keygen -t age -o id").succeeded();
    let recipient = sandbox.run("keygen -y id").text();
    sandbox.run(&format!("keygen -t aes-256-siv -r {} -o locked", recipient.trim())).succeeded();
    sandbox.run(&format!("keygen -r {} -o key", recipient.trim())).succeeded();
    for link in ["in/link", "in/folder-link", "in/sub/dangling"] {
        fs::remove_file(sandbox.path(link)).unwrap();
    }
    sandbox
        .run("encrypt --recursive --suffix .s --encrypt-names locked -k key -i id -o vault in")
        .succeeded();
    // A result does not replace the key of the names.
    fs::create_dir(sandbox.path("back")).unwrap();
    fs::rename(sandbox.path("locked"), sandbox.path("back/plain")).unwrap();
    let line = "decrypt --recursive --suffix .s --encrypt-names back/plain -i id -k key -o back vault";
    let outcome = sandbox.run(line);
    outcome.failed(2, "back/plain: the output would replace back/plain");
    // A key in the environment.
    let mut command = sandbox.sealane();
    let line = "verify --recursive --suffix .s --encrypt-names env:NAMES -k k vault";
    sandbox.run("keygen -t aes-256-siv -o n2").succeeded();
    let key = String::from_utf8(sandbox.read("n2")).unwrap();
    let outcome = sandbox.run_with(command.args(line.split(' ')).env("NAMES", key.trim()), b"");
    assert!(outcome.err.contains("the name does not decrypt"), "{outcome:?}");
    assert!(!outcome.err.contains(key.split('"').nth(7).unwrap()), "the key is shown");
}

#[test]
fn paths_of_links_that_are_too_long() {
    let sandbox = Sandbox::new();
    sandbox.run("keygen -t aes-256-siv -o n").succeeded();
    sandbox.folder("in");
    sandbox.write("in/file", &data(10));
    symlink("x/".repeat(1300), sandbox.path("in/long")).unwrap();
    symlink("x/".repeat(1200), sandbox.path("in/fits")).unwrap();
    let outcome = sandbox.run("encrypt --recursive --preserve --encrypt-names n -k k -o vault in");
    outcome.failed(1, "in/long: expected a link with a path of at most 2543 bytes");
    assert!(outcome.err.contains("found 2600"), "{outcome:?}");
    sandbox.run("decrypt --recursive --preserve --encrypt-names n -k k -o back vault").succeeded();
    assert_eq!(fs::read_link(sandbox.path("back/fits")).unwrap(), PathBuf::from("x/".repeat(1200)));
}

#[test]
fn a_killed_rotation_is_healed_by_the_next_run() {
    let sandbox = sandbox();
    sandbox.run("keygen --keyring=aes-256-siv -o ring").succeeded();
    for number in 0..400 {
        sandbox.write(format!("in/{number}"), &data(number));
    }
    let options = "--recursive --preserve --suffix .s --encrypt-names ring";
    let line = format!("encrypt {options} --delete --manifest m -k k -o vault in");
    sandbox.run(&line).succeeded();
    let before = paths(&sandbox, "vault").len();
    sandbox.run("keyring rotate ring").succeeded();
    let mut child = sandbox.start(&line);
    // The new names at the top. Names appear and disappear meanwhile.
    let top = |sandbox: &Sandbox| fs::read_dir(sandbox.path("vault")).unwrap().count();
    let full = top(&sandbox);
    while top(&sandbox) < full + 50 && child.try_wait().unwrap().is_none() {}
    signal(&child, "KILL");
    child.wait().unwrap();
    sandbox.run(&line).succeeded();
    assert_eq!(paths(&sandbox, "vault").len(), before);
    sandbox.run(&format!("decrypt {options} -k k -o back vault")).succeeded();
    assert_eq!(listing(&sandbox.path("back")), listing(&sandbox.path("in")));
}

/// A second encryption that forgets the key of names, or the description, would store them plain.
#[test]
fn plaintext_names_beside_encrypted_ones() {
    let sandbox = sandbox();
    sandbox.run("encrypt --recursive --preserve --encrypt-names n -k k -o bare in").succeeded();
    sandbox.run("encrypt --recursive --preserve --encrypt-names n --suffix .x -k k -o named in").succeeded();
    sandbox.run("init -k k --encrypt-names --preserve described").succeeded();
    sandbox.run("encrypt --preserve -k k -o described in").succeeded();
    fs::remove_file(sandbox.path("described/.sealane")).unwrap();
    // As on another machine.
    fs::remove_file(sandbox.known_keys()).unwrap();
    for (suffix, vault) in [("", "bare"), ("--suffix .x", "named"), ("--suffix .sealed", "described")] {
        let before = paths(&sandbox, vault);
        let line = format!("encrypt --recursive --preserve {suffix} -k k -o {vault} in");
        sandbox.refuses(&line, 2, "give their key (--encrypt-names");
        assert_eq!(paths(&sandbox, vault), before);
    }
    sandbox.run("encrypt --recursive --preserve --encrypt-names n -k k -o bare in").succeeded();
    // Names of the input are as they were.
    fs::create_dir(sandbox.path("digests")).unwrap();
    sandbox.write("digests/0123456789abcdefghijklmnopqrstuv", b"data");
    for _ in 0..2 {
        sandbox.run("encrypt --recursive --preserve -k k -o stored digests").succeeded();
    }
    // An empty suffix is the way out. With a plain name in it, the folder is accepted.
    sandbox.run("encrypt --recursive --preserve --suffix= -k k -o bare in").succeeded();
    sandbox.run("encrypt --recursive --preserve -k k -o bare in").succeeded();
}

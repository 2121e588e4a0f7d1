//! Folders that describe themselves: `sealane init`.

use crate::common::Sandbox;
use std::fs;
use std::path::{Path, PathBuf};

/// A sandbox with the key `k`, an identity `me` with its recipient in `team`, another identity
/// `other`, and the folder `in`.
pub(crate) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["me", "other"] {
        sandbox.run(&format!("keygen -t age -o {name}")).succeeded();
    }
    let recipient = sandbox.run("keygen -y me").succeeded();
    sandbox.write("team", &recipient);
    fs::create_dir_all(sandbox.path("in/sub/deep")).unwrap();
    for (name, content) in [("letter.txt", "hello"), ("sub/deep/note", "note"), ("sub/empty", "")] {
        sandbox.write(Path::new("in").join(name), content.as_bytes());
    }
    sandbox
}

pub(crate) fn stored(sandbox: &Sandbox, folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![sandbox.path(folder)];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { waiting.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

pub(crate) fn same(sandbox: &Sandbox, a: &str, b: &str) {
    let content = |top: &str| {
        let files = stored(sandbox, top).into_iter();
        let below = |path: &PathBuf| path.strip_prefix(sandbox.path(top)).unwrap().to_owned();
        files.map(|path| (below(&path), fs::read(&path).unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(content(a), content(b));
}

#[test]
fn one_key_option_is_enough() {
    let sandbox = sandbox();
    for (at, (init, with)) in [
        ("-k k", "-k k"),
        ("-k k --encrypt-names", "-k k"),
        ("-R team --encrypt-names --preserve", "-i me"),
        ("-R team --suffix .x", "-i me"),
    ]
    .into_iter()
    .enumerate()
    {
        let (vault, out) = (format!("vault{at}"), format!("out{at}"));
        sandbox.run(&format!("init {init} {vault}")).succeeded();
        let text = sandbox.run(&format!("encrypt {with} -o {vault} in")).text();
        assert!(text.starts_with("3 files encrypted"), "{text}");
        let text = sandbox.run(&format!("verify {with} {vault}")).text();
        assert!(text.ends_with("3 files verified, 9 bytes, 0 failed\n"), "{text}");
        sandbox.run(&format!("decrypt {with} -o {out} {vault}")).succeeded();
        same(&sandbox, "in", &out);
        // The same again, with a manifest in its default place.
        sandbox.run(&format!("encrypt {with} --manifest -o {vault} in")).succeeded();
        let text = sandbox.run(&format!("encrypt {with} -o {vault} in --manifest")).text();
        assert!(text.starts_with("0 files encrypted, 0 bytes, 3 unchanged"), "{text}");
        // A source that is gone.
        sandbox.write("in/gone", b"gone");
        sandbox.run(&format!("encrypt {with} -o {vault} in")).succeeded();
        fs::remove_file(sandbox.path("in/gone")).unwrap();
        let text = sandbox.run(&format!("encrypt {with} --delete -o {vault} in")).text();
        assert!(text.contains("1 removed"), "{text}");
        // Rotation changes every file and no plaintext.
        let before: Vec<_> = stored(&sandbox, &vault).iter().map(|path| fs::read(path).unwrap()).collect();
        let text = sandbox.run(&format!("rotate {with} {vault}")).text();
        assert!(text.starts_with("3 files encrypted again"), "{text}");
        let after = stored(&sandbox, &vault);
        assert!(after.iter().zip(&before).all(|(path, before)| fs::read(path).unwrap() != *before));
        fs::remove_dir_all(sandbox.path(&out)).unwrap();
        sandbox.run(&format!("decrypt {with} -o {out} {vault}")).succeeded();
        same(&sandbox, "in", &out);
    }
}

#[test]
fn parts_are_named_by_their_plaintext_names() {
    let sandbox = sandbox();
    sandbox.run("init -k k vault").succeeded();
    // The option took the folder for its file.
    sandbox.refuses(
        "encrypt -k k -o vault --manifest in",
        2,
        "--manifest took it: write IN before --manifest",
    );
    sandbox.run("encrypt -k k -o vault in").succeeded();
    sandbox.run("decrypt -k k -o letter vault/letter.txt").succeeded();
    assert_eq!(sandbox.read("letter"), b"hello");
    sandbox.run("decrypt -k k -o part vault/sub").succeeded();
    assert_eq!(sandbox.read("part/deep/note"), b"note");
    assert!(sandbox.run("verify -k k vault/sub").text().contains("2 files verified"));
    sandbox.refuses("verify -k k vault/none", 1, "vault/none: no such file");
}

#[test]
fn a_changed_option_or_another_key_writes_nothing() {
    let sandbox = sandbox();
    sandbox.run("keygen -o k2").succeeded();
    sandbox.run("init -k k --encrypt-names vault").succeeded();
    sandbox.run("encrypt -k k -o vault in").succeeded();
    sandbox.refuses("decrypt -k k2 -o out vault", 1, "the key does not open this folder");
    sandbox.refuses("decrypt -i me -o out vault", 2, "give this key");
    sandbox.refuses("decrypt -o out vault", 2, "vault/.sealane: expected a key; give the key with -k");
    sandbox.refuses("init -k k vault", 2, "has a description already");
    sandbox.refuses("init -k k in", 2, "expected a new or an empty folder");
    sandbox.refuses("init new", 2, "required");
    for (line, words) in [
        (
            "decrypt --suffix .x -k k -o out vault",
            "--suffix '.x' contradicts vault/.sealane: its suffix is '.sealed'",
        ),
        ("decrypt --encrypt-names k -k k -o out vault", "--encrypt-names contradicts vault/.sealane"),
        ("verify --preserve -k k vault", "--preserve contradicts vault/.sealane"),
        ("encrypt -c x -k k -o vault in", "-c contradicts vault/.sealane"),
        ("encrypt -R team -o vault in", "-R contradicts vault/.sealane"),
        ("encrypt -k k -o vault/sub in", "the output is inside a folder that describes itself"),
        ("decrypt -k k -o out vault in", "processed alone"),
        ("rotate -c x -k k vault", "-c contradicts"),
        ("rewrap -k k -R team -o x vault", "-o contradicts"),
        ("decrypt -k k -o vault vault", "the output is in an encrypted folder that describes itself"),
        ("decrypt -k k -o vault/out vault", "the output is in an encrypted folder that describes itself"),
        ("init -k k vault/inner", "has a description already"),
    ] {
        sandbox.refuses(line, 2, words);
    }
    let text = String::from_utf8(sandbox.read("vault/.sealane")).unwrap();
    for (from, to, words) in [
        ("\"names\": true", "\"names\": false", "description was changed"),
        (".sealed", "", "description was changed"),
        ("\"version\": 1", "\"version\": 9", "found version 9; use a newer sealane"),
        ("{", "", "expected the description of a folder"),
        ("\"mac\"", "\"more\": 1, \"mac\"", "expected the description of a folder"),
    ] {
        sandbox.write("vault/.sealane", text.replacen(from, to, 1).as_bytes());
        for line in [
            "decrypt -k k -o out vault",
            "verify -k k vault",
            "encrypt -k k -o vault in",
            "rotate -k k vault",
        ] {
            sandbox.refuses(line, 1, words);
        }
    }
    sandbox.write("vault/.sealane", text.as_bytes());
    sandbox.write("vault/.sealane.sync-conflict", text.as_bytes());
    sandbox.refuses("decrypt -k k -o out vault", 1, "found a second description");
    fs::remove_file(sandbox.path("vault/.sealane.sync-conflict")).unwrap();
    sandbox.run("decrypt -k k -o out vault").succeeded();
    // Another folder with the same recipients takes the place of a known one.
    for vault in ["first", "second"] {
        sandbox.run(&format!("init -R team {vault}")).succeeded();
    }
    sandbox.run("encrypt -i me -o first in").succeeded();
    sandbox.write("first/.sealane", &sandbox.read("second/.sealane"));
    sandbox.refuses("encrypt -i me -o first in", 1, "it was replaced since this user first opened it");
}

#[test]
fn forgotten_options_of_folders_without_a_description() {
    let sandbox = sandbox();
    sandbox.run("keygen -t aes-256-siv -o n").succeeded();
    sandbox.run("encrypt --recursive --suffix .sealed -k k -o plain in").succeeded();
    sandbox.run("encrypt --recursive --suffix .sealed --encrypt-names n -k k -o named in").succeeded();
    sandbox.run("encrypt --recursive --encrypt-names n -k k -o bare in").succeeded();
    for (line, words) in [
        ("decrypt --recursive -k k -o out plain", "all names in this folder end with \".sealed\""),
        ("decrypt --recursive -k k -o out named", "--suffix .sealed"),
        (
            "decrypt --recursive -k k -o out plain",
            "if 'sealane init' made the folder, restore its lost file .sealane",
        ),
        ("decrypt --recursive --encrypt-names n -k k -o out named", "--suffix .sealed"),
        ("decrypt --recursive --suffix .sealed -k k -o out named", "give their key (--encrypt-names"),
        ("decrypt --recursive -k k -o out bare", "give their key (--encrypt-names"),
        ("decrypt --suffix .sealed -k k -o out plain", "--suffix requires --recursive"),
        ("encrypt --delete -k k -o x in/letter.txt", "--delete requires --recursive"),
        ("encrypt --recursive -k k --manifest -o x in", "--manifest requires a FILE"),
    ] {
        sandbox.refuses(line, 2, words);
    }
    let at_first_try = "if 'sealane init' made the folder, restore its lost file .sealane";
    for name in ["plain", "named", "bare"] {
        for line in ["decrypt -k k -o out", "verify -k k", "inspect"] {
            sandbox.refuses(&format!("{line} {name}"), 1, at_first_try);
        }
    }
    sandbox.refuses("ls -k k bare", 2, at_first_try);
    assert!(!sandbox.run("verify -k k in").err.contains(".sealane"));
    sandbox.write("in.inventory", b"a list in its default place");
    sandbox.refuses("verify -k k in", 1, at_first_try);
    // Wanted all the same.
    sandbox
        .run_with(
            sandbox.sealane().args([
                "decrypt",
                "--recursive",
                "--suffix",
                "",
                "-k",
                "k",
                "-o",
                "kept",
                "plain",
            ]),
            b"",
        )
        .succeeded();
    assert!(sandbox.path("kept/letter.txt.sealed").exists());
    sandbox.run("decrypt --recursive --suffix .sealed --encrypt-names n -k k -o out named").succeeded();
    same(&sandbox, "in", "out");
}

#[cfg(unix)]
#[test]
fn a_forgotten_preserve_is_a_failure_that_names_it() {
    let sandbox = sandbox();
    std::os::unix::fs::symlink("letter.txt", sandbox.path("in/link")).unwrap();
    sandbox.run("encrypt --recursive --preserve --suffix .sealed -k k -o vault in").succeeded();
    let outcome = sandbox.run("decrypt --recursive --suffix .sealed -k k -o out vault");
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.contains("--preserve"), "{}", outcome.err);
    sandbox.run("init --preserve -k k described").succeeded();
    sandbox.run("encrypt -k k -o described in").succeeded();
    sandbox.run("rotate -k k described").succeeded();
    sandbox.run("decrypt -k k -o back described").succeeded();
    assert_eq!(fs::read_link(sandbox.path("back/link")).unwrap(), Path::new("letter.txt"));
    let time = |name: &str| sandbox.path(name).metadata().unwrap().modified().unwrap();
    assert_eq!(time("in/letter.txt"), time("back/letter.txt"));
}

#[test]
fn rewrapped_for_others() {
    let sandbox = sandbox();
    sandbox.run("init -k k --encrypt-names vault").succeeded();
    sandbox.run("encrypt -k k -o vault in").succeeded();
    let files: Vec<_> =
        stored(&sandbox, "vault").into_iter().filter(|path| !path.ends_with(".sealane")).collect();
    let content = || files.iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>();
    let before = content();
    let warned = |line: &str| {
        let outcome = sandbox.run(line);
        assert_eq!(outcome.status, Some(0), "{outcome:?}");
        assert!(outcome.err.contains("the keys of the folder are still the same"), "{outcome:?}");
    };
    warned("rewrap -k k -R team vault");
    sandbox.refuses("verify -k k vault", 2, "encrypted for recipients");
    sandbox.run("verify -i me vault").succeeded();
    sandbox.refuses("verify -i other vault", 1, "vault/.sealane");
    warned("rewrap -i me --wrapping-key k vault");
    sandbox.run("verify -k k vault").succeeded();
    assert_eq!(content(), before);
    sandbox.refuses("rewrap -i me --wrapping-key k in", 2, "for a folder that describes itself");
}

#[test]
fn inventories_have_a_default_place() {
    let sandbox = sandbox();
    sandbox.run("keygen -t ed25519 -o sign").succeeded();
    sandbox.write("sign.pub", &sandbox.run("keygen -y sign").succeeded());
    sandbox.run("init -k k --encrypt-names vault").succeeded();
    let text = sandbox.run("encrypt -k k --sign-key sign -o vault in").text();
    assert!(text.contains("3 files listed") && sandbox.path("vault.inventory").exists(), "{text}");
    let text = sandbox.run("verify -k k --signer sign.pub vault").text();
    assert!(text.contains("0 differences"), "{text}");
    let gone = stored(&sandbox, "vault").into_iter().find(|path| !path.ends_with(".sealane")).unwrap();
    fs::remove_file(gone).unwrap();
    let outcome = sandbox.run("verify -k k --signer sign.pub vault");
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    sandbox.refuses("encrypt -k k --sign-key sign --folder 00 -o vault in", 2, "--folder 00 contradicts");
    sandbox.refuses("encrypt --recursive -k k --sign-key sign -o x in", 2, "--sign-key requires --inventory");
    sandbox.refuses("verify --recursive -k k --signer sign.pub in", 2, "--signer requires --inventory");
}

/// With equal names, the plaintext would be replaced by files that are encrypted twice.
#[test]
fn a_swapped_source_is_refused() {
    let sandbox = sandbox();
    sandbox.run("init -k k --suffix= vault").succeeded();
    sandbox.run("encrypt -k k -o vault in").succeeded();
    for line in [
        "encrypt -k k -o in vault",
        "encrypt -k k --recursive -o in vault",
        "encrypt -k k --recursive --suffix= -o in vault/sub",
        "encrypt -R team --recursive -o in vault",
        "encrypt -k k -o in vault/letter.txt",
    ] {
        sandbox.refuses(line, 2, "the source is in an encrypted folder that describes itself");
    }
    sandbox.run("encrypt -k k -o sealed in/letter.txt").succeeded();
    sandbox.refuses("decrypt -k k -o vault/new sealed", 2, "the output is in an encrypted folder");
    // A folder above one is encrypted, the folder that describes itself too.
    fs::create_dir(sandbox.path("home")).unwrap();
    fs::rename(sandbox.path("vault"), sandbox.path("home/vault")).unwrap();
    sandbox.run("encrypt -k k --recursive --suffix .x -o copy home").succeeded();
}

#[test]
#[cfg(unix)]
fn one_plaintext_is_not_written_into_an_encrypted_folder() {
    let sandbox = sandbox();
    sandbox.run("init -k k vault").succeeded();
    sandbox.run("encrypt -k k -o vault in").succeeded();
    sandbox.run("encrypt -k k -o one in/letter.txt").succeeded();
    fs::write(sandbox.path("vault/old"), "old").unwrap();
    std::os::unix::fs::symlink("vault/old", sandbox.path("link")).unwrap();
    std::os::unix::fs::symlink("vault", sandbox.path("linked")).unwrap();
    for line in [
        "decrypt -k k -o vault one",
        "decrypt -k k -o vault/new one",
        "decrypt -k k -o linked/new one",
        "decrypt -k k -o link one",
        "decrypt -k k --salvage -o vault/new one",
        "decrypt -k k -o vault/new vault/letter.txt",
        "encrypt -k k -o link in/letter.txt",
    ] {
        sandbox.refuses(line, 2, "the output is in an encrypted folder that describes itself");
    }
    assert_eq!(sandbox.read("vault/old"), b"old");
    // A signature is neither.
    sandbox.run("keygen -t ed25519 -o sign").succeeded();
    sandbox.run("sign -k sign vault/old").succeeded();
}

#[test]
fn nothing_is_written_into_the_vault_of_another_tool() {
    let sandbox = sandbox();
    for mark in ["gocryptfs.conf", "vault.cryptomator", "masterkey.cryptomator"] {
        fs::create_dir_all(sandbox.path("foreign/deep")).unwrap();
        sandbox.write(Path::new("foreign").join(mark), b"{}");
        for line in [
            "encrypt -k k --recursive --suffix .x -o foreign in",
            "encrypt -k k --recursive --suffix .x -o foreign/deep in",
            "decrypt -k k --recursive --suffix= -o foreign in",
        ] {
            sandbox.refuses(line, 2, "vault of another tool, which sealane only reads");
        }
        fs::remove_dir_all(sandbox.path("foreign")).unwrap();
    }
}

#[test]
fn an_inventory_is_a_file() {
    let sandbox = sandbox();
    sandbox.run("keygen -t ed25519 -o sign").succeeded();
    let line = "encrypt --recursive -k k --inventory /dev/stdout --sign-key sign -o out in";
    sandbox.run(line).failed(1, "/dev/stdout: the inventory is an open descriptor");
    assert!(!Path::new("/dev/stdout.sig").exists());
    let line = "encrypt --recursive -k k --inventory list --sign-key sign -o out in";
    sandbox.run(line).succeeded();
    sandbox.run("keygen -y sign -o sign.pub").succeeded();
    let line = "verify --recursive -k k --inventory list --signer sign.pub --folder ABC out";
    sandbox.run(line).failed(2, "expected the identifier of a folder, which is 32 digits");
    // A new one would have another identifier, without a word.
    fs::remove_file(sandbox.path("list")).unwrap();
    let line = "encrypt --recursive -k k --inventory list --sign-key sign -o out in";
    sandbox.refuses(line, 1, "list.sig: the inventory of this signature is gone; restore it, or remove");
    fs::remove_file(sandbox.path("list.sig")).unwrap();
    sandbox.run(line).succeeded();
}

// claim: folder-description
#[test]
fn a_folder_that_lost_its_description_is_not_taken_for_another() {
    let sandbox = sandbox();
    for (init, with) in [("-k k", "-k k"), ("-R team", "-i me")] {
        sandbox.run(&format!("init {init} --encrypt-names vault")).succeeded();
        sandbox.run(&format!("encrypt {with} -o vault in")).succeeded();
        let before = stored(&sandbox, "vault");
        fs::remove_file(sandbox.path("vault/.sealane")).unwrap();
        // As if it had never had one: under a key of the attacker's choice, with plaintext names.
        for line in [
            "encrypt --recursive -k k -o vault in".to_owned(),
            format!("encrypt {with} -o vault in"),
            format!("verify {with} vault"),
            "decrypt --recursive -k k -o out vault".to_owned(),
        ] {
            let outcome = sandbox.run(&line);
            outcome.failed(
                1,
                "vault: expected the description .sealane, which this user has opened here before",
            );
            assert!(outcome.err.contains("remove line 1 of "), "{}", outcome.err);
        }
        let left = stored(&sandbox, "vault");
        assert!(before.iter().filter(|path| !path.ends_with(".sealane")).all(|path| left.contains(path)));
        assert!(!left.iter().any(|path| path.ends_with("letter.txt")));
        fs::remove_dir_all(sandbox.path("vault")).unwrap();
    }
    // The line is the way out.
    fs::remove_file(sandbox.known_keys()).unwrap();
    sandbox.run("encrypt --recursive -k k -o vault in").succeeded();
}

#[test]
fn paths_in_the_folder_are_plaintext_names() {
    let sandbox = sandbox();
    for (init, with) in [("-k k --encrypt-names", "-k k"), ("-R team --suffix .x", "-i me")] {
        sandbox.run(&format!("init {init} vault")).succeeded();
        sandbox.run(&format!("encrypt {with} -o vault in")).succeeded();
        assert_eq!(sandbox.run(&format!("ls {with} vault")).text(), "letter.txt\nsub/\n");
        assert_eq!(sandbox.run(&format!("ls {with} vault/sub/deep")).text(), "note\n");
        assert_eq!(sandbox.run(&format!("cat {with} vault/sub/deep/note")).text(), "note");
        sandbox.run(&format!("decrypt --recursive {with} -o part vault/sub")).succeeded();
        same(&sandbox, "in/sub", "part");
        sandbox.refuses(&format!("cat {with} vault/none"), 1, "no such file");
        for folder in ["vault", "part"] {
            fs::remove_dir_all(sandbox.path(folder)).unwrap();
        }
    }
}

#[test]
fn an_older_description_does_not_bring_retired_keys_back() {
    let sandbox = sandbox();
    sandbox.run("init -k k vault").succeeded();
    sandbox.run("encrypt -k k -o vault in").succeeded();
    let old = sandbox.read("vault/.sealane");
    sandbox.run("rotate -k k vault").succeeded();
    sandbox.write("vault/.sealane", &old);
    sandbox.refuses("encrypt -k k -o vault in", 1, "it was replaced since this user first opened it");
}

/// The public options of a folder need no key, and no secret or recipient is shown.
#[test]
fn a_folder_is_inspected_without_a_key() {
    let sandbox = sandbox();
    sandbox.run("init -k k --encrypt-names --suffix .x keyed").succeeded();
    sandbox.run("init --write-only -R team --suffix .age --preserve vault").succeeded();
    for (folder, expected) in [
        (
            "keyed",
            [
                "format      chunked",
                "suffix      .x\n",
                "names       encrypted\n",
                "recipients  0\n",
                "write-only  no\n",
            ],
        ),
        (
            "vault",
            [
                "format      age",
                "suffix      .age\n",
                "names       plain\n",
                "recipients  1\n",
                "write-only  yes\n",
            ],
        ),
    ] {
        let text = sandbox.run(&format!("inspect {folder}")).text();
        assert!(expected.iter().all(|words| text.contains(words)), "{text}");
        let json = sandbox.run(&format!("inspect --json {folder}")).text();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let description = sandbox.read(format!("{folder}/.sealane"));
        let description: serde_json::Value = serde_json::from_slice(&description).unwrap();
        assert!(text.contains(description["folder"].as_str().unwrap()), "{text}");
        for (name, own) in
            [("folder", "folder"), ("suffix", "suffix"), ("encrypt_names", "names"), ("preserve", "preserve")]
        {
            assert_eq!(json[name], description[own], "{name}");
        }
        assert_eq!(json["recipients"], description["recipients"].as_array().unwrap().len());
        assert_eq!((&json["write_only"], &json["verified"]), (&(folder == "vault").into(), &false.into()));
        for secret in description["recipients"].as_array().unwrap().iter().chain([&description["keyset"]]) {
            let secret = secret.as_str().unwrap();
            assert!(secret.is_empty() || !text.contains(secret), "{text}");
        }
    }
    let changed = String::from_utf8(sandbox.read("keyed/.sealane"))
        .unwrap()
        .replace("\"version\": 1", "\"version\": 3");
    sandbox.write("keyed/.sealane", changed.as_bytes());
    sandbox.refuses("inspect keyed", 1, "found version 3; use a newer sealane");
    sandbox.write("keyed/.sealane", b"{}");
    sandbox.refuses("inspect keyed", 1, "expected the description of a folder");
}

/// Who writes has no key; an identity reads, by every command.
// claim: folder-write-only, folder-description
#[test]
fn a_folder_that_its_writer_cannot_read() {
    let sandbox = sandbox();
    sandbox.write("signer", &sandbox.run("keygen -t ed25519 -o sign").succeeded());
    sandbox.run("keygen -t ed25519 -o other-sign").succeeded();
    for (line, words) in [
        (
            "init --write-only -R team --encrypt-names vault",
            "encrypted names need a key that the writer holds",
        ),
        ("init --write-only vault", "required"),
        ("init --write-only -k k vault", "cannot be used with"),
        ("init --write-only -p vault", "cannot be used with"),
        ("init -R team --sign-key sign vault", "--write-only"),
    ] {
        sandbox.refuses(line, 2, words);
    }
    let text = sandbox.run("init --write-only -R team --suffix .age --preserve vault").text();
    assert!(text.contains("with the description key-sha256:"), "{text}");
    let encrypt = "encrypt --manifest --delete -o vault in";
    assert!(sandbox.run(encrypt).text().starts_with("3 files encrypted, 9 bytes"));
    assert!(sandbox.run(encrypt).text().starts_with("0 files encrypted, 0 bytes, 3 unchanged"));
    fs::remove_file(sandbox.path("in/sub/empty")).unwrap();
    sandbox.write("in/letter.txt", b"hello again");
    let text = sandbox.run(encrypt).text();
    assert!(text.starts_with("1 file encrypted, 11 bytes, 1 unchanged, 1 removed"), "{text}");
    // Any program for age reads a file.
    assert_eq!(sandbox.run("decrypt -i me vault/letter.txt.age").succeeded(), b"hello again");
    let listed = sandbox.run("ls -R -l -i me vault").text();
    assert!(listed.lines().any(|line| line.contains(" 11 ") && line.ends_with("letter.txt")), "{listed}");
    // The names are not encrypted, so listing them needs no identity.
    assert_eq!(sandbox.run("ls vault").text(), "letter.txt\nsub/\n");
    assert_eq!(sandbox.run("cat -i me vault/sub/deep/note").succeeded(), b"note");
    assert!(sandbox.run("verify -i me vault").text().ends_with("2 files verified, 15 bytes, 0 failed\n"));
    sandbox.run("decrypt -i me -o out vault").succeeded();
    same(&sandbox, "in", "out");
    for (line, status, words) in [
        ("encrypt --delete -o vault in", 2, "--delete requires --manifest"),
        ("encrypt -R team -o vault in", 2, "-R contradicts vault/.sealane"),
        ("decrypt -o none vault", 2, "give an identity (-i) to read them"),
        ("cat vault/letter.txt", 2, "give an identity (-i) to read them"),
        ("verify vault", 2, "give an identity (-i) to read them"),
        ("decrypt -k k -o none vault", 2, "give an identity (-i)"),
        ("rewrap -i me -R team vault", 2, "there are no keys to change"),
        ("rotate -i me vault", 2, "there are no keys to change"),
        ("encrypt --sign-key other-sign -o vault in", 1, "found one without a signature"),
        ("verify -i me --signer signer vault", 1, "found one without a signature"),
    ] {
        sandbox.refuses(line, status, words);
    }
    let found = sandbox.run("verify -i other vault");
    found.failed(1, "vault: no matching key");
    assert!(found.err.contains("the same for all 2 files"), "{found:?}");
    // An attacker adds a recipient, or removes the description.
    let text = String::from_utf8(sandbox.read("vault/.sealane")).unwrap();
    let other = sandbox.run("keygen -y other").text();
    let mine = String::from_utf8(sandbox.read("team")).unwrap();
    sandbox.write("vault/.sealane", text.replace(mine.trim(), other.trim()).as_bytes());
    for line in [encrypt, "decrypt -i me -o none vault", "verify -i me vault", "ls -i me vault"] {
        sandbox.refuses(line, 1, "it was replaced since this user first opened it");
    }
    fs::remove_file(sandbox.path("vault/.sealane")).unwrap();
    sandbox.refuses(encrypt, 1, "vault");
    for (from, to, words) in [
        ("\"version\": 2", "\"version\": 1", "expected the description of a folder"),
        ("\"names\": false", "\"names\": true", "it was replaced since this user first opened it"),
    ] {
        sandbox.write("vault/.sealane", text.replace(from, to).as_bytes());
        sandbox.refuses(encrypt, 1, words);
    }
    sandbox.write("vault/.sealane", text.replace("\"version\": 2", "\"version\": 3").as_bytes());
    sandbox.refuses(encrypt, 1, "found version 3; use a newer sealane");

    // In place of a folder with a key, it would get what the key's owner writes.
    sandbox.run("init -k k keyed").succeeded();
    sandbox.run("init --write-only -R team theirs").succeeded();
    sandbox.write("keyed/.sealane", &sandbox.read("theirs/.sealane"));
    let found = sandbox.shell("SEALANE_KEY=k sealane encrypt -o keyed in");
    found.failed(1, "description was changed");
    assert_eq!(stored(&sandbox, "keyed").len(), 1);

    // With a signature, users who have never opened the folder find it too.
    sandbox.run("init --write-only -R team --sign-key sign signed").succeeded();
    sandbox.run("encrypt --sign-key sign -o signed in").succeeded();
    sandbox.run("verify -i me --signer signer signed").succeeded();
    sandbox.refuses("encrypt --sign-key other-sign -o signed in", 1, "made with another key");
    let text = String::from_utf8(sandbox.read("signed/.sealane")).unwrap();
    sandbox.write("signed/.sealane", text.replace(mine.trim(), other.trim()).as_bytes());
    for line in ["encrypt --sign-key sign -o signed in", "verify -i me --signer signer signed"] {
        let found = sandbox.shell(&format!("SEALANE_KNOWN_KEYS=$PWD/none sealane {line}"));
        found.failed(1, "does not match its signature");
    }
}

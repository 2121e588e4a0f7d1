//! Paths to files of folders that describe themselves.

use crate::described::{sandbox, stored};
use std::fs;
use std::path::PathBuf;

/// A file is also found by the path that it is stored under, which some messages name.
#[test]
fn a_file_is_named_by_either_path() {
    let sandbox = sandbox();
    for (init, with) in [("-k k", "-k k"), ("-k k --encrypt-names", "-k k"), ("-R team", "-i me")] {
        sandbox.run(&format!("init {init} vault")).succeeded();
        sandbox.run(&format!("encrypt {with} -o vault in")).succeeded();
        // Of the two files in subfolders, the other is empty.
        let below = |path: &PathBuf| path.parent() != Some(&sandbox.path("vault"));
        let found = stored(&sandbox, "vault").into_iter().filter(below);
        let found = found.max_by_key(|path| path.metadata().unwrap().len());
        let stored = found.unwrap().strip_prefix(sandbox.path("")).unwrap().to_str().unwrap().to_owned();
        for path in ["vault/sub/deep/note", &stored] {
            assert_eq!(sandbox.run(&format!("cat {with} {path}")).text(), "note");
            assert_eq!(sandbox.run(&format!("decrypt {with} {path}")).text(), "note");
            sandbox.run(&format!("decrypt {with} -o out {path}")).succeeded();
            assert_eq!(sandbox.read("out"), b"note");
            let text = sandbox.run(&format!("verify {with} {path}")).text();
            assert!(text.starts_with("vault/sub/deep/note: verified, 4 bytes\n"), "{text}");
            sandbox.run(&format!("decrypt --salvage {with} -o saved {path}")).succeeded();
            assert_eq!(sandbox.read("saved"), b"note");
            sandbox.folder("into");
            sandbox.run(&format!("decrypt --salvage {with} -o into {path}")).succeeded();
            assert_eq!(sandbox.read("into/note"), b"note");
            fs::remove_dir_all(sandbox.path("into")).unwrap();
        }
        for line in ["cat", "verify", "decrypt", "decrypt -o none", "decrypt --salvage -o none", "ls"] {
            let line = format!("{line} {with} vault/sub/none/x");
            sandbox.refuses(&line, 1, "sealane: vault/sub/none/x: no such file");
        }
        sandbox.refuses(&format!("decrypt --salvage {with} -o none vault/sub"), 2, "name its files");
        sandbox.run(&format!("inspect {stored}")).text();
        sandbox.refuses("inspect vault/sub/deep/note", 1, "by the path it is stored under");
        // A damaged file.
        let mut bytes = sandbox.read(&stored);
        *bytes.last_mut().unwrap() ^= 1;
        sandbox.write(&stored, &bytes);
        for line in ["verify", "decrypt -o none", "decrypt --salvage -o none"] {
            let outcome = sandbox.run(&format!("{line} {with} vault/sub/deep/note"));
            outcome.failed(1, "vault/sub/deep/note");
        }
        let outcome = sandbox.run(&format!("verify {with} vault"));
        outcome.failed(1, &stored);
        assert!(!init.contains("names") || outcome.err.contains("vault/sub/deep/note, stored in"));
        fs::remove_dir_all(sandbox.path("vault")).unwrap();
    }
    sandbox.run("init -k k vault").succeeded();
    sandbox.run("encrypt -k k -o vault in").succeeded();
    // A single file does not go into a folder that describes itself.
    sandbox.run("init -k k second").succeeded();
    sandbox.run("encrypt -R team -o age in/letter.txt").succeeded();
    for line in
        ["decrypt --salvage -k k -o second/x vault/letter.txt", "rewrap -i me -R team -o second/x age"]
    {
        sandbox.refuses(line, 2, "the output is in an encrypted folder that describes itself");
    }
    for line in ["decrypt -k k -o k", "decrypt --salvage -k k -o k"] {
        let before = sandbox.content();
        sandbox.run(&format!("{line} vault/letter.txt")).failed(2, "which this command reads");
        assert!(sandbox.content() == before);
    }
}

/// No file of the format has this length. An empty file has 72 bytes.
#[test]
fn a_list_names_files_that_cannot_be_whole() {
    let sandbox = sandbox();
    sandbox.run("init -k k vault").succeeded();
    sandbox.run("encrypt -k k -o vault in").succeeded();
    sandbox.run("ls -R -l -k k vault").succeeded();
    sandbox.write("vault/sub/deep/note.sealed", b"");
    for line in ["ls -R -l -k k vault", "ls -R --json -k k vault", "ls -l -k k vault/sub/deep"] {
        let outcome = sandbox.run(line);
        assert_eq!(outcome.status, Some(1), "{outcome:?}");
        assert!(
            outcome.err.contains("vault/sub/deep/note") && outcome.err.contains("truncated"),
            "{outcome:?}"
        );
        assert!(outcome.out.windows(4).any(|text| text == b"note"));
    }
}

/// Another spelling of the path does not make the place new.
#[test]
#[cfg(unix)]
fn a_replaced_key_is_found_by_every_path() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = sandbox();
    std::os::unix::fs::symlink(".", sandbox.path("linked")).unwrap();
    for name in ["key.age", "forged"] {
        sandbox.run(&format!("keygen -o {name}.jwk")).succeeded();
        sandbox.run(&format!("encrypt -R team -o {name} {name}.jwk")).succeeded();
        fs::set_permissions(sandbox.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    sandbox.run("encrypt -k key.age -i me -o out in/letter.txt").succeeded();
    fs::rename(sandbox.path("forged"), sandbox.path("key.age")).unwrap();
    for path in ["key.age", "in/../key.age", "linked/key.age"] {
        sandbox.refuses(&format!("encrypt -k {path} -i me -o new in/letter.txt"), 1, "it was replaced since");
    }
    fs::set_permissions(sandbox.known_keys(), fs::Permissions::from_mode(0o644)).unwrap();
    sandbox.refuses("encrypt -k key.age -i me -o new in/letter.txt", 1, "others have access (mode 644)");
}

/// A path that leads to the folder knows the keys that it got by another path.
#[test]
fn keys_that_change_are_known_by_every_path() {
    let sandbox = sandbox();
    sandbox.run("init -R team real/100%").succeeded();
    std::os::unix::fs::symlink("real", sandbox.path("link")).unwrap();
    sandbox.run("encrypt -i me -o real/100% in").succeeded();
    for path in ["link/100%", "link/../real/100%"] {
        sandbox.run(&format!("verify -i me {path}")).succeeded();
    }
    let lines = || fs::read_to_string(sandbox.known_keys()).unwrap().lines().count();
    let before = lines();
    for path in ["real/100%", "link/100%"] {
        sandbox.run(&format!("rotate -i me {path}")).succeeded();
        for path in ["real/100%", "link/100%", "link/../real/100%"] {
            sandbox.run(&format!("verify -i me {path}")).succeeded();
        }
    }
    assert_eq!(lines(), before);
    // One that led to another folder still knows that one.
    sandbox.run("init -R team real/other").succeeded();
    fs::rename(sandbox.path("real/100%"), sandbox.path("real/gone")).unwrap();
    std::os::unix::fs::symlink("other", sandbox.path("real/100%")).unwrap();
    sandbox.run("encrypt -i me -o real/other in").succeeded();
    sandbox.run("rotate -i me real/other").succeeded();
    sandbox.run("verify -i me link/100%").failed(1, "it was replaced since this user first opened it");
}

/// The cause is not that the file is missing, or under another key.
#[test]
fn a_path_beside_a_description_that_cannot_be_read() {
    let sandbox = sandbox();
    sandbox.run("init -k k vault").succeeded();
    sandbox.run("encrypt -k k -o vault in").succeeded();
    let text = sandbox.read("vault/.sealane");
    let lines = ["cat -k k vault/letter.txt", "cat -k k vault/sub/none.sealed", "ls -k k vault/sub"];
    let more = ["decrypt -k k vault/letter.txt", "verify -k k vault/sub/x", "encrypt -k k -o vault/sub/x k"];
    sandbox.write("vault/.sealane", &text[..text.len() / 2]);
    for line in lines.iter().chain(&more) {
        sandbox.refuses(line, 1, "vault/.sealane: expected the description of a folder");
    }
    sandbox.write("vault/.sealane", &text);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = sandbox.path("vault/.sealane");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        // Root may read it.
        for line in lines.iter().chain(&more).filter(|_| fs::File::open(&path).is_err()) {
            sandbox.refuses(line, 1, "vault/.sealane: permission denied");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    sandbox.refuses("inspect vault/.sealane", 1, "found the description of an encrypted folder; open the");
    // Far above, another file may have this name.
    fs::remove_dir_all(sandbox.path("vault")).unwrap();
    sandbox.write(".sealane", b"settings of another program");
    sandbox.run("encrypt -k k -o in/sealed in/letter.txt").succeeded();
    sandbox.run("verify -k k in/sealed").succeeded();
}

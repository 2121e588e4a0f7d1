//! Whole folders with `--recursive`.

#[cfg(target_os = "linux")]
use crate::common::signal;
#[cfg(unix)]
use crate::common::until;
use crate::common::{Outcome, Sandbox, data, json};
use serde_json::Value;
use std::collections::BTreeMap;
#[cfg(unix)]
use std::ffi::OsStr;
use std::fs;
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Returns the content of every path below a folder of the sandbox; `None` for a folder.
fn below(sandbox: &Sandbox, folder: &str) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let top = sandbox.path(folder);
    let mut all = BTreeMap::new();
    let mut folders = vec![top.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let content = if path.is_dir() { None } else { Some(fs::read(&path).unwrap()) };
            all.insert(path.strip_prefix(&top).unwrap().to_owned(), content);
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    all
}

/// Creates empty folders and files, unusual names, nested folders, a link to a file and a large
/// file.
#[cfg(unix)]
fn special_files(sandbox: &Sandbox) {
    for folder in ["in/empty/also", "in/a/b/c/d/e/f", "in/- x"] {
        fs::create_dir_all(sandbox.path(folder)).unwrap();
    }
    for (at, name) in
        [&b"in/\xff\n\x1b[31m"[..], b"in/- x/-p", b"in/a/b/c/d/e/f/g", b"in/a/%20\"\\", b"in/.hidden"]
            .into_iter()
            .enumerate()
    {
        sandbox.write(OsStr::from_bytes(name), &data(at * 5_000));
    }
    sandbox.write("in/large", &data(9 << 20));
    symlink("../large", sandbox.path("in/a/link")).unwrap();
}

/// Creates the same with names and files of Windows.
#[cfg(windows)]
fn special_files(sandbox: &Sandbox) {
    for folder in ["in/empty/also", "in/a/b/c/d/e/f", "in/- x"] {
        fs::create_dir_all(sandbox.path(folder)).unwrap();
    }
    let names = ["in/\u{fc} '", "in/- x/-p", "in/a/b/c/d/e/f/g", "in/a/%20", "in/.hidden", "in/a/no link"];
    for (at, name) in names.into_iter().enumerate() {
        sandbox.write(name, &data(at * 5_000));
    }
    sandbox.write("in/large", &data(9 << 20));
}

/// Creates `count` small files with different content.
fn many_files(sandbox: &Sandbox, count: usize, len: usize) {
    for at in 0..count {
        let folder = sandbox.path(format!("in/{}", at % 7));
        fs::create_dir_all(&folder).unwrap();
        let mut content = data(len);
        content[..8].copy_from_slice(&at.to_le_bytes());
        fs::write(folder.join(format!("{at}")), content).unwrap();
    }
}

/// Returns the documents of single files, without the summary at the end.
fn documents(out: &[u8]) -> Vec<Value> {
    let all = String::from_utf8_lossy(out).lines().map(json).collect();
    let is_summary = |document: &Value| document["summary"] == true;
    Vec::into_iter(all).filter(|document| !is_summary(document)).collect()
}

#[test]
fn a_tree_round_trips() {
    let sandbox = Sandbox::new();
    special_files(&sandbox);
    let before = below(&sandbox, "in");
    for (threads, suffix) in [("1", ""), ("3", "--suffix .sealed")] {
        for made in ["out", "back"] {
            let _ = fs::remove_dir_all(sandbox.path(made));
        }
        let flags = format!("-k k --recursive {suffix} --threads {threads}");
        let summary = sandbox.run(&format!("encrypt {flags} -o out in")).text();
        assert!(summary.starts_with("7 files encrypted, ") && summary.ends_with(", 0 failed\n"), "{summary}");
        let sealed = below(&sandbox, "out");
        assert_eq!(sealed.len(), before.len());
        for (name, content) in &before {
            let mut sealed_name = name.clone().into_os_string();
            if content.is_some() {
                sealed_name.push(suffix.strip_prefix("--suffix ").unwrap_or(""));
            }
            let len = |it: &Option<Vec<u8>>| it.as_ref().map(|it| it.len());
            let want = len(content).map(|len| 56 + len + 16 * (len / 16384 + 1));
            assert_eq!(len(&sealed[Path::new(&sealed_name)]), want, "{name:?}");
        }
        let outcome = sandbox.run(&format!("verify {flags} out")).text();
        assert_eq!(outcome.lines().count(), 7 + 1, "{outcome}");
        let summary = sandbox.run(&format!("decrypt {flags} -o back out")).text();
        assert!(summary.starts_with("7 files decrypted, ") && summary.lines().count() == 1, "{summary}");
        assert!(below(&sandbox, "back") == before, "{flags}");
        // A second run replaces the files.
        sandbox.run(&format!("decrypt {flags} -o back out/")).succeeded();
        assert!(below(&sandbox, "back") == before);
    }
    assert!(below(&sandbox, "in") == before);
}

#[cfg(unix)]
#[test]
fn recipients_and_passphrases() {
    let sandbox = Sandbox::new();
    many_files(&sandbox, 12, 100);
    sandbox.shell("$SEALANE keygen -t age -o me >public; echo secret >words").succeeded();
    sandbox.shell("$SEALANE encrypt --recursive -r $(cat public) -a -o out in").succeeded();
    sandbox.run("decrypt --recursive -i me -o back out").succeeded();
    assert!(below(&sandbox, "back") == below(&sandbox, "in"));
    // Each file takes a second: two are enough here, and ten or more are warned of.
    sandbox.shell("mkdir few; cp in/0/0 in/1/1 few").succeeded();
    sandbox.shell("$SEALANE encrypt --recursive --passphrase-fd 3 -p -o fewer few 3<words").succeeded();
    sandbox.shell("$SEALANE decrypt --recursive --passphrase-fd 3 -p -o few2 fewer 3<words").succeeded();
    assert!(below(&sandbox, "few2") == below(&sandbox, "few"));
    let outcome =
        sandbox.shell("timeout 2 $SEALANE encrypt --recursive -p --passphrase-fd 3 -o slow in 3<words");
    assert!(
        outcome.err.contains("warning: a passphrase takes about one second for each of the 12 files"),
        "{outcome:?}"
    );
}

#[test]
fn a_folder_can_be_its_own_target_with_a_suffix() {
    let sandbox = Sandbox::new();
    special_files(&sandbox);
    let before = below(&sandbox, "in");
    sandbox.refuses("encrypt -k k --recursive -o in in", 2, "same file");
    sandbox.run("encrypt -k k --recursive --suffix .sealed -o in in").succeeded();
    sandbox.run("encrypt -k k --recursive --suffix .sealed -o in in/").succeeded();
    for (name, _) in before.iter().filter(|(_, content)| content.is_some()) {
        fs::remove_file(sandbox.path("in").join(name)).unwrap();
    }
    // Nothing is encrypted twice.
    let outcome = sandbox.run("encrypt -k k --recursive --suffix .sealed -o in in");
    assert_eq!((outcome.status, outcome.err.lines().count()), (Some(1), 7), "{outcome:?}");
    sandbox.run("decrypt -k k --recursive --suffix .sealed -o in in").succeeded();
    for (name, content) in before {
        assert!(below(&sandbox, "in")[&name] == content, "{name:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_failed_file_does_not_stop_the_others() {
    let sandbox = Sandbox::new();
    special_files(&sandbox);
    symlink("a", sandbox.path("in/folder link")).unwrap();
    symlink("nowhere", sandbox.path("in/broken")).unwrap();
    sandbox.shell("mkfifo in/pipe").succeeded();
    let outcome = sandbox.run("encrypt -k k --recursive -o out in");
    assert_eq!(outcome.status, Some(1));
    for line in [
        "in/folder link: is a link to a folder",
        "in/broken: no such file",
        "in/pipe: expected a regular file, found a pipe",
    ] {
        assert!(outcome.err.contains(&format!("sealane: {line}")), "{}", outcome.err);
    }
    assert_eq!(outcome.err.lines().count(), 3, "{}", outcome.err);
    for gone in ["in/folder link", "in/broken", "in/pipe"] {
        fs::remove_file(sandbox.path(gone)).unwrap();
    }
    // A changed byte and a truncated file are reported by name and leave no output. The other files
    // are decrypted.
    let mut bytes = sandbox.read("out/a/link");
    bytes[5_000_000] ^= 1;
    sandbox.write("out/a/link", &bytes);
    sandbox.write("out/cut", &sandbox.read("out/.hidden")[..70]);
    let outcome = sandbox.run("decrypt -k k --recursive --json -o back out");
    assert_eq!(outcome.status, Some(1));
    let kinds: Vec<_> = documents(outcome.err.as_bytes()).iter().map(|it| it["kind"].clone()).collect();
    assert_eq!(kinds.len(), 2, "{outcome:?}");
    assert!(kinds.contains(&"authentication".into()) && kinds.contains(&"truncated".into()), "{kinds:?}");
    let done = documents(&outcome.out);
    assert_eq!(done.len(), 6);
    assert!(done.iter().all(|it| it["source"].is_string() && it["bytes"].is_u64() && it["seconds"].is_f64()));
    let mut want = below(&sandbox, "in");
    want.remove(Path::new("a/link"));
    assert!(below(&sandbox, "back") == want);
    let outcome = sandbox.run("verify -k k --recursive out");
    assert_eq!(
        (outcome.status, outcome.err.lines().count(), String::from_utf8_lossy(&outcome.out).lines().count()),
        (Some(1), 2, 6 + 1)
    );
    let outcome = sandbox.run("decrypt -k k --recursive --suffix .sealed -o none out");
    assert_eq!((outcome.status, outcome.err.lines().count()), (Some(1), 8), "{outcome:?}");
    assert!(
        outcome
            .err
            .contains("out/cut: expected a name that ends with the suffix \".sealed\"; check the suffix")
    );
    assert!(!sandbox.path("none").exists());
}

#[cfg(unix)]
#[test]
fn results_are_not_written_through_links() {
    let sandbox = Sandbox::new();
    many_files(&sandbox, 14, 50);
    let before = below(&sandbox, "in");
    fs::create_dir(sandbox.path("out")).unwrap();
    symlink("../in/1", sandbox.path("out/0")).unwrap();
    let outcome = sandbox.run("encrypt -k k --recursive -o out in");
    outcome.failed(1, "out/0: is a link, and results are not written through links");
    assert!(below(&sandbox, "in") == before);
}

#[test]
fn a_manifest_continues_a_job() {
    let sandbox = Sandbox::new();
    many_files(&sandbox, 30, 1000);
    let line = "encrypt -k k --recursive --json --manifest m -o out in";
    let done =
        |outcome: Outcome| documents(&outcome.succeeded()).iter().filter(|it| it["skipped"] != true).count();
    assert_eq!(done(sandbox.run(line)), 30);
    let first = below(&sandbox, "out");
    assert_eq!(done(sandbox.run(line)), 0);
    // Encrypting again would change the bytes.
    assert!(below(&sandbox, "out") == first);
    sandbox.write("in/0/0", b"changed");
    sandbox.write("in/new", b"new");
    fs::remove_file(sandbox.path("out/1/1")).unwrap();
    sandbox.write("out/2/2", b"spoiled");
    assert_eq!(done(sandbox.run(line)), 4);
    assert_eq!(done(sandbox.run(line)), 0);
    sandbox.run("decrypt -k k --recursive -o back out").succeeded();
    assert!(below(&sandbox, "back") == below(&sandbox, "in"));
    // Another key or context would leave a tree with two keys.
    sandbox.run("keygen -o other").succeeded();
    let before = sandbox.content();
    for with in ["-k other", "-k k -c other", "-k k --format tink-4kb"] {
        let outcome = sandbox.run(&line.replace("-k k", with).replace("--json ", ""));
        outcome.failed(
            1,
            "was encrypted with another key, context or format; use the same key, context and format",
        );
        assert!(sandbox.content() == before, "{with}");
    }
    let lines = sandbox.read("m");
    sandbox.write("m", &[&lines[..], b"nonsense\n"].concat());
    sandbox.refuses(
        "encrypt -k k --recursive --delete --manifest m -o out in",
        1,
        "m: line 36: not a line of a manifest; remove it",
    );
    sandbox.write("m", &lines);
    // Two jobs at the same time cannot share a manifest.
    let lock = fs::File::open(sandbox.path("m")).unwrap();
    lock.lock().unwrap();
    sandbox.refuses(line.replace("--json ", "").as_str(), 1, "m: another job is using this manifest");
}

/// A manifest of Windows cannot be read while it is locked, so the progress of the job is not
/// known.
#[cfg(unix)]
#[test]
fn a_killed_job_continues() {
    let sandbox = Sandbox::new();
    many_files(&sandbox, 3000, 20_000);
    let line = "encrypt -k k --recursive --threads 2 --suffix .s --manifest m -o out in";
    let mut kills = 0;
    for lines in [200, 900, 1700] {
        let mut child = sandbox.start(line);
        until(|| {
            let noted =
                fs::read(sandbox.path("m")).unwrap_or_default().iter().filter(|&&b| b == b'\n').count();
            noted > lines || child.try_wait().unwrap().is_some()
        });
        kills += usize::from(child.try_wait().unwrap().is_none());
        signal_if_there(&child, "KILL");
        child.wait().unwrap();
        // A file with a name is complete.
        for (name, content) in below(&sandbox, "out") {
            if let Some(content) = content {
                assert_eq!(content.len(), 56 + 20_000 + 32, "{name:?}");
            }
        }
        if lines == 200 {
            sandbox.run("verify -k k --recursive --suffix .s -q out").succeeded();
        }
    }
    assert!(kills > 0, "the job was never killed");
    let before: BTreeMap<_, _> = below(&sandbox, "out");
    let outcome = sandbox.run(&format!("{line} --json"));
    let fresh = documents(&outcome.succeeded()).iter().filter(|it| it["skipped"] != true).count();
    assert!(fresh < 3000 - 200, "{fresh}");
    let unchanged =
        below(&sandbox, "out").iter().filter(|(name, content)| before.get(*name) == Some(content)).count();
    assert!(unchanged >= 200, "{unchanged}");
    sandbox.run("decrypt -k k --recursive --suffix .s -o back out").succeeded();
    assert!(below(&sandbox, "back") == below(&sandbox, "in"));
}

#[cfg(unix)]
fn signal_if_there(child: &std::process::Child, name: &str) {
    crate::common::works("sh", &["-c".as_ref(), format!("kill -{name} {}", child.id()).as_ref()]);
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupted_job_continues() {
    let sandbox = Sandbox::new();
    many_files(&sandbox, 3000, 20_000);
    for (flags, then) in
        [("", "with --manifest FILE"), ("--manifest m", "run the same command again to continue")]
    {
        let child = sandbox.start(&format!("encrypt -k k --recursive --threads 2 {flags} -o out in"));
        until(|| sandbox.path("out/0").is_dir() && fs::read_dir(sandbox.path("out/0")).unwrap().count() > 10);
        signal(&child, "INT");
        let outcome = Outcome::from(child.wait_with_output().unwrap());
        outcome.failed(130, then);
        outcome.failed(130, "of 3000 files are done, and no incomplete file is left");
        for (name, content) in below(&sandbox, "out") {
            assert!(content.is_none_or(|it| it.len() == 56 + 20_000 + 32), "{name:?}");
        }
        if flags.is_empty() {
            fs::remove_dir_all(sandbox.path("out")).unwrap();
        }
    }
    sandbox.run("encrypt -k k --recursive --manifest m -o out in").succeeded();
    sandbox.run("decrypt -k k --recursive -o back out").succeeded();
    assert!(below(&sandbox, "back") == below(&sandbox, "in"));
    // A large file is interrupted in the middle.
    fs::remove_dir_all(sandbox.path("out")).unwrap();
    fs::File::create(sandbox.path("in/0/large")).unwrap().set_len(512 << 20).unwrap();
    let child = sandbox.start_slow("encrypt -k k --recursive -o out in/0");
    crate::common::until_it_handles_signals(&child);
    until(|| fs::read_dir(sandbox.path("out")).is_ok_and(|it| it.count() == 429));
    std::thread::sleep(std::time::Duration::from_millis(200));
    signal(&child, "TERM");
    Outcome::from(child.wait_with_output().unwrap())
        .failed(130, "; run the same command again to start over");
    assert!(!sandbox.path("out/large").exists());
}

#[test]
fn a_closed_output_ends_the_job() {
    let sandbox = Sandbox::new();
    many_files(&sandbox, 2000, 100);
    let mut child = sandbox.start("encrypt -k k --recursive --json -o out in");
    drop(child.stdout.take());
    let outcome = Outcome::from(child.wait_with_output().unwrap());
    assert!(outcome.status == Some(141) && outcome.err.is_empty(), "{outcome:?}");
}

//! Whole folders: all of them, or told why not.
#![cfg(unix)]

use crate::common::{Room, Said, data, signal, until};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// What is below a folder of the room, by its name there: `None` for a folder.
fn below(room: &Room, folder: &str) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let top = room.path(folder);
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

/// Empty folders and files, odd names, a chain, a link to a file, a large file.
fn nasty(room: &Room) {
    for folder in ["in/empty/also", "in/a/b/c/d/e/f", "in/- x"] {
        fs::create_dir_all(room.path(folder)).unwrap();
    }
    for (at, name) in
        [&b"in/\xff\n\x1b[31m"[..], b"in/- x/-p", b"in/a/b/c/d/e/f/g", b"in/a/%20\"\\", b"in/.hidden"]
            .into_iter()
            .enumerate()
    {
        room.write(OsStr::from_bytes(name), &data(at * 5_000));
    }
    room.write("in/large", &data(9 << 20));
    symlink("../large", room.path("in/a/link")).unwrap();
}

/// `count` small files, each with content of its own.
fn many(room: &Room, count: usize, len: usize) {
    for at in 0..count {
        let folder = room.path(format!("in/{}", at % 7));
        fs::create_dir_all(&folder).unwrap();
        let mut content = data(len);
        content[..8].copy_from_slice(&at.to_le_bytes());
        fs::write(folder.join(format!("{at}")), content).unwrap();
    }
}

fn documents(out: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(out).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn there_and_back() {
    let room = Room::new();
    nasty(&room);
    let before = below(&room, "in");
    for (threads, suffix) in [("1", ""), ("3", "--suffix .sealed")] {
        for made in ["out", "back"] {
            let _ = fs::remove_dir_all(room.path(made));
        }
        let flags = format!("-k k --recursive {suffix} --threads {threads}");
        assert!(room.run(&format!("encrypt {flags} -o out in")).worked().is_empty());
        let sealed = below(&room, "out");
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
        let said = room.run(&format!("verify {flags} out")).text();
        assert_eq!(said.lines().count(), 7, "{said}");
        assert!(room.run(&format!("decrypt {flags} -o back out")).worked().is_empty());
        assert!(below(&room, "back") == before, "{flags}");
        // Once more: what is there is replaced.
        room.run(&format!("decrypt {flags} -o back out/")).worked();
        assert!(below(&room, "back") == before);
    }
    assert!(below(&room, "in") == before);
}

#[test]
fn for_people_and_passphrases() {
    let room = Room::new();
    many(&room, 12, 100);
    room.shell("$SEALANE keygen -t age -o me >public; echo secret >words").worked();
    room.shell("$SEALANE encrypt --recursive -r $(cat public) -a -o out in").worked();
    room.run("decrypt --recursive -i me -o back out").worked();
    assert!(below(&room, "back") == below(&room, "in"));
    // Each would cost a second: a few are enough, and many are warned of.
    room.shell("mkdir few; cp in/0/0 in/1/1 few").worked();
    room.shell("$SEALANE encrypt --recursive --passphrase-fd 3 -p -o fewer few 3<words").worked();
    room.shell("$SEALANE decrypt --recursive --passphrase-fd 3 -p -o few2 fewer 3<words").worked();
    assert!(below(&room, "few2") == below(&room, "few"));
    let said = room.shell("timeout 2 $SEALANE encrypt --recursive -p --passphrase-fd 3 -o slow in 3<words");
    assert!(
        said.err.contains("warning: a passphrase takes about one second for each of the 12 files"),
        "{said:?}"
    );
}

#[test]
fn in_place_with_a_suffix() {
    let room = Room::new();
    nasty(&room);
    let before = below(&room, "in");
    room.refuses("encrypt -k k --recursive -o in in", 2, "same file");
    room.run("encrypt -k k --recursive --suffix .sealed -o in in").worked();
    room.run("encrypt -k k --recursive --suffix .sealed -o in in/").worked();
    for (name, _) in before.iter().filter(|(_, content)| content.is_some()) {
        fs::remove_file(room.path("in").join(name)).unwrap();
    }
    // Nothing is encrypted twice.
    let said = room.run("encrypt -k k --recursive --suffix .sealed -o in in");
    assert_eq!((said.status, said.err.lines().count()), (Some(1), 7), "{said:?}");
    room.run("decrypt -k k --recursive --suffix .sealed -o in in").worked();
    for (name, content) in before {
        assert!(below(&room, "in")[&name] == content, "{name:?}");
    }
}

#[test]
fn what_cannot_be_done_is_told_and_the_rest_is_done() {
    let room = Room::new();
    nasty(&room);
    symlink("a", room.path("in/folder link")).unwrap();
    symlink("nowhere", room.path("in/broken")).unwrap();
    room.shell("mkfifo in/pipe").worked();
    let said = room.run("encrypt -k k --recursive -o out in");
    assert_eq!(said.status, Some(1));
    for line in [
        "in/folder link: is a link to a folder",
        "in/broken: no such file",
        "in/pipe: expected a regular file, found a pipe",
    ] {
        assert!(said.err.contains(&format!("sealane: {line}")), "{}", said.err);
    }
    assert_eq!(said.err.lines().count(), 3, "{}", said.err);
    for gone in ["in/folder link", "in/broken", "in/pipe"] {
        fs::remove_file(room.path(gone)).unwrap();
    }
    // A changed byte, a cut, a stranger: each is told by its name, nothing of it is left, the rest is there.
    let mut bytes = room.read("out/a/link");
    bytes[5_000_000] ^= 1;
    room.write("out/a/link", &bytes);
    room.write("out/cut", &room.read("out/.hidden")[..70]);
    let said = room.run("decrypt -k k --recursive --json -o back out");
    assert_eq!(said.status, Some(1));
    let kinds: Vec<_> = documents(said.err.as_bytes()).iter().map(|it| it["kind"].clone()).collect();
    assert_eq!(kinds.len(), 2, "{said:?}");
    assert!(kinds.contains(&"authentication".into()) && kinds.contains(&"truncated".into()), "{kinds:?}");
    let done = documents(&said.out);
    assert_eq!(done.len(), 6);
    assert!(done.iter().all(|it| it["source"].is_string() && it["bytes"].is_u64() && it["seconds"].is_f64()));
    let mut want = below(&room, "in");
    want.remove(Path::new("a/link"));
    assert!(below(&room, "back") == want);
    let said = room.run("verify -k k --recursive out");
    assert_eq!(
        (said.status, said.err.lines().count(), String::from_utf8_lossy(&said.out).lines().count()),
        (Some(1), 2, 6)
    );
    let said = room.run("decrypt -k k --recursive --suffix .sealed -o none out");
    assert_eq!((said.status, said.err.lines().count()), (Some(1), 8), "{said:?}");
    assert!(said.err.contains("out/cut: expected a name that ends with the suffix"));
    assert!(below(&room, "none").values().all(Option::is_none));
}

#[test]
fn refused_before_anything_is_touched() {
    let room = Room::new();
    nasty(&room);
    fs::create_dir_all(room.path("other")).unwrap();
    room.write("other/large", b"another");
    room.write("file", b"");
    for (line, words) in [
        ("encrypt -k k --recursive in", "--recursive writes to a folder; name it with -o"),
        ("encrypt -k k --recursive -o - in", "--recursive writes to a folder; name it with -o"),
        ("encrypt -k k --recursive -o out", "--recursive reads folders; name one as IN"),
        ("encrypt -k k --recursive -o out -", "not standard input"),
        ("verify -k k --recursive -", "not standard input"),
        ("encrypt -k k --recursive -o in/out in", "in/out: the output folder is inside an input folder"),
        ("encrypt -k k --recursive -o out in other", "out/large: two inputs have this output file"),
        ("encrypt -k k --recursive -o out --suffix a/b in", "the suffix cannot end a file name"),
        ("encrypt -k k --suffix .sealed -o out in/large", "--recursive"),
        ("encrypt -k k --manifest m -o out in/large", "--recursive"),
        ("encrypt -k k --recursive -o out --manifest in/m in", "in/m: the manifest is among the sources"),
        (
            "encrypt -k k --recursive -o out --manifest in/large in",
            "the manifest is among the sources or the targets",
        ),
        (
            "encrypt -k k --recursive -o other --manifest other/large in",
            "the manifest is among the sources or the targets",
        ),
    ] {
        room.refuses(line, 2, words);
    }
    for (line, words) in [
        ("encrypt -k k --recursive -o out missing", "missing: no such file"),
        ("encrypt -k k --recursive -o file in", "file: a part of the path is not a folder"),
        ("encrypt -k k -o out in", "in: is a folder; name a file; or add --recursive"),
        ("verify -k k in", "or add --recursive"),
        ("decrypt -k k in", "or add --recursive"),
        ("encrypt -k nokey --recursive -o out --manifest m in", "nokey: no such file"),
        ("encrypt -k k --recursive -o out --manifest file2 in", "expected a manifest"),
    ] {
        room.write("file2", b"my thesis\n");
        room.refuses(line, 1, words);
    }
}

#[test]
fn results_are_not_written_through_links() {
    let room = Room::new();
    many(&room, 14, 50);
    let before = below(&room, "in");
    fs::create_dir(room.path("out")).unwrap();
    symlink("../in/1", room.path("out/0")).unwrap();
    let said = room.run("encrypt -k k --recursive -o out in");
    said.failed(1, "out/0: is a link, and results are not written through links");
    assert!(below(&room, "in") == before);
}

#[test]
fn a_manifest_goes_on() {
    let room = Room::new();
    many(&room, 30, 1000);
    let line = "encrypt -k k --recursive --json --manifest m -o out in";
    let done = |said: Said| documents(&said.worked()).iter().filter(|it| it["skipped"] != true).count();
    assert_eq!(done(room.run(line)), 30);
    let first = below(&room, "out");
    assert_eq!(done(room.run(line)), 0);
    // Encrypting again would have given other bytes.
    assert!(below(&room, "out") == first);
    room.write("in/0/0", b"changed");
    room.write("in/new", b"new");
    fs::remove_file(room.path("out/1/1")).unwrap();
    room.write("out/2/2", b"spoiled");
    assert_eq!(done(room.run(line)), 4);
    assert_eq!(done(room.run(line)), 0);
    room.run("decrypt -k k --recursive -o back out").worked();
    assert!(below(&room, "back") == below(&room, "in"));
    // Another key or context would leave a tree with two keys.
    room.run("keygen -o other").worked();
    let before = room.content();
    for with in ["-k other", "-k k -c other", "-k k --format tink-4kb"] {
        let said = room.run(&line.replace("-k k", with).replace("--json ", ""));
        said.failed(
            1,
            "was encrypted with another key, context or format; use the same key, context and format",
        );
        assert!(room.content() == before, "{with}");
    }
    // Two jobs with one manifest.
    let lock = fs::File::open(room.path("m")).unwrap();
    lock.lock().unwrap();
    room.refuses(line.replace("--json ", "").as_str(), 1, "m: another job is using this manifest");
}

#[test]
fn killed_in_the_middle_and_gone_on() {
    let room = Room::new();
    many(&room, 3000, 20_000);
    let line = "encrypt -k k --recursive --threads 2 --suffix .s --manifest m -o out in";
    let mut kills = 0;
    for lines in [200, 900, 1700] {
        let mut child = room.start(line);
        until(|| {
            let noted = fs::read(room.path("m")).unwrap_or_default().iter().filter(|&&b| b == b'\n').count();
            noted > lines || child.try_wait().unwrap().is_some()
        });
        kills += usize::from(child.try_wait().unwrap().is_none());
        signal_if_there(&child, "KILL");
        child.wait().unwrap();
        // What has a name is whole.
        for (name, content) in below(&room, "out") {
            if let Some(content) = content {
                assert_eq!(content.len(), 56 + 20_000 + 32, "{name:?}");
            }
        }
        if lines == 200 {
            room.run("verify -k k --recursive --suffix .s -q out").worked();
        }
    }
    assert!(kills > 0, "it was never caught");
    let before: BTreeMap<_, _> = below(&room, "out");
    let said = room.run(&format!("{line} --json"));
    let fresh = documents(&said.worked()).iter().filter(|it| it["skipped"] != true).count();
    assert!(fresh < 3000 - 200, "{fresh}");
    let kept =
        below(&room, "out").iter().filter(|(name, content)| before.get(*name) == Some(content)).count();
    assert!(kept >= 200, "{kept}");
    room.run("decrypt -k k --recursive --suffix .s -o back out").worked();
    assert!(below(&room, "back") == below(&room, "in"));
}

fn signal_if_there(child: &std::process::Child, name: &str) {
    crate::common::works("kill", &[format!("-{name}").as_ref(), child.id().to_string().as_ref()]);
}

#[test]
#[cfg(target_os = "linux")]
fn interrupted() {
    let room = Room::new();
    many(&room, 3000, 20_000);
    for (flags, then) in
        [("", "with --manifest FILE"), ("--manifest m", "run the same command again to continue")]
    {
        let child = room.start(&format!("encrypt -k k --recursive --threads 2 {flags} -o out in"));
        until(|| room.path("out/0").is_dir() && fs::read_dir(room.path("out/0")).unwrap().count() > 10);
        signal(&child, "INT");
        let said = Said::from(child.wait_with_output().unwrap());
        said.failed(130, then);
        said.failed(130, "of 3000 files are done, and no incomplete file is left");
        for (name, content) in below(&room, "out") {
            assert!(content.is_none_or(|it| it.len() == 56 + 20_000 + 32), "{name:?}");
        }
        if flags.is_empty() {
            fs::remove_dir_all(room.path("out")).unwrap();
        }
    }
    room.run("encrypt -k k --recursive --manifest m -o out in").worked();
    room.run("decrypt -k k --recursive -o back out").worked();
    assert!(below(&room, "back") == below(&room, "in"));
    // In the middle of a large file too.
    fs::remove_dir_all(room.path("out")).unwrap();
    fs::File::create(room.path("in/0/large")).unwrap().set_len(4 << 30).unwrap();
    let child = room.start("encrypt -k k --recursive -o out in/0");
    crate::common::until_it_listens(&child);
    until(|| fs::read_dir(room.path("out")).is_ok_and(|it| it.count() == 429));
    std::thread::sleep(std::time::Duration::from_millis(200));
    signal(&child, "TERM");
    Said::from(child.wait_with_output().unwrap()).failed(130, "; run the same command again to start over");
    assert!(!room.path("out/large").exists());
}

#[test]
fn its_reader_leaves() {
    let room = Room::new();
    many(&room, 2000, 100);
    let mut child = room.start("encrypt -k k --recursive --json -o out in");
    drop(child.stdout.take());
    let said = Said::from(child.wait_with_output().unwrap());
    assert!(said.status == Some(141) && said.err.is_empty(), "{said:?}");
}

//! Backups of whole folders: replicas, exclusions, removals and dry runs.
#![cfg(unix)]

use crate::common::{Sandbox, data, json};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs::{self, FileTimes, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

pub(crate) fn documents(out: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(out).lines().map(json).collect()
}

/// Returns the last document, which is the summary.
pub(crate) fn summary(out: &[u8]) -> Value {
    documents(out).pop().unwrap()
}

fn set(path: &Path, mode: u32, seconds: u64) {
    let modified = UNIX_EPOCH + Duration::new(seconds, 123_456_789);
    let file = fs::File::open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(modified)).unwrap();
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Creates a tree with modes, times and links of many kinds.
pub(crate) fn tree(sandbox: &Sandbox) {
    for folder in ["in/sub/deep", "in/empty", "in/shut"] {
        fs::create_dir_all(sandbox.path(folder)).unwrap();
    }
    for (name, len) in
        [("in/plain", 10), ("in/run", 20_000), ("in/sub/secret", 5), ("in/sub/deep/x", 0), ("in/shut/y", 7)]
    {
        sandbox.write(name, &data(len));
    }
    sandbox.write(OsStr::from_bytes(b"in/sub/\xff\n."), b"unusual");
    sandbox.write("in/sub/CASE", b"upper");
    sandbox.write("in/sub/case", b"lower");
    symlink("plain", sandbox.path("in/link")).unwrap();
    symlink("sub/deep", sandbox.path("in/folder-link")).unwrap();
    symlink("../../nowhere", sandbox.path("in/sub/dangling")).unwrap();
    set(&sandbox.path("in/plain"), 0o644, 1_000_000_000);
    set(&sandbox.path("in/run"), 0o755, 1_100_000_000);
    set(&sandbox.path("in/sub/secret"), 0o400, 1_200_000_000);
    set(&sandbox.path("in/shut/y"), 0o604, 1_300_000_000);
    set(&sandbox.path("in/shut"), 0o500, 1_400_000_000);
    set(&sandbox.path("in/empty"), 0o711, 1_500_000_000);
    set(&sandbox.path("in"), 0o750, 1_600_000_000);
}

/// Returns path, type, mode, time, size or link of everything below a folder, and of the folder
/// itself.
pub(crate) fn listing(top: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut waiting = vec![top.to_owned()];
    while let Some(path) = waiting.pop() {
        let found = path.symlink_metadata().unwrap();
        let below = path.strip_prefix(top).unwrap();
        let time = format!("{}.{:09}", found.mtime(), found.mtime_nsec());
        let kind = match found.file_type() {
            kind if kind.is_symlink() => format!("{:?}", fs::read_link(&path).unwrap()),
            kind if kind.is_dir() => "folder".into(),
            _ => format!("{:?}", fs::read(&path).unwrap().len()),
        };
        all.push(format!("{below:?} {:o} {time} {kind}", found.mode()));
        if found.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    all.sort();
    all
}

#[test]
fn a_restored_tree_is_the_same() {
    let sandbox = Sandbox::new();
    tree(&sandbox);
    let encrypt = "encrypt --recursive --preserve --suffix .sealed -k k --manifest m -o vault in";
    let text = sandbox.run(encrypt).text();
    assert_eq!(text, "8 files encrypted, 20039 bytes, 3 links, 0 failed\n");
    // The encrypted files have the attributes too.
    let [plain, sealed] =
        ["in/sub/secret", "vault/sub/secret.sealed"].map(|path| sandbox.path(path).metadata().unwrap());
    assert_eq!(
        (plain.mode(), plain.mtime(), plain.mtime_nsec()),
        (sealed.mode(), sealed.mtime(), sealed.mtime_nsec())
    );
    assert_eq!(fs::read_link(sandbox.path("vault/folder-link.sealed")).unwrap(), PathBuf::from("sub/deep"));
    assert!(sandbox.read("vault/sub/secret.sealed") != sandbox.read("in/sub/secret"));
    // Nothing is left to do.
    assert!(sandbox.run(encrypt).text().starts_with("0 files encrypted, 0 bytes, 8 unchanged"));
    let verified = sandbox.run("verify --recursive --preserve --suffix .sealed -k k vault").text();
    assert!(verified.ends_with("8 files verified, 20039 bytes, 0 failed\n"), "{verified}");

    sandbox.run("decrypt --recursive --preserve-all --suffix .sealed -k k -o back vault").succeeded();
    assert_eq!(listing(&sandbox.path("back")), listing(&sandbox.path("in")));
    // A second restoration replaces read-only files and links.
    sandbox.write("in/plain2", b"new");
    fs::remove_file(sandbox.path("in/link")).unwrap();
    symlink("run", sandbox.path("in/link")).unwrap();
    fs::set_permissions(sandbox.path("in/sub/secret"), Permissions::from_mode(0o600)).unwrap();
    sandbox.write("in/sub/secret", b"changed");
    set(&sandbox.path("in/sub/secret"), 0o400, 1_200_000_001);
    sandbox.run(encrypt).succeeded();
    sandbox.run("decrypt --recursive --preserve-all --suffix .sealed -k k -o back vault").succeeded();
    assert_eq!(listing(&sandbox.path("back")), listing(&sandbox.path("in")));
    assert_eq!(sandbox.read("back/sub/secret"), b"changed");
}

/// Returns whether this user reads every file, as root does.
fn rights_are_ignored(sandbox: &Sandbox) -> bool {
    sandbox.write("shut", b"");
    fs::set_permissions(sandbox.path("shut"), Permissions::from_mode(0o000)).unwrap();
    fs::File::open(sandbox.path("shut")).is_ok()
}

/// A file becomes a folder, a link or neither, in every direction, and the backup follows at once.
#[test]
fn sources_that_become_something_else() {
    type Make = fn(&Path);
    let kinds: [(&str, Make); 4] = [
        ("file", |path| fs::write(path, b"content").unwrap()),
        ("link", |path| symlink("other", path).unwrap()),
        ("folder", |path| {
            fs::create_dir_all(path.join("sub/deeper")).unwrap();
            fs::write(path.join("a"), b"a").unwrap();
            fs::write(path.join("sub/b"), b"b").unwrap();
        }),
        ("empty folder", |path| fs::create_dir(path).unwrap()),
    ];
    let options = "--recursive --preserve -k k --manifest m -o vault in";
    for more in ["", " --encrypt-names n --suffix .s", " --encrypt-names n"] {
        for (from, before) in kinds {
            for (to, after) in kinds.into_iter().filter(|(to, _)| *to != from) {
                let sandbox = Sandbox::new();
                sandbox.run("keygen -t aes-256-siv -o n").succeeded();
                fs::create_dir(sandbox.path("in")).unwrap();
                sandbox.write("in/other", b"other");
                let path = sandbox.path("in/x");
                before(&path);
                sandbox.run(&format!("encrypt {options}{more}")).succeeded();
                if path.is_dir() && !path.is_symlink() {
                    fs::remove_dir_all(&path).unwrap();
                } else {
                    fs::remove_file(&path).unwrap();
                }
                after(&path);
                let line = format!("encrypt {options}{more}");
                if from.ends_with("folder") != to.ends_with("folder") && !more.contains(".s") {
                    // Without --delete, it is told once, for the one path.
                    let outcome = sandbox.run(&line);
                    assert_eq!(outcome.status, Some(1), "{from} {to} {outcome:?}");
                    assert_eq!(outcome.err.lines().count(), 1, "{from} {to} {outcome:?}");
                }
                for _ in 0..2 {
                    sandbox.run(&format!("{line} --delete")).succeeded();
                }
                let restore = format!("decrypt --recursive --preserve{more} -k k -o back vault");
                sandbox.run(&restore).succeeded();
                assert_eq!(
                    listing(&sandbox.path("back")),
                    listing(&sandbox.path("in")),
                    "{from} {to} {more}"
                );
            }
        }
    }
}

/// What is behind a link is not of the source, also if it has the names of the former folder.
#[test]
fn folders_that_become_links() {
    for more in ["--manifest m", "--suffix .s", "--encrypt-names n"] {
        for to in ["moved", "x", "../in/moved"] {
            let sandbox = Sandbox::new();
            sandbox.run("keygen -t aes-256-siv -o n").succeeded();
            for folder in ["in/x/sub", "in/moved/sub"] {
                fs::create_dir_all(sandbox.path(folder)).unwrap();
                sandbox.write(Path::new(folder).join("a"), b"a");
                sandbox.write(Path::new(folder).join("../b"), b"b");
            }
            let options = format!("--recursive --preserve -k k {more}");
            sandbox.run(&format!("encrypt {options} -o vault in")).succeeded();
            fs::remove_dir_all(sandbox.path("in/x")).unwrap();
            symlink(to, sandbox.path("in/x")).unwrap();
            for _ in 0..2 {
                sandbox.run(&format!("encrypt {options} --delete -o vault in")).succeeded();
            }
            let options = options.replace("--preserve", "--preserve-all").replace("--manifest m", "");
            sandbox.run(&format!("decrypt {options} -o back vault")).succeeded();
            assert_eq!(listing(&sandbox.path("back")), listing(&sandbox.path("in")), "{more} {to}");
        }
    }
}

/// What nothing shows to be ours stays, and so does its place.
#[test]
fn foreign_files_in_the_place_of_a_target_stay() {
    let sandbox = Sandbox::new();
    for folder in ["in", "vault/file", "vault"] {
        fs::create_dir_all(sandbox.path(folder)).unwrap();
    }
    sandbox.write("in/file", b"x");
    sandbox.write("in/gone", b"x");
    sandbox.write("vault/file/foreign", b"foreign");
    sandbox.write("vault/folder", b"foreign");
    fs::create_dir_all(sandbox.path("in/folder/deep")).unwrap();
    sandbox.write("in/folder/deep/1", b"x");
    sandbox.write("in/folder/2", b"x");
    let line = "encrypt --recursive --delete -k k -o vault in";
    let outcome = sandbox.run(line);
    assert_eq!((outcome.status, outcome.err.lines().count()), (Some(1), 2), "{outcome:?}");
    for words in ["vault/file: found a folder of another kind", "vault/folder: found a file of another kind"]
    {
        assert!(outcome.err.contains(words), "{words} {outcome:?}");
    }
    assert_eq!(sandbox.read("vault/folder"), b"foreign");
    assert_eq!(sandbox.read("vault/file/foreign"), b"foreign");
    fs::remove_file(sandbox.path("in/gone")).unwrap();
    sandbox.run(line);
    assert!(!sandbox.path("vault/gone").exists());
}

/// Anyone who can write to the encrypted folder chooses modes and links, so the restored ones give
/// no more rights than new files have.
// claim: metadata-limited
#[test]
fn restored_attributes_are_limited() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("in/folder/sub")).unwrap();
    for name in ["tool", "notes", "folder/x"] {
        sandbox.write("in/".to_owned() + name, b"x");
    }
    for (link, text) in [("inside", "../notes"), ("here", "."), ("top", "..")] {
        symlink(text, sandbox.path("in/folder").join(link)).unwrap();
    }
    sandbox.run("encrypt --recursive --preserve -k k -o vault in").succeeded();
    let mode = |path: &str| sandbox.path(path).symlink_metadata().unwrap().mode() & 0o7777;
    let set = |path: &str, mode: u32| {
        fs::set_permissions(sandbox.path(path), Permissions::from_mode(mode)).unwrap();
    };
    set("vault/tool", 0o6777);
    set("vault/notes", 0o666);
    set("vault/folder", 0o3777);
    set("vault/folder/x", 0o1604);
    let out = [
        ("absolute", "/etc/passwd"),
        ("above", "../x"),
        ("folder/up", "../../x"),
        ("folder/through", "top/../../x"),
        ("folder/sub/deep", "./../../../in"),
    ];
    for (link, text) in out {
        symlink(text, sandbox.path("vault").join(link)).unwrap();
    }
    let options = "--recursive -k k -o";
    let outcome = sandbox.run(&format!("decrypt --preserve {options} back vault"));
    assert_eq!((outcome.status, outcome.err.lines().count()), (Some(1), out.len()), "{outcome:?}");
    for (link, _) in out {
        assert!(outcome.err.contains(&format!("vault/{link}: the link leads to ")), "{link} {outcome:?}");
        assert!(sandbox.path("back").join(link).symlink_metadata().is_err(), "{link}");
    }
    assert_eq!(fs::read_link(sandbox.path("back/folder/inside")).unwrap(), Path::new("../notes"));
    assert_eq!(fs::read_link(sandbox.path("back/folder/top")).unwrap(), Path::new(".."));
    fs::create_dir(sandbox.path("new")).unwrap();
    // What a new file may have: the umask of this process decides.
    let limit = mode("new");
    for (name, chosen) in [("tool", 0o777), ("notes", 0o666), ("folder", 0o777), ("folder/x", 0o604)] {
        assert_eq!(mode(&format!("back/{name}")), chosen & limit, "{name}");
    }
    sandbox.run(&format!("decrypt --preserve-all {options} all vault")).succeeded();
    for name in ["tool", "notes", "folder", "folder/x"] {
        assert_eq!(mode(&format!("all/{name}")), mode(&format!("vault/{name}")), "{name}");
    }
    assert_eq!(fs::read_link(sandbox.path("all/absolute")).unwrap(), Path::new("/etc/passwd"));
}

/// rsync agrees: nothing would be copied, and no attribute changed.
#[test]
fn rsync_finds_no_difference() {
    if project::programs::missing(&["rsync"]) {
        return;
    }
    let sandbox = Sandbox::new();
    tree(&sandbox);
    sandbox.run("encrypt --recursive --preserve -k k -o vault in").succeeded();
    sandbox.run("decrypt --recursive --preserve-all -k k -o back vault").succeeded();
    for [from, to] in [["in/", "back/"], ["in/", "vault/"]] {
        let line = format!("rsync -a --dry-run --itemize-changes --delete {from} {to}");
        let text = sandbox.shell(&line).text();
        // Encrypted files differ in size only.
        let expected = if to == "back/" {
            0
        } else {
            text.lines().filter(|line| line.starts_with(">f.s......")).count()
        };
        assert_eq!(text.lines().count(), expected, "{text}");
    }
}

#[test]
fn links_never_lead_out_of_the_target() {
    let sandbox = Sandbox::new();
    tree(&sandbox);
    fs::create_dir(sandbox.path("outside")).unwrap();
    sandbox.write("outside/plain", b"precious");
    fs::create_dir(sandbox.path("vault")).unwrap();
    // A link in place of a file is replaced, and one in place of a folder is refused.
    symlink("../outside/plain", sandbox.path("vault/plain")).unwrap();
    symlink("../outside", sandbox.path("vault/sub")).unwrap();
    let outcome = sandbox.run("encrypt --recursive --preserve -k k -o vault in");
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.contains("is a link, and results are not written through links"), "{outcome:?}");
    assert_eq!(sandbox.read("outside/plain"), b"precious");
    assert_eq!(fs::read_dir(sandbox.path("outside")).unwrap().count(), 1);
    assert!(sandbox.path("vault/plain").symlink_metadata().unwrap().is_file());
    // A link does not replace the key.
    let sandbox = Sandbox::new();
    tree(&sandbox);
    fs::create_dir(sandbox.path("vault")).unwrap();
    fs::rename(sandbox.path("k"), sandbox.path("vault/link")).unwrap();
    let outcome = sandbox.run("encrypt --recursive --preserve -k vault/link -o vault in");
    assert!(outcome.err.contains("which this command reads"), "{outcome:?}");
    assert!(sandbox.path("vault/link").symlink_metadata().unwrap().is_file());
}

#[test]
fn patterns_of_gitignore() {
    let sandbox = Sandbox::new();
    for folder in ["in/cache", "in/a/cache", "in/a/build"] {
        fs::create_dir_all(sandbox.path(folder)).unwrap();
    }
    for name in ["in/x.tmp", "in/keep.tmp", "in/cache/1", "in/a/cache/2", "in/a/build/3", "in/a/b", "in/#x"] {
        sandbox.write(name, b"content");
    }
    sandbox.write("patterns", b"# a comment\n\n*.tmp\n!keep.tmp\r\n/cache\n");
    let line = "encrypt --recursive -k k --exclude-from patterns --exclude build/ --exclude \\#x -o vault in";
    assert_eq!(sandbox.run(line).text(), "3 files encrypted, 21 bytes, 4 excluded, 0 failed\n");
    let mut found: Vec<_> = listing(&sandbox.path("vault"))
        .iter()
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect();
    found.sort();
    assert_eq!(found, ["\"\"", "\"a\"", "\"a/b\"", "\"a/cache\"", "\"a/cache/2\"", "\"keep.tmp\""]);
    // A folder that is left out is not even listed.
    fs::set_permissions(sandbox.path("in/cache"), Permissions::from_mode(0o0)).unwrap();
    sandbox.run(line).succeeded();
    fs::set_permissions(sandbox.path("in/cache"), Permissions::from_mode(0o755)).unwrap();

    sandbox.write("bytes", b"\xff\n");
    sandbox.refuses(
        "encrypt --recursive -k k --exclude-from bytes -o new in",
        2,
        "bytes: expected patterns in UTF-8",
    );
}

#[test]
fn removal_of_files_whose_source_is_gone() {
    for with in ["-k k", "-r RECIPIENT --manifest m", "-k k --manifest m"] {
        let sandbox = Sandbox::new();
        let recipient = sandbox.run("keygen -t age -o id").text();
        let with = with.replace("RECIPIENT", recipient.trim());
        for folder in ["in/a/b", "in/c"] {
            fs::create_dir_all(sandbox.path(folder)).unwrap();
        }
        for name in ["in/1", "in/2", "in/a/b/3", "in/c/4", "in/c/skip"] {
            sandbox.write(name, &data(100));
        }
        symlink("1", sandbox.path("in/l")).unwrap();
        let line = format!("encrypt --recursive --preserve --delete --json --suffix .s {with} -o vault in");
        assert_eq!(summary(&sandbox.run(&line).succeeded())["removed"], 0);
        sandbox.write("vault/foreign", b"not encrypted");
        sandbox.write("vault/foreign.s", b"not encrypted");
        fs::remove_file(sandbox.path("in/2")).unwrap();
        fs::remove_file(sandbox.path("in/l")).unwrap();
        fs::remove_dir_all(sandbox.path("in/a")).unwrap();
        let before = sandbox.content();
        let shown = sandbox.run(&format!("{line} --dry-run --exclude skip"));
        assert_eq!(shown.status, Some(0));
        assert!(sandbox.content() == before, "a dry run changes nothing");
        let removed: Vec<_> = documents(&shown.out)
            .iter()
            .filter(|document| document["action"] == "remove")
            .map(|document| document["target"].as_str().unwrap().to_owned())
            .collect();
        let links = with.contains("-m");
        let mut expected = vec!["vault/2.s", "vault/a/b/3.s"];
        if links {
            expected.insert(1, "vault/l.s");
        }
        assert_eq!(removed, expected, "{with}");
        // An excluded file exists, so its encrypted file stays.
        let outcome = sandbox.run(&format!("{line} --exclude skip"));
        assert_eq!(
            (outcome.status, summary(&outcome.out)["removed"].as_u64()),
            (Some(0), Some(expected.len() as u64))
        );
        assert!(outcome.err.contains("vault/foreign.s: its source is gone"), "{outcome:?}");
        for (path, exists) in [
            ("vault/1.s", true),
            ("vault/2.s", false),
            ("vault/a", false),
            ("vault/c/4.s", true),
            ("vault/c/skip.s", true),
            ("vault/foreign", true),
            ("vault/foreign.s", true),
        ] {
            assert_eq!(sandbox.path(path).exists(), exists, "{path} {with}");
        }
        assert_eq!(sandbox.path("vault/l.s").symlink_metadata().is_ok(), !links);
    }
}

#[test]
fn nothing_is_removed_unless_everything_is_certain() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("in/a")).unwrap();
    sandbox.write("in/1", &data(100));
    sandbox.write("in/a/2", &data(100));
    let line = "encrypt --recursive --delete -k k --suffix .s -o vault in";
    sandbox.run(line).succeeded();
    fs::remove_file(sandbox.path("in/1")).unwrap();
    let removes_nothing = |words: &str| {
        let outcome = sandbox.run(line);
        assert_eq!(outcome.status, Some(1), "{outcome:?}");
        assert!(outcome.err.contains("nothing was removed") && outcome.err.contains(words), "{outcome:?}");
        assert!(sandbox.path("vault/1.s").exists());
    };
    // An empty folder, for example a disk that is not mounted.
    fs::rename(sandbox.path("in"), sandbox.path("away")).unwrap();
    fs::create_dir(sandbox.path("in")).unwrap();
    removes_nothing("check that its disk is mounted");
    fs::remove_dir(sandbox.path("in")).unwrap();
    fs::rename(sandbox.path("away"), sandbox.path("in")).unwrap();
    // A path that cannot be processed, and a file that cannot be written: the others do not wait.
    symlink("nowhere", sandbox.path("in/dangling")).unwrap();
    fs::create_dir_all(sandbox.path("vault/new.s")).unwrap();
    sandbox.write("vault/new.s/foreign", b"x");
    sandbox.write("in/new", b"x");
    let outcome = sandbox.run(line);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    for words in ["vault/new.s: found a folder of another kind", "in/dangling: "] {
        assert!(outcome.err.contains(words), "{words} {outcome:?}");
    }
    assert!(!sandbox.path("vault/1.s").exists() && sandbox.path("vault/new.s/foreign").exists());
    fs::remove_dir_all(sandbox.path("vault/new.s")).unwrap();
    fs::remove_file(sandbox.path("in/dangling")).unwrap();
    // What was below a folder that cannot be listed may still exist.
    if !rights_are_ignored(&sandbox) {
        fs::remove_file(sandbox.path("in/a/2")).unwrap();
        fs::set_permissions(sandbox.path("in/a"), Permissions::from_mode(0o000)).unwrap();
        sandbox.run(line).failed(1, "in/a: ");
        assert!(sandbox.path("vault/a/2.s").exists());
        fs::set_permissions(sandbox.path("in/a"), Permissions::from_mode(0o700)).unwrap();
        sandbox.write("in/a/2", &data(100));
    }
    // A second run heals.
    assert_eq!(sandbox.run(line).text(), "2 files encrypted, 101 bytes, 0 failed\n");

    sandbox.run("keygen -t age -o id").succeeded();
    let outcome = sandbox.run("encrypt --recursive --delete -k k --suffix .s -o in in");
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.contains("the output is the input folder"), "{outcome:?}");
    // Another key does not own the files of the first.
    fs::remove_file(sandbox.path("in/new")).unwrap();
    sandbox.run("keygen -o k2").succeeded();
    let outcome = sandbox.run("encrypt --recursive --delete -k k2 --suffix .s --exclude * -o vault in");
    assert!(outcome.err.contains("vault/new.s: its source is gone"), "{outcome:?}");
    assert!(sandbox.path("vault/new.s").exists());
}

/// An empty folder, one with a few other files, such as a mount point without its disk, and one
/// that has little of what was encrypted.
#[test]
fn a_wrong_source_costs_no_encrypted_file() {
    for (first, line) in [
        ("", "encrypt --recursive --delete --suffix .s -k k -o vault"),
        ("", "encrypt --recursive --delete --suffix .s -k k --manifest m --exclude lost* -o vault"),
        ("", "encrypt --recursive --preserve --delete --encrypt-names n -k k --manifest m -o vault"),
        ("init -k k vault", "encrypt --manifest --delete -k k -o vault"),
        ("init --encrypt-names -k k vault", "encrypt --delete -k k -o vault"),
        ("init --write-only -R team vault", "encrypt --manifest --delete -o vault"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.run("keygen -t age -o me").succeeded();
        sandbox.write("team", &sandbox.run("keygen -y me").succeeded());
        sandbox.run("keygen -t aes-256-siv -o n").succeeded();
        for number in 0..20 {
            fs::create_dir_all(sandbox.path(format!("in/{}", number % 3))).unwrap();
            sandbox.write(format!("in/{}/{number}", number % 3), b"x");
        }
        fs::create_dir_all(sandbox.path("wrong/lost+found")).unwrap();
        if !first.is_empty() {
            sandbox.run(first).succeeded();
        }
        sandbox.run(&format!("{line} in")).succeeded();
        let refuses = |words: &str| {
            let before = sandbox.content();
            for dry_run in ["", " --dry-run"] {
                let outcome = sandbox.run(&format!("{line}{dry_run} wrong"));
                assert_eq!((outcome.status, outcome.err.lines().count()), (Some(1), 1), "{line} {outcome:?}");
                assert!(outcome.err.starts_with("sealane: vault: nothing was removed"), "{line} {outcome:?}");
                assert!(outcome.err.contains(words), "{line} {words} {outcome:?}");
            }
            assert!(sandbox.content() == before, "{line}");
        };
        let of_20 = |removed: usize| format!("{removed} of the 20 files in the output folder have no source");
        match line.contains("lost*") {
            // Only a file that is left out, and it is not the source of one of ours.
            true => refuses(&of_20(20)),
            false => refuses("the source has no file; check that its disk is mounted"),
        }
        sandbox.write("wrong/other", b"other");
        refuses(&of_20(20));
        // What a file replaces does not count.
        sandbox.write("wrong/0", b"other");
        refuses(&of_20(13));
        fs::remove_file(sandbox.path("wrong/0")).unwrap();
        for number in 0..9 {
            fs::create_dir_all(sandbox.path(format!("wrong/{}", number % 3))).unwrap();
            sandbox.write(format!("wrong/{}/{number}", number % 3), b"x");
        }
        refuses(&of_20(11));
        refuses("--delete-all");
        // Half of them is not most.
        sandbox.write("wrong/0/9", b"x");
        let text = sandbox.run(&format!("{line} wrong")).text();
        assert!(text.contains("10 removed"), "{line} {text}");
        fs::remove_dir_all(sandbox.path("wrong")).unwrap();
        fs::create_dir(sandbox.path("wrong")).unwrap();
        sandbox.write("wrong/other", b"other");
        let all = line.replace("--delete", "--delete-all");
        let shown = sandbox.run(&format!("{all} --dry-run wrong")).text();
        assert_eq!(shown.matches("remove ").count(), 10, "{line} {shown}");
        let text = sandbox.run(&format!("{all} wrong")).text();
        assert!(text.contains("10 removed"), "{line} {text}");
        // Even then, the source has to have a file.
        fs::remove_file(sandbox.path("wrong/other")).unwrap();
        sandbox.run(&format!("{all} wrong")).failed(1, "the source has no file");
    }
}

#[test]
fn a_small_folder_can_change_as_a_whole() {
    let sandbox = Sandbox::new();
    let encrypt = || sandbox.run("encrypt --recursive --delete -k k --suffix .s -o vault in");
    fs::create_dir_all(sandbox.path("in/folder")).unwrap();
    sandbox.write("in/folder/inner", b"x");
    sandbox.write("in/file", b"x");
    encrypt().succeeded();
    fs::remove_dir_all(sandbox.path("in/folder")).unwrap();
    sandbox.write("in/folder", b"x");
    fs::remove_file(sandbox.path("in/file")).unwrap();
    fs::create_dir(sandbox.path("in/file")).unwrap();
    sandbox.write("in/file/inner", b"x");
    encrypt().succeeded();
    assert!(sandbox.path("vault/folder.s").is_file() && sandbox.path("vault/file/inner.s").is_file());
    assert!(!sandbox.path("vault/file.s").exists() && !sandbox.path("vault/folder").exists());
    // Both are gone now, and then one.
    fs::rename(sandbox.path("in"), sandbox.path("old")).unwrap();
    fs::create_dir(sandbox.path("in")).unwrap();
    sandbox.write("in/new", b"x");
    encrypt().failed(1, "2 of the 2 files in the output folder have no source");
    fs::remove_dir_all(sandbox.path("vault")).unwrap();
    encrypt().succeeded();
    fs::rename(sandbox.path("in/new"), sandbox.path("in/newer")).unwrap();
    encrypt().succeeded();
    assert!(sandbox.path("vault/newer.s").is_file() && !sandbox.path("vault/new.s").exists());
}

#[test]
fn a_dry_run_writes_nothing() {
    let sandbox = Sandbox::new();
    tree(&sandbox);
    let before = sandbox.content();
    let text = sandbox
        .run("encrypt --recursive --preserve --dry-run -k k --manifest m --suffix .s -o vault in")
        .text();
    assert!(
        text.contains("encrypt in/run -> vault/run.s\n") && text.contains("link in/link -> vault/link.s\n"),
        "{text}"
    );
    assert!(text.ends_with("8 files would be encrypted, 20039 bytes, 3 links, 0 failed\n"), "{text}");
    assert!(sandbox.content() == before);
    sandbox.refuses("encrypt --dry-run -k k -o x in/run", 2, "--recursive");
}

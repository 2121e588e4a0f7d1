//! `sealane mount`: files read through the kernel, faults, and the end of a mount.

use crate::common::{Sandbox, data, signal, until};
use crate::vaults::unpack;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

/// A mount of the program in the foreground.
struct Mounted {
    child: Child,
    point: PathBuf,
}

impl Mounted {
    /// Mounts with the words of a line, at `point`. `None` where this machine cannot mount.
    fn start(sandbox: &Sandbox, line: &str) -> Option<Self> {
        Self::start_with(sandbox, &line.split_whitespace().collect::<Vec<_>>())
    }

    fn start_with(sandbox: &Sandbox, words: &[&str]) -> Option<Self> {
        Self::start_where(sandbox, words, &[])
    }

    fn start_where(sandbox: &Sandbox, words: &[&str], variables: &[(&str, PathBuf)]) -> Option<Self> {
        let point = sandbox.path("point");
        let _ = fs::create_dir(&point);
        let mut command = sandbox.sealane();
        command.args(["mount", "--foreground"]).args(words).arg("point").envs(variables.iter().cloned());
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut mounted = Self { child, point };
        until(|| mounted.is_there() || mounted.child.try_wait().unwrap().is_some());
        if mounted.is_there() {
            return Some(mounted);
        }
        let errors = mounted.errors();
        assert!(errors.contains("/dev/fuse") || errors.contains("fusermount3"), "{errors}");
        not_run();
        None
    }

    fn is_there(&self) -> bool {
        is_mounted(&self.point)
    }

    /// Waits for the end and returns what was printed on standard error.
    fn errors(&mut self) -> String {
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    fn umount(&self) {
        umount(&self.point);
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.child.try_wait().unwrap().is_none() {
            signal(&self.child, "TERM");
        }
        self.child.wait().unwrap();
        if self.is_there() {
            self.umount();
        }
    }
}

fn is_mounted(point: &Path) -> bool {
    let parent = point.parent().unwrap().metadata().unwrap();
    // A mount whose process is gone cannot be looked at.
    point.metadata().map_or(true, |found| found.dev() != parent.dev())
}

fn umount(point: &Path) {
    let tried = [&["umount"][..], &["fusermount3", "-u"]];
    let works = |words: &&[&str]| {
        let mut command = Command::new(words[0]);
        let command = command.args(&words[1..]).arg(point).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    assert!(tried.iter().any(works), "{}: cannot be unmounted", point.display());
}

fn not_run() {
    let test = thread::current();
    eprintln!("NOT RUN: {} needs the right to mount with /dev/fuse", test.name().unwrap_or("a test"));
}

#[test]
fn a_file_is_read_at_any_position_by_several_readers() {
    let sandbox = Sandbox::new();
    let plain = data(5_000_003);
    sandbox.write("disk.img", &plain);
    sandbox.run("encrypt -k k -o disk.img.sealed disk.img").succeeded();
    let Some(mut mounted) = Mounted::start(&sandbox, "-k k disk.img.sealed") else { return };
    let names: Vec<_> =
        fs::read_dir(&mounted.point).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["disk.img"]);
    let path = mounted.point.join("disk.img");
    let found = path.metadata().unwrap();
    assert_eq!(found.len(), plain.len() as u64);
    assert_eq!(
        found.modified().unwrap(),
        sandbox.path("disk.img.sealed").metadata().unwrap().modified().unwrap()
    );
    assert!(fs::read(&path).unwrap() == plain);
    thread::scope(|scope| {
        for reader in 0..4_usize {
            let (path, plain) = (&path, &plain);
            scope.spawn(move || {
                let file = File::open(path).unwrap();
                for n in 0..50 {
                    let at = (reader * 1_234_567 + n * 777_777) % plain.len();
                    let mut piece = vec![0; 70_000.min(plain.len() - at)];
                    file.read_exact_at(&mut piece, at as u64).unwrap();
                    assert!(piece == plain[at..at + piece.len()], "{at}");
                }
            });
        }
    });
    let missing = File::open(mounted.point.join("none")).unwrap_err();
    assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
    let write = fs::write(mounted.point.join("new"), b"x").unwrap_err();
    assert_eq!(write.kind(), std::io::ErrorKind::ReadOnlyFilesystem);
    mounted.umount();
    assert_eq!(mounted.errors(), "");
    assert!(mounted.child.wait().unwrap().success());
}

// claim: mount-verified
#[test]
fn a_damaged_part_is_an_error_and_a_line_that_names_the_file() {
    let sandbox = Sandbox::new();
    let plain = data(300_000);
    sandbox.write("a\u{7}b", &plain);
    sandbox.run("encrypt -k k -o a\u{7}b.sealed a\u{7}b").succeeded();
    let mut sealed = sandbox.read("a\u{7}b.sealed");
    sealed[200_000] ^= 1;
    sandbox.write("a\u{7}b.sealed", &sealed);
    let Some(mut mounted) = Mounted::start(&sandbox, "-k k a\u{7}b.sealed") else { return };
    let file = File::open(mounted.point.join("a\u{7}b")).unwrap();
    let mut piece = [0; 4096];
    assert_eq!(file.read_at(&mut piece, 200_000).unwrap_err().raw_os_error(), Some(5));
    assert_eq!(piece, [0; 4096]);
    file.read_exact_at(&mut piece, 290_000).unwrap();
    assert!(piece == plain[290_000..294_096]);
    drop(file);
    signal(&mounted.child, "INT");
    let errors = mounted.errors();
    assert!(mounted.child.wait().unwrap().success() && !mounted.is_there());
    assert!(errors.lines().count() > 0, "no line");
    for line in errors.lines() {
        assert!(
            line.starts_with("sealane: /") && line.contains("/a\\u0007b: authentication failed: chunk 12"),
            "{line}"
        );
    }
}

/// The program returns when the files are there, and the process behind it ends with the mount.
#[test]
fn a_mount_in_the_background() {
    let sandbox = Sandbox::new();
    sandbox.folder("point");
    sandbox.run("encrypt -k k -o plain.sealed k").succeeded();
    let outcome = sandbox.run("mount -k k --log log plain.sealed point");
    if outcome.err.contains("/dev/fuse") || outcome.err.contains("fusermount3") {
        return not_run();
    }
    outcome.succeeded();
    assert!(sandbox.read("point/plain") == sandbox.read("k"));
    sandbox
        .run("mount -k k plain.sealed point")
        .failed(2, "point: expected an empty folder, found the root of a file system");
    umount(&sandbox.path("point"));
    assert!(!is_mounted(&sandbox.path("point")));
    assert_eq!(sandbox.read("log"), b"");
    // The program reports failures of its process in the background.
    for (line, status, words) in [
        ("mount -k k plain.sealed none", 1, "none: no such file"),
        ("mount -k k plain.sealed .", 2, ".: expected an empty folder, found files"),
        ("mount -k k plain.sealed k", 2, "k: expected an empty folder, found a file"),
        ("mount -k k none point", 1, "none: no such file"),
        ("mount -k none plain.sealed point", 1, "none: no such file"),
    ] {
        sandbox.run(line).failed(status, words);
    }
}

/// Files, folders and links of a vault, with the tools that people use on them.
#[test]
fn a_vault_is_copied_searched_and_compared() {
    for (tool, file) in [("gocryptfs", "/xchacha.json"), ("cryptomator", "/v8-siv-ctrmac.json")] {
        let sandbox = Sandbox::new();
        let case = vectors::vaults(tool).into_iter().find(|case| case.file.ends_with(file)).unwrap();
        unpack(&sandbox, &case);
        crate::vaults::run(&sandbox, "decrypt --recursive -o out vault").succeeded();
        if tool == "gocryptfs" {
            sandbox.write("vault/.DS_Store", b"?");
        }
        let with = ["--passphrase-command", "cat pass", "vault"];
        let Some(mut mounted) = Mounted::start_with(&sandbox, &with) else { return };
        for line in [
            "diff -r --no-dereference point out",
            "cp -r point copy && diff -r --no-dereference copy out",
            "grep -rc . point > /dev/null",
            "test \"$(find point | wc -l)\" = \"$(find out | wc -l)\"",
            "test \"$(readlink point/link-dir)\" = sub && ls point/link-dir/ > /dev/null",
            "df point > /dev/null",
            "tar cf - point/sub | tar xf - -O > /dev/null",
        ] {
            sandbox.shell(line).succeeded();
        }
        // Memory-mapped, as by a database.
        if project::programs::find("python3").is_some() {
            let script = "import mmap, sys; a, b = (open(p, 'rb') for p in sys.argv[1:]); \
                m = mmap.mmap(a.fileno(), 0, prot=mmap.PROT_READ); t = b.read(); \
                assert m[:] == t and m[5000:5010] == t[5000:5010] and m[-1:] == t[-1:]";
            sandbox.write("map.py", script.as_bytes());
            sandbox.shell("python3 map.py point/two-chunks-plus-5.bin out/two-chunks-plus-5.bin").succeeded();
        }
        if project::programs::find("rsync").is_some() {
            sandbox.shell("test -z \"$(rsync -rlc --dry-run --itemize-changes point/ out/)\"").succeeded();
        }
        // In use while it ends: the place is free at once.
        let open = File::open(mounted.point.join("one.bin")).unwrap();
        signal(&mounted.child, "INT");
        let errors = mounted.errors();
        // Once, however often the folder is listed.
        assert_eq!(errors.lines().count(), usize::from(tool == "gocryptfs"), "{errors}");
        assert!(errors.is_empty() || errors.contains("/.DS_Store: the name does not decrypt"), "{errors}");
        assert!(mounted.child.wait().unwrap().success() && !mounted.is_there());
        drop(open);
    }
}

/// An attacker who can write to the vault adds links to unverified files outside it.
// claim: mount-verified
#[test]
fn links_that_lead_out() {
    let sandbox = Sandbox::new();
    sandbox.folder("data");
    sandbox.folder("data/sub");
    sandbox.write("data/sub/file", b"verified");
    sandbox.write("forged", b"forged");
    sandbox.run("init -k k vault").succeeded();
    sandbox.run("encrypt -k k -o vault data").succeeded();
    let there = sandbox.path("forged");
    for (text, name) in [
        (there.to_str().unwrap(), "vault/absolute"),
        ("../forged", "vault/above"),
        ("../../forged", "vault/sub/above"),
        ("sub/../../forged", "vault/through"),
        ("sub/file", "vault/inside"),
        ("../sub/file", "vault/sub/inside"),
    ] {
        std::os::unix::fs::symlink(text, sandbox.path(format!("{name}.sealed"))).unwrap();
    }
    let Some(mut mounted) = Mounted::start(&sandbox, "-k k vault") else { return };
    for name in ["absolute", "above", "sub/above", "through"] {
        let path = mounted.point.join(name);
        assert!(fs::read(&path).is_err() && fs::read_link(&path).is_err(), "{name}");
    }
    for name in ["inside", "sub/inside"] {
        assert_eq!(fs::read(mounted.point.join(name)).unwrap(), b"verified", "{name}");
    }
    mounted.umount();
    let errors = mounted.errors();
    assert!(errors.lines().count() >= 4, "{errors}");
    assert!(errors.lines().all(|line| line.contains("leads out of the mount")), "{errors}");
}

/// A remote of rclone, by its configuration.
#[test]
fn a_remote_of_rclone() {
    for file in ["/standard-base32.json", "/obfuscate-plaindirs.json", "/off.json"] {
        let sandbox = Sandbox::new();
        let case = vectors::vaults("rclone").into_iter().find(|case| case.file.ends_with(file)).unwrap();
        unpack(&sandbox, &case);
        let field = |name: &str| case.fields[name].as_str().unwrap();
        let options = case.fields["options"].as_object().unwrap().iter();
        let options: String =
            options.map(|(key, value)| format!("{key} = {}\n", value.as_str().unwrap())).collect();
        let text = format!(
            "[it]\ntype = crypt\nremote = {}\npassword = {}\npassword2 = {}\n{options}",
            sandbox.path("vault").display(),
            field("password_obscured"),
            field("password2_obscured"),
        );
        sandbox.write("rclone.conf", text.as_bytes());
        let rclone = [("RCLONE_CONFIG", sandbox.path("rclone.conf"))];
        sandbox
            .shell("RCLONE_CONFIG=rclone.conf sealane decrypt --recursive --rclone it -o out .")
            .succeeded();
        let Some(mut mounted) = Mounted::start_where(&sandbox, &["--rclone", "it", "."], &rclone) else {
            return;
        };
        sandbox.shell("diff -r point out && cp -r point copy && diff -r copy out").succeeded();
        mounted.umount();
        assert_eq!(mounted.errors(), "");
    }
}

/// What is changed below a mount is an error that names the file, or the bytes that were there.
// claim: mount-verified
#[test]
fn files_that_change_below_a_mount() {
    let sandbox = Sandbox::new();
    let (one, two) = (data(400_000), data(300_000));
    for (name, plain) in [("changed", &one), ("cut", &one), ("moved", &one), ("kept", &one), ("other", &two)]
    {
        fs::create_dir_all(sandbox.path("data/sub")).unwrap();
        sandbox.write(Path::new("data").join(name), plain);
    }
    sandbox.write("data/sub/moved", &two);
    sandbox.run("init -k k --encrypt-names vault").succeeded();
    sandbox.run("encrypt -k k -o vault data").succeeded();
    let Some(mut mounted) = Mounted::start(&sandbox, "-k k vault") else { return };
    let read = |name: &str| fs::read(mounted.point.join(name));
    for name in ["changed", "cut", "moved", "kept", "other"] {
        assert!(read(name).unwrap() == sandbox.read(Path::new("data").join(name)));
        // Again, from what the kernel keeps.
        assert!(read(name).unwrap() == sandbox.read(Path::new("data").join(name)));
    }
    let mut stored: Vec<_> =
        fs::read_dir(sandbox.path("vault")).unwrap().map(|entry| entry.unwrap().path()).collect();
    stored.retain(|path| path.metadata().unwrap().len() > 350_000);
    assert_eq!(stored.len(), 4);
    for (at, path) in stored.iter().enumerate() {
        let mut bytes = fs::read(path).unwrap();
        match at {
            0 => bytes[200_000] ^= 1,
            1 => bytes.truncate(250_000),
            2 => fs::rename(path, path.with_extension("x")).unwrap(),
            _ => {}
        }
        if at < 2 {
            fs::write(path, bytes).unwrap();
        }
    }
    // The lists of names are kept for a second.
    thread::sleep(std::time::Duration::from_millis(1100));
    let mut numbers: Vec<_> = ["changed", "cut", "moved", "kept"]
        .iter()
        .filter_map(|name| match read(name) {
            Ok(found) => {
                assert!(found == one, "{name}: wrong bytes");
                None
            }
            Err(error) => error.raw_os_error(),
        })
        .collect();
    numbers.sort_unstable();
    // ENOENT for the name that is gone, EIO for the others.
    assert_eq!(numbers, [2, 5, 5]);
    assert!(read("other").unwrap() == two);
    mounted.umount();
    let errors = mounted.errors();
    for path in &stored[..2] {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(errors.contains(name), "{name}: {errors}");
    }
}

/// Several processes read at random places, and the content of every block is verified. A search
/// finds what is there.
#[test]
fn reads_at_random_places_are_verified() {
    if project::programs::find("fio").is_none() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.folder("data");
    let job =
        "--name=job --bs=4k --size=24m --verify=crc32c --verify_fatal=1 --minimal --thread --ioengine=psync";
    sandbox.shell(&format!("fio {job} --filename=data/disk --rw=write --do_verify=0")).succeeded();
    sandbox.write("data/text", b"first\nneedle\nlast\n");
    sandbox.run("init -k k vault").succeeded();
    sandbox.run("encrypt -k k -o vault data").succeeded();
    sandbox.folder("point");
    for file in ["-k k vault/text", "-k k vault/text.sealed"] {
        let Some(mounted) = Mounted::start(&sandbox, file) else { return };
        assert_eq!(sandbox.read("point/text"), sandbox.read("data/text"));
        mounted.umount();
    }
    let Some(mut mounted) = Mounted::start(&sandbox, "-k k vault") else { return };
    for line in [
        format!("fio {job} --filename=point/disk --rw=randread --readonly --verify_only"),
        format!("fio {job} --filename=point/disk --rw=read --readonly --numjobs=3"),
        "cmp point/disk data/disk".into(),
        "test \"$(grep -rn needle point)\" = point/text:2:needle".into(),
    ] {
        sandbox.shell(&line).succeeded();
    }
    mounted.umount();
    assert_eq!(mounted.errors(), "");
}

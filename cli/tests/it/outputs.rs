//! Outputs that are inputs: a key, an identity, a list of recipients, a passphrase, a manifest or
//! another source. They are refused, through any links, before a byte of them is changed.

use crate::common::{Sandbox, data};
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;

/// Returns a sandbox with files of all kinds that commands read.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(40_000));
    sandbox.write("other", b"another source");
    sandbox.write("pass", b"correct horse\n");
    let public = sandbox.run("keygen -t age -o me").succeeded();
    sandbox.write("me.pub", &public);
    sandbox.run(&format!("keygen -o key.age -r {}", String::from_utf8(public).unwrap())).succeeded();
    sandbox.run("encrypt -k k -o sealed plain").succeeded();
    sandbox.run("encrypt -R me.pub -o age plain").succeeded();
    sandbox.folder("folder");
    sandbox
}

/// Returns other names of a file: another spelling, links, and a path through a link to its folder.
#[cfg(unix)]
fn names(sandbox: &Sandbox, file: &str) -> Vec<String> {
    symlink(file, sandbox.path("link")).unwrap();
    symlink("link", sandbox.path("link-to-link")).unwrap();
    fs::hard_link(sandbox.path(file), sandbox.path("hard-link")).unwrap();
    symlink(".", sandbox.path("here")).unwrap();
    let through = format!("here/{file}");
    [file, &format!("./{file}"), "link", "link-to-link", "hard-link", &through].map(String::from).into()
}

#[cfg(unix)]
#[test]
fn an_output_never_replaces_an_input() {
    for (file, line) in [
        ("k", "encrypt -k k -o OUT plain"),
        ("k", "encrypt -k file:k -o OUT plain"),
        ("k", "decrypt -k k -o OUT sealed"),
        ("k", "encrypt -k k --format tink-4kb -o OUT plain"),
        ("me", "decrypt -i me -o OUT age"),
        ("me", "encrypt -k key.age -i me -o OUT plain"),
        ("key.age", "encrypt -k key.age -i me -o OUT plain"),
        ("me", "decrypt -i - -o OUT age <me"),
        ("me.pub", "encrypt -R me.pub -o OUT plain"),
        ("me.pub", "encrypt -R me.pub -a -o OUT plain"),
        ("pass", "encrypt -p --passphrase-fd 3 -o OUT plain 3<pass"),
        ("k", "decrypt -k k sealed >>OUT"),
        ("k", "encrypt -k k plain >>OUT"),
        ("k", "cat -k k --range 0:10 sealed >>OUT"),
        ("me", "decrypt -i me age >>OUT"),
    ] {
        let sandbox = sandbox();
        for name in names(&sandbox, file) {
            let before = sandbox.content();
            let outcome = sandbox.shell(&format!("$SEALANE {}", line.replace("OUT", &name)));
            outcome.failed(2, "the output would replace ");
            assert!(sandbox.content() == before, "{line} {name}");
        }
        let outcome = sandbox.shell(&format!("$SEALANE {}", line.replace("OUT", "new")));
        outcome.succeeded();
    }
}

#[cfg(unix)]
#[test]
fn an_output_never_replaces_another_source_of_the_command() {
    let sandbox = sandbox();
    symlink("../other", sandbox.path("folder/plain")).unwrap();
    sandbox.run("encrypt -k k -o folder plain other").failed(2, "would replace other");
    assert_eq!(sandbox.read("other"), b"another source");
    // As after any other failure, the remaining files are processed.
    assert!(sandbox.path("folder/other").exists());
}

#[cfg(unix)]
#[test]
fn a_file_in_an_output_folder_is_not_the_key() {
    let sandbox = sandbox();
    sandbox.folder("in");
    sandbox.write("in/a", b"a");
    sandbox.write("in/b", b"b");
    sandbox.folder("out");
    fs::rename(sandbox.path("k"), sandbox.path("out/a")).unwrap();
    let key = sandbox.read("out/a");
    let line = "encrypt --recursive -k out/a -o out in --manifest notes";
    sandbox.run(line).failed(2, "out/a: the output would replace out/a");
    assert_eq!(sandbox.read("out/a"), key);
    assert!(sandbox.path("out/b").exists());
    // A link to a source is no manifest, also if the source is empty.
    sandbox.write("in/empty", b"");
    symlink("in/empty", sandbox.path("manifest")).unwrap();
    sandbox.refuses(
        "encrypt --recursive -k out/a -o new in --manifest manifest",
        2,
        "among the sources or the targets",
    );
}

#[test]
fn an_identity_or_a_key_is_read_from_standard_input() {
    let sandbox = sandbox();
    let (me, key) = (sandbox.read("me"), sandbox.read("k"));
    for (line, input) in [
        ("decrypt -i - age", &me),
        ("decrypt -i - -o out age", &me),
        ("cat --range : -i - age", &me),
        ("verify -i - age", &me),
        ("decrypt -k key.age -i - -o out2 sealed2", &me),
        ("decrypt -k - sealed", &key),
        ("keygen -y -", &me),
    ] {
        if line.contains("sealed2") {
            sandbox.run("encrypt -k key.age -i me -o sealed2 plain").succeeded();
        }
        sandbox.pipe(line, input).succeeded();
    }
    assert!(sandbox.read("out") == data(40_000) && sandbox.read("out2") == data(40_000));
    for line in
        ["decrypt -i -", "decrypt -i - -", "verify -i - -", "encrypt -k -", "decrypt -i - -o x /dev/stdin"]
    {
        sandbox.refuses_input(line, &me, 2, "-: standard input carries the data");
    }
    // Under its other names too. A second reader would get nothing, and encrypt or decrypt that.
    let mut names = vec!["/dev/stdin", "file:/dev/stdin"];
    if cfg!(target_os = "linux") {
        names.extend(["/dev/fd/0", "/proc/self/fd/0"]);
    }
    for stdin in names {
        for line in [
            format!("decrypt -i {stdin} -"),
            format!("encrypt -k {stdin} -o x"),
            format!("encrypt -k {stdin} -o x {}", stdin.trim_start_matches("file:")),
        ] {
            sandbox.refuses_input(&line, &me, 2, &format!("{stdin}: standard input carries the data"));
        }
        let line = format!("decrypt -i - -i {stdin} age");
        sandbox.refuses_input(&line, &me, 2, &format!("{stdin}: standard input was read already"));
        sandbox.pipe(&format!("decrypt -k {stdin} sealed"), &key).succeeded();
    }
    let line = "encrypt -R /dev/stdin -o x -";
    sandbox.refuses_input(line, b"word", 2, "/dev/stdin: standard input carries the data");
    sandbox.refuses_input("decrypt -i - -i - age", &me, 2, "-: standard input was read already");
    sandbox.refuses_input("decrypt -i - age", b"nonsense", 1, "-: ");
}

/// Windows opens a device for some names, changes others, and ignores their case.
#[cfg(windows)]
#[test]
fn names_that_windows_does_not_keep_are_refused() {
    let sandbox = sandbox();
    for name in ["NUL", "con.sealed", "folder/aux", "new.", "other:stream"] {
        sandbox.refuses(&format!("encrypt -k k -o {name} plain"), 1, "choose another name");
        sandbox.refuses(&format!("keygen -o {name}"), 1, "choose another name");
    }
    sandbox.folder("in");
    sandbox.write("in/PLAIN", b"another file");
    sandbox.refuses("encrypt -k k -o folder in/PLAIN plain", 2, "another input has the same name");
    sandbox.refuses("encrypt -k k -o PLAIN plain", 2, "same file");
    sandbox.refuses("encrypt -k k -o K plain", 2, "the output would replace");
    fs::hard_link(sandbox.path("k"), sandbox.path("hard")).unwrap();
    sandbox.refuses("encrypt -k k -o hard plain", 2, "the output would replace");
    let long = format!("folder/{}/{}", "a".repeat(120), "b".repeat(120));
    fs::create_dir_all(sandbox.path(&long)).unwrap();
    sandbox.run(&format!("encrypt -k k -o {long}/c plain")).succeeded();
    assert!(sandbox.run(&format!("decrypt -k k {long}/c")).succeeded() == data(40_000));
}

/// A program of Windows has no other descriptors with numbers.
#[cfg(windows)]
#[test]
fn a_passphrase_from_standard_input() {
    let sandbox = sandbox();
    sandbox.pipe("encrypt -p --passphrase-fd 0 -o sealed plain", b"correct horse\r\n").succeeded();
    assert!(
        sandbox.pipe("decrypt -p --passphrase-fd 0 sealed", b"correct horse\n").succeeded() == data(40_000)
    );
    sandbox.refuses("decrypt -p --passphrase-fd 3 -o x sealed", 2, "only descriptor 0");
    sandbox.refuses("decrypt -p -o x sealed", 2, "no terminal");
}

/// Bytes that are not UTF-8 are told apart in `--json`, and can be turned back.
#[cfg(target_os = "linux")]
#[test]
fn every_name_has_its_own_form_in_json() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new();
    sandbox.folder("in");
    // The last is a character that could stand for a byte.
    for name in [&b"in/x\xff"[..], b"in/x\xfe", b"in/y\xe4\x80z", "in/\u{fdcff}".as_bytes()] {
        sandbox.write(std::ffi::OsStr::from_bytes(name), b"");
    }
    let out =
        String::from_utf8(sandbox.run("encrypt --recursive --json -k k -o out in").succeeded()).unwrap();
    for name in ["in/x\\udcff", "in/x\\udcfe", "in/y\\udce4\\udc80z", "in/\\udcf3\\udcbd\\udcb3\\udcbf"] {
        assert!(out.contains(&format!("\"source\":\"{name}\"")), "{name} in {out}");
    }
    let error = sandbox.run_with(
        sandbox.sealane().args(["verify", "--json", "-k", "k"]).arg(std::ffi::OsStr::from_bytes(b"in/x\xff")),
        b"",
    );
    assert!(error.err.contains("in/x\\udcff: "), "{}", error.err);
    let text = sandbox.shell("sealane verify -k k in/x*").err;
    assert!(text.contains("in/x\\xff: ") && text.contains("in/x\\xfe: "), "{text}");
    // A shell turns them back.
    sandbox.write("in/back\\nslash", b"1");
    sandbox.write("in/back\nslash", b"2");
    sandbox.run("init -k k vault").succeeded();
    sandbox.run("encrypt -q -k k -o vault in").succeeded();
    let listed = sandbox.run("ls -k k vault").text();
    let names = ["back\\nslash", "back\\\\nslash", "x\\xff", "y\\xe4\\x80z"];
    assert!(names.iter().all(|name| listed.lines().any(|line| line == *name)), "{listed}");
    for (name, content) in [(names[0], "2"), (names[1], "1")] {
        let line = format!("sealane cat -k k \"vault/$(printf %b '{name}')\"");
        assert_eq!(sandbox.shell(&line).text(), content);
    }
    let json = sandbox.shell("sealane ls --json -k k vault").text();
    assert!(json.contains("\"back\\\\nslash\"") && json.contains("\"back\\nslash\""), "{json}");
}

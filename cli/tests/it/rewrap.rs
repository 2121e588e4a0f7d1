//! `sealane rewrap`: other recipients for age files, single ones and whole folders.

use crate::common::{Outcome, Sandbox, data};
use std::fs;

/// Returns a sandbox with the keys `old` and `new`, their recipients in `old.pub` and `new.pub`,
/// and `file`, which is encrypted for `old`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["old", "new"] {
        let public = sandbox.run(&format!("keygen -t age -o {name}")).succeeded();
        sandbox.write(format!("{name}.pub"), &public);
    }
    sandbox.write("plain", &data(200_000));
    sandbox.run("encrypt -R old.pub -o file plain").succeeded();
    sandbox
}

/// Checks that a call succeeded and says on standard error what stays the same.
#[track_caller]
fn warned(outcome: &Outcome) {
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    let expected = "sealane: warning: the file keys are still the same";
    assert!(outcome.err.starts_with(expected) && outcome.err.lines().count() == 1, "{outcome:?}");
}

/// Checks that `new` decrypts a file and `old` does not.
fn check(sandbox: &Sandbox, file: &str) {
    sandbox.run(&format!("decrypt -i new -o back {file}")).succeeded();
    assert!(sandbox.read("back") == data(200_000), "{file}");
    sandbox.refuses(&format!("decrypt -i old -o x {file}"), 1, "no matching key");
}

#[test]
fn one_file_in_place_and_to_another() {
    let sandbox = sandbox();
    warned(&sandbox.run("rewrap -i old -R new.pub -o copy file"));
    check(&sandbox, "copy");
    sandbox.run("decrypt -i old -o back file").succeeded();
    warned(&sandbox.run("rewrap -i old -R new.pub file"));
    check(&sandbox, "file");
    sandbox.refuses("rewrap -i old -R new.pub file", 1, "file: no matching key");
    sandbox.run("rewrap -q -i old -i new -R new.pub file").succeeded();
    check(&sandbox, "file");
}

#[test]
fn several_files_into_a_folder() {
    let sandbox = sandbox();
    fs::copy(sandbox.path("file"), sandbox.path("other")).unwrap();
    fs::create_dir(sandbox.path("out")).unwrap();
    let text = sandbox.run("rewrap -q --json -i old -R new.pub -o out file other").text();
    for (line, name) in text.lines().zip(["file", "other"]) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!((&line["source"], &line["target"]), (&name.into(), &format!("out/{name}").into()));
        check(&sandbox, &format!("out/{name}"));
    }
    assert_eq!(text.lines().count(), 2);
}

#[test]
fn whole_folders() {
    let sandbox = sandbox();
    fs::create_dir_all(sandbox.path("tree/sub")).unwrap();
    for name in ["tree/a", "tree/sub/b"] {
        fs::copy(sandbox.path("file"), sandbox.path(name)).unwrap();
    }
    sandbox.run("rewrap -q --recursive -i old -R new.pub -o out --manifest done tree").succeeded();
    check(&sandbox, "out/a");
    check(&sandbox, "out/sub/b");
    sandbox.run("decrypt -i old -o back tree/sub/b").succeeded();
    let text =
        sandbox.run("rewrap -q --recursive --json -i old -R new.pub -o out --manifest done tree").text();
    assert_eq!(text.matches("\"skipped\":true").count(), 2, "{text}");

    warned(&sandbox.run("rewrap --recursive -i old -R new.pub tree"));
    check(&sandbox, "tree/a");
    check(&sandbox, "tree/sub/b");
    // Finished files need an identity too.
    sandbox.refuses("rewrap -q --recursive -i old -R new.pub tree/a", 1, "no matching key");
    sandbox.run("rewrap -q --recursive -i old -i new -R new.pub tree").succeeded();
    check(&sandbox, "tree/a");
}

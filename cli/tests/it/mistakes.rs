//! Mistakes with folders that describe themselves, as new users make them.

#[cfg(unix)]
use crate::described::same;
use crate::described::sandbox;

/// Relative paths and links lead into a folder and out of it.
#[test]
#[cfg(unix)]
fn paths_are_followed_to_the_folder_that_they_lead_to() {
    let sandbox = sandbox();
    sandbox.run("init -k k vault").succeeded();
    sandbox.run("encrypt -k k -o vault in").succeeded();
    sandbox.run("encrypt -k k -o letter.sealed in/letter.txt").succeeded();
    let inside = |line: &str| sandbox.shell(&format!("cd vault/sub && sealane {line}"));
    inside("decrypt -k ../../k -o ../../out ..").succeeded();
    same(&sandbox, "out", "in");
    assert_eq!(inside("decrypt -k ../../k ../../letter.sealed").succeeded(), b"hello");
    inside("encrypt -k ../../k --recursive -o ../../more ../../in").succeeded();
    inside("init -k ../../k ../../second").succeeded();
    inside("encrypt -k ../../k -o ../../second ../../in").succeeded();
    std::os::unix::fs::symlink("vault/sub", sandbox.path("link")).unwrap();
    let plain = "the output is in an encrypted folder";
    sandbox.refuses("decrypt -k k --recursive -o link/x more", 2, plain);
    sandbox.refuses("decrypt -k k --recursive -o link more", 2, plain);
    sandbox.refuses(
        "encrypt -k k --recursive -o again link",
        2,
        "link: the source is in an encrypted folder",
    );
    // All files of the folder share its keys.
    for line in ["rotate -k k vault/sub", "rewrap -k k -R team vault/letter.txt.sealed"] {
        sandbox.refuses(line, 2, "is in a folder that describes itself");
    }
}

/// A wrong key is one error, not one for each file.
#[test]
fn a_wrong_key_is_one_error() {
    let sandbox = sandbox();
    sandbox.run("keygen -o k2").succeeded();
    sandbox.run("encrypt -k k --recursive -o keyed in").succeeded();
    sandbox.run("encrypt -R team --recursive -o aged in").succeeded();
    sandbox.run("init --write-only -R team backup").succeeded();
    sandbox.run("encrypt -o backup in").succeeded();
    for (line, words) in [
        ("verify -k k2 --recursive keyed", "keyed: authentication failed"),
        ("decrypt -k k2 --recursive -o out keyed", "keyed: authentication failed"),
        ("verify -i other --recursive aged", "aged: no matching key"),
        ("rewrap -i other -R team --recursive aged", "aged: no matching key"),
        ("verify -k k --recursive aged", "aged: expected a file encrypted with a symmetric key"),
        ("verify -i other backup", "backup: no matching key"),
        ("verify -i other backup/sub", "backup/sub: no matching key"),
    ] {
        let outcome = sandbox.run(line);
        outcome.failed(1, words);
        assert!(outcome.err.contains("the same for all "), "{outcome:?}");
    }
    // With --json, and where the key opens some files, each error is printed.
    assert_eq!(sandbox.run("verify -k k2 --recursive keyed --json").err.lines().count(), 3);
    sandbox.run("encrypt -k k2 -o keyed/more in/letter.txt").succeeded();
    sandbox.run("encrypt -k k2 -o keyed/zero in/letter.txt").succeeded();
    let outcome = sandbox.run("verify -k k --recursive keyed --threads 1");
    assert_eq!((outcome.status, outcome.err.lines().count()), (Some(1), 2), "{outcome:?}");
    assert!(outcome.err.contains("keyed/more: ") && outcome.err.contains("keyed/zero: "), "{outcome:?}");
}

/// An option is named only where it was given.
#[test]
fn texts_do_not_name_options_that_were_not_given() {
    let sandbox = sandbox();
    sandbox.run("init -k k vault").succeeded();
    sandbox.run("encrypt -k k -o vault in").succeeded();
    for (line, words) in [
        ("decrypt -k k vault", "sealane: a folder is decrypted to a folder; name it with -o"),
        ("decrypt -k k vault/sub", "sealane: a folder is decrypted to a folder; name it with -o"),
        ("encrypt -k k -o vault", "sealane: expected folders or files as IN, found none"),
    ] {
        sandbox.refuses(line, 2, words);
    }
    // One file is decrypted to one file, with the option too.
    sandbox.run("decrypt -k k --recursive -o letter vault/letter.txt").succeeded();
    assert_eq!(sandbox.read("letter"), b"hello");
    // Results have the names that the user knows.
    sandbox.run("init -k k --encrypt-names named").succeeded();
    sandbox.run("encrypt -k k -o named in").succeeded();
    let text = sandbox.run("verify -k k named").text();
    assert!(text.contains("named/sub/deep/note: verified, 4 bytes\n"), "{text}");
}

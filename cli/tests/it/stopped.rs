//! Folders that describe themselves, after jobs that were stopped.

#[cfg(unix)]
use crate::common::Outcome;
use crate::described::{same, sandbox, stored};
use std::fs;
use std::thread::sleep;
use std::time::Duration;

/// Files that are newer than the inventory: an interrupted job wrote them, or one without it.
// claim: folder-inventory
#[test]
fn a_job_continues_after_an_older_inventory() {
    let sandbox = sandbox();
    sandbox.run("keygen -t ed25519 -o sign").succeeded();
    sandbox.write("sign.pub", &sandbox.run("keygen -y sign").succeeded());
    sandbox.run("init -k k vault").succeeded();
    let plain = "encrypt -k k --manifest -o vault in";
    let signed = format!("{plain} --sign-key sign");
    let verify = "verify -k k --signer sign.pub vault";
    sandbox.run(&signed).succeeded();
    let lists = ["vault.inventory", "vault.inventory.minisig"];
    let lists = lists.into_iter().chain(["vault.inventory.sig"]).filter(|list| sandbox.path(list).exists());
    let before: Vec<_> = lists.map(|list| (list, sandbox.read(list))).collect();
    let first = sandbox.read("vault/letter.txt.sealed");

    // Killed before it wrote the inventory.
    sandbox.write("in/letter.txt", b"hallo!");
    sandbox.run(&signed).succeeded();
    before.iter().for_each(|(list, content)| sandbox.write(list, content));
    let text = sandbox.run(&signed).text();
    assert!(text.contains("1 file encrypted") && text.contains("2 unchanged"), "{text}");
    sandbox.run(verify).succeeded();

    // Without the option, once.
    for content in ["1", "longer"] {
        sandbox.write("in/sub/empty", content.as_bytes());
        let outcome = sandbox.run(plain);
        assert!(outcome.status == Some(0) && outcome.err.contains("again with --sign-key"), "{outcome:?}");
        sandbox.run(&signed).succeeded();
        sandbox.run(verify).succeeded();
    }

    // An older version of a file is replaced, not listed.
    sandbox.write("vault/letter.txt.sealed", &first);
    sandbox.run(&signed).succeeded();
    sandbox.run(verify).succeeded();
    sandbox.run("decrypt -k k -o back vault").succeeded();
    same(&sandbox, "back", "in");

    // The keys of the folder are new.
    let outcome = sandbox.run("rotate -k k vault");
    assert!(outcome.status == Some(0) && !outcome.err.contains("remove it"), "{outcome:?}");
    let outcome = sandbox.run(&signed);
    assert!(outcome.status == Some(0) && outcome.err.contains("an earlier key"), "{outcome:?}");
    sandbox.run(verify).succeeded();
}

/// A killed process left an unfinished file.
#[test]
fn unfinished_files_are_no_files_of_the_folder() {
    let sandbox = sandbox();
    sandbox.run("keygen -t ed25519 -o sign").succeeded();
    sandbox.write("sign.pub", &sandbox.run("keygen -y sign").succeeded());
    for (vault, options) in [("plain", "--suffix .s"), ("named", "--encrypt-names")] {
        let encrypt = format!("encrypt -k k --sign-key sign -o {vault} in");
        sandbox.run(&format!("init -k k {options} {vault}")).succeeded();
        sandbox.run(&encrypt).succeeded();
        let some = stored(&sandbox, vault).into_iter().find(|path| !path.ends_with(".sealane")).unwrap();
        let name = format!(".{}.0123456789abcdef.part", some.file_name().unwrap().to_str().unwrap());
        let (left, content) = (some.with_file_name(name), fs::read(&some).unwrap());
        fs::write(&left, &content[..content.len() / 2]).unwrap();
        sandbox.run(&format!("verify -k k --signer sign.pub {vault}")).succeeded();
        sandbox.run(&format!("decrypt -k k -o {vault}-back {vault}")).succeeded();
        same(&sandbox, &format!("{vault}-back"), "in");
        sandbox.run(&format!("ls -k k --recursive {vault}")).succeeded();
        let outcome = sandbox.run(&format!("rotate -k k {vault}"));
        assert!(outcome.status == Some(0), "{outcome:?}");
        assert_eq!(fs::read(&left).unwrap(), &content[..content.len() / 2]);
        let outcome = sandbox.run(&encrypt);
        assert!(outcome.status == Some(0) && left.exists(), "{outcome:?}");
    }
}

/// Whenever it ends, the user's list of known keys has the key of the description.
#[test]
fn a_rotation_that_stops_leaves_a_folder_that_opens() {
    let sandbox = sandbox();
    sandbox.run("init -k k vault").succeeded();
    sandbox.run("encrypt -k k -o vault in").succeeded();
    let known = || fs::read_to_string(sandbox.known_keys()).unwrap();
    let (first, old) = (known(), sandbox.read("vault/.sealane"));
    for delay in [0, 2, 4, 8, 12, 16, 24, 32, 48] {
        let mut child = sandbox.start("rotate -k k vault");
        sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        sandbox.run("cat -k k vault/letter.txt").succeeded();
    }
    assert_eq!(sandbox.run("rotate -k k vault").status, Some(0));
    sandbox.run("verify -k k vault").succeeded();
    let last = known();
    assert_eq!((first.lines().count(), last.lines().count()), (1, 1));
    // Between two steps: the new key is accepted, and the description is the old or the new one.
    let new = sandbox.read("vault/.sealane");
    fs::write(sandbox.known_keys(), format!("{first}{last}")).unwrap();
    sandbox.write("vault/.sealane", &old);
    sandbox.run("ls -k k vault").succeeded();
    sandbox.write("vault/.sealane", &new);
    sandbox.run("verify -k k vault").succeeded();
    // The old key is not accepted any longer.
    assert_eq!(known(), last);
    sandbox.write("vault/.sealane", &old);
    sandbox.refuses("ls -k k vault", 1, "it was replaced");
}

/// Of two jobs that change the keys, one would lose the other's, and with them the files.
// claim: folder-description
#[test]
#[cfg(unix)]
fn jobs_that_change_the_keys_exclude_others() {
    let sandbox = sandbox();
    sandbox.run("init -R team vault").succeeded();
    sandbox.run("encrypt -i me -o vault in").succeeded();
    for _ in 0..10 {
        let lines = ["rotate -i me vault", "rewrap -i me -R team vault", "rotate -i me vault"];
        let started = lines.map(|line| sandbox.start(line));
        for child in started {
            let outcome = Outcome::from(child.wait_with_output().unwrap());
            let is_busy = outcome.err.contains("another job ");
            assert!(outcome.status == Some(0) || outcome.status == Some(1) && is_busy, "{outcome:?}");
        }
        sandbox.run("verify -i me vault").succeeded();
    }
    let folder = fs::File::open(sandbox.path("vault")).unwrap();
    let busy = "vault/.sealane: another job uses this folder or changes its keys";
    folder.lock_shared().unwrap();
    sandbox.run("encrypt -i me -o vault in").succeeded();
    sandbox.refuses("rotate -i me vault", 1, busy);
    sandbox.refuses("rewrap -i me -R team vault", 1, busy);
    folder.lock().unwrap();
    sandbox.refuses("encrypt -i me -o vault in", 1, busy);
    sandbox.refuses("verify -i me vault", 1, busy);
    sandbox.run("cat -i me vault/letter.txt").succeeded();
}

/// Otherwise the new key would be refused, and the folder would be locked.
#[test]
fn keys_are_not_changed_if_they_cannot_be_remembered() {
    let sandbox = sandbox();
    sandbox.run("init -k k vault").succeeded();
    sandbox.run("init -R team named --encrypt-names").succeeded();
    sandbox.run("encrypt -k k -o vault in").succeeded();
    let lock = sandbox.known_keys().with_extension("lock");
    fs::remove_file(&lock).unwrap();
    fs::create_dir(&lock).unwrap();
    for (line, open) in
        [("rotate -k k vault", "verify -k k vault"), ("rotate -i me named", "verify -i me named")]
    {
        sandbox.refuses(line, 1, "keys.lock: is a folder");
        sandbox.run(open).succeeded();
    }
    fs::remove_dir(&lock).unwrap();
    sandbox.run("rotate -k k vault").succeeded();
}

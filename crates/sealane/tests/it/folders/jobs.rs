//! The order of the steps of a job.

use sealane::Key;
use sealane::file::bulk::Operation;
use sealane::file::job::{Action, Event, Job, JobKeys, JobOptions};
use sealane::file::{Durability, EncryptWith, InventoryKeys, encrypt};
use sealane::signature::SigningKey;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

/// Returns the names of the events, in their order.
fn order(job: &mut Job, keys: &JobKeys<'_>) -> Vec<&'static str> {
    let mut names = Vec::new();
    let result = job.run(keys, &|| false, &mut |events| {
        names.extend(events.iter().map(|event| match event {
            Event::Planned(Action::Process, _) => "plan file",
            Event::Planned(Action::Link, _) => "plan link",
            Event::Planned(Action::Remove, _) => "plan removal",
            Event::Skipped(_) => "skipped",
            Event::Begun { .. } => "begun",
            Event::Done { .. } => "done",
            Event::FilesEnded => "files ended",
            Event::Linked(_) => "linked",
            Event::Exchanged(_) => "exchanged",
            Event::Unproven(_) => "unproven",
            Event::Removed(_) => "removed",
            Event::NothingRemoved(_) => "nothing removed",
            Event::Listed { .. } => "listed",
            Event::Ended(_) => "ended",
            Event::Progress { .. } => "progress",
            other => panic!("{other:?}"),
        }));
        ControlFlow::Continue(())
    });
    result.unwrap();
    names.into_iter().filter(|name| *name != "progress").collect()
}

/// An inventory is written after files were removed, and folders get their times after that.
#[test]
fn the_steps_of_a_job_come_in_order() {
    let case = vectors::signatures().into_iter().find(|case| case.id == "1").unwrap();
    let root = std::env::temp_dir().join(format!("sealane-order-{}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    let at = |path: &str| root.join(path);
    fs::create_dir_all(at("in/sub")).unwrap();
    for name in ["in/a", "in/sub/b", "in/sub/c"] {
        fs::write(at(name), name).unwrap();
    }
    symlink("a", at("in/link")).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let dated = || fs::File::open(at("in/sub")).unwrap().set_modified(long_ago).unwrap();
    dated();
    let operation = Operation::Encrypt(EncryptWith::key(&Key::from_bytes(&[1; 32]), b""));
    let signer = SigningKey::parse(case.secret_key.as_bytes(), case.passphrase.as_deref()).unwrap();
    let path = at("list");
    let inventory = InventoryKeys { path: &path, key: &signer, folder: None };
    let keys = JobKeys { operation: &operation, inventory: Some(&inventory), compare: None };
    let new = |dry_run| {
        let options = JobOptions {
            inputs: vec![at("in")],
            output: Some(at("out")),
            preserve: true,
            delete: true,
            dry_run,
            durability: Durability::Synced,
            manifest: Some(at("manifest")),
            ..JobOptions::default()
        };
        Job::new(options).unwrap()
    };
    let first = ["begun", "done", "done", "done", "files ended", "linked", "listed", "ended"];
    assert_eq!(order(&mut new(false), &keys), first);
    let Operation::Encrypt(with) = &operation else { unreachable!() };
    assert_eq!(inventory.previous(with).unwrap().unwrap().len(), 3);

    fs::remove_file(at("in/sub/b")).unwrap();
    dated();
    fs::write(at("out/foreign"), "foreign").unwrap();
    let planned = ["plan link", "unproven", "plan removal", "ended"];
    assert_eq!(order(&mut new(true), &keys), planned);
    assert!(at("out/sub/b").exists());
    let second =
        ["skipped", "skipped", "begun", "files ended", "linked", "unproven", "removed", "listed", "ended"];
    assert_eq!(order(&mut new(false), &keys), second);
    assert!(!at("out/sub/b").exists());
    assert_eq!(at("out/sub").metadata().unwrap().modified().unwrap(), long_ago);
    assert_eq!(inventory.previous(with).unwrap().unwrap().len(), 2);

    // A file that was exchanged is a failure, and mended. What is certain is still removed.
    let changed = at("out/a").metadata().unwrap().modified().unwrap();
    fs::remove_file(at("in/sub/c")).unwrap();
    let stored = fs::read(at("out/a")).unwrap();
    let other = encrypt(b"in/a", with).unwrap();
    assert_eq!(other.len(), stored.len());
    fs::write(at("out/a"), other).unwrap();
    fs::File::options().write(true).open(at("out/a")).unwrap().set_modified(changed).unwrap();
    let third =
        ["exchanged", "begun", "done", "files ended", "linked", "unproven", "removed", "listed", "ended"];
    assert_eq!(order(&mut new(false), &keys), third);
    assert_eq!(order(&mut new(false), &keys)[0], "skipped");
    assert!(!at("out/sub/c").exists());
    fs::remove_dir_all(&root).unwrap();
}

use super::*;
use crate::bulk::Operation;
use crate::job::{Event, Job, JobKeys};
use keys::Key;
use keys::age::{Identity, Kind};
use std::fs;
use std::ops::ControlFlow;

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sealane-description-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn lock() -> FolderLock {
    FolderLock::key(&Key::generate(32).unwrap()).unwrap()
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> FolderError {
    match result {
        Err(Error::Folder(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// Runs a job over the described folder, and returns the paths of failed files and their errors.
fn run(
    folder: &DescribedFolder,
    operation: Operation,
    from: &Path,
    to: Option<&Path>,
    change: impl FnOnce(&mut JobOptions),
) -> Vec<(PathBuf, Error)> {
    let mut options = JobOptions {
        inputs: vec![from.to_owned()],
        output: to.map(Path::to_owned),
        removes_suffix: !matches!(operation, Operation::Encrypt(_)),
        ..JobOptions::default()
    };
    folder.configure(&mut options).unwrap();
    change(&mut options);
    let keys = JobKeys { operation: &operation, inventory: None, compare: None };
    let mut failed = Vec::new();
    Job::new(options)
        .unwrap()
        .run(&keys, &|| false, &mut |events| {
            for event in events {
                match event {
                    Event::Failed { path, error, .. } => failed.push((path.to_owned(), error)),
                    Event::Unproven(path) | Event::Unknown(path) => panic!("{}", path.display()),
                    _ => {}
                }
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    failed
}

// claim: folder-description
#[test]
fn every_changed_byte_and_length_is_found() {
    let place = Place::new("changed");
    let (folder, lock) = (place.at("folder"), lock());
    let new = NewFolder { suffix: ".sealed", names: true, preserve: false, ..Default::default() };
    DescribedFolder::create(&folder, &new, &lock).unwrap();
    let path = folder.join(Description::NAME);
    let content = fs::read(&path).unwrap();
    let open = |content: &[u8]| Description::parse(&path, content).and_then(|found| found.open(&lock, None));
    open(&content).unwrap();
    for at in 0..content.len() {
        for flip in [1, 0x20, 0x80] {
            let mut changed = content.clone();
            changed[at] ^= flip;
            assert!(open(&changed).is_err(), "{at} {flip}");
        }
        assert!(open(&content[..at]).is_err(), "{at}");
    }
    let text = String::from_utf8(content.clone()).unwrap();
    for (from, to) in [
        ("\"names\": true", "\"names\": false"),
        ("\"preserve\": false", "\"preserve\": true"),
        (".sealed", ""),
        (".sealed", ".sealex"),
        ("\"recipients\": []", "\"recipients\": [\n    \"age1\"\n  ]"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert!(matches!(refused(open(changed.as_bytes())), FolderError::DescriptionChanged(_)), "{to}");
    }
    for (from, to) in [
        ("\"names\"", "\"more\": 1,\n  \"names\""),
        ("  \"preserve\": false,\n", ""),
        ("  \"preserve\": false,\n", "  \"preserve\": false,\n  \"preserve\": false,\n"),
        ("\"folder\": \"", "\"folder\": \"0"),
        ("\"version\": 1", "\"version\": 0"),
        ("\"version\": 1", "\"version\": 2"),
        ("\"version\": 1", "\"version\": -1"),
        ("\"sealane\": \"folder\"", "\"sealane\": \"inventory\""),
        (".sealed", "/sealed"),
        ("\n", " \n"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert!(matches!(refused(open(changed.as_bytes())), FolderError::DescriptionInvalid(_)), "{to}");
    }
    let newer = text.replace("\"version\": 1", "\"version\": 3").replace("\"mac\"", "\"signature\"");
    let FolderError::DescriptionVersion { found, .. } = refused(open(newer.as_bytes())) else { panic!() };
    assert_eq!(found, 3);
    #[cfg(unix)]
    {
        fs::rename(&path, folder.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(matches!(refused(Description::find(&folder)), FolderError::DescriptionInvalid(_)));
        fs::remove_file(&path).unwrap();
    }
    fs::write(&path, vec![b' '; 1 << 20]).unwrap();
    assert!(matches!(refused(Description::find(&folder)), FolderError::DescriptionInvalid(_)));
}

// claim: folder-description
#[test]
fn other_keys_and_exchanged_descriptions() {
    let place = Place::new("keys");
    let identities: Vec<_> = (0..2).map(|_| Identity::generate(Kind::X25519).unwrap()).collect();
    let [first, second] = ["first", "second"].map(|name| place.at(name));
    let recipients = FolderLock::Recipients(identities.iter().map(Identity::recipient).collect());
    let one = DescribedFolder::create(&first, &NewFolder::default(), &recipients).unwrap();
    DescribedFolder::create(&second, &NewFolder::default(), &recipients).unwrap();
    let find = |folder: &Path| Description::find(folder).unwrap().unwrap();
    let expected = one.fingerprint().unwrap();
    for identity in &identities {
        let lock = FolderLock::Identities(vec![identity.clone()]);
        find(&first).open(&lock, Some(&expected)).unwrap();
        // Everybody who knows the recipients can make such a description.
        assert!(matches!(find(&second).open(&lock, Some(&expected)), Err(Error::OtherKey { .. })));
    }
    let stranger = FolderLock::Identities(vec![Identity::generate(Kind::X25519).unwrap()]);
    assert!(matches!(find(&first).open(&stranger, None), Err(Error::NoMatchingKey)));
    assert!(matches!(find(&first).open(&lock(), None), Err(Error::Misuse(_))));
    let (third, own) = (place.at("third"), lock());
    DescribedFolder::create(&third, &NewFolder::default(), &own).unwrap();
    assert!(matches!(refused(find(&third).open(&lock(), None)), FolderError::FolderKey(_)));
    let identity = FolderLock::Identities(vec![identities[0].clone()]);
    assert!(matches!(find(&third).open(&identity, None), Err(Error::Misuse(_))));
    // A copy beside it, as a synchronisation leaves it.
    let copy = ".sealane (conflicted copy)";
    fs::copy(second.join(Description::NAME), third.join(copy)).unwrap();
    let FolderError::SecondDescription { other, .. } = refused(Description::find(&third)) else { panic!() };
    assert_eq!(other, copy);
    fs::write(third.join(copy), "notes").unwrap();
    find(&third);
    // What a killed rotation leaves.
    fs::copy(second.join(Description::NAME), third.join("..sealane.0123456789abcdef.part")).unwrap();
    find(&third);
}

#[test]
fn only_a_new_or_an_empty_folder_is_described() {
    let place = Place::new("create");
    let folder = place.at("a/b");
    let create = || DescribedFolder::create(&folder, &NewFolder::default(), &lock());
    create().unwrap();
    let content = fs::read(folder.join(Description::NAME)).unwrap();
    assert!(matches!(refused(create()), FolderError::DescriptionExists(_)));
    assert_eq!(fs::read(folder.join(Description::NAME)).unwrap(), content);
    fs::remove_file(folder.join(Description::NAME)).unwrap();
    create().unwrap();
    fs::rename(folder.join(Description::NAME), folder.join("x.sealed")).unwrap();
    assert!(matches!(refused(create()), FolderError::NotEmpty { .. }));
    assert_eq!(Folder::list(&folder).unwrap().len(), 1);
    let bad = NewFolder { suffix: "a/b", ..NewFolder::default() };
    let other = place.at("other");
    assert!(matches!(
        DescribedFolder::create(&other, &bad, &lock()),
        Err(Error::Misuse(Misuse::InvalidSuffix))
    ));
    assert!(!other.exists());
}

/// The description is never a source, a target or removed, whatever the sources are called.
#[test]
fn jobs_leave_the_description_alone() {
    let place = Place::new("jobs");
    let [data, out] = ["data", "out"].map(|name| place.at(name));
    fs::create_dir_all(data.join("sub")).unwrap();
    for name in [".sealane", "sub/.sealane", "file"] {
        fs::write(data.join(name), name).unwrap();
    }
    for (number, (suffix, names)) in
        [("", false), (".x", false), ("", true), (".x", true)].into_iter().enumerate()
    {
        let (folder, lock) = (place.at(&format!("folder{number}")), lock());
        let made = DescribedFolder::create(
            &folder,
            &NewFolder { suffix, names, preserve: false, ..Default::default() },
            &lock,
        )
        .unwrap();
        let content = fs::read(made.description().path()).unwrap();
        let encrypt = Operation::Encrypt(made.encrypt_with(&[]).unwrap());
        for _ in 0..2 {
            let failed = run(&made, encrypt.clone(), &data, Some(&folder), |options| options.delete = true);
            match number {
                0 => assert!(
                    matches!(&failed[..], [(path, Error::Folder(FolderError::ReservedName))] if path.ends_with(".sealane")),
                    "{failed:?}"
                ),
                _ => assert!(failed.is_empty(), "{failed:?}"),
            }
        }
        let with = || made.decrypt_with(&[]).unwrap();
        assert!(run(&made, Operation::Verify(with()), &folder, None, |_| ()).is_empty());
        assert!(run(&made, Operation::Decrypt(with()), &folder, Some(&out), |_| ()).is_empty());
        assert_eq!(fs::read(out.join("sub/.sealane")).unwrap(), b"sub/.sealane");
        assert_eq!(out.join(".sealane").exists(), number != 0);
        assert_eq!(fs::read(made.description().path()).unwrap(), content);
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn rotated_and_rewrapped() {
    let place = Place::new("rotate");
    let [data, folder, out] = ["data", "folder", "out"].map(|name| place.at(name));
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("file"), b"hello").unwrap();
    let identities: Vec<_> = (0..2).map(|_| Identity::generate(Kind::X25519).unwrap()).collect();
    let recipients = |at: usize| FolderLock::Recipients(vec![identities[at].recipient()]);
    let identity = |at: usize| FolderLock::Identities(vec![identities[at].clone()]);
    let new = NewFolder { suffix: ".x", names: true, preserve: false, ..Default::default() };
    let made = DescribedFolder::create(&folder, &new, &recipients(0)).unwrap();
    let encrypt = Operation::Encrypt(made.encrypt_with(&[]).unwrap());
    assert!(run(&made, encrypt, &data, Some(&folder), |_| ()).is_empty());
    let open = |at: usize| {
        let found = Description::find(&folder).unwrap().unwrap();
        let expected = made.fingerprint().unwrap();
        found
            .open(&identity(at), None)
            .or_else(|_| Description::find(&folder).unwrap().unwrap().open(&identity(at), Some(&expected)))
    };
    let (mut opened, _) = open(0).unwrap();
    opened.rotate(&identity(0)).unwrap();
    let (mut opened, _) = open(0).unwrap();
    let decrypt = || Operation::Decrypt(opened.decrypt_with(&[]).unwrap());
    assert!(run(&opened, decrypt(), &folder, Some(&out), |_| ()).is_empty());
    let before = opened.content_keys().unwrap().primary().id;
    opened.rewrap(&recipients(1)).unwrap();
    assert!(open(0).is_err());
    let (mut opened, _) = open(1).unwrap();
    assert_eq!(opened.content_keys().unwrap().primary().id, before);
    opened.retire(&identity(1)).unwrap();
    let (opened, _) = open(1).unwrap();
    let failed = run(&opened, Operation::Verify(opened.decrypt_with(&[]).unwrap()), &folder, None, |_| ());
    assert!(matches!(&failed[..], [(_, Error::Authentication)]), "{failed:?}");
}

/// Of two values, only one changes the keys, and no job uses keys that change.
#[test]
#[cfg(unix)]
fn changes_of_the_keys_exclude_each_other() {
    let place = Place::new("reserve");
    let (folder, lock) = (place.at("folder"), lock());
    DescribedFolder::create(&folder, &NewFolder::default(), &lock).unwrap();
    let open = || Description::find(&folder).unwrap().unwrap().open(&lock, None).unwrap().0;
    let busy = |result: Result<()>| match result {
        Err(Error::Io { source, .. }) => assert_eq!(source.kind(), ErrorKind::ResourceBusy),
        other => panic!("{other:?}"),
    };
    let (mut one, mut two, mut options) = (open(), open(), JobOptions::default());
    one.reserve().unwrap();
    one.rotate(&lock).unwrap();
    busy(two.rotate(&lock));
    busy(two.configure(&mut options));
    one.configure(&mut options).unwrap();
    drop((one, options));
    // The keys have changed since.
    let mut options = JobOptions::default();
    busy(two.rotate(&lock));
    drop(two);
    let (mut three, used) = (open(), open());
    used.configure(&mut options).unwrap();
    busy(three.retire(&lock));
    drop(options);
    three.retire(&lock).unwrap();
    busy(used.configure(&mut JobOptions::default()));
    // A description that was read before is not called a forgery.
    let (earlier, mut four) = (Description::find(&folder).unwrap().unwrap(), open());
    four.rotate(&lock).unwrap();
    let key = four.fingerprint().unwrap();
    busy(earlier.open(&lock, Some(&key)).map(drop));
}

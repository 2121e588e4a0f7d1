//! New recipients for age files, whose payload stays the same.

use sealane::age::{Identity, Kind, Recipient};
use sealane::file::{
    DecryptWith, EncryptWith, Options, Rewrap, decrypt, decrypt_file, encrypt, rewrap_file, verify_file,
};
use sealane::{Error, Key, Misuse, age::Armor};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A folder that is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("sealane-rewrap-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes an encrypted file of this length and returns its path and its plaintext.
    fn encrypted(&self, recipients: &[Recipient], len: usize, armor: Armor) -> (PathBuf, Vec<u8>) {
        let plain: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        let path = self.path(&format!("{len}.age"));
        fs::write(&path, encrypt(&plain, &EncryptWith::age(recipients, armor)).unwrap()).unwrap();
        (path, plain)
    }

    fn names(&self) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<_> = fs::read_dir(&self.0).unwrap().map(name).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn identity() -> Identity {
    Identity::generate(Kind::X25519).unwrap()
}

fn rewrap(old: &Identity, new: &[Recipient]) -> Rewrap {
    Rewrap::new(vec![old.clone()], new.to_vec(), &[]).unwrap()
}

fn opens(path: &Path, identity: &Identity) -> Result<Vec<u8>, Error> {
    decrypt(&fs::read(path).unwrap(), &DecryptWith::age(std::slice::from_ref(identity)))
        .map(|plain| plain.to_vec())
}

#[test]
fn new_recipients_and_the_same_payload() {
    let folder = Folder::new("payload");
    let (old, new, pq) = (identity(), identity(), Identity::generate(Kind::Hybrid).unwrap());
    // Headers of the same length, of another length, and of another type.
    let sets = [vec![new.recipient()], vec![new.recipient(), identity().recipient()], vec![pq.recipient()]];
    for len in [0, 1, 65_536, 65_537, 3_000_000] {
        for set in &sets {
            let (from, plain) = folder.encrypted(&[old.recipient()], len, Armor::Binary);
            let to = folder.path("to");
            rewrap_file(&from, &to, &rewrap(&old, set), Options::default()).unwrap();
            let (before, after) = (fs::read(&from).unwrap(), fs::read(&to).unwrap());
            let payload =
                |file: &[u8]| file[file.windows(5).position(|w| w == b"\n--- ").unwrap() + 49..].to_vec();
            assert!(payload(&before) == payload(&after), "{len}");
            let owner = if set[0].is_post_quantum() { &pq } else { &new };
            assert!(opens(&to, owner).unwrap() == plain, "{len}");
            assert!(matches!(opens(&to, &old), Err(Error::NoMatchingKey)), "{len}");
            assert!(opens(&from, &old).unwrap() == plain, "{len}");
        }
    }
}

#[test]
fn in_place_and_back() {
    let folder = Folder::new("place");
    let (old, new) = (identity(), identity());
    let (path, plain) = folder.encrypted(&[old.recipient()], 200_000, Armor::Binary);
    let linked = folder.path("link");
    fs::hard_link(&path, &linked).unwrap();
    let before = fs::read(&path).unwrap();
    rewrap_file(&path, &path, &rewrap(&old, &[new.recipient()]), Options::default()).unwrap();
    assert!(opens(&path, &new).unwrap() == plain);
    assert!(fs::read(&linked).unwrap() == before, "the old file is replaced and not changed");
    rewrap_file(&path, &path, &rewrap(&new, &[old.recipient()]), Options::default()).unwrap();
    assert!(opens(&path, &old).unwrap() == plain);
    assert_eq!(folder.names(), ["200000.age", "link"]);
}

#[test]
fn armored_files_stay_armored() {
    let folder = Folder::new("armor");
    let (old, new) = (identity(), identity());
    for len in [0, 47, 48, 49, 3_000_000] {
        let (path, plain) = folder.encrypted(&[old.recipient()], len, Armor::Ascii);
        rewrap_file(&path, &path, &rewrap(&old, &[new.recipient()]), Options::default()).unwrap();
        assert!(fs::read(&path).unwrap().starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----\n"));
        assert!(opens(&path, &new).unwrap() == plain, "{len}");
        verify_file(&path, &DecryptWith::age(std::slice::from_ref(&new)), Options::default()).unwrap();
    }
}

#[test]
fn passphrases() {
    let folder = Folder::new("passphrase");
    let light = |text| Recipient::passphrase_with_work_factor(text, 5).unwrap();
    let (path, plain) = folder.encrypted(&[light("one")], 1000, Armor::Binary);
    let with = rewrap(&Identity::passphrase("one"), &[light("two")]);
    rewrap_file(&path, &path, &with, Options::default()).unwrap();
    let error = rewrap_file(&path, &path, &with, Options::default()).unwrap_err();
    assert!(matches!(error, Error::WrongPassphrase), "{error}");
    let new = identity();
    let with = rewrap(&Identity::passphrase("two"), &[new.recipient()]);
    rewrap_file(&path, &path, &with, Options::default()).unwrap();
    assert!(opens(&path, &new).unwrap() == plain);
}

/// Each error, and whether the target is unchanged and nothing else remains.
#[test]
fn failures_change_nothing() {
    let folder = Folder::new("failures");
    let (old, new) = (identity(), identity());
    let (from, _) = folder.encrypted(&[old.recipient()], 300_000, Armor::Binary);
    let whole = fs::read(&from).unwrap();
    let to = folder.path("to");
    fs::write(&to, b"as before").unwrap();
    let fails = |with: &Rewrap, options: Options<'_>| {
        let error = rewrap_file(&from, &to, with, options).unwrap_err();
        assert_eq!(fs::read(&to).unwrap(), b"as before", "{error}");
        assert_eq!(folder.names(), ["300000.age", "to"], "{error}");
        error
    };
    let with = rewrap(&old, &[new.recipient()]);
    let error = fails(&rewrap(&new, &[new.recipient()]), Options::default());
    assert!(matches!(error, Error::NoMatchingKey), "{error}");
    let error = fails(&rewrap(&Identity::passphrase("x"), &[new.recipient()]), Options::default());
    assert!(matches!(error, Error::IdentityRequired), "{error}");
    let mut stop = |_, _| ControlFlow::Break(());
    let error = fails(&with, Options { progress: Some(&mut stop), ..Options::default() });
    assert!(matches!(error, Error::Cancelled), "{error}");

    // Other files, damaged headers, and files that end too early.
    let key_file = encrypt(b"hello", &EncryptWith::key(&Key::from_bytes(&[1; 32]), b"")).unwrap();
    for (content, format) in [(&key_file[..], true), (b"hello", true), (b"", false), (&whole[..100], false)] {
        fs::write(&from, content).unwrap();
        let error = fails(&with, Options::default());
        assert!(
            matches!((&error, format), (Error::Format(_), true) | (Error::Truncated, false)),
            "{}: {error}",
            content.len()
        );
    }
    let header = whole.windows(5).position(|w| w == b"\n--- ").unwrap() + 49;
    for len in [header, header + 15, header + 16, header + 31] {
        fs::write(&from, &whole[..len]).unwrap();
        assert!(matches!(fails(&with, Options::default()), Error::Truncated), "{len}");
    }
    let mut changed = whole.clone();
    changed[header - 3] = if changed[header - 3] == b'A' { b'E' } else { b'A' };
    fs::write(&from, changed).unwrap();
    let error = fails(&with, Options::default());
    assert!(matches!(error, Error::Header(_)), "{error}");
}

#[test]
fn no_output_replaces_an_input() {
    let folder = Folder::new("inputs");
    let (old, new) = (identity(), identity());
    let (from, _) = folder.encrypted(&[old.recipient()], 100, Armor::Binary);
    let key = folder.path("key");
    fs::write(&key, b"secret").unwrap();
    let with = Rewrap::new(vec![old], vec![new.recipient()], &[key.clone(), from.clone()]).unwrap();
    let error = rewrap_file(&from, &key, &with, Options::default()).unwrap_err();
    assert!(matches!(error, Error::Misuse(Misuse::OutputIsInput { .. })), "{error}");
    assert_eq!(fs::read(&key).unwrap(), b"secret");
    // The file itself is replaced on purpose.
    rewrap_file(&from, &from, &with, Options::default()).unwrap();
    assert!(matches!(
        Rewrap::new(vec![], vec![new.recipient()], &[]),
        Err(Error::Misuse(Misuse::NoIdentities))
    ));
    let error = Rewrap::new(vec![new], vec![], &[]).unwrap_err();
    assert!(matches!(error, Error::Misuse(Misuse::InvalidRecipients(_))), "{error}");
}

#[test]
#[cfg(unix)]
fn rights_stay_and_devices_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("rights");
    let (old, new) = (identity(), identity());
    let (path, _) = folder.encrypted(&[old.recipient()], 100, Armor::Binary);
    let with = rewrap(&old, &[new.recipient()]);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
    rewrap_file(&path, &path, &with, Options::default()).unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o604);
    let error = rewrap_file(Path::new("/dev/null"), &path, &with, Options::default()).unwrap_err();
    assert!(matches!(error, Error::Misuse(Misuse::UnsupportedSource(_))), "{error}");
}

/// Progress counts the bytes of the payload, and the last report is all of them.
#[test]
fn progress_counts_the_payload() {
    let folder = Folder::new("progress");
    let (old, new) = (identity(), identity());
    let (from, plain) = folder.encrypted(&[old.recipient()], 5 << 20, Armor::Binary);
    for recipients in [vec![new.recipient()], vec![new.recipient(), old.recipient()]] {
        let mut reports = Vec::new();
        let mut hear = |done, total| {
            reports.push((done, total));
            ControlFlow::Continue(())
        };
        let options = Options { progress: Some(&mut hear), ..Options::default() };
        rewrap_file(&from, &folder.path("to"), &rewrap(&old, &recipients), options).unwrap();
        let len = (5 << 20) + 16 + 80 * 16;
        assert_eq!(reports.last(), Some(&(len, Some(len))));
    }
    decrypt_file(&folder.path("to"), &folder.path("back"), &DecryptWith::age(&[new]), Options::default())
        .unwrap();
    assert!(fs::read(folder.path("back")).unwrap() == plain);
}

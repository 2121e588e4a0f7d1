//! Inventories of encrypted folders in files, with their signatures, and the folders that are
//! compared with them.

use base64ct::{Base64, Encoding};
use sealane::age::{Armor, Identity, Kind};
use sealane::file::{
    DecryptWith, Difference, Durability, EncryptWith, FileMark, Inventory, InventoryDraft, InventoryKeys,
    compare_inventory, decrypt, encrypt, write_inventory,
};
use sealane::signature::{Signers, SigningKey};
use sealane::{Error, FolderError, Key};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A folder `root` with encrypted files, and the inventory `list` beside it.
struct Vault {
    folder: PathBuf,
    root: PathBuf,
    list: PathBuf,
    key: SigningKey,
}

/// The SSH key, another one, and the minisign key of the vectors.
fn signing_key(id: &str) -> SigningKey {
    let case = vectors::signatures().into_iter().find(|case| case.id == id).unwrap();
    SigningKey::parse(case.secret_key.as_bytes(), case.passphrase.as_deref()).unwrap()
}

const SSH: &str = "1";
const OTHER_SSH: &str = "4";
const MINISIGN: &str = "8";

fn with() -> EncryptWith {
    EncryptWith::key(&Key::from_bytes(&[7; 32]), b"vault")
}

fn opening() -> DecryptWith {
    DecryptWith::key(&Key::from_bytes(&[7; 32]), b"vault")
}

impl Vault {
    fn new(name: &str, key: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("sealane-vault-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let root = folder.join("root");
        fs::create_dir_all(root.join("sub")).unwrap();
        for name in ["a", "sub/b"] {
            fs::write(root.join(name), encrypt(name.as_bytes(), &with()).unwrap()).unwrap();
        }
        symlink("a", root.join("link")).unwrap();
        Self { list: folder.join("list"), folder, root, key: signing_key(key) }
    }

    fn keys(&self) -> InventoryKeys<'_> {
        InventoryKeys { path: &self.list, key: &self.key, folder: None }
    }

    fn write(&self) -> Result<Inventory, Error> {
        write_inventory(&self.root, &self.keys(), &with(), Durability::default())
    }

    fn open(&self, min_counter: u64) -> Result<Inventory, Error> {
        Inventory::open(&self.list, &opening(), &Signers::from(&self.key), min_counter, None)
    }

    fn signature(&self) -> PathBuf {
        self.folder.join(format!("list{}", self.key.suffix()))
    }

    fn findings(&self) -> Vec<(String, Difference)> {
        let found = compare_inventory(&self.root, &self.open(0).unwrap()).unwrap();
        found.into_iter().map(|one| (one.path.display().to_string(), one.difference)).collect()
    }
}

impl Drop for Vault {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn folder_error<T>(found: Result<T, Error>) -> FolderError {
    match found {
        Err(Error::Folder(error)) => error,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn a_folder_is_compared_with_its_inventory() {
    for key in [SSH, MINISIGN] {
        let vault = Vault::new(&format!("compared-{key}"), key);
        let first = vault.write().unwrap();
        assert_eq!(first.len(), 2);
        let opened = vault.open(first.counter()).unwrap();
        assert_eq!((opened.len(), opened.counter()), (2, first.counter()));
        assert_eq!(vault.findings(), []);
        fs::rename(vault.root.join("a"), vault.root.join("c")).unwrap();
        fs::remove_file(vault.root.join("link")).unwrap();
        symlink("a", vault.root.join("other")).unwrap();
        let expected = [
            ("c".to_owned(), Difference::Renamed { from: "a".into() }),
            ("link".to_owned(), Difference::Missing),
            ("other".to_owned(), Difference::Added),
        ];
        assert_eq!(vault.findings(), expected);
        // The next inventory lists what is there now, and the file that is gone as a former
        // version.
        let second = vault.write().unwrap();
        assert!(second.counter() > first.counter());
        assert_eq!(vault.findings(), []);
        fs::copy(vault.root.join("c"), vault.root.join("a")).unwrap();
        assert_eq!(vault.findings(), [("a".to_owned(), Difference::Copied { from: "c".into() })]);
        fs::remove_file(vault.root.join("c")).unwrap();
        assert_eq!(vault.findings(), [("a".to_owned(), Difference::Renamed { from: "c".into() })]);
        fs::write(vault.root.join("sub/b"), encrypt(b"new", &with()).unwrap()).unwrap();
        assert_eq!(vault.findings()[1], ("sub/b".to_owned(), Difference::Changed));
    }
}

/// A version that was replaced is known as an old one in later inventories.
#[test]
fn an_old_version_comes_back() {
    let vault = Vault::new("old", SSH);
    vault.write().unwrap();
    let old = fs::read(vault.root.join("a")).unwrap();
    fs::write(vault.root.join("a"), encrypt(b"new", &with()).unwrap()).unwrap();
    let second = vault.write().unwrap();
    vault.write().unwrap();
    fs::write(vault.root.join("a"), old).unwrap();
    let expected = Difference::Old { until: second.counter() };
    assert_eq!(vault.findings(), [("a".to_owned(), expected)]);
}

#[test]
fn the_counter_is_at_least_the_smallest_one_that_is_accepted() {
    let vault = Vault::new("counter", SSH);
    let counter = vault.write().unwrap().counter();
    for accepted in [0, counter - 1, counter] {
        assert_eq!(vault.open(accepted).unwrap().counter(), counter);
    }
    for refused in [counter + 1, u64::MAX] {
        let error = folder_error(vault.open(refused));
        let FolderError::OldInventory { path, found, expected } = error else { panic!("{error:?}") };
        assert_eq!((path, found, expected), (vault.list.clone(), counter, refused));
    }
}

#[test]
fn signatures_of_inventories() {
    let vault = Vault::new("signatures", SSH);
    vault.write().unwrap();
    let (content, signature) = (fs::read(&vault.list).unwrap(), fs::read(vault.signature()).unwrap());
    for changed in [&content[..content.len() - 1], &[&content[..], b"x"].concat(), b""] {
        fs::write(&vault.list, changed).unwrap();
        let error = folder_error(vault.open(0));
        let FolderError::SignatureInvalid { path, signature } = error else { panic!("{error:?}") };
        assert_eq!((path, signature), (vault.list.clone(), vault.signature()));
    }
    fs::write(&vault.list, &content).unwrap();
    for changed in [&signature[..signature.len() - 40], b"nothing", b"", b"\xff"] {
        fs::write(vault.signature(), changed).unwrap();
        assert!(matches!(folder_error(vault.open(0)), FolderError::SignatureInvalid { .. }));
    }
    // At most 64 KiB are read.
    let padded = |len: usize| [&signature[..], &vec![b'\n'; len - signature.len()]].concat();
    fs::write(vault.signature(), padded(1 << 16)).unwrap();
    assert!(matches!(folder_error(vault.open(0)), FolderError::SignatureInvalid { .. }));
    fs::write(vault.signature(), padded((1 << 16) + 1)).unwrap();
    assert!(matches!(vault.open(0), Err(Error::LimitExceeded(_))));
    fs::remove_file(vault.signature()).unwrap();
    let error = folder_error(vault.open(0));
    assert!(matches!(&error, FolderError::SignatureMissing(path) if *path == vault.list), "{error:?}");
    assert_eq!(
        error.to_string(),
        format!(
            "{0}: expected a signature in {0}.sig or {0}.minisig, found none; take another copy",
            vault.list.display()
        )
    );
    // A signature that cannot be read is not the same as one that does not exist.
    fs::create_dir(vault.signature()).unwrap();
    let Err(Error::Io { path: Some(path), .. }) = vault.open(0) else { panic!("it is a folder") };
    assert_eq!(path, vault.signature());
    fs::remove_dir(vault.signature()).unwrap();

    fs::write(vault.signature(), &signature).unwrap();
    let other = Signers::from(&signing_key(OTHER_SSH));
    let error = folder_error(Inventory::open(&vault.list, &opening(), &other, 0, None));
    assert!(matches!(error, FolderError::OtherSigner(path) if path == vault.signature()));
    // One valid signature is enough, whatever the other one is.
    fs::write(vault.folder.join("list.minisig"), "nothing").unwrap();
    assert!(vault.open(0).is_ok());
    let missing = Inventory::open(&vault.folder.join("none"), &opening(), &other, 0, None);
    assert!(matches!(missing, Err(Error::Io { path: Some(_), .. })));
    let wrong = DecryptWith::key(&Key::from_bytes(&[8; 32]), b"vault");
    assert!(Inventory::open(&vault.list, &wrong, &Signers::from(&vault.key), 0, None).is_err());
}

/// What is signed and encrypted must also be an inventory.
#[test]
fn signed_files_of_another_kind() {
    let vault = Vault::new("kind", SSH);
    let store = |plain: &[u8]| {
        let sealed = encrypt(plain, &with()).unwrap();
        fs::write(vault.signature(), vault.key.sign(&sealed, "").unwrap()).unwrap();
        fs::write(&vault.list, sealed).unwrap();
        vault.open(0)
    };
    assert!(matches!(store(b"{}"), Err(Error::Format(_))));
    let json = |version: u64, name: &str| {
        let link = format!("{{\"name\":\"{name}\",\"target\":\"x\"}}");
        format!(
            "{{\"sealane\":\"inventory\",\"version\":{version},\"counter\":7,\"files\":[],\"links\":[{link}],\"former\":[]}}"
        )
    };
    assert_eq!(store(json(1, "l").as_bytes()).unwrap().counter(), 7);
    assert!(matches!(store(json(3, "l").as_bytes()), Err(Error::UnsupportedVersion(_))));
    assert!(matches!(folder_error(store(json(1, "../l").as_bytes())), FolderError::InventoryName(_)));
}

#[test]
fn the_inventory_before() {
    let vault = Vault::new("previous", SSH);
    assert!(vault.keys().previous(&with()).unwrap().is_none());
    let first = vault.write().unwrap();
    let previous = vault.keys().previous(&with()).unwrap().unwrap();
    assert_eq!((previous.counter(), previous.len()), (first.counter(), 2));
    // Recipients cannot decrypt it, but the signature is verified.
    let recipient = Identity::generate(Kind::X25519).unwrap().recipient();
    let recipients = EncryptWith::age(&[recipient], Armor::Binary);
    assert!(vault.keys().previous(&recipients).unwrap().is_none());
    fs::remove_file(vault.signature()).unwrap();
    for with in [&recipients, &with()] {
        assert!(matches!(folder_error(vault.keys().previous(with)), FolderError::SignatureMissing(_)));
    }
    fs::remove_file(&vault.list).unwrap();
    assert!(vault.keys().previous(&recipients).unwrap().is_none());
}

/// Files that the job removed are former versions; without that, they are missing.
#[test]
fn drafts_are_saved() {
    let vault = Vault::new("drafts", MINISIGN);
    assert_eq!(vault.keys().paths(), [vault.list.clone(), vault.signature()]);
    let save = |removed| {
        let mut draft = InventoryDraft::after(vault.keys().previous(&with()).unwrap());
        let path = vault.root.join("a");
        draft.add(&vault.root, &path, FileMark::of(&path).unwrap()).unwrap();
        vault.keys().save(draft, &vault.root, removed, &with(), Durability::default()).unwrap()
    };
    vault.write().unwrap();
    let [b, link] = ["sub/b", "link"].map(|name| vault.root.join(name));
    fs::remove_file(&b).unwrap();
    fs::remove_file(&link).unwrap();
    assert_eq!(save(false).len(), 2);
    let missing = ["link", "sub/b"].map(|name| (name.to_owned(), Difference::Missing));
    assert_eq!(vault.findings(), missing);
    let last = save(true);
    assert_eq!((last.len(), vault.findings()), (1, vec![]));
    let text = fs::read_to_string(vault.signature()).unwrap();
    let comment = format!("\ntrusted comment: sealane inventory, counter {}\n", last.counter());
    assert!(text.contains(&comment), "{text}");
    let json = decrypt(&fs::read(&vault.list).unwrap(), &opening()).unwrap();
    let json = String::from_utf8(json.to_vec()).unwrap();
    let begin = format!(
        "{{\"sealane\":\"inventory\",\"version\":2,\"folder\":\"{}\",\"counter\":",
        last.folder().unwrap()
    );
    assert!(json.starts_with(&begin), "{json}");
    assert!(json.contains("\"links\":[\n],"), "{json}");
}

#[test]
fn an_inventory_in_its_folder_is_refused() {
    let vault = Vault::new("inside", SSH);
    let missing = vault.folder.join("none/list");
    for (path, is_refused) in [
        (vault.root.join("list"), true),
        (vault.root.join("sub/list"), true),
        (vault.root.join("sub/../list"), true),
        (vault.list.clone(), false),
        (missing, false),
        (PathBuf::from("list"), false),
    ] {
        let keys = InventoryKeys { path: &path, key: &vault.key, folder: None };
        let found = keys.check_outside(&[vault.folder.join("nowhere"), vault.root.clone()]);
        assert_eq!(found.is_err(), is_refused, "{path:?}");
        if is_refused {
            assert!(matches!(folder_error(found), FolderError::InventoryInside(named) if named == path));
        }
    }
    // A name without a folder is in the current folder.
    let keys = InventoryKeys { path: Path::new("list"), key: &vault.key, folder: None };
    assert!(matches!(folder_error(keys.check_outside(&["."])), FolderError::InventoryInside(_)));
    let inside = InventoryKeys { path: &vault.root.join("list"), key: &vault.key, folder: None };
    let found = write_inventory(&vault.root, &inside, &with(), Durability::default());
    assert!(matches!(folder_error(found), FolderError::InventoryInside(_)));
    assert!(!vault.root.join("list").exists());
}

/// No inventory is written of a folder with a file that is too short for one.
#[test]
fn folders_that_cannot_be_listed() {
    let vault = Vault::new("problems", SSH);
    fs::write(vault.root.join("short"), "x").unwrap();
    assert!(matches!(vault.write(), Err(Error::Truncated)));
    assert!(!vault.list.exists() && !vault.signature().exists());
    fs::remove_file(vault.root.join("short")).unwrap();
    let inventory = vault.write().unwrap();
    assert!(compare_inventory(&vault.root.join("none"), &inventory).is_err());
}

/// The identifier is made once, kept, and checked like the counter.
// claim: folder-identifier
#[test]
fn an_inventory_names_its_folder() {
    let vault = Vault::new("identifier", SSH);
    let (first, second) = (vault.write().unwrap(), vault.write().unwrap());
    let folder = first.folder().unwrap().to_owned();
    assert_eq!((second.folder(), folder.len()), (Some(&*folder), 32));
    let other = Vault::new("identifier-2", SSH);
    let foreign = other.write().unwrap().folder().unwrap().to_owned();
    assert_ne!(foreign, folder);
    let open = |vault: &Vault, folder: &str| {
        Inventory::open(&vault.list, &opening(), &Signers::from(&vault.key), 0, Some(folder))
    };
    assert_eq!(open(&vault, &folder).unwrap().counter(), second.counter());
    // Another folder with its inventory, in the place of both.
    fs::copy(&other.list, &vault.list).unwrap();
    fs::copy(other.signature(), vault.signature()).unwrap();
    let error = folder_error(open(&vault, &folder));
    let FolderError::OtherFolder { path, found, expected } = error else { panic!("{error:?}") };
    assert_eq!((path, found, expected), (vault.list.clone(), Some(foreign), folder.clone()));
    // The next job does not take it over either.
    let keys = InventoryKeys { folder: Some(&folder), ..vault.keys() };
    let written = write_inventory(&vault.root, &keys, &with(), Durability::default());
    assert!(matches!(folder_error(written), FolderError::OtherFolder { .. }));
    // Recipients cannot read the identifier and give it.
    let recipient = Identity::generate(Kind::X25519).unwrap();
    let recipients = EncryptWith::age(&[recipient.recipient()], Armor::Binary);
    for _ in 0..2 {
        let written = write_inventory(&vault.root, &keys, &recipients, Durability::default()).unwrap();
        assert_eq!(written.folder(), Some(&*folder));
    }
    for bad in ["", "x", &folder[1..], &folder.to_uppercase().replace(char::is_numeric, "A")] {
        fs::remove_file(&vault.list).unwrap_or_default();
        let keys = InventoryKeys { folder: Some(bad), ..vault.keys() };
        let written = write_inventory(&vault.root, &keys, &with(), Durability::default());
        assert!(matches!(folder_error(written), FolderError::InvalidIdentifier(found) if found == bad));
    }
}

/// Version 1 names no folder, so it cannot be the expected one.
// claim: folder-identifier
#[test]
fn an_inventory_of_version_1_is_read_and_replaced() {
    let vault = Vault::new("first-version", SSH);
    let list = |name: &str| {
        let content = fs::read(vault.root.join(name)).unwrap();
        let field = |bytes: &[u8]| Base64::encode_string(bytes);
        let (head, tag) = (field(&content[..56]), field(&content[content.len() - 16..]));
        let len = content.len();
        format!("{{\"name\":\"{name}\",\"length\":{len},\"head\":\"{head}\",\"tag\":\"{tag}\",\"since\":5}}")
    };
    let link = "{\"name\":\"link\",\"target\":\"a\"}";
    let files = format!("[{},{}]", list("a"), list("sub/b"));
    let json = format!(
        "{{\"sealane\":\"inventory\",\"version\":1,\"counter\":7,\"files\":{files},\"links\":[{link}],\"former\":[]}}"
    );
    let sealed = encrypt(json.as_bytes(), &with()).unwrap();
    fs::write(vault.signature(), vault.key.sign(&sealed, "").unwrap()).unwrap();
    fs::write(&vault.list, sealed).unwrap();
    assert_eq!((vault.open(7).unwrap().folder(), vault.findings()), (None, vec![]));
    let folder = "00112233445566778899aabbccddeeff";
    let strict = Inventory::open(&vault.list, &opening(), &Signers::from(&vault.key), 0, Some(folder));
    let error = folder_error(strict);
    assert!(error.to_string().contains("one of version 1"), "{error}");
    assert!(matches!(error, FolderError::OtherFolder { found: None, .. }));
    let keys = InventoryKeys { folder: Some(folder), ..vault.keys() };
    let next = write_inventory(&vault.root, &keys, &with(), Durability::default()).unwrap();
    assert_eq!((next.folder(), next.counter() > 7, vault.findings()), (Some(folder), true, vec![]));
}

/// A path that cannot be read is a difference and hides no other.
// claim: folder-inventory
#[test]
fn paths_that_cannot_be_compared_are_differences() {
    let vault = Vault::new("unreadable", SSH);
    vault.write().unwrap();
    fs::write(vault.root.join("short"), "x").unwrap();
    fs::write(vault.root.join("empty"), "").unwrap();
    symlink("/nowhere", vault.root.join("dangling")).unwrap();
    let pipe = |path: &Path| {
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    };
    pipe(&vault.root.join("pipe"));
    fs::remove_file(vault.root.join("a")).unwrap();
    pipe(&vault.root.join("a"));
    let _socket = std::os::unix::net::UnixListener::bind(vault.root.join("socket")).unwrap();
    fs::write(vault.root.join("sub/b"), "replaced").unwrap();
    let found = vault.findings();
    let names: Vec<_> = found.iter().map(|(path, what)| (path.as_str(), what.name())).collect();
    let expected = [
        ("a", "unreadable"),
        ("dangling", "added"),
        ("empty", "added"),
        ("pipe", "unreadable"),
        ("short", "added"),
        ("socket", "unreadable"),
        ("sub/b", "changed"),
    ];
    assert_eq!(names, expected);
    let Difference::Unreadable { reason } = &found[0].1 else { unreachable!() };
    assert!(reason.contains("found a pipe"), "{reason}");
    // No inventory lists what cannot be read.
    assert!(matches!(vault.write(), Err(Error::Io { path: Some(_), .. } | Error::Truncated)));
    // Nor does it wait for a pipe in the place of the signature.
    fs::remove_file(vault.signature()).unwrap();
    pipe(&vault.signature());
    let Err(Error::Io { path, source }) = vault.open(0) else { panic!("opened") };
    assert_eq!(path, Some(vault.signature()));
    assert!(source.to_string().contains("found a pipe"), "{source}");
}

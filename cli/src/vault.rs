//! Vaults, and the paths in them by plaintext names.
//!
//! A path is in a vault if one of its folders has the description of a vault. In those of other
//! tools only with a passphrase: with a key, a path means an encrypted file, wherever it lies. A
//! URL is read like a path, and an encrypted file at one is a vault that contains it alone.

use crate::described::{self, Described};
use crate::keys::{self, Inputs};
use crate::passphrase;
use crate::prelude::*;
use crate::{args, endpoints, stream, url};
use sealane::file::Description;
use sealane::os::{path_of, to_bytes};
use sealane::vault::{
    EntryKind, LocalFolder, OwnFolder, Rclone, SingleFile, Storage, Vault, check_remains, detect, marks,
    open_file, rclone_config, unlock,
};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Component;

/// A place in an open vault.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) vault: Arc<dyn Vault>,
    /// Where the vault lies, for messages.
    pub(crate) root: PathBuf,
    /// The path in the vault; empty for the vault itself.
    pub(crate) path: Vec<u8>,
    /// The folder that describes itself, if the vault is one.
    pub(crate) own: Option<Arc<Described>>,
    /// The remote of rclone that the vault is.
    pub(crate) remote: Option<String>,
}

impl Place {
    /// Returns the name for messages.
    pub(crate) fn name(&self) -> String {
        match &*self.path {
            // `join` would add a slash.
            [] => name(&self.root),
            path => name(&self.root.join(path_of(path))),
        }
    }

    /// Names an error about the place.
    pub(crate) fn about(&self, error: Error) -> Failure {
        let is_missing = matches!(&error, Error::Io { source, .. } if source.kind() == ErrorKind::NotFound);
        let failure = Failure::about(&self.name(), error);
        match self.remote.as_ref().filter(|_| is_missing) {
            Some(remote) => failure.and(&format!("with --rclone, paths begin inside {remote}")),
            None if is_missing && self.own.is_none() => {
                failure.and("a path in a vault has plaintext names, as 'sealane ls' prints them")
            }
            None => failure,
        }
    }

    /// Returns what the place is.
    pub(crate) fn kind(&self) -> Result<EntryKind> {
        sealane::vault::find(&*self.vault, &self.path).map(|found| found.kind).map_err(|e| self.about(e))
    }

    /// Prints a range of a file, and returns standard output.
    pub(crate) fn print(&self, range: Range<u64>, console: &Console) -> Result<File> {
        let out = endpoints::stdout().map_err(|e| Failure::stdout(&e))?;
        let contents = open_file(&*self.vault, &self.path).map_err(|e| self.about(e))?;
        stream::print(&*contents, range, &self.name(), out, console)
    }
}

/// Opens the vaults of a command's paths, each of them once.
pub(crate) struct Vaults<'a> {
    with: &'a args::DecryptWith,
    console: &'a Console,
    open: BTreeMap<PathBuf, Opened>,
}

/// A vault, and the description with which it was opened, if it has one.
type Opened = (Arc<dyn Vault>, Option<Arc<Described>>);

impl<'a> Vaults<'a> {
    pub(crate) fn new(with: &'a args::DecryptWith, console: &'a Console) -> Self {
        Self { with, console, open: BTreeMap::new() }
    }

    /// Opens the vault of a job's only input, or returns `None` if no input is in a vault.
    pub(crate) fn find_only(&mut self, inputs: &[PathBuf]) -> Result<Option<Place>> {
        match inputs {
            [input] => self.find(input),
            inputs => {
                let is_vault = |input: &PathBuf| match url::of(input) {
                    Some(_) => Ok(true),
                    None => self.locate(input).map(|found| found.is_some()),
                };
                match inputs.iter().map(is_vault).collect::<Result<Vec<_>, _>>()?.contains(&true) {
                    true => Err(Failure::misuse(
                        "expected one vault, found several inputs; process them one at a time",
                    )),
                    false => Ok(None),
                }
            }
        }
    }

    /// Opens the vault that `path` is in, or returns `None` if it is in none.
    pub(crate) fn find(&mut self, path: &Path) -> Result<Option<Place>> {
        if let Some(url) = url::of(path).filter(|_| self.with.rclone.is_none()) {
            return self.find_at(url.trim_end_matches('/')).map(Some);
        }
        let Some((root, path)) = self.locate(path)? else { return Ok(None) };
        let (vault, own) = match self.open.get(&root) {
            Some(opened) => opened.clone(),
            None => self.unlock(&root)?,
        };
        self.open.insert(root.clone(), (vault.clone(), own.clone()));
        let path = vault.plain_path(&path).unwrap_or(path);
        Ok(Some(Place { vault, root, path, own, remote: self.with.rclone.clone() }))
    }

    /// Returns whether an input of a job means a path in a vault, and not an encrypted file.
    pub(crate) fn contain(&self, inputs: &[PathBuf]) -> bool {
        let is_inside = |input: &PathBuf| {
            url::of(input).is_some()
                || described::contains(input)
                || self.with.has_passphrase() && input != Path::new("-") && foreign(input).is_some()
        };
        self.with.rclone.is_some() || inputs.iter().any(is_inside)
    }

    /// Opens the vault that a URL is in, or the encrypted file there.
    fn find_at(&mut self, url: &str) -> Result<Place> {
        // Every `root` is the beginning of the URL.
        let below = |root: &str| url[root.len()..].trim_start_matches('/');
        for root in url::above(url) {
            let vault = match self.open.get(Path::new(root)) {
                Some((vault, _)) => Some(vault.clone()),
                None => self.unlock_at(root)?.map(Arc::from),
            };
            if let Some(vault) = vault {
                self.open.insert(root.into(), (vault.clone(), None));
                let path = below(root).as_bytes();
                let path = vault.plain_path(path).unwrap_or_else(|| path.to_vec());
                return Ok(Place { vault, root: root.into(), path, own: None, remote: None });
            }
        }
        let folder = url::above(url).nth(1).unwrap_or(url);
        let file = below(folder);
        let (storage, _) = url::open(folder)?;
        let with = keys::decrypt_with(self.with, Inputs::default(), self.console)?;
        let found = SingleFile::stored(&*storage, file.as_bytes(), &with);
        let found = found.map_err(|error| Failure::about(&name(Path::new(url)), error))?;
        let path = found.name().to_vec();
        Ok(Place { vault: Arc::new(found), root: folder.into(), path, own: None, remote: None })
    }

    /// Opens the vault at a URL, or returns `None` if nothing tells that there is one.
    fn unlock_at(&self, root: &str) -> Result<Option<Box<dyn Vault>>> {
        let about = |error| Failure::about(&name(Path::new(root)), error);
        let Some((storage, description)) = url::find(root)? else { return Ok(None) };
        match OwnFolder::description(&*storage, &description) {
            // A server may refuse to say what is not there. Then it refuses the file too.
            Err(Error::Io { .. }) if self.with.has_passphrase() && is_marked(&*storage) => {
                let text = passphrase::ask(&self.with.asked, &name(Path::new(root)))?;
                unlock(storage, text.as_bytes()).map(Some).map_err(about)
            }
            Err(Error::Io { .. }) => Ok(None),
            found => {
                let opened = Described::open(found.map_err(about)?, &self.with.unlock(), self.console)?;
                Ok(Some(Box::new(OwnFolder::new(storage, &opened.folder).map_err(about)?)))
            }
        }
    }

    /// Opens the vault that `path` is in.
    pub(crate) fn expect(&mut self, path: &Path) -> Result<Place> {
        if let Some(found) = self.find(path)? {
            return Ok(found);
        }
        let subject = name(path);
        path.symlink_metadata().map_err(|e| Failure::io(&subject, &e))?;
        match path.join(Description::NAME).symlink_metadata() {
            // Without the right to search the folder, nothing tells what it is.
            Err(e) if e.kind() == ErrorKind::PermissionDenied => return Err(Failure::io(&subject, &e)),
            _ => {}
        }
        let (marks, next) = match self.with.has_passphrase() {
            true => (marks().collect(), "name the vault's folder, or an rclone remote with --rclone"),
            false => (Vec::new(), "a vault of another tool has a passphrase, and no key"),
        };
        let marks = [marks, vec![".sealane"]].concat().join(", ");
        let text = format!("{subject}: expected a path in a vault, found none of {marks}; {next}");
        Err(Failure::misuse(text).or_lost(path))
    }

    /// Returns the folder of the vault that `path` is in, and the path in the vault.
    fn locate(&self, path: &Path) -> Result<Option<(PathBuf, Vec<u8>)>> {
        if self.with.rclone.is_none() {
            let above =
                |path: &Path| Description::find_above(path).map_err(|e| Failure::about(&name(path), e));
            // A relative path may begin inside the vault.
            let found = match above(path)? {
                None => std::path::absolute(path).map_or(Ok(None), |path| above(&path))?,
                found => found,
            };
            if let Some((found, below)) = found {
                return Ok(Some((parent(found.path()).to_owned(), names_of(&below, path)?)));
            }
        }
        if !self.with.has_passphrase() {
            return Ok(None);
        }
        if let Some(remote) = &self.with.rclone {
            let below = path.strip_prefix("/").unwrap_or(path);
            return Ok(Some((rclone(remote)?.1, names_of(below, path)?)));
        }
        match foreign(path) {
            Some((root, below)) => Ok(Some((root, names_of(&below, path)?))),
            None => refuse_remains(path).map(|()| None),
        }
    }

    fn unlock(&self, root: &Path) -> Result<Opened> {
        let about = |error| Failure::about(&name(root), error);
        let storage = Arc::new(LocalFolder::open(root).map_err(about)?);
        if let Some(remote) = &self.with.rclone {
            self.with.asked.refuse_unused(&name(root))?;
            return Ok((rclone(remote)?.0.open(storage).map_err(about)?.into(), None));
        }
        if let Some(found) = Description::find(root).map_err(about)? {
            let opened = Described::open(found, &self.with.unlock(), self.console)?;
            let vault = OwnFolder::new(storage, &opened.folder).map_err(about)?;
            return Ok((Arc::new(vault), Some(Arc::new(opened))));
        }
        let text = passphrase::ask(&self.with.asked, &name(root))?;
        Ok((unlock(storage, text.as_bytes()).map_err(about)?.into(), None))
    }
}

/// Returns the folder of another tool's vault that `path` is in, and the path below it.
fn foreign(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let marked = |folder: &&Path| marks().any(|mark| folder.join(mark).is_file());
    let split = |path: &Path| {
        let root = path.ancestors().find(marked)?.to_owned();
        let below = path.strip_prefix(&root).ok()?.to_owned();
        Some((if root == Path::new("") { ".".into() } else { root }, below))
    };
    // A relative path may begin inside the vault.
    split(path).or_else(|| split(&std::path::absolute(path).ok()?))
}

/// Refuses a path in a vault that has lost the file with its keys.
fn refuse_remains(path: &Path) -> Result<()> {
    let lost = |folder: &Path| {
        let error = check_remains(&LocalFolder::open(folder).ok()?).err()?;
        Some(Failure::about(&name(folder), error))
    };
    // The outermost: every folder of gocryptfs has such a file.
    let above = |path: &Path| path.ancestors().filter_map(lost).last();
    // A relative path may begin inside the vault.
    match above(path).or_else(|| above(&std::path::absolute(path).ok()?)) {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

/// What a vault says about itself in public: names of facts, and the facts.
type Facts = Vec<(&'static str, String)>;

/// Returns the tool of the vault in a folder, and its facts. `None` for any other folder.
pub(crate) fn describe(folder: &Path) -> Result<Option<(&'static str, Facts)>> {
    let about = |error| Failure::about(&name(folder), error);
    let storage: Arc<dyn Storage> = match url::of(folder) {
        Some(url) => match url::find(url)? {
            Some((storage, _)) if is_marked(&*storage) => storage,
            _ => return Ok(None),
        },
        None => Arc::new(LocalFolder::open(folder).map_err(about)?),
    };
    let Some(format) = detect(&*storage).map_err(about)? else { return Ok(None) };
    Ok(Some((format.name, format.describe(&*storage).map_err(about)?)))
}

/// Returns whether a file tells that this is a vault. Listing would read all of a file at a URL.
fn is_marked(storage: &dyn Storage) -> bool {
    marks().any(|mark| storage.open(mark.as_bytes()).is_ok())
}

/// Returns the folder of a path.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// Reads a crypt remote from the user's configuration of rclone, and the folder that it encrypts.
fn rclone(remote: &str) -> Result<(Rclone, PathBuf)> {
    let (path, text) = rclone_config().map_err(|error| Failure::about("--rclone", error))?;
    let about = |error| Failure::about(&name(&path), error);
    let found = Rclone::from_config(&text, remote.trim_end_matches(':')).map_err(about)?;
    let folder = found.folder().map(Path::to_owned).ok_or_else(|| {
        Failure::misuse(format!(
            "--rclone {remote}: expected a remote that encrypts a local folder, found {}; in Python, fsspec reads it",
            found.remote()
        ))
    })?;
    Ok((found, folder))
}

/// Returns a path in a vault, of names with '/' between them; `path` is the whole path.
fn names_of(below: &Path, path: &Path) -> Result<Vec<u8>> {
    let mut names = Vec::new();
    for part in below.components() {
        match (part, to_bytes(part.as_os_str())) {
            (Component::CurDir, _) => {}
            (Component::Normal(_), Some(name)) => names.push(name),
            _ => {
                return Err(Failure::misuse(format!(
                    "{}: expected names and no '..' in the vault",
                    name(path)
                )));
            }
        }
    }
    Ok(names.join(&b'/'))
}

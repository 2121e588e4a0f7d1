//! Folders that describe themselves, opened with one key option.

use crate::args::{ReadInventory, Unlock};
use crate::keys::{self, Inputs};
use crate::prelude::*;
use crate::url;
use sealane::file::{self, DescribedFolder, Description};
use sealane::keys::FolderLock;
use sealane::signature::Signers;

/// A folder that describes itself, with its keys.
pub(crate) struct Described {
    pub(crate) folder: DescribedFolder,
    /// What opened it.
    pub(crate) lock: FolderLock,
    /// The key files that opened it. No output may replace them.
    pub(crate) files: Vec<PathBuf>,
}

/// Returns the description of the only path, if it is a folder with one.
pub(crate) fn find(paths: &[PathBuf]) -> Result<Option<Description>> {
    for path in paths {
        if let Some(found) = Description::find(path).map_err(|error| Failure::about(&name(path), error))? {
            return match paths {
                [_] => Ok(Some(found)),
                _ => Err(Failure::misuse(format!(
                    "{}: a folder that describes itself is processed alone; name no other input, and the output with -o",
                    name(path)
                ))),
            };
        }
    }
    Ok(None)
}

/// Like [`find`], for a change of keys. Refuses a path inside such a folder: its files share them.
pub(crate) fn find_whole(paths: &[PathBuf]) -> Result<Option<Description>> {
    let found = find(paths)?;
    for path in paths.iter().filter(|path| found.is_none() && url::of(path).is_none()) {
        let above = above(path).map_err(|error| Failure::about(&name(path), error))?;
        if above.is_some_and(|it| !it.is_write_only()) {
            return Err(Failure::misuse(format!(
                "{}: is in a folder that describes itself; its keys change for all files, so name that folder",
                name(path)
            )));
        }
    }
    Ok(found)
}

/// Returns whether a path is inside a folder that describes itself, so that it has plaintext names.
/// Files for recipients are also read by the names that they are stored under. A description that
/// cannot be read is one: opening the folder reports it.
pub(crate) fn contains(path: &Path) -> bool {
    let is_named = |it: Description| !(it.is_write_only() && path.is_file());
    path != Path::new("-") && above(path).map_or(true, |found| found.is_some_and(is_named))
}

fn above(path: &Path) -> Result<Option<Description>, Error> {
    let absolute = std::path::absolute(path).map_err(|e| Error::io(path, e))?;
    Ok(Description::find_above(&absolute)?.map(|(found, _)| found))
}

/// Like [`find`], for an output. Refuses one inside a folder that describes itself, because its
/// files would have other keys and names than the rest.
pub(crate) fn find_output(output: Option<&PathBuf>) -> Result<Option<Description>> {
    let Some(output) = output.filter(|output| *output != Path::new("-")) else { return Ok(None) };
    let above = std::path::absolute(output).ok().and_then(|path| path.parent().map(Path::to_owned));
    let found = find(std::slice::from_ref(output))?;
    match above.filter(|_| found.is_none()).map(|above| Description::find_above(&above)).transpose() {
        Err(error) => Err(Failure::about(&name(output), error)),
        Ok(Some(Some((above, _)))) => Err(Failure::misuse(format!(
            "{}: the output is inside a folder that describes itself; name {} with -o",
            name(output),
            name(above.path().parent().unwrap_or(Path::new(".")))
        ))),
        Ok(_) => Ok(found),
    }
}

impl Described {
    /// Opens a folder, unless an option contradicts its description.
    pub(crate) fn open(found: Description, unlock: &Unlock<'_>, console: &Console) -> Result<Self> {
        let path = name(found.path());
        if let Some(option) = unlock.contradiction {
            return Err(Failure::misuse(format!(
                "{option} contradicts {path}: the description determines keys and format; leave the option out"
            )));
        }
        let (lock, files) = keys::folder_lock(&found, unlock, console)?;
        let (folder, warning) = found.open(&lock, None).map_err(|error| Failure::about(&path, error))?;
        warning.into_iter().for_each(|warning| console.warn(&warning));
        Ok(Self { folder, lock, files })
    }

    /// Returns the name of the description, for messages.
    pub(crate) fn name(&self) -> String {
        name(self.folder.description().path())
    }

    /// Names an error about the folder.
    pub(crate) fn about(&self, error: Error) -> Failure {
        Failure::about(&self.name(), error)
    }

    fn inputs(&self, inputs: Inputs) -> Vec<PathBuf> {
        [inputs.files, self.files.clone()].concat()
    }

    pub(crate) fn encrypt_with(&self, inputs: Inputs) -> Result<file::EncryptWith> {
        self.folder.encrypt_with(&self.inputs(inputs)).map_err(|error| self.about(error))
    }

    pub(crate) fn decrypt_with(&self, inputs: Inputs) -> Result<file::DecryptWith> {
        self.folder.decrypt_with(&self.inputs(inputs)).map_err(|error| self.about(error))
    }

    /// Returns the default place of the folder's inventory, beside it.
    pub(crate) fn inventory(&self) -> Result<PathBuf> {
        let folder = self.folder.description().path().parent().unwrap_or(Path::new("."));
        match folder.file_name().map(|name| [name, ".inventory".as_ref()].into_iter().collect()) {
            Some(name) => Ok(folder.with_file_name::<OsString>(name)),
            None => Err(Failure::misuse(
                "--sign-key and --signer need --inventory FILE, because the folder has no name",
            )),
        }
    }

    /// Returns the identifier of the folder, unless `given` is another one.
    pub(crate) fn identifier<'a>(&'a self, given: Option<&'a str>) -> Result<&'a str> {
        let own = self.folder.description().identifier();
        match given.filter(|given| *given != own) {
            Some(given) => Err(Failure::misuse(format!(
                "--folder {given} contradicts {}: its identifier is {own}; leave the option out",
                self.name()
            ))),
            None => Ok(own),
        }
    }

    /// Fills in what the description says about an inventory to read.
    pub(crate) fn inventory_args(&self, args: &ReadInventory) -> Result<ReadInventory> {
        let mut args = args.clone();
        if let Some(signer) = &args.signer {
            let signers = keys::signers(signer, Signers::parse)?;
            self.folder.description().check_signer(&signers).map_err(|error| self.about(error))?;
            args.folder = Some(self.identifier(args.folder.as_deref())?.to_owned());
            args.inventory = Some(args.inventory.map_or_else(|| self.inventory(), Ok)?);
        }
        Ok(args)
    }
}

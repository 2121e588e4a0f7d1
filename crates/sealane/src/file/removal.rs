//! Removal of encrypted files whose source is gone.
//!
//! A file is removed only if three things are certain: its source does not exist, everything that exists was listed, and this
//! job or an earlier one wrote it. The manifest proves that, or the key, which opens it.

use super::bulk::Operation;
use super::manifest::Manifest;
use super::tree::{Tree, without_suffix};
use crate::Error;
use crate::engine::file_id::FileId;
use crate::engine::folder::{EntryKind, Folder};
use crate::engine::place::Place;
use crate::error::FolderError;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The encrypted files below a target folder whose source is gone.
#[derive(Debug, Default)]
pub struct Stale {
    /// Files and links that were written by this job or an earlier one, which can be removed.
    pub removals: Vec<Removal>,
    /// Files and links of which nothing proves that, which stay.
    pub unproven: Vec<PathBuf>,
}

/// An encrypted file whose source is gone.
#[derive(Clone, Debug)]
pub struct Removal {
    /// Path of the file or link to remove.
    pub path: PathBuf,
    /// Path that its source had below the source folder.
    pub source: PathBuf,
    id: Option<FileId>,
}

impl Stale {
    /// Finds the encrypted files below the target folder of `tree` whose source is gone. `tree` is the list of the sources,
    /// made with `sources` and `suffix`. Nothing is removed.
    ///
    /// An encrypted file belongs to a job if the manifest lists it and it is unchanged since, or if the key of `operation` opens
    /// it. Recipients and passphrases prove nothing, so they need a manifest. A source that exists and is excluded is not gone.
    ///
    /// # Errors
    /// Returns [`FolderError::IncompleteListing`] if `tree` has problems, [`FolderError::EmptySource`] if it has no file,
    /// [`FolderError::InPlace`] if the target folder is a source, and [`Error::Io`] for a folder that cannot be listed.
    pub fn find(
        tree: &Tree,
        sources: &[impl AsRef<Path>],
        suffix: &OsStr,
        operation: &Operation,
        manifest: Option<&Manifest>,
    ) -> Result<Self, Error> {
        let Some(root) = &tree.root else { return Ok(Self::default()) };
        match tree.problems.len() {
            0 => {}
            problems => return Err(FolderError::IncompleteListing { problems }.into()),
        }
        if tree.pairs.is_empty() && tree.links.is_empty() && tree.excluded == 0 {
            return Err(FolderError::EmptySource.into());
        }
        if !root.exists() {
            return Ok(Self::default());
        }
        let real = fs::canonicalize(root).map_err(|e| Error::io(root, e))?;
        let sources: Vec<_> = sources.iter().map(AsRef::as_ref).collect();
        if sources.iter().any(|source| fs::canonicalize(source).is_ok_and(|source| source == real)) {
            return Err(FolderError::InPlace.into());
        }
        let search = Search { root, sources: &sources, suffix, operation, manifest };
        let mut stale = Self::default();
        let mut waiting = vec![root.clone()];
        while let Some(folder) = waiting.pop() {
            let about = |e| Error::io(&folder, e);
            let mut entries = Folder::list(&folder).map_err(about)?;
            entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            for (name, kind) in entries {
                let path = folder.join(&name);
                match kind.map_err(|e| Error::io(&path, e))? {
                    EntryKind::Folder => waiting.push(path),
                    EntryKind::Special => {}
                    kind => search.look_at(path, kind, &mut stale)?,
                }
            }
        }
        Ok(stale)
    }

    /// Removes the files and then the folders that have become empty, unless their source exists. Returns for each file
    /// whether it was removed, in the order of [`Self::removals`]. No link is followed below the target folder of `tree`.
    pub fn remove(&self, tree: &Tree, sources: &[impl AsRef<Path>]) -> Vec<Result<(), Error>> {
        let Some(root) = &tree.root else { return Vec::new() };
        let remove = |removal: &Removal| {
            let result = removal.remove(root).map_err(|e| Error::io(&removal.path, e));
            if result.is_ok() {
                remove_empty_folders(root, &removal.path, sources);
            }
            result
        };
        self.removals.iter().map(remove).collect()
    }
}

impl Removal {
    fn remove(&self, root: &Path) -> io::Result<()> {
        let Place { folder, name, found, .. } = Place::name_below(root, &self.path)?;
        match found {
            None => Ok(()),
            Some(found) if found.id == self.id => folder.remove(&name),
            Some(_) => {
                Err(io::Error::new(ErrorKind::ResourceBusy, "the file was changed meanwhile; try again"))
            }
        }
    }
}

/// Removes the folders of a removed file, from the inside out, that are empty and have no source.
fn remove_empty_folders(root: &Path, removed: &Path, sources: &[impl AsRef<Path>]) {
    for folder in removed.ancestors().skip(1).take_while(|folder| *folder != root) {
        let Ok(below) = folder.strip_prefix(root) else { return };
        let exists = |source: &Path| !matches!(is_gone(&source.join(below), EntryKind::Folder), Ok(true));
        if sources.iter().any(|source| exists(source.as_ref())) {
            return;
        }
        let removed =
            Place::name_below(root, folder).and_then(|place| place.folder.remove_folder(&place.name));
        if removed.is_err() {
            return;
        }
    }
}

struct Search<'a> {
    root: &'a Path,
    sources: &'a [&'a Path],
    suffix: &'a OsStr,
    operation: &'a Operation,
    manifest: Option<&'a Manifest>,
}

impl Search<'_> {
    /// Adds a file or a link to the stale ones if its source is gone.
    fn look_at(&self, path: PathBuf, kind: EntryKind, stale: &mut Stale) -> Result<(), Error> {
        // A name without the suffix is none of an encrypted file.
        let Some(plain) = path.file_name().and_then(|name| without_suffix(name, self.suffix)) else {
            return Ok(());
        };
        let Ok(below) = path.with_file_name(plain).strip_prefix(self.root).map(Path::to_owned) else {
            return Ok(());
        };
        for source in self.sources {
            let candidate = if source.is_dir() { source.join(&below) } else { source.to_path_buf() };
            if !source.is_dir() && source.file_name() != Some(below.as_os_str()) {
                continue;
            }
            if !is_gone(&candidate, EntryKind::File).map_err(|e| Error::io(&candidate, e))? {
                return Ok(());
            }
        }
        let found = path.symlink_metadata().map_err(|e| Error::io(&path, e))?;
        let listed = self.manifest.is_some_and(|manifest| manifest.wrote(&path));
        match listed || kind == EntryKind::File && self.operation.opens(&path) {
            true => stale.removals.push(Removal { path, source: below, id: FileId::of(&found) }),
            false => stale.unproven.push(path),
        }
        Ok(())
    }
}

/// Returns whether nothing of this kind is at a path. A folder where a file was, and a file where a folder was, count as gone.
fn is_gone(path: &Path, kind: EntryKind) -> io::Result<bool> {
    match path.symlink_metadata() {
        Ok(found) => Ok(found.is_dir() != (kind == EntryKind::Folder)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(true),
        Err(e) => Err(e),
    }
}

#[cfg(all(test, unix))]
mod test {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_gone_only_if_nothing_of_its_kind_is_there() {
        let folder = std::env::temp_dir().join(format!("sealane-gone-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("file");
        fs::write(&file, "").unwrap();
        for (path, kind, gone) in [
            (&file, EntryKind::File, false),
            (&file, EntryKind::Folder, true),
            (&folder, EntryKind::Folder, false),
            (&folder, EntryKind::File, true),
            (&folder.join("none"), EntryKind::File, true),
            (&file.join("below"), EntryKind::File, true),
        ] {
            assert_eq!(is_gone(path, kind).unwrap(), gone, "{path:?} {kind:?}");
        }
        // Nothing is known about a name that is too long.
        assert!(is_gone(&folder.join("x".repeat(300)), EntryKind::File).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_that_was_replaced_meanwhile_stays() {
        let root = std::env::temp_dir().join(format!("sealane-replaced-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        let path = root.join("file");
        fs::write(&path, "old").unwrap();
        let id = FileId::of(&path.symlink_metadata().unwrap());
        let removal = Removal { path: path.clone(), source: "file".into(), id };
        fs::write(root.join("new"), "new").unwrap();
        fs::rename(root.join("new"), &path).unwrap();
        assert_eq!(removal.remove(&root).unwrap_err().kind(), ErrorKind::ResourceBusy);
        assert_eq!(fs::read(&path).unwrap(), b"new");
        let removal = Removal { id: FileId::of(&path.symlink_metadata().unwrap()), ..removal };
        removal.remove(&root).unwrap();
        assert!(!path.exists());
        removal.remove(&root).unwrap();
        fs::remove_dir_all(&root).unwrap();
    }

    /// A source that is a file is the source of one name in the target folder.
    #[test]
    fn sources_that_are_files() {
        use crate::Key;
        use crate::file::{EncryptWith, Suffix, Tree, TreeOptions, encrypt};

        let root = std::env::temp_dir().join(format!("sealane-sources-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let target = root.join("target");
        fs::create_dir_all(&target).unwrap();
        let with = EncryptWith::key(&Key::from_bytes(&[7; 32]), b"");
        for name in ["a.s", "b.s"] {
            fs::write(target.join(name), encrypt(b"plain", &with).unwrap()).unwrap();
        }
        let source = root.join("a");
        fs::write(&source, "plain").unwrap();
        let suffix = OsStr::new(".s");
        let tree =
            Tree::walk_with(&[&source], Some(&target), Suffix::Add(suffix), TreeOptions::default()).unwrap();
        let stale = Stale::find(&tree, &[&source], suffix, &Operation::Encrypt(with), None).unwrap();
        let found: Vec<_> = stale.removals.iter().map(|one| (one.path.clone(), one.source.clone())).collect();
        assert_eq!(found, [(target.join("b.s"), "b".into())]);
        assert!(stale.unproven.is_empty());
        fs::remove_dir_all(&root).unwrap();
    }
}

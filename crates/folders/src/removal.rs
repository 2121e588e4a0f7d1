//! Removes encrypted files whose sources are gone.
//!
//! We remove a file only if two things are certain: its source does not exist, and this or an
//! earlier job wrote it. A source does not exist if the system says so, if the job did not list it,
//! and if it does not lie below a folder that could not be listed: the disk may be gone. The
//! manifest proves that a job wrote a file, or the key by opening it. Problems with other paths
//! stop nothing.
//!
//! A file with a name encrypted under a retired key is removed too, once the job has written its
//! source under the primary key's name.
//!
//! Even if each removal is certain, the source may be a wrong folder, or a disk that is not
//! mounted. So we remove nothing if the source has none of the files, or if [`MANY`] of them or
//! more, and most, are gone. A single file may go, and what became a folder is not gone. Unison and
//! `rclone bisync` stop at all and at half by default; rsync and `rclone sync` only with
//! `--max-delete`.

use super::manifest::Manifest;
use super::names::NameKey;
use super::tree::{Tree, sorted, without_suffix};
use crate::prelude::*;
use engine::folder::resolve;
use engine::place::Place;

/// Number of removals from which most of the files of a folder are too many.
const MANY: usize = 10;

/// Encrypted files below a target folder whose sources are gone.
#[derive(Debug, Default)]
pub struct Stale {
    /// Files and links that this or an earlier job wrote. They can be removed.
    pub removals: Vec<Removal>,
    /// Files and links without proof of that. They stay.
    pub unproven: Vec<PathBuf>,
    /// Files, links and folders with names that do not decrypt. They stay.
    pub unknown: Vec<PathBuf>,
    /// Paths that cannot be read. What they say about files is uncertain, so those stay.
    pub problems: Vec<(PathBuf, Error)>,
    /// Number of files and links whose sources exist, or may exist.
    kept: usize,
    /// All folders, parents first.
    pub(crate) folders: Vec<PathBuf>,
    /// Folders without a source, or with names under retired keys, parents first. They are removed
    /// if empty.
    retired: Vec<PathBuf>,
}

/// An encrypted file without a source.
#[derive(Clone, Debug)]
pub struct Removal {
    /// Path of the file or link to remove.
    pub path: PathBuf,
    /// Path of its source, below the source folder.
    pub source: PathBuf,
    id: Option<FileId>,
    /// The same source's file under the primary name key. Without it, this one stays.
    replacement: Option<PathBuf>,
    /// Whether nothing is in the source's place: it has not become a folder, or been below a folder
    /// that is a file now.
    vanished: bool,
}

impl Stale {
    /// Finds the encrypted files below the target folder of `tree` whose sources are gone. `tree`
    /// lists the sources, made with `sources` and `suffix`. Removes nothing.
    ///
    /// An encrypted file belongs to a job if the manifest lists it and it is unchanged since, or if
    /// the key of `operation` opens it, or the name key the path in a link. Recipients and
    /// passphrases prove nothing, so they need a manifest. An excluded source that exists is not
    /// gone. With encrypted names, a file's source is found by its decrypted name. A file under a
    /// retired name key is stale if the job has another target for its source. Sources below a path
    /// of `uncertain` may exist.
    ///
    /// # Errors
    /// Returns [`FolderError::EmptySource`] if `tree` has no file and nothing is uncertain;
    /// [`FolderError::InPlace`] if the target folder is a source; [`Error::Io`] if the target
    /// folder cannot be found.
    pub fn find(
        tree: &Tree,
        sources: &[impl AsRef<Path>],
        suffix: &OsStr,
        operation: &Operation,
        (manifest, uncertain): (Option<&Manifest>, &[PathBuf]),
    ) -> Result<Self> {
        let Some(root) = &tree.root else { return Ok(Self::default()) };
        if tree.pairs.is_empty() && tree.links.is_empty() && tree.excluded == 0 && uncertain.is_empty() {
            return Err(FolderError::EmptySource.into());
        }
        if !root.exists() {
            return Ok(Self::default());
        }
        let real = resolve(root).map_err(|e| Error::io(root, e))?;
        let sources: Vec<_> = sources.iter().map(AsRef::as_ref).collect();
        if sources.iter().any(|source| resolve(source).is_ok_and(|source| source == real)) {
            return Err(FolderError::InPlace.into());
        }
        let search = Search::new(tree, &sources, suffix, Some(operation), manifest, uncertain);
        let mut stale = Self::default();
        search.walk(root.clone(), PathBuf::new(), &mut stale);
        Ok(stale)
    }

    /// Refuses to remove all or most of the files, because the source may be a wrong one. A file
    /// that the job writes under another name is not lost.
    ///
    /// # Errors
    /// Returns [`FolderError::MostRemoved`].
    pub fn check_source(&self) -> Result<()> {
        let (replaced, rest): (Vec<_>, Vec<_>) =
            self.removals.iter().partition(|it| it.replacement.is_some());
        let removed = rest.iter().filter(|removal| removal.vanished).count();
        let (kept, held) = (self.kept + replaced.len(), self.removals.len() + self.kept);
        match removed > 1 && kept == 0 || removed >= MANY && removed > held / 2 {
            true => Err(FolderError::MostRemoved { removed, held }.into()),
            false => Ok(()),
        }
    }

    /// Removes the files, and the folders that become empty unless their sources exist. Returns
    /// whether each file was removed, in the order of [`Self::removals`]. Follows no link below the
    /// target folder of `tree`.
    pub fn remove(&self, tree: &Tree, sources: &[impl AsRef<Path>]) -> Vec<Result<()>> {
        let Some(root) = &tree.root else { return Vec::new() };
        let links = link_sources(tree);
        let remove = |removal: &Removal| {
            let result = removal.remove(root).map_err(|e| Error::io(&removal.path, e));
            if result.is_ok() {
                remove_empty_folders(root, &removal.path, sources, (tree.names.as_ref(), &links));
            }
            result
        };
        let results = self.removals.iter().map(remove).collect();
        for folder in self.retired.iter().rev() {
            // It may be gone with its last file, or hold something that stays.
            let _ = remove_folder(root, folder);
        }
        results
    }

    fn add_problem(&mut self, path: &Path, error: io::Error) {
        self.problems.push((path.to_owned(), Error::io(path, error)));
    }
}

impl Removal {
    /// Returns the removal of a file or a link, as it is now.
    pub(crate) fn new(path: &Path, source: PathBuf) -> io::Result<Self> {
        let id = FileId::of_name(path)?;
        Ok(Self { id, path: path.to_owned(), source, replacement: None, vanished: false })
    }

    pub(crate) fn remove(&self, root: &Path) -> io::Result<()> {
        if self.replacement.as_ref().is_some_and(|path| path.symlink_metadata().is_err()) {
            let said = "its source is back and not encrypted under the new name yet; try again";
            return Err(io::Error::new(ErrorKind::ResourceBusy, said));
        }
        let Place { folder, name, found, .. } = Place::name_below(root, &self.path)?;
        match found {
            None => Ok(()),
            Some(found) if found.id == self.id => folder.remove(&name),
            Some(_) => Err(io::Error::new(ErrorKind::ResourceBusy, "the file has changed; try again")),
        }
    }
}

/// Removes a removed file's folders, innermost first, if they are empty and have no source.
fn remove_empty_folders(
    root: &Path,
    removed: &Path,
    sources: &[impl AsRef<Path>],
    (names, links): (Option<&NameKey>, &BTreeSet<&Path>),
) {
    for folder in removed.ancestors().skip(1).take_while(|folder| *folder != root) {
        let Ok(below) = folder.strip_prefix(root) else { return };
        let Ok(below) = names.map_or(Ok(below.to_owned()), |key| key.decrypt_path(below)) else { return };
        let exists = |source: &Path| {
            let candidate = source.join(&below);
            !is_behind(links, &candidate) && !matches!(is_gone(&candidate, EntryKind::Folder), Ok(true))
        };
        if sources.iter().any(|source| exists(source.as_ref())) || remove_folder(root, folder).is_err() {
            return;
        }
    }
}

pub(crate) fn remove_folder(root: &Path, folder: &Path) -> io::Result<()> {
    let Place { folder, name, .. } = Place::name_below(root, folder)?;
    folder.remove_folder(&name)
}

/// Proves that an earlier job wrote a file, or a link whose unencrypted path is `plain`, with the
/// manifest or a key.
pub(crate) fn is_ours(
    path: &Path,
    plain: &Path,
    kind: EntryKind,
    (operation, names): (Option<&Operation>, Option<&NameKey>),
    manifest: Option<&Manifest>,
) -> bool {
    manifest.is_some_and(|manifest| manifest.wrote(path))
        || match kind {
            EntryKind::File => operation.is_some_and(|operation| operation.opens(path)),
            EntryKind::Link => names.is_some_and(|names| {
                path.read_link().is_ok_and(|text| names.decrypt_link(&text, plain).is_ok())
            }),
            _ => false,
        }
}

pub(crate) struct Search<'a> {
    sources: &'a [&'a Path],
    suffix: &'a OsStr,
    names: Option<&'a NameKey>,
    operation: Option<&'a Operation>,
    manifest: Option<&'a Manifest>,
    /// Sources that may exist, with everything below them.
    uncertain: &'a [PathBuf],
    /// Targets of all sources.
    targets: BTreeMap<&'a Path, &'a Path>,
    links: BTreeSet<&'a Path>,
    description: Option<&'a Path>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        tree: &'a Tree,
        sources: &'a [&'a Path],
        suffix: &'a OsStr,
        operation: Option<&'a Operation>,
        manifest: Option<&'a Manifest>,
        uncertain: &'a [PathBuf],
    ) -> Self {
        let files = tree.pairs.iter().chain(&tree.folder_pairs);
        let mut targets: BTreeMap<_, _> = files.map(|(source, target)| (&**source, &**target)).collect();
        targets.extend(tree.links.iter().map(|link| (&*link.source, &*link.target)));
        let (names, description) = (tree.names.as_ref(), tree.description.as_deref());
        let links = link_sources(tree);
        Self { sources, suffix, names, operation, manifest, uncertain, targets, links, description }
    }

    /// Adds what is stale below the folder `top`; `plain` is its source's path below each source
    /// folder.
    pub(crate) fn walk(&self, top: PathBuf, plain: PathBuf, stale: &mut Stale) {
        let mut waiting = vec![(top, plain)];
        while let Some((folder, plain)) = waiting.pop() {
            let Ok(entries) = sorted(&folder).map_err(|e| stale.add_problem(&folder, e)) else { continue };
            stale.folders.push(folder.clone());
            for (name, kind) in entries {
                let path = folder.join(&name);
                if self.description == Some(&*path) {
                    continue;
                }
                let Ok(kind) = kind.map_err(|e| stale.add_problem(&path, e)) else { continue };
                let name = match kind {
                    EntryKind::Folder => Some(name),
                    EntryKind::Special => None,
                    // A name without the suffix does not belong to an encrypted file.
                    EntryKind::File | EntryKind::Link => without_suffix(&name, self.suffix),
                };
                let Some(name) = name else { continue };
                let Ok(name) = self.names.map_or(Ok(name.clone()), |key| key.decrypt(&name, &plain)) else {
                    stale.unknown.push(path);
                    continue;
                };
                let below = plain.join(name);
                match kind {
                    EntryKind::Folder => {
                        let is_retired = self.names.is_some() && self.has_other_target(&path, &below);
                        if is_retired || self.has_no_folder(&path, &below) {
                            stale.retired.push(path.clone());
                        }
                        waiting.push((path, below));
                    }
                    kind => self.look_at(path, below, kind, stale),
                }
            }
        }
    }

    /// Returns whether the job has another target for the source of `path`; `below` is its path
    /// below each source folder.
    fn has_other_target(&self, path: &Path, below: &Path) -> bool {
        let other = |source: &&Path| self.targets.get(&*source.join(below)).is_some_and(|to| *to != path);
        self.sources.iter().any(other)
    }

    /// Returns whether no source folder has a folder at `below`. What a former one became cannot be
    /// restored while an empty folder has its name.
    fn has_no_folder(&self, path: &Path, below: &Path) -> bool {
        self.sources.iter().all(|source| {
            let candidate = source.join(below);
            let is_target = self.targets.get(&*candidate).is_some_and(|target| *target == path);
            let is_certain = source.is_dir() && !is_target && !self.may_exist(&candidate);
            is_certain
                && (is_behind(&self.links, &candidate)
                    || is_gone(&candidate, EntryKind::Folder).unwrap_or(false))
        })
    }

    fn may_exist(&self, candidate: &Path) -> bool {
        self.uncertain.iter().any(|path| candidate.starts_with(path))
    }

    /// Adds a file or link to the stale ones if its source, `below` a source folder, is gone.
    fn look_at(&self, path: PathBuf, below: PathBuf, kind: EntryKind, stale: &mut Stale) {
        let (mut replacement, mut vanished) = (None, true);
        for source in self.sources {
            let candidate = if source.is_dir() { source.join(&below) } else { source.to_path_buf() };
            if !source.is_dir() && source.file_name() != Some(below.as_os_str()) {
                continue;
            }
            match self.targets.get(&*candidate) {
                Some(target) if **target == path => return stale.kept += 1,
                Some(target) if self.names.is_some() => {
                    replacement = Some(target.to_path_buf());
                    continue;
                }
                _ => {}
            }
            match is_gone(&candidate, EntryKind::File) {
                _ if self.may_exist(&candidate) => return stale.kept += 1,
                _ if is_behind(&self.links, &candidate) => {}
                Ok(true) => vanished &= is_missing(&candidate),
                Ok(false) => return stale.kept += 1,
                Err(e) => return stale.add_problem(&candidate, e),
            }
        }
        let Ok(id) = FileId::of_name(&path).map_err(|e| stale.add_problem(&path, e)) else { return };
        match is_ours(&path, &below, kind, (self.operation, self.names), self.manifest) {
            true => stale.removals.push(Removal { path, source: below, id, replacement, vanished }),
            false => stale.unproven.push(path),
        }
    }
}

/// Returns whether nothing of this kind is at a path. A folder in place of a file counts as gone,
/// and a file in place of a folder.
fn is_gone(path: &Path, kind: EntryKind) -> io::Result<bool> {
    match path.symlink_metadata() {
        Ok(found) => Ok(found.is_dir() != (kind == EntryKind::Folder)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(true),
        Err(e) => Err(e),
    }
}

/// Returns whether a path is behind a link, which the job copies: what it leads to is no source.
fn is_behind(links: &BTreeSet<&Path>, path: &Path) -> bool {
    path.ancestors().skip(1).any(|folder| links.contains(folder))
}

fn link_sources(tree: &Tree) -> BTreeSet<&Path> {
    tree.links.iter().map(|link| &*link.source).collect()
}

/// Returns whether nothing is at a path, nor a file in place of a folder above it.
fn is_missing(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|e| e.kind() == ErrorKind::NotFound)
}

#[cfg(all(test, unix))]
mod test;

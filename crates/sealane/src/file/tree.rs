//! The files of a folder tree and the targets they are written to. Nothing is written, and no file is read.

use super::exclude::Exclude;
use crate::engine::folder::{EntryKind, Folder, Listed, refused_link};
use crate::{Error, Misuse};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The rule that makes the name of a target from the name of its source. The suffix may be empty.
#[derive(Clone, Copy, Debug)]
pub enum Suffix<'a> {
    /// Appends the suffix, for files that are encrypted.
    Add(&'a OsStr),
    /// Removes the suffix, for files that are decrypted or verified. A name without the suffix is a problem.
    Remove(&'a OsStr),
}

/// The choice of the files of a bulk job.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeOptions<'a> {
    /// Files and folders that are left out, by their paths below the source folder.
    pub exclude: Option<&'a Exclude>,
    /// The treatment of symbolic links below a source folder.
    pub links: Links,
}

/// The treatment of symbolic links below a source folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// A link to a file stands for that file. A link to a folder is a problem.
    #[default]
    Follow,
    /// A link is listed in [`Tree::links`], wherever it leads. A link in place of a target is replaced.
    Keep,
}

/// The folders and files of a bulk job.
#[derive(Debug, Default)]
pub struct Tree {
    /// The target folder, below which no link is followed; `None` for files that are verified.
    pub root: Option<PathBuf>,
    /// Target folders, also those that exist, each listed after its parent.
    pub folders: Vec<PathBuf>,
    /// Source folders and their target folders, each listed after its parent; empty without a target folder.
    pub folder_pairs: Vec<(PathBuf, PathBuf)>,
    /// Sources and their targets, in an order that depends only on the names.
    pub pairs: Vec<(PathBuf, PathBuf)>,
    /// Symbolic links among the sources and their targets, with [`Links::Keep`]. Without a target folder, the targets are
    /// empty paths.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Number of files and folders that were left out. The content of a folder is not counted.
    pub excluded: usize,
    /// Paths that cannot be processed, each with the reason; they do not affect the others.
    pub problems: Vec<(PathBuf, Error)>,
}

impl Tree {
    /// Lists the files below `sources`, which are folders or files, with their targets below the folder `target`. The
    /// content of a source folder goes directly into `target`: for example, `a/x` of the source `a` becomes
    /// `target/x`. `target` need not exist. Without a `target`, for files that are verified, the targets are empty
    /// paths.
    ///
    /// A link to a file stands for that file. A link to a folder, a pipe, a socket or a device is listed in
    /// [`Tree::problems`]. So is a link in place of a target, because it may lead to a source. If `target` is the
    /// source itself, files that are targets of other files are not sources.
    ///
    /// # Errors
    /// Returns [`Error::Io`] for a missing source and for a target that is not a folder, [`Misuse::TargetInsideSource`]
    /// for a target below a source, [`Misuse::DuplicateTarget`] for two sources with one target, [`Misuse::SameFile`]
    /// for a source that is a target, and [`Misuse::InvalidSuffix`] for a suffix with a separator or a zero byte.
    pub fn walk(
        sources: &[impl AsRef<Path>],
        target: Option<&Path>,
        suffix: Suffix<'_>,
    ) -> Result<Self, Error> {
        Self::walk_with(sources, target, suffix, TreeOptions::default())
    }

    /// Does the same as [`Self::walk`] with a choice of the files and another treatment of links.
    ///
    /// # Errors
    /// Returns the errors of [`Self::walk`].
    pub fn walk_with(
        sources: &[impl AsRef<Path>],
        target: Option<&Path>,
        suffix: Suffix<'_>,
        options: TreeOptions<'_>,
    ) -> Result<Self, Error> {
        suffix.check()?;
        let about = |path: &Path| {
            let path = path.to_owned();
            move |e| Error::io(&path, e)
        };
        let mut walk = Walk {
            suffix,
            options,
            tree: Self::default(),
            targets: Vec::new(),
            links: Vec::new(),
            linked: Vec::new(),
        };
        let roots = sources
            .iter()
            .map(AsRef::as_ref)
            .map(|path| fs::canonicalize(path).map(|real| (path, real)).map_err(about(path)))
            .collect::<Result<Vec<_>, _>>()?;
        let place = target.map(|target| Place::new(target).map_err(about(target))).transpose()?;
        walk.tree.root = target.map(Path::to_owned);
        walk.tree.folders.extend(place.as_ref().map(|place| place.path.clone()));
        let own =
            |real: &PathBuf| roots.len() == 1 && place.as_ref().is_some_and(|place| place.real == *real);
        for (source, real) in &roots {
            let found = source.symlink_metadata().map_err(about(source))?;
            match real.is_dir() {
                true => {
                    let pair = place.as_ref().map(|place| (source.to_path_buf(), place.path.clone()));
                    walk.tree.folder_pairs.extend(pair);
                    walk.folder(source, place.as_ref(), own(real));
                }
                false => walk.file(source, found.file_type().into(), place.as_ref()),
            }
        }
        if let Some(place) = place {
            walk.check(&roots, &place)?;
        }
        Ok(walk.tree)
    }

    /// Creates the folders of the tree and returns those that cannot be created. Links are followed on the way to the
    /// target folder; below it, a link that has appeared since the walk is an error.
    pub fn create_folders(&self) -> Vec<(PathBuf, Error)> {
        let Some(root) = &self.root else { return Vec::new() };
        let opened = fs::create_dir_all(root).and_then(|()| Folder::open(root));
        let opened = match opened {
            Ok(opened) => opened,
            Err(e) => return vec![(root.clone(), Error::io(root, e))],
        };
        let create = |path: &PathBuf| {
            // The root itself is the first of the folders.
            let relative = path.strip_prefix(root).ok().filter(|below| *below != Path::new(""))?;
            let error = opened.create_below(relative, 0o777).err()?;
            Some((path.clone(), Error::io(path, error)))
        };
        self.folders.iter().filter_map(create).collect()
    }
}

/// A target folder, with the path that identifies it on the system.
#[derive(Clone)]
struct Place {
    path: PathBuf,
    /// The path of the folder with all symbolic links resolved.
    real: PathBuf,
    exists: bool,
}

struct Walk<'a> {
    suffix: Suffix<'a>,
    options: TreeOptions<'a>,
    tree: Tree,
    /// The targets of `tree.pairs`, with all links resolved.
    targets: Vec<PathBuf>,
    /// The targets of `tree.links`, with all links in their folders resolved.
    links: Vec<PathBuf>,
    /// The files that links among the sources lead to.
    linked: Vec<PathBuf>,
}

impl Walk<'_> {
    /// Lists everything below a folder. Not recursive: folders may be nested as deep as a path can be long.
    fn folder(&mut self, root: &Path, place: Option<&Place>, in_place: bool) {
        let mut waiting = vec![(root.to_owned(), place.cloned())];
        while let Some((source, place)) = waiting.pop() {
            let entries = match sorted(&source) {
                Ok(entries) => entries,
                Err(e) => {
                    self.problem(&source, Error::io(&source, e));
                    continue;
                }
            };
            let made = if in_place { self.targets_among(&entries) } else { BTreeSet::new() };
            let mut folders = Vec::new();
            for (name, kind) in entries {
                let path = source.join(&name);
                if self.excludes(root, &path, &kind) {
                    self.tree.excluded += 1;
                    continue;
                }
                match kind {
                    Ok(EntryKind::Folder) => folders.push((path, name)),
                    // A target of an earlier run, which is replaced.
                    Ok(_) if made.contains(&name) => {}
                    Ok(_) if in_place && self.suffix.is_added_to(&name) => {
                        self.problem(&path, Error::Format(ALREADY_ENCRYPTED));
                    }
                    Ok(EntryKind::Link) if self.options.links == Links::Keep => {
                        self.link(&path, place.as_ref());
                    }
                    Ok(kind) => self.file(&path, kind, place.as_ref()),
                    Err(e) => self.problem(&path, Error::io(&path, e)),
                }
            }
            for (source, name) in folders.into_iter().rev() {
                match place.as_ref().map(|place| place.below(&name)).transpose() {
                    Ok(place) => waiting.push((source, place)),
                    Err(error) => self.problem(&source, error),
                }
            }
            // After its parent, which was popped earlier.
            if source != root {
                self.tree.folder_pairs.extend(place.as_ref().map(|place| (source, place.path.clone())));
                self.tree.folders.extend(place.map(|place| place.path));
            }
        }
    }

    fn excludes(&self, root: &Path, path: &Path, kind: &io::Result<EntryKind>) -> bool {
        let Some(exclude) = self.options.exclude else { return false };
        let below = path.strip_prefix(root).unwrap_or(path);
        exclude.matches(below, matches!(kind, Ok(EntryKind::Folder)))
    }

    /// Adds a link that is kept, or a problem.
    fn link(&mut self, source: &Path, place: Option<&Place>) {
        match self.suffix.applied(source.file_name().unwrap_or_default()) {
            Ok(name) => {
                self.links.extend(place.map(|place| place.real.join(&name)));
                let target = place.map(|place| place.path.join(name)).unwrap_or_default();
                self.tree.links.push((source.to_owned(), target));
            }
            Err(error) => self.problem(source, error),
        }
    }

    /// Returns the names of the targets of these files in their own folder.
    fn targets_among(&self, entries: &[Listed]) -> BTreeSet<OsString> {
        let files =
            entries.iter().filter(|(_, kind)| kind.as_ref().is_ok_and(|kind| *kind != EntryKind::Folder));
        files.filter_map(|(name, _)| self.suffix.applied(name).ok()).collect()
    }

    /// Adds a source that is not a folder, or a problem.
    fn file(&mut self, source: &Path, kind: EntryKind, place: Option<&Place>) {
        if let Err(error) = self.try_file(source, kind, place) {
            self.problem(source, error);
        }
    }

    fn try_file(&mut self, source: &Path, kind: EntryKind, place: Option<&Place>) -> Result<(), Error> {
        let about = |e| Error::io(source, e);
        let link = kind == EntryKind::Link;
        let kind = if link { source.metadata().map_err(about)?.file_type().into() } else { kind };
        if kind != EntryKind::File {
            let said = if kind == EntryKind::Folder { FOLDER_LINK } else { SPECIAL };
            return Err(about(io::Error::new(ErrorKind::Unsupported, said)));
        }
        let name = self.suffix.applied(source.file_name().unwrap_or_default())?;
        let Some(place) = place else {
            self.tree.pairs.push((source.to_owned(), PathBuf::new()));
            return Ok(());
        };
        let target = place.path.join(&name);
        if self.options.links == Links::Follow && place.exists && target.is_symlink() {
            return Err(Error::io(&target, refused_link()));
        }
        if link {
            self.linked.push(fs::canonicalize(source).map_err(about)?);
        }
        self.targets.push(place.real.join(name));
        self.tree.pairs.push((source.to_owned(), target));
        Ok(())
    }

    fn problem(&mut self, source: &Path, error: Error) {
        self.tree.problems.push((source.to_owned(), error));
    }

    /// Refuses targets that would replace a source or another target.
    fn check(&self, roots: &[(&Path, PathBuf)], place: &Place) -> Result<(), Error> {
        // All paths are resolved, so equal paths have equal bytes, which are compared faster than their components.
        let mut taken = BTreeSet::new();
        for (real, (_, target)) in self.targets.iter().zip(&self.tree.pairs) {
            if !taken.insert(real.as_os_str()) {
                return Err(Misuse::DuplicateTarget(target.clone()).into());
            }
        }
        for (real, (_, target)) in self.links.iter().zip(&self.tree.links) {
            if !taken.insert(real.as_os_str()) {
                return Err(Misuse::DuplicateTarget(target.clone()).into());
            }
        }
        for (source, real) in roots {
            if taken.contains(real.as_os_str()) {
                return Err(Misuse::SameFile(source.to_path_buf()).into());
            }
            let in_place = roots.len() == 1 && *real == place.real;
            if in_place && self.suffix.is_empty() {
                return Err(Misuse::SameFile(place.path.clone()).into());
            }
            let inside = |target: &Path| !in_place && target.starts_with(real);
            if inside(&place.real) || taken.iter().any(|target| inside(Path::new(target))) {
                return Err(Misuse::TargetInsideSource(place.path.clone()).into());
            }
        }
        match self.linked.iter().find(|link| taken.contains(link.as_os_str())) {
            Some(link) => Err(Misuse::SameFile(link.clone()).into()),
            None => Ok(()),
        }
    }
}

const FOLDER_LINK: &str = "is a link to a folder, and such links are not followed";
const SPECIAL: &str = "expected a regular file, found a pipe, a socket or a device";
const ALREADY_ENCRYPTED: &str = "expected a file to encrypt, found one that already has the suffix";
const SUFFIX_MISSING: &str = "expected a name that ends with the suffix";

fn sorted(folder: &Path) -> io::Result<Vec<Listed>> {
    let mut entries = Folder::list(folder)?;
    entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Ok(entries)
}

impl Place {
    /// Resolves the links in the path of a target folder, which need not exist.
    fn new(path: &Path) -> io::Result<Self> {
        match fs::canonicalize(path) {
            Ok(real) if real.is_dir() => Ok(Self { path: path.to_owned(), real, exists: true }),
            Ok(_) => Err(ErrorKind::NotADirectory.into()),
            Err(e) if e.kind() == ErrorKind::NotFound => {
                let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(e) };
                let parent = if parent == Path::new("") { Path::new(".") } else { parent };
                let real = Self::new(parent)?.real.join(name);
                Ok(Self { path: path.to_owned(), real, exists: false })
            }
            Err(e) => Err(e),
        }
    }

    fn below(&self, name: &OsStr) -> Result<Self, Error> {
        let (path, real) = (self.path.join(name), self.real.join(name));
        let found = if self.exists { path.symlink_metadata().ok() } else { None };
        match found {
            Some(found) if found.is_symlink() => Err(Error::io(&path, refused_link())),
            found => Ok(Self { path, real, exists: found.is_some() }),
        }
    }
}

impl Suffix<'_> {
    fn text(&self) -> &OsStr {
        match self {
            Self::Add(suffix) | Self::Remove(suffix) => suffix,
        }
    }

    fn is_empty(&self) -> bool {
        self.text().is_empty()
    }

    /// Returns whether a name ends with a suffix to be added: an earlier job in the same folder encrypted the file.
    fn is_added_to(&self, name: &OsStr) -> bool {
        matches!(self, Self::Add(suffix) if without_suffix(name, suffix).is_some())
    }

    fn check(&self) -> Result<(), Error> {
        let bad = |byte: &u8| *byte == 0 || std::path::is_separator(char::from(*byte));
        match self.text().as_encoded_bytes().iter().any(bad) {
            true => Err(Misuse::InvalidSuffix.into()),
            false => Ok(()),
        }
    }

    /// Returns the name of the target of a source with this name.
    pub(super) fn applied(&self, name: &OsStr) -> Result<OsString, Error> {
        match self {
            Self::Add(suffix) => Ok([name, suffix].into_iter().collect()),
            Self::Remove(suffix) => without_suffix(name, suffix)
                .filter(|rest| !["", ".", ".."].iter().any(|none| rest == none))
                .ok_or(Error::Format(SUFFIX_MISSING)),
        }
    }
}

#[cfg(unix)]
pub(super) fn without_suffix(name: &OsStr, suffix: &OsStr) -> Option<OsString> {
    use std::os::unix::ffi::OsStrExt;
    name.as_bytes().strip_suffix(suffix.as_bytes()).map(|rest| OsStr::from_bytes(rest).to_owned())
}

#[cfg(not(unix))]
pub(super) fn without_suffix(name: &OsStr, suffix: &OsStr) -> Option<OsString> {
    name.to_str()?.strip_suffix(suffix.to_str()?).map(OsString::from)
}

#[cfg(all(test, unix))]
mod test;

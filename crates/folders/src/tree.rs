//! The files of a folder tree and their targets. Writes nothing and reads no file.

use super::exclude::Exclude;
use super::names::NameKey;
use crate::prelude::*;
use engine::folder::{
    Listed, check_name, is_part_of_name, is_temporary_name, refuse_url, refused_link, resolve,
};
use engine::io::SPECIAL;

/// How to make a target's name from its source's. The suffix may be empty.
#[derive(Clone, Copy, Debug)]
pub enum Suffix<'a> {
    /// Append the suffix, to encrypt.
    Add(&'a OsStr),
    /// Remove the suffix, to decrypt or verify. A name without it is a problem.
    Remove(&'a OsStr),
}

/// Which files of a tree to choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeOptions<'a> {
    /// Files and folders to leave out, by their paths below the source folder. Patterns apply to
    /// decrypted names if names are decrypted.
    pub exclude: Option<&'a Exclude>,
    /// What to do with symbolic links below a source folder.
    pub links: Links,
    /// The key for names of files, folders and links: [`Suffix::Add`] encrypts, [`Suffix::Remove`]
    /// decrypts them.
    pub names: Option<&'a NameKey>,
    /// Whether links in the places of targets are left to the caller, who removes those that an
    /// earlier job made, instead of being problems.
    pub replaces_links: bool,
    /// The description of the encrypted folder: neither a source nor a target.
    pub description: Option<&'a Path>,
    /// Leaves out unfinished files, see [`JobOptions::unfinished`](crate::job::JobOptions).
    pub unfinished: Option<&'a OsStr>,
}

/// What to do with symbolic links below a source folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Follow a link to a file. A link to a folder is a problem.
    #[default]
    Follow,
    /// List every link in [`Tree::links`], wherever it leads. Replace a link in place of a target.
    Keep,
}

/// A symbolic link among the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Path of the link.
    pub source: PathBuf,
    /// Path of the link to make; empty without a target folder.
    pub target: PathBuf,
    /// The path in the target's link: the source's, encrypted or decrypted if names are.
    pub text: PathBuf,
}

/// The folders and files of a job.
#[derive(Debug, Default)]
pub struct Tree {
    /// The target folder; links below it are not followed. `None` to verify files.
    pub root: Option<PathBuf>,
    /// Target folders, including existing ones, each after its parent.
    pub folders: Vec<PathBuf>,
    /// Source folders with their target folders, each after its parent; empty without a target
    /// folder.
    pub folder_pairs: Vec<(PathBuf, PathBuf)>,
    /// Sources with their targets; the order depends only on the names.
    pub pairs: Vec<(PathBuf, PathBuf)>,
    /// Symbolic links among the sources, for [`Links::Keep`].
    pub links: Vec<Link>,
    /// The key of the names, if they are encrypted.
    pub names: Option<NameKey>,
    /// The description of the encrypted folder, which is not removed.
    pub(crate) description: Option<PathBuf>,
    /// Number of files and folders left out. Contents of a folder are not counted.
    pub excluded: usize,
    /// Paths that cannot be processed, with the reasons; they do not affect the others.
    pub problems: Vec<(PathBuf, Error)>,
}

impl Tree {
    /// Lists the files below `sources` (folders or files), with their targets below the folder
    /// `target`. The content of a source folder goes directly into `target`: `a/x` of the source
    /// `a` becomes `target/x`. `target` need not exist. Without a `target`, to verify files, the
    /// targets are empty paths.
    ///
    /// A link to a file stands for that file. A link to a folder, a pipe, a socket or a device goes
    /// to [`Tree::problems`]. So does a link in place of a target, because it may lead to a source.
    /// If `target` is the source itself, files that are targets of other files are not sources.
    ///
    /// With encrypted names, it is a problem if a name is too long to be encrypted or does not
    /// decrypt, or if two names decrypt to the same one.
    ///
    /// # Errors
    /// Returns [`Error::Io`] for a missing source or a target that is not a folder,
    /// [`Misuse::TargetInsideSource`] for a target below a source, [`Misuse::DuplicateTarget`] if
    /// two sources have the same target, [`Misuse::SameFile`] if a source is a target,
    /// [`Misuse::InvalidSuffix`] for a suffix with a separator or a zero byte, and
    /// [`FolderError::NamesInPlace`] if names are encrypted and `target` is a source.
    pub fn walk(
        sources: &[impl AsRef<Path>],
        target: Option<&Path>,
        suffix: Suffix<'_>,
        options: TreeOptions<'_>,
    ) -> Result<Self> {
        suffix.check()?;
        let about = |path: &Path| {
            let path = path.to_owned();
            move |e| Error::io(&path, e)
        };
        let mut walk = Walk {
            suffix,
            options,
            tree: Self {
                names: options.names.cloned(),
                description: options.description.map(Path::to_owned),
                ..Self::default()
            },
            targets: Vec::new(),
            links: Vec::new(),
            linked: Vec::new(),
            decrypted: BTreeMap::new(),
        };
        let roots = sources
            .iter()
            .map(AsRef::as_ref)
            .map(|path| resolve(path).map(|real| (path, real)).map_err(about(path)))
            .collect::<Result<Vec<_>, _>>()?;
        let place = |target| refuse_url(target).and_then(|()| Place::new(target)).map_err(about(target));
        let place = target.map(place).transpose()?;
        walk.tree.root = target.map(Path::to_owned);
        walk.tree.folders.extend(place.as_ref().map(|place| place.path.clone()));
        let is_target = |real: &PathBuf| place.as_ref().is_some_and(|place| place.real == *real);
        if options.names.is_some() && roots.iter().any(|(_, real)| is_target(real)) {
            return Err(FolderError::NamesInPlace.into());
        }
        let own = |real: &PathBuf| roots.len() == 1 && is_target(real);
        for (source, real) in &roots {
            let found = source.symlink_metadata().map_err(about(source))?;
            match real.is_dir() {
                true => {
                    let pair = place.as_ref().map(|place| (source.to_path_buf(), place.path.clone()));
                    walk.tree.folder_pairs.extend(pair);
                    walk.folder(source, place.as_ref(), own(real));
                }
                false => {
                    let named = walk.named(source.file_name().unwrap_or_default(), Path::new(""), false);
                    walk.file(source, found.file_type().into(), named, place.as_ref());
                }
            }
            walk.refuse_duplicates();
        }
        if let Some(place) = place {
            walk.check(&roots, &place)?;
            walk.refuse_targets_of_folders();
        }
        Ok(walk.tree)
    }

    /// Creates the folders of the tree. Returns those that cannot be created. Follows links on the
    /// way to the target folder; below it, a link that has appeared since the walk is an error.
    pub fn create_folders(&self) -> Vec<(PathBuf, Error)> {
        self.create_each(|root| fs::create_dir_all(root), |root, below| root.create_below(below, 0o777))
    }

    /// Creates the target folder, opens it, and creates the folders below it. The first is the
    /// target folder itself, with an empty path.
    pub(crate) fn create_each(
        &self,
        create_root: impl FnOnce(&Path) -> io::Result<()>,
        create: impl Fn(&Folder, &Path) -> io::Result<()>,
    ) -> Vec<(PathBuf, Error)> {
        let Some(root) = &self.root else { return Vec::new() };
        let opened = match create_root(root).and_then(|()| Folder::open(root)) {
            Ok(opened) => opened,
            Err(e) => return vec![(root.clone(), Error::io(root, e))],
        };
        let create = |path: &PathBuf| {
            let error = create(&opened, path.strip_prefix(root).ok()?).err()?;
            Some((path.clone(), Error::io(path, error)))
        };
        self.folders.iter().filter_map(create).collect()
    }
}

/// A target folder, with the path that identifies it on the system.
#[derive(Clone)]
struct Place {
    path: PathBuf,
    /// The path with all symbolic links resolved.
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
    /// The files behind links among the sources.
    linked: Vec<PathBuf>,
    /// The files and links below the current source, by decrypted path.
    decrypted: BTreeMap<PathBuf, Vec<PathBuf>>,
}

/// The names of a file or folder.
struct Named {
    /// The target's name.
    target: OsString,
    /// The unencrypted path below the top; empty if names are not encrypted.
    plain: PathBuf,
}

impl Walk<'_> {
    /// Lists everything below a folder. Not recursive: folders may be nested as deep as a path can
    /// be long.
    fn folder(&mut self, root: &Path, place: Option<&Place>, in_place: bool) {
        let mut waiting = vec![(root.to_owned(), PathBuf::new(), place.cloned())];
        while let Some((source, plain, place)) = waiting.pop() {
            let entries = sorted(&source).map_err(|e| self.problem(&source, Error::io(&source, e)));
            let Ok(entries) = entries else { continue };
            let made = if in_place { self.targets_among(&entries) } else { BTreeSet::new() };
            let mut folders = Vec::new();
            for (name, kind) in entries {
                let path = source.join(&name);
                let is_file = matches!(kind, Ok(EntryKind::File));
                let skips = |suffix| is_file && is_unfinished(&name, suffix);
                if self.options.description == Some(&*path) || self.options.unfinished.is_some_and(skips) {
                    continue;
                }
                let is_folder = matches!(kind, Ok(EntryKind::Folder));
                let named = self.named(&name, &plain, is_folder);
                if self.excludes(root, &path, &named, is_folder) {
                    self.tree.excluded += 1;
                    continue;
                }
                match kind {
                    Ok(EntryKind::Folder) => folders.push((path, named)),
                    // A target of an earlier run, to be replaced.
                    Ok(_) if made.contains(&name) => {}
                    Ok(_) if in_place && self.suffix.is_added_to(&name) => {
                        self.problem(&path, Error::Format(ALREADY_ENCRYPTED));
                    }
                    Ok(EntryKind::Link) if self.options.links == Links::Keep => {
                        self.link(&path, named, place.as_ref());
                    }
                    Ok(kind) => self.file(&path, kind, named, place.as_ref()),
                    Err(e) => self.problem(&path, Error::io(&path, e)),
                }
            }
            for (source, named) in folders.into_iter().rev() {
                let below = named.and_then(|Named { target, plain }| {
                    self.check_reserved(place.as_ref(), &target)?;
                    let replaces_links = self.options.replaces_links;
                    let place = place.as_ref().map(|place| place.below(&target, replaces_links));
                    Ok((plain, place.transpose()?))
                });
                match below {
                    Ok((plain, place)) => waiting.push((source, plain, place)),
                    Err(error) => self.problem(&source, error),
                }
            }
            // After its parent, popped earlier.
            if source != root {
                self.tree.folder_pairs.extend(place.as_ref().map(|place| (source, place.path.clone())));
                self.tree.folders.extend(place.map(|place| place.path));
            }
        }
    }

    /// Returns the names of an entry of `folder`, a source folder's unencrypted path below the top.
    /// Folders have no suffix.
    fn named(&self, name: &OsStr, folder: &Path, is_folder: bool) -> Result<Named> {
        let suffix = if is_folder { OsStr::new("") } else { self.suffix.text() };
        let Some(key) = self.options.names else {
            let target = if is_folder { name.to_owned() } else { self.suffix.applied(name)? };
            return Ok(Named { target, plain: PathBuf::new() });
        };
        match self.suffix {
            Suffix::Add(_) => {
                Ok(Named { target: key.encrypt(name, folder, suffix)?, plain: folder.join(name) })
            }
            Suffix::Remove(_) => {
                let name = without_suffix(name, suffix)
                    .ok_or_else(|| FolderError::SuffixMissing(suffix.to_owned()))?;
                let target = key.decrypt(&name, folder)?;
                Ok(Named { plain: folder.join(&target), target })
            }
        }
    }

    fn excludes(&self, root: &Path, path: &Path, named: &Result<Named>, is_folder: bool) -> bool {
        let Some(exclude) = self.options.exclude else { return false };
        match (self.options.names, self.suffix, named) {
            (Some(_), Suffix::Remove(_), Ok(Named { plain, .. })) => exclude.matches(plain, is_folder),
            // No pattern matches a name that does not decrypt.
            (Some(_), Suffix::Remove(_), Err(_)) => false,
            _ => exclude.matches(path.strip_prefix(root).unwrap_or(path), is_folder),
        }
    }

    /// Refuses a target with the name of the folder's description, also where case is ignored.
    fn check_reserved(&self, place: Option<&Place>, name: &OsStr) -> Result<()> {
        let (Some(place), Some(description)) = (place, self.options.description) else { return Ok(()) };
        let is_name = description.file_name().is_some_and(|reserved| name.eq_ignore_ascii_case(reserved));
        match is_name && description.parent() == Some(&place.path) {
            true => Err(FolderError::ReservedName.into()),
            false => Ok(()),
        }
    }

    /// Adds a link to keep, or a problem.
    fn link(&mut self, source: &Path, named: Result<Named>, place: Option<&Place>) {
        let read = named.and_then(|Named { target, plain }| {
            self.check_reserved(place, &target)?;
            let text = fs::read_link(source).map_err(|e| Error::io(source, e))?;
            let text = match (self.options.names, self.suffix) {
                (None, _) => text,
                (Some(key), Suffix::Add(_)) => key.encrypt_link(&text, &plain)?,
                (Some(key), Suffix::Remove(_)) => key.decrypt_link(&text, &plain)?,
            };
            Ok((target, plain, text))
        });
        match read {
            Ok((name, plain, text)) => {
                self.claim(plain, source);
                self.links.extend(place.map(|place| place.real.join(&name)));
                let target = place.map(|place| place.path.join(name)).unwrap_or_default();
                self.tree.links.push(Link { source: source.to_owned(), target, text });
            }
            Err(error) => self.problem(source, error),
        }
    }

    /// Remembers the decrypted path of a file or a link.
    fn claim(&mut self, plain: PathBuf, source: &Path) {
        if self.options.names.is_some() && matches!(self.suffix, Suffix::Remove(_)) {
            self.decrypted.entry(plain).or_default().push(source.to_owned());
        }
    }

    /// Removes files and links of the current source with equal decrypted paths, because we cannot
    /// know which is right.
    fn refuse_duplicates(&mut self) {
        let decrypted = mem::take(&mut self.decrypted);
        let groups = || decrypted.values().filter(|sources| sources.len() > 1);
        let all: BTreeSet<&PathBuf> = groups().flatten().collect();
        if all.is_empty() {
            return;
        }
        let is_single = |source: &PathBuf| !all.contains(source);
        // Without a target folder, the lists of targets are empty.
        let mut pairs = self.tree.pairs.iter();
        self.targets.retain(|_| pairs.next().is_none_or(|(source, _)| is_single(source)));
        let mut links = self.tree.links.iter();
        self.links.retain(|_| links.next().is_none_or(|link| is_single(&link.source)));
        self.tree.pairs.retain(|(source, _)| is_single(source));
        self.tree.links.retain(|link| is_single(&link.source));
        for sources in groups() {
            for source in sources {
                let other = sources.iter().find(|other| *other != source).unwrap_or(source).clone();
                self.tree.problems.push((source.clone(), FolderError::DuplicateName { other }.into()));
            }
        }
    }

    /// Removes files and links with the targets of folders, which are problems.
    fn refuse_targets_of_folders(&mut self) {
        let Tree { folder_pairs, pairs, links, problems, .. } = &mut self.tree;
        let folders: BTreeMap<_, _> =
            folder_pairs.iter().map(|(source, target)| (comparable(target), source)).collect();
        let mut is_free = |source: &Path, target: &Path| {
            let other = folders.get(&comparable(target)).map(PathBuf::from);
            let error = |other| (source.to_owned(), FolderError::FolderHasTarget { other }.into());
            problems.extend(other.clone().map(error));
            other.is_none()
        };
        pairs.retain(|(source, target)| is_free(source, target));
        links.retain(|link| is_free(&link.source, &link.target));
    }

    /// Returns the names of these files' targets in their own folder.
    fn targets_among(&self, entries: &[Listed]) -> BTreeSet<OsString> {
        let files =
            entries.iter().filter(|(_, kind)| kind.as_ref().is_ok_and(|kind| *kind != EntryKind::Folder));
        files.filter_map(|(name, _)| self.suffix.applied(name).ok()).collect()
    }

    /// Adds a source that is not a folder, or a problem.
    fn file(&mut self, source: &Path, kind: EntryKind, named: Result<Named>, place: Option<&Place>) {
        if let Err(error) = self.try_file(source, kind, named, place) {
            self.problem(source, error);
        }
    }

    fn try_file(
        &mut self,
        source: &Path,
        kind: EntryKind,
        named: Result<Named>,
        place: Option<&Place>,
    ) -> Result<()> {
        let about = |e| Error::io(source, e);
        let link = kind == EntryKind::Link;
        let kind = match source.metadata() {
            _ if !link => kind,
            Ok(found) => found.file_type().into(),
            Err(e) if e.kind() == ErrorKind::NotFound && matches!(self.suffix, Suffix::Remove(_)) => {
                return Err(about(io::Error::other(DANGLING)));
            }
            Err(e) => return Err(about(e)),
        };
        if kind != EntryKind::File {
            let said = if kind == EntryKind::Folder { FOLDER_LINK } else { SPECIAL };
            return Err(about(io::Error::new(ErrorKind::Unsupported, said)));
        }
        let Named { target: name, plain } = named?;
        let Some(place) = place else {
            self.claim(plain, source);
            self.tree.pairs.push((source.to_owned(), PathBuf::new()));
            return Ok(());
        };
        let target = place.path.join(&name);
        check_name(&name).map_err(|e| Error::io(&target, e))?;
        self.check_reserved(Some(place), &name)?;
        let refuses = self.options.links == Links::Follow && !self.options.replaces_links;
        if refuses && place.exists && target.is_symlink() {
            return Err(Error::io(&target, refused_link()));
        }
        if link {
            self.linked.push(resolve(source).map_err(about)?);
        }
        self.claim(plain, source);
        self.targets.push(place.real.join(name));
        self.tree.pairs.push((source.to_owned(), target));
        Ok(())
    }

    fn problem(&mut self, source: &Path, error: Error) {
        self.tree.problems.push((source.to_owned(), error));
    }

    /// Refuses targets that would replace a source or another target.
    fn check(&self, roots: &[(&Path, PathBuf)], place: &Place) -> Result<()> {
        // All paths are resolved, so equal paths have equal bytes. Bytes compare faster than
        // components.
        let mut taken = BTreeSet::new();
        let targets = self.tree.pairs.iter().map(|(_, target)| target);
        let links = self.links.iter().zip(self.tree.links.iter().map(|link| &link.target));
        for (real, target) in self.targets.iter().zip(targets).chain(links) {
            if !taken.insert(comparable(real)) {
                return Err(Misuse::DuplicateTarget(target.clone()).into());
            }
        }
        for (source, real) in roots {
            if taken.contains(&comparable(real)) {
                return Err(Misuse::SameFile(source.to_path_buf()).into());
            }
            let in_place = roots.len() == 1 && *real == place.real;
            if in_place && self.suffix.is_empty() {
                return Err(Misuse::SameFile(place.path.clone()).into());
            }
            let inside = |target: &Path| !in_place && target.starts_with(real);
            if inside(&place.real) || self.targets.iter().chain(&self.links).any(|target| inside(target)) {
                return Err(Misuse::TargetInsideSource(place.path.clone()).into());
            }
        }
        let linked = self.linked.iter().find(|link| taken.contains(&comparable(link)));
        linked.map_or(Ok(()), |link| Err(Misuse::SameFile(link.clone()).into()))
    }
}

/// Returns a text that is equal for two resolved paths to the same file.
#[cfg(unix)]
pub(super) fn comparable(real: &Path) -> &OsStr {
    real.as_os_str()
}

/// Returns a text that is equal for two resolved paths if they may lead to the same file: Windows
/// ignores the case of names, unless a folder is set up otherwise.
#[cfg(windows)]
pub(super) fn comparable(real: &Path) -> String {
    real.to_string_lossy().to_uppercase()
}

const FOLDER_LINK: &str = "is a link to a folder, and such links are not followed";
const DANGLING: &str = "is a link that leads nowhere; if the folder was encrypted with --preserve (in Python preserve=True), give it";
const ALREADY_ENCRYPTED: &str = "expected a file to encrypt, found one that already has the suffix";

pub(super) fn sorted(folder: &Path) -> io::Result<Vec<Listed>> {
    let mut entries = Folder::list(folder)?;
    entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Ok(entries)
}

impl Place {
    /// Resolves the links in a target folder's path. The folder need not exist.
    fn new(path: &Path) -> io::Result<Self> {
        match resolve(path) {
            Ok(real) if real.is_dir() => Ok(Self { path: path.to_owned(), real, exists: true }),
            Ok(_) => Err(ErrorKind::NotADirectory.into()),
            Err(e) if e.kind() == ErrorKind::NotFound => {
                let Some(name) = path.file_name() else { return Err(e) };
                let real = Self::new(parent(path))?.real.join(name);
                Ok(Self { path: path.to_owned(), real, exists: false })
            }
            Err(e) => Err(e),
        }
    }

    fn below(&self, name: &OsStr, replaces_links: bool) -> Result<Self> {
        let (path, real) = (self.path.join(name), self.real.join(name));
        check_name(name).map_err(|e| Error::io(&path, e))?;
        let found = if self.exists { path.symlink_metadata().ok() } else { None };
        match found {
            Some(found) if found.is_symlink() && !replaces_links => Err(Error::io(&path, refused_link())),
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

    /// Returns whether a name already ends with the suffix to add: an earlier job in the same
    /// folder encrypted the file.
    fn is_added_to(&self, name: &OsStr) -> bool {
        matches!(self, Self::Add(suffix) if without_suffix(name, suffix).is_some())
    }

    pub(crate) fn check(&self) -> Result<()> {
        let bad = |byte: &u8| *byte == 0 || std::path::is_separator(char::from(*byte));
        match self.text().as_encoded_bytes().iter().any(bad) || !is_part_of_name(self.text()) {
            true => Err(Misuse::InvalidSuffix.into()),
            false => Ok(()),
        }
    }

    /// Returns the target's name for a source's name.
    pub(super) fn applied(&self, name: &OsStr) -> Result<OsString> {
        match self {
            Self::Add(suffix) => Ok([name, suffix].into_iter().collect()),
            Self::Remove(suffix) => without_suffix(name, suffix)
                .filter(|rest| !["", ".", ".."].iter().any(|none| rest == none))
                .ok_or_else(|| FolderError::SuffixMissing((*suffix).to_owned()).into()),
        }
    }

    /// Returns the target's path for a source's path. Folders keep their names.
    ///
    /// # Errors
    /// Returns [`FolderError::SuffixMissing`] for a path without the suffix to remove.
    pub fn applied_to_path(&self, path: &Path) -> Result<PathBuf> {
        Ok(path.with_file_name(self.applied(path.file_name().unwrap_or_default())?))
    }
}

/// Returns whether a file of an encrypted folder with this suffix is one that a job is writing, or
/// that a killed job has left.
#[doc(hidden)]
pub fn is_unfinished(name: &OsStr, suffix: &OsStr) -> bool {
    let is_named = !suffix.is_empty() && name.as_encoded_bytes().ends_with(suffix.as_encoded_bytes());
    is_temporary_name(name) && !is_named
}

#[cfg(unix)]
pub(super) fn without_suffix(name: &OsStr, suffix: &OsStr) -> Option<OsString> {
    use std::os::unix::ffi::OsStrExt;
    name.as_bytes().strip_suffix(suffix.as_bytes()).map(|rest| OsStr::from_bytes(rest).to_owned())
}

#[cfg(windows)]
pub(super) fn without_suffix(name: &OsStr, suffix: &OsStr) -> Option<OsString> {
    use std::os::windows::ffi::{OsStrExt, OsStringExt};
    let [name, suffix] = [name, suffix].map(|text| text.encode_wide().collect::<Vec<_>>());
    name.strip_suffix(&suffix[..]).map(OsString::from_wide)
}

#[cfg(all(test, unix))]
mod test;

#[cfg(all(test, windows))]
mod windows_test;

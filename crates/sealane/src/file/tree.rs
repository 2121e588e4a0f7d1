//! The files of a folder tree and the targets they are written to. Nothing is written, and no file is read.

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

/// The folders and files of a bulk job.
#[derive(Debug, Default)]
pub struct Tree {
    /// The target folder, below which no link is followed; `None` for files that are verified.
    pub root: Option<PathBuf>,
    /// Target folders, also those that exist, each listed after its parent.
    pub folders: Vec<PathBuf>,
    /// Sources and their targets, in an order that depends only on the names.
    pub pairs: Vec<(PathBuf, PathBuf)>,
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
        suffix.check()?;
        let about = |path: &Path| {
            let path = path.to_owned();
            move |e| Error::io(&path, e)
        };
        let mut walk = Walk { suffix, tree: Self::default(), targets: Vec::new(), linked: Vec::new() };
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
                true => walk.folder(source, place.as_ref(), own(real)),
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
            let error = opened.create_below(relative).err()?;
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
    tree: Tree,
    /// The targets of `tree.pairs`, with all links resolved.
    targets: Vec<PathBuf>,
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
                match kind {
                    Ok(EntryKind::Folder) => folders.push((path, name)),
                    // A target of an earlier run, which is replaced.
                    Ok(_) if made.contains(&name) => {}
                    Ok(_) if in_place && self.suffix.is_added_to(&name) => {
                        self.problem(&path, Error::Format(ALREADY_ENCRYPTED));
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
                self.tree.folders.extend(place.map(|place| place.path));
            }
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
        if place.exists && target.is_symlink() {
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
    fn applied(&self, name: &OsStr) -> Result<OsString, Error> {
        match self {
            Self::Add(suffix) => Ok([name, suffix].into_iter().collect()),
            Self::Remove(suffix) => without_suffix(name, suffix)
                .filter(|rest| !["", ".", ".."].iter().any(|none| rest == none))
                .ok_or(Error::Format(SUFFIX_MISSING)),
        }
    }
}

#[cfg(unix)]
fn without_suffix(name: &OsStr, suffix: &OsStr) -> Option<OsString> {
    use std::os::unix::ffi::OsStrExt;
    name.as_bytes().strip_suffix(suffix.as_bytes()).map(|rest| OsStr::from_bytes(rest).to_owned())
}

#[cfg(not(unix))]
fn without_suffix(name: &OsStr, suffix: &OsStr) -> Option<OsString> {
    name.to_str()?.strip_suffix(suffix.to_str()?).map(OsString::from)
}

#[cfg(all(test, unix))]
mod test {
    use super::*;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    /// A folder with test files, removed on drop.
    struct Folder(PathBuf);

    impl Folder {
        /// Creates `files`; names that end with a slash are folders.
        fn new(name: &str, files: &[&str]) -> Self {
            let folder =
                Self(std::env::temp_dir().join(format!("sealane-tree-{name}-{}", std::process::id())));
            let _ = fs::remove_dir_all(&folder.0);
            for file in files {
                let path = folder.0.join(file);
                match file.ends_with('/') {
                    true => fs::create_dir_all(&path).unwrap(),
                    false => {
                        fs::create_dir_all(path.parent().unwrap()).unwrap();
                        fs::write(&path, b"x").unwrap();
                    }
                }
            }
            folder
        }

        fn walk(&self, sources: &[&str], target: &str, suffix: Suffix<'_>) -> Result<Tree, Error> {
            let sources: Vec<_> = sources.iter().map(|source| self.0.join(source)).collect();
            Tree::walk(&sources, Some(&self.0.join(target)), suffix)
        }

        fn relative(&self, path: &Path) -> String {
            path.strip_prefix(&self.0).unwrap().to_str().unwrap().to_owned()
        }

        fn pairs(&self, tree: &Tree) -> Vec<String> {
            tree.pairs.iter().map(|(a, b)| format!("{} > {}", self.relative(a), self.relative(b))).collect()
        }

        fn folders(&self, tree: &Tree) -> Vec<String> {
            tree.folders.iter().map(|folder| self.relative(folder)).collect()
        }

        fn problems(&self, tree: &Tree) -> Vec<String> {
            let why = |e: &Error| e.to_string().replace(&format!("{}/", self.0.display()), "");
            tree.problems.iter().map(|(path, e)| format!("{} = {}", self.relative(path), why(e))).collect()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn add(suffix: &str) -> Suffix<'_> {
        Suffix::Add(OsStr::new(suffix))
    }

    fn remove(suffix: &str) -> Suffix<'_> {
        Suffix::Remove(OsStr::new(suffix))
    }

    #[test]
    fn lists_everything_in_the_order_of_names() {
        let folder = Folder::new("order", &["s/b/y", "s/b/c/z", "s/a/", "s/x", "s/B", "s/d/e/"]);
        let tree = folder.walk(&["s"], "t", add("")).unwrap();
        assert_eq!(folder.pairs(&tree), ["s/B > t/B", "s/x > t/x", "s/b/y > t/b/y", "s/b/c/z > t/b/c/z"]);
        assert_eq!(folder.folders(&tree), ["t", "t/a", "t/b", "t/b/c", "t/d", "t/d/e"]);
        assert!(tree.problems.is_empty() && !folder.0.join("t").exists());
    }

    #[test]
    fn suffixes_are_added_and_removed() {
        let folder = Folder::new("suffixes", &["s/x.e/y.e", "s/z", "s/.e", "s/..e", "s/...e"]);
        let tree = folder.walk(&["s"], "t", remove(".e")).unwrap();
        assert_eq!(folder.pairs(&tree), ["s/x.e/y.e > t/x.e/y"]);
        assert_eq!(tree.problems.len(), 4);
        assert!(tree.problems.iter().all(|(_, error)| matches!(error, Error::Format(_))));
        let tree = folder.walk(&["s"], "t", add("")).unwrap();
        assert_eq!(tree.pairs.len(), 5);
        for bad in ["a/b", "\0", "/"] {
            assert!(matches!(folder.walk(&["s"], "t", add(bad)), Err(Error::Misuse(Misuse::InvalidSuffix))));
        }
        // Without a target, for files that are verified.
        let tree = Tree::walk(&[folder.0.join("s")], None, remove(".e")).unwrap();
        assert_eq!((tree.pairs.len(), tree.problems.len(), tree.folders.len()), (1, 4, 0));
        assert_eq!(tree.pairs[0].1, PathBuf::new());
    }

    #[test]
    fn special_files_and_links_to_folders_are_problems() {
        let folder = Folder::new("special", &["s/file", "s/folder/x"]);
        symlink("file", folder.0.join("s/link")).unwrap();
        symlink("folder", folder.0.join("s/loop")).unwrap();
        symlink("nowhere", folder.0.join("s/broken")).unwrap();
        symlink("itself", folder.0.join("s/itself")).unwrap();
        let _socket = UnixListener::bind(folder.0.join("s/socket")).unwrap();
        let tree = folder.walk(&["s"], "t", add("")).unwrap();
        assert_eq!(folder.pairs(&tree), ["s/file > t/file", "s/link > t/link", "s/folder/x > t/folder/x"]);
        let problems = folder.problems(&tree).join("\n");
        for said in [
            "s/loop = s/loop: is a link to a folder",
            "s/broken = ",
            "s/itself = ",
            "s/socket: expected a regular file, found a pipe, a",
        ] {
            assert!(problems.contains(said), "{problems}");
        }
        assert_eq!(tree.problems.len(), 4);
    }

    #[test]
    fn refuses_targets_that_would_replace_a_source() {
        let folder = Folder::new("refused", &["s/x", "s/b/s/x", "r/x", "r/b/r/x", "r/b/x", "file"]);
        let refused = |it: Result<Tree, Error>| match it {
            Err(Error::Misuse(why)) => why,
            other => panic!("not refused: {other:?}"),
        };
        let nested = |it| assert!(matches!(refused(it), Misuse::TargetInsideSource(_)));
        let same = |it| assert!(matches!(refused(it), Misuse::SameFile(_)));
        nested(folder.walk(&["s"], "s/t", add("")));
        nested(folder.walk(&["s"], "s/t/u", add(".e")));
        nested(folder.walk(&["s"], "s/b", add(".e")));
        nested(folder.walk(&["s", "file"], "s", add(".e")));
        // r/b/r/x becomes r/r/x and r/b/x becomes r/x, which are not below the source r/b.
        assert_eq!(
            folder.pairs(&folder.walk(&["r/b"], "r", add("")).unwrap()),
            ["r/b/x > r/x", "r/b/r/x > r/r/x"]
        );
        fs::create_dir_all(folder.0.join("r/b/b")).unwrap();
        fs::write(folder.0.join("r/b/b/x"), b"").unwrap();
        nested(folder.walk(&["r/b"], "r", add("")));
        same(folder.walk(&["s"], "s", add("")));
        same(folder.walk(&["s"], "r/../s/.", remove("")));
        same(folder.walk(&["file"], ".", add("")));
        symlink("s", folder.0.join("link")).unwrap();
        same(folder.walk(&["s"], "link", add("")));
        nested(folder.walk(&["link"], "s/new", add("")));
        let both = folder.walk(&["s", "r"], "t", add(""));
        assert!(matches!(both, Err(Error::Misuse(Misuse::DuplicateTarget(it))) if it.ends_with("t/x")));
        // The file that a link leads to is a source too.
        fs::create_dir(folder.0.join("t")).unwrap();
        fs::write(folder.0.join("t/x"), b"").unwrap();
        symlink("../t/x", folder.0.join("s/old")).unwrap();
        same(folder.walk(&["s"], "t", add("")));
        for (source, target) in [("missing", "t"), ("s", "file"), ("s", "file/t")] {
            assert!(matches!(folder.walk(&[source], target, add("")), Err(Error::Io { path: Some(_), .. })));
        }
        assert!(!folder.0.join("s/t").exists());
    }

    #[test]
    fn results_are_not_written_through_links() {
        let folder = Folder::new("targets", &["s/a/x", "s/b/x", "s/y", "s/z", "t/"]);
        symlink("../s/b", folder.0.join("t/a")).unwrap();
        symlink("../s/z", folder.0.join("t/y")).unwrap();
        let tree = folder.walk(&["s"], "t", add("")).unwrap();
        assert_eq!(folder.pairs(&tree), ["s/z > t/z", "s/b/x > t/b/x"]);
        let problems = folder.problems(&tree);
        assert_eq!(problems.len(), 2);
        assert!(
            problems[0].starts_with("s/y = t/y: is a link")
                && problems[1].starts_with("s/a = t/a: is a link")
        );
    }

    #[test]
    fn a_folder_can_be_its_own_target() {
        let folder = Folder::new("place", &["s/x", "s/b/y"]);
        let first = folder.walk(&["s"], "s", add(".e")).unwrap();
        assert_eq!(folder.pairs(&first), ["s/x > s/x.e", "s/b/y > s/b/y.e"]);
        for (_, target) in &first.pairs {
            fs::write(target, b"").unwrap();
        }
        // A second run and the way back do not take targets for sources.
        assert_eq!(folder.pairs(&folder.walk(&["s"], "s", add(".e")).unwrap()), folder.pairs(&first));
        let back = folder.walk(&["s"], "s", remove(".e")).unwrap();
        assert_eq!(folder.pairs(&back), ["s/x.e > s/x", "s/b/y.e > s/b/y"]);
        assert!(back.problems.is_empty());
        fs::remove_file(folder.0.join("s/x")).unwrap();
        let alone = folder.walk(&["s"], "s", add(".e")).unwrap();
        assert_eq!(folder.pairs(&alone), ["s/b/y > s/b/y.e"]);
        assert_eq!(
            folder.problems(&alone),
            ["s/x.e = expected a file to encrypt, found one that already has the suffix"]
        );
    }

    #[test]
    fn accepts_several_sources_and_single_files() {
        let folder = Folder::new("several", &["s/b/x", "r/b/y", "file"]);
        let tree = folder.walk(&["s", "r", "file"], "t", add(".e")).unwrap();
        assert_eq!(folder.pairs(&tree), ["s/b/x > t/b/x.e", "r/b/y > t/b/y.e", "file > t/file.e"]);
        let tree = folder.walk(&["file"], "t", add("")).unwrap();
        assert_eq!(
            (folder.pairs(&tree), folder.folders(&tree)),
            (vec!["file > t/file".into()], vec!["t".into()])
        );
    }

    #[test]
    fn names_of_any_bytes_and_deep_folders() {
        let folder = Folder::new("bytes", &["s/"]);
        let odd = OsStr::from_bytes(b"\xff\n");
        let mut deep = folder.0.join("s");
        for _ in 0..1500 {
            deep.push("d");
        }
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join(odd), b"").unwrap();
        let tree = folder.walk(&["s"], "t", Suffix::Add(OsStr::from_bytes(b".\xfe"))).unwrap();
        assert_eq!((tree.folders.len(), tree.pairs.len()), (1501, 1));
        assert_eq!(tree.pairs[0].1.file_name().unwrap().as_bytes(), b"\xff\n.\xfe");
        assert_eq!(
            without_suffix(OsStr::from_bytes(b"\xff\n.\xfe"), OsStr::from_bytes(b".\xfe")).unwrap(),
            odd
        );
    }
}

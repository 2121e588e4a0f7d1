//! From folders to folders: which file goes where. Nothing is written, and no file is read.

use crate::{Error, Misuse};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, FileType};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What becomes of names.
#[derive(Clone, Copy, Debug)]
pub enum Suffix<'a> {
    /// Of files that are encrypted: it is put behind. May be empty.
    Add(&'a OsStr),
    /// Of files that are decrypted or verified: it is taken off, and a file without it is a problem. May be empty.
    TakeOff(&'a OsStr),
}

/// What is to be done.
#[derive(Debug, Default)]
pub struct Tree {
    /// Folders to be there, each after the one it is in.
    pub folders: Vec<PathBuf>,
    /// Sources and their targets, in an order that depends on names only.
    pub pairs: Vec<(PathBuf, PathBuf)>,
    /// What cannot be done, and why. The rest can.
    pub problems: Vec<(PathBuf, Error)>,
}

impl Tree {
    /// Below each of the `sources`, which are folders or files, to below `target`, a folder that need not be there: what
    /// a folder contains goes into it. Without a `target`, for files that are only read, the targets are empty paths.
    ///
    /// A link to a file is that file. A link to a folder, a pipe, a socket or a device is a problem, and so is a link
    /// where a target should be: what is behind it may be a source. Where `target` is the source itself, files that are
    /// made of others here are no sources.
    ///
    /// # Errors
    /// [`Error::Io`] for a source that is not there, and a target that is no folder; [`Misuse::TargetInsideSource`] where a target
    /// would lie in a source, [`Misuse::DuplicateTarget`] for two sources with one target, [`Misuse::SameFile`] for one that
    /// is another's target, [`Misuse::InvalidSuffix`].
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
        let mut walk = Walk { suffix, tree: Self::default(), targets: Vec::new(), links: Vec::new() };
        let roots = sources
            .iter()
            .map(AsRef::as_ref)
            .map(|path| fs::canonicalize(path).map(|real| (path, real)).map_err(about(path)))
            .collect::<Result<Vec<_>, _>>()?;
        let place = target.map(|target| Place::new(target).map_err(about(target))).transpose()?;
        walk.tree.folders.extend(place.as_ref().map(|place| place.path.clone()));
        let own =
            |real: &PathBuf| roots.len() == 1 && place.as_ref().is_some_and(|place| place.real == *real);
        for (source, real) in &roots {
            let found = source.symlink_metadata().map_err(about(source))?;
            match real.is_dir() {
                true => walk.folder(source, place.as_ref(), own(real)),
                false => walk.file(source, found.file_type(), place.as_ref()),
            }
        }
        if let Some(place) = place {
            walk.refuse(&roots, &place)?;
        }
        Ok(walk.tree)
    }
}

/// A folder that results go to.
#[derive(Clone)]
struct Place {
    path: PathBuf,
    /// Without links.
    real: PathBuf,
    /// Whether it is there already.
    old: bool,
}

struct Walk<'a> {
    suffix: Suffix<'a>,
    tree: Tree,
    /// The targets of `tree.pairs`, without links.
    targets: Vec<PathBuf>,
    /// What links to files lead to.
    links: Vec<PathBuf>,
}

impl Walk<'_> {
    /// All below a folder, without a call into itself: a chain of folders may be as long as a path.
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
            let made = if in_place { self.made_here(&entries) } else { HashSet::new() };
            let mut folders = Vec::new();
            for entry in entries {
                let name = entry.file_name();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push((entry.path(), name)),
                    // Of what is there it becomes the new content.
                    Ok(_) if made.contains(&name) => {}
                    Ok(_) if in_place && self.suffix.is_added_to(&name) => {
                        self.problem(
                            &entry.path(),
                            Error::Format("not to be encrypted again: it has the suffix"),
                        );
                    }
                    Ok(kind) => self.file(&entry.path(), kind, place.as_ref()),
                    Err(e) => self.problem(&entry.path(), Error::io(&entry.path(), e)),
                }
            }
            for (source, name) in folders.into_iter().rev() {
                match place.as_ref().map(|place| place.below(&name)).transpose() {
                    Ok(place) => waiting.push((source, place)),
                    Err(error) => self.problem(&source, error),
                }
            }
            // Behind the folder it is in, because that was popped before.
            if source != root {
                self.tree.folders.extend(place.map(|place| place.path));
            }
        }
    }

    /// The names that others of these files get, where they stay in their folder.
    fn made_here(&self, entries: &[DirEntry]) -> HashSet<OsString> {
        let file = |entry: &&DirEntry| entry.file_type().is_ok_and(|kind| !kind.is_dir());
        let names = entries.iter().filter(file).map(DirEntry::file_name);
        names.filter_map(|name| self.suffix.applied(&name).ok()).collect()
    }

    /// One that is no folder.
    fn file(&mut self, source: &Path, kind: FileType, place: Option<&Place>) {
        if let Err(error) = self.try_file(source, kind, place) {
            self.problem(source, error);
        }
    }

    fn try_file(&mut self, source: &Path, kind: FileType, place: Option<&Place>) -> Result<(), Error> {
        let about = |e| Error::io(source, e);
        let link = kind.is_symlink();
        let kind = if link { source.metadata().map_err(about)?.file_type() } else { kind };
        if !kind.is_file() {
            return Err(about(io::Error::new(ErrorKind::Unsupported, what_it_is(kind.is_dir()))));
        }
        let name = self.suffix.applied(source.file_name().unwrap_or_default())?;
        let Some(place) = place else {
            self.tree.pairs.push((source.to_owned(), PathBuf::new()));
            return Ok(());
        };
        let target = place.path.join(&name);
        if place.old && is_link(&target) {
            return Err(Error::io(&target, io::Error::new(ErrorKind::Unsupported, LINK)));
        }
        if link {
            self.links.push(fs::canonicalize(source).map_err(about)?);
        }
        self.targets.push(place.real.join(name));
        self.tree.pairs.push((source.to_owned(), target));
        Ok(())
    }

    fn problem(&mut self, source: &Path, error: Error) {
        self.tree.problems.push((source.to_owned(), error));
    }

    /// What would destroy a source, or one result by another.
    fn refuse(&self, roots: &[(&Path, PathBuf)], place: &Place) -> Result<(), Error> {
        let mut taken = HashSet::new();
        for (real, (_, target)) in self.targets.iter().zip(&self.tree.pairs) {
            if !taken.insert(real.as_path()) {
                return Err(Misuse::DuplicateTarget(target.clone()).into());
            }
        }
        for (source, real) in roots {
            if taken.contains(real.as_path()) {
                return Err(Misuse::SameFile(source.to_path_buf()).into());
            }
            let in_place = roots.len() == 1 && *real == place.real;
            if in_place && self.suffix.is_empty() {
                return Err(Misuse::SameFile(place.path.clone()).into());
            }
            let inside = |target: &Path| !in_place && target.starts_with(real);
            if inside(&place.real) || taken.iter().any(|target| inside(target)) {
                return Err(Misuse::TargetInsideSource(place.path.clone()).into());
            }
        }
        match self.links.iter().find(|link| taken.contains(link.as_path())) {
            Some(link) => Err(Misuse::SameFile(link.clone()).into()),
            None => Ok(()),
        }
    }
}

const LINK: &str = "is a link, and results are not written through links";

fn what_it_is(folder: bool) -> &'static str {
    match folder {
        true => "is a link to a folder, which is not followed",
        false => "is a pipe, a socket or a device, and no file",
    }
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}

fn sorted(folder: &Path) -> io::Result<Vec<DirEntry>> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_cached_key(DirEntry::file_name);
    Ok(entries)
}

impl Place {
    /// The target that was named, through links.
    fn new(path: &Path) -> io::Result<Self> {
        match fs::canonicalize(path) {
            Ok(real) if real.is_dir() => Ok(Self { path: path.to_owned(), real, old: true }),
            Ok(_) => Err(ErrorKind::NotADirectory.into()),
            Err(e) if e.kind() == ErrorKind::NotFound => {
                let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(e) };
                let parent = if parent == Path::new("") { Path::new(".") } else { parent };
                let real = Self::new(parent)?.real.join(name);
                Ok(Self { path: path.to_owned(), real, old: false })
            }
            Err(e) => Err(e),
        }
    }

    fn below(&self, name: &OsStr) -> Result<Self, Error> {
        let (path, real) = (self.path.join(name), self.real.join(name));
        let found = if self.old { path.symlink_metadata().ok() } else { None };
        match found {
            Some(found) if found.is_symlink() => {
                Err(Error::io(&path, io::Error::new(ErrorKind::Unsupported, LINK)))
            }
            found => Ok(Self { path, real, old: found.is_some() }),
        }
    }
}

impl Suffix<'_> {
    fn text(&self) -> &OsStr {
        match self {
            Self::Add(suffix) | Self::TakeOff(suffix) => suffix,
        }
    }

    fn is_empty(&self) -> bool {
        self.text().is_empty()
    }

    /// Whether a file of this name was made by an earlier job that stayed in its folder.
    fn is_added_to(&self, name: &OsStr) -> bool {
        matches!(self, Self::Add(suffix) if taken_off(name, suffix).is_some())
    }

    fn check(&self) -> Result<(), Error> {
        let bad = |byte: &u8| *byte == 0 || std::path::is_separator(char::from(*byte));
        match self.text().as_encoded_bytes().iter().any(bad) {
            true => Err(Misuse::InvalidSuffix.into()),
            false => Ok(()),
        }
    }

    /// What a file of this name becomes.
    fn applied(&self, name: &OsStr) -> Result<OsString, Error> {
        match self {
            Self::Add(suffix) => Ok([name, suffix].into_iter().collect()),
            Self::TakeOff(suffix) => taken_off(name, suffix)
                .filter(|rest| !["", ".", ".."].iter().any(|none| rest == none))
                .ok_or(Error::Format("not a file whose name ends with the suffix")),
        }
    }
}

#[cfg(unix)]
fn taken_off(name: &OsStr, suffix: &OsStr) -> Option<OsString> {
    use std::os::unix::ffi::OsStrExt;
    name.as_bytes().strip_suffix(suffix.as_bytes()).map(|rest| OsStr::from_bytes(rest).to_owned())
}

#[cfg(not(unix))]
fn taken_off(name: &OsStr, suffix: &OsStr) -> Option<OsString> {
    name.to_str()?.strip_suffix(suffix.to_str()?).map(OsString::from)
}

#[cfg(all(test, unix))]
mod test {
    use super::*;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    struct Room(PathBuf);

    impl Room {
        /// With these files; names that end with a slash are folders.
        fn new(name: &str, files: &[&str]) -> Self {
            let room = Self(std::env::temp_dir().join(format!("sealane-tree-{name}-{}", std::process::id())));
            let _ = fs::remove_dir_all(&room.0);
            for file in files {
                let path = room.0.join(file);
                match file.ends_with('/') {
                    true => fs::create_dir_all(&path).unwrap(),
                    false => {
                        fs::create_dir_all(path.parent().unwrap()).unwrap();
                        fs::write(&path, b"x").unwrap();
                    }
                }
            }
            room
        }

        fn walk(&self, sources: &[&str], target: &str, suffix: Suffix<'_>) -> Result<Tree, Error> {
            let sources: Vec<_> = sources.iter().map(|source| self.0.join(source)).collect();
            Tree::walk(&sources, Some(&self.0.join(target)), suffix)
        }

        fn says(&self, path: &Path) -> String {
            path.strip_prefix(&self.0).unwrap().to_str().unwrap().to_owned()
        }

        fn pairs(&self, tree: &Tree) -> Vec<String> {
            tree.pairs.iter().map(|(a, b)| format!("{} > {}", self.says(a), self.says(b))).collect()
        }

        fn folders(&self, tree: &Tree) -> Vec<String> {
            tree.folders.iter().map(|folder| self.says(folder)).collect()
        }

        fn problems(&self, tree: &Tree) -> Vec<String> {
            let why = |e: &Error| e.to_string().replace(&format!("{}/", self.0.display()), "");
            tree.problems.iter().map(|(path, e)| format!("{} = {}", self.says(path), why(e))).collect()
        }
    }

    impl Drop for Room {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn add(suffix: &str) -> Suffix<'_> {
        Suffix::Add(OsStr::new(suffix))
    }

    fn take_off(suffix: &str) -> Suffix<'_> {
        Suffix::TakeOff(OsStr::new(suffix))
    }

    #[test]
    fn everything_in_the_order_of_names() {
        let room = Room::new("order", &["s/b/y", "s/b/c/z", "s/a/", "s/x", "s/B", "s/d/e/"]);
        let tree = room.walk(&["s"], "t", add("")).unwrap();
        assert_eq!(room.pairs(&tree), ["s/B > t/B", "s/x > t/x", "s/b/y > t/b/y", "s/b/c/z > t/b/c/z"]);
        assert_eq!(room.folders(&tree), ["t", "t/a", "t/b", "t/b/c", "t/d", "t/d/e"]);
        assert!(tree.problems.is_empty() && !room.0.join("t").exists());
    }

    #[test]
    fn suffixes() {
        let room = Room::new("suffixes", &["s/x.e/y.e", "s/z", "s/.e", "s/..e", "s/...e"]);
        let tree = room.walk(&["s"], "t", take_off(".e")).unwrap();
        assert_eq!(room.pairs(&tree), ["s/x.e/y.e > t/x.e/y"]);
        assert_eq!(tree.problems.len(), 4);
        assert!(tree.problems.iter().all(|(_, error)| matches!(error, Error::Format(_))));
        let tree = room.walk(&["s"], "t", add("")).unwrap();
        assert_eq!(tree.pairs.len(), 5);
        for bad in ["a/b", "\0", "/"] {
            assert!(matches!(room.walk(&["s"], "t", add(bad)), Err(Error::Misuse(Misuse::InvalidSuffix))));
        }
        // Files that are only read.
        let tree = Tree::walk(&[room.0.join("s")], None, take_off(".e")).unwrap();
        assert_eq!((tree.pairs.len(), tree.problems.len(), tree.folders.len()), (1, 4, 0));
        assert_eq!(tree.pairs[0].1, PathBuf::new());
    }

    #[test]
    fn what_is_no_file_is_told() {
        let room = Room::new("special", &["s/file", "s/folder/x"]);
        symlink("file", room.0.join("s/link")).unwrap();
        symlink("folder", room.0.join("s/loop")).unwrap();
        symlink("nowhere", room.0.join("s/broken")).unwrap();
        symlink("itself", room.0.join("s/itself")).unwrap();
        let _socket = UnixListener::bind(room.0.join("s/socket")).unwrap();
        let tree = room.walk(&["s"], "t", add("")).unwrap();
        assert_eq!(room.pairs(&tree), ["s/file > t/file", "s/link > t/link", "s/folder/x > t/folder/x"]);
        let problems = room.problems(&tree).join("\n");
        for said in
            ["s/loop = s/loop: is a link to a folder", "s/broken = ", "s/itself = ", "s/socket: is a pipe, a"]
        {
            assert!(problems.contains(said), "{problems}");
        }
        assert_eq!(tree.problems.len(), 4);
    }

    #[test]
    fn what_would_destroy_is_refused() {
        let room = Room::new("refused", &["s/x", "s/b/s/x", "r/x", "r/b/r/x", "r/b/x", "file"]);
        let refused = |it: Result<Tree, Error>| match it {
            Err(Error::Misuse(why)) => why,
            other => panic!("not refused: {other:?}"),
        };
        let nested = |it| assert!(matches!(refused(it), Misuse::TargetInsideSource(_)));
        let same = |it| assert!(matches!(refused(it), Misuse::SameFile(_)));
        nested(room.walk(&["s"], "s/t", add("")));
        nested(room.walk(&["s"], "s/t/u", add(".e")));
        nested(room.walk(&["s"], "s/b", add(".e")));
        nested(room.walk(&["s", "file"], "s", add(".e")));
        // A source of the name that a target gets: r/b/r/x would become r/r/x, which is none; r/b/x becomes r/x, which
        // lies beside; s/b/s/x in s/b becomes s/s/x.
        assert_eq!(
            room.pairs(&room.walk(&["r/b"], "r", add("")).unwrap()),
            ["r/b/x > r/x", "r/b/r/x > r/r/x"]
        );
        fs::create_dir_all(room.0.join("r/b/b")).unwrap();
        fs::write(room.0.join("r/b/b/x"), b"").unwrap();
        nested(room.walk(&["r/b"], "r", add("")));
        same(room.walk(&["s"], "s", add("")));
        same(room.walk(&["s"], "r/../s/.", take_off("")));
        same(room.walk(&["file"], ".", add("")));
        symlink("s", room.0.join("link")).unwrap();
        same(room.walk(&["s"], "link", add("")));
        nested(room.walk(&["link"], "s/new", add("")));
        let both = room.walk(&["s", "r"], "t", add(""));
        assert!(matches!(both, Err(Error::Misuse(Misuse::DuplicateTarget(it))) if it.ends_with("t/x")));
        // A link's file is a source too.
        fs::create_dir(room.0.join("t")).unwrap();
        fs::write(room.0.join("t/x"), b"").unwrap();
        symlink("../t/x", room.0.join("s/old")).unwrap();
        same(room.walk(&["s"], "t", add("")));
        for (source, target) in [("missing", "t"), ("s", "file"), ("s", "file/t")] {
            assert!(matches!(room.walk(&[source], target, add("")), Err(Error::Io { path: Some(_), .. })));
        }
        assert!(!room.0.join("s/t").exists());
    }

    #[test]
    fn links_among_the_targets_are_not_written_through() {
        let room = Room::new("targets", &["s/a/x", "s/b/x", "s/y", "s/z", "t/"]);
        symlink("../s/b", room.0.join("t/a")).unwrap();
        symlink("../s/z", room.0.join("t/y")).unwrap();
        let tree = room.walk(&["s"], "t", add("")).unwrap();
        assert_eq!(room.pairs(&tree), ["s/z > t/z", "s/b/x > t/b/x"]);
        let problems = room.problems(&tree);
        assert_eq!(problems.len(), 2);
        assert!(
            problems[0].starts_with("s/y = t/y: is a link")
                && problems[1].starts_with("s/a = t/a: is a link")
        );
    }

    #[test]
    fn in_place() {
        let room = Room::new("place", &["s/x", "s/b/y"]);
        let first = room.walk(&["s"], "s", add(".e")).unwrap();
        assert_eq!(room.pairs(&first), ["s/x > s/x.e", "s/b/y > s/b/y.e"]);
        for (_, target) in &first.pairs {
            fs::write(target, b"").unwrap();
        }
        // Once more, and back: neither takes results for sources.
        assert_eq!(room.pairs(&room.walk(&["s"], "s", add(".e")).unwrap()), room.pairs(&first));
        let back = room.walk(&["s"], "s", take_off(".e")).unwrap();
        assert_eq!(room.pairs(&back), ["s/x.e > s/x", "s/b/y.e > s/b/y"]);
        assert!(back.problems.is_empty());
        fs::remove_file(room.0.join("s/x")).unwrap();
        let alone = room.walk(&["s"], "s", add(".e")).unwrap();
        assert_eq!(room.pairs(&alone), ["s/b/y > s/b/y.e"]);
        assert_eq!(room.problems(&alone), ["s/x.e = not to be encrypted again: it has the suffix"]);
    }

    #[test]
    fn several_sources_and_files() {
        let room = Room::new("several", &["s/b/x", "r/b/y", "file"]);
        let tree = room.walk(&["s", "r", "file"], "t", add(".e")).unwrap();
        assert_eq!(room.pairs(&tree), ["s/b/x > t/b/x.e", "r/b/y > t/b/y.e", "file > t/file.e"]);
        let tree = room.walk(&["file"], "t", add("")).unwrap();
        assert_eq!(
            (room.pairs(&tree), room.folders(&tree)),
            (vec!["file > t/file".into()], vec!["t".into()])
        );
    }

    #[test]
    fn names_of_any_bytes_and_long_chains() {
        let room = Room::new("bytes", &["s/"]);
        let odd = OsStr::from_bytes(b"\xff\n");
        let mut deep = room.0.join("s");
        for _ in 0..1500 {
            deep.push("d");
        }
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join(odd), b"").unwrap();
        let tree = room.walk(&["s"], "t", Suffix::Add(OsStr::from_bytes(b".\xfe"))).unwrap();
        assert_eq!((tree.folders.len(), tree.pairs.len()), (1501, 1));
        assert_eq!(tree.pairs[0].1.file_name().unwrap().as_bytes(), b"\xff\n.\xfe");
        assert_eq!(taken_off(OsStr::from_bytes(b"\xff\n.\xfe"), OsStr::from_bytes(b".\xfe")).unwrap(), odd);
    }
}

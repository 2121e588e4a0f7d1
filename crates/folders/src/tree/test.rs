//! Tests of the files of folder trees and their targets.

use super::*;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

/// A folder with test files, removed on drop.
struct Folder(PathBuf);

impl Folder {
    /// Creates `files`; names with a slash at the end are folders.
    fn new(name: &str, files: &[&str]) -> Self {
        let folder = Self(std::env::temp_dir().join(format!("sealane-tree-{name}-{}", std::process::id())));
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
        Tree::walk(&sources, Some(&self.0.join(target)), suffix, TreeOptions::default())
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
    assert!(
        tree.problems.iter().all(|(_, error)| matches!(error, Error::Folder(FolderError::SuffixMissing(_))))
    );
    let tree = folder.walk(&["s"], "t", add("")).unwrap();
    assert_eq!(tree.pairs.len(), 5);
    for bad in ["a/b", "\0", "/"] {
        assert!(matches!(folder.walk(&["s"], "t", add(bad)), Err(Error::Misuse(Misuse::InvalidSuffix))));
    }
    // Without a target, to verify files.
    let tree = Tree::walk(&[folder.0.join("s")], None, remove(".e"), TreeOptions::default()).unwrap();
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
    // r/b/r/x becomes r/r/x and r/b/x becomes r/x, outside the source r/b.
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
    // The file behind a link is a source too.
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
fn a_file_and_a_folder_with_one_target() {
    let folder = Folder::new("one-target", &["s/a", "s/a.e/x", "s/b", "d/a.e", "d/a/x.e"]);
    for (source, suffix, file, other) in
        [("s", add(".e"), "s/a", "s/a.e"), ("d", remove(".e"), "d/a.e", "d/a")]
    {
        let tree = folder.walk(&[source], "t", suffix).unwrap();
        let [(path, error)] = &tree.problems[..] else { panic!("{:?}", tree.problems) };
        let said = error.to_string();
        assert!(path.ends_with(file) && said.contains(&*folder.0.join(other).to_string_lossy()), "{said}");
        assert!(tree.pairs.iter().all(|(path, _)| !path.ends_with(file)));
    }
    // Without an output, files are only verified.
    let verified = Tree::walk(&[folder.0.join("d")], None, remove(".e"), TreeOptions::default()).unwrap();
    assert_eq!(verified.pairs.len(), 2);
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
        problems[0].starts_with("s/y = t/y: is a link") && problems[1].starts_with("s/a = t/a: is a link")
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
    assert_eq!(without_suffix(OsStr::from_bytes(b"\xff\n.\xfe"), OsStr::from_bytes(b".\xfe")).unwrap(), odd);
}

//! Trees on Windows: names that differ in case, and names that it does not keep.

use super::*;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sealane-tree-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The second file would replace the first.
#[test]
fn names_that_differ_in_case_are_one_target() {
    let root = folder("case");
    for name in ["x/a", "y/A", "z/\u{e4}", "w/\u{c4}", "v/B"] {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), b"content").unwrap();
    }
    let walk = |sources: [&str; 2]| {
        let sources = sources.map(|name| root.join(name));
        Tree::walk(&sources, Some(&root.join("out")), Suffix::Add(".s".as_ref()), TreeOptions::default())
    };
    for pair in [["x", "y"], ["y", "x"], ["z", "w"]] {
        assert!(matches!(walk(pair), Err(Error::Misuse(Misuse::DuplicateTarget(_)))), "{pair:?}");
    }
    assert_eq!(walk(["x", "v"]).unwrap().pairs.len(), 2);
    let source = [root.join("x"), root.join("V")];
    let tree = Tree::walk(&source, None, Suffix::Add("".as_ref()), TreeOptions::default());
    assert_eq!(tree.unwrap().pairs.len(), 2);
    fs::remove_dir_all(&root).unwrap();
}

/// Without their suffix, the names stand for devices or lose their last character.
#[test]
fn reserved_names_are_problems_of_their_files() {
    let root = folder("names");
    let source = root.join("source");
    for name in ["con_s", "a._s", "a _s", "nul_s", "good_s"] {
        fs::create_dir_all(&source).unwrap();
        fs::write(source.join(name), b"content").unwrap();
    }
    let walk = |suffix| Tree::walk(&[&source], Some(&root.join("out")), suffix, TreeOptions::default());
    let tree = walk(Suffix::Remove("_s".as_ref())).unwrap();
    let targets: Vec<_> = tree.pairs.iter().map(|(_, target)| target.clone()).collect();
    assert_eq!(targets, [root.join("out").join("good")]);
    let problems: Vec<_> = tree
        .problems
        .iter()
        .map(|(path, error)| (path.file_name().unwrap().to_str().unwrap(), error))
        .collect();
    assert_eq!(
        problems.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ["a _s", "a._s", "con_s", "nul_s"]
    );
    for (name, error) in problems {
        let refused =
            matches!(error, Error::Io { source, .. } if source.kind() == ErrorKind::InvalidFilename);
        assert!(refused, "{name}: {error}");
    }
    for suffix in [":s", "\\s", "/s", "s?", "\n"] {
        let refused = walk(Suffix::Add(suffix.as_ref()));
        assert!(matches!(refused, Err(Error::Misuse(Misuse::InvalidSuffix))), "{suffix}");
    }
    fs::remove_dir_all(&root).unwrap();
}

#[test]
fn suffixes_of_names_that_are_not_unicode() {
    use std::os::windows::ffi::OsStringExt;
    let name = OsString::from_wide(&[0xd800, 0x2e, 0x73]);
    let plain = OsString::from_wide(&[0xd800]);
    assert_eq!(without_suffix(&name, ".s".as_ref()), Some(plain.clone()));
    assert_eq!(without_suffix(&plain, ".s".as_ref()), None);
    assert_eq!(Suffix::Add(".s".as_ref()).applied(&plain).unwrap(), name);
}

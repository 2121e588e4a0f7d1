//! The house seen from outside: its files, as the tests of the five laws read them.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

/// A file of the project that git would track.
pub struct Page {
    /// Where it lies, from the root, with forward slashes.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// The root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests live one folder down").to_owned()
}

/// All pages below `folder` whose name ends with `ending`, in a fixed order.
pub fn pages(folder: &str, ending: &str) -> Vec<Page> {
    let mut found = Vec::new();
    walk(&root().join(folder), ending, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!found.is_empty(), "no *{ending} below {folder}");
    found
}

fn walk(folder: &Path, ending: &str, found: &mut Vec<Page>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("a folder that can be listed").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            walk(&path, ending, found);
        } else if name.ends_with(ending) && path.is_file() {
            let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let path =
                path.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/");
            found.push(Page { path, text });
        }
    }
}

impl Page {
    /// Lines of code: without comments, with their numbers.
    pub fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate();
        lines.filter(|(_, line)| !line.trim_start().starts_with("//")).map(|(i, line)| (i + 1, line))
    }

    /// Whether it is part of the house, and not of its tests, benches or examples.
    pub fn is_house(&self) -> bool {
        !self.path.split('/').any(|part| matches!(part, "tests" | "examples" | "benches" | "fuzz"))
    }
}

/// The house crates that a manifest names as dependencies.
pub fn house_dependencies(manifest: &str) -> Vec<String> {
    let from = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let until = from.split("\n[").next().unwrap_or_default();
    let names = until.lines().filter_map(|line| line.split(['.', '=', ' ']).next());
    let house = ["kernels", "providers", "sealane", "cli", "reference", "vectors"];
    names.filter(|name| house.contains(name)).map(str::to_owned).collect()
}

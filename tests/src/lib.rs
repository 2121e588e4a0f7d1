//! The sources and documents of the project, as the tests of its architecture rules read them.
#![forbid(unsafe_code)]

pub mod modules;
pub mod programs;

use std::fs;
use std::path::{Path, PathBuf};

/// A text file of the project.
pub struct Page {
    /// The path from the root of the project, with forward slashes.
    pub path: String,
    /// The whole content.
    pub text: String,
}

/// Returns the root folder of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests live one folder down").to_owned()
}

/// Returns all files below `folder` whose name ends with `ending`, sorted by path.
///
/// Build folders and hidden folders are left out, for example `target` and `.venv`.
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
            found.push(Page { path: path.trim_start_matches("./").to_owned(), text });
        }
    }
}

impl Page {
    /// The lines that are not comments, with their numbers from 1.
    pub fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate();
        lines.filter(|(_, line)| !line.trim_start().starts_with("//")).map(|(i, line)| (i + 1, line))
    }

    /// Whether the file is part of the product: no test, benchmark, example or fuzz target, and not
    /// of the lab.
    pub fn is_product(&self) -> bool {
        !self.path.starts_with("lab/")
            && !self.path.split('/').any(|part| matches!(part, "tests" | "examples" | "benches" | "fuzz"))
    }
}

/// The crates of this workspace that a manifest names under `[dependencies]`.
pub fn own_dependencies(manifest: &str) -> Vec<String> {
    let from = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let until = from.split("\n[").next().unwrap_or_default();
    let names = until.lines().filter_map(|line| line.split(['.', '=', ' ']).next());
    let own = [
        "kernels",
        "providers",
        "base",
        "messages",
        "engine",
        "keys",
        "files",
        "folders",
        "sealane",
        "cli",
        "reference",
        "vectors",
    ];
    names.filter(|name| own.contains(name)).map(str::to_owned).collect()
}

//! Programs that a test needs and that a machine may lack, for example other implementations.
//! `tests/programs.txt` lists them.

use crate::root;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, thread};

/// Returns whether one of these programs is missing, so that the calling test has to return. `make
/// test` then lists the test.
///
/// # Panics
///
/// If `SEALANE_REQUIRE` says that the program is here: it is `all`, or names separated by spaces.
#[must_use]
pub fn missing(programs: &[&str]) -> bool {
    let Some(name) = programs.iter().find(|name| find(name).is_none()) else { return false };
    let package = package(name);
    let required = env::var("SEALANE_REQUIRE").unwrap_or_default();
    let is_required = required.split(' ').any(|word| word == "all" || word == *name);
    assert!(!is_required, "{name} is needed: apt-get install {package}");
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    eprintln!("NOT RUN: {test} needs {name}: apt-get install {package}");
    if let Some(list) = env::var_os("SEALANE_NOT_RUN") {
        let mut file =
            OpenOptions::new().create(true).append(true).open(list).expect("a list that can be written");
        // One call, because tests run at the same time.
        file.write_all(format!("{name}\t{test}\n").as_bytes()).expect("a list that can be written");
    }
    true
}

/// Returns the path of a program on `PATH`, or of a library where Debian has libraries and modules.
pub fn find(name: &str) -> Option<PathBuf> {
    if name.ends_with(".so") {
        let multiarch = format!("/usr/lib/{}-linux-gnu", env::consts::ARCH);
        let folders =
            [&multiarch, "/usr/lib/softhsm", "/usr/lib64", "/usr/lib64/pkcs11", "/usr/local/lib/softhsm"];
        return folders.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.exists());
    }
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Returns the programs of the table that shell commands run.
pub fn named_in<'a>(commands: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let table = table();
    let is_listed = |word: &&str| table.lines().any(|line| line.split(' ').next() == Some(word));
    let first = |part: &'a str| part.split_whitespace().next();
    commands.flat_map(|line| line.split(['|', ';', '&', '(']).filter_map(first)).filter(is_listed).collect()
}

fn table() -> String {
    fs::read_to_string(root().join("tests/programs.txt")).expect("the table of programs")
}

fn package(name: &str) -> String {
    let table = table();
    let row = table.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    row.unwrap_or_else(|| panic!("tests/programs.txt has no {name}")).to_owned()
}

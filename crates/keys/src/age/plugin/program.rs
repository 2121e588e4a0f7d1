//! Finds the programs of plugins in `PATH`.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Returns the first program of the plugin `name` in the folders of `path`, by default of the
/// variable `PATH`.
///
/// Relative folders are skipped: the current folder may contain another user's files.
pub(super) fn find(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let path = path.map(OsStr::to_owned).or_else(|| env::var_os("PATH"))?;
    let file = format!("age-plugin-{name}{}", env::consts::EXE_SUFFIX);
    let programs =
        env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(&file));
    programs.into_iter().find(|path| is_program(path))
}

/// Returns the working folder of plugins; not ours, so that plugins do not depend on it.
pub(super) fn working_folder() -> PathBuf {
    env::temp_dir()
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
}

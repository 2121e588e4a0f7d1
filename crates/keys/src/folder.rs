//! The files of a folder, to search for keys.

use crate::prelude::*;
use engine::folder::Folder;

/// Lists the files of a folder by name, without subfolders.
///
/// A link to a file counts as a file. Pipes, sockets and devices are not listed, because reading
/// them may wait.
///
/// # Errors
/// Returns [`Error::Io`] if the folder cannot be listed.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let listed = Folder::list(folder).map_err(|e| Error::io(folder, e))?;
    let paths = listed.into_iter().map(|(name, _)| folder.join(name));
    let mut files: Vec<_> = paths.filter(|path| path.is_file()).collect();
    files.sort_unstable();
    Ok(files)
}

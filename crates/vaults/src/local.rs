//! A vault in a local folder.

use crate::prelude::*;
use base::os;
use engine::folder::Folder;
use std::ffi::OsStr;
use std::io;

/// A folder of this machine. Links in it are never followed: an attacker with write access could
/// have made them. Pipes, sockets and devices are never opened.
pub struct LocalFolder {
    path: PathBuf,
    folder: Folder,
}

impl LocalFolder {
    /// Opens the folder at `path`.
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path if there is no folder.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = Folder::open(path).map_err(|e| Error::io(path, e))?;
        Ok(Self { path: path.to_owned(), folder })
    }

    /// Calls `work` with the open folder that contains `path`, and with its last name.
    fn within<T>(&self, path: &[u8], work: impl FnOnce(&Folder, &OsStr) -> io::Result<T>) -> Result<T> {
        let relative = os::from_bytes(path).map(PathBuf::from).ok_or(ErrorKind::InvalidFilename.into());
        let found = relative.and_then(|relative| match (relative.parent(), relative.file_name()) {
            (Some(parent), Some(name)) => work(&self.folder.open_below(parent)?, name),
            _ => Err(ErrorKind::InvalidInput.into()),
        });
        found.map_err(|e| self.about(path, e))
    }

    fn about(&self, path: &[u8], error: io::Error) -> Error {
        let error = match error.kind() {
            ErrorKind::Unsupported => io::Error::new(
                ErrorKind::Unsupported,
                "expected a file or folder, found a link or a device, which is not followed",
            ),
            _ => error,
        };
        Error::io(&self.path.join(path_of(path)), error)
    }
}

debug_fields!(LocalFolder; |it| path: it.path);

impl Storage for LocalFolder {
    fn list(&self, folder: &[u8]) -> Result<Vec<Entry>> {
        let list = || {
            let open = self.folder.open_below(&path_of(folder))?;
            let mut entries = Vec::new();
            for name in open.names()? {
                // A name that was removed since then is no longer in the folder.
                let Some(found) = open.entry(&name)? else { continue };
                let len = if found.kind == EntryKind::File { found.len } else { 0 };
                entries.push(Entry { name: bytes(&name)?, kind: found.kind, len, modified: found.modified });
            }
            Ok(entries)
        };
        list().map_err(|e| self.about(folder, e))
    }

    fn open(&self, path: &[u8]) -> Result<Box<dyn ReadAt>> {
        Ok(Box::new(self.within(path, Folder::open_file)?))
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>> {
        self.within(path, |folder, name| bytes(&folder.read_link(name)?))
    }
}

fn bytes(name: &OsStr) -> io::Result<Vec<u8>> {
    os::to_bytes(name).map(<[u8]>::to_vec).ok_or(ErrorKind::InvalidFilename.into())
}

#[cfg(test)]
#[cfg(unix)]
mod test {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// Nothing outside the folder is read, whatever the path and the links in it.
    #[test]
    fn links_and_paths_that_leave_the_folder() {
        let root = std::env::temp_dir().join(format!("sealane-local-{}", std::process::id()));
        let vault = root.join("vault");
        fs::create_dir_all(vault.join("folder")).unwrap();
        fs::write(root.join("outside"), b"secret").unwrap();
        fs::write(vault.join("folder/file"), b"inside").unwrap();
        symlink("../outside", vault.join("link")).unwrap();
        symlink("..", vault.join("up")).unwrap();
        std::os::unix::net::UnixListener::bind(vault.join("socket")).unwrap();
        let folder = LocalFolder::open(&vault).unwrap();
        let mut names: Vec<_> = folder.list(b"").unwrap();
        names.sort_by(|a, b| a.name.cmp(&b.name));
        let kinds: Vec<_> = names.iter().map(|entry| (&entry.name[..], entry.kind)).collect();
        assert_eq!(
            kinds,
            [
                (&b"folder"[..], EntryKind::Folder),
                (b"link", EntryKind::Link),
                (b"socket", EntryKind::Special),
                (b"up", EntryKind::Link)
            ]
        );
        let file = &folder.list(b"folder").unwrap()[0];
        assert_eq!((&file.name[..], file.kind, file.len), (&b"file"[..], EntryKind::File, 6));
        assert!(file.modified.is_some());
        let mut read = [0; 6];
        folder.open(b"folder/file").unwrap().read_exact_at(0, &mut read).unwrap();
        assert_eq!(&read, b"inside");
        assert_eq!(folder.read_link(b"link").unwrap(), b"../outside");
        for path in [
            "",
            "link",
            "socket",
            "up/outside",
            "../outside",
            "folder/../../outside",
            "/etc/passwd",
            "folder",
            "none",
        ] {
            let refused = folder.open(path.as_bytes()).map(drop).unwrap_err();
            assert!(refused.subject().is_some(), "{path}: {refused}");
        }
        for path in ["up", "link", "..", "folder/file", "none"] {
            assert!(folder.list(path.as_bytes()).unwrap_err().subject().is_some(), "{path}");
        }
        let none = LocalFolder::open(&root.join("none")).unwrap_err();
        assert_eq!(none.subject(), Some(&*root.join("none")));
        fs::remove_dir_all(root).unwrap();
    }
}

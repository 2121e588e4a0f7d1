//! Rights of a new file: never more, for any user, than the replaced file gave. On Windows a file
//! has its folder's access control list, because the standard library sets no others.

use super::folder::Folder;
use std::fs::{File, Metadata};
use std::io;

/// Gives `new` the owner, group, mode and ACL of the file it replaces, where permitted. `old` is
/// that file's metadata.
///
/// Where owner or group cannot be kept, their members move to another class of the mode. Each class
/// then gets only rights that all its members had before. An ACL is not copied in this case: only
/// the owner has rights.
#[cfg(unix)]
pub(crate) fn inherit(new: &File, replaced: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let same = give_to_owner_of(new, &new.metadata()?, old)?;
    let own = new.metadata()?;
    let listed = acl::read(replaced)?;
    let mode = match &listed {
        Some(listed) if same.owner && same.group && acl::write(new, listed).is_ok() => return Ok(()),
        Some(_) => old.mode() & 0o700,
        None => same.mode(old.mode()),
    };
    // The new file may have inherited an ACL from the folder, with users that had no right to the
    // old file.
    acl::remove(new)?;
    // Removing it does not change the mode.
    match own.mode() & 0o7777 == mode {
        true => Ok(()),
        false => new.set_permissions(PermissionsExt::from_mode(mode)),
    }
}

/// Gives `new` the owner, group and mode of a file or folder, where permitted, without the bits
/// that `limit` lacks. Keeps the set-uid, set-gid and sticky bits only if owner and group are kept
/// too. Does not keep ACLs.
#[cfg(unix)]
pub(crate) fn replicate(new: &File, from: &Metadata, limit: u32) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let same = give_to_owner_of(new, &new.metadata()?, from)?;
    let mode = if same.owner && same.group { from.mode() & 0o7777 } else { same.mode(from.mode()) };
    acl::remove(new)?;
    new.set_permissions(PermissionsExt::from_mode(mode & limit))
}

/// Returns the rights of a new file in a folder if its program asks for all: the process (umask)
/// and the folder decide. There is no other thread-safe way to ask.
#[cfg(unix)]
pub(crate) fn of_new_files(folder: &Folder) -> io::Result<u32> {
    use std::os::unix::fs::MetadataExt;
    let name = super::folder::temporary_name("mode".as_ref())?;
    let (file, is_named) = match folder.create_unnamed(0o777)? {
        Some(file) => (file, false),
        None => (folder.create_new(&name, 0o777)?, true),
    };
    if is_named {
        folder.remove(&name)?;
    }
    Ok(file.metadata()?.mode() & 0o777)
}

#[cfg(windows)]
pub(crate) fn of_new_files(_: &Folder) -> io::Result<u32> {
    Ok(0)
}

/// Gives `new` the attributes of a file or folder (read-only, hidden). It keeps the access control
/// list inherited from its folder.
#[cfg(windows)]
pub(crate) fn replicate(new: &File, from: &Metadata, _: u32) -> io::Result<()> {
    new.set_permissions(from.permissions())
}

/// Gives `new` to the owner and group of another file, where permitted. `own` is the metadata of
/// `new`.
#[cfg(unix)]
fn give_to_owner_of(new: &File, own: &Metadata, old: &Metadata) -> io::Result<Same> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let same = |own: &Metadata| Same { owner: own.uid() == old.uid(), group: own.gid() == old.gid() };
    if (own.uid(), own.gid()) == (old.uid(), old.gid()) {
        return Ok(same(own));
    }
    // Only root may change the owner. Members of a group may give a file to that group.
    if fchown(new, Some(old.uid()), Some(old.gid())).is_err() && own.gid() != old.gid() {
        let _ = fchown(new, None, Some(old.gid()));
    }
    Ok(same(&new.metadata()?))
}

/// Like [`replicate`].
#[cfg(windows)]
pub(crate) fn inherit(new: &File, _: &File, old: &Metadata) -> io::Result<()> {
    new.set_permissions(old.permissions())
}

/// Whether a new file has the owner and group of the file it replaces.
#[cfg(unix)]
struct Same {
    owner: bool,
    group: bool,
}

#[cfg(unix)]
impl Same {
    /// Returns the new file's mode, without the set-uid, set-gid and sticky bits: those were
    /// granted to the old content.
    fn mode(&self, old: u32) -> u32 {
        let (owner, group, other) = (old >> 6 & 7, old >> 3 & 7, old & 7);
        // The old owner is now in the group, or among the others.
        let old_owner = if self.owner { 7 } else { owner };
        // So are the old group's members, and the new group has members that were among the others.
        let (group, other) = if self.group { (group, other) } else { (group & other, group & other) };
        owner << 6 | (group & old_owner) << 3 | other & old_owner
    }
}

/// POSIX access control lists. Linux stores them as an extended attribute.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod acl {
    use rustix::fs::{XattrFlags, fgetxattr, fgetxattr_query, fremovexattr, fsetxattr};
    use rustix::io::Errno;
    use std::fs::File;
    use std::io;

    const ATTRIBUTE: &str = "system.posix_acl_access";

    /// Returns a file's list, or `None` if the mode holds all its rights.
    pub(super) fn read(file: &File) -> io::Result<Option<Vec<u8>>> {
        let len = match fgetxattr_query(file, ATTRIBUTE) {
            Err(Errno::NODATA | Errno::OPNOTSUPP) => return Ok(None),
            len => len?,
        };
        // bounded: by 64 KiB, the maximum length of an attribute on Linux.
        let mut list = vec![0; len];
        let len = fgetxattr(file, ATTRIBUTE, &mut list[..])?;
        list.truncate(len);
        Ok(Some(list))
    }

    /// Sets a file's list, and thereby its mode.
    pub(super) fn write(file: &File, list: &[u8]) -> io::Result<()> {
        Ok(fsetxattr(file, ATTRIBUTE, list, XattrFlags::empty())?)
    }

    pub(super) fn remove(file: &File) -> io::Result<()> {
        match fremovexattr(file, ATTRIBUTE) {
            Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(()),
            result => Ok(result?),
        }
    }
}

/// Lists of other systems are not copied to new files.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
mod acl {
    use std::fs::File;
    use std::io;

    pub(super) fn read(_: &File) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    pub(super) fn write(_: &File, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn remove(_: &File) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod test {
    use super::*;

    /// Returns an access control list that lets user 12345 read.
    #[cfg(target_os = "linux")]
    fn list() -> Vec<u8> {
        const NOBODY: u32 = u32::MAX;
        let mut list = 2_u32.to_le_bytes().to_vec();
        // Tag, rights and ID of: owner, user, group, mask for the last two, others.
        let entries: [(u16, u16, u32); 5] =
            [(1, 6, NOBODY), (2, 4, 12345), (4, 4, NOBODY), (0x10, 4, NOBODY), (0x20, 0, NOBODY)];
        for (tag, rights, id) in entries {
            list.extend_from_slice(&tag.to_le_bytes());
            list.extend_from_slice(&rights.to_le_bytes());
            list.extend_from_slice(&id.to_le_bytes());
        }
        list
    }

    /// A new file gets the list, the mode and (for root) the owner of the replaced file, and keeps
    /// no list of its own.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_new_file_has_the_rights_of_the_replaced_one() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let folder = std::env::temp_dir().join(format!("sealane-rights-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str, mode: u32, has_list: bool| {
            let file = File::create_new(folder.join(name)).unwrap();
            file.set_permissions(PermissionsExt::from_mode(mode)).unwrap();
            if has_list {
                acl::write(&file, &list()).unwrap();
            }
            file
        };
        for (n, (old_list, new_list)) in
            [(false, false), (false, true), (true, false), (true, true)].into_iter().enumerate()
        {
            for mode in [0o640, 0o604] {
                let old = file(&format!("old {n} {mode}"), mode, old_list);
                let new = file(&format!("new {n} {mode}"), 0o600, new_list);
                // Only root may do that.
                let _ = fchown(&old, Some(12345), Some(23456));
                let found = old.metadata().unwrap();
                inherit(&new, &old, &found).unwrap();
                assert_eq!(acl::read(&new).unwrap(), old_list.then(list));
                let now = new.metadata().unwrap();
                assert_eq!((now.uid(), now.gid(), now.mode()), (found.uid(), found.gid(), found.mode()));
            }
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// Compares every kind of user's rights before and after.
    #[test]
    fn no_class_gains_a_right() {
        for old in 0..=0o777 {
            let class = |mode: u32, shift: u32| mode >> shift & 7;
            for (owner, group) in [(true, true), (true, false), (false, true), (false, false)] {
                let new = Same { owner, group }.mode(old);
                // A user is or is not: the old owner, in the old group, in the new group.
                for person in 0..8 {
                    let [owns, in_old, in_new] = [person & 1 > 0, person & 2 > 0, person & 4 > 0];
                    let in_new = if group { in_old } else { in_new };
                    let before = class(
                        old,
                        if owns {
                            6
                        } else if in_old {
                            3
                        } else {
                            0
                        },
                    );
                    let after = class(
                        new,
                        if owns && owner {
                            6
                        } else if in_new {
                            3
                        } else {
                            0
                        },
                    );
                    assert_eq!(after & !before, 0, "{old:o} {new:o} {owner} {group} {person:b}");
                }
            }
            assert_eq!(Same { owner: true, group: true }.mode(old | 0o7000), old);
        }
        assert_eq!(Same { owner: false, group: false }.mode(0o664), 0o644);
        assert_eq!(Same { owner: true, group: false }.mode(0o660), 0o600);
    }
}

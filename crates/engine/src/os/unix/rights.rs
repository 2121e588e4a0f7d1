//! Rights by owner, group, mode and access control list.

use super::folder::Folder;
use crate::folder::temporary_name;
use crate::prelude::*;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

/// Gives `new` the owner, group, mode and ACL of the file it replaces, where permitted. `old` is
/// that file's metadata.
///
/// Where owner or group cannot be kept, their members move to another class of the mode. Each class
/// then gets only rights that all its members had before. An ACL is not copied in this case: only
/// the owner has rights.
pub(crate) fn inherit(new: &File, replaced: &File, old: &Metadata) -> io::Result<()> {
    let (same, own) = give_to_owner_of(new, old)?;
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
    if own.mode() & 0o7777 == mode { Ok(()) } else { new.set_permissions(PermissionsExt::from_mode(mode)) }
}

/// Gives `new` the owner, group and mode of a file or folder, where permitted, without the bits
/// that `limit` lacks. Keeps the set-uid, set-gid and sticky bits only if owner and group are kept
/// too. Does not keep ACLs.
pub(crate) fn replicate(new: &File, from: &Metadata, limit: u32) -> io::Result<()> {
    let (same, _) = give_to_owner_of(new, from)?;
    let mode = if same.owner && same.group { from.mode() & 0o7777 } else { same.mode(from.mode()) };
    acl::remove(new)?;
    new.set_permissions(PermissionsExt::from_mode(mode & limit))
}

/// Returns the rights of a new file in a folder if its program asks for all: the process (umask)
/// and the folder decide. There is no other thread-safe way to ask.
pub(crate) fn of_new_files(folder: &Folder) -> io::Result<u32> {
    let name = temporary_name("mode".as_ref())?;
    let (file, is_named) = match folder.create_unnamed(0o777)? {
        Some(file) => (file, false),
        None => (folder.create_new(&name, 0o777)?, true),
    };
    if is_named {
        folder.remove(&name)?;
    }
    Ok(file.metadata()?.mode() & 0o777)
}

/// Gives `new` to the owner and group of another file, where permitted. Returns the new metadata.
fn give_to_owner_of(new: &File, old: &Metadata) -> io::Result<(Same, Metadata)> {
    let mut own = new.metadata()?;
    if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
        // Only root may change the owner. Members of a group may give a file to that group.
        if fchown(new, Some(old.uid()), Some(old.gid())).is_err() && own.gid() != old.gid() {
            let _ = fchown(new, None, Some(old.gid()));
        }
        own = new.metadata()?;
    }
    Ok((Same { owner: own.uid() == old.uid(), group: own.gid() == old.gid() }, own))
}

/// Whether a new file has the owner and group of the file it replaces.
struct Same {
    owner: bool,
    group: bool,
}

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
#[cfg(not(any(target_os = "linux", target_os = "android")))]
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

#[cfg(test)]
mod test;

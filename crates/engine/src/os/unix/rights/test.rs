//! Tests of copied rights.

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
    let folder = std::env::temp_dir().join(format!("sealane-rights-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
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
    fs::remove_dir_all(&folder).unwrap();
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

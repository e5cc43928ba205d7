//! Who may read the files that docsyncd files: users and groups of this machine, and their rights by file modes.
//!
//! The rules are those of POSIX modes. Access lists can allow more; whoever uses them need not name a reader. Windows
//! has no modes, so every reader is unknown there.

use std::path::{Path, PathBuf};

/// A user or a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    /// The name as the configuration writes it.
    pub name: String,
    /// The user's number; `None` for a group.
    pub uid: Option<u32>,
    /// The user's groups, the primary one first; or the group itself. Never empty.
    pub gids: Vec<u32>,
}

/// Owner, group and permissions of a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permissions {
    /// The owner's number.
    pub uid: u32,
    /// The group's number.
    pub gid: u32,
    /// The mode.
    pub mode: u32,
}

/// Reading a file, or listing a folder.
pub const READ: u32 = 0o4;
/// Creating and removing entries of a folder.
pub const WRITE: u32 = 0o2;
/// Passing through a folder.
pub const ENTER: u32 = 0o1;

impl Reader {
    /// Whether the mode allows all of `wanted` to this reader. A member of the owning group never gets the rights of
    /// others.
    pub fn may(&self, wanted: u32, of: Permissions) -> bool {
        let allowed = match self.uid {
            Some(0) => 0o7,
            Some(uid) if uid == of.uid => of.mode >> 6,
            _ if self.gids.contains(&of.gid) => of.mode >> 3,
            _ => of.mode,
        };
        allowed & wanted == wanted
    }

    /// The first folder above `path` that this reader cannot pass through.
    pub fn stopped_at(&self, path: &Path) -> Option<PathBuf> {
        let mut above: Vec<&Path> = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).collect();
        above.reverse();
        let closed = |folder: &&Path| permissions(folder).is_some_and(|found| !self.may(ENTER, found));
        above.into_iter().find(closed).map(Path::to_path_buf)
    }
}

#[cfg(unix)]
pub use unix::{current_user, find, name_of, permissions};

#[cfg(unix)]
mod unix {
    use std::ffi::CString;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;

    use nix::unistd::{Gid, Group, Uid, User, getgrouplist};

    use super::{Permissions, Reader};

    /// The user with this name, else the group.
    ///
    /// # Errors
    /// A sentence: there is neither, or the system cannot be asked.
    pub fn find(name: &str) -> Result<Reader, String> {
        let unknown = |error: nix::Error| format!("the system cannot be asked for {name}: {error}");
        if let Some(user) = User::from_name(name).map_err(unknown)? {
            let mut gids = vec![user.gid.as_raw()];
            let all = CString::new(name).ok().and_then(|name| getgrouplist(&name, user.gid).ok()).unwrap_or_default();
            gids.extend(all.into_iter().map(Gid::as_raw).filter(|gid| *gid != user.gid.as_raw()));
            return Ok(Reader { name: name.to_owned(), uid: Some(user.uid.as_raw()), gids });
        }
        match Group::from_name(name).map_err(unknown)? {
            Some(group) => Ok(Reader { name: name.to_owned(), uid: None, gids: vec![group.gid.as_raw()] }),
            None => Err(format!("this computer knows no user and no group {name}")),
        }
    }

    /// The name of a user, or the number if there is no name.
    pub fn name_of(uid: u32) -> String {
        User::from_uid(Uid::from_raw(uid)).ok().flatten().map_or_else(|| uid.to_string(), |user| user.name)
    }

    /// The name of the user that this process runs as.
    pub fn current_user() -> Option<String> {
        Some(name_of(rustix::process::geteuid().as_raw()))
    }

    /// The permissions of a file or folder; follows links. `None` if they cannot be read.
    pub fn permissions(path: &Path) -> Option<Permissions> {
        let found = std::fs::metadata(path).ok()?;
        Some(Permissions { uid: found.uid(), gid: found.gid(), mode: found.mode() })
    }
}

/// ` as USER`, for a message about an operation that the system did not allow; empty if the user is unknown.
pub fn as_whom() -> String {
    current_user().map(|user| format!(" as {user}")).unwrap_or_default()
}

/// The longest name of a person that is accepted from the environment; bytes.
const LONGEST_NAME: usize = 64;

/// The person behind this process: its user, and the user of sudo if there is one.
pub fn person() -> Option<String> {
    let user = current_user()?;
    let by = std::env::var("SUDO_USER").ok();
    let plain = |name: &String| *name != user && name.len() <= LONGEST_NAME && !name.contains(char::is_control);
    Some(by.filter(plain).map_or_else(|| user.clone(), |by| format!("{by} as {user}")))
}

#[cfg(not(unix))]
pub use other::{current_user, find, permissions};

#[cfg(not(unix))]
mod other {
    use std::path::Path;

    use super::{Permissions, Reader};

    /// On Windows no reader can be found: folders inherit access lists, which docsyncd does not evaluate.
    ///
    /// # Errors
    /// Always.
    pub fn find(_: &str) -> Result<Reader, String> {
        Err("on Windows the folder's own access list decides who reads what is in it".to_owned())
    }

    /// The account that this process runs as.
    pub fn current_user() -> Option<String> {
        std::env::var("USERNAME").ok()
    }

    /// There are no modes on Windows.
    pub fn permissions(_: &Path) -> Option<Permissions> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_decide_for_owner_then_group_then_others() {
        let user = Reader { name: "anna".into(), uid: Some(7), gids: vec![70, 71] };
        let group = Reader { name: "practice".into(), uid: None, gids: vec![71] };
        let root = Reader { name: "root".into(), uid: Some(0), gids: vec![0] };
        for (reader, wanted, uid, gid, mode, may) in [
            (&user, READ, 7, 1, 0o400, true),
            (&user, READ, 7, 1, 0o044, false),
            (&user, READ, 1, 71, 0o640, true),
            (&user, READ, 1, 71, 0o604, false),
            (&user, READ, 1, 1, 0o640, false),
            (&user, READ, 1, 1, 0o644, true),
            (&user, READ | ENTER, 1, 70, 0o740, false),
            (&user, READ | ENTER, 1, 70, 0o2750, true),
            (&user, READ | WRITE | ENTER, 1, 70, 0o750, false),
            (&group, READ, 7, 71, 0o040, true),
            (&group, READ, 7, 70, 0o040, false),
            (&root, READ, 7, 7, 0o000, true),
        ] {
            let found = Permissions { uid, gid, mode };
            assert_eq!(reader.may(wanted, found), may, "{reader:?} {wanted:o} of {found:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn users_and_groups_are_those_of_the_system_and_a_closed_folder_above_stops_them() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = find("root").unwrap();
        assert_eq!((root.uid, root.gids.first()), (Some(0), Some(&0)));
        assert!(find("no-such-name-here").unwrap_err().contains("no user and no group no-such-name-here"));
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let nobody = Reader { name: "nobody".into(), uid: Some(4_000_000), gids: vec![4_000_000] };
        let stopped = nobody.stopped_at(&folder.path().join("import")).unwrap();
        assert_eq!(stopped, folder.path());
        assert_eq!(root.stopped_at(&folder.path().join("import")), None);
    }
}

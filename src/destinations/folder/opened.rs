//! Reads a filed letter from its place, for a person who wants to see it.

use std::fs::File;
use std::io;
use std::path::{Component, Path};

use super::files::{self, Digest};
use crate::destinations::files::Handle;

/// The file at `place`, below the folder `root`, if it still has the filed content; `None` if something else lies
/// there. Neither links below the folder nor paths that lead out of it are followed.
///
/// # Errors
/// Any I/O error: nothing can be read there.
pub(crate) fn open_filed(root: &Path, place: &Path, size: u64, sha256: &str) -> io::Result<Option<File>> {
    let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
    let below = place.strip_prefix(root).map_err(|_| refused())?;
    let mut parts = below.components().map(|part| match part {
        Component::Normal(name) => Ok(name),
        _ => Err(refused()),
    });
    let name = parts.next_back().ok_or_else(refused)??;
    let folder = parts.try_fold(Handle::open(root)?, |folder, part| folder.enter(part?))?;
    files::open_same(&folder.path().join(name), &Digest { size, sha256: sha256.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read as _;

    use super::*;

    #[test]
    fn only_what_was_filed_is_read_and_only_below_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("inbox"), folder.path().join("outside"));
        for made in [&root.join("2026"), &outside] {
            fs::create_dir_all(made).unwrap();
        }
        let Digest { size, sha256 } = Digest::of(b"a letter");
        let read = |place: &Path| {
            let found = open_filed(&root, place, size, &sha256)?;
            found
                .map(|mut file| {
                    let mut content = String::new();
                    file.read_to_string(&mut content).map(|_| content)
                })
                .transpose()
        };
        for place in [root.join("a.pdf"), root.join("2026").join("b.pdf"), outside.join("c.pdf")] {
            fs::write(place, "a letter").unwrap();
        }
        for inside in ["a.pdf", "2026/b.pdf"] {
            assert_eq!(read(&root.join(inside)).unwrap().as_deref(), Some("a letter"), "{inside}");
        }
        for elsewhere in ["../outside/c.pdf", "2026/../../outside/c.pdf", "", "2026", "none.pdf"] {
            assert!(read(&root.join(elsewhere)).is_err(), "{elsewhere}");
        }
        assert!(read(&outside.join("c.pdf")).is_err() && read(Path::new("/etc/hostname")).is_err());
        for other in ["a lettex", "a letter, and more", "a"] {
            fs::write(root.join("a.pdf"), other).unwrap();
            assert_eq!(read(&root.join("a.pdf")).unwrap(), None, "{other}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn no_link_below_the_folder_is_followed_and_no_pipe_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("inbox"), folder.path().join("outside"));
        for made in [&root, &outside] {
            fs::create_dir_all(made).unwrap();
        }
        fs::write(outside.join("c.pdf"), "a letter").unwrap();
        std::os::unix::fs::symlink(outside.join("c.pdf"), root.join("link.pdf")).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("folder")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe.pdf"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
        let Digest { size, sha256 } = Digest::of(b"a letter");
        for place in ["link.pdf", "folder/c.pdf"] {
            assert!(open_filed(&root, &root.join(place), size, &sha256).is_err(), "{place}");
        }
        assert!(open_filed(&root, &root.join("pipe.pdf"), size, &sha256).unwrap().is_none());
        // The folder itself is the administrator's: a link to it is followed.
        let linked = folder.path().join("linked");
        std::os::unix::fs::symlink(&outside, &linked).unwrap();
        assert!(open_filed(&linked, &linked.join("c.pdf"), size, &sha256).unwrap().is_some());
    }
}

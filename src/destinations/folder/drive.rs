//! Drive letters that a service does not see: a mapped drive exists only for the person who is signed in.

use std::path::{Component, Path, Prefix};

use windows_sys::Win32::NetworkManagement::WNet::WNetGetConnectionW;
use windows_sys::Win32::Storage::FileSystem::GetDriveTypeW;

use super::FolderConfig;

/// Return values of GetDriveType (winbase.h).
const NO_ROOT: u32 = 1;
const REMOTE: u32 = 4;

/// Why a service cannot reach the folder of this destination, and what to write instead; `None` if it can.
pub fn refused_drive(config: &FolderConfig) -> Option<String> {
    let letter = letter(&config.path)?;
    // SAFETY: the text ends in NUL and outlives the call.
    let kind = unsafe { GetDriveTypeW(wide(&format!(r"{letter}:\")).as_ptr()) };
    words(&config.name, letter, kind, share(letter).as_deref())
}

fn words(name: &str, letter: char, kind: u32, share: Option<&str>) -> Option<String> {
    let instead = share.unwrap_or(r"\\server\share");
    match kind {
        REMOTE => Some(format!(
            "destination `{name}`: drive {letter}: is mapped to a share, and only for the person who is signed in: a service \
             does not see it. Write the share itself: path = '{instead}\\...'"
        )),
        NO_ROOT if share.is_some() => Some(format!(
            "destination `{name}`: drive {letter}: is mapped to a share that does not answer, and only for the person who is \
             signed in. Write the share itself: path = '{instead}\\...'"
        )),
        _ => None,
    }
}

/// The hint about a drive that a service does not find.
pub(super) fn hint(path: &Path) -> &'static str {
    match letter(path) {
        Some(_) => {
            "is the disk mounted? The letter of a share exists only for the person who is signed in: write \\\\server\\share"
        }
        None => "is the share mounted on its server, and may the service's account see it?",
    }
}

fn letter(path: &Path) -> Option<char> {
    let Some(Component::Prefix(prefix)) = path.components().next() else { return None };
    match prefix.kind() {
        Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => Some(char::from(letter).to_ascii_uppercase()),
        _ => None,
    }
}

/// The share that a letter is mapped to.
fn share(letter: char) -> Option<String> {
    let mut share = [0_u16; 512];
    let mut length = 512;
    // SAFETY: the name ends in NUL, and the buffer has the given length.
    let code = unsafe { WNetGetConnectionW(wide(&format!("{letter}:")).as_ptr(), share.as_mut_ptr(), &mut length) };
    let end = share.iter().position(|unit| *unit == 0)?;
    (code == 0 && end > 0).then(|| String::from_utf16_lossy(share.get(..end).unwrap_or_default()))
}

fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain(Some(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_drive_is_refused_with_the_share_to_write_instead() {
        let words = |kind, share| words("pms", 'P', kind, share);
        let refused = words(REMOTE, Some(r"\\server\pms")).unwrap();
        assert!(refused.contains("drive P:") && refused.contains(r"'\\server\pms\...'"), "{refused}");
        assert!(words(REMOTE, None).unwrap().contains(r"\\server\share"));
        assert!(words(NO_ROOT, Some(r"\\server\pms")).unwrap().contains("does not answer"));
        assert_eq!((words(NO_ROOT, None), words(3, None)), (None, None), "a disk, and one that is not there now");
    }

    #[test]
    fn the_disk_of_this_machine_and_a_share_are_not_refused() {
        assert_eq!(letter(Path::new(r"p:\import")), Some('P'));
        assert_eq!(letter(Path::new(r"\\?\P:\import")), Some('P'));
        assert_eq!(letter(Path::new(r"\\server\share\import")), None);
        assert_eq!(share('C'), None);
        // SAFETY: the text ends in NUL and outlives the call.
        assert_eq!(unsafe { GetDriveTypeW(wide("C:\\").as_ptr()) }, 3, "fixed");
    }
}

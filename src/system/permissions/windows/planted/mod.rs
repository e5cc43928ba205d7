//! Checks whether somebody else has prepared a folder or its content. Every user may create folders in `%ProgramData%`.
//! The owner of an existing folder can take any right on it, whatever its list says, and it may be a link. So docsyncd
//! does not take over such a folder: it could trust nothing in it.

use std::io;
use std::os::windows::fs::MetadataExt as _;
use std::path::Path;
use std::ptr;

use windows_sys::Win32::Foundation::{GENERIC_ALL, GENERIC_READ, GENERIC_WRITE};
use windows_sys::Win32::Security::Authorization::{GetNamedSecurityInfoW, SE_FILE_OBJECT};
use windows_sys::Win32::Security::{
    ACCESS_ALLOWED_ACE, ACE_HEADER, ACL, DACL_SECURITY_INFORMATION, GetAce, INHERIT_ONLY_ACE, INHERITED_ACE,
    OWNER_SECURITY_INFORMATION, PSID,
};
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_APPEND_DATA, FILE_ATTRIBUTE_REPARSE_POINT, FILE_DELETE_CHILD, FILE_READ_DATA, FILE_WRITE_DATA,
    WRITE_DAC, WRITE_OWNER,
};

use super::{Descriptor, own_sid, text_of, trusted_accounts, wide_path};

/// Rights to change the object, or to grant oneself that right. For a folder the first two are the rights to create
/// files and folders.
const TO_CHANGE: u32 = FILE_WRITE_DATA
    | FILE_APPEND_DATA
    | FILE_DELETE_CHILD
    | DELETE
    | WRITE_DAC
    | WRITE_OWNER
    | GENERIC_WRITE
    | GENERIC_ALL;
/// Accounts that stand for every user of the machine, with their names (Well-known SIDs, MS-DTYP 2.4.2.4).
const EVERYBODY: [(&str, &str); 5] = [
    ("S-1-1-0", "Everyone"),
    ("S-1-5-4", "Interactive"),
    ("S-1-5-11", "Authenticated Users"),
    ("S-1-5-32-545", "Users"),
    ("S-1-5-32-546", "Guests"),
];
/// Placeholders for the owner in a list (CREATOR OWNER, CREATOR GROUP, OWNER RIGHTS).
const STAND_INS: &str = "S-1-3-";
/// The owner of Windows' own files.
const TRUSTED_INSTALLER: &str = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464";

/// Kinds of entries (winnt.h: ACCESS_ALLOWED_ACE_TYPE, ACCESS_DENIED_ACE_TYPE).
const ALLOWS: u8 = 0;
const DENIES: u8 = 1;

/// The owner of an object, and the entries of its list.
#[derive(Debug)]
struct ObjectSecurity {
    owner: String,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    account: String,
    rights: u32,
    inherited: bool,
}

/// What is suspicious about a folder; `None` if nothing is, or if there is no folder. Also `None` for a user who may
/// not read the list, and so has no access anyway.
pub fn suspicion(folder: &Path) -> io::Result<Option<String>> {
    match look(folder, true) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        looked => looked,
    }
}

/// What is suspicious about a folder that will be closed, or about anything in it, at any depth. Inherited rights do
/// not count, since closing the folder ends them.
pub fn suspicion_within(folder: &Path) -> io::Result<Option<String>> {
    if let Some(found) = look(folder, false)? {
        return Ok(Some(found));
    }
    if !folder.is_dir() {
        return Ok(None);
    }
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if let Some(found) = if path.is_dir() { suspicion_within(&path)? } else { look(&path, false)? } {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The account that stands for every user of the machine and may read this file; `None` also if the list cannot be
/// read.
pub fn read_by_everybody(file: &Path) -> Option<&'static str> {
    let entries = found(file).ok()?.entries;
    let mut readers = entries.iter().filter(|entry| entry.rights & (FILE_READ_DATA | GENERIC_READ | GENERIC_ALL) != 0);
    readers.find_map(|entry| EVERYBODY.iter().find(|(sid, _)| *sid == entry.account)).map(|(_, name)| *name)
}

fn look(path: &Path, with_inherited: bool) -> io::Result<Option<String>> {
    let shown = path.display();
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT != 0 => {
            return Ok(Some(format!("{shown} is a link or a junction")));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut trusted = trusted_accounts();
    trusted.extend(own_sid());
    trusted.push(TRUSTED_INSTALLER.to_owned());
    Ok(judge(&found(path)?, &trusted, with_inherited).map(|what| format!("{shown} {what}")))
}

fn judge(found: &ObjectSecurity, trusted: &[String], with_inherited: bool) -> Option<String> {
    let is_trusted = |account: &String| trusted.contains(account) || account.starts_with(STAND_INS);
    if !is_trusted(&found.owner) {
        return Some(format!("belongs to somebody else ({})", found.owner));
    }
    let foreign = found.entries.iter().find(|entry| {
        entry.rights & TO_CHANGE != 0 && (with_inherited || !entry.inherited) && !is_trusted(&entry.account)
    });
    foreign.map(|entry| format!("can be changed by others ({})", entry.account))
}

/// The owner and the list of this object.
fn found(path: &Path) -> io::Result<ObjectSecurity> {
    let path = wide_path(path)?;
    let (mut owner, mut access, mut descriptor): (PSID, *mut ACL, _) =
        (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: the path ends in NUL. `Descriptor` frees the result, which contains the owner and the list.
    let code = unsafe {
        GetNamedSecurityInfoW(
            path.as_ptr(),
            SE_FILE_OBJECT,
            OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
            &mut owner,
            ptr::null_mut(),
            &mut access,
            ptr::null_mut(),
            &mut descriptor,
        )
    };
    if code != 0 {
        return Err(io::Error::from_raw_os_error(code.cast_signed()));
    }
    let _descriptor = Descriptor(descriptor);
    let owner = text_of(owner)?;
    if access.is_null() {
        // An object without a list allows everything to everybody.
        return Ok(ObjectSecurity {
            owner,
            entries: vec![Entry { account: "S-1-1-0".into(), rights: GENERIC_ALL, inherited: false }],
        });
    }
    // SAFETY: the list belongs to the descriptor, which still exists.
    let count = u32::from(unsafe { (*access).AceCount });
    let entries = (0..count).filter_map(|at| entry(access, at).transpose()).collect::<io::Result<_>>()?;
    Ok(ObjectSecurity { owner, entries })
}

/// An entry that allows something on the object itself; `None` for others: a denying entry is no risk. Other kinds (for
/// example conditional entries) count as if they allowed the rights that they name.
fn entry(access: *const ACL, at: u32) -> io::Result<Option<Entry>> {
    let mut ace = ptr::null_mut();
    // SAFETY: the caller's list is valid and has this many entries.
    if unsafe { GetAce(access, at, &mut ace) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: every entry begins with a header.
    let header = unsafe { *ace.cast::<ACE_HEADER>() };
    let flags = u32::from(header.AceFlags);
    let kind = header.AceType;
    if kind == DENIES || flags & INHERIT_ONLY_ACE != 0 {
        return Ok(None);
    }
    let allowed = ace.cast::<ACCESS_ALLOWED_ACE>();
    // SAFETY: in all kinds of entries of a file's list the rights follow the header.
    let rights = unsafe { (*allowed).Mask };
    let account = if kind == ALLOWS {
        // SAFETY: in this kind the account's SID begins where the structure ends, and has the length that the entry
        // says.
        text_of(unsafe { (&raw mut (*allowed).SidStart).cast() })?
    } else {
        format!("an entry of kind {kind}")
    };
    Ok(Some(Entry { account, rights, inherited: flags & INHERITED_ACE != 0 }))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

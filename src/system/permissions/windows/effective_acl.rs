//! For tests: the actual access list of a file or folder.
//!
//! wine stores only the bits of a Unix mode: the owner, and whether everybody has access. Only Windows itself shows the
//! rest of a list.

use std::io;
use std::path::Path;
use std::ptr;

use windows_sys::Win32::Foundation::{CloseHandle, GENERIC_WRITE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Security::Authorization::{
    ConvertSecurityDescriptorToStringSecurityDescriptorW, GetNamedSecurityInfoW, SDDL_REVISION_1, SE_FILE_OBJECT,
};
use windows_sys::Win32::Security::{DACL_SECURITY_INFORMATION, SECURITY_ATTRIBUTES};
use windows_sys::Win32::Storage::FileSystem::{CREATE_NEW, CreateFileW};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};

use super::{Descriptor, access_list, own_sid, taken_text, wide_path};

/// The list of this file or folder, in the security descriptor definition language.
pub fn access_found(path: &Path) -> String {
    let path = wide_path(path).unwrap();
    let mut descriptor = ptr::null_mut();
    // SAFETY: the path ends in NUL, unused results are left out, and `Descriptor` frees the result.
    let code = unsafe {
        GetNamedSecurityInfoW(
            path.as_ptr(),
            SE_FILE_OBJECT,
            DACL_SECURITY_INFORMATION,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            &mut descriptor,
        )
    };
    assert_eq!(code, 0, "{}", io::Error::from_raw_os_error(code.cast_signed()));
    text_of(&Descriptor(descriptor))
}

/// A list in the system's notation.
pub(super) fn text_of(descriptor: &Descriptor) -> String {
    let mut text = ptr::null_mut();
    // SAFETY: the descriptor is valid. The text is copied and freed below.
    let done = unsafe {
        ConvertSecurityDescriptorToStringSecurityDescriptorW(
            descriptor.0,
            SDDL_REVISION_1,
            DACL_SECURITY_INFORMATION,
            &mut text,
            ptr::null_mut(),
        )
    };
    assert!(done != 0, "{}", io::Error::last_os_error());
    // SAFETY: the system has allocated the text, which ends in NUL.
    unsafe { taken_text(text) }
}

/// The accounts of the allowing entries of a list.
pub fn accounts(list: &str) -> Vec<&str> {
    let entries = list.split(['(', ')']).filter(|entry| entry.starts_with("A;"));
    entries.map(|entry| entry.rsplit(';').next().unwrap_or_default()).collect()
}

/// Asserts that docsyncd has created this folder for itself: its list has exactly docsyncd's accounts, and inherits
/// nothing. Under wine: it has only the system and the owner.
pub fn assert_closed(folder: &Path) {
    let found = access_found(folder);
    if is_wine() {
        let own = own_sid().unwrap();
        assert!(accounts(&found).iter().all(|account| ["SY", "BA", &own].contains(account)), "{folder:?}: {found}");
    } else {
        let wanted = text_of(&Descriptor::of(&access_list(true)).unwrap());
        assert!(found.starts_with("D:P"), "something may be inherited into {folder:?}: {found}");
        assert_eq!(accounts(&found), accounts(&wanted), "{folder:?}: {found}");
    }
}

/// Creates an empty file with this list. wine stores a list only on creation.
pub fn create_file_with(path: &Path, list: &str) {
    let (descriptor, path) = (Descriptor::of(list).unwrap(), wide_path(path).unwrap());
    let attributes = SECURITY_ATTRIBUTES {
        nLength: u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).unwrap(),
        lpSecurityDescriptor: descriptor.0,
        bInheritHandle: 0,
    };
    // SAFETY: the path ends in NUL, and the attributes and their descriptor outlive the call; the file is closed once.
    unsafe {
        let file = CreateFileW(path.as_ptr(), GENERIC_WRITE, 0, &attributes, CREATE_NEW, 0, ptr::null_mut());
        assert_ne!(file, INVALID_HANDLE_VALUE, "{}", io::Error::last_os_error());
        CloseHandle(file);
    }
}

/// Whether this is wine.
pub fn is_wine() -> bool {
    // SAFETY: both names end in NUL, and this library is part of every process.
    unsafe { GetProcAddress(GetModuleHandleA(c"ntdll.dll".as_ptr().cast()), c"wine_get_version".as_ptr().cast()) }
        .is_some()
}

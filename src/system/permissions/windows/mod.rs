//! Access lists. These accounts have full access, and nobody else:
//!
//! - SYSTEM and the Administrators group, which mend, back up, and sign accounts in (`docsyncd login` in a console that
//!   was opened as administrator);
//! - `NT SERVICE\docsyncd`, the virtual account of the service by default: only a service of that name can be it, and
//!   only administrators install services;
//! - the account of the installed service, if it is another one (for example a domain user who may write to a share):
//!   it must read what an administrator's `docsyncd login` creates;
//! - the user of this process, unless that is an administrator, who is in the group: a person who tries docsyncd in a
//!   console, or a service under another name.
//!
//! LocalService and NetworkService are not in the list: many services use them, and a broken one must not read the
//! tokens. An administrator in a console that was not opened as administrator is refused as well, and told so.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;

use windows_service::service::ServiceAccess;
use windows_service::service_manager::{ServiceManager, ServiceManagerAccess};
use windows_sys::Win32::Foundation::{CloseHandle, HANDLE, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1, SE_FILE_OBJECT,
    SetNamedSecurityInfoW,
};
use windows_sys::Win32::Security::{
    ACL, CheckTokenMembership, CreateWellKnownSid, DACL_SECURITY_INFORMATION, GetSecurityDescriptorDacl,
    GetTokenInformation, LookupAccountNameW, PROTECTED_DACL_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR, PSID,
    SECURITY_ATTRIBUTES, TOKEN_QUERY, TOKEN_USER, TokenUser, WinBuiltinAdministratorsSid,
};
use windows_sys::Win32::Storage::FileSystem::CreateDirectoryW;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use crate::system::durable::wide_path;

/// `NT SERVICE\docsyncd`. The numbers are the SHA-1 of the name in upper case, so they are the same on every machine
/// and known before the service is installed.
const VIRTUAL_ACCOUNT: &str = "S-1-5-80-2712911177-4035131693-4082313091-1677849424-664103357";

const SYSTEM: &str = "S-1-5-18";
const ADMINISTRATORS: &str = "S-1-5-32-544";

/// Longer than any SID (SECURITY_MAX_SID_SIZE is 68). In units of 8 bytes, for the alignment.
type SidBuffer = [u64; 16];

pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    create_folder_with(path, &access_list(true))
}

fn create_folder_with(path: &Path, list: &str) -> io::Result<()> {
    let descriptor = Descriptor::of(list)?;
    let path = wide_path(path)?;
    let attributes = SECURITY_ATTRIBUTES {
        nLength: u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).unwrap_or_default(),
        lpSecurityDescriptor: descriptor.0,
        bInheritHandle: 0,
    };
    // SAFETY: the path ends in NUL, and the attributes and their descriptor outlive the call.
    match unsafe { CreateDirectoryW(path.as_ptr(), &attributes) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Closes the file. A failure is ignored: if the service lacks full access, or the file system has no rights, an
/// administrator chose that.
pub(super) fn protect_file(path: &Path) -> io::Result<()> {
    if path.exists() {
        let _ = apply(path, &access_list(false));
    }
    Ok(())
}

pub(super) fn protect_folder(path: &Path) -> io::Result<()> {
    apply(path, &access_list(true))
}

fn apply(path: &Path, list: &str) -> io::Result<()> {
    let descriptor = Descriptor::of(list)?;
    let path = wide_path(path)?;
    let (mut present, mut defaulted, mut access): (i32, i32, *mut ACL) = (0, 0, ptr::null_mut());
    // SAFETY: the descriptor is valid and outlives the list that is borrowed from it here.
    let got = unsafe { GetSecurityDescriptorDacl(descriptor.0, &mut present, &mut access, &mut defaulted) };
    if got == 0 || present == 0 {
        return Err(io::Error::last_os_error());
    }
    let what = DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
    // SAFETY: the path ends in NUL, and the list belongs to the descriptor. Owner, group and audit list are left out.
    let code = unsafe {
        SetNamedSecurityInfoW(
            path.as_ptr(),
            SE_FILE_OBJECT,
            what,
            ptr::null_mut(),
            ptr::null_mut(),
            access,
            ptr::null(),
        )
    };
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code.cast_signed())) }
}

/// The list in the security descriptor definition language. New entries in a folder inherit the folder's list.
pub fn access_list(for_folder: bool) -> String {
    let handed_down = if for_folder { "OICI" } else { "" };
    let entries = trusted_accounts().into_iter().map(|account| {
        let account = match account.as_str() {
            SYSTEM => "SY",
            ADMINISTRATORS => "BA",
            other => other,
        };
        format!("(A;{handed_down};FA;;;{account})")
    });
    format!("D:P{}", entries.collect::<String>())
}

/// The accounts in the list, as SIDs.
fn trusted_accounts() -> Vec<String> {
    let mut accounts = [SYSTEM, ADMINISTRATORS, VIRTUAL_ACCOUNT].map(str::to_owned).to_vec();
    let own = if is_administrator() { None } else { own_sid().ok() };
    for sid in [service_account().and_then(|name| sid_of(&name).ok()), own].into_iter().flatten() {
        if !accounts.contains(&sid) {
            accounts.push(sid);
        }
    }
    accounts
}

/// The account of the installed service, as the service controller names it.
fn service_account() -> Option<OsString> {
    let manager = ServiceManager::local_computer(None::<&str>, ServiceManagerAccess::CONNECT).ok()?;
    let service = manager.open_service("docsyncd", ServiceAccess::QUERY_CONFIG).ok()?;
    service.query_config().ok()?.account_name
}

/// Whether this process has administrator rights (a console that was opened as administrator).
fn is_administrator() -> bool {
    let (mut group, mut length): (SidBuffer, u32) =
        ([0; 16], u32::try_from(size_of::<SidBuffer>()).unwrap_or_default());
    let mut member = 0;
    let sid: PSID = group.as_mut_ptr().cast();
    // SAFETY: the buffer has the given length. The second call reads what the first has written.
    unsafe {
        CreateWellKnownSid(WinBuiltinAdministratorsSid, ptr::null_mut(), sid, &mut length) != 0
            && CheckTokenMembership(ptr::null_mut(), sid, &mut member) != 0
            && member != 0
    }
}

/// The SID of this process's user.
fn own_sid() -> io::Result<String> {
    let mut token: HANDLE = ptr::null_mut();
    // SAFETY: the process's own pseudo handle needs no closing; the token is closed below.
    if unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &mut token) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // A TOKEN_USER and the SID that it points to.
    let mut buffer: [u64; 32] = [0; 32];
    let mut length = u32::try_from(size_of_val(&buffer)).unwrap_or_default();
    // SAFETY: the buffer has the given length and the alignment of the result.
    let got = unsafe { GetTokenInformation(token, TokenUser, buffer.as_mut_ptr().cast(), length, &mut length) };
    let error = io::Error::last_os_error();
    // SAFETY: opened above, and not used any more.
    unsafe { CloseHandle(token) };
    if got == 0 {
        return Err(error);
    }
    // SAFETY: the call has written a TOKEN_USER at the start of the buffer, which still exists.
    let sid = unsafe { (*buffer.as_ptr().cast::<TOKEN_USER>()).User.Sid };
    text_of(sid)
}

/// The SID of an account by its name: `DOMAIN\user`, `.\user`, `user@domain`.
fn sid_of(account: &OsStr) -> io::Result<String> {
    let name = account.to_string_lossy();
    let name = name.strip_prefix(r".\").unwrap_or(&name);
    if name.eq_ignore_ascii_case("LocalSystem") {
        return Ok(SYSTEM.to_owned());
    }
    let name: Vec<u16> = OsStr::new(name).encode_wide().chain(Some(0)).collect();
    let (mut sid, mut sid_length): (SidBuffer, u32) =
        ([0; 16], u32::try_from(size_of::<SidBuffer>()).unwrap_or_default());
    let (mut domain, mut domain_length, mut kind) = ([0_u16; 256], 256, 0);
    // SAFETY: the name ends in NUL, and both buffers have the given lengths.
    let found = unsafe {
        LookupAccountNameW(
            ptr::null(),
            name.as_ptr(),
            sid.as_mut_ptr().cast(),
            &mut sid_length,
            domain.as_mut_ptr(),
            &mut domain_length,
            &mut kind,
        )
    };
    if found == 0 { Err(io::Error::last_os_error()) } else { text_of(sid.as_mut_ptr().cast()) }
}

fn text_of(sid: PSID) -> io::Result<String> {
    let mut text = ptr::null_mut();
    // SAFETY: the callers pass a SID that the system has written. The text is copied and freed below.
    if unsafe { ConvertSidToStringSidW(sid, &mut text) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has allocated the text, which ends in NUL.
    Ok(unsafe { taken_text(text) })
}

/// Copies and frees a text from the system.
///
/// # Safety
/// The system has allocated the text for the caller to free with `LocalFree`, and it ends in NUL.
unsafe fn taken_text(text: *mut u16) -> String {
    // SAFETY: the caller guarantees it. The text is read once and then freed.
    unsafe {
        let length = (0..).take_while(|at| *text.add(*at) != 0).count();
        let copied = String::from_utf16_lossy(std::slice::from_raw_parts(text, length));
        LocalFree(text.cast());
        copied
    }
}

/// A security descriptor that the system has allocated.
struct Descriptor(PSECURITY_DESCRIPTOR);

impl Descriptor {
    fn of(list: &str) -> io::Result<Self> {
        let list: Vec<u16> = OsStr::new(list).encode_wide().chain(Some(0)).collect();
        let mut descriptor = ptr::null_mut();
        // SAFETY: the text ends in NUL and outlives the call; `drop` frees the descriptor.
        let done = unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                list.as_ptr(),
                SDDL_REVISION_1,
                &mut descriptor,
                ptr::null_mut(),
            )
        };
        if done == 0 { Err(io::Error::last_os_error()) } else { Ok(Self(descriptor)) }
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: allocated by the conversion, and not used any more.
        unsafe { LocalFree(self.0) };
    }
}

#[path = "planted/mod.rs"]
pub mod planted;

#[cfg(test)]
#[path = "effective_acl.rs"]
pub mod effective_acl;
#[cfg(test)]
#[path = "tests.rs"]
mod tests;

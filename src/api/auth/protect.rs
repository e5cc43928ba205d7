//! What a token file's content looks like on the disk, and how its folder is guarded.
//!
//! On Unix permissions guard it. On Windows the content is protected by DPAPI as well, for this machine, because a person
//! may sign in as an administrator while the service runs as its own account; the folder's access list names who may
//! read it.

#[cfg(not(windows))]
mod system {
    use std::io;
    use std::path::Path;

    /// As it is.
    #[expect(clippy::unnecessary_wraps, reason = "the Windows side can fail")]
    pub fn seal(plain: Vec<u8>) -> io::Result<Vec<u8>> {
        Ok(plain)
    }

    /// As it is.
    #[expect(clippy::unnecessary_wraps, reason = "the Windows side can fail")]
    pub fn unseal(stored: Vec<u8>) -> io::Result<Vec<u8>> {
        Ok(stored)
    }

    /// Creates the folder, which is there already or whose parent is there, for its owner alone.
    pub fn create_folder(path: &Path) -> io::Result<bool> {
        crate::durable::create_folder(path, 0o700)
    }
}

#[cfg(windows)]
mod system {
    use std::io;
    use std::os::windows::ffi::OsStrExt as _;
    use std::path::Path;
    use std::ptr;

    use windows_sys::Win32::Foundation::LocalFree;
    use windows_sys::Win32::Security::Authorization::{
        ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
    };
    use windows_sys::Win32::Security::Cryptography::{
        CRYPT_INTEGER_BLOB, CRYPTPROTECT_LOCAL_MACHINE, CRYPTPROTECT_UI_FORBIDDEN, CryptProtectData, CryptUnprotectData,
    };
    use windows_sys::Win32::Security::SECURITY_ATTRIBUTES;
    use windows_sys::Win32::Storage::FileSystem::CreateDirectoryW;

    /// Full access, handed down to files, for SYSTEM, Administrators, the creator, and the accounts that services run
    /// under: LocalService, NetworkService, and `NT SERVICE\docsyncd`, whose identifier is the SHA-1 of that name.
    const ACCESS: &str = "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;OW)(A;OICI;FA;;;LS)(A;OICI;FA;;;NS)\
                          (A;OICI;FA;;;S-1-5-80-2712911177-4035131693-4082313091-1677849424-664103357)";

    fn blob(bytes: &[u8]) -> io::Result<CRYPT_INTEGER_BLOB> {
        let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(CRYPT_INTEGER_BLOB { cbData: length, pbData: bytes.as_ptr().cast_mut() })
    }

    /// Takes over what DPAPI allocated.
    fn taken(blob: &CRYPT_INTEGER_BLOB) -> Vec<u8> {
        // SAFETY: DPAPI succeeded, so that this is its allocation of that length; it is read once and then freed.
        unsafe {
            let bytes = std::slice::from_raw_parts(blob.pbData, blob.cbData as usize).to_vec();
            LocalFree(blob.pbData.cast());
            bytes
        }
    }

    /// Encrypts for this machine.
    pub fn seal(plain: Vec<u8>) -> io::Result<Vec<u8>> {
        let (input, mut output) = (blob(&plain)?, CRYPT_INTEGER_BLOB { cbData: 0, pbData: ptr::null_mut() });
        let flags = CRYPTPROTECT_LOCAL_MACHINE | CRYPTPROTECT_UI_FORBIDDEN;
        // SAFETY: both blobs outlive the call; the optional arguments are left out.
        let done =
            unsafe { CryptProtectData(&input, ptr::null(), ptr::null(), ptr::null(), ptr::null(), flags, &mut output) };
        if done == 0 { Err(io::Error::last_os_error()) } else { Ok(taken(&output)) }
    }

    /// The reverse of [`seal`].
    pub fn unseal(stored: Vec<u8>) -> io::Result<Vec<u8>> {
        let (input, mut output) = (blob(&stored)?, CRYPT_INTEGER_BLOB { cbData: 0, pbData: ptr::null_mut() });
        let flags = CRYPTPROTECT_UI_FORBIDDEN;
        // SAFETY: as in `seal`.
        let done = unsafe {
            CryptUnprotectData(&input, ptr::null_mut(), ptr::null(), ptr::null(), ptr::null(), flags, &mut output)
        };
        if done == 0 { Err(io::Error::last_os_error()) } else { Ok(taken(&output)) }
    }

    /// Creates the folder, which is there already or whose parent is there, with its own access list.
    pub fn create_folder(path: &Path) -> io::Result<bool> {
        let wide = |text: &std::ffi::OsStr| text.encode_wide().chain(Some(0)).collect::<Vec<u16>>();
        let (path, access) = (wide(path.as_os_str()), wide(ACCESS.as_ref()));
        let mut descriptor = ptr::null_mut();
        // SAFETY: the text ends in NUL and outlives the call; the descriptor is freed below.
        let done = unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                access.as_ptr(),
                SDDL_REVISION_1,
                &mut descriptor,
                ptr::null_mut(),
            )
        };
        if done == 0 {
            return Err(io::Error::last_os_error());
        }
        let attributes = SECURITY_ATTRIBUTES {
            nLength: u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).unwrap_or_default(),
            lpSecurityDescriptor: descriptor,
            bInheritHandle: 0,
        };
        // SAFETY: the path ends in NUL, and the attributes and their descriptor outlive the call.
        let done = unsafe { CreateDirectoryW(path.as_ptr(), &attributes) };
        let error = io::Error::last_os_error();
        // SAFETY: allocated by the conversion above, and used no more.
        unsafe { LocalFree(descriptor) };
        match done {
            0 if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            0 => Err(error),
            _ => Ok(true),
        }
    }
}

pub(super) use system::{create_folder, seal, unseal};

//! The form of a token file's content on disk.
//!
//! On Unix, permissions guard the content. On Windows, DPAPI encrypts it as well: for this machine and not for one
//! user, because a person may sign in as an administrator while the service runs under its own account. So on this
//! machine the folder's access list ([`crate::system::permissions`]) decides who can read it. DPAPI makes a copy of the
//! file alone worthless elsewhere. It does not guard a stolen disk, on which the machine's keys lie, too.

#[cfg(not(windows))]
mod system {
    use std::io;

    /// Returns the content unchanged.
    #[expect(clippy::unnecessary_wraps, reason = "the Windows side can fail")]
    pub fn seal(plain: Vec<u8>) -> io::Result<Vec<u8>> {
        Ok(plain)
    }

    /// Returns the content unchanged.
    #[expect(clippy::unnecessary_wraps, reason = "the Windows side can fail")]
    pub fn unseal(stored: Vec<u8>) -> io::Result<Vec<u8>> {
        Ok(stored)
    }
}

#[cfg(windows)]
mod system {
    use std::io;
    use std::ptr;

    use windows_sys::Win32::Foundation::LocalFree;
    use windows_sys::Win32::Security::Cryptography::{
        CRYPT_INTEGER_BLOB, CRYPTPROTECT_LOCAL_MACHINE, CRYPTPROTECT_UI_FORBIDDEN, CryptProtectData, CryptUnprotectData,
    };

    fn blob(bytes: &[u8]) -> io::Result<CRYPT_INTEGER_BLOB> {
        let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(CRYPT_INTEGER_BLOB { cbData: length, pbData: bytes.as_ptr().cast_mut() })
    }

    /// Copies and frees a buffer that DPAPI allocated.
    fn taken(blob: &CRYPT_INTEGER_BLOB) -> Vec<u8> {
        // SAFETY: DPAPI succeeded, so the blob is its allocation of that length. It is read once and then freed.
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
}

pub(super) use system::{seal, unseal};

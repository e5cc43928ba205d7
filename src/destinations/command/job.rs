//! Windows: ends a program and all that it starts together. They form a job object, which includes every process that
//! one of them starts.
//!
//! The job is ended, and not merely closed, because a program that ends well may leave a process behind.

use std::io;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::ptr;

use tokio::process::Child;
use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::JobObjects::{AssignProcessToJobObject, CreateJobObjectW, TerminateJobObject};
use windows_sys::Win32::System::Threading::{OpenThread, ResumeThread, THREAD_SUSPEND_RESUME};

pub(super) use windows_sys::Win32::System::Threading::CREATE_SUSPENDED;

/// The exit code of the programs in an ended job.
const ENDED: u32 = 1;

pub(super) struct Job(OwnedHandle);

impl Job {
    /// Puts the program into a job and lets it begin. It must be started with [`CREATE_SUSPENDED`], otherwise the
    /// processes of its first moments would be in no job.
    pub(super) fn of(program: &Child) -> io::Result<Self> {
        let (Some(process), Some(id)) = (program.raw_handle(), program.id()) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        // SAFETY: without attributes and without a name.
        let job = owned(unsafe { CreateJobObjectW(ptr::null(), ptr::null()) })?;
        // SAFETY: both handles are open.
        if unsafe { AssignProcessToJobObject(job.as_raw_handle(), process) } == 0 {
            return Err(io::Error::last_os_error());
        }
        begin(id)?;
        Ok(Self(job))
    }

    /// Ends all processes in the job. A failure is ignored: the job exists and is ours.
    pub(super) fn end(&self) {
        // SAFETY: the handle is open.
        let _ = unsafe { TerminateJobObject(self.0.as_raw_handle(), ENDED) };
    }
}

/// Resumes a suspended process. It has one thread, which only the system's list shows.
fn begin(process: u32) -> io::Result<()> {
    // SAFETY: takes two numbers.
    let list = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) };
    let list = if list == INVALID_HANDLE_VALUE { Err(io::Error::last_os_error()) } else { owned(list) }?;
    let length = u32::try_from(size_of::<THREADENTRY32>()).unwrap_or_default();
    let mut thread = THREADENTRY32 { dwSize: length, ..Default::default() };
    // SAFETY: the list is open, and the entry says its length.
    let mut found = unsafe { Thread32First(list.as_raw_handle(), &mut thread) };
    while found != 0 {
        if thread.th32OwnerProcessID == process {
            // SAFETY: takes numbers only.
            let thread = owned(unsafe { OpenThread(THREAD_SUSPEND_RESUME, 0, thread.th32ThreadID) })?;
            // SAFETY: the handle is open for this.
            let before = unsafe { ResumeThread(thread.as_raw_handle()) };
            return if before == u32::MAX { Err(io::Error::last_os_error()) } else { Ok(()) };
        }
        // SAFETY: as above.
        found = unsafe { Thread32Next(list.as_raw_handle(), &mut thread) };
    }
    Err(io::ErrorKind::NotFound.into())
}

fn owned(handle: *mut std::ffi::c_void) -> io::Result<OwnedHandle> {
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the callers pass a handle that the system has just given them, and keep no copy of it.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

//! Programs of the system that some faults need. Where one is not installed its tests say so and pass; CI has them all,
//! and sets `DOCSYNCD_TEST_TOOLS=all` so that a missing one is a failure there.

#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;

/// Where the program is, on the PATH.
pub fn program(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The library that moves a program's clock (Debian: libfaketime).
#[cfg(unix)]
pub fn faketime() -> Option<PathBuf> {
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib"];
    let multiarch = ["x86_64-linux-gnu", "aarch64-linux-gnu", "."];
    let found = folders.iter().flat_map(|folder| multiarch.map(|arch| Path::new(folder).join(arch).join("faketime")));
    found.map(|folder| folder.join("libfaketime.so.1")).find(|path| path.is_file())
}

/// Whether the test can be made; says what is missing.
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not tried")]
pub fn there(what: &str, found: bool) -> bool {
    if !found {
        let is_needed = cfg!(unix) && std::env::var_os("DOCSYNCD_TEST_TOOLS").is_some();
        assert!(!is_needed, "{what} is not installed");
        eprintln!("{what} is not installed: this fault is not tried here");
    }
    found
}

/// Whether this process may make a mount namespace; a container may forbid it, even to root.
#[cfg(unix)]
pub fn namespaces() -> bool {
    let mut command = std::process::Command::new("unshare");
    if !super::disk::is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    let made = command.args(["--mount", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    there("unshare --mount", made.is_ok_and(|made| made.status.success()))
}

/// Returns from the test when one of these programs is missing.
macro_rules! needs {
    ($($name:literal),+) => {
        $(if !$crate::faults::tools::there($name, $crate::faults::tools::program($name).is_some()) {
            return;
        })+
    };
}
pub(crate) use needs;

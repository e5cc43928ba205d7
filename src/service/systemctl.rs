//! systemd's side of `docsyncd service`: the packages bring the unit, `systemctl` does the rest.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// The unit that the packages install.
pub const UNIT: &str = "docsyncd.service";

/// Where units of packages and of administrators lie (systemd.unit, "UNIT FILE LOAD PATH").
const UNIT_FOLDERS: [&str; 4] =
    ["/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system"];

/// Whether this system was started by systemd (sd_booted).
pub fn is_running() -> bool {
    Path::new("/run/systemd/system").is_dir()
}

/// Whether the unit is there.
pub fn has_unit() -> bool {
    UNIT_FOLDERS.iter().any(|folder| Path::new(folder).join(UNIT).exists())
}

/// Runs `systemctl` with these words and the unit; what it says goes to the terminal.
///
/// # Errors
/// There is no `systemctl`.
pub fn systemctl(words: &[&str]) -> io::Result<ExitStatus> {
    Command::new("systemctl").args(words).arg(UNIT).status()
}

//! systemd's side of `docsyncd service`: the packages bring the units, `systemctl` does the rest.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// Where units of packages and of administrators lie (systemd.unit, "UNIT FILE LOAD PATH").
const UNIT_FOLDERS: [&str; 5] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    // Where Debian 12 and Ubuntu 24.04 keep it when their folders were not merged.
    "/lib/systemd/system",
];

/// One of the packages' two units, for one configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// As systemd is asked for it: `docsyncd.service`, `docsyncd@north.service`.
    pub name: String,
    /// The file that defines it.
    file: &'static str,
}

impl Unit {
    /// The unit that reads `config`: the plain one the system's own configuration (`default`), an instance of the template
    /// any other file beside it. `None` for a file that no unit reads.
    pub fn that_reads(config: &Path, default: &Path) -> Option<Self> {
        if config == default {
            return Some(Self { name: "docsyncd.service".to_owned(), file: "docsyncd.service" });
        }
        let beside = config.parent() == default.parent() && config.extension().is_some_and(|end| end == "toml");
        let instance = config.file_stem()?.to_str()?;
        // Any other letter is written in another way in the name of a unit, and the file would not be found by it.
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "_.:-".contains(letter);
        (beside && instance.chars().all(plain))
            .then(|| Self { name: format!("docsyncd@{instance}.service"), file: "docsyncd@.service" })
    }

    /// Whether the file that defines it is there.
    pub fn is_there(&self) -> bool {
        UNIT_FOLDERS.iter().any(|folder| Path::new(folder).join(self.file).exists())
    }

    /// Runs `systemctl` with these words and the unit; what it says goes to the terminal.
    ///
    /// # Errors
    /// There is no `systemctl`.
    pub fn systemctl(&self, words: &[&str]) -> io::Result<ExitStatus> {
        Command::new("systemctl").args(words).arg(&self.name).status()
    }
}

/// Whether this system was started by systemd (sd_booted).
pub fn is_running() -> bool {
    Path::new("/run/systemd/system").is_dir()
}

/// Whether this is root, who may ask systemd for anything.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Unit;

    fn name(config: &str) -> Option<String> {
        Unit::that_reads(Path::new(config), Path::new("/etc/docsyncd/docsyncd.toml")).map(|unit| unit.name)
    }

    #[test]
    fn each_configuration_beside_the_systems_own_has_an_instance() {
        assert_eq!(name("/etc/docsyncd/docsyncd.toml").as_deref(), Some("docsyncd.service"));
        assert_eq!(name("/etc/docsyncd/north.toml").as_deref(), Some("docsyncd@north.service"));
        assert_eq!(name("/etc/docsyncd/dr.martin-2.toml").as_deref(), Some("docsyncd@dr.martin-2.service"));
    }

    #[test]
    fn a_configuration_elsewhere_or_of_a_name_that_systemd_writes_otherwise_has_none() {
        for config in ["/home/anna/docsyncd.toml", "/etc/docsyncd/north.conf", "/etc/docsyncd/the north.toml", "/"] {
            assert_eq!(name(config), None, "{config}");
        }
    }
}

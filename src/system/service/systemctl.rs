//! `docsyncd service` on systemd: the packages bring the units, and `systemctl` does the rest.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The folders for units of packages and of administrators (systemd.unit, "UNIT FILE LOAD PATH").
const UNIT_FOLDERS: [&str; 5] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    // On Debian 12 and Ubuntu 24.04, if their folders were not merged.
    "/lib/systemd/system",
];

/// The folder for administrators' additions to units, and the name of docsyncd's addition.
const ADDITIONS: &str = "/etc/systemd/system";
const ADDITION: &str = "docsyncd.conf";
/// Folders that the units let the service write into, and folders that they always hide from it.
const OPEN: [&str; 5] = ["/srv", "/mnt", "/media", "/var/lib/docsyncd", "/var/lib/docsyncd-instances"];
const HIDDEN: [&str; 3] = ["/home", "/root", "/run/user"];
/// The longest name of a user (sysusers.d, "Name").
const MAX_USER: usize = 31;

/// One of the packages' two units, for one configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Its name in systemd: `docsyncd.service`, `docsyncd@north.service`.
    pub name: String,
    /// The file that defines it.
    file: &'static str,
}

impl Unit {
    /// The unit that reads `config`: the plain unit for the system's own configuration (`default`), an instance of the
    /// template for any other TOML file in the same folder. `None` for a file that no unit reads.
    pub fn that_reads(config: &Path, default: &Path) -> Option<Self> {
        if config == default {
            return Some(Self { name: "docsyncd.service".to_owned(), file: "docsyncd.service" });
        }
        let beside = config.parent() == default.parent() && config.extension().is_some_and(|end| end == "toml");
        let instance = config.file_stem()?.to_str()?;
        // Other characters are escaped in the name of a unit, which would then not match the file.
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "_.:-".contains(letter);
        (beside && instance.chars().all(plain))
            .then(|| Self { name: format!("docsyncd@{instance}.service"), file: "docsyncd@.service" })
    }

    /// The user of an instance. Each instance has its own, so that one practice's programs cannot read another's data.
    /// `None` for the plain unit, whose user the packages create, and for an instance whose name cannot be a user's.
    pub fn user(&self) -> Option<String> {
        let instance = self.name.strip_prefix("docsyncd@")?.strip_suffix(".service")?;
        let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-".contains(letter);
        let user = format!("docsyncd-{instance}");
        (instance.chars().all(plain) && user.len() <= MAX_USER).then_some(user)
    }

    /// The text of the addition to the unit: its user, and the folders that it must write into and that the unit does
    /// not allow.
    fn addition(&self, folders: &[PathBuf]) -> String {
        let mut text = "# Written by docsyncd service install.\n[Service]\n".to_owned();
        if let Some(user) = self.user() {
            text.push_str(&format!("User={user}\nGroup={user}\n"));
        }
        let is_below = |folder: &Path, roots: &[&str]| roots.iter().any(|root| folder.starts_with(root));
        for folder in folders.iter().filter(|folder| !is_below(folder, &OPEN) && !is_below(folder, &HIDDEN)) {
            let Some(path) = folder.to_str().filter(|path| !path.contains(char::is_control)) else { continue };
            let path = path.replace('\\', r"\\").replace('"', r#"\""#).replace('%', "%%");
            // With the dash the service also starts while the folder is missing.
            text.push_str(&format!("ReadWritePaths=\"-{path}\"\n"));
        }
        text
    }

    fn addition_path(&self) -> PathBuf {
        Path::new(ADDITIONS).join(format!("{}.d", self.name)).join(ADDITION)
    }

    /// Creates the user of an instance, and writes the addition that the unit needs for these folders.
    ///
    /// # Errors
    /// A sentence that says what could not be done.
    pub fn prepare(&self, folders: &[PathBuf]) -> Result<(), String> {
        if let Some(user) = self.user() {
            let home = format!("/var/lib/docsyncd-instances/{}", user.trim_start_matches("docsyncd-"));
            make_user(&format!("u {user} - \"Synchronization of dental documents\" {home}\n"))
                .map_err(|error| format!("the user {user} cannot be made by systemd-sysusers: {error}"))?;
        }
        let (path, text) = (self.addition_path(), self.addition(folders));
        // Nothing changes for a deployment tool that does this again and again.
        if fs::read_to_string(&path).is_ok_and(|found| found == text) {
            return Ok(());
        }
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        written.map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
        reload().map_err(|error| format!("systemd does not read it: {error}"))
    }

    /// Removes the addition of [`Self::prepare`]. The user stays, since it owns files.
    pub fn forget(&self) {
        let path = self.addition_path();
        // The folder stays if an administrator has put other files into it.
        if fs::remove_file(&path).is_ok() {
            let _ = path.parent().map(fs::remove_dir);
            let _ = reload();
        }
    }

    /// Whether the file that defines the unit exists.
    pub fn is_there(&self) -> bool {
        UNIT_FOLDERS.iter().any(|folder| Path::new(folder).join(self.file).exists())
    }

    /// Runs `systemctl` with these arguments and the unit. Its output goes to the terminal.
    ///
    /// # Errors
    /// `systemctl` cannot be started.
    pub fn systemctl(&self, words: &[&str]) -> io::Result<ExitStatus> {
        Command::new("systemctl").args(words).arg(&self.name).status()
    }
}

/// Creates a user from a line of sysusers.d. An existing user stays unchanged.
fn make_user(line: &str) -> io::Result<()> {
    let mut sysusers = Command::new("systemd-sysusers").arg("-").stdin(Stdio::piped()).spawn()?;
    if let Some(mut lines) = sysusers.stdin.take() {
        lines.write_all(line.as_bytes())?;
    }
    succeeded(sysusers.wait()?)
}

fn reload() -> io::Result<()> {
    succeeded(Command::new("systemctl").arg("daemon-reload").status()?)
}

fn succeeded(status: ExitStatus) -> io::Result<()> {
    if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }
}

/// Whether systemd started this system (sd_booted).
pub fn is_running() -> bool {
    Path::new("/run/systemd/system").is_dir()
}

/// Whether this process runs as root, who may ask systemd for anything.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Unit;

    #[test]
    fn an_instance_has_a_user_of_its_own_and_may_write_where_its_destinations_are() {
        let unit =
            |config: &str| Unit::that_reads(Path::new(config), Path::new("/etc/docsyncd/docsyncd.toml")).unwrap();
        assert_eq!(unit("/etc/docsyncd/docsyncd.toml").user(), None);
        for (config, user) in [
            ("north", Some("docsyncd-north")),
            ("dr-martin_2", Some("docsyncd-dr-martin_2")),
            ("dr.martin", None),
            ("North", None),
            ("a-practice-with-a-long-name", None),
        ] {
            assert_eq!(unit(&format!("/etc/docsyncd/{config}.toml")).user().as_deref(), user, "{config}");
        }
        let folders = ["/srv/north", "/opt/the \"north\" 100%", "/home/anna/import", "/opt/a\nUser=root"];
        assert_eq!(
            unit("/etc/docsyncd/north.toml").addition(&folders.map(Into::into)),
            "# Written by docsyncd service install.\n[Service]\nUser=docsyncd-north\nGroup=docsyncd-north\n\
             ReadWritePaths=\"-/opt/the \\\"north\\\" 100%%\"\n"
        );
    }

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

//! Paths of the configuration: the base of relative ones, and conflicts between them.

use std::path::{Path, PathBuf};

use super::build::Builder;
use super::dicom::DicomArchive;
use super::validated::{Auth, Config, DestinationKind, FolderConfig, OAuthConfig, Secret, SshHostKey, SshSignIn};
use super::web::WebSignIn;

/// The default path of the configuration: `/etc/docsyncd/docsyncd.toml`, or `%ProgramData%\docsyncd\docsyncd.toml` on
/// Windows.
pub fn default_path() -> PathBuf {
    if cfg!(windows) {
        let data = std::env::var_os("ProgramData").map_or_else(|| PathBuf::from(PROGRAM_DATA), PathBuf::from);
        data.join("docsyncd").join("docsyncd.toml")
    } else {
        PathBuf::from("/etc/docsyncd/docsyncd.toml")
    }
}

/// `%ProgramData%` if the variable is not set.
pub const PROGRAM_DATA: &str = r"C:\ProgramData";

/// The start of a path into the folder in which systemd gives credentials to a service.
const CREDENTIALS: [&str; 2] = ["$CREDENTIALS_DIRECTORY", "${CREDENTIALS_DIRECTORY}"];

/// The rest of a path into systemd's credentials; `None` for every other path.
pub fn credential(path: &Path) -> Option<&Path> {
    CREDENTIALS.iter().find_map(|start| path.strip_prefix(start).ok())
}

/// The absolute path; a relative one begins in `folder`. A path into systemd's credentials stays as it is: only the
/// running service knows their folder.
pub fn resolve(folder: &Path, path: &Path) -> PathBuf {
    if credential(path).is_some() {
        return path.to_path_buf();
    }
    let joined = folder.join(path);
    std::path::absolute(&joined).unwrap_or(joined)
}

/// Whether a path has the form of the other operating system, so that its meaning here is not the intended one.
pub fn is_foreign(path: &Path) -> bool {
    let text = path.to_string_lossy();
    if cfg!(windows) {
        text.starts_with('/') && !text.starts_with("//")
    } else {
        let mut start = text.chars();
        let drive = start.next().is_some_and(|c| c.is_ascii_alphabetic()) && start.next() == Some(':');
        text.starts_with(r"\\") || (drive && matches!(start.next(), Some('\\' | '/')))
    }
}

/// Suffixes of the files that SQLite writes beside its database.
const BESIDE_THE_LEDGER: &[&str] = &["", "-wal", "-shm", "-journal"];

/// Reports files that would overwrite each other, and folders inside a folder that an importer watches.
pub fn check(config: &Config, file: &Path, builder: &mut Builder<'_>) {
    let ledger: Vec<PathBuf> = BESIDE_THE_LEDGER.iter().map(|suffix| with_suffix(&config.state.path, suffix)).collect();
    let read = files_to_read(config, file);
    if let Some(log) = &config.log.file {
        if ledger.iter().any(|path| same(path, log)) {
            builder.error(
                "log",
                None,
                "file",
                "is the ledger's file (`state.path`)",
                "Give the log a file of its own.",
            );
        }
        if let Some((whose, _)) = read.iter().find(|(_, path)| same(path, log)) {
            builder.error("log", None, "file", &format!("is {whose}"), "Give the log a file of its own.");
        }
    }
    if let Some((whose, _)) = read.iter().find(|(_, path)| ledger.iter().any(|ledger| same(ledger, path))) {
        builder.error("state", None, "path", &format!("is {whose}"), "Give the ledger a file of its own.");
    }
    let spool = config.state.path.with_file_name("spool");
    for destination in config.destinations.values() {
        let DestinationKind::Folder(folder) = &destination.kind else { continue };
        let name = Some(folder.name.as_str());
        if folder.path.starts_with(&spool) {
            let what = "lies in docsyncd's own folder for downloads (`spool` beside `state.path`)";
            builder.error("destinations", name, "path", what, "Choose a folder that only the importer uses.");
        } else if config.state.path.starts_with(&folder.path) {
            builder.warn(
                "destinations",
                name,
                "path",
                "holds the ledger (`state.path`), which an importer could touch",
            );
        }
        let is_twin = |other: &&FolderConfig| {
            other.name < folder.name
                && same(&other.path, &folder.path)
                && other.file_name.source() == folder.file_name.source()
        };
        let mut others = config.destinations.values().filter_map(|destination| match &destination.kind {
            DestinationKind::Folder(folder) => Some(folder),
            _ => None,
        });
        if let Some(other) = others.find(is_twin) {
            let what = format!(
                "is also that of `destinations.{}`, with the same `file_name`: each knows only what it put there itself, so a \
                 letter for both may be filed more than once",
                other.name
            );
            builder.warn("destinations", name, "path", &what);
        }
    }
}

fn files_to_read<'a>(config: &'a Config, file: &'a Path) -> Vec<(String, &'a Path)> {
    let mut files = vec![("the configuration file itself".to_owned(), file)];
    files.extend(config.api.ca_file.as_deref().map(|path| ("the file of `api.ca_file`".to_owned(), path)));
    files.extend(config.patients.iter().map(|list| ("the file of `patients.file`".to_owned(), list.file.as_path())));
    for (name, account) in &config.accounts {
        match &account.auth {
            Auth::ApiKey(Secret::File(path)) => {
                files.push((format!("the file of `accounts.{name}.api_key_file`"), path));
            }
            Auth::OAuth(OAuthConfig { client_secret: Secret::File(path), .. }) => {
                files.push((format!("the file of `accounts.{name}.client_secret_file`"), path));
            }
            Auth::ApiKey(Secret::Given(_)) | Auth::OAuth(_) => {}
        }
    }
    for (name, destination) in &config.destinations {
        for (key, path) in web_files(&destination.kind) {
            files.push((format!("the file of `destinations.{name}.{key}`"), path));
        }
        let DestinationKind::Sftp(sftp) = &destination.kind else { continue };
        let SshSignIn { key, passphrase, password } = &sftp.sign_in;
        for (key, secret) in [("key_file", key), ("key_passphrase_file", passphrase), ("password_file", password)] {
            if let Some(Secret::File(path)) = secret {
                files.push((format!("the file of `destinations.{name}.{key}`"), path));
            }
        }
        if let Some(SshHostKey::KnownHosts(path)) = &sftp.host_key {
            files.push((format!("the file of `destinations.{name}.known_hosts_file`"), path));
        }
    }
    let alerts = &config.alerts;
    let webhook = alerts.webhook.as_ref();
    for (key, secret) in [
        ("alerts.heartbeat_url_file", alerts.heartbeat.as_ref()),
        ("alerts.webhook_url_file", webhook.map(|webhook| &webhook.url)),
        ("alerts.webhook_secret_file", webhook.and_then(|webhook| webhook.secret.as_ref())),
        ("alerts.mail.password_file", alerts.mail.as_ref().and_then(|mail| mail.user.as_ref().map(|(_, file)| file))),
    ] {
        if let Some(Secret::File(path)) = secret {
            files.push((format!("the file of `{key}`"), path));
        }
    }
    files
}

/// The files of a destination that speaks HTTP or SMTP, each with its key.
fn web_files(kind: &DestinationKind) -> Vec<(&'static str, &Path)> {
    let (connection, own): (_, Vec<(&'static str, &Secret)>) = match kind {
        DestinationKind::Http(http) => {
            (&http.connection, http.header_files.iter().map(|(_, file)| ("header_files", file)).collect())
        }
        DestinationKind::WebDav(webdav) => (&webdav.connection, Vec::new()),
        DestinationKind::Fhir(fhir) => (&fhir.connection, Vec::new()),
        DestinationKind::S3(s3) => (&s3.connection, vec![("secret_access_key_file", &s3.secret_access_key)]),
        DestinationKind::Hl7v2(hl7) => {
            return with_certificates(Vec::new(), hl7.client_certificate.as_ref(), hl7.ca_file.as_deref());
        }
        DestinationKind::Dicom(dicom) => match &dicom.archive {
            DicomArchive::Host(host) => {
                return with_certificates(Vec::new(), host.client_certificate.as_ref(), host.ca_file.as_deref());
            }
            DicomArchive::Web { connection, .. } => (&**connection, Vec::new()),
        },
        DestinationKind::Smtp(smtp) => {
            let password = smtp.user.iter().map(|(_, password)| ("password_file", password)).collect();
            return with_certificates(password, smtp.client_certificate.as_ref(), smtp.ca_file.as_deref());
        }
        DestinationKind::Folder(_)
        | DestinationKind::Command(_)
        | DestinationKind::Sftp(_)
        | DestinationKind::Vdds(_) => return Vec::new(),
    };
    let mut secrets = own;
    match &connection.sign_in {
        WebSignIn::None => {}
        WebSignIn::Bearer(token) => secrets.push(("bearer_token_file", token)),
        WebSignIn::Basic { password, .. } => secrets.push(("password_file", password)),
    }
    with_certificates(secrets, connection.client_certificate.as_ref(), connection.ca_file.as_deref())
}

fn with_certificates<'a>(
    mut secrets: Vec<(&'static str, &'a Secret)>,
    own: Option<&'a (PathBuf, Secret)>,
    ca_file: Option<&'a Path>,
) -> Vec<(&'static str, &'a Path)> {
    secrets.extend(own.map(|(_, key)| ("client_key_file", key)));
    let files = secrets.into_iter().filter_map(|(key, secret)| match secret {
        Secret::File(path) => Some((key, path.as_path())),
        Secret::Given(_) => None,
    });
    let certificates = own.iter().map(|(file, _)| ("client_cert_file", file.as_path()));
    files.chain(certificates).chain(ca_file.map(|file| ("ca_file", file))).collect()
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut text = path.as_os_str().to_owned();
    text.push(suffix);
    PathBuf::from(text)
}

/// Windows ignores letter case.
fn same(a: &Path, b: &Path) -> bool {
    a == b || (cfg!(windows) && a.to_string_lossy().eq_ignore_ascii_case(&b.to_string_lossy()))
}

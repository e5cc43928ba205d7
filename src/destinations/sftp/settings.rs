//! `type = "sftp"`

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::destinations::settings::remote::RemoteFolder;
use crate::destinations::settings::*;

/// The start of a fingerprint, as `ssh-keygen -l` prints it.
const SHA256: &str = "SHA256:";
/// Bytes of a SHA-256.
const SHA256_BYTES: usize = 32;

settings! {
    /// Its own values in `[destinations.NAME]`.
    "destinations.*." SftpKeys {
        key_file: Option<PathBuf>, Kind::SecretFile, "file that holds the private key";
        key_passphrase_file: Option<PathBuf>, Kind::SecretFile, "file that holds the passphrase of that key";
        host_key: Option<String>, Kind::Text, "fingerprint of the server's key, SHA256:...";
        known_hosts_file: Option<PathBuf>, Kind::Path, "file of known servers, as OpenSSH keeps it";
    }
}

/// How it is registered.
pub(crate) static KIND: DestinationKind = DestinationKind {
    word: "sftp",
    keys: &[
        NAMED,
        HOST,
        &[
            SharedKeys::user.required(),
            SftpKeys::key_file,
            SftpKeys::key_passphrase_file,
            SharedKeys::password_file,
            SftpKeys::host_key,
            SftpKeys::known_hosts_file,
            SharedKeys::verify,
        ],
        LIMITS,
        FILED,
    ],
    check: |at| Some(Arc::new(sftp(at)?)),
    presets: presets!("sftp"),
};

/// `type = "sftp"`
#[derive(Debug, Clone)]
pub struct SftpConfig {
    /// Where files go, and their names.
    pub folder: RemoteFolder,
    /// Name or address of the server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The user name there.
    pub user: String,
    /// How that user signs in.
    pub sign_in: SshSignIn,
    /// How to verify the server's key; without it no server is trusted.
    pub host_key: Option<SshHostKey>,
    /// The longest wait for an answer.
    pub timeout: Duration,
}

/// `key_file` and `password_file`: one of them, or both for a server that requires both.
#[derive(Debug, Clone)]
pub struct SshSignIn {
    /// The private key.
    pub key: Option<Secret>,
    /// Its passphrase.
    pub passphrase: Option<Secret>,
    /// The password, also if the server asks for it in a dialogue (keyboard-interactive).
    pub password: Option<Secret>,
}

/// `host_key` or `known_hosts_file`
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SshHostKey {
    /// A fingerprint: `SHA256:` with 43 characters of base64.
    Fingerprint(String),
    /// A known_hosts file of OpenSSH.
    KnownHosts(PathBuf),
}

impl Settings for SftpConfig {
    fn confirm(&self) -> Option<&Confirm> {
        self.folder.confirm.as_ref()
    }

    fn server(&self) -> Option<(String, u16)> {
        Some((self.host.clone(), self.port))
    }
}

fn sftp(at: &mut At<'_, '_>) -> Option<SftpConfig> {
    let (mut raw, mut own): (SharedKeys, SftpKeys) = (at.read()?, at.read()?);
    if let Some("none" | "query") = raw.verify.as_deref() {
        let fix = "Write \"content\" or \"size\".";
        at.error("verify", "is not for an SFTP server, whose files are read back", fix);
    }
    let folder = remote::folder(at, &mut raw);
    let host = remote::host(at, raw.host.take());
    let (sign_in, host_key) = (sign_in(at, &mut raw, &mut own), host_key(at, &mut own));
    Some(SftpConfig {
        folder: folder?,
        host: host?,
        port: raw.port.unwrap_or(22),
        user: raw.user?,
        sign_in: sign_in?,
        host_key: host_key?,
        timeout: raw.timeout?,
    })
}

fn sign_in(at: &mut At<'_, '_>, raw: &mut SharedKeys, own: &mut SftpKeys) -> Option<SshSignIn> {
    let key = own.key_file.take().map(|path| at.secret("key_file", &path));
    let passphrase = own.key_passphrase_file.take().map(|path| at.secret("key_passphrase_file", &path));
    let password = raw.password_file.take().map(|path| at.secret("password_file", &path));
    if key.is_none() && passphrase.is_some() {
        let fix = "Name the key that it opens: key_file = \"...\".";
        return at.refuse("key_passphrase_file", "is given without `key_file`", fix);
    }
    if key.is_none() && password.is_none() {
        let fix = "Add key_file = \"...\" (made by ssh-keygen -t ed25519), or password_file = \"...\".";
        return at.refuse("key_file", "is missing, and so is `password_file`", fix);
    }
    Some(SshSignIn { key, passphrase, password })
}

/// `Some(None)`: no key is configured, which `check` and every delivery report, with the server's fingerprint.
fn host_key(at: &mut At<'_, '_>, own: &mut SftpKeys) -> Option<Option<SshHostKey>> {
    let (fingerprint, known_hosts) = (own.host_key.take(), own.known_hosts_file.take());
    if fingerprint.is_some() && known_hosts.is_some() {
        at.warn("known_hosts_file", "has no effect beside `host_key`");
    }
    match (fingerprint, known_hosts) {
        (None, None) => {
            let what = "goes without `host_key` or `known_hosts_file`, so nothing is sent: `docsyncd check` shows the server's \
                        fingerprint";
            at.warn("host", what);
            Some(None)
        }
        (None, Some(path)) => Some(Some(SshHostKey::KnownHosts(at.path("known_hosts_file", &path)))),
        (Some(text), _) => {
            let digits = text.trim().strip_prefix(SHA256).map(|digits| digits.trim_end_matches('='));
            let bytes = digits.and_then(|digits| STANDARD_NO_PAD.decode(digits).ok());
            match (digits, bytes) {
                (Some(digits), Some(bytes)) if bytes.len() == SHA256_BYTES => {
                    Some(Some(SshHostKey::Fingerprint(format!("{SHA256}{digits}"))))
                }
                _ => {
                    let fix = "Write the fingerprint as `docsyncd check` or `ssh-keygen -l` shows it: SHA256: and 43 characters.";
                    at.refuse("host_key", "is not a fingerprint", fix)
                }
            }
        }
    }
}

//! What destinations on another machine share, and `type = "sftp"`.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use url::Host;

use super::confirm::{self, Given};
use super::{marker, sidecar, template};
use crate::config::build::At;
use crate::config::settings;
use crate::config::validated::{RemoteFolder, SftpConfig, SshHostKey, SshSignIn};
use crate::formats::template::TemplateKind;

/// The start of a fingerprint, as `ssh-keygen -l` prints it.
const SHA256: &str = "SHA256:";
/// Bytes of a SHA-256.
const SHA256_BYTES: usize = 32;

/// Takes the shared settings out of `raw`.
pub(crate) fn folder(at: &mut At<'_, '_>, raw: &mut settings::Destination) -> Option<RemoteFolder> {
    let file_name =
        raw.file_name.take().and_then(|source| template(at, "file_name", TemplateKind::RemoteName, &source));
    let sidecar = sidecar::sidecar(at, raw, file_name.as_deref());
    let given = Given { file_name: file_name.as_ref(), sidecar: sidecar.as_ref() };
    let confirm = confirm::of_folder(at, raw, &given);
    Some(RemoteFolder {
        name: at.name(),
        path: path(at, raw.path.take()?)?,
        marker: marker(at, raw.marker.take()).map(|path| path.to_string_lossy().replace('\\', "/")),
        file_name: file_name?,
        sidecar,
        verify_content: raw.verify.as_deref() != Some("size"),
        max_connections: raw.max_connections?,
        on_lost_reply: raw.on_lost_reply,
        confirm,
    })
}

/// A path on the server has slashes, whatever this machine uses.
fn path(at: &mut At<'_, '_>, path: PathBuf) -> Option<String> {
    let text = path.to_string_lossy().into_owned();
    if text.contains('\\') {
        let fix = "Write slashes, as in path = \"/inbox\": it is a folder on the server.";
        return at.refuse("path", "holds a backslash", fix);
    }
    let trimmed = text.trim_end_matches('/');
    Some(if trimmed.is_empty() && !text.is_empty() { "/".to_owned() } else { trimmed.to_owned() })
}

pub(crate) fn sftp(at: &mut At<'_, '_>, mut raw: settings::Destination) -> Option<SftpConfig> {
    if let Some("none" | "query") = raw.verify.as_deref() {
        let fix = "Write \"content\" or \"size\".";
        at.error("verify", "is not for an SFTP server, whose files are read back", fix);
    }
    let folder = folder(at, &mut raw);
    let host = host(at, raw.host.take());
    let (sign_in, host_key) = (sign_in(at, &mut raw), host_key(at, &mut raw));
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

pub(crate) fn host(at: &mut At<'_, '_>, host: Option<String>) -> Option<String> {
    let text = host?;
    let text = text.trim();
    let example = "Write the name or address alone: host = \"sftp.lab.test\".";
    if let Some((_, rest)) = text.split_once("://") {
        let rest = rest.split(['/', '@']).next_back().unwrap_or_default();
        let (what, fix) = ("is an address with a scheme", format!("Write the name alone: host = \"{rest}\"."));
        let fix = if rest.is_empty() { example.to_owned() } else { fix };
        return at.refuse("host", what, fix);
    }
    if text.parse::<std::net::Ipv6Addr>().is_ok() {
        return Some(text.to_owned());
    }
    match Host::parse(text) {
        Ok(Host::Ipv6(address)) => Some(address.to_string()),
        Ok(host) if !text.contains(['/', '@', ':']) => Some(host.to_string()),
        _ => {
            let fix = format!("{example} The port has an option of its own, `port`, and so has `user`.");
            at.refuse("host", "is not the name of a host", fix)
        }
    }
}

fn sign_in(at: &mut At<'_, '_>, raw: &mut settings::Destination) -> Option<SshSignIn> {
    let key = raw.key_file.take().map(|path| at.secret("key_file", &path));
    let passphrase = raw.key_passphrase_file.take().map(|path| at.secret("key_passphrase_file", &path));
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
fn host_key(at: &mut At<'_, '_>, raw: &mut settings::Destination) -> Option<Option<SshHostKey>> {
    let (fingerprint, known_hosts) = (raw.host_key.take(), raw.known_hosts_file.take());
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

//! What destinations on another machine share, and `type = "sftp"`.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use url::Host;

use super::super::build::Builder;
use super::super::settings;
use super::super::validated::{RemoteFolder, Secret, SftpConfig, SshHostKey, SshSignIn};
use super::confirm::{self, Given};
use super::{SECTION, lost_reply, marker, sidecar, template};
use crate::template::TemplateKind;

/// The start of a fingerprint, as `ssh-keygen -l` prints it.
const SHA256: &str = "SHA256:";
/// Bytes of a SHA-256.
const SHA256_BYTES: usize = 32;

/// Takes the shared settings out of `raw`.
pub(super) fn folder(name: &str, raw: &mut settings::Destination, builder: &mut Builder<'_>) -> Option<RemoteFolder> {
    let file_name =
        raw.file_name.take().and_then(|source| template(name, "file_name", TemplateKind::RemoteName, &source, builder));
    let sidecar = sidecar::sidecar(name, raw, file_name.as_deref(), builder);
    let given = Given { file_name: file_name.as_ref(), sidecar: sidecar.as_ref() };
    let confirm = confirm::of_folder(name, raw, &given, builder);
    Some(RemoteFolder {
        name: name.to_owned(),
        path: path(name, raw.path.take()?, builder)?,
        marker: marker(name, raw.marker.take(), builder).map(|path| path.to_string_lossy().replace('\\', "/")),
        file_name: file_name?,
        sidecar,
        verify_content: raw.verify.as_deref() != Some("size"),
        max_connections: raw.max_connections?,
        on_lost_reply: lost_reply(raw.on_lost_reply.as_deref()),
        confirm,
    })
}

/// A path on the server has slashes, whatever this machine uses.
fn path(name: &str, path: PathBuf, builder: &mut Builder<'_>) -> Option<String> {
    let text = path.to_string_lossy().into_owned();
    if text.contains('\\') {
        let fix = "Write slashes, as in path = \"/inbox\": it is a folder on the server.";
        builder.error(SECTION, Some(name), "path", "holds a backslash", fix);
        return None;
    }
    let trimmed = text.trim_end_matches('/');
    Some(if trimmed.is_empty() && !text.is_empty() { "/".to_owned() } else { trimmed.to_owned() })
}

pub(super) fn sftp(name: &str, mut raw: settings::Destination, builder: &mut Builder<'_>) -> Option<SftpConfig> {
    if let Some("none" | "query") = raw.verify.as_deref() {
        let fix = "Write \"content\" or \"size\".";
        builder.error(SECTION, Some(name), "verify", "is not for an SFTP server, whose files are read back", fix);
    }
    let folder = folder(name, &mut raw, builder);
    let host = host(name, raw.host.take(), builder);
    let (sign_in, host_key) = (sign_in(name, &mut raw, builder), host_key(name, &mut raw, builder));
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

pub(super) fn host(name: &str, host: Option<String>, builder: &mut Builder<'_>) -> Option<String> {
    let text = host?;
    let text = text.trim();
    let example = "Write the name or address alone: host = \"sftp.lab.test\".";
    if let Some((_, rest)) = text.split_once("://") {
        let rest = rest.split(['/', '@']).next_back().unwrap_or_default();
        let (what, fix) = ("is an address with a scheme", format!("Write the name alone: host = \"{rest}\"."));
        let fix = if rest.is_empty() { example.to_owned() } else { fix };
        builder.error(SECTION, Some(name), "host", what, fix);
        return None;
    }
    if text.parse::<std::net::Ipv6Addr>().is_ok() {
        return Some(text.to_owned());
    }
    match Host::parse(text) {
        Ok(Host::Ipv6(address)) => Some(address.to_string()),
        Ok(host) if !text.contains(['/', '@', ':']) => Some(host.to_string()),
        _ => {
            let fix = format!("{example} The port has an option of its own, `port`, and so has `user`.");
            builder.error(SECTION, Some(name), "host", "is not the name of a host", fix);
            None
        }
    }
}

fn secret(name: &str, key: &str, path: Option<PathBuf>, builder: &mut Builder<'_>) -> Option<Secret> {
    path.map(|path| builder.secret(SECTION, Some(name), key, &path))
}

fn sign_in(name: &str, raw: &mut settings::Destination, builder: &mut Builder<'_>) -> Option<SshSignIn> {
    let key = secret(name, "key_file", raw.key_file.take(), builder);
    let passphrase = secret(name, "key_passphrase_file", raw.key_passphrase_file.take(), builder);
    let password = secret(name, "password_file", raw.password_file.take(), builder);
    if key.is_none() && passphrase.is_some() {
        let fix = "Name the key that it opens: key_file = \"...\".";
        builder.error(SECTION, Some(name), "key_passphrase_file", "is given without `key_file`", fix);
        return None;
    }
    if key.is_none() && password.is_none() {
        let fix = "Add key_file = \"...\" (made by ssh-keygen -t ed25519), or password_file = \"...\".";
        builder.error(SECTION, Some(name), "key_file", "is missing, and so is `password_file`", fix);
        return None;
    }
    Some(SshSignIn { key, passphrase, password })
}

/// `Some(None)`: no key is configured, which `check` and every delivery report, with the server's fingerprint.
fn host_key(name: &str, raw: &mut settings::Destination, builder: &mut Builder<'_>) -> Option<Option<SshHostKey>> {
    let (fingerprint, known_hosts) = (raw.host_key.take(), raw.known_hosts_file.take());
    if fingerprint.is_some() && known_hosts.is_some() {
        builder.warn(SECTION, Some(name), "known_hosts_file", "has no effect beside `host_key`");
    }
    match (fingerprint, known_hosts) {
        (None, None) => {
            let what = "goes without `host_key` or `known_hosts_file`, so nothing is sent: `docsyncd check` shows the server's \
                        fingerprint";
            builder.warn(SECTION, Some(name), "host", what);
            Some(None)
        }
        (None, Some(path)) => {
            Some(Some(SshHostKey::KnownHosts(builder.path(SECTION, Some(name), "known_hosts_file", &path))))
        }
        (Some(text), _) => {
            let digits = text.trim().strip_prefix(SHA256).map(|digits| digits.trim_end_matches('='));
            let bytes = digits.and_then(|digits| STANDARD_NO_PAD.decode(digits).ok());
            match (digits, bytes) {
                (Some(digits), Some(bytes)) if bytes.len() == SHA256_BYTES => {
                    Some(Some(SshHostKey::Fingerprint(format!("{SHA256}{digits}"))))
                }
                _ => {
                    let fix = "Write the fingerprint as `docsyncd check` or `ssh-keygen -l` shows it: SHA256: and 43 characters.";
                    builder.error(SECTION, Some(name), "host_key", "is not a fingerprint", fix);
                    None
                }
            }
        }
    }
}

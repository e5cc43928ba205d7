//! What destinations on another machine share: a folder there, and its host.

use std::path::PathBuf;
use std::sync::Arc;

use url::Host;

use super::confirm::{self, Given};
use super::keys::{LostReply, SharedKeys};
use super::sidecar::{self, SidecarConfig};
use super::{marker, template};
use crate::config::Confirm;
use crate::config::build::At;
use crate::formats::template::{Template, TemplateKind};

/// What destinations on another machine share if they name the PDF below a folder there.
#[derive(Debug, Clone)]
pub struct RemoteFolder {
    /// NAME of the destination.
    pub name: String,
    /// The folder there, with `/`; it must exist, and is never created.
    pub path: String,
    /// A file below `path` that must be there, with `/`.
    pub marker: Option<String>,
    /// The name of the PDF below `path`; its own slashes make sub-folders.
    pub file_name: Arc<Template>,
    /// The optional second file.
    pub sidecar: Option<SidecarConfig>,
    /// Whether sent content is read back; otherwise only its size is compared.
    pub verify_content: bool,
    /// Deliveries at a time.
    pub max_connections: usize,
    /// What to do with a document whose rename was not answered, if afterwards neither its name nor the temporary one
    /// is seen; `None`: an importer took it.
    pub on_lost_reply: Option<LostReply>,
    /// What proves that the software there took a letter.
    pub confirm: Option<Confirm>,
}

/// Takes the shared settings out of `raw`.
pub(crate) fn folder(at: &mut At<'_, '_>, raw: &mut SharedKeys) -> Option<RemoteFolder> {
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

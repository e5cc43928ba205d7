//! Tells whoever started the sandbox where everything is, once all of it can be used.

use std::io::{self, Write as _};
use std::path::Path;

use docsyncd_sandbox::{ApiKey, Sandbox};
use serde_json::Value;

use super::Failure;

/// Where everything is and what opens it, for programs that start the sandbox.
pub(super) async fn ready(sandbox: &Sandbox, keys: &[ApiKey]) -> Result<Value, Failure> {
    let mut keys: Vec<&str> = keys.iter().map(|key| key.key.as_str()).collect();
    if keys.is_empty() {
        keys.push(sandbox.api_key());
    }
    Ok(serde_json::json!({
        "url": sandbox.url(),
        "docs_url": format!("{}/docs", sandbox.url()),
        "files_url": sandbox.files_url(),
        "admin_url": sandbox.admin_url(),
        "app_url": sandbox.app_url(),
        "api_keys": keys,
        "clients": sandbox.clients(),
        "documents": sandbox.document_count().await?,
        "pid": std::process::id(),
    }))
}

/// Written beside its place and renamed, so that a program that waits for the file finds all of it.
pub(super) fn write_ready_file(path: &Path, ready: &Value) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    std::fs::write(&part, format!("{ready:#}\n"))?;
    std::fs::rename(&part, path)
}

/// The first line is a contract; the rest is for people.
pub(super) async fn announce(
    sandbox: &Sandbox,
    files_elsewhere: bool,
    app_elsewhere: bool,
    default_key: bool,
) -> Result<(), Failure> {
    let mut lines = format!("listening on {}\n", sandbox.url());
    if files_elsewhere {
        lines.push_str(&format!("files on {}\n", sandbox.files_url()));
    }
    if let Some(admin) = sandbox.admin_url() {
        lines.push_str(&format!("admin on {admin}\n"));
    }
    if app_elsewhere {
        lines.push_str(&format!("app on {}\n", sandbox.app_url()));
    }
    if default_key {
        lines.push_str(&format!("api key {}\n", sandbox.api_key()));
    }
    lines.push_str(&format!("documents {}\n", sandbox.document_count().await?));
    for client in sandbox.clients() {
        lines.push_str(&format!("client {}\n", client.client_id));
    }
    let mut out = io::stdout().lock();
    out.write_all(lines.as_bytes())?;
    out.flush()?;
    Ok(())
}

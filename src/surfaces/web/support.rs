//! The file of `docsyncd support`. A process of its own makes it, because that looks at all that may hang, and ends
//! with it.

use std::process::Stdio;
use std::time::Duration;

use hyper::{StatusCode, header};
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

use super::answers::{Answer, Site, add, sentence, with_headers};
use crate::formats::language::Language;

/// How long it may take: less than a connection may last.
const LIMIT: Duration = Duration::from_secs(36);
/// The most bytes of the file.
const MOST_BYTES: u64 = 5 * 1000 * 1000;
/// The browser may only keep it.
const POLICY: &str = "sandbox; default-src 'none'";

pub(super) async fn answer(site: &Site, language: Language) -> Answer {
    let Ok(_only) = site.supporting.try_acquire() else {
        return sentence(StatusCode::SERVICE_UNAVAILABLE, language, "trouble");
    };
    match tokio::time::timeout(LIMIT, made(site)).await {
        Ok(Ok(archive)) if !archive.is_empty() => {
            let mut answer = with_headers(StatusCode::OK, "application/zip", POLICY, archive.into());
            let name = jiff::Zoned::now().strftime("docsyncd-support-%Y%m%d-%H%M.zip").to_string();
            add(answer.headers_mut(), header::CONTENT_DISPOSITION, &format!("attachment; filename=\"{name}\""));
            answer
        }
        _ => sentence(StatusCode::SERVICE_UNAVAILABLE, language, "trouble"),
    }
}

async fn made(site: &Site) -> std::io::Result<Vec<u8>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--config").arg(&site.setup.config).args(["support", "--out", "-"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    #[cfg(windows)]
    command.creation_flags(windows_sys::Win32::System::Threading::CREATE_NO_WINDOW);
    let mut child = command.spawn()?;
    let mut archive = Vec::new();
    if let Some(out) = child.stdout.take() {
        out.take(MOST_BYTES).read_to_end(&mut archive).await?;
    }
    // A file that was cut off does not count.
    let ended = child.wait().await?;
    if ended.success() { Ok(archive) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
}

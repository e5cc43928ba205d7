//! Tests a server with files of its own: every step of a delivery, and a rename to a taken name.

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::remote::{self, Remote, Renamed, Source, below};
use super::super::{Checked, Outcome};
use super::server::Server;
use crate::config::SftpConfig;
use crate::{permissions, secret};

/// The start of the names of its files.
const CHECK: &str = ".docsyncd-check-";
/// Far longer than a check lasts; seconds.
const SURELY_DEAD: u32 = 10 * 60;

/// Checks of this process so far: distinguishes the files of simultaneous checks.
static PROBES: AtomicU64 = AtomicU64::new(0);

/// Whether a rename replaces a file that already has the name.
pub(super) async fn overwrites(config: &SftpConfig, server: &Server<'_>) -> Result<bool, Outcome> {
    remote::overwrites(server, &config.folder.name, &names(config)).await
}

/// The daemon and the command `check` may run at the same time, and on machines with the same process ids.
fn names(config: &SftpConfig) -> [String; 2] {
    let mut random = [0; 8];
    // If there is no randomness, the numbers alone must do.
    let _ = getrandom::fill(&mut random);
    let (process, count) = (std::process::id(), PROBES.fetch_add(1, Ordering::Relaxed));
    let id = format!("{process}-{count}-{}", crate::document::hex(&random));
    ["one", "other"].map(|which| below(&config.folder.path, &format!("{CHECK}{id}.{which}.tmp")))
}

/// Removes files of interrupted checks that are older, by the server's clock, than any check lasts. Files that cannot
/// be removed stay.
async fn sweep(config: &SftpConfig, server: &Server<'_>, now: u32) {
    for (name, modified) in server.names(CHECK).await.unwrap_or_default() {
        if now.saturating_sub(modified) > SURELY_DEAD && name.ends_with(".tmp") && !name.contains('/') {
            let _ = server.remove(&below(&config.folder.path, &name)).await;
        }
    }
}

/// The problem if names are overwritten and two documents may have the same name.
pub(super) fn unfit(config: &SftpConfig) -> Option<String> {
    let name = &config.folder.name;
    remote::unfit(&config.folder).map(|advice| {
        format!("destination `{name}`: this server overwrites a file when another is given its name: {advice}")
    })
}

/// Runs all tests in turn; the error says what does not work and what to do.
pub(super) async fn check(config: &SftpConfig, server: &Server<'_>) -> Result<Checked, Outcome> {
    let (shown, extensions) =
        server.look(|connection| (connection.shown.clone(), connection.session.extensions)).await?;
    remote::find_root(server, &config.folder).await?;
    round_trip(config, server).await?;
    let mut checked = Checked {
        notes: vec![format!("the server's key is {} ({})", shown.fingerprint, shown.algorithm)],
        ..Checked::default()
    };
    if overwrites(config, server).await? {
        if let Some(wrong) = unfit(config) {
            return Err(Outcome::unavailable("overwrites", wrong));
        }
        let warning = "this server overwrites a file when another is given its name: what is filed there has names of its own, but \
                       nothing keeps others from overwriting it";
        checked.warnings.push(warning.to_owned());
    }
    if extensions.fsync {
        checked.notes.push("what is filed is forced to its disk (fsync)".to_owned());
    } else {
        let warning = "this server cannot be asked to force a file to its disk (fsync): what was reported could be lost when its \
                       power fails in the same moment";
        checked.warnings.push(warning.to_owned());
    }
    let secrets = [&config.sign_in.key, &config.sign_in.passphrase, &config.sign_in.password];
    for file in secrets.into_iter().flatten().filter_map(secret::file) {
        if let Some(who) = permissions::read_by_everybody(&file) {
            let shown = file.display();
            checked.warnings.push(format!(
                "every user of this computer can read {shown} ({who}): run icacls \"{shown}\" /inheritance:r /grant \
                 *S-1-5-18:F *S-1-5-32-544:F \"NT SERVICE\\docsyncd:R\""
            ));
        }
    }
    checked.warnings.extend(remote::doubts(server, &config.folder).await);
    if !config.folder.verify_content {
        checked.notes.push("only the size is read back".to_owned());
    }
    Ok(checked)
}

/// Writes a file, reads it back, renames it and removes it.
async fn round_trip(config: &SftpConfig, server: &Server<'_>) -> Result<(), Outcome> {
    let [one, other] = names(config);
    let tried = async {
        let mut source = Source::of_bytes(b"docsyncd check\n".to_vec());
        let content = source.digest().clone();
        server.put(&one, &mut source).await?;
        let wrong = match remote::read_back(server, &one, content.size).await? {
            Some(found) if found == content => None,
            Some(_) => Some(("not_as_sent", "the server holds something else than what was sent")),
            None => Some(("not_seen", "what was sent, and accepted, is not seen there")),
        };
        if let Some((code, words)) = wrong {
            return Err(Outcome::unavailable(code, format!("destination `{}`: {words}", config.folder.name)));
        }
        match server.rename_new(&one, &other).await? {
            Renamed::Done => {
                let own = other.rsplit('/').next().unwrap_or_default();
                if let Some((_, now)) = server.names(own).await?.first() {
                    sweep(config, server, *now).await;
                }
                server.remove(&other).await
            }
            Renamed::Refused(outcome) | Renamed::Missing(outcome) => Err(outcome),
        }
    };
    let tried = tried.await;
    if tried.is_err() {
        for path in [&one, &other] {
            let _ = server.remove(path).await;
        }
    }
    tried
}

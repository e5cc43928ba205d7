//! Tests a collection: puts a file, reads it back, renames it, tries to rename it to a taken name, and removes it.

use std::time::{Duration, UNIX_EPOCH};

use super::super::confirm::Entry;
use super::super::files::Digest;
use super::super::remote::{self, Remote, Source, below};
use super::super::{Checked, Outcome};
use super::{Server, properties};
use crate::config::RemoteFolder;
use crate::failure::Code;

/// The start of the names of its files.
const CHECK: &str = ".docsyncd-check-";
/// Far longer than a check lasts.
const SURELY_DEAD: Duration = Duration::from_secs(10 * 60);
/// Bytes of a list of the folder that are read.
const LIST: usize = 1024 * 1024;

pub(super) async fn check(server: &Server, folder: &RemoteFolder) -> Result<Checked, String> {
    remote::find_root(server, folder).await.map_err(words)?;
    let names = names(server, folder).map_err(words)?;
    round_trip(server, &names[0]).await?;
    let overwrites = remote::overwrites(server, &folder.name, &names).await.map_err(words)?;
    sweep(server, folder).await;
    let mut checked = Checked { warnings: remote::doubts(server, folder).await, ..Checked::default() };
    if !overwrites {
        checked.notes.push("it refuses to overwrite".to_owned());
    } else if let Some(wrong) = unfit(server, folder) {
        return Err(wrong);
    } else {
        checked.warnings.push(
            "it replaces a file although it is told not to (Overwrite: F): names are told apart by `file_name` alone, which is \
             every document's own here"
                .to_owned(),
        );
    }
    Ok(checked)
}

/// The problem if a MOVE overwrites and two documents may have the same name.
pub(super) fn unfit(server: &Server, folder: &RemoteFolder) -> Option<String> {
    let what = "it replaces a file although it is told not to (Overwrite: F)";
    remote::unfit(folder).map(|advice| server.client.named(&format!("{what}: {advice}")))
}

/// Names for the two files of a check.
pub(super) fn names(server: &Server, folder: &RemoteFolder) -> Result<[String; 2], Outcome> {
    let number = getrandom::u64().map_err(|_| {
        Outcome::transient(Code::word("no_chance"), server.client.named("the system has no random numbers"))
    })?;
    Ok(["a", "b"].map(|end| below(&folder.path, &format!("{CHECK}{number:016x}-{end}.tmp"))))
}

/// Removes files of interrupted checks that are older, by the server's clock, than any check lasts. What cannot be
/// listed or removed stays.
pub(super) async fn sweep(server: &Server, folder: &RemoteFolder) {
    let listed = async {
        let answer = server.ask("PROPFIND", &format!("{}/", folder.path), &[("depth", "1")]).await.ok()?;
        let now = httpdate::parse_http_date(answer.headers.get("date")?.to_str().ok()?).ok()?;
        Some((answer.content(LIST as u64, LIST).await.beginning, now))
    };
    let limit = server.client.connection().timeout;
    let Ok(Some((list, now))) = tokio::time::timeout(limit, listed).await else { return };
    for Entry { name, modified, .. } in properties::files(&String::from_utf8_lossy(&list)) {
        let modified = modified.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
        let age = modified.and_then(|modified| now.duration_since(modified).ok());
        let is_ours = name.starts_with(CHECK) && name.ends_with(".tmp");
        if is_ours && age.is_some_and(|age| age > SURELY_DEAD) {
            let _ = server.remove(&below(&folder.path, &name)).await;
        }
    }
}

/// Puts a file, reads it back and removes it.
async fn round_trip(server: &Server, name: &str) -> Result<(), String> {
    let content = b"docsyncd check, first\n";
    let tried = async {
        if !server.put(name, &mut Source::of_bytes(content.to_vec())).await.map_err(words)? {
            let words = "it says of a new name that something has it (412): it does not understand `If-None-Match: *`";
            return Err(server.client.named(words));
        }
        let expected = Digest::of(content);
        match remote::read_back(server, name, expected.size).await.map_err(words)? {
            Some(found) if found == expected => Ok(()),
            Some(_) => Err(server.client.named("it gives back something else than what was written")),
            None => Err(server.client.named("what was written, and accepted, is not seen there")),
        }
    };
    let tried = tried.await;
    // Whatever the result, nothing stays.
    let removed = server.remove(name).await;
    tried.and(removed.map_err(words))
}

fn words(outcome: Outcome) -> String {
    match outcome {
        Outcome::Transient { reason, .. }
        | Outcome::Unavailable { reason, .. }
        | Outcome::Unconfirmed { reason, .. }
        | Outcome::Permanent { reason, .. }
        | Outcome::NoRoom(reason) => reason,
        _ => "it does not work".to_owned(),
    }
}

//! Tests a folder on a server with files of docsyncd's own: a write, a look at what was written, a rename, and a rename
//! to a taken name.

use super::{Desk, Remote, Renamed, Source, below, doubts, find_root, read_back};
use crate::destinations::files::Digest;
use crate::destinations::{CHECK_LIMIT, Checked, Outcome, RemoteFolder};
use crate::domain::failure::Code;

/// The start and end of the names of its files.
const NAMES: (&str, &str) = (".docsyncd-check-", ".tmp");
/// Far longer than a check lasts, in seconds.
const SURELY_DEAD: u64 = 10 * 60;

const FIRST: &[u8] = b"docsyncd check\n";
const OTHER: &[u8] = b"docsyncd check: other\n";

/// Runs all tests. `replaces` says that the server's renames overwrite, for a sentence that begins with the
/// destination.
///
/// # Errors
/// What does not work, and what to do.
pub(in crate::destinations) async fn check(
    remote: &dyn Remote,
    config: &RemoteFolder,
    replaces: &str,
) -> Result<Checked, String> {
    let checking = async {
        find_root(remote, config).await?;
        let overwrites = overwrites(remote, config, true).await?;
        Ok((overwrites, doubts(remote, config).await))
    };
    let checked = tokio::time::timeout(CHECK_LIMIT, checking).await.unwrap_or_else(|_| {
        let (name, limit) = (&config.name, CHECK_LIMIT.as_secs());
        let reason = format!("destination `{name}`: its server does not answer within {limit} s");
        Err(Outcome::transient(Code::word("no_answer"), reason))
    });
    let (overwrites, mut warnings) = checked.map_err(Outcome::into_reason)?;
    let mut notes = Vec::new();
    match unfit(config, replaces) {
        _ if !overwrites => notes.push("it refuses to overwrite".to_owned()),
        Some(wrong) => return Err(wrong),
        None => warnings.push(format!(
            "{replaces}: what is filed there has names of its own, but nothing keeps others from overwriting it"
        )),
    }
    Ok(Checked { notes, warnings })
}

impl Desk {
    /// Whether documents can be filed there, or why not: if two of them may have the same name, tests once whether the
    /// server overwrites.
    pub(in crate::destinations) async fn fits(
        &self,
        remote: &dyn Remote,
        config: &RemoteFolder,
        replaces: &str,
    ) -> Result<(), Outcome> {
        let Some(wrong) = unfit(config, replaces) else { return Ok(()) };
        match self.replaces(remote, config).await? {
            true => Err(Outcome::unavailable("overwrites", wrong)),
            false => Ok(()),
        }
    }

    /// Whether the server's renames replace what has the name; tested once.
    pub(in crate::destinations) async fn replaces(
        &self,
        remote: &dyn Remote,
        config: &RemoteFolder,
    ) -> Result<bool, Outcome> {
        self.overwrites.get_or_try_init(|| overwrites(remote, config, false)).await.copied()
    }
}

/// Advice if two documents may have the same name.
fn unfit(config: &RemoteFolder, replaces: &str) -> Option<String> {
    let is_shared = |sidecar: &crate::destinations::SidecarConfig| !sidecar.name.is_unique();
    let option = match config.file_name.is_unique() {
        false => "file_name",
        true if config.sidecar.as_ref().is_some_and(is_shared) => "sidecar_name",
        true => return None,
    };
    Some(format!(
        "destination `{}`: {replaces}: write {{{{ key }}}} or {{{{ document.uuid }}}} into `{option}`, so that no two documents can \
         have one name",
        config.name
    ))
}

/// Whether a rename replaces a file that already has the name. The daemon and the command `check` may test it at the
/// same time. `sweeps`: removes also what interrupted checks left, for which the whole folder is listed.
async fn overwrites(remote: &dyn Remote, config: &RemoteFolder, sweeps: bool) -> Result<bool, Outcome> {
    let number = getrandom::u64().map_err(|_| {
        let reason = format!("destination `{}`: the system has no random numbers", config.name);
        Outcome::transient(Code::word("no_chance"), reason)
    })?;
    let names = ["a", "b"].map(|end| format!("{}{number:016x}-{end}{}", NAMES.0, NAMES.1));
    let paths = names.each_ref().map(|name| below(&config.path, name));
    let tried = try_names(remote, config, sweeps.then_some(&names[0]), &paths).await;
    for path in &paths {
        let removed = remote.remove(path).await;
        if tried.is_ok() {
            removed?;
        }
    }
    tried.map_err(|outcome| of_no_document(&config.name, outcome))
}

/// The outcome of a delivery if the server failed this test: nothing of a document was sent.
pub(super) fn of_no_document(destination: &str, outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Permanent { code, .. } | Outcome::Own { code, .. } => {
            let words = "it refuses the files that test how it treats names (`.docsyncd-check-…`, `.docsyncd-…-look`)";
            let reason = format!("destination `{destination}`: {words}");
            Outcome::Unavailable { code, reason, retry_after: None }
        }
        outcome => outcome,
    }
}

/// Tries it with two files of its own at these paths. If the server refuses the taken name, tries a free one: if the
/// server refuses that too, it has another reason, and the result is unknown.
async fn try_names(
    remote: &dyn Remote,
    config: &RemoteFolder,
    sweep_by: Option<&String>,
    [one, other]: &[String; 2],
) -> Result<bool, Outcome> {
    let unavailable = |code, words: &str| Outcome::unavailable(code, format!("destination `{}`: {words}", config.name));
    for (path, content) in [(one, FIRST), (other, OTHER)] {
        let is_put = remote.put(path, &mut Source::of_bytes(content.to_vec())).await?;
        if !is_put {
            let words = "it says that names are taken that nothing has (names of a check's files)";
            return Err(unavailable("taken", words));
        }
    }
    let first = Digest::of(FIRST);
    match read_back(remote, one, first.size).await? {
        Some(found) if found == first => {}
        Some(_) => return Err(unavailable("not_as_sent", "the server holds something else than what was sent")),
        None => return Err(unavailable("not_seen", "what was sent, and accepted, is not seen there")),
    }
    if let Some(own_name) = sweep_by {
        sweep(remote, config, own_name).await;
    }
    // The server's answer decides nothing.
    let _ = remote.rename_new(one, other).await?;
    if read_back(remote, other, first.size).await?.as_ref() == Some(&first) {
        return Ok(true);
    }
    remote.remove(other).await?;
    match remote.rename_new(one, other).await? {
        Renamed::Refused(outcome) | Renamed::Missing(outcome) => return Err(outcome),
        Renamed::Done => {}
    }
    if read_back(remote, other, first.size).await? == Some(first) {
        return Ok(false);
    }
    let reason = format!("destination `{}`: the server says that it gave a file its name, and has not", config.name);
    Err(Outcome::transient(Code::word("not_renamed"), reason))
}

/// Removes files of interrupted checks that are older than any check lasts, by the server's clock, which the file of
/// this name shows. What cannot be listed or removed stays.
async fn sweep(remote: &dyn Remote, config: &RemoteFolder, own_name: &str) {
    let listed = remote.list(&config.path).await.ok().flatten().unwrap_or_default();
    let Some(now) = listed.iter().find(|file| file.name == own_name).and_then(|file| file.modified) else { return };
    for file in listed {
        let age = file.modified.map_or(0, |modified| now.saturating_sub(modified));
        if age > SURELY_DEAD && file.name.starts_with(NAMES.0) && file.name.ends_with(NAMES.1) {
            let _ = remote.remove(&below(&config.path, &file.name)).await;
        }
    }
}

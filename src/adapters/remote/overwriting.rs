//! Whether a server's rename replaces a file that already has the name, and where that does no harm.

use super::{Remote, Renamed, Source, read_back};
use crate::adapters::Outcome;
use crate::adapters::files::Digest;
use crate::config::RemoteFolder;
use crate::failure::Code;

const FIRST: &[u8] = b"docsyncd check\n";
const OTHER: &[u8] = b"docsyncd check: other\n";

/// Tries it with two files of its own at these paths, and removes them. If the server refuses the taken name, tries a
/// free one: if the server refuses that too, it has another reason, and the result is unknown.
pub(in crate::adapters) async fn overwrites(
    remote: &dyn Remote,
    destination: &str,
    paths: &[String; 2],
) -> Result<bool, Outcome> {
    let tried = try_names(remote, destination, paths).await;
    for path in paths {
        let removed = remote.remove(path).await;
        if tried.is_ok() {
            removed?;
        }
    }
    tried.map_err(|outcome| of_no_document(destination, outcome))
}

/// The outcome of a delivery if the server failed this test: nothing of a document was sent.
pub(super) fn of_no_document(destination: &str, outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Permanent { code, .. } | Outcome::Own { code, .. } => {
            let words = "it refuses the files with which it is tried what it does with names (`.docsyncd-check-…`, `.docsyncd-…-look`)";
            let reason = format!("destination `{destination}`: {words}");
            Outcome::Unavailable { code, reason, retry_after: None }
        }
        outcome => outcome,
    }
}

async fn try_names(remote: &dyn Remote, destination: &str, [one, other]: &[String; 2]) -> Result<bool, Outcome> {
    for (path, content) in [(one, FIRST), (other, OTHER)] {
        let is_put = remote.put(path, &mut Source::of_bytes(content.to_vec())).await?;
        if !is_put {
            let words = "it says of names that nothing has (of files of a check) that something has them";
            return Err(Outcome::unavailable("taken", format!("destination `{destination}`: {words}")));
        }
    }
    // The server's answer decides nothing.
    let _ = remote.rename_new(one, other).await?;
    if read_back(remote, other, FIRST.len() as u64).await? == Some(Digest::of(FIRST)) {
        return Ok(true);
    }
    remote.remove(other).await?;
    match remote.rename_new(one, other).await? {
        Renamed::Refused(outcome) | Renamed::Missing(outcome) => return Err(outcome),
        Renamed::Done => {}
    }
    if read_back(remote, other, FIRST.len() as u64).await? == Some(Digest::of(FIRST)) {
        return Ok(false);
    }
    let reason = format!("destination `{destination}`: the server says that it gave a file its name, and has not");
    Err(Outcome::transient(Code::word("not_renamed"), reason))
}

/// Advice if names are overwritten and two documents may have the same name.
pub(in crate::adapters) fn unfit(folder: &RemoteFolder) -> Option<String> {
    let shared = |option: &str| {
        format!(
            "write {{{{ key }}}} or {{{{ document.uuid }}}} into `{option}`, so that no two documents can have one name"
        )
    };
    if !folder.file_name.is_unique() {
        return Some(shared("file_name"));
    }
    let sidecar = folder.sidecar.as_ref()?;
    (!sidecar.name.is_unique()).then(|| shared("sidecar_name"))
}

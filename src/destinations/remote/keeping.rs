//! Whether a server puts a file where its name says.

use super::super::Outcome;
use super::super::files::Digest;
use super::probe::of_no_document;
use super::{Remote, Renamed, Source, read_back};
use crate::domain::failure::Code;

const CONTENT: &[u8] = b"docsyncd looks where a name leads\n";

/// Tries it with a file whose name is that of `temporary` followed by that of `path`, and removes the file. An
/// interrupted attempt is repeated with the same names. If the server does not take such a name, nothing is known, and
/// an importer is the likely reason.
pub(in crate::destinations) async fn keeps_names(
    remote: &dyn Remote,
    destination: &str,
    temporary: &str,
    path: &str,
) -> Result<bool, Outcome> {
    let stem = temporary.strip_suffix(".tmp").unwrap_or(temporary);
    let name = path.rsplit('/').next().unwrap_or(path);
    let (from, to) = (format!("{stem}-look.tmp"), format!("{stem}-look {name}.tmp"));
    let tried = async {
        // A file that is already there is from an earlier attempt.
        remote.put(&from, &mut Source::of_bytes(CONTENT.to_vec())).await?;
        let renamed = remote.rename_new(&from, &to).await?;
        let is_seen = read_back(remote, &to, CONTENT.len() as u64).await? == Some(Digest::of(CONTENT));
        let is_there_it_says = match renamed {
            Renamed::Done => true,
            // The file of an earlier attempt lies where this one would.
            Renamed::Refused(Outcome::Transient { code, .. }) => code == Code::Status(412),
            Renamed::Refused(_) | Renamed::Missing(_) => false,
        };
        Ok(is_seen || !is_there_it_says)
    };
    let tried = tried.await;
    // The end of the name for a server that takes the rest for something else.
    let cut = name.split([';', ',', '=', '&', '+', '?', '#', '%']).next().unwrap_or_default();
    for path in [from, to, format!("{stem}-look {cut}")] {
        let removed = remote.remove(&path).await;
        if tried.is_ok() {
            removed?;
        }
    }
    tried.map_err(|outcome| of_no_document(destination, outcome))
}

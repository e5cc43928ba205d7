//! Whether a server puts a file where its name says.

use super::super::Outcome;
use super::super::files::Digest;
use super::overwriting::of_no_document;
use super::{Remote, Renamed, Source, read_back};
use crate::failure::Code;

const CONTENT: &[u8] = b"docsyncd looks where a name leads\n";

/// Tries it with a file whose name ends with that of `path`, after that of `temporary`, and removes it. An attempt that
/// was cut off is made again with the same names. Where the server does not take such a name, nothing is known, and an
/// importer is what is likely.
pub(in crate::adapters) async fn keeps_names(
    remote: &dyn Remote,
    destination: &str,
    temporary: &str,
    path: &str,
) -> Result<bool, Outcome> {
    let stem = temporary.strip_suffix(".tmp").unwrap_or(temporary);
    let name = path.rsplit('/').next().unwrap_or(path);
    let (from, to) = (format!("{stem}-look.tmp"), format!("{stem}-look {name}.tmp"));
    let tried = async {
        // One that is there is that of an attempt before.
        remote.put(&from, &mut Source::of_bytes(CONTENT.to_vec())).await?;
        let renamed = remote.rename_new(&from, &to).await?;
        let is_seen = read_back(remote, &to, CONTENT.len() as u64).await? == Some(Digest::of(CONTENT));
        let is_there_it_says = match renamed {
            Renamed::Done => true,
            // The file of an attempt before lies where this one would.
            Renamed::Refused(Outcome::Transient { code, .. }) => code == Code::Status(412),
            Renamed::Refused(_) | Renamed::Missing(_) => false,
        };
        Ok(is_seen || !is_there_it_says)
    };
    let tried = tried.await;
    // Where the name ends for a server that takes a part of it for something else.
    let cut = name.split([';', ',', '=', '&', '+', '?', '#', '%']).next().unwrap_or_default();
    for path in [from, to, format!("{stem}-look {cut}")] {
        let removed = remote.remove(&path).await;
        if tried.is_ok() {
            removed?;
        }
    }
    tried.map_err(|outcome| of_no_document(destination, outcome))
}

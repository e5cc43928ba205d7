//! The name that a delivery would get, without creating anything.

use std::path::Path;

use super::super::{Planned, blocking, candidate, wording};
use super::{CHECK_LIMIT, FolderAdapter, place};
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::reservation::{Known, Place};

/// The name that the document would get, and whether it is taken.
pub(super) async fn plan(
    adapter: &FolderAdapter,
    uuid: &DocumentUuid,
    metadata: &Metadata,
    known: &Known,
) -> Result<Planned, String> {
    let config = &adapter.config;
    let metadata = wording::for_name(config.sidecar.as_ref(), metadata);
    let wanted = candidate::wanted(&config.file_name, &metadata, "KEY");
    let (within, file) = wanted.map_err(|error| format!("file_name: {error}"))?;
    let below = |root: &Path| candidate::parts(&within).fold(root.to_owned(), |folder, part| folder.join(part));
    let folder = below(&config.path);
    let root = {
        let copy = config.clone();
        blocking::run(adapter.claim(&format!("plan\0{uuid}")), CHECK_LIMIT, move || place::open_root(&copy)).await
    };
    let root = root.unwrap_or_else(|stuck| Err(adapter.stuck(stuck)));
    // Reserved names have all links resolved.
    let real = root.as_ref().map_or_else(|_| folder.clone(), |root| below(root));
    let (wanted, otherwise) =
        candidate::planned(uuid, &file, known, |name| Place::of(&real.join(name).to_string_lossy()));
    let path = folder.join(&wanted);
    let taken = match root {
        Ok(_) => {
            blocking::run(adapter.claim(&format!("plan\0{uuid}")), CHECK_LIMIT, move || {
                place::is_there(&path).unwrap_or(false)
            })
            .await
                == Ok(true)
        }
        Err(_) => false,
    };
    let shown = |name: String| folder.join(name).display().to_string();
    Ok(Planned { place: shown(wanted), otherwise: Some(shown(otherwise)), taken, problem: root.err() })
}

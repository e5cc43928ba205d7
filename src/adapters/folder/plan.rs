//! The name that a delivery would get, without creating anything.

use std::path::Path;

use super::super::Planned;
use super::super::blocking;
use super::super::candidate::planned;
use super::super::wording;
use super::{CHECK_LIMIT, FolderAdapter, place};
use crate::document::{DocumentUuid, Metadata};
use crate::name;
use crate::reservation::{Known, Place};
use crate::template::Context;

/// The name that the document would get, and whether it is taken.
pub(super) async fn plan(
    adapter: &FolderAdapter,
    uuid: &DocumentUuid,
    metadata: &Metadata,
    known: &Known,
) -> Result<Planned, String> {
    let config = &adapter.config;
    let metadata = wording::for_name(config.sidecar.as_ref(), metadata);
    let rendered = config.file_name.render(&Context::new(&metadata)).map_err(|error| format!("file_name: {error}"))?;
    let mut parts = name::relative_path(&rendered);
    let file = parts.pop().unwrap_or_else(|| name::UNKNOWN.to_owned());
    let below = |root: &Path| parts.iter().fold(root.to_owned(), |folder, part| folder.join(part));
    let folder = below(&config.path);
    let root = {
        let copy = config.clone();
        blocking::run(adapter.claim(&format!("plan\0{uuid}")), CHECK_LIMIT, move || place::open_root(&copy)).await
    };
    let root = root.unwrap_or_else(|stuck| Err(adapter.stuck(stuck)));
    // Reserved names have all links resolved.
    let real = root.as_ref().map_or_else(|_| folder.clone(), |root| below(root));
    let (wanted, otherwise) = planned(uuid, &file, known, |name| Place::of(&real.join(name).to_string_lossy()));
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

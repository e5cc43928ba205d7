//! What a delivery would be called, without making anything.

use std::fs;
use std::path::PathBuf;

use super::super::Planned;
use super::super::blocking;
use super::{CHECK_LIMIT, FolderAdapter, place};
use crate::config::FolderConfig;
use crate::document::{DocumentUuid, Metadata};
use crate::name;
use crate::template::Context;

/// The name that the document would get, and whether it is taken.
pub(crate) async fn plan(config: &FolderConfig, uuid: &DocumentUuid, metadata: &Metadata) -> Result<Planned, String> {
    let rendered = config.file_name.render(&Context::new(metadata)).map_err(|error| format!("file_name: {error}"))?;
    let mut parts = name::relative_path(&rendered);
    let file = parts.pop().unwrap_or_else(|| name::UNKNOWN.to_owned());
    let folder = parts.iter().fold(config.path.clone(), |folder, part| folder.join(part));
    let wanted = folder.join(&file);
    let otherwise = folder.join(name::with_suffix(&file, &uuid.short()));
    let adapter = FolderAdapter::new(config.clone());
    let (copy, path) = (config.clone(), wanted.clone());
    let look = move || (place::open_root(&copy).err(), is_there(&path));
    let looked = blocking::run(adapter.claim(&format!("plan\0{uuid}")), CHECK_LIMIT, look).await;
    let (problem, taken) = looked.unwrap_or_else(|stuck| (Some(adapter.stuck(stuck)), false));
    let shown = |path: PathBuf| path.display().to_string();
    Ok(Planned { place: shown(wanted), otherwise: Some(shown(otherwise)), taken, problem })
}

fn is_there(path: &std::path::Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

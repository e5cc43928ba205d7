//! `type = "folder"`

use std::path::Path;

use crate::config::paths::same;
use crate::config::{Config, Destination};
use crate::destinations::settings::confirm::Given;
use crate::destinations::settings::sidecar::SidecarConfig;
use crate::destinations::settings::*;

settings! {
    /// Its own values in `[destinations.NAME]`.
    "destinations.*." FolderKeys {
        file_mode: Option<u32>, Kind::Mode { needs: 0o400, within: 0o777 }, "Unix permissions of files",
            default("0600");
        dir_mode: Option<u32>, Kind::Mode { needs: 0o700, within: 0o7777 }, "Unix permissions of new sub-folders",
            default("0700");
        reader: Option<String>, Kind::Text, "user or group that must be able to read what is filed; for `check`";
    }
}

/// How it is registered.
pub(crate) static KIND: DestinationKind = DestinationKind {
    word: "folder",
    keys: &[NAMED, FolderKeys::KEYS, FILED],
    check: |at| Some(Arc::new(folder(at)?)),
    presets: presets!("watched-folder", "flat-folder", "tomedo", "paperless-ngx", "ecodms", "mirth", "gdt"),
};

/// `type = "folder"`
#[derive(Debug, Clone)]
pub struct FolderConfig {
    /// NAME of the destination.
    pub name: String,
    /// The folder; it must exist, and is never created.
    pub path: PathBuf,
    /// The name of the PDF below `path`; its own slashes make sub-folders.
    pub file_name: Arc<Template>,
    /// A file below `path` that must be there.
    pub marker: Option<PathBuf>,
    /// The optional second file.
    pub sidecar: Option<SidecarConfig>,
    /// Unix permissions of the files.
    pub file_mode: u32,
    /// Unix permissions of sub-folders that docsyncd creates.
    pub dir_mode: u32,
    /// The user or group that must be able to read the filed documents.
    pub reader: Option<String>,
    /// What to do with a document that is not seen there after the ledger was restored.
    pub on_lost_reply: LostReply,
    /// What proves that the software there took a letter.
    pub confirm: Option<Confirm>,
}

impl Settings for FolderConfig {
    fn confirm(&self) -> Option<&Confirm> {
        self.confirm.as_ref()
    }

    fn folder(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn place(&self) -> Option<String> {
        Some(self.path.display().to_string())
    }

    /// An importer must not find files of docsyncd in its folder, and a letter for two destinations lies there once.
    fn fits(&self, config: &Config, at: &mut At<'_, '_>) {
        let spool = config.state.path.with_file_name("spool");
        if self.path.starts_with(&spool) {
            let what = "lies in docsyncd's own folder for downloads (`spool` beside `state.path`)";
            at.error("path", what, "Choose a folder that only the importer uses.");
        } else if config.state.path.starts_with(&self.path) {
            at.warn("path", "holds the ledger (`state.path`), which an importer could touch");
        }
        let is_twin = |other: &&Self| {
            other.name < self.name
                && same(&other.path, &self.path)
                && other.file_name.source() == self.file_name.source()
        };
        if let Some(other) = config.destinations.values().filter_map(Destination::of::<Self>).find(is_twin) {
            let what = format!(
                "is also that of `destinations.{}`, with the same `file_name`: each knows only what it put there itself, so a \
                 letter for both may be filed more than once",
                other.name
            );
            at.warn("path", &what);
        }
    }
}

fn folder(at: &mut At<'_, '_>) -> Option<FolderConfig> {
    let (mut raw, own): (SharedKeys, FolderKeys) = (at.read()?, at.read()?);
    let file_name = raw.file_name.take().and_then(|source| template(at, "file_name", TemplateKind::FileName, &source));
    let sidecar = sidecar::sidecar(at, &mut raw, file_name.as_deref());
    let marker = marker(at, raw.marker.take());
    let given = Given { file_name: file_name.as_ref(), sidecar: sidecar.as_ref() };
    let confirm = confirm::of_folder(at, &mut raw, &given);
    Some(FolderConfig {
        name: at.name(),
        path: at.path("path", &raw.path?),
        file_name: file_name?,
        marker,
        sidecar,
        file_mode: own.file_mode?,
        dir_mode: own.dir_mode?,
        reader: own.reader,
        on_lost_reply: raw.on_lost_reply.unwrap_or_default(),
        confirm,
    })
}

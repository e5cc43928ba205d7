//! `[destinations.NAME]`: one struct per type, templates compiled.

pub(crate) mod confirm;
pub(crate) mod record;
pub(crate) mod remote;
pub(crate) mod sidecar;
pub(crate) mod web;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use self::confirm::Given;
use crate::config::build::{At, Builder};
use crate::config::patients;
use crate::config::settings::{self, DestinationType};
use crate::config::validated::{CommandConfig, Destination, DestinationKind, FolderConfig};
use crate::destinations::{dicom, fhir, hl7v2, http, s3, smtp, vdds, webdav};
use crate::formats::template::{Template, TemplateKind};

const SECTION: &str = "destinations";

/// The destinations without errors.
pub fn build(builder: &mut Builder<'_>) -> Result<BTreeMap<String, Destination>, &'static str> {
    let mut destinations = BTreeMap::new();
    for (name, _) in builder.merged.tables(SECTION) {
        let raw = settings::Destination::read(builder.merged, Some(name))?;
        let expect_taken = raw.expect_taken.unwrap_or(false);
        let Some(kind) = kind(&mut builder.table(SECTION, name), raw) else { continue };
        // The identifier of the patient in such a service must agree with the practice's list.
        let looks_up = matches!(&kind, DestinationKind::Http(http) if http.lookup.is_some());
        let needs_number = builder.need_number.contains(name) || looks_up && patients::is_given(builder.merged);
        destinations.insert(name.to_owned(), Destination { name: name.to_owned(), kind, needs_number, expect_taken });
    }
    Ok(destinations)
}

fn kind(at: &mut At<'_, '_>, raw: settings::Destination) -> Option<DestinationKind> {
    Some(match raw.r#type? {
        DestinationType::Folder => DestinationKind::Folder(folder(at, raw)?),
        DestinationType::Command => DestinationKind::Command(command(at, raw)?),
        DestinationType::Sftp => DestinationKind::Sftp(remote::sftp(at, raw)?),
        DestinationType::Http => DestinationKind::Http(Box::new(http::settings::http(at, raw)?)),
        DestinationType::WebDav => DestinationKind::WebDav(Box::new(webdav::settings::webdav(at, raw)?)),
        DestinationType::S3 => DestinationKind::S3(Box::new(s3::s3(at, raw)?)),
        DestinationType::Fhir => DestinationKind::Fhir(Box::new(fhir::fhir(at, raw)?)),
        DestinationType::Hl7v2 => DestinationKind::Hl7v2(Box::new(hl7v2::hl7v2(at, raw)?)),
        DestinationType::Dicom => DestinationKind::Dicom(Box::new(dicom::dicom(at, raw)?)),
        DestinationType::Smtp => DestinationKind::Smtp(Box::new(smtp::smtp(at, raw)?)),
        DestinationType::Vdds => DestinationKind::Vdds(vdds::settings::vdds(at, raw)?),
    })
}

fn folder(at: &mut At<'_, '_>, mut raw: settings::Destination) -> Option<FolderConfig> {
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
        file_mode: raw.file_mode?,
        dir_mode: raw.dir_mode?,
        reader: raw.reader,
        on_lost_reply: raw.on_lost_reply.unwrap_or_default(),
        confirm,
    })
}

pub(crate) fn marker(at: &mut At<'_, '_>, marker: Option<PathBuf>) -> Option<PathBuf> {
    let is_below = |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
    if marker.as_ref().is_some_and(|path| !is_below(path)) {
        let fix = "Write the name of a file on the share, such as marker = \".docsyncd\".";
        at.error("marker", "is not a file below the destination's `path`", fix);
    }
    marker
}

fn command(at: &mut At<'_, '_>, raw: settings::Destination) -> Option<CommandConfig> {
    own_file(at, "program");
    let args: Vec<Option<Arc<Template>>> =
        raw.args.iter().map(|source| template(at, "args", TemplateKind::Argument, source)).collect();
    Some(CommandConfig {
        name: at.name(),
        program: program(at, raw.program?),
        args: args.into_iter().collect::<Option<_>>()?,
        timeout: raw.timeout?,
        on_lost_reply: raw.on_lost_reply.unwrap_or_default(),
    })
}

/// Refuses a `key` that names a program if others can write the configuration.
pub(crate) fn own_file(at: &mut At<'_, '_>, key: &str) {
    if let Some(command) = at.builder.mended_by.clone() {
        let fix = format!("Run {command}: whoever can write the file chooses what docsyncd runs.");
        at.error(key, "names a program, and somebody else can write this file", fix);
    }
}

/// A program name without a folder is looked up in PATH at run time.
pub(crate) fn program(at: &mut At<'_, '_>, program: PathBuf) -> PathBuf {
    let has_separator =
        program.components().count() > 1 || program.is_absolute() || Path::new(".").join(&program) == program;
    if has_separator { at.path("program", &program) } else { program }
}

pub(crate) fn template(at: &mut At<'_, '_>, key: &str, kind: TemplateKind, source: &str) -> Option<Arc<Template>> {
    let language = settings::Top::read(at.builder.merged, None).ok().and_then(|top| top.language);
    match Template::compile_in(language.unwrap_or_default(), kind, source) {
        Ok(template) => {
            if template.needs_number() {
                at.builder.need_number.insert(at.name());
                if !patients::is_given(at.builder.merged) {
                    let fix =
                        "Add a section [patients] with the practice's list of patients: docs/patients.md says how.";
                    let what = "needs the patient's number ({{ patient.number }}), and there is no [patients]";
                    at.error(key, what, fix);
                }
            }
            for doubt in template.doubts() {
                at.warn(key, doubt);
            }
            Some(Arc::new(template))
        }
        Err(error) => {
            let what = format!("is not a template that works: {error}");
            let fix =
                "Variables stand in double braces, as in {{ patient.lastName }} or {{ document.createdAt | date }}.";
            at.refuse(key, &what, fix)
        }
    }
}

//! `[destinations.NAME]`: one struct per type, templates compiled.

mod confirm;
mod dicom;
mod fhir;
mod hl7v2;
mod http;
mod lookup;
mod record;
mod remote;
mod s3;
mod sidecar;
mod smtp;
mod vdds;
mod web;
mod webdav;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use self::confirm::Given;
use super::build::Builder;
use super::patients;
use super::settings::{self, DestinationType};
use super::validated::{CommandConfig, Destination, DestinationKind, FolderConfig, LostReply};
use crate::template::{Template, TemplateKind};

const SECTION: &str = "destinations";

/// The destinations without errors.
pub fn build(builder: &mut Builder<'_>) -> Result<BTreeMap<String, Destination>, &'static str> {
    let mut destinations = BTreeMap::new();
    for (name, _) in builder.merged.tables(SECTION) {
        let (name, destination) = (name.to_owned(), settings::Destination::read(builder.merged, Some(name))?);
        let expect_taken = destination.expect_taken.unwrap_or(false);
        let kind = match destination.r#type {
            Some(DestinationType::Folder) => folder(&name, destination, builder).map(DestinationKind::Folder),
            Some(DestinationType::Command) => command(&name, destination, builder).map(DestinationKind::Command),
            Some(DestinationType::Sftp) => remote::sftp(&name, destination, builder).map(DestinationKind::Sftp),
            Some(DestinationType::Http) => {
                http::http(&name, destination, builder).map(Box::new).map(DestinationKind::Http)
            }
            Some(DestinationType::WebDav) => {
                webdav::webdav(&name, destination, builder).map(Box::new).map(DestinationKind::WebDav)
            }
            Some(DestinationType::S3) => s3::s3(&name, destination, builder).map(Box::new).map(DestinationKind::S3),
            Some(DestinationType::Fhir) => {
                fhir::fhir(&name, destination, builder).map(Box::new).map(DestinationKind::Fhir)
            }
            Some(DestinationType::Hl7v2) => {
                hl7v2::hl7v2(&name, destination, builder).map(Box::new).map(DestinationKind::Hl7v2)
            }
            Some(DestinationType::Dicom) => {
                dicom::dicom(&name, destination, builder).map(Box::new).map(DestinationKind::Dicom)
            }
            Some(DestinationType::Smtp) => {
                smtp::smtp(&name, destination, builder).map(Box::new).map(DestinationKind::Smtp)
            }
            Some(DestinationType::Vdds) => vdds::vdds(&name, destination, builder).map(DestinationKind::Vdds),
            None => None,
        };
        if let Some(kind) = kind {
            // The identifier of the patient in such a service must agree with the practice's list.
            let looks_up = matches!(&kind, DestinationKind::Http(http) if http.lookup.is_some());
            let needs_number = builder.need_number.contains(&name) || looks_up && patients::is_given(builder.merged);
            destinations.insert(name.clone(), Destination { name, kind, needs_number, expect_taken });
        }
    }
    Ok(destinations)
}

fn folder(name: &str, mut raw: settings::Destination, builder: &mut Builder<'_>) -> Option<FolderConfig> {
    let file_name =
        raw.file_name.take().and_then(|source| template(name, "file_name", TemplateKind::FileName, &source, builder));
    let sidecar = sidecar::sidecar(name, &mut raw, file_name.as_deref(), builder);
    let marker = marker(name, raw.marker.take(), builder);
    let given = Given { file_name: file_name.as_ref(), sidecar: sidecar.as_ref() };
    let confirm = confirm::of_folder(name, &mut raw, &given, builder);
    Some(FolderConfig {
        name: name.to_owned(),
        path: builder.path(SECTION, Some(name), "path", &raw.path?),
        file_name: file_name?,
        marker,
        sidecar,
        file_mode: raw.file_mode?,
        dir_mode: raw.dir_mode?,
        reader: raw.reader,
        confirm,
    })
}

fn marker(name: &str, marker: Option<PathBuf>, builder: &mut Builder<'_>) -> Option<PathBuf> {
    let is_below = |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
    if marker.as_ref().is_some_and(|path| !is_below(path)) {
        let fix = "Write the name of a file on the share, such as marker = \".docsyncd\".";
        builder.error(SECTION, Some(name), "marker", "is not a file below the destination's `path`", fix);
    }
    marker
}

/// The configured handling of lost answers.
fn lost_reply(word: Option<&str>) -> Option<LostReply> {
    word.map(|word| if word == "hold" { LostReply::Hold } else { LostReply::Resend })
}

fn command(name: &str, raw: settings::Destination, builder: &mut Builder<'_>) -> Option<CommandConfig> {
    own_file(name, "program", builder);
    let args: Vec<Option<Arc<Template>>> =
        raw.args.iter().map(|source| template(name, "args", TemplateKind::Argument, source, builder)).collect();
    Some(CommandConfig {
        name: name.to_owned(),
        program: program(name, raw.program?, builder),
        args: args.into_iter().collect::<Option<_>>()?,
        timeout: raw.timeout?,
        on_lost_reply: lost_reply(raw.on_lost_reply.as_deref()).unwrap_or(LostReply::Resend),
    })
}

/// Refuses a `key` that names a program if others can write the configuration.
fn own_file(name: &str, key: &str, builder: &mut Builder<'_>) {
    if let Some(command) = builder.mended_by.clone() {
        let fix = format!("Run {command}: whoever can write the file chooses what docsyncd runs.");
        builder.error(SECTION, Some(name), key, "names a program, and somebody else can write this file", fix);
    }
}

/// A program name without a folder is looked up in PATH at run time.
fn program(name: &str, program: PathBuf, builder: &mut Builder<'_>) -> PathBuf {
    let has_separator =
        program.components().count() > 1 || program.is_absolute() || Path::new(".").join(&program) == program;
    if has_separator { builder.path(SECTION, Some(name), "program", &program) } else { program }
}

fn template(
    destination: &str,
    key: &str,
    kind: TemplateKind,
    source: &str,
    builder: &mut Builder<'_>,
) -> Option<Arc<Template>> {
    match Template::compile(kind, source) {
        Ok(template) => {
            if template.needs_number() {
                builder.need_number.insert(destination.to_owned());
            }
            if template.needs_number() && !patients::is_given(builder.merged) {
                let fix = "Add a section [patients] with the practice's list of patients: docs/patients.md says how.";
                let what = "needs the patient's number ({{ patient.number }}), and there is no [patients]";
                builder.error(SECTION, Some(destination), key, what, fix);
            }
            for doubt in template.doubts() {
                builder.warn(SECTION, Some(destination), key, doubt);
            }
            Some(Arc::new(template))
        }
        Err(error) => {
            let what = format!("is not a template that works: {error}");
            let fix =
                "Variables stand in double braces, as in {{ patient.lastName }} or {{ document.createdAt | date }}.";
            builder.error(SECTION, Some(destination), key, &what, fix);
            None
        }
    }
}

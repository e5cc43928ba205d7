//! What kinds of destinations share of their settings: keys, types, checks. What one kind has alone is in its folder.

pub(crate) mod confirm;
pub(crate) mod keys;
pub(crate) mod record;
pub(crate) mod remote;
pub(crate) mod sidecar;
pub(crate) mod web;

use std::path::{Component, Path};

// What the settings of each kind are made of.
pub(crate) use std::path::PathBuf;
pub(crate) use std::sync::Arc;
pub(crate) use std::time::Duration;

pub(crate) use secrecy::SecretString;
pub(crate) use url::Url;

pub(crate) use self::keys::*;
pub(crate) use self::web::{WebConnection, connection, origin};
pub(crate) use crate::config::build::At;
pub(crate) use crate::config::schema::Kind;
use crate::config::settings::{Section as _, Top};
pub(crate) use crate::config::settings::{of_words, settings};
pub(crate) use crate::config::{CommonKeys, Confirm, DestinationKind, Secret, Settings, patients};
pub(crate) use crate::formats::template::{Template, TemplateKind};
pub(crate) use crate::system::tls::TlsFiles;

/// The choices of `setup` with these names.
macro_rules! presets {
    ($($name:literal),*) => {
        &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/config/presets/", $name, ".toml")))),*]
    };
}
pub(crate) use presets;

pub(crate) fn marker(at: &mut At<'_, '_>, marker: Option<PathBuf>) -> Option<PathBuf> {
    let is_below = |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
    if marker.as_ref().is_some_and(|path| !is_below(path)) {
        let fix = "Write the name of a file on the share, such as marker = \".docsyncd\".";
        at.error("marker", "is not a file below the destination's `path`", fix);
    }
    marker
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
    let language = Top::read(at.builder.merged, None).ok().and_then(|top| top.language);
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

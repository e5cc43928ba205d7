//! Whether a destination can hold a patient's number as it is, told before there is a letter of that patient. A
//! delivery decides by its own texts; here invented ones stand for them.

use std::path::Path;
use std::sync::Arc;

use super::{RemoteFolder, SidecarConfig, build};
use crate::config::Destination;
use crate::formats::template::{Context, Template};

/// Whether letters with a number can go to the destination. True if it needs no number.
pub fn holds_number(destination: &Destination) -> impl Fn(&str) -> bool + use<> {
    let adapter = build(destination, Path::new(""));
    move |number| adapter.holds_number(&Invented::of(number))
}

/// A letter of an invented patient with a number.
pub struct Invented {
    /// The values of templates.
    pub(super) context: Context,
}

impl Invented {
    fn of(number: &str) -> Self {
        Self { context: Context::sample_for(number) }
    }

    /// The text of a template; `None`: it would change the number.
    pub(super) fn text(&self, template: &Template) -> Option<String> {
        match template.render(&self.context) {
            Err(error) if error.changed().is_some() => None,
            text => Some(text.unwrap_or_default()),
        }
    }

    /// Whether none of these templates would change the number.
    pub(super) fn holds(&self, templates: &[&Arc<Template>]) -> bool {
        templates.iter().filter(|template| template.needs_number()).all(|template| self.text(template).is_some())
    }

    /// Whether a sidecar holds the number in its encoding.
    pub(super) fn sidecar(&self, config: Option<&SidecarConfig>) -> bool {
        config.is_none_or(|config| {
            let keeps = |number: &str| config.form.charset.keeps(number);
            let is_held = |text: String| self.context.held(&text, keeps).is_ok();
            self.holds(&[&config.name]) && self.text(&config.content).is_some_and(is_held)
        })
    }

    /// Whether the names and the sidecar in a folder on another machine hold the number.
    pub(super) fn in_folder(&self, folder: &RemoteFolder) -> bool {
        self.holds(&[&folder.file_name]) && self.sidecar(folder.sidecar.as_ref())
    }
}

#[cfg(test)]
mod tests;

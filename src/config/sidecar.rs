//! The configuration of the file beside a PDF.

use std::sync::Arc;

use crate::formats::sidecar::Form;
use crate::formats::template::Template;

/// The `sidecar` options of a folder.
#[derive(Debug, Clone)]
pub struct SidecarConfig {
    /// Its content.
    pub content: Arc<Template>,
    /// Its name, in the PDF's folder.
    pub name: Arc<Template>,
    /// The form of its text.
    pub form: Form,
    /// Whether the sidecar gets its name after the PDF.
    pub is_last: bool,
    /// The folder as the practice's computers see it.
    pub visible_path: Option<String>,
}

impl SidecarConfig {
    /// A sidecar without further options.
    pub fn new(content: Arc<Template>, name: Arc<Template>) -> Self {
        Self { content, name, form: Form::default(), is_last: false, visible_path: None }
    }

    /// Whether its name contains a counter.
    pub fn is_counted(&self) -> bool {
        self.name.mentions("number3")
    }

    /// Whether its content contains the PDF's name.
    pub fn names_the_pdf(&self) -> bool {
        ["file_name", "file_stem", "visible_file"].into_iter().any(|variable| self.content.mentions(variable))
    }
}

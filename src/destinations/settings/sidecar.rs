//! `sidecar`, `sidecar_name`, …, `visible_path`: the file beside a PDF.

use std::sync::Arc;

use super::keys::SharedKeys;
use super::template;
use crate::config::build::At;
use crate::domain::name;
use crate::formats::sidecar::{Charset, Fault, Form};
use crate::formats::template::{Context, Template, TemplateKind, TextFormat};

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

/// Options that mean nothing without a sidecar.
const OPTIONS: [&str; 7] = [
    "sidecar_name",
    "sidecar_format",
    "sidecar_encoding",
    "sidecar_newline",
    "sidecar_unmappable",
    "sidecar_after",
    "visible_path",
];

/// Takes the sidecar's settings out of `raw`.
pub(crate) fn sidecar(
    at: &mut At<'_, '_>,
    raw: &mut SharedKeys,
    file_name: Option<&Template>,
) -> Option<SidecarConfig> {
    let Some(content) = raw.sidecar.take() else {
        at.warn_of_given(&OPTIONS, "has no effect without `sidecar`");
        return None;
    };
    let name_source = raw.sidecar_name.take().unwrap_or_default();
    let name = template(at, "sidecar_name", TemplateKind::SidecarName, &name_source);
    // Formats have the names of their extensions; but a name that ends with .gdt says nothing about line lengths.
    let format = match raw.sidecar_format.take().as_deref() {
        Some("gdt") => TextFormat::Gdt,
        Some(format) => TextFormat::of_name(&format!(".{format}")),
        None => TextFormat::of_name(&name_source),
    };
    let content = template(at, "sidecar", TemplateKind::Text(format), &content);
    let form = Form {
        charset: raw.sidecar_encoding.take().and_then(|word| Charset::of_word(&word)).unwrap_or_default(),
        crlf: raw.sidecar_newline.take().as_deref() == Some("crlf"),
        transliterates: raw.sidecar_unmappable.take().as_deref() != Some("refuse"),
        is_gdt: format == TextFormat::Gdt,
    };
    let sidecar = SidecarConfig {
        content: content?,
        name: name?,
        form,
        is_last: raw.sidecar_after.unwrap_or(false),
        visible_path: raw.visible_path.take(),
    };
    refuse(at, file_name, &sidecar);
    Some(sidecar)
}

/// Refuses impossible settings, tested with an example.
fn refuse(at: &mut At<'_, '_>, file_name: Option<&Template>, sidecar: &SidecarConfig) {
    let mut wrong = |key: &str, what: &str, fix: &str| at.error(key, what, fix);
    let charset = sidecar.form.charset;
    if sidecar.form.is_gdt && charset.in_gdt().is_none() {
        let what = format!("is \"{}\", which GDT 2.1 has no word for", charset.word());
        let fix = "Write sidecar_encoding = \"windows-1252\", \"iso-8859-1\" or \"cp437\": as the practice software reads it.";
        wrong("sidecar_encoding", &what, fix);
        return;
    }
    match (sidecar.content.mentions("visible_file"), &sidecar.visible_path) {
        (true, None) => {
            let fix = "Write the folder as the practice's computers see it: visible_path = '\\\\SRV\\letters'.";
            wrong("sidecar", "uses {{ visible_file }}, and there is no `visible_path`", fix);
        }
        (false, Some(_)) => {
            at.warn("visible_path", "has no effect, as `sidecar` does not use {{ visible_file }}");
        }
        _ => {}
    }
    let rendered = file_name.and_then(|file_name| file_name.render(&Context::sample("")).ok());
    let pdf = rendered.and_then(|rendered| name::relative_path(&rendered).pop()).unwrap_or_default();
    let beside = sidecar.name.render(&Context::sample(&pdf)).map(|rendered| name::file_name(&rendered));
    let mut wrong = |key: &str, what: &str, fix: &str| at.error(key, what, fix);
    if !pdf.is_empty() && beside.is_ok_and(|beside| beside.eq_ignore_ascii_case(&pdf)) {
        let fix = "Give it another extension, as in {{ file_stem }}.xml.";
        wrong("sidecar_name", "gives the PDF's own name", fix);
    }
    if sidecar.visible_path.as_deref().is_some_and(|path| path.contains(char::is_control)) {
        wrong("visible_path", "holds a line end, or another sign that no path has", "Write the folder alone.");
    }
    // The example's values are plain letters: a character that cannot be written must be in a template.
    let seen = format!("{}\\{pdf}", sidecar.visible_path.as_deref().unwrap_or_default());
    let text = sidecar.content.render(&Context::sample(&pdf).with_visible_file(&seen));
    if let Ok(Err(fault)) = text.map(|text| sidecar.form.bytes(&text)) {
        let what = format!("cannot be written in {}: {fault}", charset.word());
        let fix = match fault {
            Fault::Lacks { .. } => "Write it in other letters there, or choose another `sidecar_encoding`.",
            _ => "Write lines such as 3101{{ patient.lastName }}.",
        };
        wrong("sidecar", &what, fix);
    }
    if sidecar.is_counted() && !sidecar.content.is_unique() {
        let what = "may be the same for two letters, of which `sidecar_name` counts the second then: write {{ file_name }} or \
                    {{ document.uuid }} into it";
        at.warn("sidecar", what);
    }
}

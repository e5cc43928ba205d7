//! Templates of file names, sidecars and arguments: minijinja, with every value made safe before it is inserted.
//!
//! Pure: no clock, no disk, no include. The target of the text ([`TemplateKind`]) decides what a value may contain.
//! This is enforced in the one place through which every value passes on its way into the text, so no filter,
//! concatenation, macro or loop circumvents it. The template's literal text is the administrator's and stays as it is.

mod collisions;
mod context;
mod csv;
mod dates;
mod environment;
mod fields;
mod gdt;
mod identifier;
mod json;
mod kind;
mod slices;
mod values;
mod variables;

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::sync::Arc;

use minijinja::{Environment, Error, ErrorKind, Value};

use crate::domain::name;
use crate::formats::language::Language;

pub use self::context::Context;
use self::environment::{environment, keeping};
pub use self::identifier::Changed;
use self::identifier::Identifier;
pub use self::kind::{TemplateKind, TextFormat};
pub(crate) use self::values::RESERVED;

/// Marks around a value while its position in the text is unknown. They are noncharacters (Unicode, section 23.7),
/// which no written value contains.
const BEGIN: char = '\u{fdd0}';
const END: char = '\u{fdd1}';

/// The largest text a template may produce, in bytes.
const MAX_NAME_BYTES: usize = 32 * 1024;
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// The longest template, in bytes.
const MAX_SOURCE_BYTES: usize = 256 * 1024;

/// What is wrong with a template. Never contains a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TemplateError {
    message: String,
    /// Set if the place of an identifier cannot hold it.
    changed: Option<Changed>,
}

impl TemplateError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), changed: None }
    }

    /// The identifier that cannot be written as it is, if that is what is wrong.
    pub fn changed(&self) -> Option<Changed> {
        self.changed
    }
}

impl From<Changed> for TemplateError {
    fn from(changed: Changed) -> Self {
        Self { message: changed.to_string(), changed: Some(changed) }
    }
}

/// A template that compiled and uses only existing variables. Cloning is cheap.
#[derive(Clone)]
pub struct Template {
    kind: TemplateKind,
    source: Arc<str>,
    paths: BTreeSet<String>,
    doubts: Vec<String>,
    environment: Arc<Environment<'static>>,
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template").field("kind", &self.kind).field("source", &self.source).finish_non_exhaustive()
    }
}

/// The data of a letter that is kept for ever.
const IDENTITY: [&str; 8] =
    ["key", "uuid", "size", "sha256", "account", "offset", "document.uuid", "document.pdf.uuid"];

/// The template's name in its environment; error messages omit it.
const NAME: &str = "template";

impl Template {
    /// Compiles `source`; its words are English. The error says what is wrong, in which line, and which known variable
    /// was probably meant.
    pub fn compile(kind: TemplateKind, source: &str) -> Result<Self, TemplateError> {
        Self::compile_in(Language::English, kind, source)
    }

    /// The same, with words of that language (`label`).
    pub fn compile_in(language: Language, kind: TemplateKind, source: &str) -> Result<Self, TemplateError> {
        if source.len() > MAX_SOURCE_BYTES {
            return Err(TemplateError::new(format!("the template is longer than {MAX_SOURCE_BYTES} bytes")));
        }
        let mut environment = environment(kind, language);
        environment.add_template_owned(NAME, source.to_owned()).map_err(|error| in_template(&error))?;
        let mut used = environment.get_template(NAME).map_err(|error| in_template(&error))?.undeclared_variables(true);
        if let Ok(template) = environment.template_from_str(&slices::as_items(source)) {
            used.extend(template.undeclared_variables(true));
        }
        for path in &used {
            variables::known(kind, source, path, &environment)?;
        }
        let doubts = variables::doubts(source, &used)?;
        variables::in_single_braces(kind, source)?;
        let mut template = Self {
            kind,
            source: source.into(),
            paths: used.into_iter().collect(),
            doubts,
            environment: Arc::new(environment),
        };
        // Filters, tests and functions are resolved only while rendering. So render without any value: the message
        // quotes its cause, and must not contain a value.
        match template.run(Value::from_pairs(Vec::<(&str, Value)>::new()), Vec::new()) {
            Err(error) if is_the_templates_fault(&error) => return Err(in_template(&error)),
            _ => {}
        }
        let sample = || template.run(Context::sample("file_name.pdf").value(), Vec::new());
        match kind {
            TemplateKind::Text(TextFormat::Gdt) => {
                sample().ok().map(|text| gdt::settle(&text)).transpose()?;
            }
            TemplateKind::Text(TextFormat::Plain) => {
                let doubt = sample().ok().and_then(|text| kind::doubt_of_plain(&text));
                template.doubts.extend(doubt);
            }
            kind if kind.is_json() => {
                let fault = sample().ok().and_then(|text| json::fault(&text));
                template.doubts.extend(fault.map(|fault| format!("gives no JSON ({fault})")));
            }
            _ => {}
        }
        if kind == TemplateKind::FileName {
            template.doubts.extend(collisions::doubt(&template));
        }
        Ok(template)
    }

    /// The text with the values of `context`. The error names the line and the kind of fault, but no value.
    pub fn render(&self, context: &Context) -> Result<String, TemplateError> {
        let text = self.run(context.value(), context.identifiers().to_vec()).map_err(|error| {
            if let Some(changed) = changed_in(&error) {
                return changed.into();
            }
            let what = match error.kind() {
                ErrorKind::WriteFailure => "the result is too long".to_owned(),
                kind => kind.to_string(),
            };
            TemplateError::new(at_line(&error, &what))
        })?;
        match self.kind {
            TemplateKind::Argument if text.strip_prefix(BEGIN).is_some_and(|text| text.starts_with('-')) => {
                context.held(&text, |identifier| !identifier.starts_with('-'))?;
                Err(TemplateError::new(
                    "a value begins with `-`, as options do: write it behind text, as in --name={{ … }}",
                ))
            }
            TemplateKind::Argument => Ok(text.replace(BEGIN, "")),
            TemplateKind::Text(TextFormat::Gdt) => gdt::settle(&text),
            TemplateKind::Text(TextFormat::Csv) => {
                let (settled, changed) = csv::settle(&text);
                changed.iter().try_for_each(|(before, after)| context.unchanged(before, after))?;
                Ok(settled)
            }
            TemplateKind::FileName | TemplateKind::RemoteName => {
                let parts = name::relative_path(&text);
                let file = parts.last().map_or("", String::as_str);
                let unchanged = |before: &str, after: &str| context.unchanged(before, after);
                let held = [name::kept(&text, &parts, unchanged), name::kept_with_suffix(file, unchanged)];
                // If the number is lost, a person decides, whatever else is lost.
                let lost = held.into_iter().filter_map(Result::err).max_by_key(|changed| changed.is_number);
                lost.map_or(Ok(text), |changed| Err(changed.into()))
            }
            TemplateKind::SidecarName => {
                name::kept(&text, &[name::file_name(&text)], |before, after| context.unchanged(before, after))?;
                Ok(text)
            }
            _ => Ok(text),
        }
    }

    /// The parts of the text before, between and after the places of the PDF in base64; one part if there is no place.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn render_around_pdf(&self, context: &Context) -> Result<Vec<String>, TemplateError> {
        let text = self.render(context)?;
        Ok(text.split(json::PDF).map(str::to_owned).collect())
    }

    /// The source of the template.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What is odd about the template; each text continues a sentence that begins with the template. For example:
    /// fields that the API's description does not have, invalid JSON, markup that is filled in as plain text, and file
    /// names that two patients or two documents can share.
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// Whether the result may contain something that no other document has: its uuid, the delivery's key, or, in a
    /// sidecar and its name, the name of its PDF.
    pub fn is_unique(&self) -> bool {
        const UNIQUE: [&str; 6] = ["key", "uuid", "document.uuid", "file_name", "file_stem", "visible_file"];
        self.paths.iter().any(|path| UNIQUE.contains(&path.as_str()))
    }

    /// Whether the result may contain something that no other version of the same document has, and no copy of it for
    /// another patient.
    pub fn is_per_version(&self) -> bool {
        self.paths.iter().any(|path| matches!(path.as_str(), "key" | "uuid"))
    }

    /// Whether the result may contain something that no other document has, whatever the PDF is called.
    pub fn is_per_document(&self) -> bool {
        self.is_per_version() || self.paths.contains("document.uuid")
    }

    /// Whether the result is the same for every document, apart from the PDF and what it is called.
    pub fn is_constant(&self) -> bool {
        self.paths.iter().all(|path| matches!(path.as_str(), "file_base64" | "file_name" | "file_stem"))
    }

    /// Whether the result may contain data of the patient.
    pub fn mentions_patient(&self) -> bool {
        self.mentions("patient")
    }

    /// Whether the result may contain, or depend on, the practice's number of the patient.
    pub fn needs_number(&self) -> bool {
        variables::need_number(&self.paths, &self.source)
    }

    /// Whether the result contains only data that is kept for ever.
    pub fn is_of_identity(&self) -> bool {
        self.paths.iter().all(|path| IDENTITY.contains(&path.as_str()))
    }

    /// Whether the result may contain this variable.
    pub fn mentions(&self, variable: &str) -> bool {
        self.paths.iter().any(|path| variables::top(path) == variable)
    }

    /// The variables of the template whose value is, or contains, a text for which `is_meant` is true:
    /// `patient.lastName`.
    pub fn variables_with(&self, context: &Context, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let mut found = BTreeSet::new();
        for path in &self.paths {
            let value = path.split('.').try_fold(context.value(), |value, part| value.get_attr(part).ok());
            values::paths_with(path, &value.unwrap_or(Value::UNDEFINED), &is_meant, &mut found);
        }
        found.into_iter().collect()
    }

    /// Values of CSV are still between their marks.
    fn run(&self, root: Value, identifiers: Vec<Identifier>) -> Result<String, Error> {
        let most = if self.kind.is_text() { MAX_TEXT_BYTES } else { MAX_NAME_BYTES };
        let mut out = Bounded { bytes: Vec::new(), most };
        let environment = keeping(&self.environment, self.kind, identifiers);
        environment.get_template(NAME)?.render_captured_to(root, &mut out)?;
        // Only whole strings are written to it.
        let text = String::from_utf8(out.bytes).map_err(|_| Error::from(ErrorKind::WriteFailure))?;
        Ok(match self.kind {
            kind if kind.is_json() => json::settle(&text),
            _ => text,
        })
    }
}

/// Whether no value can cause this error, so that it is found before there is a document.
fn is_the_templates_fault(error: &Error) -> bool {
    use ErrorKind::*;
    matches!(
        error.kind(),
        SyntaxError
            | UnknownFilter
            | UnknownTest
            | UnknownFunction
            | UnknownMethod
            | TemplateNotFound
            | BadInclude
            | TooManyArguments
            | MissingArgument
    ) || dates::is_bad_format(error)
}

/// The identifier that a value's place cannot hold.
fn changed_in(error: &Error) -> Option<Changed> {
    std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source())
        .find_map(|error| error.downcast_ref::<Changed>().copied())
}

/// A compile error in words. Its detail quotes only the template.
fn in_template(error: &Error) -> TemplateError {
    let what = match (error.kind(), error.detail()) {
        (ErrorKind::TemplateNotFound | ErrorKind::BadInclude, _) => "other templates cannot be included".to_owned(),
        (ErrorKind::UnknownFilter, Some(detail)) => format!("{detail}; there are {}", environment::FILTERS.join(", ")),
        (_, Some(detail)) => detail.to_owned(),
        (kind, None) => kind.to_string(),
    };
    TemplateError::new(at_line(error, &what))
}

fn at_line(error: &Error, what: &str) -> String {
    error.line().map_or_else(|| what.to_owned(), |line| format!("line {line}: {what}"))
}

/// Accepts up to `most` bytes and refuses more.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + text.len() > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests;

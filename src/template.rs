//! Templates of file names, sidecars and arguments: minijinja, with every value made safe before it is inserted.
//!
//! Pure: no clock, no disk, no include. What a value may do is decided by where it goes ([`TemplateKind`]), in the one
//! place through which every value passes on its way into the text, so that no filter, concatenation, macro or loop
//! gets around it. What stands literally in the template is the administrator's and is taken as it is.

mod collisions;
mod csv;
mod dates;
mod fields;
mod json;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Rest;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};

use crate::document::{Metadata, Record, RemoteIdentity, Spooled, short};

/// Where the text goes; this decides what a value may contain and what a missing one prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateKind {
    /// `file_name` of a folder: a path of which only the template's own slashes make folders. A missing, null or empty
    /// value prints `unknown`.
    FileName,
    /// `file_name` of a destination on another machine: as [`Self::FileName`], and the delivery's `key` and `uuid` are known.
    RemoteName,
    /// `sidecar_name` of a folder: as [`Self::FileName`], and the PDF's final name is known.
    SidecarName,
    /// One argument of a command. Control and bidirectional characters are dropped, the rest stands as it is. A
    /// missing, null or empty value prints `unknown`. A value never gives the argument a dash to begin with, which the
    /// program would take for an option: that is an error.
    Argument,
    /// The content of a sidecar. A missing value prints nothing, in JSON `null`: programs that read XML or INI expect
    /// an empty element or key, and `unknown` would be taken for a name.
    Text(TextFormat),
    /// The address of a destination: values are percent-encoded, so that only the template's own characters separate. A
    /// missing, null or empty value prints `unknown`.
    Url,
    /// The JSON that an HTTP destination is sent: as the content of a JSON sidecar, and `file_base64` stands for the PDF.
    JsonBody,
    /// One line for an HTTP destination, as of a header, a form, or an entry that is compared: as the content of a plain sidecar.
    Field,
}

impl TemplateKind {
    /// Whether the result is a text and no name: long, with lines of its own.
    fn is_text(self) -> bool {
        matches!(self, Self::Text(_) | Self::JsonBody | Self::Field)
    }

    fn is_json(self) -> bool {
        matches!(self, Self::Text(TextFormat::Json) | Self::JsonBody)
    }
}

/// How the values in a sidecar are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// One record a line (INI, GDT…): line breaks and control characters in a value become spaces, so that a value
    /// can never add a line.
    Plain,
    /// XML and HTML: escaped, and what XML 1.0 (section 2.2) forbids dropped.
    Xml,
    /// A value prints as a JSON value, strings with their quotes; inside a string of the template without them.
    Json,
    /// As [`Self::Plain`]; fields are quoted where they have to be, and no value begins a formula.
    Csv,
}

impl TextFormat {
    /// The format that a name's extension stands for: `.xml`, `.html`, `.htm`, `.xhtml`; `.json`; `.csv`; all others are
    /// plain.
    pub fn of_name(name: &str) -> Self {
        match name.rsplit_once('.').map(|(_, extension)| extension.trim().to_ascii_lowercase()).as_deref() {
            Some("xml" | "html" | "htm" | "xhtml") => Self::Xml,
            Some("json") => Self::Json,
            Some("csv") => Self::Csv,
            _ => Self::Plain,
        }
    }
}

/// Marks around a value as long as it is not known where it stands: noncharacters (Unicode, section 23.7), which no value
/// has after it was written.
const BEGIN: char = '\u{fdd0}';
const END: char = '\u{fdd1}';

/// The largest text a template may produce, in bytes.
const MAX_NAME_BYTES: usize = 32 * 1024;
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// The longest template, in bytes.
const MAX_SOURCE_BYTES: usize = 256 * 1024;

/// The most steps one rendering may take; an ordinary sidecar takes some hundreds.
const MAX_STEPS: u64 = 200_000;

/// What is not right with a template. Never contains a value that was to be inserted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TemplateError {
    message: String,
}

impl TemplateError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// A template that compiled and uses only variables that exist. Cloning is cheap.
#[derive(Clone)]
pub struct Template {
    kind: TemplateKind,
    source: Arc<str>,
    variables: BTreeSet<String>,
    is_unique: bool,
    is_per_version: bool,
    doubts: Vec<String>,
    environment: Arc<Environment<'static>>,
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template").field("kind", &self.kind).field("source", &self.source).finish_non_exhaustive()
    }
}

/// The template's name inside its environment; error messages leave it out.
const NAME: &str = "template";

impl Template {
    /// Compiles `source`. The error says in which line, what, and which known variable was probably meant.
    pub fn compile(kind: TemplateKind, source: &str) -> Result<Self, TemplateError> {
        if source.len() > MAX_SOURCE_BYTES {
            return Err(TemplateError::new(format!("the template is longer than {MAX_SOURCE_BYTES} bytes")));
        }
        let mut environment = environment(kind);
        environment.add_template_owned(NAME, source.to_owned()).map_err(|error| in_template(&error))?;
        let used = environment.get_template(NAME).map_err(|error| in_template(&error))?.undeclared_variables(true);
        for path in &used {
            known(kind, source, path, &environment)?;
        }
        let mut template = Self {
            kind,
            source: source.into(),
            is_unique: used
                .iter()
                .any(|path| matches!(path.as_str(), "key" | "uuid" | "document.uuid" | "file_name" | "file_stem")),
            is_per_version: used.iter().any(|path| matches!(path.as_str(), "key" | "uuid" | "document.pdf.uuid")),
            variables: used.iter().map(|path| top(path).to_owned()).collect(),
            doubts: used.iter().filter_map(|path| fields::doubt(path)).collect::<BTreeSet<_>>().into_iter().collect(),
            environment: Arc::new(environment),
        };
        // Filters, tests and functions are looked up while rendering: without any value, so that the message, which
        // quotes what it stumbled over, cannot contain one.
        match template.run(Value::from_pairs(Vec::<(&str, Value)>::new())) {
            Err(error) if is_the_templates_fault(&error) => return Err(in_template(&error)),
            _ => {}
        }
        if kind.is_json()
            && let Ok(text) = template.run(Context::sample("file_name.pdf").value())
            && let Some(fault) = json::fault(&text)
        {
            template.doubts.push(format!("gives no JSON ({fault})"));
        }
        if kind == TemplateKind::FileName {
            template.doubts.extend(collisions::doubt(&template));
        }
        Ok(template)
    }

    /// The text with the values of `context` in it. The error names the line and the kind of fault and no value.
    pub fn render(&self, context: &Context) -> Result<String, TemplateError> {
        let text = self.run(context.value()).map_err(|error| {
            let what = match error.kind() {
                ErrorKind::WriteFailure => "the result is too long".to_owned(),
                kind => kind.to_string(),
            };
            TemplateError::new(at_line(&error, &what))
        })?;
        match self.kind {
            TemplateKind::Argument if text.strip_prefix(BEGIN).is_some_and(|text| text.starts_with('-')) => {
                Err(TemplateError::new(
                    "a value begins with `-`, as options do: write it behind text, as in --name={{ … }}",
                ))
            }
            TemplateKind::Argument => Ok(text.replace(BEGIN, "")),
            _ => Ok(text),
        }
    }

    /// The pieces of text before, between and after the places where the PDF in base64 belongs; one where it belongs nowhere.
    ///
    /// # Errors
    /// As of [`Self::render`].
    pub fn render_around_pdf(&self, context: &Context) -> Result<Vec<String>, TemplateError> {
        let text = self.render(context)?;
        Ok(text.split(json::PDF).map(str::to_owned).collect())
    }

    /// The template as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What is odd about it, for a sentence that begins with it: fields of which the API gives nothing as far as its
    /// description says, JSON that is none, and names of files that two patients or two documents can get.
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// Whether something may stand in the result that no other document has: its uuid, the delivery's key, or, in a sidecar's
    /// name, that of its PDF.
    pub fn is_unique(&self) -> bool {
        self.is_unique
    }

    /// Whether something may stand in the result that no other version of the same document has either.
    pub fn is_per_version(&self) -> bool {
        self.is_per_version
    }

    /// Whether something of the patient may stand in the result.
    pub fn mentions_patient(&self) -> bool {
        self.mentions("patient")
    }

    /// Whether this variable may stand in the result.
    pub fn mentions(&self, variable: &str) -> bool {
        self.variables.contains(variable)
    }

    fn run(&self, root: Value) -> Result<String, Error> {
        let most = if self.kind.is_text() { MAX_TEXT_BYTES } else { MAX_NAME_BYTES };
        let mut out = Bounded { bytes: Vec::new(), most };
        self.environment.get_template(NAME)?.render_captured_to(root, &mut out)?;
        // Only whole strings are written to it.
        let text = String::from_utf8(out.bytes).map_err(|_| Error::from(ErrorKind::WriteFailure))?;
        Ok(match self.kind {
            kind if kind.is_json() => json::settle(&text),
            TemplateKind::Text(TextFormat::Csv) => csv::settle(&text),
            _ => text,
        })
    }
}

/// The values that templates see: `document`, `patient`, `user`, `account`, and what the adapter adds.
#[derive(Clone)]
pub struct Context {
    root: BTreeMap<&'static str, Value>,
}

impl Context {
    /// The records of a document. A field that is null counts as missing, so that `default` works for both.
    pub fn new(metadata: &Metadata) -> Self {
        let section = |record: &Record| values::from_record(record);
        let root = BTreeMap::from([
            ("document", section(&metadata.document)),
            ("patient", section(&metadata.patient)),
            ("user", section(&metadata.user)),
            ("account", Value::from(metadata.account.as_str())),
        ]);
        Self { root }
    }

    /// A document of which the API gave every field, whose PDF has this name.
    pub fn sample(pdf_name: &str) -> Self {
        fields::sample(pdf_name)
    }

    /// Adds `file`, which an argument shows exactly as it is.
    pub fn with_file(mut self, path: &str) -> Self {
        self.root.insert("file", Value::from_safe_string(path.to_owned()));
        self
    }

    /// Adds what a delivery is called at another machine, which recognises its repetition by it: `key` and `uuid`.
    pub fn with_identity(mut self, key: &str) -> Self {
        self.root.insert("key", Value::from(key));
        self.root.insert("uuid", Value::from(RemoteIdentity::of_key(key).uuid()));
        self
    }

    /// Adds what a sidecar may say of its PDF: `file_name` and `file_stem` (its final name), `size`, `sha256`, `key`, `uuid`.
    pub fn with_pdf(mut self, file_name: &str, pdf: &Spooled, key: &str) -> Self {
        self.root.insert("file_name", Value::from(file_name));
        self.root.insert("file_stem", Value::from(crate::name::stem(file_name)));
        self.root.insert("size", Value::from(pdf.size));
        self.root.insert("sha256", Value::from(pdf.sha256.as_str()));
        self.with_identity(key)
    }

    /// Adds `lookup`: what the destination calls the patient.
    pub fn with_lookup(mut self, found: &serde_json::Value) -> Self {
        self.root.insert("lookup", values::from_json(found));
        self
    }

    /// Adds `offset`: how many entries of a list came before.
    pub fn with_offset(mut self, offset: u64) -> Self {
        self.root.insert("offset", Value::from(offset));
        self
    }

    /// Adds `file_base64`, for which [`Template::render_around_pdf`] leaves a place.
    pub fn with_pdf_in_base64(mut self) -> Self {
        self.root.insert("file_base64", json::pdf_in_base64());
        self
    }

    fn value(&self) -> Value {
        Value::from_pairs(self.root.iter().map(|(name, value)| (*name, value.clone())))
    }
}

/// What a request to an HTTP destination may say, and more.
macro_rules! of_a_request {
    ($($more:literal)?) => {
        &["document", "patient", "user", "account", "file_name", "file_stem", "size", "sha256", "key", "uuid", "lookup", $($more)?]
    };
}

fn variables(kind: TemplateKind) -> &'static [&'static str] {
    match kind {
        TemplateKind::FileName => &["document", "patient", "user", "account"],
        TemplateKind::RemoteName => &["document", "patient", "user", "account", "key", "uuid"],
        TemplateKind::Argument => &["document", "patient", "user", "account", "file"],
        TemplateKind::SidecarName | TemplateKind::Text(_) => {
            &["document", "patient", "user", "account", "file_name", "file_stem", "size", "sha256", "key", "uuid"]
        }
        TemplateKind::Field => of_a_request!(),
        TemplateKind::Url => of_a_request!("offset"),
        TemplateKind::JsonBody => of_a_request!("file_base64"),
    }
}

fn environment(kind: TemplateKind) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_fuel(Some(MAX_STEPS));
    environment.set_debug(false);
    // Lines of a sidecar matter, the last one's end too; a name has no use for the end of a multi-line string.
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(kind.is_text()).build() {
        environment.set_syntax(syntax);
    }
    environment.remove_global("debug");
    environment.set_auto_escape_callback(move |_| match kind {
        TemplateKind::Text(TextFormat::Xml) => AutoEscape::Html,
        kind if kind.is_json() => AutoEscape::Json,
        _ => AutoEscape::None,
    });
    environment.set_formatter(move |out, state, value| match kind {
        kind if kind.is_json() => json::write(out, value),
        kind => {
            let is_file = || state.lookup("file").is_some_and(|file| value.is_safe() && file == *value);
            values::write(kind, out, value, is_file)
        }
    });
    environment.add_filter("date", dates::date);
    environment.add_filter("short", |value: &Value| values::text(value).map(|text| short(&text)));
    environment.add_filter("truncate", |value: &Value, length: usize| {
        values::text(value).map(|text| text.chars().take(length).collect::<String>())
    });
    environment.add_filter("default", or_default);
    environment.add_filter("d", or_default);
    environment
}

/// The first argument in place of a value that is missing or empty: to the person who writes a template both are "not
/// there".
fn or_default(value: &Value, other: Rest<Value>) -> Value {
    if values::is_missing(value) { other.first().cloned().unwrap_or(Value::UNDEFINED) } else { value.clone() }
}

fn top(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

fn known(kind: TemplateKind, source: &str, path: &str, environment: &Environment<'_>) -> Result<(), TemplateError> {
    let name = top(path);
    let variables = variables(kind);
    let line = line_of(source, name);
    if path.starts_with("account.") {
        return Err(TemplateError::new(format!(
            "line {line}: `account` is the account's name and has no fields: write {{{{ account }}}}"
        )));
    }
    if variables.contains(&name) || environment.globals().any(|(global, _)| global == name) {
        return Ok(());
    }
    let nearest = variables
        .iter()
        .map(|known| (strsim::jaro_winkler(known, name), known))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = match nearest {
        Some((_, known)) => format!("did you mean `{known}`?"),
        None => format!("known are {}", variables.join(", ")),
    };
    Err(TemplateError::new(format!("line {line}: there is no variable `{name}`: {hint}")))
}

/// The line in which `word` first stands as a whole word; 1 when it is not found.
fn line_of(source: &str, word: &str) -> usize {
    let has_word = |line: &str| line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|part| part == word);
    source.lines().position(has_word).map_or(1, |index| index + 1)
}

/// Faults that no value can cause, so that they are found before a document is.
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

/// A compile error in words; its detail quotes the template only.
fn in_template(error: &Error) -> TemplateError {
    let what = match (error.kind(), error.detail()) {
        (ErrorKind::TemplateNotFound | ErrorKind::BadInclude, _) => "other templates cannot be included".to_owned(),
        (_, Some(detail)) => detail.to_owned(),
        (kind, None) => kind.to_string(),
    };
    TemplateError::new(at_line(error, &what))
}

fn at_line(error: &Error, what: &str) -> String {
    error.line().map_or_else(|| what.to_owned(), |line| format!("line {line}: {what}"))
}

/// Takes up to `most` bytes and refuses the rest.
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
mod tests;

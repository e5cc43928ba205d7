//! The target of a template's text, and how values are made safe for it.

/// The target of the text. It decides what a value may contain and what a missing value becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateKind {
    /// `file_name` of a folder: a path in which only the template's own slashes create folders. A missing, null or
    /// empty value becomes `unknown`.
    FileName,
    /// `file_name` of a destination on another machine: as [`Self::FileName`], with the delivery's `key` and `uuid`.
    RemoteName,
    /// `sidecar_name` of a folder: as [`Self::FileName`], with the PDF's final name.
    SidecarName,
    /// One argument of a command. Control and bidirectional characters are dropped; the rest stays. A missing, null or
    /// empty value becomes `unknown`. If a value gives the argument a leading dash, which the program would take for an
    /// option, that is an error.
    Argument,
    /// The content of a sidecar. A missing value becomes empty, in JSON `null`: programs that read XML or INI expect an
    /// empty element or key, and would take `unknown` for a name.
    Text(TextFormat),
    /// The address of a destination. Values are percent-encoded, so that only the template's own characters separate. A
    /// missing, null or empty value becomes `unknown`.
    Url,
    /// A search on a FHIR server: as [`Self::Url`], with `patient_id`.
    Search,
    /// The JSON body for an HTTP destination: as the content of a JSON sidecar, with `file_base64` for the PDF.
    JsonBody,
    /// One line for an HTTP destination, for example of a header, a form, or an entry for comparison: as the content of
    /// a plain sidecar.
    Field,
}

impl TemplateKind {
    /// Whether the result is a text, and not a name: long, and with several lines.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Text(_) | Self::JsonBody | Self::Field)
    }

    pub(super) fn is_json(self) -> bool {
        matches!(self, Self::Text(TextFormat::Json) | Self::JsonBody)
    }
}

/// How the values in a sidecar are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// One record per line (INI and others). Line breaks and control characters in a value become spaces, so that a
    /// value cannot add a line.
    Plain,
    /// XML and HTML: escaped, without characters that XML 1.0 (section 2.2) forbids.
    Xml,
    /// A value is written as a JSON value, strings with their quotes; within a string of the template without them.
    Json,
    /// As [`Self::Plain`], but each line begins with the four digits of a field, which come from the template.
    Gdt,
    /// As [`Self::Plain`], but fields are quoted if necessary, and no value begins a formula.
    Csv,
}

impl TextFormat {
    /// The format by the extension of a name: `.xml`, `.html`, `.htm`, `.xhtml`; `.json`; `.csv`; all others are plain.
    pub fn of_name(name: &str) -> Self {
        match name.rsplit_once('.').map(|(_, extension)| extension.trim().to_ascii_lowercase()).as_deref() {
            Some("xml" | "html" | "htm" | "xhtml") => Self::Xml,
            Some("json") => Self::Json,
            Some("csv") => Self::Csv,
            _ => Self::Plain,
        }
    }
}

/// What is odd about a plain text: it looks like a format in which values must be escaped.
pub(super) fn doubt_of_plain(text: &str) -> Option<String> {
    let mut letters = text.chars().filter(|c| !c.is_whitespace());
    let begin = (letters.next(), letters.next());
    let is_element = text.contains("</") || text.contains("/>");
    let (what, breaks, format) = match begin {
        (Some('<'), Some('?' | '!' | 'a'..='z' | 'A'..='Z')) if is_element => ("XML", "& or <", "xml"),
        // A section of an INI file begins with a bracket, too.
        (Some('{'), Some('"' | '}')) | (Some('['), Some('{' | '[' | '"')) => ("JSON", "a quotation mark", "json"),
        _ => return None,
    };
    Some(format!(
        "looks like {what} and is filled in as plain text, so that a name with {breaks} breaks it: write sidecar_format = \"{format}\""
    ))
}

//! Where the text of a template goes, and how values are made safe there.

/// Where the text goes; this decides what a value may contain and what a missing one prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateKind {
    /// `file_name` of a folder: a path of which only the template's own slashes make folders. A missing, null or empty
    /// value prints `unknown`.
    FileName,
    /// `file_name` of a destination on another machine: as [`Self::FileName`], and the delivery's `key` and `uuid` are
    /// known.
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
    /// A search of a FHIR server: as [`Self::Url`], and `patient_id` is known.
    Search,
    /// The JSON that an HTTP destination is sent: as the content of a JSON sidecar, and `file_base64` stands for the
    /// PDF.
    JsonBody,
    /// One line for an HTTP destination, as of a header, a form, or an entry that is compared: as the content of a
    /// plain sidecar.
    Field,
}

impl TemplateKind {
    /// Whether the result is a text and no name: long, with lines of its own.
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
    /// One record a line (INI, GDT…): line breaks and control characters in a value become spaces, so that a value
    /// can never add a line.
    Plain,
    /// XML and HTML: escaped, and what XML 1.0 (section 2.2) forbids dropped.
    Xml,
    /// A value prints as a JSON value, strings with their quotes; inside a string of the template without them.
    Json,
    /// As [`Self::Plain`]; each line begins with the four digits of a field, which no value gives.
    Gdt,
    /// As [`Self::Plain`]; fields are quoted where they have to be, and no value begins a formula.
    Csv,
}

impl TextFormat {
    /// The format that a name's extension stands for: `.xml`, `.html`, `.htm`, `.xhtml`; `.json`; `.csv`; all others
    /// are plain.
    pub fn of_name(name: &str) -> Self {
        match name.rsplit_once('.').map(|(_, extension)| extension.trim().to_ascii_lowercase()).as_deref() {
            Some("xml" | "html" | "htm" | "xhtml") => Self::Xml,
            Some("json") => Self::Json,
            Some("csv") => Self::Csv,
            _ => Self::Plain,
        }
    }
}

/// What is odd about a plain text: it looks like one of a format in which values have to be made safe in another way.
pub(super) fn doubt_of_plain(text: &str) -> Option<String> {
    let mut letters = text.chars().filter(|c| !c.is_whitespace());
    let begin = (letters.next(), letters.next());
    let is_element = text.contains("</") || text.contains("/>");
    let (what, breaks, format) = match begin {
        (Some('<'), Some('?' | '!' | 'a'..='z' | 'A'..='Z')) if is_element => ("XML", "& or <", "xml"),
        // A section of an INI file begins with a bracket too.
        (Some('{'), Some('"' | '}')) | (Some('['), Some('{' | '[' | '"')) => ("JSON", "a quotation mark", "json"),
        _ => return None,
    };
    Some(format!(
        "looks like {what} and is filled in as plain text, so that a name with {breaks} breaks it: write sidecar_format = \"{format}\""
    ))
}

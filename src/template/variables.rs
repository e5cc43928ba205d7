//! Which variables there are, by where the text goes.

use std::collections::HashSet;

use minijinja::Environment;

use super::{TemplateError, TemplateKind};

/// Whether there is the variable that a path begins with; the error says which was probably meant.
pub(super) fn known(
    kind: TemplateKind,
    source: &str,
    path: &str,
    environment: &Environment<'_>,
) -> Result<(), TemplateError> {
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

/// Whether the practice's number of the patient is used. Where the patient is used as a whole, as in `{% set p = patient %}{{ p.number }}`, the
/// word tells.
pub(super) fn need_number(used: &HashSet<String>, source: &str) -> bool {
    let is_number = |path: &String| path == "patient.number" || path.starts_with("patient.number.");
    used.iter().any(is_number) || (used.contains("patient") && has_word(source, "number"))
}

/// The variable that a path begins with.
pub(super) fn top(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// What may be said beside a PDF that has its name, and more.
macro_rules! of_a_pdf {
    ($($more:literal),*) => {
        &["document", "patient", "user", "account", "file_name", "file_stem", "size", "sha256", "key", "uuid", $($more),*]
    };
}

fn variables(kind: TemplateKind) -> &'static [&'static str] {
    match kind {
        TemplateKind::FileName => &["document", "patient", "user", "account"],
        TemplateKind::RemoteName => &["document", "patient", "user", "account", "key", "uuid"],
        TemplateKind::Argument => &["document", "patient", "user", "account", "file"],
        TemplateKind::SidecarName => of_a_pdf!("number3"),
        TemplateKind::Text(_) => of_a_pdf!("visible_file"),
        TemplateKind::Field => of_a_pdf!("lookup"),
        TemplateKind::Url => of_a_pdf!("lookup", "offset"),
        TemplateKind::Search => &["document", "patient", "user", "account", "patient_id"],
        TemplateKind::JsonBody => of_a_pdf!("lookup", "file_base64"),
    }
}

/// The line in which `word` first stands as a whole word; 1 when it is not found.
fn line_of(source: &str, word: &str) -> usize {
    source.lines().position(|line| has_word(line, word)).map_or(1, |index| index + 1)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|part| part == word)
}

//! The variables of each kind of template.

use std::collections::{BTreeSet, HashSet};

use minijinja::Environment;

use super::{TemplateError, TemplateKind, fields};

/// Checks that the first variable of a path exists. The error says which one was probably meant.
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

/// What is odd about the used fields. A field that the API does not describe needs a `default` wherever it is used.
///
/// # Errors
/// The field has none. The error says which field was probably meant, or which there are.
pub(super) fn doubts(source: &str, used: &HashSet<String>) -> Result<Vec<String>, TemplateError> {
    let mut doubts = BTreeSet::new();
    for path in used {
        match fields::doubt(path) {
            Ok(doubt) => doubts.extend(doubt),
            Err(_) if has_default(source, path) => {}
            Err(unknown) => {
                let line = line_of(source, path.rsplit('.').next().unwrap_or(path));
                return Err(TemplateError::new(format!("line {line}: there is no field `{path}`: {unknown}")));
            }
        }
    }
    Ok(doubts.into_iter().collect())
}

/// Whether a `default` follows the path within its braces wherever it stands.
fn has_default(source: &str, path: &str) -> bool {
    source.contains(path)
        && source.match_indices(path).all(|(at, _)| {
            let behind = source.get(at + path.len()..).unwrap_or_default();
            has_word(behind.split('}').next().unwrap_or_default(), "default")
        })
}

/// Refuses a variable in single braces, where it is plain text. The error shows the correct form.
pub(super) fn in_single_braces(kind: TemplateKind, source: &str) -> Result<(), TemplateError> {
    for (number, line) in source.lines().enumerate() {
        for (at, _) in line.match_indices('{') {
            let inside = line.get(at + 1..).unwrap_or_default();
            let doubled = line.get(..at).is_some_and(|text| text.ends_with('{'));
            let Some((inside, after)) = inside.split_once('}') else { continue };
            let word =
                inside.trim_start().split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
            let is_meant = !inside.contains(['{', '"', ':']) && variables(kind).contains(&word);
            if is_meant && !doubled && !after.starts_with('}') {
                let inside = inside.trim();
                return Err(TemplateError::new(format!(
                    "line {}: `{{{inside}}}` is filled in between double braces only: write {{{{ {inside} }}}}",
                    number + 1
                )));
            }
        }
    }
    Ok(())
}

/// Whether the practice's number of the patient is used. If the patient is used as a whole, as in `{% set p = patient
/// %}{{ p.number }}`, the word `number` decides.
pub(super) fn need_number(used: &BTreeSet<String>, source: &str) -> bool {
    let is_number = |path: &String| path == "patient.number" || path.starts_with("patient.number.");
    used.iter().any(is_number) || (used.contains("patient") && has_word(source, "number"))
}

/// The first variable of a path.
pub(super) fn top(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// The variables about a PDF that has its name, and more.
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

/// The first line with `word` as a whole word; 1 if there is none.
fn line_of(source: &str, word: &str) -> usize {
    source.lines().position(|line| has_word(line, word)).map_or(1, |index| index + 1)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|part| part == word)
}

//! Syntax errors with their line. A line can contain a secret, even one that belongs in another file, so its value is
//! shown only if its key is known and cannot contain one.

use super::report::{Origin, Report};
use super::schema::{Kind, Schema};

/// The longest line that is shown, in characters.
const MAX_LINE: usize = 160;

/// The line of a byte, counted from 1.
pub fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// Reports one syntax error.
pub fn syntax_error(schema: &Schema, text: &str, error: &toml::de::Error, report: &mut Report) {
    let offset = error.span().map_or(text.len(), |span| span.start).min(text.len());
    let number = line_of(text, offset);
    let start = text.as_bytes().iter().take(offset).rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let column = 1 + text.get(start..offset).map_or(0, |before| before.chars().count());
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let mut what = format!("this is not valid TOML, column {column}: {}", error.message());
    if let Some((shown, whole)) = showable(schema, line) {
        let gutter = " ".repeat(number.to_string().len());
        what.push_str(&format!("\n  {gutter} |\n  {number} | {shown}"));
        if whole {
            what.push_str(&format!("\n  {gutter} | {}^", " ".repeat(column - 1)));
        }
    }
    report.error(Origin::Line(number), what, hint(error.message()));
}

fn hint(message: &str) -> &'static str {
    match message {
        m if m.contains("escape") => {
            r"In double quotes a backslash changes the next letter. Write a Windows path in single quotes: 'C:\import'."
        }
        m if m.contains("duplicate") => "Keep one of the two.",
        m if m.contains("quote") => r#"Put text, durations and sizes in quotes, as in poll_interval = "60s"."#,
        _ => "Correct the line; `config init` without --config prints a file to compare it with.",
    }
}

/// The part of a line that may be shown, and whether it is the whole line.
pub fn showable(schema: &Schema, line: &str) -> Option<(String, bool)> {
    let plain =
        |text: &str| text.chars().take(MAX_LINE).map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    let whole = line.chars().count() <= MAX_LINE;
    if is_header(schema, line) {
        return Some((plain(line), whole));
    }
    let (key, value) = line.split_once('=')?;
    let name = key.rsplit('.').next().unwrap_or_default().trim();
    let known: Vec<Kind> = schema.keys().iter().filter(|known| known.name() == name).map(|known| known.kind).collect();
    let lower = value.to_lowercase();
    let suspicious = ["key", "secret", "token", "pass", "="].iter().any(|word| lower.contains(word));
    match known.as_slice() {
        [] => None,
        kinds if !suspicious && kinds.iter().all(|kind| is_harmless(*kind)) => Some((plain(line), whole)),
        _ => Some((format!("{name} = (value not shown)"), false)),
    }
}

/// Whether a line looks like the header of a table of this configuration.
fn is_header(schema: &Schema, line: &str) -> bool {
    let name = line.trim().trim_start_matches('[').trim_end_matches(']').trim();
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    line.trim_start().starts_with('[')
        && plain
        && schema.keys().iter().any(|key| name.split('.').next() == Some(key.section()))
}

fn is_harmless(kind: Kind) -> bool {
    match kind {
        Kind::Path | Kind::Loopback | Kind::Listen | Kind::Bool | Kind::Integer { .. } | Kind::Duration { .. } => true,
        Kind::Size { .. } | Kind::Mode { .. } | Kind::Enum(_) | Kind::Template => true,
        Kind::Text | Kind::Secret | Kind::SecretFile | Kind::Program => false,
        Kind::Address | Kind::Proxy | Kind::List | Kind::Templates => false,
        Kind::TemplateTable | Kind::SecretFileTable | Kind::TypeMap | Kind::Statuses => false,
    }
}

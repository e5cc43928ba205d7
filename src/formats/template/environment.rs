//! The functions of a template, and the formatter of its values.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Rest;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};

use super::identifier::Identifier;
use super::{TemplateKind, TextFormat, dates, json, values};
use crate::domain::document::short;
use crate::formats::language::Language;

/// The most steps of one rendering; an ordinary sidecar takes some hundreds.
const MAX_STEPS: u64 = 200_000;

/// The filters that an error message names; minijinja has more.
pub(super) const FILTERS: &[&str] = &[
    "date", "default", "first", "int", "join", "label", "last", "length", "lower", "replace", "short", "split",
    "title", "trim", "truncate", "upper",
];

/// `language`: of words that a filter gives, unless the template names another.
pub(super) fn environment(kind: TemplateKind, language: Language) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_fuel(Some(MAX_STEPS));
    environment.set_debug(false);
    // In a sidecar the final line end matters; a name from a multi-line string must not have one.
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(kind.is_text()).build() {
        environment.set_syntax(syntax);
    }
    environment.remove_global("debug");
    environment.set_auto_escape_callback(move |_| match kind {
        TemplateKind::Text(TextFormat::Xml) => AutoEscape::Html,
        kind if kind.is_json() => AutoEscape::Json,
        _ => AutoEscape::None,
    });
    environment.add_filter("date", dates::date);
    environment.add_filter("short", |value: &Value| values::text(value).map(|text| short(&text)));
    environment.add_filter("label", move |value: &Value, wanted: Option<String>| label(value, language, wanted));
    environment.add_filter("truncate", |value: &Value, length: usize| {
        values::text(value).map(|text| text.chars().take(length).collect::<String>())
    });
    environment.add_filter("default", or_default);
    environment.add_filter("d", or_default);
    environment
}

/// The same environment for one rendering, which changes none of these identifiers.
pub(super) fn keeping(
    environment: &Environment<'static>,
    kind: TemplateKind,
    identifiers: Vec<Identifier>,
) -> Environment<'static> {
    let mut environment = environment.clone();
    environment.set_formatter(move |out, state, value| match kind {
        kind if kind.is_json() => json::write(out, value),
        kind => {
            let is_file = || state.lookup("file").is_some_and(|file| value.is_safe() && file == *value);
            values::write(kind, out, value, is_file, &identifiers)
        }
    });
    environment
}

/// The first argument if the value is missing or empty: for the author of a template both mean "not there".
fn or_default(value: &Value, other: Rest<Value>) -> Value {
    if values::is_missing(value) { other.first().cloned().unwrap_or(Value::UNDEFINED) } else { value.clone() }
}

/// The name of a document type in a language; for an unknown type, the service's own word.
fn label(value: &Value, language: Language, wanted: Option<String>) -> Result<Option<String>, Error> {
    let Some(language) = wanted.map_or(Some(language), |wanted| Language::parse(&wanted)) else {
        // An error of this kind is found on compilation.
        return Err(Error::new(ErrorKind::MissingArgument, "label knows the languages \"fr\", \"de\" and \"en\""));
    };
    Ok(values::text(value).map(|word| language.document_type(&word).unwrap_or(word)))
}

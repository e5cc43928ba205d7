//! A mistake in the command line: the first line is in the user's language. The rest is clap's, in English.

use std::ffi::OsString;

use clap::Error;
use clap::error::{ContextKind, ErrorKind};

use super::language::of_system;
use crate::formats::language::Language;

/// The line above clap's own words; `None` in English.
pub(super) fn first_line(wrong: &Error, typed: impl Iterator<Item = OsString>) -> Option<String> {
    let language = spoken(typed).unwrap_or_else(of_system);
    if language == Language::English {
        return None;
    }
    let named = |kind| wrong.get(kind).map(ToString::to_string).unwrap_or_default();
    let argument = named(ContextKind::InvalidArg).lines().map(str::trim).collect::<Vec<_>>().join(", ");
    let (text, what) = match wrong.kind() {
        ErrorKind::UnknownArgument => ("typed-unknown-option", argument),
        ErrorKind::InvalidSubcommand => ("typed-unknown-command", named(ContextKind::InvalidSubcommand)),
        ErrorKind::MissingRequiredArgument => ("typed-missing", argument),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            ("typed-no-command", String::new())
        }
        ErrorKind::ArgumentConflict => ("typed-conflict", argument),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => ("typed-value", argument),
        _ => ("typed-otherwise", String::new()),
    };
    Some(format!("docsyncd: {}", language.fill(text, &[("what", (&what).into())])))
}

/// The value of `--lang` in the command line.
fn spoken(typed: impl Iterator<Item = OsString>) -> Option<Language> {
    let words: Vec<String> = typed.map(|word| word.to_string_lossy().into_owned()).collect();
    let after = words.iter().zip(words.iter().skip(1)).find(|(word, _)| *word == "--lang").map(|(_, tag)| tag.as_str());
    let joined = || words.iter().find_map(|word| word.strip_prefix("--lang="));
    after.or_else(joined).and_then(Language::parse)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::commands::cli::Cli;

    #[test]
    fn what_is_mistyped_is_said_in_the_language_first() {
        for (typed, language, said) in [
            ("status --jsn", "fr", "docsyncd: option inconnue\u{a0}: --jsn"),
            ("status --jsn", "de", "docsyncd: unbekannte Option: --jsn"),
            ("staus", "de", "docsyncd: unbekannter Befehl: staus"),
            ("show", "fr", "docsyncd: il manque\u{a0}: <UUID>"),
            ("list --limit x", "de", "docsyncd: diese Angabe passt nicht: --limit <N>"),
            ("status --watch --json", "fr", "docsyncd: ne va pas avec le reste\u{a0}: --watch"),
        ] {
            let words =
                || format!("docsyncd {typed} --lang {language}").split(' ').map(OsString::from).collect::<Vec<_>>();
            let wrong = Cli::try_parse_from(words()).unwrap_err();
            assert_eq!(first_line(&wrong, words().into_iter()).as_deref(), Some(said), "{wrong}");
            let wrong = Cli::try_parse_from(words()).unwrap_err();
            let english = format!("docsyncd {typed} --lang=en");
            assert_eq!(first_line(&wrong, english.split(' ').map(OsString::from)), None);
        }
    }
}

//! A mistake in the command line, told in the user's language. In English clap's own words are shown.

use std::error::Error as _;
use std::ffi::OsString;

use clap::Error;
use clap::error::{ContextKind, ErrorKind};

use super::language::of_system;
use crate::formats::language::Language;

/// What is wrong, what was probably meant, and how the command is used; `None` in English.
pub(super) fn told(wrong: &Error, typed: impl Iterator<Item = OsString>) -> Option<String> {
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
    let exact = wrong.source().map(|exact| format!(" ({exact})")).unwrap_or_default();
    let mut lines = vec![format!("docsyncd: {}{exact}", language.fill(text, &[("what", (&what).into())]))];
    let suggested = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    let similar = suggested.map(named).into_iter().filter(|similar| !similar.is_empty());
    let possible = Some(named(ContextKind::ValidValue)).filter(|possible| !possible.is_empty());
    lines.extend(similar.map(|similar| language.fill("typed-similar", &[("what", (&similar).into())])));
    lines.extend(possible.map(|possible| language.fill("typed-possible", &[("what", (&possible).into())])));
    let usage = named(ContextKind::Usage);
    if let Some(usage) = usage.trim().strip_prefix("Usage: ") {
        lines.push(language.fill("typed-usage", &[("usage", usage.into())]));
    }
    lines.push(language.text("typed-more"));
    Some(lines.join("\n"))
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
    fn what_is_mistyped_is_said_in_the_language() {
        for (typed, language, said) in [
            (
                "status --jsn",
                "fr",
                "option inconnue\u{a0}: --jsn\nressemble à\u{a0}: --json\nutilisation\u{a0}: docsyncd status --json",
            ),
            ("status --jsn", "de", "unbekannte Option: --jsn\nähnlich: --json\nAufruf: docsyncd status --json"),
            ("staus", "de", "unbekannter Befehl: staus\nähnlich: setup, status\nAufruf: docsyncd [OPTIONS] <COMMAND>"),
            ("show", "fr", "il manque\u{a0}: <UUID>\nutilisation\u{a0}: docsyncd show --lang <LANG> <UUID>"),
            ("list --limit x", "de", "diese Angabe passt nicht: --limit <N> (write a number from 1)"),
            ("list --state x", "de", "diese Angabe passt nicht: --state <STATE>\nmöglich: discovered, "),
            ("status --watch --json", "fr", "ne va pas avec le reste\u{a0}: --watch\nutilisation"),
        ] {
            let words =
                || format!("docsyncd {typed} --lang {language}").split(' ').map(OsString::from).collect::<Vec<_>>();
            let wrong = Cli::try_parse_from(words()).unwrap_err();
            let told_now = told(&wrong, words().into_iter()).unwrap();
            assert!(told_now.starts_with(&format!("docsyncd: {said}")), "{told_now}\n{wrong}");
            assert!(told_now.ends_with("--help") || told_now.contains("--help "), "{told_now}");
            let english = format!("docsyncd {typed} --lang=en");
            assert_eq!(told(&wrong, english.split(' ').map(OsString::from)), None);
        }
    }
}

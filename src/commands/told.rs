//! Errors for people: a sentence in their language, followed in brackets by the exact reason in English. In English the
//! exact reason stands alone.

use super::{Exit, Outcome, exit_of};
use crate::api::ApiError;
use crate::config::{ConfigError, Destination};
use crate::daemon::DaemonError;
use crate::destinations::{CommandConfig, SmtpConfig};
use crate::formats::language::{Language, Value};
use crate::ledger::LedgerError;
use crate::patients::{Facts, ListProblem, Refused, Unmatched, Why};

/// A complete error message in the language of its command.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub(super) struct Told {
    words: String,
    pub(super) exit: Exit,
}

/// A mistake in the call, with this text.
pub(super) fn usage(language: Language, text: &str, values: &[(&str, Value<'_>)]) -> anyhow::Error {
    Told { words: language.fill(text, values), exit: Exit::Usage }.into()
}

/// An error with these words in the command's language.
pub(super) fn said(words: String, exit: Exit) -> anyhow::Error {
    Told { words, exit }.into()
}

/// An error in the command's language, with the exact reason.
pub(super) fn failed(language: Language, words: &str, exact: impl std::fmt::Display) -> anyhow::Error {
    let words = match language {
        Language::English => format!("{words}: {exact}"),
        _ => format!("{words} ({exact})"),
    };
    said(words, Exit::Failed)
}

/// The sentence of this text, with the exact reason.
pub(super) fn because(language: Language, text: &str, values: &[(&str, Value<'_>)], exact: &str) -> String {
    match language {
        Language::English => exact.to_owned(),
        _ => format!("{} ({exact})", language.fill(text, values)),
    }
}

/// The outcome of a command, with its error in this language.
pub(super) fn ended(language: Language, outcome: Outcome) -> Outcome {
    let error = match outcome {
        Err(error) if language != Language::English && !error.is::<Told>() => error,
        other => return other,
    };
    let exact = format!("{error:#}");
    let known = |text: &str| because(language, text, &[], &exact);
    let words = match (error.downcast_ref(), error.downcast_ref(), error.downcast_ref()) {
        (Some(wrong), ..) => of_configuration(language, wrong),
        (_, Some(LedgerError::Missing(path)), _) => {
            language.fill("list-no-ledger", &[("path", (&path.display().to_string()).into())])
        }
        (_, Some(_), _) => known("told-ledger"),
        (_, _, Some(error)) => of_api(language, error, &exact),
        _ if matches!(error.downcast_ref(), Some(DaemonError::Credential(_))) => known("told-no-key"),
        _ => known("told-failed"),
    };
    Err(Told { words, exit: exit_of(&error) }.into())
}

/// Why the configuration cannot be used.
pub(super) fn of_configuration(language: Language, error: &ConfigError) -> String {
    match error {
        ConfigError::Missing { path } if language != Language::English => {
            language.fill("told-no-configuration", &[("file", (&path.display().to_string()).into())])
        }
        ConfigError::Invalid { .. } => {
            let place = language.mistake(&error.in_short());
            because(language, "told-configuration-at", &[("place", (&place).into())], &error.to_string())
        }
        _ => because(language, "told-configuration", &[], &error.to_string()),
    }
}

/// A size for a person. French counts octets, and English alone has a decimal point.
pub(super) fn size(language: Language, bytes: u64) -> String {
    let size = bytesize::ByteSize(bytes).to_string();
    match language {
        Language::English => size,
        Language::French => size.replace('B', "o").replace('.', ","),
        Language::German => size.replace('.', ","),
    }
}

/// The mistakes that people make in answers, as validation tells them, and the text for each.
const ANSWERS: [(&str, &str); 8] = [
    ("is not a web address", "told-answer-address"),
    ("is not an http or https address", "told-answer-address"),
    ("would send secrets and patient data over the network unencrypted", "told-answer-unencrypted"),
    ("holds a query or fragment", "told-answer-address-alone"),
    ("holds a user name or password", "told-answer-address-alone"),
    ("starts with ~", "told-answer-whole-path"),
    ("is not a duration", "told-answer-duration"),
    ("is a number without a unit", "told-answer-duration"),
];

/// Why an answer makes the configuration invalid.
pub(super) fn of_answer(language: Language, exact: &str) -> String {
    let known = ANSWERS.iter().find(|(sign, _)| exact.contains(sign));
    because(language, known.map_or("told-answer", |(_, text)| *text), &[], exact)
}

/// Why the service cannot be used.
pub(super) fn of_api(language: Language, error: &ApiError, exact: &str) -> String {
    let text = match error {
        ApiError::Unreachable { .. } => "told-unreachable",
        ApiError::BrokenOff { .. } => "told-broken-off",
        ApiError::Unauthorized { signed_in: Some(_) } => "told-refused",
        ApiError::Unauthorized { signed_in: None } => "told-refused-key",
        ApiError::SignedOut { .. } | ApiError::Refresh { .. } => "told-signed-out",
        ApiError::Credentials(_) => "told-no-key",
        ApiError::MissingScope { .. } | ApiError::Status { status: 403, .. } => "told-not-allowed",
        ApiError::Status { status: 429, .. } => "told-busy",
        ApiError::Status { status: 500.., .. } => "told-fault",
        ApiError::NotHere { .. }
        | ApiError::NotJson(_)
        | ApiError::Redirect(_)
        | ApiError::Status { status: 404 | 405 | 410, .. } => "told-not-the-service",
        _ => "told-api",
    };
    because(language, text, &[], exact)
}

/// Why letters cannot be filed there.
pub(super) fn of_destination(language: Language, destination: &Destination, exact: &str) -> String {
    let (text, path) = match destination.settings.folder() {
        Some(folder) => {
            // A share that hangs was asked already, and would hang again.
            let missing = exact.contains("does not exist");
            (if missing { "told-no-folder" } else { "told-folder" }, folder.display().to_string())
        }
        None if lacks_folder(exact) => ("told-no-folder-there", String::new()),
        None if destination.of::<CommandConfig>().is_some() => ("told-program", String::new()),
        None if destination.of::<SmtpConfig>().is_some() => ("told-mail-server", String::new()),
        None => ("told-server", String::new()),
    };
    because(language, text, &[("folder", (&path).into())], exact)
}

/// Whether only the folder is missing on a server that works.
pub(super) fn lacks_folder(exact: &str) -> bool {
    exact.contains("is no folder on the server")
}

/// Why nobody can be told in this way.
pub(super) fn of_alarm(language: Language, exact: &str) -> String {
    let text = if exact.contains("it offers no encryption") { "told-alarm-unencrypted" } else { "told-alarm" };
    because(language, text, &[], exact)
}

/// How the notes of destinations that work begin, and the text for each.
const NOTES: [(&str, &str); 18] = [
    ("the server's key is ", "note-key"),
    ("what is filed is forced to its disk", "note-durable"),
    ("it refuses to overwrite", "note-no-overwriting"),
    ("only the size is read back", "note-only-size"),
    ("`to` is another for each letter", "note-recipients"),
    ("it takes mails of up to ", "note-mail-size"),
    ("a connection comes about", "note-no-sign-in"),
    ("it answers when it is asked for a letter", "note-finds-letters"),
    ("it answers when it is asked for a patient", "note-finds-patients"),
    ("it does not create on a condition", "note-searches"),
    ("the key may not delete", "note-not-written"),
    ("it knows no checksum", "note-read-back"),
    ("its program is ", "note-not-started"),
    ("it accepts a connection", "note-no-message"),
    ("a mail whose answer is lost ", "note-lost"),
    ("a document whose answer is lost ", "note-lost"),
    ("a letter whose answer is lost ", "note-lost"),
    ("a letter whose acknowledgment is lost ", "note-lost"),
];

/// What is good to know of a destination that works.
pub(super) fn of_note(language: Language, note: &str) -> String {
    let known = NOTES.iter().find_map(|(begin, text)| Some((*text, note.strip_prefix(begin)?)));
    match known {
        _ if language == Language::English => note.to_owned(),
        Some(("note-lost", then)) => {
            language.text(if then.starts_with("waits") { "note-lost-waits" } else { "note-lost-again" })
        }
        Some((text, rest)) => language.fill(text, &[("key", rest.split(", ").next().unwrap_or(rest).into())]),
        None => because(language, "told-good", &[], note),
    }
}

/// Why the list of patients cannot be used.
pub(super) fn of_list(language: Language, problem: &ListProblem) -> String {
    let text = match &problem.why {
        Why::Missing => "told-list-missing",
        Why::Unreadable(_) => "told-list-unreadable",
        Why::Hangs | Why::BeingWritten | Why::Doubtful(_) => "told-list-later",
        Why::Refused(refused) => of_content(refused),
        _ => "told-list",
    };
    let file = problem.file.display().to_string();
    because(language, text, &[("file", (&file).into())], &problem.to_string())
}

fn of_content(refused: &Refused) -> &'static str {
    match refused {
        Refused::Workbook => "told-list-workbook",
        Refused::NotInEncoding { .. } | Refused::BrokenText { .. } => "told-list-encoding",
        Refused::NoColumn { .. } | Refused::NoHeader | Refused::ColumnTwice { .. } => "told-list-columns",
        Refused::Ambiguous { .. } => "told-list-two-ways",
        Refused::Date { .. } | Refused::TwoOrders { .. } => "told-list-dates",
        _ => "told-list-content",
    }
}

/// The form of a list of patients. Dates are shown in its own form.
pub(super) fn of_facts(language: Language, facts: &Facts) -> String {
    if language == Language::English {
        return facts.to_string();
    }
    let written = format!("{}, `{}`", facts.encoding, facts.delimiter.escape_default());
    if facts.dates.is_empty() {
        return written;
    }
    let day = jiff::civil::date(1980, 12, 31).at(0, 0, 0, 0);
    let date = jiff::fmt::strtime::format(&facts.dates, day).unwrap_or_else(|_| facts.dates.clone());
    format!("{written}, {}", language.fill("list-dates", &[("date", (&date).into())]))
}

/// Why a letter's patient has no number.
pub(super) fn of_patient(language: Language, why: Unmatched) -> String {
    match language {
        Language::English => why.to_string(),
        _ => language.text(&format!("reason-patient-{}", why.as_str().replace('_', "-"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_news_of_a_server_is_no_warning_and_in_the_language_of_the_reader() {
        for (note, told) in [
            ("the server's key is SHA256:abc (ssh-ed25519)", "Schlüssel des Servers: SHA256:abc (ssh-ed25519)"),
            ("what is filed is forced to its disk (fsync)", "jeder Brief wird dort sicher gespeichert"),
            ("it refuses to overwrite", "nichts wird dort überschrieben"),
            (
                "a letter whose acknowledgment is lost waits for a person, as",
                "geht eine Antwort verloren, wartet der Brief auf eine Person",
            ),
            (
                "a mail whose answer is lost is sent again, with the same Message-ID, as",
                "geht eine Antwort verloren, wird der Brief noch einmal gesendet",
            ),
            ("it takes mails of up to 20 MB, PDFs of about 15 MB", "E-Mails bis 20 MB"),
            ("something else", "geprüft (something else)"),
        ] {
            assert_eq!(
                (of_note(Language::German, note).as_str(), of_note(Language::English, note).as_str()),
                (told, note)
            );
        }
    }

    /// The first words of each note in the sources of destinations.
    fn notes_of(file: &std::path::Path, notes: &mut Vec<String>) {
        if file.is_dir() {
            let entries = std::fs::read_dir(file).unwrap().map(|entry| entry.unwrap().path());
            return entries.filter(|entry| !entry.ends_with("tests")).for_each(|entry| notes_of(&entry, notes));
        }
        let text = std::fs::read_to_string(file).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for begin in ["notes .push(", "notes.push(", "let notes = vec!["] {
            for (_, rest) in text.match_indices(begin).map(|(at, found)| text.split_at(at + found.len())) {
                // A list has several; what stands after one that is pushed is no note.
                let is_list = begin.ends_with('[');
                let is_written_here = rest.trim_start().starts_with(['"', 'f']);
                let list = rest.split("];").next().filter(|_| is_written_here).unwrap_or_default();
                let literals = list.split('"').skip(1).step_by(2).take(if is_list { usize::MAX } else { 1 });
                let is_note = |words: &&str| words.contains(' ');
                notes.extend(literals.filter(is_note).map(str::to_owned));
            }
        }
    }

    #[test]
    fn every_note_of_a_destination_is_told_in_the_language_of_the_reader() {
        let mut notes = Vec::new();
        notes_of(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/destinations"), &mut notes);
        assert!(notes.len() >= 15, "{notes:?}");
        for note in &notes {
            let told = of_note(Language::French, note);
            assert!(!told.contains(&format!("({note})")), "{note} is told in English");
        }
    }

    #[test]
    fn each_mistake_in_an_answer_is_one_that_validation_tells() {
        for (sign, text) in ANSWERS {
            assert!(include_str!("../config/value.rs").contains(sign), "{sign}");
            let told = of_answer(Language::German, &format!("this {sign}. Write it otherwise."));
            assert!(Language::German.has(text) && !told.starts_with("diese Angabe"), "{told}");
        }
    }

    #[test]
    fn sizes_are_written_as_each_language_writes_them() {
        let sizes = crate::formats::language::LANGUAGES.map(|language| (language, size(language, 47_514)));
        for (language, size) in sizes {
            let wanted = match language {
                Language::English => "46.4 KiB",
                Language::French => "46,4 Kio",
                Language::German => "46,4 KiB",
            };
            assert_eq!(size, wanted);
        }
    }
}

//! What did not work, for whoever reads it: a sentence in their language, and behind it in brackets the exact reason,
//! which is English. In English the exact reason stands alone.

use super::{Exit, Outcome, exit_of};
use crate::api::ApiError;
use crate::config::{ConfigError, Destination};
use crate::destinations::{CommandConfig, SmtpConfig};
use crate::formats::language::{Language, Value};
use crate::ledger::LedgerError;
use crate::patients::{Problem, Refused, Unmatched, Why};

/// An error that says all there is to say, in the language of its command.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub(super) struct Told {
    words: String,
    pub(super) exit: Exit,
}

/// A mistake in how the command was called, in the words of that text.
pub(super) fn usage(language: Language, text: &str, values: &[(&str, Value<'_>)]) -> anyhow::Error {
    Told { words: language.fill(text, values), exit: Exit::Usage }.into()
}

/// The same in these words, which are the command's language.
pub(super) fn said(words: String, exit: Exit) -> anyhow::Error {
    Told { words, exit }.into()
}

/// The sentence of that text, and the exact reason.
pub(super) fn because(language: Language, text: &str, values: &[(&str, Value<'_>)], exact: &str) -> String {
    match language {
        Language::English => exact.to_owned(),
        _ => format!("{} ({exact})", language.fill(text, values)),
    }
}

/// How the command ended; its error in that language.
pub(super) fn ended(language: Language, outcome: Outcome) -> Outcome {
    let error = match outcome {
        Err(error) if language != Language::English && !error.is::<Told>() => error,
        other => return other,
    };
    let text = match () {
        () if error.is::<ConfigError>() => "told-configuration",
        () if error.is::<LedgerError>() => "told-ledger",
        () if error.is::<ApiError>() => "told-api",
        () => "told-failed",
    };
    let words = because(language, text, &[], &format!("{error:#}"));
    Err(Told { words, exit: exit_of(&error) }.into())
}

/// Why the service cannot be used.
pub(super) fn of_api(language: Language, error: &ApiError, exact: &str) -> String {
    let text = match error {
        ApiError::Unreachable { .. } => "told-unreachable",
        ApiError::BrokenOff { .. } => "told-broken-off",
        ApiError::Unauthorized { .. } => "told-refused",
        ApiError::SignedOut { .. } | ApiError::Refresh { .. } => "told-signed-out",
        ApiError::Credentials(_) => "told-no-key",
        ApiError::MissingScope { .. } => "told-not-allowed",
        ApiError::NotHere { .. }
        | ApiError::NotJson(_)
        | ApiError::Redirect(_)
        | ApiError::Status { status: 404 | 405 | 410, .. } => "told-not-the-service",
        _ => "told-api",
    };
    because(language, text, &[], exact)
}

/// Why letters cannot go there.
pub(super) fn of_destination(language: Language, destination: &Destination, exact: &str) -> String {
    let (text, path) = match destination.settings.folder() {
        Some(folder) => {
            // A share that hangs was asked for already, and would hang again.
            let missing = exact.contains("does not exist");
            (if missing { "told-no-folder" } else { "told-folder" }, folder.display().to_string())
        }
        None if destination.of::<CommandConfig>().is_some() => ("told-program", String::new()),
        None if destination.of::<SmtpConfig>().is_some() => ("told-mail-server", String::new()),
        None => ("told-server", String::new()),
    };
    because(language, text, &[("folder", (&path).into())], exact)
}

/// Why the list of patients cannot be used.
pub(super) fn of_list(language: Language, problem: &Problem) -> String {
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

/// Why a letter's patient has no number.
pub(super) fn of_patient(language: Language, why: Unmatched) -> String {
    match language {
        Language::English => why.to_string(),
        _ => language.text(&format!("reason-patient-{}", why.as_str().replace('_', "-"))),
    }
}

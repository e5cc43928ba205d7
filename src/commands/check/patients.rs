//! Whether the practice's list of patients can be relied on.

use std::collections::HashMap;
use std::path::Path;

use super::super::told;
use super::findings::Findings;
use crate::config::Loaded;
use crate::destinations::holds_number;
use crate::formats::language::Language;
use crate::ledger::{Ledger, process};
use crate::patients::{Doubt, List, ListProblem, Why, look_once};
use crate::pipeline::patients;

const WHAT: &str = "patients";
/// The most rows that are listed.
const MOST_ROWS: usize = 10;

/// Reads the list as `run` does, and waits for a file that is being written. Does not wait for the minute for which a
/// doubtful list has to stay unchanged before `run` uses it. `is_seen`: a person sees the list and trusts it.
pub(super) async fn check(loaded: &Loaded, is_seen: bool, language: Language) -> Option<Findings> {
    let config = loaded.config.patients.clone()?;
    let file = config.file.display().to_string();
    let mut findings = Findings::default();
    let known = patients::known(Ledger::open_beside(&loaded.config.state.path).ok().as_ref()).await;
    match tokio::task::spawn_blocking(move || look_once(&config, &known)).await {
        Ok(Ok((_, Some(doubt @ Doubt::Open)))) => {
            let file = loaded.config.patients.as_ref().map(|config| config.file.clone()).unwrap_or_default();
            findings.usage(WHAT, &told::of_list(language, &ListProblem { file, why: Why::Doubtful(doubt) }));
        }
        Ok(Ok((list, doubt))) => {
            if is_seen {
                believe(&loaded.config.state.path, list.sha256()).await;
            }
            match (list.is_empty(), doubt) {
                (true, _) => findings.usage(WHAT, &language.fill("check-no-patients", &[("file", (&file).into())])),
                (false, Some(doubt)) => {
                    let (list, doubt) = (in_words(&list, &file, language), doubt.to_string());
                    let doubt = told::because(language, "told-list-doubt", &[], &doubt);
                    let values = [("list", (&list).into()), ("doubt", (&doubt).into())];
                    findings.warn(WHAT, &language.fill("check-doubt", &values));
                }
                (false, None) => findings.ok(WHAT, &in_words(&list, &file, language)),
            }
            if !loaded.config.destinations.values().any(|destination| destination.needs_number) {
                findings.warn(WHAT, &language.fill("check-list-unused", &[("file", (&file).into())]));
            }
            for destination in loaded.config.destinations.values().filter(|destination| destination.needs_number) {
                if let Some(rows) = rows_not_held(&list, language, holds_number(destination)) {
                    let name = &destination.name;
                    let values = [("file", (&file).into()), ("rows", (&rows).into()), ("name", name.into())];
                    findings.warn(WHAT, &language.fill("check-not-held", &values));
                }
            }
        }
        Ok(Err(problem)) => findings.usage(WHAT, &told::of_list(language, &problem)),
        Err(_) => findings.fail(WHAT, &language.fill("check-list-defect", &[("file", (&file).into())])),
    }
    Some(findings)
}

/// The rows whose numbers a destination cannot hold: `2, 4 and 7 more`.
fn rows_not_held(list: &List, language: Language, holds: impl Fn(&str) -> bool) -> Option<String> {
    // Whether a number can be held depends on where its digits stand, not on which they are. So one of each shape is
    // tried: lists are long.
    let mut shapes = HashMap::new();
    let mut is_held = |number: &str| -> bool {
        let shape = number.replace(|c: char| c.is_ascii_digit(), "0");
        *shapes.entry(shape).or_insert_with(|| holds(number))
    };
    let lines: Vec<u32> = list.rows().filter(|row| !is_held(row.number)).map(|row| row.line).collect();
    let shown: Vec<String> = lines.iter().take(MOST_ROWS).map(u32::to_string).collect();
    let (shown, more) = (shown.join(", "), lines.len().saturating_sub(MOST_ROWS));
    let with_more =
        || language.fill("check-rows-more", &[("rows", (&shown).into()), ("more", (&grouped(more, language)).into())]);
    (!lines.is_empty()).then(|| if more == 0 { shown.clone() } else { with_more() })
}

/// Records that a person saw this list, so that a daemon trusts it even if it is much shorter than the one before.
/// Before the first start there is no ledger, and nothing is recorded.
async fn believe(ledger: &Path, sha256: &str) {
    let Ok(ledger) = Ledger::open_beside(ledger) else { return };
    let sha256 = sha256.to_owned();
    // If the ledger fails, the check of the ledger says so in a line of its own.
    let _ = ledger.write(move |db| process::set(db, process::PATIENTS_BELIEVED, &sha256)).await;
}

fn in_words(list: &List, file: &str, language: Language) -> String {
    let facts = list.facts();
    let (count, shown) = (grouped(list.patients(), language), told::of_facts(language, facts));
    let values = [("count", (&count).into()), ("file", file.into()), ("facts", (&shown).into())];
    let mut words = language.fill("check-patients", &values);
    for (rows, what) in [(facts.without_number, "check-without-number"), (facts.without_date, "check-without-date")] {
        if rows > 0 {
            words.push_str(&language.fill(what, &[("rows", (&grouped(rows, language)).into())]));
        }
    }
    words
}

/// `12,345`; 12.345 in German, with a space in French.
pub(in crate::commands) fn grouped(count: usize, language: Language) -> String {
    let between = match language {
        Language::English => ',',
        Language::French => '\u{202f}',
        Language::German => '.',
    };
    let digits = count.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(between);
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::language::LANGUAGES;

    #[test]
    fn large_numbers_are_read_in_groups() {
        for (count, texts) in [
            (0, ["0", "0", "0"]),
            (999, ["999", "999", "999"]),
            (1000, ["1,000", "1\u{202f}000", "1.000"]),
            (12_345, ["12,345", "12\u{202f}345", "12.345"]),
            (1_234_567, ["1,234,567", "1\u{202f}234\u{202f}567", "1.234.567"]),
        ] {
            assert_eq!(LANGUAGES.map(|language| grouped(count, language)), texts);
        }
    }
}

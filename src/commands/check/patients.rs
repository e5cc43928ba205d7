//! Whether the practice's list of patients can be relied on.

use std::path::Path;

use super::findings::Findings;
use crate::config::Loaded;
use crate::ledger::{Ledger, process};
use crate::patients::{List, load_once};

const WHAT: &str = "patients";

/// Reads the list as `run` would. Waits for a file that was just written. `is_seen`: by a person, who believes it.
pub(super) async fn check(loaded: &Loaded, is_seen: bool) -> Option<Findings> {
    let config = loaded.config.patients.clone()?;
    let file = config.file.display().to_string();
    let mut findings = Findings::default();
    match tokio::task::spawn_blocking(move || load_once(&config)).await {
        Ok(Ok(list)) => {
            if is_seen {
                believe(&loaded.config.state.path, list.sha256()).await;
            }
            match list.is_empty() {
                true => findings.usage(
                    WHAT,
                    &format!("{file} holds no patients: every letter that needs a number waits for a person"),
                ),
                false => findings.ok(WHAT, &in_words(&list, &file)),
            }
        }
        Ok(Err(problem)) => findings.usage(WHAT, &problem.to_string()),
        Err(_) => {
            findings.fail(WHAT, &format!("{file}: reading it ended in the middle, which is a defect of docsyncd"))
        }
    }
    Some(findings)
}

/// A person looked at this list: a daemon believes it, also where it has become much shorter. Before the first start
/// there is none.
async fn believe(ledger: &Path, sha256: &str) {
    let Ok(ledger) = Ledger::open_beside(ledger) else { return };
    let sha256 = sha256.to_owned();
    // What is wrong with the ledger is said by its own line.
    let _ = ledger.write(move |db| process::set(db, process::PATIENTS_BELIEVED, &sha256)).await;
}

fn in_words(list: &List, file: &str) -> String {
    let facts = list.facts();
    let mut words = format!("{} patients in {file} ({facts})", grouped(list.patients()));
    for (rows, what) in [
        (facts.without_number, "without a number, which count for nothing"),
        (facts.without_date, "without a date of birth, to whom no letter is filed by itself"),
    ] {
        if rows > 0 {
            words.push_str(&format!("; {} {what}", grouped(rows)));
        }
    }
    words
}

/// `12,345`
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_read_in_groups() {
        for (count, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(count), text);
        }
    }
}

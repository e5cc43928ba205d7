//! Text for `search`: folded, so that neither case nor accents matter, in SQLite's full-text index of words.

use rusqlite::{OptionalExtension, Transaction};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::error::SandboxError;

/// Lower case without accents: compatibility decomposition (Unicode, form NFKD) without its combining marks, and the
/// few Latin letters that do not decompose.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for letter in text.nfkd().filter(|letter| !is_combining_mark(*letter)).flat_map(char::to_lowercase) {
        match letter {
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'ı' => folded.push('i'),
            'ς' => folded.push('σ'),
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'þ' => folded.push_str("th"),
            '’' => folded.push('\''),
            // Full-text queries end at it.
            '\0' => folded.push(' '),
            other => folded.push(other),
        }
    }
    folded
}

/// The words of a text, folded, each behind a space: so a word begins with another where that one with its space
/// occurs.
pub(super) fn words(text: &str) -> String {
    let folded = fold(text);
    let words = folded.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.flat_map(|word| [" ", word]).collect()
}

/// The full-text query for what begins so: `d'ang` finds "D'Angélo", and `fon` both "Fontaine" and "de la Fontaine".
pub(super) fn beginning(words: &str) -> String {
    format!("\"{}\"*", words.trim_start())
}

/// Whose a row of a list of one's own is, beside what it says itself.
pub(super) struct Whose {
    pub owner_id: i64,
    pub user_id: i64,
    pub patient_id: Option<i64>,
}

/// The word of every row that this user owns. It is no letter, which no searched word begins with.
pub(super) fn owned_by(user_id: i64) -> String {
    format!("\u{e000}{user_id}")
}

/// The word of every row that shows this user.
pub(super) fn showing(user_id: i64) -> String {
    format!("\u{e001}{user_id}")
}

/// The lists that show a patient.
const OF_PATIENTS: [&str; 3] = ["documents", "audios", "notes"];

fn together<'a>(parts: impl IntoIterator<Item = Option<&'a str>>) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().map(words).filter(|words| !words.is_empty()).collect();
    parts.join("\n")
}

/// So many words with one beginning are asked for by themselves.
const SPELLED: usize = 8;

/// The same with the words of this table that begin so, where there are few. Of words the index reads no more than it
/// needs; of a beginning it first gathers every row.
pub(super) fn spelled(transaction: &Transaction<'_>, table: &str, words: &str) -> Result<String, SandboxError> {
    let word = words.trim_start();
    let mut statement = transaction.prepare_cached(&format!("SELECT term FROM {table} WHERE term >= ?1 LIMIT 1"))?;
    let (mut from, mut found) = (word.to_owned(), Vec::new());
    while found.len() <= SPELLED {
        let next: Option<String> = statement.query_row([&from], |row| row.get(0)).optional()?;
        let Some(term) = next.filter(|term| term.starts_with(word)) else {
            break;
        };
        from = format!("{term}\u{1}");
        found.push(format!("\"{term}\""));
    }
    let some = (1..=SPELLED).contains(&found.len());
    Ok(if some { found.join(" OR ") } else { beginning(words) })
}

/// Makes these parts the searched text of a row. Parts are kept apart, so that no word is found across two of them.
pub(super) fn put<'a>(
    transaction: &Transaction<'_>,
    table: &str,
    id: i64,
    parts: impl IntoIterator<Item = Option<&'a str>>,
) -> Result<(), SandboxError> {
    transaction
        .prepare_cached(&format!("INSERT OR REPLACE INTO {table} (rowid, folded) VALUES (?1, ?2)"))?
        .execute((id, together(parts)))?;
    Ok(())
}

/// The same for a row that is found by its patient's text and its user's, too: what one full-text query answers needs
/// no look at rows.
pub(super) fn put_with<'a>(
    transaction: &Transaction<'_>,
    table: &str,
    id: i64,
    parts: impl IntoIterator<Item = Option<&'a str>>,
    whose: &Whose,
) -> Result<(), SandboxError> {
    let patient = match whose.patient_id {
        Some(patient_id) => of_patient(transaction, patient_id)?,
        None => None,
    };
    let marks = format!("{} {}", owned_by(whose.owner_id), showing(whose.user_id));
    transaction
        .prepare_cached(&format!(
            "INSERT OR REPLACE INTO {table} (rowid, folded, patient, whose) VALUES (?1, ?2, ?3, ?4)"
        ))?
        .execute((id, together(parts), patient, marks))?;
    Ok(())
}

/// The searched text of a patient. While many rows are inserted, what was there before is in the other table of this
/// name.
fn of_patient(transaction: &Transaction<'_>, id: i64) -> Result<Option<String>, SandboxError> {
    for table in ["patients_text", "main.patients_text"] {
        let mut statement = transaction.prepare_cached(&format!("SELECT folded FROM {table} WHERE rowid = ?1"))?;
        if let Some(folded) = statement.query_row([id], |row| row.get(0)).optional()? {
            return Ok(folded);
        }
    }
    Ok(None)
}

/// Makes these parts the searched text of a patient, and of what shows the patient.
pub(super) fn put_patient<'a>(
    transaction: &Transaction<'_>,
    id: i64,
    parts: impl IntoIterator<Item = Option<&'a str>>,
) -> Result<(), SandboxError> {
    let (before, now) = (of_patient(transaction, id)?, together(parts));
    if before.as_ref() == Some(&now) {
        return Ok(());
    }
    transaction
        .prepare_cached("INSERT OR REPLACE INTO patients_text (rowid, folded) VALUES (?1, ?2)")?
        .execute((id, &now))?;
    if before.is_some() {
        for table in OF_PATIENTS {
            let sql = format!(
                "UPDATE {table}_text SET patient = ?2 WHERE rowid IN
                 (SELECT shown.id FROM users CROSS JOIN {table} AS shown ON shown.owner_id = users.id AND shown.patient_id = ?1)"
            );
            transaction.prepare_cached(&sql)?.execute((id, &now))?;
        }
    }
    Ok(())
}

/// Forgets the searched text of a row.
pub(super) fn forget(transaction: &Transaction<'_>, table: &str, id: i64) -> Result<(), SandboxError> {
    transaction.prepare_cached(&format!("DELETE FROM {table} WHERE rowid = ?1"))?.execute([id])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{fold, words};

    #[test]
    fn words_are_what_is_between_marks() {
        assert_eq!(words("  D’Angélo-Żak / lab_slip\0x"), " d angelo zak lab slip x");
        assert_eq!(words("-- '\""), "");
    }

    #[test]
    fn case_and_accents_do_not_matter() {
        for (one, other) in [
            ("Hébrard", "HEBRARD"),
            ("Be\u{301}rube\u{301}", "bérubé"),
            ("Żółkiewski", "zolkiewski"),
            ("Ødegård", "odegard"),
            ("Œdème", "oedeme"),
            ("Παπαδόπουλος", "ΠΑΠΑΔΟΠΟΥΛΟΣ"),
            ("Straße", "STRASSE"),
            ("d’Angélo", "D'ANGELO"),
        ] {
            assert_eq!(fold(one), fold(other));
        }
    }
}

//! Text for `search` in SQLite's full-text index of words, folded so that case and accents do not matter.

use rusqlite::Transaction;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::error::SandboxError;

/// Lower case without accents: compatibility decomposition (Unicode, form NFKD) without combining marks, and the few
/// Latin letters that do not decompose.
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
            // A full-text query ends at it.
            '\0' => folded.push(' '),
            other => folded.push(other),
        }
    }
    folded
}

/// The folded words of a text, each after a space. So a word begins with another one if that one occurs with its space.
pub(super) fn words(text: &str) -> String {
    let folded = fold(text);
    let words = folded.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.flat_map(|word| [" ", word]).collect()
}

/// The full-text query for beginnings of words: `d'ang` finds "D'Angélo", and `fon` finds "Fontaine" and "de la
/// Fontaine".
pub(super) fn beginning(words: &str) -> String {
    format!("\"{}\"*", words.trim_start())
}

/// Makes these parts the searched text of a row. They are kept apart, so that no word spans two of them.
pub(super) fn put<'a>(
    transaction: &Transaction<'_>,
    table: &str,
    id: i64,
    parts: impl IntoIterator<Item = Option<&'a str>>,
) -> Result<(), SandboxError> {
    let parts: Vec<String> = parts.into_iter().flatten().map(words).filter(|words| !words.is_empty()).collect();
    transaction
        .prepare_cached(&format!("INSERT OR REPLACE INTO {table} (rowid, folded) VALUES (?1, ?2)"))?
        .execute((id, parts.join("\n")))?;
    Ok(())
}

/// Removes the searched text of a row.
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

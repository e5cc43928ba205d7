//! Words as people search for them: without letter case, accents and the like. Pure.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// The text in lower case, without accents and with ligatures expanded: `Œuvray Zoë` and `oeuvray zoe` are the same.
pub fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase) {
        match c {
            'œ' => folded.push_str("oe"),
            'æ' => folded.push_str("ae"),
            'ß' => folded.push_str("ss"),
            'þ' => folded.push_str("th"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'ı' => folded.push('i'),
            other => folded.push(other),
        }
    }
    folded
}

/// Whether the folded text contains `word`, as the index of names searches (SQLite, "FTS5", `"word"*`). Punctuation
/// divides `word` into parts. They must be whole words of the text that follow one another; the last may be the
/// beginning of one.
pub fn has_beginning(text: &str, word: &str) -> bool {
    let (text, word) = (parts(text), parts(word));
    let Some((last, before)) = word.split_last() else { return false };
    text.windows(word.len())
        .any(|words| words.split_last().is_some_and(|(end, begin)| begin == before && end.starts_with(last)))
}

/// The words between the punctuation of a text.
pub fn parts(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect()
}

/// The folded words to search for. Each has a letter or a digit.
pub fn words(texts: &[String]) -> Vec<String> {
    let words = texts.iter().flat_map(|text| text.split_whitespace()).map(folded);
    words.filter(|word| word.chars().any(char::is_alphanumeric)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letter_case_accents_and_ligatures_do_not_matter() {
        for (text, same) in [
            ("Zoé LEFÈVRE", "zoe lefevre"),
            ("Zoe\u{301}", "zoe"),
            ("Œuvray", "oeuvray"),
            ("Weiß", "WEISS"),
            ("Søren Łukasz", "soren lukasz"),
            ("İpek", "ipek"),
            ("ﬁsh", "fish"),
        ] {
            assert_eq!(folded(text), folded(same), "{text}");
        }
        assert_ne!(folded("Durand"), folded("Durant"));
    }

    #[test]
    fn a_word_is_found_by_its_beginning_and_its_punctuation_parts_it() {
        let text = "durand zoe 2026-11-22_letter_a1b2.pdf";
        for word in ["dur", "durand", "zoe", "2026-11", "2026-11-22", "letter_a1", "22_let", "pdf"] {
            assert!(has_beginning(text, word), "{word}");
        }
        for word in ["urand", "durandt", "11-2026", "2026-1-22", "zoe-2026-12", "-", ""] {
            assert!(!has_beginning(text, word), "{word}");
        }
    }

    #[test]
    fn words_are_told_apart_by_spaces_and_need_a_letter_or_a_digit() {
        let words = |text: &[&str]| words(&text.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(words(&["Durand  Zoé", "-", "2026-11"]), ["durand", "zoe", "2026-11"]);
        assert!(words(&["", " ", "***"]).is_empty());
    }
}

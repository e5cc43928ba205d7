//! Letters that a dentist could have written, as PDF.
//!
//! A [`Brief`] says whom a letter is about. Everything else follows from its seed.

mod font;
mod page;
mod pdf;
mod radiograph;
mod words;

use serde::{Deserialize, Serialize};

use crate::invent::Dice;
use font::Style;
use page::{Mark, Pages};
use pdf::About;
use radiograph::radiograph;
use words::{ENGLISH, FRENCH, Language};

/// The pixels of the radiograph in a letter of the usual size; one byte each.
const USUAL_PIXELS: u64 = 26_000;

/// How many sentences follow the first one.
const SENTENCES: u32 = 5;

/// Teeth of adults by FDI number.
const TEETH: &[&str] = &["11", "14", "16", "21", "24", "26", "31", "34", "36", "41", "44", "46"];

/// The size of the text in points.
const BODY: f32 = 10.0;

/// What a letter is made from. The store keeps this instead of the bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Brief {
    pub seed: u64,
    pub document_type: Option<String>,
    pub french: bool,
    /// The name in an anonymized document.
    pub anonymous_code: Option<String>,
    pub patient_first: Option<String>,
    pub patient_last: Option<String>,
    pub patient_born: Option<String>,
    pub author_first: String,
    pub author_last: String,
    pub practice: Practice,
    /// `YYYY-MM-DD`.
    pub date: String,
    /// The PDF has at least this many bytes.
    pub min_bytes: u64,
}

/// The head of a letter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Practice {
    pub name: String,
    pub street: String,
    pub postal_code: String,
    pub city: String,
    pub phone: String,
}

/// Writes the letter. The same brief gives the same bytes.
pub(crate) fn write(brief: &Brief) -> Result<Vec<u8>, String> {
    let words = if brief.french { &FRENCH } else { &ENGLISH };
    let (title, _) = words.opening(brief.document_type.as_deref());
    let author = author(brief);
    let about = About { title, author: &author, language: words.code };
    let pages = pages(brief, words);
    let mut pixels = USUAL_PIXELS;
    loop {
        let bytes = pdf::write(&pages, &about, &radiograph(brief.seed, pixels)?);
        match brief.min_bytes.saturating_sub(bytes.len() as u64) {
            0 => return Ok(bytes),
            missing => pixels += missing,
        }
    }
}

fn pages(brief: &Brief, words: &Language) -> Vec<Vec<Mark>> {
    let mut dice = Dice::new(brief.seed, "letter", 0);
    let (title, opening) = words.opening(brief.document_type.as_deref());
    let tooth = dice.pick(TEETH);
    let sentences = dice.some(words.sentences, SENTENCES).join(" ").replace("{tooth}", tooth);
    let practice = &brief.practice;
    let dateline = words.dateline.replace("{town}", &practice.city).replace("{date}", &long_date(words, &brief.date));
    let mut pages = Pages::new();
    pages.paragraph(Style::Bold, 17.0, &practice.name);
    let address = [
        format!("{}, {}", author(brief), words.dentist),
        format!("{}, {} {}", practice.street, practice.postal_code, practice.city),
        practice.phone.clone(),
    ];
    for line in &address {
        pages.paragraph(Style::Regular, BODY, line);
    }
    pages.space(24.0);
    pages.paragraph(Style::Regular, BODY, &dateline);
    pages.space(24.0);
    pages.paragraph(Style::Bold, 14.0, title);
    pages.space(6.0);
    pages.paragraph(Style::Bold, BODY, &format!("{} : {}", words.patient, patient_name(words, brief)));
    if let (Some(born), None) = (&brief.patient_born, &brief.anonymous_code) {
        pages.paragraph(Style::Bold, BODY, &format!("{} : {}", words.born, long_date(words, born)));
    }
    for paragraph in [opening, &sentences] {
        pages.space(12.0);
        pages.paragraph(Style::Regular, BODY, paragraph);
    }
    pages.space(12.0);
    pages.picture(words.picture);
    pages.space(24.0);
    pages.paragraph(Style::Regular, BODY, words.greeting);
    pages.space(24.0);
    pages.paragraph(Style::Bold, BODY, &author(brief));
    pages.finish(words.foot)
}

fn author(brief: &Brief) -> String {
    format!("Dr {} {}", brief.author_first, brief.author_last)
}

fn patient_name(words: &Language, brief: &Brief) -> String {
    if let Some(code) = &brief.anonymous_code {
        return code.clone();
    }
    let first = brief.patient_first.as_deref().unwrap_or_default();
    let last = brief.patient_last.as_deref().unwrap_or_default();
    match format!("{first} {last}").trim() {
        "" => words.unnamed.to_owned(),
        name => name.to_owned(),
    }
}

fn long_date(words: &Language, date: &str) -> String {
    let mut parts = date.splitn(3, '-');
    let (Some(year), Some(month), Some(day)) = (parts.next(), parts.next(), parts.next()) else {
        return date.to_owned();
    };
    let name = month.parse::<usize>().ok().and_then(|month| words.months.get(month.checked_sub(1)?));
    let Some(name) = name else {
        return date.to_owned();
    };
    format!("{} {name} {year}", day.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(document_type: Option<&str>) -> Brief {
        Brief {
            seed: 3,
            document_type: document_type.map(str::to_owned),
            date: "2025-01-06".into(),
            ..Brief::default()
        }
    }

    #[test]
    fn a_letter_is_as_large_as_wanted() {
        for min_bytes in [0, 60 << 10, 300 << 10] {
            let bytes = write(&Brief { min_bytes, ..brief(Some("prescription")) }).unwrap();
            assert!(bytes.len() as u64 >= min_bytes);
            assert!(bytes.len() as u64 <= min_bytes + 70_000, "{}", bytes.len());
        }
    }

    #[test]
    fn an_unknown_type_still_gets_a_letter() {
        assert!(write(&brief(Some("something_new"))).unwrap().starts_with(b"%PDF-"));
        assert!(write(&brief(None)).unwrap().starts_with(b"%PDF-"));
    }

    #[test]
    fn a_name_that_fills_a_page_goes_on_on_the_next() {
        let whole = Brief { patient_last: Some("Marie-Antoinette ".repeat(400)), ..brief(None) };
        assert!(pages(&whole, &FRENCH).len() > 1);
    }
}

//! Letters a dentist could have written, as PDF.
//!
//! A [`Brief`] says whom a letter is about; everything else follows from its seed. No word in them is about anybody.

mod compose;
mod english;
mod font;
mod french;
mod page;
mod pdf;
mod radiograph;
mod scribble;
mod script;

use serde::{Deserialize, Serialize};

use pdf::{About, Pictures};
use radiograph::radiograph;
use scribble::scribble;

/// The pixels of the radiograph of a report that has one anyway; each is a byte.
const USUAL_PIXELS: u64 = 26_000;

/// What a letter is made from. It is kept in the store instead of the bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Brief {
    pub seed: u64,
    pub document_type: Option<String>,
    pub french: bool,
    /// Stands for the patient's name in an anonymized document.
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

/// What stands at the head of a letter.
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
    let letter = compose::compose(brief);
    let about = About { title: &letter.title, author: &letter.author, language: letter.language };
    let mut pictures = Pictures { signature: scribble(&letter.author), radiograph: None };
    let mut pixels = if letter.radiograph { USUAL_PIXELS } else { 0 };
    loop {
        if pixels > 0 {
            pictures.radiograph = Some(radiograph(brief.seed, pixels)?);
        }
        let bytes = pdf::write(&letter.pages(pictures.radiograph.is_some()), &about, &pictures);
        match brief.min_bytes.saturating_sub(bytes.len() as u64) {
            0 => return Ok(bytes),
            missing => pixels += missing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(seed: u64, document_type: Option<&str>) -> Brief {
        Brief {
            seed,
            document_type: document_type.map(str::to_owned),
            french: seed.is_multiple_of(2),
            patient_first: Some("Marie-Antoinette ".repeat(8)),
            patient_last: Some("de La Rochefoucauld-Doudeauville ".repeat(6)),
            patient_born: Some("1963-02-20".into()),
            date: "2025-01-06".into(),
            ..Brief::default()
        }
    }

    #[test]
    fn even_the_longest_letters_have_at_most_five_pages() {
        for seed in 0..300 {
            for document_type in ["operative_report", "cone_beam_report", "endo_report"] {
                let letter = compose::compose(&brief(seed, Some(document_type)));
                let pages = letter.pages(letter.radiograph).len();
                assert!(pages <= 5, "{document_type} {seed}: {pages}");
            }
        }
    }

    #[test]
    fn a_letter_is_as_large_as_wanted() {
        for min_bytes in [0, 60 << 10, 300 << 10] {
            let bytes = write(&Brief { min_bytes, ..brief(3, Some("prescription")) }).unwrap();
            assert!(bytes.len() as u64 >= min_bytes);
            assert!(bytes.len() as u64 <= min_bytes + 70_000, "{}", bytes.len());
        }
    }

    #[test]
    fn an_unknown_type_still_gets_a_letter() {
        assert!(write(&brief(1, Some("something_new"))).unwrap().starts_with(b"%PDF-"));
        assert!(write(&brief(1, None)).unwrap().starts_with(b"%PDF-"));
    }
}

//! Chooses what a letter says and puts it in order.

use super::font::{Style, width};
use super::page::{ACCENT, FAINT, INK, LEFT, Mark, Pages, RIGHT, text};
use super::script::{Language, Recipient, Script};
use super::{Brief, english, french};
use crate::invent::Dice;

/// Teeth of adults by FDI number.
const TEETH: &[&str] = &[
    "11", "12", "13", "14", "15", "16", "17", "21", "22", "23", "24", "25", "26", "27", "31", "32", "33", "34", "35",
    "36", "37", "41", "42", "43", "44", "45", "46", "47",
];

/// A letter before it is laid out.
pub(super) struct Letter {
    pub title: String,
    pub author: String,
    pub language: &'static str,
    pub radiograph: bool,
    words: &'static Language,
    practice: Vec<String>,
    recipient: Vec<String>,
    dateline: String,
    facts: Vec<(&'static str, String)>,
    salutation: String,
    opening: String,
    parts: Vec<Part>,
    greeting: String,
}

enum Part {
    Section(String, String),
    Table(&'static str, &'static [f32], Vec<Vec<String>>),
}

/// The places in a sentence that are filled in.
struct Blanks {
    tooth: String,
    other: String,
    date: String,
}

impl Blanks {
    fn fill(&self, sentence: &str) -> String {
        sentence.replace("{tooth}", &self.tooth).replace("{other}", &self.other).replace("{date}", &self.date)
    }
}

pub(super) fn compose(brief: &Brief) -> Letter {
    let words = if brief.french { &french::LANGUAGE } else { &english::LANGUAGE };
    let mut dice = Dice::new(brief.seed, "letter", 0);
    let script = words.script(brief.document_type.as_deref());
    let date = long_date(words, &brief.date);
    let blanks = Blanks { tooth: dice.pick(TEETH).to_owned(), other: dice.pick(TEETH).to_owned(), date: date.clone() };
    let patient = patient_name(words, brief);
    let author = format!("Dr {} {}", brief.author_first, brief.author_last);
    let mut facts = vec![(words.patient, patient.clone())];
    if let (Some(born), None) = (&brief.patient_born, &brief.anonymous_code) {
        facts.push((words.born, long_date(words, born)));
    }
    if script.is_some_and(|script| script.teeth > 0) {
        facts.push((words.teeth, format!("{}, {}", blanks.tooth, blanks.other)));
    }
    let recipient = script.map_or_else(Vec::new, |script| recipient(words, script.recipient, &patient, &mut dice));
    let parts = script.map_or_else(Vec::new, |script| parts(words, script, &blanks, &mut dice));
    Letter {
        title: script.map_or_else(String::new, |script| script.title.to_owned()),
        author,
        language: words.code,
        radiograph: script.is_some_and(|script| script.radiograph),
        words,
        practice: vec![
            brief.practice.name.clone(),
            brief.practice.street.clone(),
            format!("{} {}", brief.practice.postal_code, brief.practice.city),
            brief.practice.phone.clone(),
        ],
        recipient,
        dateline: words.dateline.replace("{town}", &brief.practice.city).replace("{date}", &date),
        facts,
        salutation: script.map_or_else(String::new, |script| script.salutation.to_owned()),
        opening: script.map_or_else(String::new, |script| blanks.fill(script.opening)),
        parts,
        greeting: dice.pick(words.greetings).to_owned(),
    }
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
    words.date.replace("{d}", day.trim_start_matches('0')).replace("{m}", name).replace("{y}", year)
}

fn recipient(words: &Language, recipient: Recipient, patient: &str, dice: &mut Dice) -> Vec<String> {
    let first = match recipient {
        Recipient::Colleague => dice.pick(words.colleagues).to_owned(),
        Recipient::Laboratory => dice.pick(words.laboratories).to_owned(),
        Recipient::Patient => return vec![words.to_patient.to_owned(), patient.to_owned()],
        Recipient::Whom => return vec![words.whom_it_concerns.to_owned()],
    };
    let mut lines: Vec<String> = first.split('|').map(str::to_owned).collect();
    lines.push(dice.pick(words.towns).to_owned());
    lines
}

fn parts(words: &Language, script: &'static Script, blanks: &Blanks, dice: &mut Dice) -> Vec<Part> {
    let mut parts = Vec::new();
    for section in script.sections {
        let sentences = dice.some(section.sentences, section.count);
        parts.push(Part::Section(section.heading.to_owned(), blanks.fill(&sentences.join(" "))));
    }
    // Half of the letters are short, the others up to as long as the script allows.
    let described = if dice.chance(50) { dice.below(3).min(script.teeth) } else { dice.below(script.teeth + 1) };
    for tooth in dice.some(TEETH, described) {
        let of_tooth = Blanks { tooth: tooth.to_owned(), other: blanks.other.clone(), date: blanks.date.clone() };
        let mut sentences = Vec::new();
        for section in script.sections {
            sentences.extend(dice.some(section.sentences, 2));
        }
        parts.push(Part::Section(format!("{} {tooth}", words.tooth), of_tooth.fill(&sentences.join(" "))));
    }
    if let Some(grid) = &script.table {
        let owned = |row: &[&str]| row.iter().map(|cell| blanks.fill(cell)).collect();
        let mut cells: Vec<Vec<String>> = vec![owned(grid.head)];
        cells.extend(dice.some(grid.rows, grid.count).into_iter().map(owned));
        parts.push(Part::Table(grid.heading, grid.shares, cells));
    }
    parts
}

impl Letter {
    /// The letter on pages, with room for a picture or without.
    pub fn pages(&self, with_picture: bool) -> Vec<Vec<Mark>> {
        let mut pages = Pages::new();
        self.head(&mut pages);
        pages.title(&self.title);
        pages.facts(&self.facts);
        if !self.salutation.is_empty() {
            pages.paragraph(Style::Regular, &self.salutation);
        }
        pages.paragraph(Style::Regular, &self.opening);
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Section(heading, sentences) => {
                    pages.heading(heading);
                    pages.paragraph(Style::Regular, sentences);
                }
                Part::Table(heading, shares, cells) => {
                    pages.heading(heading);
                    pages.table(shares, cells);
                }
            }
            if index == 0 && with_picture {
                pages.picture(self.words.picture);
            }
        }
        if with_picture && self.parts.is_empty() {
            pages.picture(self.words.picture);
        }
        pages.signature(&self.greeting, &self.author, self.words.signed);
        pages.finish(self.words.foot, self.words.page)
    }

    fn head(&self, pages: &mut Pages) {
        let mut lines = self.practice.iter();
        let name = lines.next().map_or("", String::as_str);
        pages.mark(text(LEFT, 64.0, 17.0, Style::Bold, ACCENT, name));
        pages.mark(text(LEFT, 80.0, 9.0, Style::Regular, FAINT, &self.author));
        pages.mark(text(LEFT, 92.0, 9.0, Style::Regular, FAINT, self.words.dentist));
        for (line, y) in lines.zip([64.0, 76.0, 88.0]) {
            let x = RIGHT - width(line, Style::Regular, 9.0);
            pages.mark(text(x, y, 9.0, Style::Regular, FAINT, line));
        }
        pages.down_to(104.0);
        pages.rule();
        let to: Vec<_> = self
            .recipient
            .iter()
            .enumerate()
            .map(|(index, line)| {
                let style = if index == 0 { Style::Bold } else { Style::Regular };
                (style, 10.0, INK, line.clone())
            })
            .collect();
        let end = pages.column(330.0, 140.0, RIGHT - 330.0, &to);
        pages.down_to(end + 10.0);
        pages.down_to(196.0);
        let x = RIGHT - width(&self.dateline, Style::Regular, 10.0);
        pages.line_at(x, Style::Regular, &self.dateline);
        pages.space(16.0);
    }
}

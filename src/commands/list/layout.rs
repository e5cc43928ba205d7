//! The columns of `docsyncd list`: as wide as their content, if the terminal has room.

use super::short;

const STATE: usize = 0;
const WHEN: usize = 1;
const PATIENT: usize = 2;
const KIND: usize = 3;
const DESTINATION: usize = 4;
const DOCUMENT: usize = 5;
const REASON: usize = 6;

/// Narrower terminals have no column for the destination; even narrower ones none for the type.
const WITH_DESTINATION: usize = 72;
const WITH_KIND: usize = 60;
/// A wider state takes its room from them.
const SHORT_STATE: usize = 9;
/// The widths of columns on a narrow terminal; characters. They are smaller if their content is.
const SHORT_WHEN: usize = 11;
const SHORT_KIND: usize = 15;
const SHORT_DESTINATION: usize = 11;
const SHORT_PATIENT: usize = 20;
const SHORT_REASON: usize = 24;
const SHORT_UUID: usize = 8;
/// The greatest width of a list of destinations.
const LONG_DESTINATION: usize = 40;
/// The indent of a reason that has no room in its letter's line.
const INDENT: &str = "     ";
/// The gap between two columns.
const GAP: usize = 2;

/// The texts of a line.
pub(super) struct Line {
    pub(super) cells: [String; 9],
    /// The time in a short form.
    pub(super) short_when: String,
    pub(super) is_header: bool,
}

impl Line {
    pub(super) fn header(cells: [String; 9]) -> Self {
        Self { short_when: cells[WHEN].clone(), cells, is_header: true }
    }
}

/// The widths of the columns; 0 for a missing column.
pub(super) struct Layout {
    widths: [usize; 9],
    /// The width of the terminal; `None`: nothing is cut.
    fits: Option<usize>,
}

impl Layout {
    /// The layout for these lines on a terminal of this width. Without a width nothing is cut, and a longer line moves
    /// its columns.
    pub(super) fn of(header: &Line, lines: &[Line], fits: Option<usize>) -> Self {
        let titles = header.cells.each_ref().map(|title| title.chars().count());
        let mut needed = titles;
        needed[PATIENT] = 0;
        for line in lines {
            for (needed, cell) in needed.iter_mut().zip(&line.cells) {
                *needed = (*needed).max(cell.chars().count());
            }
        }
        if needed[PATIENT] > 0 {
            needed[PATIENT] = needed[PATIENT].max(titles[PATIENT]);
        }
        let widths = fits.map_or(needed, |fits| on_terminal(&needed, fits));
        Self { widths, fits }
    }

    /// A line, and a second one for what does not fit.
    pub(super) fn line(&self, line: &Line) -> String {
        let mut text = String::new();
        let reason = &line.cells[REASON];
        let is_below = self.fits.is_some() && reason.chars().count() > self.widths[REASON];
        for (column, (cell, width)) in
            line.cells.iter().zip(self.widths).enumerate().filter(|(_, (_, width))| *width > 0)
        {
            let shown = match (column, self.fits) {
                (_, None) => format!("{cell:width$}"),
                (REASON, Some(_)) if is_below => continue,
                (WHEN, Some(_)) if width == SHORT_WHEN => fitted(&line.short_when, width),
                (DOCUMENT, Some(_)) => fitted(if width == SHORT_UUID { short(cell) } else { cell }, width),
                (DESTINATION, Some(_)) => several(cell, width),
                (_, Some(_)) => fitted(cell, width),
            };
            text.push_str(if text.is_empty() { " " } else { "  " });
            text.push_str(&shown);
        }
        let text = text.chars().take(self.fits.unwrap_or(usize::MAX)).collect::<String>().trim_end().to_owned();
        match self.fits {
            Some(fits) if is_below && !line.is_header => {
                let room = fits.saturating_sub(INDENT.len());
                format!("{text}\n{INDENT}{}", fitted(reason, room).trim_end())
            }
            _ => text,
        }
    }
}

/// Gives each column its least width, then the remaining room to the column that needs it most.
fn on_terminal(needed: &[usize; 9], fits: usize) -> [usize; 9] {
    let mut widths = [0; 9];
    widths[STATE] = needed[STATE];
    widths[WHEN] = SHORT_WHEN;
    widths[DOCUMENT] = SHORT_UUID;
    let fits_columns = fits.saturating_sub(needed[STATE].saturating_sub(SHORT_STATE));
    if fits_columns >= WITH_KIND {
        widths[KIND] = needed[KIND].min(SHORT_KIND);
    }
    if fits_columns >= WITH_DESTINATION {
        widths[DESTINATION] = needed[DESTINATION].min(SHORT_DESTINATION);
    }
    // The patient and the reason may be columns, too.
    let columns = 2 + widths.iter().filter(|width| **width > 0).count();
    let mut spare = fits.saturating_sub(1 + widths.iter().sum::<usize>() + GAP * (columns - 1));
    let mut grow = |width: &mut usize, to: usize, whole: bool| {
        let more = to.saturating_sub(*width);
        let more = if whole && more > spare { 0 } else { more.min(spare) };
        *width += more;
        spare -= more;
    };
    grow(&mut widths[PATIENT], needed[PATIENT].min(SHORT_PATIENT), false);
    if widths[KIND] > 0 {
        grow(&mut widths[KIND], needed[KIND], false);
    }
    if widths[DESTINATION] > 0 {
        grow(&mut widths[DESTINATION], needed[DESTINATION].min(LONG_DESTINATION), false);
    }
    grow(&mut widths[PATIENT], needed[PATIENT], false);
    grow(&mut widths[REASON], needed[REASON].min(SHORT_REASON), true);
    if widths[REASON] > 0 {
        grow(&mut widths[REASON], needed[REASON], false);
    }
    grow(&mut widths[DOCUMENT], needed[DOCUMENT], true);
    grow(&mut widths[WHEN], needed[WHEN], true);
    widths
}

/// The text in this many characters.
fn fitted(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return format!("{text:width$}");
    }
    text.chars().take(width.saturating_sub(1)).chain((width > 0).then_some('…')).collect()
}

/// Names in this many characters. Those that do not fit are counted.
fn several(names: &str, width: usize) -> String {
    let all: Vec<&str> = names.split(", ").collect();
    if names.chars().count() <= width || all.len() < 2 {
        return fitted(names, width);
    }
    let shown = |count: usize| {
        let (first, rest) = all.split_at(count);
        format!("{} +{}", first.join(", "), rest.len())
    };
    match (1..all.len()).rev().map(shown).find(|text| text.chars().count() <= width) {
        Some(text) => fitted(&text, width),
        None => {
            let more = format!(" +{}", all.len() - 1);
            format!("{}{more}", fitted(all.first().unwrap_or(&""), width.saturating_sub(more.len())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Line {
        let cells = [
            "discovered",
            "2026-11-21 09:31:00",
            "Fairbairn Louise",
            "initial_medical_certificate",
            "pms, scan, archive",
            "3f0c9f0e-5a43-4c1e-9d53-6f3f2f0f9a11",
            "the folder of destination `pms` does not exist (/srv/pms/import): is the share mounted?",
            "main",
            "2026-11-21 09:45:00",
        ];
        Line { cells: cells.map(str::to_owned), short_when: "11-21 09:31".to_owned(), is_header: false }
    }

    fn header() -> Line {
        let titles = [
            "state",
            "when",
            "patient",
            "type",
            "destination",
            "document",
            "reason or file",
            "account",
            "next attempt",
        ];
        Line::header(titles.map(str::to_owned))
    }

    #[test]
    fn a_line_fits_the_terminal_and_columns_fall_away_in_a_fixed_order() {
        let at = |width| Layout::of(&header(), &[example()], Some(width)).line(&example());
        insta::assert_snapshot!([230, 160, 120, 80, 65, 50, 20].map(at).join("\n"), @r"
        discovered  2026-11-21 09:31:00  Fairbairn Louise  initial_medical_certificate  pms, scan, archive  3f0c9f0e-5a43-4c1e-9d53-6f3f2f0f9a11  the folder of destination `pms` does not exist (/srv/pms/import): is the share mounted?
        discovered  11-21 09:31  Fairbairn Louise  initial_medical_certificate  pms, scan, archive  2f0f9a11
            the folder of destination `pms` does not exist (/srv/pms/import): is the share mounted?
        discovered  2026-11-21 09:31:00  Fairbairn Louise  initial_medical_certificate  pms, scan, archive  2f0f9a11
            the folder of destination `pms` does not exist (/srv/pms/import): is the share mounted?
        discovered  11-21 09:31  Fairbairn L…  initial_medica…  pms +2       2f0f9a11
            the folder of destination `pms` does not exist (/srv/pms/import): is the s…
        discovered  11-21 09:31  Fairbairn…  initial_medica…  2f0f9a11
            the folder of destination `pms` does not exist (/srv/pms/im…
        discovered  11-21 09:31  Fairbairn L…  2f0f9a11
            the folder of destination `pms` does not exi…
        discovered  11-21 0
            the folder of …
        ");
        for width in 10..300 {
            assert!(at(width).lines().all(|line| line.chars().count() <= width));
            let header = Layout::of(&header(), &[example()], Some(width)).line(&header());
            assert!(header.chars().count() <= width);
        }
    }

    /// Some languages have long words, which must not displace what distinguishes letters.
    #[test]
    fn every_state_and_type_of_every_language_leaves_room_for_the_uuid() {
        for language in crate::formats::language::LANGUAGES {
            for state in crate::domain::state::STATES.map(|state| state.as_str()).into_iter().chain(["filed"]) {
                for kind in crate::domain::document::DOCUMENT_TYPES {
                    let mut line = example();
                    (line.cells[STATE], line.cells[KIND]) = (language.state(state), language.kind(kind));
                    let shown = Layout::of(&header(), std::slice::from_ref(&line), Some(80)).line(&line);
                    let first = shown.lines().next().unwrap();
                    assert!(first.ends_with("2f0f9a11") && first.contains("Fairb"), "{first}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_cut_where_there_is_no_terminal_and_columns_stand_below_each_other() {
        let layout = Layout::of(&header(), &[example()], None);
        let (line, titles) = (layout.line(&example()), layout.line(&header()));
        assert!(example().cells.iter().all(|cell| line.contains(cell)), "{line}");
        for (name, cell) in header().cells.iter().zip(&example().cells) {
            assert_eq!(titles.find(&format!(" {name}")), line.find(&format!(" {cell}")), "{name}");
        }
    }

    #[test]
    fn destinations_without_room_are_counted() {
        for (width, shown) in [(18, "pms, scan, archive"), (12, "pms, scan +1"), (11, "pms +2     "), (5, "p… +2")] {
            assert_eq!(several("pms, scan, archive", width), shown);
        }
        assert_eq!(several("archive", 4), "arc…");
    }
}

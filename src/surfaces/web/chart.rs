//! The last thirty days as one strip, and the same as a table for people who cannot see it.

use jiff::civil::Date;
use maud::{Markup, html};

use super::parts::count;
use crate::formats::language::Language;
use crate::views::letters::{Day, DayOutcome};

const ALL: [DayOutcome; 4] = [DayOutcome::Well, DayOutcome::Trouble, DayOutcome::Person, DayOutcome::Silent];

fn word(told: DayOutcome) -> &'static str {
    match told {
        DayOutcome::Well => "well",
        DayOutcome::Trouble => "trouble",
        DayOutcome::Person => "person",
        DayOutcome::Silent => "silent",
    }
}

fn told(language: Language, told: DayOutcome) -> String {
    language.text(match told {
        DayOutcome::Well => "page-day-well",
        DayOutcome::Trouble => "page-day-trouble",
        DayOutcome::Person => "page-day-person",
        DayOutcome::Silent => "page-day-silent",
    })
}

/// "21 Nov: 3 filed, 1 failed".
fn in_words(language: Language, date: Date, day: Day) -> String {
    let date = language.short_day(date);
    let values = [("date", (&date).into()), ("filed", day.filed.into()), ("failed", day.failed.into())];
    language.fill("page-day-numbers", &values)
}

/// A cell for each day. Its height says the same as its colour, for people who see no colours.
fn strip(language: Language, days: &[(Date, Day)]) -> Markup {
    let of = |told: DayOutcome| count(days.iter().filter(|(_, day)| day.told() == told).count());
    let [well, trouble, person, silent] = ALL.map(of);
    let values =
        [("well", well.into()), ("trouble", trouble.into()), ("person", person.into()), ("silent", silent.into())];
    html! {
        div .strip role="img" aria-label=(language.fill("page-strip", &values)) {
            @for (date, day) in days {
                span .(word(day.told())) title={ (in_words(language, *date, *day)) " – " (told(language, day.told())) } {}
            }
        }
        p .legend .soft aria-hidden="true" {
            @for one in ALL { span { i .(word(one)) {} (told(language, one)) } " " }
        }
    }
}

/// `waits`: how many letters are filed, and not yet taken.
pub(super) fn chart(language: Language, days: &[(Date, Day)], waits: u64) -> Markup {
    let total: u64 = days.iter().map(|(_, day)| day.filed).sum();
    let failed: u64 = days.iter().map(|(_, day)| day.failed).sum();
    let values = [("count", total.into()), ("failed", failed.into()), ("waits", waits.into())];
    let summary = language.fill("page-days-summary", &values);
    html! {
        (strip(language, days))
        p .soft { (summary) }
        details .numbers {
            summary { (language.text("page-days-table")) }
            table {
                thead { tr {
                    @for column in ["page-day", "page-filed", "page-failed", "page-state"] { th scope="col" { (language.text(column)) } }
                } }
                tbody {
                    @for (date, day) in days.iter().rev() {
                        tr {
                            th scope="row" { time datetime=(date) { (language.short_day(*date)) } }
                            td { (day.filed) }
                            td { (day.failed) }
                            td { (told(language, day.told())) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_red_when_a_letter_failed_or_could_not_be_filed_and_amber_when_a_person_had_to_decide() {
        let day = |filed, failed, alert| Day { filed, failed, alert }.told();
        assert_eq!([day(3, 0, None), day(0, 0, None)], [DayOutcome::Well, DayOutcome::Silent]);
        assert_eq!([day(3, 1, None), day(0, 0, Some(true)), day(3, 1, Some(false))], [DayOutcome::Trouble; 3]);
        assert_eq!([day(3, 0, Some(false)), day(0, 0, Some(false))], [DayOutcome::Person; 2]);
    }
}

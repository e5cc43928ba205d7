//! The last thirty days as one strip of how each was, with the same as a table for whoever cannot see it.

use jiff::civil::Date;
use maud::{Markup, html};

use super::parts::{count, short_date};
use crate::formats::language::Language;
use crate::views::letters::{Day, Told};

fn word(told: Told) -> &'static str {
    match told {
        Told::Well => "well",
        Told::Trouble => "trouble",
        Told::Silent => "silent",
    }
}

fn told(language: Language, told: Told) -> String {
    language.text(match told {
        Told::Well => "page-day-well",
        Told::Trouble => "page-day-trouble",
        Told::Silent => "page-day-silent",
    })
}

/// "21 Nov: 3 filed, 1 failed".
fn in_words(language: Language, date: Date, day: Day) -> String {
    let date = short_date(language, date);
    let values = [("date", (&date).into()), ("filed", day.filed.into()), ("failed", day.failed.into())];
    language.fill("page-day-numbers", &values)
}

/// A cell for each day, as high as it is loud: it is told apart without colours, too.
fn strip(language: Language, days: &[(Date, Day)]) -> Markup {
    let of = |told: Told| count(days.iter().filter(|(_, day)| day.told() == told).count());
    let (well, trouble, silent) = (of(Told::Well), of(Told::Trouble), of(Told::Silent));
    let values = [("well", well.into()), ("trouble", trouble.into()), ("silent", silent.into())];
    html! {
        div .strip role="img" aria-label=(language.fill("page-strip", &values)) {
            @for (date, day) in days {
                span .(word(day.told())) title={ (in_words(language, *date, *day)) " – " (told(language, day.told())) } {}
            }
        }
        p .legend .soft aria-hidden="true" {
            @for one in [Told::Well, Told::Trouble, Told::Silent] { span { i .(word(one)) {} (told(language, one)) } " " }
        }
    }
}

pub(super) fn chart(language: Language, days: &[(Date, Day)]) -> Markup {
    let total: u64 = days.iter().map(|(_, day)| day.filed).sum();
    let failed: u64 = days.iter().map(|(_, day)| day.failed).sum();
    let summary = language.fill("page-days-summary", &[("count", total.into()), ("failed", failed.into())]);
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
                            th scope="row" { time datetime=(date) { (short_date(language, *date)) } }
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
    fn a_day_is_in_trouble_when_a_letter_failed_or_somebody_had_to_be_told() {
        let day = |filed, failed, alert| Day { filed, failed, alert }.told();
        assert_eq!([day(3, 0, false), day(0, 0, false)], [Told::Well, Told::Silent]);
        assert_eq!([day(3, 1, false), day(0, 0, true), day(3, 0, true)], [Told::Trouble; 3]);
    }
}

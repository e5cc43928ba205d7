//! The last thirty days: a strip of how each was, and the letters of each as bars, with the same numbers as a table for
//! whoever cannot see them.

use jiff::civil::Date;
use maud::{Markup, html};

use super::parts::{count, short_date};
use crate::language::Language;
use crate::views::letters::{Day, Told};

/// Units of the drawing, which is stretched to the page's width: the width of a day, of its bar, and the height of the
/// axis.
const STEP: usize = 24;
const BAR: usize = 16;
const HEIGHT: u64 = 120;

/// A bar's height; one letter is always seen.
fn height(count: u64, top: u64) -> u64 {
    if count == 0 { 0 } else { (count.saturating_mul(HEIGHT) / top.max(1)).clamp(3, HEIGHT) }
}

/// The end of the axis: the next number of 2, 4, 10, 20, 40, 100 and so on, so that its middle is a whole number.
fn top(highest: u64) -> u64 {
    let mut decade = 1_u64;
    loop {
        for factor in [2, 4, 10] {
            let top = decade.saturating_mul(factor);
            if top >= highest {
                return top;
            }
        }
        decade = decade.saturating_mul(10);
    }
}

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
    let top = top(days.iter().map(|(_, day)| day.filed.saturating_add(day.failed)).max().unwrap_or(0));
    let summary = language.fill("page-days-summary", &[("count", total.into()), ("failed", failed.into())]);
    let width = days.len() * STEP;
    let label = |at: usize| html! { @if let Some((date, _)) = days.get(at) { span { (short_date(language, *date)) } } };
    html! {
        (strip(language, days))
        figure .chart {
            div .axis aria-hidden="true" { @for value in [top, top / 2, 0] { span { (value) } } }
            svg viewBox={ "0 0 " (width) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-labelledby="chart-summary"
                focusable="false" {
                @for y in [0, HEIGHT / 2, HEIGHT] { line x1="0" x2=(width) y1=(y) y2=(y) {} }
                @for (index, (date, day)) in days.iter().enumerate() {
                    @let (filed, bad) = (height(day.filed, top), height(day.failed, top));
                    @let x = index * STEP + (STEP - BAR) / 2;
                    g {
                        title { (in_words(language, *date, *day)) }
                        rect .day x=(index * STEP) y="0" width=(STEP) height=(HEIGHT) {}
                        @if filed > 0 { rect .filed x=(x) y=(HEIGHT - filed) width=(BAR) height=(filed) {} }
                        @if bad > 0 { rect .failed x=(x) y=(HEIGHT.saturating_sub(filed + bad)) width=(BAR) height=(bad) {} }
                    }
                }
            }
            div .ends aria-hidden="true" { (label(0)) (label(days.len() / 2)) (label(days.len().saturating_sub(1))) }
            figcaption #chart-summary { (summary) }
        }
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
    fn one_letter_among_thousands_is_seen_and_no_bar_leaves_the_drawing() {
        assert_eq!([height(0, 9), height(1, 5000), height(5000, 5000)], [0, 3, HEIGHT]);
        assert_eq!(height(u64::MAX, u64::MAX), HEIGHT.min(height(u64::MAX, u64::MAX)));
    }

    #[test]
    fn the_axis_ends_at_a_round_number_whose_half_is_whole() {
        let ends = [0, 1, 3, 5, 11, 40, 41, 999].map(top);
        assert_eq!(ends, [2, 2, 4, 10, 20, 40, 100, 1000]);
        assert_eq!(top(u64::MAX), u64::MAX, "it ends");
    }

    #[test]
    fn a_day_is_in_trouble_when_a_letter_failed_or_somebody_had_to_be_told() {
        let day = |filed, failed, alert| Day { filed, failed, alert }.told();
        assert_eq!([day(3, 0, false), day(0, 0, false)], [Told::Well, Told::Silent]);
        assert_eq!([day(3, 1, false), day(0, 0, true), day(3, 0, true)], [Told::Trouble; 3]);
    }
}

//! The last thirty days as bars, with the same numbers as a table for whoever cannot see them.

use jiff::civil::Date;
use maud::{Markup, html};

use super::parts::short_date;
use crate::language::Language;
use crate::views::letters::Day;

/// Units of the drawing: the width of a day, of its bar, and the height of the highest bar.
const STEP: usize = 24;
const BAR: usize = 16;
const HEIGHT: u64 = 96;

/// A bar's height; one letter is always seen.
fn height(count: u64, highest: u64) -> u64 {
    if count == 0 { 0 } else { (count.saturating_mul(HEIGHT) / highest.max(1)).clamp(3, HEIGHT) }
}

pub(super) fn chart(language: Language, days: &[(Date, Day)]) -> Markup {
    let total: u64 = days.iter().map(|(_, day)| day.filed).sum();
    let failed: u64 = days.iter().map(|(_, day)| day.failed).sum();
    let highest = days.iter().map(|(_, day)| day.filed.saturating_add(day.failed)).max().unwrap_or(0);
    let summary = language.fill("page-days-summary", &[("count", total.into()), ("failed", failed.into())]);
    let (width, bottom) = (days.len() * STEP, HEIGHT + 4);
    html! {
        figure .chart {
            svg viewBox={ "0 0 " (width) " " (bottom + 2) } role="img" aria-labelledby="chart-summary" focusable="false" {
                line .axis x1="0" x2=(width) y1=(bottom) y2=(bottom) {}
                @for (index, (_, day)) in days.iter().enumerate() {
                    @let (filed, bad) = (height(day.filed, highest), height(day.failed, highest));
                    @let x = index * STEP + (STEP - BAR) / 2;
                    @if filed > 0 {
                        rect .filed x=(x) y=(bottom - filed) width=(BAR) height=(filed) rx="2" {}
                    }
                    @if bad > 0 {
                        rect .failed x=(x) y=(bottom.saturating_sub(filed + bad)) width=(BAR) height=(bad) rx="2" {}
                    }
                }
            }
            @if let (Some((first, _)), Some((last, _))) = (days.first(), days.last()) {
                p .ends .soft aria-hidden="true" {
                    span { (short_date(language, *first)) }
                    span { (short_date(language, *last)) }
                }
            }
            figcaption #chart-summary { (summary) }
        }
        details .numbers {
            summary { (language.text("page-days-table")) }
            table {
                thead { tr {
                    th scope="col" { (language.text("page-day")) }
                    th scope="col" { (language.text("page-filed")) }
                    th scope="col" { (language.text("page-failed")) }
                } }
                tbody {
                    @for (date, day) in days.iter().rev() {
                        tr {
                            th scope="row" { time datetime=(date) { (short_date(language, *date)) } }
                            td { (day.filed) }
                            td { (day.failed) }
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
}

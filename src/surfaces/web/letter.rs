//! The page of one letter: its state, its places, its history, and what a person can do.

use jiff::Zoned;
use maud::{Markup, html};

use super::decisions;
use super::facts::Overview;
use super::frame::{Frame, frame};
use super::notice::{self, Notice};
use super::page;
use super::parts::{self, Form, clock, kind};
use super::patients::{self, Questions};
use crate::domain::document::short;
use crate::domain::state::State;
use crate::formats::language::{Language, Reason, zoned};
use crate::patients::List;
use crate::views::letter::LetterDetail;
use crate::views::{self, DeliveryView, DocumentHistory, HistoryView};

/// The rows of the history that are shown unfolded.
const NEWEST: usize = 20;

/// What the page needs.
pub(super) struct LetterPage<'a> {
    pub(super) detail: &'a LetterDetail,
    /// The question whose letter it is, if a person has to answer that.
    pub(super) questions: Option<&'a Questions>,
    pub(super) overview: &'a Overview,
    pub(super) pdf: Had,
    /// Whether letters go by the numbers of the practice's list.
    pub(super) has_list: bool,
    /// The list, if it can be read.
    pub(super) list: Option<&'a List>,
}

/// Where the PDF can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Had {
    /// Where it was filed, or in the spool.
    Here,
    /// Neither there nor in the spool; perhaps at the service.
    NotHere { is_changed: bool, can_ask: bool },
}

pub(super) fn page(language: Language, token: &str, shown: &LetterPage<'_>, notice: Option<Notice>) -> Markup {
    let (detail, now) = (shown.detail, &Zoned::now());
    let DocumentHistory { document: letter, deliveries, history } = &detail.shown;
    let form = Form { token, language, letter: Some(&letter.uuid), filed_by: None };
    let address = format!("/letter/{}", letter.uuid);
    // No name, because browsers keep the titles of pages.
    let is_to_come = |next: &i64| *next > now.timestamp().as_millisecond() && letter.state.is_open();
    let next = letter.next_attempt.filter(is_to_come);
    let title = format!("{} …{}", kind(language, letter.kind.as_deref()), short(&letter.uuid));
    let body = html! {
        (notice::show(language, notice))
        @if let Some(questions) = shown.questions { (patients::decided(&form, questions)) }
        p { a href="/" { (language.text("page-back")) } }
        section .letter.(light(letter.state)) aria-labelledby="letter" {
            h1 #letter { (parts::patient(language, letter.name.as_deref(), &letter.uuid)) }
            p { (kind(language, letter.kind.as_deref())) }
            p .light { (stands(language, &detail.shown)) }
            @for reason in letter.reasons.iter().filter(|reason| !parts::is_not_taken(reason)) {
                p { (language.reason(reason)) }
            }
            @if let Some(next) = next {
                p .soft { (parts::next_try(language, next, now)) }
            }
            (actions(&form, shown, &address))
            (page::as_of(language, now, &address))
        }
        @if let Some(questions) = shown.questions { (patients::show(&form, questions, now)) }
        section .places aria-labelledby="places" {
            h2 #places { (language.text("page-place")) }
            @if deliveries.is_empty() { p .soft { (language.text("letter-nowhere")) } }
            ul .list {
                @for (number, delivery) in deliveries.iter().enumerate() {
                    li { (place(language, shown.list, delivery, &letter.reasons, number, now)) }
                }
            }
        }
        section aria-labelledby="history" {
            h2 #history { (language.text("letter-history")) }
            @if detail.shown.is_cut() { p .soft { (language.text("letter-history-removed")) } }
            @let (older, newest) = history.split_at(history.len().saturating_sub(NEWEST));
            @if !older.is_empty() {
                details {
                    summary { (language.fill("page-fold", &[("count", parts::count(older.len()).into())])) }
                    (happened(language, older, now))
                }
            }
            (happened(language, newest, now))
        }
        section aria-labelledby="more" {
            h2 #more { (language.text("letter-more")) }
            dl {
                dt { (language.text("page-number")) } dd { code { (letter.uuid) } }
                dt { (language.text("page-account")) } dd { (letter.account) }
                dt { (language.text("letter-created")) } dd { (created(language, &letter.created_at, now)) }
                dt { (language.text("letter-found")) } dd { (clock(language, letter.found_at, now)) }
                @if let Some(size) = letter.size {
                    dt { (language.text("letter-size")) }
                    dd { (language.fill("letter-kilobytes", &[("size", size.div_ceil(1024).into())])) }
                }
                @if let Some(sha256) = &letter.sha256 { dt { "SHA-256" } dd { code { (sha256) } } }
            }
        }
    };
    let icon = page::icon(&shown.overview.health);
    let practice = Some(&shown.overview.practice);
    frame(language, &Frame { title: &title, icon, live: Some(&address), practice }, &body, &html! {})
}

/// When the service made it, if the time has a known form.
fn created(language: Language, at: &str, now: &Zoned) -> Markup {
    match at.parse::<jiff::Timestamp>() {
        Ok(at) => clock(language, at.as_millisecond(), now),
        Err(_) => html! { (at) },
    }
}

fn light(state: State) -> &'static str {
    match state {
        State::Failing | State::Failed | State::Unreported => "needs_person",
        State::Discovered | State::Fetched | State::Delivered => "waiting",
        State::Reported => "well",
        State::Withdrawn => "ended",
    }
}

fn stands(language: Language, shown: &DocumentHistory) -> String {
    let key = match shown.document.state {
        _ if shown.deliveries.iter().any(|delivery| delivery.may_have_arrived && delivery.is_present) => {
            "letter-uncertain"
        }
        State::Discovered if shown.document.reasons.is_empty() => "page-waits-new",
        State::Discovered => "page-waits-service",
        state if views::stands(state, &shown.deliveries) == "filed" => "page-waits-taken",
        State::Fetched => "page-waits-destination",
        State::Delivered => "page-waits-report",
        State::Failing | State::Failed => "page-not-filed",
        State::Unreported => "page-unreported",
        State::Reported => "letter-filed",
        State::Withdrawn => "letter-withdrawn",
    };
    language.text(key)
}

fn is_not_taken(delivery: &DeliveryView) -> bool {
    delivery.is_present && delivery.state == "filed"
}

/// The buttons for the letter.
fn actions(form: &Form<'_>, shown: &LetterPage<'_>, address: &str) -> Markup {
    let detail = shown.detail;
    let (language, letter) = (form.language, &detail.shown.document);
    let present = || detail.shown.deliveries.iter().filter(|delivery| delivery.is_present);
    let is_uncertain = present().any(|delivery| delivery.may_have_arrived);
    let is_asked = shown.questions.is_some_and(Questions::is_asked);
    let fields = [("uuid", letter.uuid.as_str()), ("stands", detail.stands.as_str())];
    let again = match letter.state {
        _ if is_uncertain => "letter-send-again",
        state if state.is_failure() => "page-retry",
        _ => "letter-try-now",
    };
    html! {
        div .actions {
            @match shown.pdf {
                Had::Here => a .button-like href={ (address) "/pdf" } { (language.text("letter-pdf")) },
                Had::NotHere { can_ask: true, .. } => {
                    (form.button("/fetch", &language.text("letter-fetch"), "", &[("uuid", &letter.uuid)]))
                },
                Had::NotHere { .. } => {}
            }
            @if is_uncertain || present().any(is_not_taken) {
                (form.button("/arrived", &language.text("letter-arrived"), "", &fields))
            }
            @if let Some(beside) = detail.shown.deliveries.iter().find(|delivery| delivery.is_to_remove()) {
                @let removed = if beside.is_anothers { "letter-removed-anothers" } else { "letter-removed" };
                @let [uuid, stands] = fields;
                (form.button("/arrived", &language.text(removed), "", &[uuid, stands, ("what", "removed")]))
            }
            @if shown.has_list && !is_asked && present().any(|delivery| delivery.number.is_some()) {
                (form.button("/misfiled", &language.text("letter-misfiled"), "quiet", &[("uuid", &letter.uuid)]))
            }
            @if detail.can_be_retried { (form.button("/retry", &language.text(again), "", &fields)) }
        }
        @if letter.sha256.is_some() && let Had::NotHere { is_changed, .. } = shown.pdf {
            p .soft { (language.text(if is_changed { "letter-pdf-changed" } else { "letter-pdf-gone" })) }
        }
        @if is_uncertain { p .soft { (language.text("letter-uncertain-how")) } }
    }
}

/// Its place at a destination. A reason that the page `said` above is not repeated.
fn place(
    language: Language,
    list: Option<&List>,
    delivery: &DeliveryView,
    said: &[Reason],
    at: usize,
    now: &Zoned,
) -> Markup {
    let (state, class) = match delivery.state.as_str() {
        _ if delivery.may_have_arrived => ("letter-may-have-arrived", "wait"),
        "delivered" => ("letter-there", "good"),
        "filed" => ("page-not-taken", "wait"),
        "failed" => ("state-failed", "bad"),
        _ => ("letter-to-come", "wait"),
    };
    let id = format!("place-{at}");
    html! {
        span .name { (delivery.destination) } " " span .badge.(class) { (language.text(state)) }
        span .soft {
            " " (clock(language, delivery.changed_at, now))
            @if let Some(mark) = delivery.mark() { " · " (language.text(mark)) }
        }
        @if let Some(place) = &delivery.place {
            p .path {
                code id=(id) { (parts::breakable(place)) }
                button .small.quiet.copy type="button" data-copy=(id) data-copied=(language.text("letter-copied")) {
                    (language.text("letter-copy"))
                }
            }
        }
        @if let Some(proof) = delivery.proof.as_deref().and_then(|proof| language.proof(proof)) {
            p .soft {
                (language.fill("letter-proof", &[("at", (&language.at(&zoned(delivery.changed_at, now), now)).into())]))
                " " (proof)
            }
        }
        @if let Some(number) = &delivery.number {
            p .soft { (language.text("page-patients-number")) " " (parts::number(list, number)) }
        }
        @if let Some(reason) = delivery.reason.as_ref().filter(|reason| !said.contains(reason)) {
            span .reason { (language.reason(reason)) }
        }
        @if let Some(next) = delivery.next_attempt.filter(|next| *next > now.timestamp().as_millisecond()) {
            p .soft { (parts::next_try(language, next, now)) }
        }
    }
}

/// Equal rows of the history in a row: the first, the last, and the number of attempts.
struct Run<'a> {
    first: &'a HistoryView,
    last: &'a HistoryView,
    times: u64,
}

fn runs(rows: &[HistoryView]) -> Vec<Run<'_>> {
    let is_same = |one: &HistoryView, next: &HistoryView| {
        let what = |row: &HistoryView| (row.event.clone(), row.destination.clone(), row.reason.clone());
        one.attempt > 0 && next.attempt > one.attempt && what(one) == what(next)
    };
    let runs = rows.chunk_by(is_same).filter_map(|rows| {
        let (first, last) = (rows.first()?, rows.last()?);
        // The history keeps only some of many attempts. Their numbers say how many there were.
        Some(Run { first, last, times: u64::from(last.attempt.saturating_sub(first.attempt)) + 1 })
    });
    runs.collect()
}

fn happened(language: Language, rows: &[HistoryView], now: &Zoned) -> Markup {
    html! {
        ol .history {
            @for Run { first, last, times } in runs(rows) {
                li {
                    span {
                        (clock(language, first.at, now))
                        @if times > 1 { " – " (clock(language, last.at, now)) }
                    }
                    " "
                    span {
                        (language.event(&last.event, last.destination.as_deref()))
                        @if times > 1 { " " (language.fill("letter-times", &[("count", times.into())])) }
                        @if let Some(who) = &last.who {
                            span .reason { (last.by_whom(language, &decisions::who(language, Some(who)))) }
                        } @else if let Some(reason) = last.reason.as_ref().filter(|reason| is_told(language, reason)) {
                            span .reason { (language.reason(reason)) }
                        }
                    }
                }
            }
        }
    }
}

/// A reason without a code says no more than its event.
fn is_told(language: Language, reason: &Reason) -> bool {
    language == Language::English || reason.code.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_attempts_one_after_another_are_one_row() {
        let row = |event: &str, attempt: u32, code: &str| HistoryView {
            at: i64::from(attempt),
            event: event.to_owned(),
            state: String::new(),
            attempt,
            destination: Some("pms".to_owned()),
            reason: Some(Reason {
                text: code.to_owned(),
                code: Some(code.to_owned()),
                name: String::new(),
                ended: false,
            }),
            who: None,
            number: None,
        };
        let rows = [
            row("fetched", 0, ""),
            row("postponed", 1, "a"),
            row("postponed", 2, "a"),
            row("postponed", 16, "a"),
            row("postponed", 17, "b"),
            row("postponed", 1, "b"),
            row("delivered", 0, ""),
            row("delivered", 0, ""),
        ];
        let found: Vec<_> = runs(&rows).iter().map(|run| (run.first.attempt, run.last.attempt, run.times)).collect();
        assert_eq!(found, [(0, 0, 1), (1, 16, 16), (17, 17, 1), (1, 1, 1), (0, 0, 1), (0, 0, 1)]);
    }
}

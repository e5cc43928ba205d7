//! The page of one letter: how it stands, where it lies, what happened to it, and what can be done.

use jiff::Zoned;
use maud::{Markup, html};

use super::facts::Overview;
use super::frame::{Frame, frame};
use super::page::{self, Notice};
use super::parts::{self, Form, clock, kind};
use super::patients::{self, Questions};
use crate::document::short;
use crate::language::{Language, Reason};
use crate::state::State;
use crate::views::letter::LetterDetail;
use crate::views::{DeliveryView, DocumentHistory, HistoryView};

/// Rows of the history that are shown at once: those before them are folded.
const NEWEST: usize = 20;

/// What the page shows.
pub(super) struct Shown<'a> {
    pub(super) detail: &'a LetterDetail,
    /// Whose letter it is, where a person has to say that.
    pub(super) questions: Option<&'a Questions>,
    pub(super) overview: &'a Overview,
}

pub(super) fn page(language: Language, token: &str, shown: &Shown<'_>, notice: Option<Notice>) -> Markup {
    let (detail, now) = (shown.detail, &Zoned::now());
    let DocumentHistory { document: letter, deliveries, history } = &detail.shown;
    let form = Form { token, language, letter: Some(&letter.uuid) };
    let address = format!("/letter/{}", letter.uuid);
    // No name: browsers keep the titles of pages that they showed.
    let title = format!("{} …{}", kind(language, letter.kind.as_deref()), short(&letter.uuid));
    let body = html! {
        (page::notice(language, notice))
        p { a href="/" { (language.text("page-back")) } }
        section .letter.(light(letter.state)) aria-labelledby="letter" {
            h1 #letter { (parts::patient(language, letter.name.as_deref(), &letter.uuid)) }
            p { (kind(language, letter.kind.as_deref())) }
            p .light { (stands(language, &detail.shown)) }
            @for reason in &letter.reasons { p { (language.reason(reason)) } }
            @if let Some(next) = letter.next_attempt.filter(|next| *next > now.timestamp().as_millisecond() && letter.state.is_open()) {
                p .soft { (language.text("page-next")) " " (clock(language, next, now)) "." }
            }
            (actions(&form, detail, &address))
            (page::as_of(language, now, &address))
        }
        @if let Some(questions) = shown.questions { (patients::show(&form, questions, now)) }
        section .places aria-labelledby="places" {
            h2 #places { (language.text("page-place")) }
            @if deliveries.is_empty() { p .soft { (language.text("letter-nowhere")) } }
            ul .list {
                @for (number, delivery) in deliveries.iter().enumerate() {
                    li { (place(language, delivery, number, now)) }
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
                dt { (language.text("letter-created")) } dd { (letter.created_at) }
                dt { (language.text("letter-found")) } dd { (clock(language, letter.found_at, now)) }
                @if let Some(size) = letter.size {
                    dt { (language.text("letter-size")) }
                    dd { (language.fill("letter-kilobytes", &[("size", size.div_ceil(1024).into())])) }
                }
                @if let Some(sha256) = &letter.sha256 { dt { "SHA-256" } dd { code { (sha256) } } }
            }
        }
    };
    let icon = page::icon(shown.overview.health.light);
    frame(language, &Frame { title: &title, icon, live: Some(&address) }, &body, &html! {})
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
        State::Fetched if shown.deliveries.iter().any(is_not_taken) => "page-waits-taken",
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

/// What can be done with it.
fn actions(form: &Form<'_>, detail: &LetterDetail, address: &str) -> Markup {
    let (language, letter) = (form.language, &detail.shown.document);
    let present = || detail.shown.deliveries.iter().filter(|delivery| delivery.is_present);
    let is_uncertain = present().any(|delivery| delivery.may_have_arrived);
    let fields = [("uuid", letter.uuid.as_str()), ("stands", detail.stands.as_str())];
    let again = match letter.state {
        _ if is_uncertain => "letter-send-again",
        state if state.is_failure() => "page-retry",
        _ => "letter-try-now",
    };
    html! {
        div .actions {
            @if letter.sha256.is_some() { a .button-like href={ (address) "/pdf" } { (language.text("letter-pdf")) } }
            @if is_uncertain || present().any(is_not_taken) {
                (form.button("/arrived", &language.text("letter-arrived"), "", &fields))
            }
            @if detail.can_be_retried { (form.button("/retry", &language.text(again), "", &fields)) }
        }
        @if is_uncertain { p .soft { (language.text("letter-uncertain-how")) } }
    }
}

fn place(language: Language, delivery: &DeliveryView, number: usize, now: &Zoned) -> Markup {
    let (state, class) = match delivery.state.as_str() {
        _ if delivery.may_have_arrived => ("letter-may-have-arrived", "wait"),
        "delivered" => ("letter-there", "good"),
        "filed" => ("page-not-taken", "wait"),
        "failed" => ("state-failed", "bad"),
        _ => ("letter-to-come", "wait"),
    };
    let id = format!("place-{number}");
    html! {
        span .name { (delivery.destination) } " " span .badge.(class) { (language.text(state)) }
        span .soft {
            " " (clock(language, delivery.changed_at, now))
            @if !delivery.is_present { " · " (language.text("letter-older-version")) }
        }
        @if let Some(place) = &delivery.place {
            p .path {
                code id=(id) { (place) }
                button .small.quiet.copy type="button" data-copy=(id) data-copied=(language.text("letter-copied")) {
                    (language.text("letter-copy"))
                }
            }
        }
        @if let Some(proof) = delivery.proof.as_deref().and_then(|proof| language.proof(proof)) {
            p .soft { (language.text("letter-proof")) " " (proof) }
        }
        @if let Some(number) = &delivery.number {
            p .soft { (language.text("page-patients-number")) " " (number) }
        }
        @if let Some(reason) = &delivery.reason { span .reason { (language.reason(reason)) } }
        @if let Some(next) = delivery.next_attempt.filter(|next| *next > now.timestamp().as_millisecond()) {
            p .soft { (language.text("page-next")) " " (clock(language, next, now)) "." }
        }
    }
}

fn happened(language: Language, rows: &[HistoryView], now: &Zoned) -> Markup {
    html! {
        ol .history {
            @for row in rows {
                li {
                    (clock(language, row.at, now)) " "
                    span {
                        (language.event(&row.event, row.destination.as_deref()))
                        @if let Some(reason) = row.reason.as_ref().filter(|reason| is_told(language, reason)) {
                            span .reason { (language.reason(reason)) }
                        }
                    }
                }
            }
        }
    }
}

/// Of a wait that is over only the English words are kept.
fn is_told(language: Language, reason: &Reason) -> bool {
    language == Language::English || reason.code.is_some()
}

//! Small parts of the page: times, types, tables of letters.

use jiff::Zoned;
use maud::{Markup, Render, html};

use crate::domain::state::State;
use crate::formats::language::{Language, Reason, zoned};
use crate::ledger::Millis;
use crate::patients::List;
use crate::views::letters::Letters;
use crate::views::{DeliveryView, DocumentView};

/// The digits of a document's uuid that are shown in place of a name.
const SHORT_UUID: usize = 8;
/// The rows of a search that are shown unfolded.
const SEEN_FOUND: usize = 20;
/// The rows of today that are shown unfolded.
const SEEN_TODAY: usize = 5;
/// The rows of failed or waiting letters that are shown unfolded.
const SEEN_OPEN: usize = 1;
/// So few rows are never folded.
const FEW: usize = 3;

/// A document's type in the reader's language. A type that is unknown here is shown as the service calls it.
pub(super) fn kind(language: Language, kind: Option<&str>) -> String {
    match kind {
        Some(kind) => language.document_type(kind).unwrap_or_else(|| kind.replace('_', " ")),
        None => language.text("page-no-type"),
    }
}

/// The time, with the day if it is not today.
pub(super) fn clock(language: Language, at: Millis, now: &Zoned) -> Markup {
    let at = zoned(at, now);
    let time = format!("{:02}:{:02}", at.hour(), at.minute());
    let shown = match at.date() == now.date() {
        true => time,
        false => format!("{}, {time}", language.short_day(at.date())),
    };
    html! { time datetime=(at.strftime("%Y-%m-%dT%H:%M:%S%:z")) { (shown) } }
}

/// The file's name: the last part of a place.
fn file_name(place: &str) -> &str {
    place.rsplit(['/', '\\']).next().unwrap_or(place)
}

/// A name or path that breaks only after its parts, and never within a date.
pub(super) fn breakable(name: &str) -> Markup {
    html! { @for part in name.split_inclusive(['/', '\\', '_', ' ']) { span .part { (part) } } }
}

/// What is known of a letter besides its place.
fn proof(language: Language, delivery: &DeliveryView) -> Option<String> {
    if delivery.is_to_remove() {
        return Some(language.text(if delivery.is_anothers { "page-for-another" } else { "page-not-replaced" }));
    }
    if delivery.state == "filed" {
        return Some(language.text("page-not-taken"));
    }
    let proof = delivery.proof.as_deref().filter(|proof| !["durable", "accepted", "read_back"].contains(proof))?;
    language.proof(proof)
}

fn places<'a>(language: Language, deliveries: impl Iterator<Item = &'a DeliveryView>) -> Markup {
    let places: Vec<(&DeliveryView, Option<String>)> =
        deliveries.filter_map(|delivery| Some((delivery, delivery.place_to_find()?))).collect();
    html! {
        @for (delivery, place) in &places {
            span .place { (delivery.destination) }
            @if let Some(place) = place { span .file title=(place) { (breakable(file_name(place))) } }
            @if let Some(proof) = proof(language, delivery) { " " span .soft { (proof) } }
        }
        @if places.is_empty() { span .soft { (language.text("page-no-place")) } }
    }
}

/// The name. Without one, the last digits of the document's uuid, as in a file's name.
pub(super) fn patient(language: Language, name: Option<&str>, uuid: &str) -> Markup {
    let end = uuid.char_indices().rev().nth(SHORT_UUID - 1).and_then(|(at, _)| uuid.get(at..)).unwrap_or(uuid);
    html! {
        // Text in the name that runs from right to left does not turn its surroundings.
        @if let Some(name) = name { bdi { (name) } }
        @else { span .soft { (language.fill("page-no-name", &[("number", end.into())])) } }
    }
}

/// A number of the practice's list, and whose it is there now: a wrong one is seen by the name.
pub(super) fn number(list: Option<&List>, number: &str) -> Markup {
    html! {
        (number)
        @if let Some(row) = list.and_then(|list| list.row(number)) { " (" bdi { (row.named()) } ")" }
    }
}

/// A link to the letter's page.
pub(super) fn link(uuid: &str, shown: impl Render) -> Markup {
    html! { a href={ "/letter/" (uuid) } { (shown) } }
}

/// The first cells of a letter's row: the time, the name with a link to the letter's page, and the type.
fn cells(language: Language, column: &str, at: Millis, letter: &DocumentView, now: &Zoned) -> Markup {
    let name = patient(language, letter.name.as_deref(), &letter.uuid);
    html! {
        td .when data-label=(language.text(column)) { (clock(language, at, now)) }
        th scope="row" data-label=(language.text("page-patient")) { (link(&letter.uuid, name)) }
        td .kind data-label=(language.text("page-type")) { (kind(language, letter.kind.as_deref())) }
    }
}

/// A number as the sentences take it.
pub(super) fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// What the buttons of a page need.
pub(super) struct Form<'a> {
    pub(super) token: &'a str,
    pub(super) language: Language,
    /// The letter of the page, on a letter's page.
    pub(super) letter: Option<&'a str>,
    /// The number by which the letter was filed that it is about, if it is to be filed anew.
    pub(super) filed_by: Option<&'a str>,
}

impl Form<'_> {
    /// A form with one button.
    pub(super) fn button(&self, action: &str, text: &str, class: &str, fields: &[(&str, &str)]) -> Markup {
        html! {
            form method="post" action=(action) .button {
                (self.hidden())
                @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
                button type="submit" class=(class) { (text) }
            }
        }
    }

    pub(super) fn hidden(&self) -> Markup {
        html! {
            input type="hidden" name="token" value=(self.token);
            @if let Some(letter) = self.letter { input type="hidden" name="letter" value=(letter); }
            @if let Some(number) = self.filed_by { input type="hidden" name="filed" value=(number); }
        }
    }
}

/// The letters of today.
pub(super) fn today(language: Language, letters: &Letters, now: &Zoned) -> Markup {
    table(language, &["page-time", "page-patient", "page-type", "page-place"], letters, SEEN_TODAY, |letter| {
        html! {
            (cells(language, "page-time", letter.changed_at, letter, now))
            td data-label=(language.text("page-place")) { (places(language, letter.present())) }
        }
    })
}

/// A reason that the page shows elsewhere, and where.
pub(super) struct ToldReason {
    pub(super) reason: String,
    /// The account or destination.
    pub(super) name: String,
    pub(super) id: String,
}

/// The letters that wait.
pub(super) fn waiting(language: Language, letters: &Letters, told: &[ToldReason], now: &Zoned) -> Markup {
    table(language, &["page-since", "page-patient", "page-type", "page-why"], letters, SEEN_OPEN, |letter| {
        html! {
            (cells(language, "page-since", letter.found_at, letter, now))
            td data-label=(language.text("page-why")) {
                (waits(language, letter, now))
                @for reason in letter.reasons.iter().filter(|reason| !is_not_taken(reason)) {
                    @match told.iter().find(|told| told.reason == reason.text) {
                        Some(told) => {
                            " " a href={ "#" (told.id) } { (language.fill("page-why-there", &[("name", (&told.name).into())])) }
                        },
                        None => span .reason { (language.reason(reason)) },
                    }
                }
            }
        }
    })
}

/// The letters that were filed but not yet taken.
pub(super) fn not_taken(language: Language, letters: &Letters, now: &Zoned) -> Markup {
    table(language, &["page-since", "page-patient", "page-type", "page-place"], letters, SEEN_OPEN, |letter| {
        let filed = letter.present().filter(|delivery| delivery.state == "filed");
        let since = filed.map(|delivery| delivery.changed_at).min().unwrap_or(letter.changed_at);
        html! {
            (cells(language, "page-since", since, letter, now))
            td data-label=(language.text("page-place")) {
                @for delivery in letter.present().filter(|delivery| delivery.state == "filed") {
                    span .place { (delivery.destination) }
                    @if let Some(place) = &delivery.place { span .file title=(place) { (breakable(file_name(place))) } }
                }
            }
        }
    })
}

/// Whether the letter is filed and only the proof is missing, which the first sentence says.
pub(super) fn is_not_taken(reason: &Reason) -> bool {
    reason.code.as_deref() == Some("not_taken")
}

/// The letter's state, and when it is tried again.
fn waits(language: Language, letter: &DocumentView, now: &Zoned) -> Markup {
    let now_ms = now.timestamp().as_millisecond();
    let stands = match (letter.state, letter.reasons.is_empty()) {
        (State::Delivered, _) => "page-waits-report",
        (State::Fetched, _) if letter.reasons.iter().any(is_not_taken) => "page-waits-taken",
        (State::Fetched, _) => "page-waits-destination",
        (_, true) => "page-waits-new",
        (_, false) => "page-waits-service",
    };
    html! {
        (language.text(stands))
        @if let Some(next) = letter.next_attempt.filter(|next| !letter.reasons.is_empty() && *next > now_ms) {
            " "
            (next_try(language, next, now))
        }
    }
}

/// When it is tried again.
pub(super) fn next_try(language: Language, next: Millis, now: &Zoned) -> String {
    let at = language.at(&zoned(next, now), now);
    language.fill("page-next", &[("at", (&at).into())])
}

/// The letters that failed, each with a button.
pub(super) fn failed(form: &Form<'_>, letters: &Letters, now: &Zoned) -> Markup {
    let language = form.language;
    let columns = ["page-time", "page-patient", "page-type", "page-why", "page-action"];
    table(language, &columns, letters, SEEN_OPEN, |letter| {
        html! {
            (cells(language, "page-time", letter.changed_at, letter, now))
            td data-label=(language.text("page-why")) {
                @if letter.state == State::Unreported { (language.text("page-unreported")) }
                @else if letter.reasons.is_empty() { (language.text("page-not-filed")) }
                @for reason in &letter.reasons { span .reason { (language.reason(reason)) } }
            }
            td .act {
                (form.button("/retry", &language.text("page-retry"), "small", &[("uuid", &letter.uuid)]))
            }
        }
    })
}

fn table(
    language: Language,
    columns: &[&str],
    letters: &Letters,
    seen: usize,
    row: impl Fn(&DocumentView) -> Markup,
) -> Markup {
    html! {
        (folded(language, columns, &letters.shown, seen, row))
        @if letters.more { p .soft { (language.text("page-more")) } }
    }
}

/// A table whose first rows are shown, and the others folded: nobody wants to scroll past a hundred letters on a phone.
fn folded<T>(language: Language, columns: &[&str], rows: &[T], seen: usize, row: impl Fn(&T) -> Markup) -> Markup {
    let seen = if rows.len() <= FEW { FEW } else { seen };
    let (first, others) = rows.split_at(rows.len().min(seen));
    let part = |rows: &[T]| {
        html! {
            table .letters {
                thead { tr { @for column in columns { th scope="col" .act[*column == "page-action"] { (language.text(column)) } } } }
                tbody { @for one in rows { tr { (row(one)) } } }
            }
        }
    };
    html! {
        (part(first))
        @if !others.is_empty() {
            details {
                summary { (language.fill("page-fold", &[("count", count(others.len()).into())])) }
                (part(others))
            }
        }
    }
}

/// The letters that a search found.
pub(super) fn found(language: Language, letters: &[DocumentView], more: bool, now: &Zoned) -> Markup {
    let columns = ["page-time", "page-patient", "page-type", "page-state", "page-place"];
    html! {
        (folded(language, &columns, letters, SEEN_FOUND, |letter| html! {
            (cells(language, "page-time", letter.found_at, letter, now))
            td data-label=(language.text("page-state")) {
                (language.text(&format!("state-{}", letter.stands())))
            }
            td data-label=(language.text("page-place")) { (places(language, letter.deliveries.iter())) }
        }))
        @if more { p .soft { (language.text("page-more-found")) } }
    }
}

//! The page as HTML. Everything that is filled in is escaped; there is no script, and nothing comes from elsewhere.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::chart::chart;
use super::facts::{Details, Hits, Overview, Place, Search};
use super::parts::{self, Form, clock};
use super::patients::{self, Questions};
use crate::document::DOCUMENT_TYPES;
use crate::health::{Cause, Light};
use crate::language::{Group, Language, groups};

/// The one style sheet.
pub(super) const STYLE: &str = include_str!("style.css");

/// What a person is told who has just pressed a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notice {
    Retried,
    RetriedAll,
    Polled,
    Closed,
    Unknown,
    Assigned,
    NotAssigned,
}

impl Notice {
    pub(super) const ALL: [Self; 7] =
        [Self::Retried, Self::RetriedAll, Self::Polled, Self::Closed, Self::Unknown, Self::Assigned, Self::NotAssigned];

    /// The word in the address, and the end of its text's name.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Notice::Retried => "retried",
            Notice::RetriedAll => "retried-all",
            Notice::Polled => "polled",
            Notice::Closed => "closed",
            Notice::Unknown => "unknown",
            Notice::Assigned => "assigned",
            Notice::NotAssigned => "not-assigned",
        }
    }
}

/// What a search was for and what it found.
pub(super) struct Found {
    pub(super) search: Search,
    /// `None`: nothing was asked.
    pub(super) letters: Option<Hits>,
}

/// What goes with the key.
pub(super) struct Keyed<'a> {
    /// What every form carries.
    pub(super) token: &'a str,
    pub(super) details: Details,
    /// `None`: looking for them in the list ended in the middle.
    pub(super) questions: Option<Questions>,
    pub(super) found: Option<Found>,
    pub(super) keeps_names: bool,
}

/// The whole page.
pub(super) fn page(
    language: Language,
    overview: &Overview,
    keyed: Option<&Keyed<'_>>,
    notice: Option<Notice>,
) -> Markup {
    let headline = match keyed {
        Some(_) => language.headline(&overview.health.headline, &overview.now),
        None => language.text(&format!("page-open-{}", dashed(overview.health.light))),
    };
    let light = overview.health.light;
    let problems = groups(&overview.health.problems);
    let body = html! {
        @if let Some(notice) = notice {
            p .notice role="status" { (language.text(&format!("page-notice-{}", notice.as_str()))) }
        }
        section .status.(light.as_str()) aria-labelledby="headline" {
            span .lamp aria-hidden="true" { (sign(light)) }
            div {
                // The sentences that all is well, and those without the key, say it themselves.
                @if keyed.is_some() && light != Light::Well {
                    p .light { (language.text(&format!("light-{}", dashed(light)))) }
                }
                h1 #headline { (headline) }
                @if let (Some(_), [only]) = (keyed, problems.as_slice()) {
                    p .advice { (advice(language, only, overview)) }
                }
                p .soft {
                    (language.text("page-as-of")) " " (clock(language, overview.now.timestamp().as_millisecond(), &overview.now))
                    " · " a href="/" { (language.text("page-refresh")) }
                }
            }
        }
        (tiles(language, overview, keyed.is_some()))
        @match keyed {
            Some(keyed) => (with_key(language, overview, keyed, &problems)),
            None => (without_key(language, overview)),
        }
        section aria-labelledby="days" {
            h2 #days { (language.text("page-days")) }
            (chart(language, &overview.days))
        }
    };
    let foot = html! {
        @if let Some(keyed) = keyed {
            (form(language, keyed).button("/close", &language.text("page-close"), "quiet", &[]))
        }
    };
    frame(language, &headline, icon(light), &body, &foot)
}

fn dashed(light: Light) -> String {
    light.as_str().replace('_', "-")
}

fn sign(light: Light) -> &'static str {
    match light {
        Light::Well => "✓",
        Light::Waiting => "…",
        Light::NeedsPerson | Light::NotRunning => "!",
    }
}

/// The icon in the browser's tab has the colour of the light.
pub(super) fn icon(light: Light) -> &'static str {
    match light {
        Light::Well => "/well.svg",
        Light::Waiting => "/waiting.svg",
        Light::NeedsPerson | Light::NotRunning => "/needs-person.svg",
    }
}

fn form<'a>(language: Language, keyed: &'a Keyed<'_>) -> Form<'a> {
    Form { token: keyed.token, language }
}

fn tiles(language: Language, overview: &Overview, keyed: bool) -> Markup {
    let tile = |key: &str, count: u64, class: &str, target: &str| {
        html! {
            li class=(class) {
                // Where there is nothing to see there is nowhere to go.
                @if keyed && (count > 0 || target == "#today") {
                    a href=(target) { strong { (count) } " " span { (language.text(key)) } }
                } @else {
                    p { strong { (count) } " " span { (language.text(key)) } }
                }
            }
        }
    };
    html! {
        ul .tiles {
            (tile("page-today", overview.today, "", "#today"))
            (tile("page-waiting", overview.waiting, if overview.waiting > 0 { "some" } else { "" }, "#waiting"))
            (tile("page-failed", overview.failed, if overview.failed > 0 { "bad" } else { "" }, "#failed"))
        }
    }
}

/// What names nobody: how many accounts and destinations work.
fn without_key(language: Language, overview: &Overview) -> Markup {
    let works = |places: &[Place]| {
        let works = places.iter().filter(|place| place.pause.is_none()).count();
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        (count(works), count(places.len()))
    };
    let line = |key: &str, places: &[Place]| {
        let (works, all) = works(places);
        language.fill(key, &[("works", works.into()), ("all", all.into())])
    };
    html! {
        section aria-labelledby="more" {
            h2 #more { (language.text("page-locked")) }
            p { (language.text("page-locked-how")) }
            p .soft { (line("page-accounts-work", &overview.accounts)) }
            p .soft { (line("page-destinations-work", &overview.destinations)) }
        }
    }
}

fn with_key(language: Language, overview: &Overview, keyed: &Keyed<'_>, problems: &[Group]) -> Markup {
    let (form, now) = (form(language, keyed), &overview.now);
    let details = &keyed.details;
    // What a place says once is not said again of each letter that waits for it.
    let places_of = overview.accounts.iter().chain(&overview.destinations);
    let told: Vec<&str> = places_of.filter_map(|place| Some(place.pause.as_ref()?.reason.text.as_str())).collect();
    html! {
        // A single one is said above.
        @if problems.len() > 1 {
            section .problems aria-labelledby="problems" {
                h2 #problems { (language.text("page-problems")) }
                ul {
                    @for group in problems {
                        li {
                            p { strong { (language.group(group, now)) } }
                            p { (advice(language, group, overview)) }
                        }
                    }
                }
            }
        }
        (search(language, keyed, now, &form))
        @if !details.failed.shown.is_empty() {
            section aria-labelledby="failed" {
                h2 #failed tabindex="-1" { (language.text("page-failed-title")) }
                @if details.failed.shown.len() > 1 {
                    (form.button("/retry-failed", &language.text("page-retry-all"), "", &[]))
                }
                (parts::failed(&form, &details.failed, now))
            }
        }
        @if let Some(questions) = &keyed.questions { (patients::show(&form, questions, now)) }
        @if !details.waiting.shown.is_empty() {
            section aria-labelledby="waiting" {
                h2 #waiting tabindex="-1" { (language.text("page-waiting-title")) }
                (parts::waiting(language, &details.waiting, &told, now))
            }
        }
        section aria-labelledby="today" {
            h2 #today tabindex="-1" { (language.text("page-today-title")) }
            @if details.today.shown.is_empty() { p .soft { (language.text("page-today-none")) } }
            @else { (parts::today(language, &details.today, now)) }
            (form.button("/poll", &language.text("page-poll"), "", &[]))
        }
        section .places aria-labelledby="places" {
            h2 #places { (language.text("page-places")) }
            h3 { (language.text("page-accounts")) }
            (places(language, &overview.accounts, now))
            h3 { (language.text("page-destinations")) }
            (places(language, &overview.destinations, now))
        }
    }
}

/// What to do about it; on this page without the command line, where it has the button.
fn advice(language: Language, group: &Group, overview: &Overview) -> String {
    match group.cause {
        Cause::Failed | Cause::Unreported => language.text("page-advice-failed"),
        Cause::PatientUnknown => language.text("page-advice-patient-unknown"),
        _ => language.advice(group, &overview.disks),
    }
}

fn places(language: Language, places: &[Place], now: &jiff::Zoned) -> Markup {
    html! {
        ul .list {
            @for place in places {
                li {
                    span .name { (place.name) } " "
                    @match &place.pause {
                        None => {
                            span .badge.good { (language.text("page-works")) }
                            @if let Some(polled_at) = place.polled_at {
                                span .soft { " " (language.text("page-asked")) " " (clock(language, polled_at, now)) }
                            }
                        }
                        Some(pause) => {
                            span .badge.bad { (language.text("page-paused")) }
                            span .soft {
                                " " (language.since(&parts::local(pause.since, now), now)) ". "
                                (language.text("page-next")) " " (clock(language, pause.probe_at, now)) "."
                            }
                            span .reason { (language.reason(&pause.reason)) }
                        }
                    }
                }
            }
        }
    }
}

fn search(language: Language, keyed: &Keyed<'_>, now: &jiff::Zoned, form: &Form<'_>) -> Markup {
    let nothing = Search::default();
    let search = keyed.found.as_ref().map_or(&nothing, |found| &found.search);
    html! {
        section .search aria-labelledby="search" {
            h2 #search { (language.text("page-search")) }
            form method="post" action="/find#search" role="search" {
                (form.hidden())
                div .field.wide {
                    label for="words" { (language.text("page-search-words")) }
                    input #words type="search" name="words" value=(search.text) maxlength="200" autocomplete="off";
                }
                div .field {
                    label for="day" { (language.text("page-search-day")) }
                    input #day type="date" name="day" value=(search.day);
                }
                div .field {
                    label for="kind" { (language.text("page-type")) }
                    select #kind name="kind" {
                        option value="" { (language.text("page-search-any")) }
                        @for kind in DOCUMENT_TYPES {
                            option value=(kind) selected[search.kind == kind] { (parts::kind(language, Some(kind))) }
                        }
                    }
                }
                button type="submit" { (language.text("page-search-go")) }
            }
            @if !keyed.keeps_names { p .soft { (language.text("page-search-no-names")) } }
            @match keyed.found.as_ref().map(|found| &found.letters) {
                None => {}
                Some(None) => p role="status" { (language.text("page-search-empty")) },
                Some(Some(hits)) => (found(language, hits, now)),
            }
        }
    }
}

fn found(language: Language, hits: &Hits, now: &jiff::Zoned) -> Markup {
    let count = u64::try_from(hits.letters.len()).unwrap_or(u64::MAX);
    html! {
        @if hits.newest_only {
            p role="status" { (language.fill("page-search-newest", &[("count", count.into())])) }
        } @else if count == 0 {
            p role="status" { (language.text("page-search-none")) }
        } @else {
            p role="status" { (language.fill("page-search-found", &[("count", count.into())])) }
        }
        @if count > 0 { (parts::found(language, &hits.letters, hits.more, now)) }
    }
}

/// A page of one sentence, and what to do.
pub(super) fn sentence(language: Language, key: &str) -> Markup {
    let title = language.text(&format!("page-{key}"));
    let body = html! {
        section .sentence {
            h1 { (title) }
            p { (language.text(&format!("page-{key}-do"))) }
            p { a href="/" { (language.text("page-back")) } }
        }
    };
    frame(language, &title, "/waiting.svg", &body, &html! {})
}

fn frame(language: Language, title: &str, icon: &str, body: &Markup, foot: &Markup) -> Markup {
    let other = match language {
        Language::English => (Language::French, "Français"),
        Language::French => (Language::English, "English"),
    };
    html! {
        (DOCTYPE)
        html lang=(language.as_str()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – docsyncd" }
                link rel="icon" href=(icon) type="image/svg+xml";
                link rel="stylesheet" href="/style.css";
            }
            body {
                header {
                    p .brand { "docsyncd" }
                    nav aria-label=(language.text("page-language")) {
                        a href={ "/?lang=" (other.0.as_str()) } lang=(other.0.as_str()) hreflang=(other.0.as_str()) { (other.1) }
                    }
                }
                main { (body) }
                footer {
                    (foot)
                    p .soft { "docsyncd " (env!("CARGO_PKG_VERSION")) }
                }
            }
        }
    }
}

/// The icon of the tab in this colour.
pub(super) fn dot(colour: &str) -> String {
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" { (PreEscaped("")) circle cx="8" cy="8" r="7" fill=(colour) {} }
    }
    .into_string()
}

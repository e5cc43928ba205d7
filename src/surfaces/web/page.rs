//! The page as HTML. All inserted text is escaped, and nothing is loaded from elsewhere. It is complete without its
//! script.

use std::sync::Arc;

use jiff::Zoned;
use maud::{Markup, html};

use super::browsers::{self, Browsers};
use super::chart::chart;
use super::decisions;
use super::facts::{Details, Hits, NamedPlace, Overview, Search};
use super::frame::{Frame, frame};
use super::mended;
use super::notice::{self, Notice};
use super::parts::{self, Form, ToldReason, clock};
use super::patients::{self, Questions};
use crate::domain::document::DOCUMENT_TYPES;
use crate::domain::health::{Cause, Health, Light};
use crate::formats::language::{Group, Language, groups, zoned};
use crate::patients::List;

/// The one style sheet.
pub(super) const STYLE: &str = include_str!("style.css");
/// The one script.
pub(super) const SCRIPT: &str = include_str!("page.js");

/// A search and what it found.
pub(super) struct Found {
    pub(super) search: Search,
    /// `None`: nobody searched.
    pub(super) letters: Option<Hits>,
}

/// What the page needs for a browser with the key.
pub(super) struct Keyed<'a> {
    /// The value that every form carries.
    pub(super) token: &'a str,
    pub(super) details: Details,
    /// `None`: the search in the list broke off.
    pub(super) questions: Option<Questions>,
    /// The practice's list of patients.
    pub(super) list: Option<Arc<List>>,
    pub(super) found: Option<Found>,
    pub(super) keeps_names: bool,
    pub(super) browsers: Browsers<'a>,
}

/// Why a browser sees the page without names and buttons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Locked {
    /// It is on this computer and has no key.
    Here,
    /// It is on another computer and has no key.
    Elsewhere,
    /// It is on another computer and not encrypted, so no key helps.
    NotEncrypted,
}

pub(super) fn page(
    language: Language,
    overview: &Overview,
    key: Result<&Keyed<'_>, Locked>,
    notice: Option<Notice>,
) -> Markup {
    let keyed = key.ok();
    // A wait is more than a wait if nothing at all can be filed.
    let is_shut = overview.health.light == Light::Waiting && overview.health.is_red();
    let light = light(&overview.health);
    let word = if is_shut { "shut".to_owned() } else { dashed(light) };
    let headline = match keyed {
        Some(_) => language.headline(&overview.health.headline, &overview.now),
        None if is_shut => language.text("light-shut"),
        None => language.text(&format!("page-open-{word}")),
    };
    let problems = groups(&overview.health.problems);
    let body = html! {
        (notice::show(language, notice))
        @if let Some(keyed) = keyed && let Some(questions) = &keyed.questions {
            (patients::decided(&form(language, keyed), questions))
        }
        (head(language, overview, keyed, (&headline, light, &word), problems.first()))
        (tiles(language, overview, keyed.is_some()))
        @match key {
            Ok(keyed) => (with_key(language, overview, keyed, &problems, notice == Some(Notice::NotMended))),
            Err(locked) => (without_key(language, overview, locked)),
        }
        section aria-labelledby="days" {
            h2 #days { (language.text("page-days")) }
            (chart(language, &overview.days, overview.not_taken))
        }
    };
    let foot = html! {
        @if let Some(keyed) = keyed {
            (browsers::show(&form(language, keyed), &keyed.browsers, &overview.now))
            (form(language, keyed).button("/support", &language.text("page-support"), "quiet", &[]))
            div .lock {
                (form(language, keyed).button("/close", &language.text("page-close"), "quiet", &[]))
                p .soft { (language.text("page-close-first")) }
            }
        }
    };
    // The result of a search is not reloaded.
    let live = keyed.is_none_or(|keyed| keyed.found.is_none()).then_some("/");
    let practice = Some(&overview.practice);
    frame(language, &Frame { title: &headline, icon: icon(&overview.health), live, practice }, &body, &foot)
}

/// The light, the first sentence, and what to do; and whom to call if letters cannot be filed or failed.
fn head(
    language: Language,
    overview: &Overview,
    keyed: Option<&Keyed<'_>>,
    (headline, light, word): (&str, Light, &str),
    first: Option<&Group>,
) -> Markup {
    let is_red = overview.health.is_red();
    html! {
        section .status.(light.as_str()).shut[is_red && light == Light::Waiting].amber[!is_red] aria-labelledby="headline" {
            span .lamp aria-hidden="true" { (sign(light)) }
            div {
                // The sentence that all is well, and those without the key, already say it.
                @if keyed.is_some() && light != Light::Well {
                    p .light { (language.text(&format!("light-{word}"))) }
                }
                h1 #headline { (headline) }
                @if let (Some(keyed), Some(first)) = (keyed, first) {
                    p .advice { (language.advice(first, &overview.disks)) }
                    (exact(language, first))
                    (remedy(language, keyed, first, overview))
                }
                @if let Some(contact) = overview.practice.contact.as_ref().filter(|_| is_red) {
                    p .contact { (language.fill("page-contact", &[("contact", contact.into())])) }
                }
                (as_of(language, &overview.now, "/"))
            }
        }
    }
}

/// When the page was true, and a link to reload it.
pub(super) fn as_of(language: Language, now: &Zoned, address: &str) -> Markup {
    html! {
        p .as-of {
            (language.text("page-as-of")) " " (clock(language, now.timestamp().as_millisecond(), now))
            " · " a href=(address) { (language.text("page-refresh")) }
        }
    }
}

/// The light. A mistake in the settings never passes by itself, and no letter waits for it.
fn light(health: &Health) -> Light {
    let is_mistake = health.problems.iter().any(|problem| problem.cause == Cause::Configuration);
    if is_mistake && health.light == Light::Waiting { Light::NeedsPerson } else { health.light }
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

/// The icon in the browser's tab, in the colour of the light.
pub(super) fn icon(health: &Health) -> &'static str {
    match health.light {
        Light::Well => "/well.svg",
        _ if health.is_red() => "/needs-person.svg",
        _ => "/waiting.svg",
    }
}

fn form<'a>(language: Language, keyed: &'a Keyed<'_>) -> Form<'a> {
    Form { token: keyed.token, language, letter: None, filed_by: None }
}

fn tiles(language: Language, overview: &Overview, keyed: bool) -> Markup {
    let tile = |key: &str, count: u64, class: &str, target: &str| {
        html! {
            li class=(class) {
                // No link to an empty section.
                @if keyed && (count > 0 || target == "#today") {
                    a href=(target) { strong { (count) } " " span { (language.text(key)) } }
                } @else {
                    p { strong { (count) } " " span { (language.text(key)) } }
                }
            }
        }
    };
    // What the practice's software has not taken yet is filed, too.
    let today = if overview.not_taken > 0 { "page-today-taken" } else { "page-today" };
    html! {
        ul .tiles {
            (tile(today, overview.today, "", "#today"))
            (tile("page-waiting", overview.waiting, if overview.waiting > 0 { "some" } else { "" }, "#waiting"))
            @if overview.not_taken > 0 { (tile("page-tile-not-taken", overview.not_taken, "", "#not-taken")) }
            (tile("page-failed", overview.failed, if overview.failed > 0 { "bad" } else { "" }, "#failed"))
        }
    }
}

/// How many accounts and destinations work, without names.
fn works(language: Language, overview: &Overview) -> Markup {
    let works = |places: &[NamedPlace]| {
        let works = places.iter().filter(|place| place.pause.is_none()).count();
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        (count(works), count(places.len()))
    };
    let line = |key: &str, places: &[NamedPlace]| {
        let (works, all) = works(places);
        language.fill(key, &[("works", works.into()), ("all", all.into())])
    };
    html! {
        (line("page-accounts-work", &overview.accounts)) " "
        (line("page-destinations-work", &overview.destinations))
    }
}

fn without_key(language: Language, overview: &Overview, locked: Locked) -> Markup {
    let how = match locked {
        Locked::Here => "page-locked-how",
        Locked::Elsewhere => "page-locked-elsewhere",
        Locked::NotEncrypted => "page-locked-not-encrypted",
    };
    html! {
        section aria-labelledby="more" {
            h2 #more { (language.text("page-locked")) }
            p { (language.text(how)) }
            @if let Some(contact) = overview.practice.contact.as_ref().filter(|_| !overview.health.is_red()) {
                p { strong { (language.fill("page-contact", &[("contact", contact.into())])) } }
            }
            p .soft { (works(language, overview)) }
        }
    }
}

/// `says_why`: a notice says that the reason stands below the accounts and destinations.
fn with_key(language: Language, overview: &Overview, keyed: &Keyed<'_>, problems: &[Group], says_why: bool) -> Markup {
    let (form, now) = (form(language, keyed), &overview.now);
    let details = &keyed.details;
    // If a place shows a reason, each letter that waits for it only links there.
    let accounts = overview.accounts.iter().enumerate().map(|(number, place)| (place, format!("account-{number}")));
    let destinations = overview.destinations.iter().enumerate();
    let destinations = destinations.map(|(number, place)| (place, format!("destination-{number}")));
    let told = |(place, id): (&NamedPlace, String)| {
        let reason = place.pause.as_ref()?.reason.text.clone();
        Some(ToldReason { reason, name: place.name.clone(), id })
    };
    let told: Vec<ToldReason> = accounts.chain(destinations).filter_map(told).collect();
    let is_paused = !told.is_empty();
    html! {
        // The first problem stands at the top.
        @if problems.len() > 1 {
            section .problems aria-labelledby="problems" {
                h2 #problems { (language.text("page-problems")) }
                ul {
                    @for group in problems.iter().skip(1) {
                        @let is_red = overview.health.problems.iter().any(|one| one.cause == group.cause && one.is_red);
                        li .(if is_red { "bad" } else { "wait" }) {
                            p { strong { (language.group(group, now)) } }
                            p { (language.advice(group, &overview.disks)) }
                            (exact(language, group))
                            (remedy(language, keyed, group, overview))
                        }
                    }
                }
            }
        }
        (waiting(language, overview, keyed, &told))
        section aria-labelledby="today" {
            h2 #today tabindex="-1" { (language.text("page-today-title")) }
            @if details.today.shown.is_empty() {
                p .soft { (language.fill("page-today-none", &[("waits", overview.not_taken.into())])) }
            }
            @else { (parts::today(language, &details.today, now)) }
            (form.button("/poll", &language.text("page-poll"), "", &[]))
        }
        (decisions::show(&form, &details.decisions, keyed.list.as_deref(), now))
        section .places aria-labelledby="places" {
            h2 #places { (language.text("page-places")) }
            // Unfolded if it shows the only problem, or what a notice speaks of.
            details open[is_paused && (problems.len() == 1 || says_why)] {
                summary { (works(language, overview)) }
                h3 { (language.text("page-accounts")) }
                (places(language, "account", &overview.accounts, now))
                h3 { (language.text("page-destinations")) }
                (places(language, "destination", &overview.destinations, now))
            }
        }
    }
}

/// Letters that failed or need a person, the search, and letters that wait.
fn waiting(language: Language, overview: &Overview, keyed: &Keyed<'_>, told: &[ToldReason]) -> Markup {
    let (form, now, details) = (form(language, keyed), &overview.now, &keyed.details);
    html! {
        @if !details.failed.shown.is_empty() {
            section .bad aria-labelledby="failed" {
                h2 #failed tabindex="-1" { (language.text("page-failed-title")) }
                @if details.failed.shown.len() > 1 {
                    div .wide-only { (form.button("/retry-failed", &language.text("page-retry-all"), "", &[])) }
                }
                (parts::failed(&form, &details.failed, now))
            }
        }
        @if let Some(questions) = &keyed.questions { (patients::show(&form, questions, now)) }
        @if !details.waiting.uncertain.shown.is_empty() {
            section .wait aria-labelledby="uncertain" {
                h2 #uncertain tabindex="-1" { (language.text("page-uncertain-title")) }
                (parts::waiting(language, &details.waiting.uncertain, told, now))
            }
        }
        @if !details.beside.is_empty() {
            section .wait aria-labelledby="beside" {
                h2 #beside tabindex="-1" { (language.text("page-beside-title")) }
                ul {
                    @for (uuid, name) in &details.beside {
                        li { (parts::link(uuid, parts::patient(language, name.as_deref(), uuid))) }
                    }
                }
            }
        }
        (search(language, keyed, now, &form))
        @if !details.waiting.others.shown.is_empty() {
            section .wait aria-labelledby="waiting" {
                h2 #waiting tabindex="-1" { (language.text("page-waiting-title")) }
                (parts::waiting(language, &details.waiting.others, told, now))
            }
        }
        @if !details.waiting.not_taken.shown.is_empty() {
            section aria-labelledby="not-taken" {
                h2 #not-taken tabindex="-1" {
                    (language.fill("page-not-taken-title", &[("count", overview.not_taken.into())]))
                }
                (parts::not_taken(language, &details.waiting.not_taken, now))
            }
        }
    }
}

/// What only whoever mends the settings understands.
fn exact(language: Language, group: &Group) -> Markup {
    html! {
        @if let Some(exact) = language.exact(group) {
            p .soft { (language.fill("page-it", &[("what", (&exact).into())])) }
        }
    }
}

/// Where the problem is, and the button for a person who mended it.
fn remedy(language: Language, keyed: &Keyed<'_>, group: &Group, overview: &Overview) -> Markup {
    let form = form(language, keyed);
    let text = language.text("page-mended");
    let concerned = overview.destinations.iter().filter(|place| group.names.contains(&place.name));
    html! {
        @if group.cause.stops_all() {
            @for at in concerned.filter_map(|place| place.at.as_deref()) { p .path { code { (parts::breakable(at)) } } }
        }
        @if matches!(group.cause, Cause::Failed | Cause::Unreported) {
            (form.button("/retry-failed", &text, "", &[]))
        } @else if mended::has_button(group.cause) {
            (form.button("/mended", &text, "", &[("cause", group.cause.as_str())]))
        }
    }
}

fn places(language: Language, what: &str, places: &[NamedPlace], now: &Zoned) -> Markup {
    html! {
        ul .list {
            @for (number, place) in places.iter().enumerate() {
                li #{ (what) "-" (number) } tabindex="-1" {
                    span .name { (place.name) } " "
                    @if let Some(at) = &place.at { code .at { (parts::breakable(at)) } " " }
                    @match &place.pause {
                        None => {
                            span .badge.good { (language.text("page-works")) }
                            @if let Some(polled_at) = place.polled_at {
                                span .soft { " " (last(language, what, polled_at, now)) }
                            }
                        }
                        Some(pause) => {
                            span .badge.wait { (language.text("page-paused")) }
                            span .soft {
                                " " (language.since(&zoned(pause.since, now), now)) ". "
                                (parts::next_try(language, pause.next_probe, now))
                            }
                            span .reason { (language.reason(&pause.reason)) }
                        }
                    }
                }
            }
        }
    }
}

/// When an account was last polled, or when a destination last worked.
fn last(language: Language, what: &str, at: i64, now: &Zoned) -> String {
    let at = language.at(&zoned(at, now), now);
    language.fill(&format!("page-asked-{what}"), &[("at", (&at).into())])
}

fn search(language: Language, keyed: &Keyed<'_>, now: &Zoned, form: &Form<'_>) -> Markup {
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

fn found(language: Language, hits: &Hits, now: &Zoned) -> Markup {
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

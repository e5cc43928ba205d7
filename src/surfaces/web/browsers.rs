//! The browsers that have the key, and how another computer gets it.

use jiff::Zoned;
use maud::{Markup, html};
use url::Url;

use super::frame::{Frame, frame};
use super::keys;
use super::parts::{Form, count};
use crate::formats::language::{Language, zoned};
use crate::ledger::page_keys::KnownBrowser;

/// The browsers that are known, and the one that asks.
pub(super) struct Browsers<'a> {
    pub(super) known: Vec<KnownBrowser>,
    /// The digest of its session.
    pub(super) own: &'a str,
}

/// The list of browsers, each with a button that takes its key away, and the button for another computer.
pub(super) fn show(form: &Form<'_>, browsers: &Browsers<'_>, now: &Zoned) -> Markup {
    let language = form.language;
    let known = count(browsers.known.len());
    html! {
        div .browsers {
            (form.button("/another", &language.text("page-another"), "quiet", &[]))
            // If there is only one, the button below locks it.
            @if known > 1 {
                details {
                    summary { (language.fill("page-browsers", &[("count", known.into())])) }
                    ul .list {
                        @for one in &browsers.known { li { (row(form, one, one.digest == browsers.own, now)) } }
                    }
                }
            }
        }
    }
}

fn row(form: &Form<'_>, one: &KnownBrowser, is_own: bool, now: &Zoned) -> Markup {
    let language = form.language;
    let day = |at| language.short_day(zoned(at, now).date());
    let (since, until) = (day(one.since), day(one.expires_at));
    let values = [("since", (&since).into()), ("until", (&until).into())];
    html! {
        span .name {
            @if one.browser.is_empty() { (language.text("page-browser")) } @else { (one.browser) }
        }
        // The history of a letter names it in the same way.
        " " code { (one.digest.get(..6).unwrap_or_default()) }
        @if is_own { " " span .badge.good { (language.text("page-browser-this")) } }
        " " span .soft {
            (language.fill(if keys::is_renewable(one) { "page-browser-known" } else { "page-browser-until" }, &values))
        }
        @if !is_own { (form.button("/lock", &language.text("page-browser-lock"), "small", &[("browser", &one.digest)])) }
    }
}

/// The page with the link for another computer. `is_reached`: whether other computers reach the page there.
pub(super) fn invitation(language: Language, link: &Url, is_reached: bool) -> Markup {
    let title = language.text("page-another");
    let how = if is_reached { "page-another-how" } else { "page-another-tunnel" };
    let body = html! {
        section .sentence {
            h1 { (title) }
            p { (language.text(how)) }
            p .path { code .link { (link.as_str()) } }
            p .soft { (language.text("page-another-once")) }
            p { a href="/" { (language.text("page-back")) } }
        }
    };
    frame(language, &Frame { title: &title, icon: "/waiting.svg", live: None, practice: None }, &body, &html! {})
}

//! The frame of every page.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::config::PracticeConfig;
use crate::formats::language::{LANGUAGES, Language};

/// How often a browser without scripts reloads the page; seconds.
const REFRESH: u32 = 60;

/// A page with one sentence and what to do.
pub(super) fn sentence(language: Language, key: &str) -> Markup {
    let title = language.text(&format!("page-{key}"));
    let body = html! {
        section .sentence {
            h1 { (title) }
            p { (language.text(&format!("page-{key}-do"))) }
            p { a href="/" { (language.text("page-back")) } }
        }
    };
    frame(language, &Frame { title: &title, icon: "/waiting.svg", live: None, practice: None }, &body, &html! {})
}

/// The frame of a page.
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    pub(super) icon: &'a str,
    /// The address from which the page is reloaded.
    pub(super) live: Option<&'a str>,
    /// The practice's name and contact.
    pub(super) practice: Option<&'a PracticeConfig>,
}

pub(super) fn frame(language: Language, frame: &Frame<'_>, body: &Markup, foot: &Markup) -> Markup {
    let Frame { title, icon, live, practice } = frame;
    let name = practice.and_then(|practice| practice.name.as_deref());
    let contact = practice.and_then(|practice| practice.contact.as_deref());
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
                @if let Some(live) = live {
                    noscript { meta http-equiv="refresh" content={ (REFRESH) "; url=" (live) }; }
                    script src="/page.js" defer {}
                }
            }
            body {
                header {
                    p .brand { a href="/" { "docsyncd" } @if let Some(name) = name { " " span .practice { (name) } } }
                    nav aria-label=(language.text("page-language")) {
                        @for other in LANGUAGES.into_iter().filter(|other| *other != language) {
                            @let code = other.as_str();
                            a href={ (live.unwrap_or("/")) "?lang=" (code) } lang=(code) hreflang=(code) { (other.text("language")) }
                            " "
                        }
                    }
                }
                // Outside the part that is reloaded, and first on the page.
                aside #silent .notice .bad aria-label=(language.text("page-silent-title")) hidden {
                    p { strong { (language.text("page-silent-title")) } " " (language.text("page-silent")) }
                }
                main data-live=[live] {
                    (body)
                }
                p #said .unseen role="status" {}
                footer {
                    (foot)
                    p .soft {
                        @if let Some(contact) = contact { (language.fill("page-contact", &[("contact", contact.into())])) " · " }
                        "docsyncd " (env!("CARGO_PKG_VERSION"))
                    }
                }
            }
        }
    }
}

/// The tab's icon in this colour.
pub(super) fn dot(colour: &str) -> String {
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" { (PreEscaped("")) circle cx="8" cy="8" r="7" fill=(colour) {} }
    }
    .into_string()
}

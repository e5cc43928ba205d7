//! The pages that the browser ends on. They are plain HTML without scripts and load nothing. The
//! Content-Security-Policy allows their one style by its hash.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::messages::Message;
use super::{Ending, Failure};
use crate::api::auth::authorization::NotAnAnswer;
use crate::formats::language::Language;

const STYLE: &str = include_str!("page.css");

/// The browser may only show the page.
pub(super) static POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    )
});

/// The page that says how the sign-in ended.
pub(super) fn ending(ending: &Ending, language: Language) -> Markup {
    match ending {
        Ending::SignedIn { name, email } => {
            let who = html! {
                @if name.is_some() || email.is_some() {
                    p .person {
                        span { (language.text("login-as")) }
                        @if let Some(name) = name { " " strong { (name) } }
                        @if let Some(email) = email { " " em { (email) } }
                    }
                }
                (close(language))
            };
            page(language, true, &Message::of("done", language), &who)
        }
        Ending::Failed(Failure { kind, detail }) => {
            let why = html! {
                @if !detail.is_empty() { p .detail { (detail) } }
                (close(language))
            };
            page(language, false, &kind.told(language), &why)
        }
    }
}

/// The page for a request that is no answer to the attempt.
pub(super) fn not_an_answer(wrong: NotAnAnswer, language: Language) -> Markup {
    let key = match wrong {
        NotAnAnswer::WrongState => "foreign",
        NotAnAnswer::Incomplete => "incomplete",
    };
    page(language, false, &Message::of(key, language), &html! {})
}

/// The page for a second answer.
pub(super) fn already_used(language: Language) -> Markup {
    page(language, false, &Message::of("used", language), &close(language))
}

/// The page for every other address.
pub(super) fn nothing_here(language: Language) -> Markup {
    let told = Message { what: language.text("page-nothing"), advice: String::new() };
    page(language, false, &told, &html! {})
}

fn close(language: Language) -> Markup {
    html! { p .close { (language.text("login-close")) } }
}

/// A page: what happened, what to do, and further text.
fn page(language: Language, is_good: bool, told: &Message, more: &Markup) -> Markup {
    let (mood, sign) = if is_good { ("good", "✓") } else { ("bad", "!") };
    html! {
        (DOCTYPE)
        html lang=(language.as_str()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (told.what) " – docsyncd" }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                main .(mood) {
                    p .brand { "docsyncd" }
                    div .sign aria-hidden="true" { (sign) }
                    h1 { (told.what) }
                    @if !told.advice.is_empty() { p { (told.advice) } }
                    (more)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::language::LANGUAGES;
    use crate::surfaces::login::FailureKind;

    #[test]
    fn what_others_say_is_escaped() {
        let name = Some("<script>alert(1)</script> & \"co\"".to_owned());
        let page = ending(&Ending::SignedIn { email: name.clone(), name }, Language::English).into_string();
        assert!(page.contains("&lt;script&gt;") && page.contains("&amp;") && !page.contains("<script"), "{page}");
        let failure = Failure { kind: FailureKind::OtherRefusal, detail: "<b>x</b>".into() };
        let page = ending(&Ending::Failed(failure), Language::English).into_string();
        assert!(page.contains("&lt;b&gt;x"), "{page}");
    }

    #[test]
    fn every_page_is_whole_in_every_language_and_asks_nobody_for_anything() {
        for language in LANGUAGES {
            let name = Some("Claire Delaunay".to_owned());
            let failure = Failure { kind: FailureKind::Denied, detail: String::new() };
            for page in [
                ending(&Ending::SignedIn { name, email: None }, language),
                ending(&Ending::SignedIn { name: None, email: None }, language),
                ending(&Ending::Failed(failure), language),
                not_an_answer(NotAnAnswer::WrongState, language),
                not_an_answer(NotAnAnswer::Incomplete, language),
                already_used(language),
                nothing_here(language),
            ]
            .map(Markup::into_string)
            {
                assert!(page.contains(&format!("<html lang=\"{}\">", language.as_str())), "{page}");
                assert!(page.trim_end().ends_with("</html>"), "{page}");
                assert!(!page.contains("src=") && !page.contains("http") && !page.contains("url("), "{page}");
            }
        }
    }

    #[test]
    fn the_style_in_the_page_is_the_one_that_the_policy_allows() {
        let page = nothing_here(Language::French).into_string();
        let (_, rest) = page.split_once("<style>").unwrap();
        let (style, _) = rest.split_once("</style>").unwrap();
        assert!(POLICY.contains(&STANDARD.encode(Sha256::digest(style))));
    }
}

//! The pages that the browser ends on. Plain HTML without scripts and without anything from elsewhere; the one style is
//! known to the Content-Security-Policy by its hash.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::{Environment, context};
use sha2::{Digest as _, Sha256};

use super::messages::Message;
use super::{Ending, Failure};
use crate::api::auth::authorization::NotAnAnswer;
use crate::language::Language;

/// The name ends with `.html`, so that everything that is filled in is escaped.
const TEMPLATE: (&str, &str) = ("page.html", include_str!("page.html"));
const STYLE: &str = include_str!("page.css");

/// What the browser may do with a page: show it.
pub(super) static POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    )
});

/// A page, in one language.
#[derive(Debug, Default, PartialEq, Eq)]
struct Page {
    good: bool,
    title: String,
    advice: Option<String>,
    name: Option<String>,
    email: Option<String>,
    detail: Option<String>,
    close: bool,
}

impl Page {
    fn of(told: Message) -> Self {
        Self { title: told.what, advice: Some(told.advice), ..Self::default() }
    }
}

/// How it ended.
pub(super) fn ending(ending: &Ending, language: Language) -> String {
    let page = match ending {
        Ending::SignedIn { name, email } => Page {
            good: true,
            name: name.clone(),
            email: email.clone(),
            close: true,
            ..Page::of(Message::of("done", language))
        },
        Ending::Failed(Failure { kind, detail }) => {
            let detail = Some(detail.clone()).filter(|detail| !detail.is_empty());
            Page { detail, close: true, ..Page::of(kind.told(language)) }
        }
    };
    render(page, language)
}

/// For an answer that is none.
pub(super) fn not_an_answer(wrong: NotAnAnswer, language: Language) -> String {
    let key = match wrong {
        NotAnAnswer::WrongState => "foreign",
        NotAnAnswer::Incomplete => "incomplete",
    };
    render(Page::of(Message::of(key, language)), language)
}

/// For a second answer.
pub(super) fn already_used(language: Language) -> String {
    render(Page { close: true, ..Page::of(Message::of("used", language)) }, language)
}

/// For every other address.
pub(super) fn nothing_here(language: Language) -> String {
    render(Page { title: language.text("page-nothing"), ..Page::default() }, language)
}

fn render(page: Page, language: Language) -> String {
    let (name, source) = TEMPLATE;
    let values = context! {
        lang => language.as_str(),
        style => STYLE,
        mood => if page.good { "good" } else { "bad" },
        title => page.title.clone(),
        advice => page.advice,
        signed_in_as => language.text("login-as"),
        is_known => page.name.is_some() || page.email.is_some(),
        name => page.name,
        email => page.email,
        detail => page.detail,
        close => page.close.then(|| language.text("login-close")),
    };
    // The template is part of the program and a test renders it; were it broken, the headline is still said.
    Environment::new()
        .render_named_str(name, source, values)
        .unwrap_or_else(|_| format!("<!DOCTYPE html><title>docsyncd</title><p>{}", page.title))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::LANGUAGES;
    use crate::login::FailureKind;

    #[test]
    fn what_others_say_is_escaped() {
        let name = Some("<script>alert(1)</script> & \"co\"".to_owned());
        let page = ending(&Ending::SignedIn { email: name.clone(), name }, Language::English);
        assert!(page.contains("&lt;script&gt;") && page.contains("&amp;") && !page.contains("<script"), "{page}");
        let failure = Failure { kind: FailureKind::OtherRefusal, detail: "<b>x</b>".into() };
        let page = ending(&Ending::Failed(failure), Language::English);
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
            ] {
                assert!(page.contains(&format!("<html lang=\"{}\">", language.as_str())), "{page}");
                assert!(page.trim_end().ends_with("</html>"), "{page}");
                assert!(!page.contains("src=") && !page.contains("http") && !page.contains("url("), "{page}");
            }
        }
    }

    #[test]
    fn the_style_in_the_page_is_the_one_that_the_policy_allows() {
        let page = nothing_here(Language::French);
        let (_, rest) = page.split_once("<style>").unwrap();
        let (style, _) = rest.split_once("</style>").unwrap();
        assert!(POLICY.contains(&STANDARD.encode(Sha256::digest(style))));
    }
}

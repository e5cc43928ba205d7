//! The pages for people. Plain HTML without scripts; the Content-Security-Policy allows their one style by its hash.

use std::sync::LazyLock;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::Account;
use super::request::{AuthorizationRequest, Trouble};
use super::words::Language;
use crate::store::SessionRow;

const STYLE: &str = include_str!("style.css");

/// The most people that the sign-in page names.
const PEOPLE_NAMED: usize = 4;

/// The source that allows exactly [`STYLE`].
static STYLE_SOURCE: LazyLock<String> =
    LazyLock::new(|| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(STYLE))));

/// A page, and what the browser may do with it.
pub(super) struct Page {
    status: StatusCode,
    language: Language,
    form_action: String,
    markup: Markup,
}

impl Page {
    fn new(language: Language, form_action: String, title: &str, content: &Markup) -> Self {
        let markup = html! {
            (DOCTYPE)
            html lang=(language.code()) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (title) " – " (language.words().sandbox) }
                    link rel="icon" href="data:,";
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    main {
                        p class="brand" {
                            svg viewBox="0 0 24 24" aria-hidden="true" {
                                path d="M12 4.4C10.6 3 8.9 2.5 7.4 2.7 4.6 3 3 5.4 3.2 8.4c.2 2.6 1.3 4 1.7 6.6.4 2.7.5 6.3 2.4 6.3 2.1 0 1.7-6.3 4.7-6.3s2.6 6.3 4.7 6.3c1.9 0 2-3.6 2.4-6.3.4-2.6 1.5-4 1.7-6.6.2-3-1.4-5.4-4.2-5.7-1.5-.2-3.2.3-4.6 1.7z" {}
                            }
                            span { (language.words().sandbox) }
                        }
                        (content)
                    }
                }
            }
        };
        Self { status: StatusCode::OK, language, form_action, markup }
    }

    pub fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let policy = format!(
            "default-src 'none'; style-src {}; img-src data:; form-action {}; frame-ancestors 'none'; base-uri 'none'",
            *STYLE_SOURCE, self.form_action
        );
        let policy = HeaderValue::from_str(&policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"));
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
            (header::CONTENT_LANGUAGE, HeaderValue::from_static(self.language.code())),
            (header::CONTENT_SECURITY_POLICY, policy),
            (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
            (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
            (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        ];
        (self.status, headers, self.markup.into_string()).into_response()
    }
}

/// The sign-in form.
pub(super) struct SignIn<'a> {
    pub address: &'a str,
    pub csrf: &'a str,
    pub email: &'a str,
    pub message: Option<&'a str>,
    pub accounts: &'a [Account],
}

impl SignIn<'_> {
    pub fn page(&self, language: Language, request: &AuthorizationRequest) -> Page {
        let words = language.words();
        let content = html! {
            h1 { (words.sign_in) }
            p class="lead" { (words.to_continue_to) " " strong { (request.client_id) } }
            (message(self.message))
            form method="post" action=(self.address) {
                input type="hidden" name="csrf" value=(self.csrf);
                label for="email" { (words.email) }
                input id="email" name="email" type="email" autocomplete="username" required value=(self.email)
                    autofocus[self.email.is_empty()] aria-describedby="people";
                label for="password" { (words.password) }
                input id="password" name="password" type="password" autocomplete="current-password" required
                    autofocus[!self.email.is_empty()];
                button id="sign-in" class="primary" name="do" value="sign-in" { (words.sign_in) }
            }
            div id="people" class="hint" {
                p { (words.people_here) }
                dl {
                    @for account in self.accounts.iter().take(PEOPLE_NAMED) {
                        dt { code { (account.email) } }
                        dd { (words.password) " " code { (account.password) } }
                    }
                }
                @if self.accounts.len() > PEOPLE_NAMED { p { (words.and_others) } }
            }
        };
        Page::new(language, "'self'".to_owned(), words.sign_in, &content)
    }
}

/// The form on which a person approves or refuses.
pub(super) struct Approval<'a> {
    pub address: &'a str,
    pub session: &'a SessionRow,
    pub message: Option<&'a str>,
    /// The scope that cannot be deselected.
    pub always: &'a str,
}

impl Approval<'_> {
    pub fn page(&self, language: Language, request: &AuthorizationRequest) -> Page {
        let words = language.words();
        let user = &self.session.user;
        let content = html! {
            h1 { strong { (request.client_id) } " " (words.wants_access) }
            form class="account" method="post" action=(self.address) {
                input type="hidden" name="csrf" value=(self.session.csrf);
                p { (words.signed_in_as) " " strong { (user.name()) } br; span { (user.email()) } }
                button id="switch-account" class="link" name="do" value="switch-account" { (words.other_account) }
            }
            (message(self.message))
            form method="post" action=(self.address) {
                input type="hidden" name="csrf" value=(self.session.csrf);
                fieldset {
                    legend { (words.it_asks_to) }
                    ul class="scopes" {
                        @for scope in request.scopes.iter() {
                            li { (self.scope(language, scope)) }
                        }
                    }
                    p class="quiet" { (words.untick) }
                }
                div class="choice" {
                    button id="approve" class="primary" name="do" value="approve" { (words.approve) }
                    button id="refuse" name="do" value="refuse" { (words.refuse) }
                }
            }
            p class="quiet" { (words.you_return_to) " " strong { (request.redirect.destination()) } }
        };
        Page::new(language, request.redirect.form_action(), request.client_id.as_str(), &content)
    }

    fn scope(&self, language: Language, scope: &str) -> Markup {
        let always = scope == self.always;
        html! {
            label {
                input type="checkbox" name="scope" value=(scope) checked disabled[always];
                span {
                    (language.scope(scope))
                    small {
                        code { (scope) }
                        @if always { " – " (language.words().always) }
                    }
                }
            }
        }
    }
}

fn message(text: Option<&str>) -> Markup {
    html! { @if let Some(text) = text { p class="message" role="alert" { (text) } } }
}

/// Tells a person why there is no redirect.
pub(super) fn trouble(language: Language, trouble: &Trouble) -> Page {
    let words = language.words();
    let (what, which) = match trouble {
        Trouble::Parameter(name) => (words.parameter_missing, *name),
        Trouble::UnknownClient(client_id) => (words.unknown_client, client_id.as_str()),
        Trouble::UnknownRedirect(uri) => (words.unknown_redirect, uri.as_str()),
    };
    let content = html! {
        h1 { (words.cannot_continue) }
        p { (what) }
        p class="value" { code { (which) } }
        p class="quiet" { (words.tell_its_maker) }
    };
    Page::new(language, "'none'".to_owned(), words.cannot_continue, &content)
}

/// Tells a person that the sandbox itself failed.
pub(super) fn failed(language: Language, reason: &str) -> Page {
    let content = html! {
        h1 { (language.words().failed) }
        p class="value" { code { (reason) } }
    };
    Page::new(language, "'none'".to_owned(), language.words().failed, &content)
}

//! The authorization page: a person signs in, approves or refuses, and returns to the application ("Flow").
//!
//! The request stays in the page's address, and every form reads it again. So nothing about it has to be remembered or
//! trusted.

use std::sync::{Arc, PoisonError};

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

use super::pages::{self, Page};
use super::parameters::Parameters;
use super::request::{AuthorizationRequest, Refusal};
use super::secret::{fingerprint, random_text, same};
use super::session::{self, Cookies};
use super::words::Language;
use super::{Consent, Oauth};
use crate::error::SandboxError;
use crate::quirks::Quirks;
use crate::scope::Scopes;
use crate::shared::Shared;
use crate::store::{CodeRow, SessionRow, UserRow};

/// "Limits": a code is valid for 60 seconds.
const CODE_LIFETIME: i64 = 60 * 1_000_000;

/// How long a code is kept after it expired, so that a second use is noticed.
const CODES_KEPT: i64 = 24 * 3600 * 1_000_000;

/// The scope that cannot be refused: an application has to learn who signed in.
const ALWAYS_GRANTED: &str = "profile";

/// One visit of the page.
struct Visit<'a> {
    shared: &'a Shared,
    language: Language,
    cookies: Cookies,
    /// The page's own address with the request in its query; forms lead back to it.
    address: String,
    request: AuthorizationRequest,
}

/// `GET`: the page for this request and this browser.
pub(super) async fn show(
    State(shared): State<Arc<Shared>>,
    Extension(quirks): Extension<Arc<Quirks>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let answer = match Visit::begin(&shared, &quirks, &uri, &headers) {
        Ok(visit) => visit.show().await,
        Err(refusal) => return refused(&headers, refusal),
    };
    answer.unwrap_or_else(|error| failed(&headers, &error))
}

/// `POST`: a form of the page.
pub(super) async fn submit(
    State(shared): State<Arc<Shared>>,
    Extension(quirks): Extension<Arc<Quirks>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let form = Parameters::parse(&body);
    let answer = match Visit::begin(&shared, &quirks, &uri, &headers) {
        Ok(visit) => visit.submit(&form).await,
        Err(refusal) => return refused(&headers, refusal),
    };
    answer.unwrap_or_else(|error| failed(&headers, &error))
}

fn failed(headers: &HeaderMap, error: &SandboxError) -> Response {
    pages::failed(Language::of(headers), &error.to_string())
        .with_status(StatusCode::INTERNAL_SERVER_ERROR)
        .into_response()
}

fn refused(headers: &HeaderMap, refusal: Refusal) -> Response {
    match refusal {
        Refusal::Here(trouble) => {
            pages::trouble(Language::of(headers), &trouble).with_status(StatusCode::BAD_REQUEST).into_response()
        }
        Refusal::ThereWith { redirect: to, error, description } => {
            let told = to.with(&[("error", error), ("error_description", &description)]);
            redirect(StatusCode::FOUND, &told)
        }
    }
}

/// `302` for a `GET`. `303` after a form, so that no browser sends the form again.
fn redirect(status: StatusCode, to: &str) -> Response {
    let location = HeaderValue::from_bytes(to.as_bytes()).unwrap_or_else(|_| HeaderValue::from_static("/"));
    let headers = [
        (header::LOCATION, location),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (status, headers).into_response()
}

impl<'a> Visit<'a> {
    fn begin(shared: &'a Shared, quirks: &Quirks, uri: &Uri, headers: &HeaderMap) -> Result<Self, Refusal> {
        let query = uri.query().unwrap_or_default();
        let request = AuthorizationRequest::read(&shared.oauth, query.as_bytes())?;
        if quirks.unauthorized_client {
            let description = "This client may not ask for an authorization code.".to_owned();
            return Err(Refusal::ThereWith { redirect: request.redirect, error: "unauthorized_client", description });
        }
        Ok(Self {
            request,
            shared,
            language: Language::of(headers),
            cookies: Cookies::read(shared, headers),
            address: format!("{}?{query}", uri.path()),
        })
    }

    fn oauth(&self) -> &'a Oauth {
        &self.shared.oauth
    }

    async fn show(&self) -> Result<Response, SandboxError> {
        match self.oauth().consent {
            Consent::Deny => Ok(self.refused(StatusCode::FOUND)),
            Consent::Approve => self.approve_unasked().await,
            Consent::Ask => match self.cookies.session(self.shared).await? {
                Some(session) => Ok(self.consent_page(&session, None).into_response()),
                None => self.sign_in_page(None),
            },
        }
    }

    async fn submit(&self, form: &Parameters) -> Result<Response, SandboxError> {
        if form.first("do") == "sign-in" {
            return self.sign_in(form).await;
        }
        let Some(session) = self.cookies.session(self.shared).await? else {
            return Ok(self.again());
        };
        if !same(&session.csrf, form.first("csrf")) {
            let page = self.consent_page(&session, Some(self.language.words().form_is_foreign));
            return Ok(page.with_status(StatusCode::FORBIDDEN).into_response());
        }
        match form.first("do") {
            "approve" => self.approve(&session, form).await,
            "refuse" => Ok(self.refused(StatusCode::SEE_OTHER)),
            "switch-account" => {
                let cookie = self.cookies.end(self.shared).await?;
                Ok(([(header::SET_COOKIE, cookie)], self.again()).into_response())
            }
            _ => {
                let page = self.consent_page(&session, Some(self.language.words().form_is_foreign));
                Ok(page.with_status(StatusCode::BAD_REQUEST).into_response())
            }
        }
    }

    async fn sign_in(&self, form: &Parameters) -> Result<Response, SandboxError> {
        if !self.cookies.form_proven(form.first("csrf")) {
            return self.sign_in_page(Some((StatusCode::FORBIDDEN, self.language.words().form_is_foreign, form)));
        }
        match session::sign_in(self.shared, form.first("email"), form.first("password")).await? {
            Some(user) => {
                let cookie = self.cookies.begin(self.shared, &user).await?;
                Ok(([(header::SET_COOKIE, cookie)], self.again()).into_response())
            }
            None => {
                let told = self.language.words().wrong_password;
                self.sign_in_page(Some((StatusCode::UNPROCESSABLE_ENTITY, told, form)))
            }
        }
    }

    async fn approve(&self, session: &SessionRow, form: &Parameters) -> Result<Response, SandboxError> {
        let ticked = form.all("scope").chain([ALWAYS_GRANTED]).collect::<Vec<_>>().join(" ");
        // A scope that does not exist was not on the page.
        let granted = Scopes::parse(&ticked).unwrap_or_default().common(&self.request.scopes);
        if granted.is_empty() {
            let page = self.consent_page(session, Some(self.language.words().nothing_ticked));
            return Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response());
        }
        let to = self.with_code(&session.user, &granted).await?;
        Ok(redirect(StatusCode::SEE_OTHER, &to))
    }

    async fn approve_unasked(&self) -> Result<Response, SandboxError> {
        let email = self.request.login_hint.clone().unwrap_or_else(|| self.oauth().first_user.clone());
        let user = self.shared.store.run(move |transaction| UserRow::by_email(transaction, &email)).await?;
        let Some(user) = user else {
            let description = "login_hint names no user of this sandbox.";
            let to = self.request.redirect.with(&[("error", "access_denied"), ("error_description", description)]);
            return Ok(redirect(StatusCode::FOUND, &to));
        };
        let to = self.with_code(&user, &self.request.scopes).await?;
        Ok(redirect(StatusCode::FOUND, &to))
    }

    /// The redirect with a fresh code.
    async fn with_code(&self, user: &UserRow, granted: &Scopes) -> Result<String, SandboxError> {
        let code = random_text()?;
        let now = self.shared.clock.key();
        let row = CodeRow {
            code_sha256: fingerprint(&code),
            user_id: user.id,
            client_id: self.request.client_id.clone(),
            redirect_uri: self.request.redirect.uri.clone(),
            scopes: granted.show(),
            narrowed: *granted != self.request.scopes,
            code_challenge: self.request.code_challenge.clone(),
            expires: now.saturating_add(CODE_LIFETIME),
            used: None,
        };
        self.shared.store.run(move |transaction| row.insert(transaction, now.saturating_sub(CODES_KEPT))).await?;
        Ok(self.request.redirect.with(&[("code", &code)]))
    }

    fn refused(&self, status: StatusCode) -> Response {
        let description = "The user refused the request.";
        let told = self.request.redirect.with(&[("error", "access_denied"), ("error_description", description)]);
        redirect(status, &told)
    }

    /// The same page again.
    fn again(&self) -> Response {
        redirect(StatusCode::SEE_OTHER, &self.address)
    }

    /// The sign-in form. After a failed attempt, with the error and the typed email address.
    fn sign_in_page(&self, failed: Option<(StatusCode, &str, &Parameters)>) -> Result<Response, SandboxError> {
        let (csrf, cookie) = self.cookies.form_proof()?;
        let (status, message, email) = match failed {
            Some((status, message, form)) => (status, Some(message), form.first("email")),
            None => (StatusCode::OK, None, self.request.login_hint.as_deref().unwrap_or_default()),
        };
        let accounts = &self.oauth().accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let form = pages::SignIn { address: &self.address, csrf: &csrf, email, message, accounts };
        let page = form.page(self.language, &self.request).with_status(status);
        Ok(([(header::SET_COOKIE, cookie)], page).into_response())
    }

    fn consent_page(&self, session: &SessionRow, message: Option<&str>) -> Page {
        let form = pages::Approval { address: &self.address, session, message, always: ALWAYS_GRANTED };
        form.page(self.language, &self.request)
    }
}

//! From a request to its answer.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{Either, Full};
use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use maud::Markup;
use rustls::ServerConfig;
use tokio::sync::Semaphore;
use url::form_urlencoded;

use super::admission;
use super::browsers::Browsers;
use super::certificate::Certificate;
use super::connections::{self, Asked};
use super::facts::{self, Overview, Setup};
use super::guard;
use super::keys::{self, KeyError, Session};
use super::letter::Had;
use super::notice::Notice;
use super::page::{self, Found, Keyed};
use super::patients::{self, Questions};
use super::pdf::{self, Kept};
use super::{SERVER, frame, letter, metrics, told};
use crate::domain::document::DocumentUuid;
use crate::domain::state::State;
use crate::formats::language::Language;
use crate::ledger::{LedgerError, documents, now};
use crate::patients::List;
use crate::pipeline::Shared;
use crate::views::letter::LetterDetail;
use crate::views::{self, DocumentHistory, DocumentView};

/// What the browser may do with a page: show it with our style, icons and script, ask for it again, and send its forms
/// back.
const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// The most pages that are made at once; others wait. The ledger has one reader, which the stages need.
const MAKING: usize = 2;
/// The greatest age of a page without the key. With it, a flood of requests reads the ledger once a second.
const FRESH: Duration = Duration::from_secs(1);
/// How long a letter's page waits for a folder that hangs.
const SHORT: Duration = Duration::from_secs(3);
/// How long the chosen language is remembered; seconds.
const LANGUAGE_SECONDS: u32 = 365 * 24 * 60 * 60;
const LANGUAGE_COOKIE: &str = "docsyncd_language";

/// Everything that answers need.
pub(super) struct Site {
    pub(super) context: Shared,
    pub(super) setup: Setup,
    /// The address of the listener.
    pub(super) address: SocketAddr,
    certificate: Option<Arc<Certificate>>,
    /// The name of the session's cookie. It contains the port, because browsers send cookies to every port of a
    /// computer.
    pub(super) cookie: String,
    making: Semaphore,
    /// The turn to read a PDF from a folder, one at a time: each is read whole and compared.
    reading: Arc<Semaphore>,
    /// The turn to read a PDF from the service, one at a time.
    pub(super) fetching: Semaphore,
    /// The turn to wait for a file for support, one at a time.
    pub(super) supporting: Semaphore,
    /// The places for pages that are told of changes.
    told: Arc<Semaphore>,
    overview: Mutex<Option<(Instant, Arc<Overview>)>>,
}

/// A whole answer, or one in parts: a file, or the news of changes.
pub(super) type Body = Either<Full<Bytes>, UnsyncBoxBody<Bytes, std::io::Error>>;
pub(super) type Answer = Response<Body>;

impl connections::Site for Site {
    /// Enough for a form with a name in it.
    const MAX_BODY: usize = 8 * 1024;
    type Payload = Body;

    fn encryption(&self) -> Option<Arc<ServerConfig>> {
        self.certificate.as_ref()?.shown()
    }

    /// Answers, whatever was asked.
    async fn answer(&self, asked: Asked) -> Answer {
        self.answered(asked).await
    }
}

/// The fields of a form or query.
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    fn of(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The value; empty if there is none.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// The addresses of the forms.
const FORMS: [&str; 14] = [
    "/retry",
    "/retry-failed",
    "/mended",
    "/arrived",
    "/assign",
    "/misfiled",
    "/undo",
    "/fetch",
    "/poll",
    "/find",
    "/support",
    "/another",
    "/lock",
    "/close",
];
/// Addresses that answer no page, or take long.
const LONG: [&str; 5] = ["/support", "/mended", "/fetch", "/assign", "/misfiled"];

impl Site {
    pub(super) fn new(
        context: Shared,
        setup: Setup,
        address: SocketAddr,
        certificate: Option<Arc<Certificate>>,
    ) -> Self {
        Self {
            context,
            setup,
            address,
            certificate,
            cookie: format!("docsyncd_{}", address.port()),
            making: Semaphore::new(MAKING),
            reading: Arc::new(Semaphore::new(1)),
            fetching: Semaphore::new(1),
            supporting: Semaphore::new(1),
            told: Arc::new(Semaphore::new(told::MOST)),
            overview: Mutex::new(None),
        }
    }

    async fn answered(&self, asked: Asked) -> Answer {
        let headers = &asked.head.headers;
        let query = Fields::of(asked.head.uri.query().unwrap_or_default().as_bytes());
        let chosen = Some(query.get("lang")).filter(|tag| !tag.is_empty()).and_then(Language::parse);
        let remembered = || guard::cookie(headers, LANGUAGE_COOKIE).and_then(Language::parse);
        let accepted = || Language::accepted(headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?);
        let language = chosen.or_else(remembered).or_else(accepted).unwrap_or(self.setup.language);
        let mut answer = if self.names(asked.way).is_host(&asked.head) {
            self.route(&asked, &query, language).await
        } else {
            sentence(StatusCode::MISDIRECTED_REQUEST, language, "nothing")
        };
        if let Some(chosen) = chosen.filter(|_| answer.status() == StatusCode::OK) {
            let code = chosen.as_str();
            let cookie =
                format!("{LANGUAGE_COOKIE}={code}; Path=/; Max-Age={LANGUAGE_SECONDS}; HttpOnly; SameSite=Strict");
            add(answer.headers_mut(), header::SET_COOKIE, &cookie);
        }
        answer
    }

    async fn route(&self, asked: &Asked, query: &Fields, language: Language) -> Answer {
        let (head, path) = (&asked.head, asked.head.uri.path());
        if self.certificate.is_some() && !asked.way.is_encrypted {
            return admission::encrypt(&asked.head, language);
        }
        // Nobody makes more than a few pages at once. A file is no page and may take long. The semaphore is never
        // closed.
        let _making =
            if path.ends_with("/pdf") || LONG.contains(&path) { None } else { self.making.acquire().await.ok() };
        let letter = path.strip_prefix("/letter/");
        let allowed = match path {
            // Not HEAD: a program that only checks links must not use one up.
            "/open" | "/changes" => "GET",
            "/" | "/metrics" | "/style.css" | "/page.js" => "GET, HEAD",
            path if FORMS.contains(&path) => "POST",
            path if letter.is_some() || colour(path).is_some() => "GET, HEAD",
            _ => return sentence(StatusCode::NOT_FOUND, language, "nothing"),
        };
        if !allowed.split(", ").any(|method| head.method == method) {
            let mut answer = sentence(StatusCode::METHOD_NOT_ALLOWED, language, "nothing");
            add(answer.headers_mut(), header::ALLOW, allowed);
            return answer;
        }
        if let Some(uuid) = letter {
            let (uuid, is_pdf) = uuid.strip_suffix("/pdf").map_or((uuid, false), |uuid| (uuid, true));
            return match DocumentUuid::parse(uuid) {
                Some(uuid) => self.letter(asked, query, uuid, is_pdf, language).await,
                None => sentence(StatusCode::NOT_FOUND, language, "nothing"),
            };
        }
        if let Some(colour) = colour(path) {
            return respond(StatusCode::OK, "image/svg+xml", frame::dot(colour));
        }
        match path {
            "/" => self.page(asked, query, language).await,
            "/open" => self.open(asked, query, language).await,
            // It names accounts and destinations.
            "/metrics" if !self.is_from_here(asked) => sentence(StatusCode::FORBIDDEN, language, "nothing"),
            "/metrics" => match metrics::text(&self.context, &self.setup).await {
                Ok(text) => respond(StatusCode::OK, metrics::TYPE, text),
                Err(error) => unavailable(language, &error),
            },
            "/style.css" => respond(StatusCode::OK, "text/css; charset=utf-8", page::STYLE),
            "/page.js" => respond(StatusCode::OK, "text/javascript; charset=utf-8", page::SCRIPT),
            "/changes" => self.changes(language),
            form => self.form(asked, form, language).await,
        }
    }

    /// Tells an open page of changes. This names nobody, so it needs no key.
    fn changes(&self, language: Language) -> Answer {
        let Ok(place) = Arc::clone(&self.told).try_acquire_owned() else {
            return sentence(StatusCode::SERVICE_UNAVAILABLE, language, "trouble");
        };
        let mut answer = respond(StatusCode::OK, "text/event-stream", "");
        *answer.body_mut() = Either::Right(told::begin(self.context.clone(), self.setup.clone(), place));
        answer
    }

    /// A letter's page, or its PDF.
    async fn letter(
        &self,
        asked: &Asked,
        query: &Fields,
        uuid: DocumentUuid,
        is_pdf: bool,
        language: Language,
    ) -> Answer {
        let made = async {
            let Some(session) = self.session(asked).await? else {
                return Ok(sentence(StatusCode::FORBIDDEN, language, "letter-locked"));
            };
            let short = uuid.short();
            if is_pdf {
                let known = self.context.edges.ledger.read(move |db| views::letter::of(db, &uuid, views::one)).await?;
                let Some(known) = known else { return Ok(sentence(StatusCode::NOT_FOUND, language, "no-letter")) };
                return Ok(match pdf::read(&self.context, &self.setup.disks.folders, known, &self.reading).await {
                    Ok(found) => pdf::answer(found, &short),
                    Err(Kept::Changed) => sentence(StatusCode::NOT_FOUND, language, "pdf-changed"),
                    Err(Kept::Gone) => sentence(StatusCode::NOT_FOUND, language, "pdf-gone"),
                    Err(Kept::Unknown) => sentence(StatusCode::SERVICE_UNAVAILABLE, language, "pdf-unknown"),
                });
            }
            let read = move |db: &rusqlite::Connection| {
                let read = |db: &rusqlite::Connection, id| Ok((id, views::letter::read(db, id)?));
                let Some((id, detail)) = views::letter::of(db, &uuid, read)? else { return Ok(None) };
                let waiting = patients::of_letter(db, &detail.shown)?;
                Ok(Some((id, detail, waiting)))
            };
            let Some((id, detail, waiting)) = self.context.edges.ledger.read(read).await? else {
                return Ok(sentence(StatusCode::NOT_FOUND, language, "no-letter"));
            };
            if detail.shown.document.state.is_failure() {
                // The page does not wait for a ledger that another program locks.
                let ledger = self.context.edges.ledger.clone();
                tokio::spawn(async move { ledger.write(move |db| documents::seen(db, &[id], now())).await });
            }
            let list = self.list();
            let searched = list.clone();
            let questions = tokio::task::spawn_blocking(move || Questions::of(waiting, searched.as_deref())).await.ok();
            let overview = self.overview(true).await?;
            let pdf = self.can_be_had(&detail).await;
            let has_list = self.context.edges.numbers.is_some();
            let questions = questions.as_ref();
            let list = list.as_deref();
            let shown = letter::LetterPage { detail: &detail, questions, overview: &overview, pdf, has_list, list };
            let markup = letter::page(language, &session.form_token, &shown, Notice::named(query.get("done")));
            let mut answer = html(StatusCode::OK, language, markup);
            self.renew(&mut answer, asked, session.renewed);
            Ok::<_, LedgerError>(answer)
        };
        made.await.unwrap_or_else(|error| unavailable(language, &error))
    }

    /// Where a letter's PDF is, as far as a short look shows.
    async fn can_be_had(&self, detail: &LetterDetail) -> Had {
        let DocumentHistory { document, deliveries, .. } = &detail.shown;
        let letter = DocumentView { deliveries: deliveries.clone(), ..document.clone() };
        let look = pdf::read(&self.context, &self.setup.disks.folders, letter, &self.reading);
        match tokio::time::timeout(SHORT, look).await {
            Ok(Ok(_)) => Had::Here,
            // Nobody knows, so whoever asks for it waits.
            Ok(Err(Kept::Unknown)) | Err(_) => Had::Here,
            Ok(Err(kept)) => {
                let is_changed = kept == Kept::Changed;
                let can_ask = !matches!(document.state, State::Discovered | State::Withdrawn)
                    && self.context.edges.clients.contains_key(&document.account);
                Had::NotHere { is_changed, can_ask }
            }
        }
    }

    async fn page(&self, asked: &Asked, query: &Fields, language: Language) -> Answer {
        let notice = Notice::named(query.get("done"));
        let made = async {
            let session = self.session(asked).await?;
            let markup = match &session {
                Some(session) => self.keyed(session, None, notice, language).await?,
                None => {
                    let notice = notice.filter(|notice| *notice == Notice::Closed);
                    page::page(language, &*self.overview(true).await?, Err(self.locked(asked)), notice)
                }
            };
            let mut answer = html(StatusCode::OK, language, markup);
            self.renew(&mut answer, asked, session.and_then(|session| session.renewed));
            Ok::<_, LedgerError>(answer)
        };
        made.await.unwrap_or_else(|error| unavailable(language, &error))
    }

    /// What the page shows with the key.
    pub(super) async fn keyed(
        &self,
        session: &Session,
        found: Option<Found>,
        notice: Option<Notice>,
        language: Language,
    ) -> Result<Markup, LedgerError> {
        let overview = self.overview(false).await?;
        let now = overview.now.clone();
        let (details, waiting) =
            self.context.edges.ledger.read(move |db| Ok((facts::details(db, &now)?, patients::read(db)?))).await?;
        let list = self.list();
        // Each patient is searched in the whole list.
        let searched = list.clone();
        let questions = tokio::task::spawn_blocking(move || Questions::of(waiting, searched.as_deref())).await.ok();
        let (token, keeps_names) = (&session.form_token, self.setup.keeps_names);
        let browsers = Browsers { known: keys::browsers(&self.context.edges.ledger).await?, own: &session.digest };
        let keyed = Keyed { token, details, questions, list, found, keeps_names, browsers };
        Ok(page::page(language, &overview, Ok(&keyed), notice))
    }

    /// The practice's list of patients that is in use.
    pub(super) fn list(&self) -> Option<Arc<List>> {
        self.context.edges.numbers.as_ref().and_then(|numbers| numbers.patients.current().list)
    }

    /// What everybody may see, now or up to [`FRESH`] ago.
    async fn overview(&self, may_be_old: bool) -> Result<Arc<Overview>, LedgerError> {
        let kept = || self.overview.lock().unwrap_or_else(PoisonError::into_inner);
        if may_be_old && let Some((_, overview)) = kept().as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(Arc::clone(overview));
        }
        let setup = self.setup.clone();
        let fails_since = self.context.signals.ledger_fails_since();
        let read = self.context.edges.ledger.read(move |db| facts::overview(db, &setup, fails_since));
        let overview = Arc::new(read.await?);
        *kept() = Some((Instant::now(), Arc::clone(&overview)));
        Ok(overview)
    }

    /// Answers a form. It must come from our own page, with the key and the page's own token.
    async fn form(&self, asked: &Asked, path: &str, language: Language) -> Answer {
        if !self.names(asked.way).is_origin(&asked.head.headers) {
            return sentence(StatusCode::FORBIDDEN, language, "foreign");
        }
        let Some(body) = &asked.body else {
            return sentence(StatusCode::PAYLOAD_TOO_LARGE, language, "too-large");
        };
        let fields = Fields::of(body);
        let done = async {
            let session = self.session(asked).await?;
            let Some(session) = session.filter(|session| keys::is_same(&session.form_token, fields.get("token")))
            else {
                return Ok(sentence(StatusCode::FORBIDDEN, language, "foreign"));
            };
            // "Lock this browser" removes the cookie.
            let renewed = session.renewed.filter(|_| !["/close", "/lock"].contains(&path));
            let mut answer = self.carry_out(path, &fields, session, language).await?;
            self.renew(&mut answer, asked, renewed);
            Ok(answer)
        };
        done.await.unwrap_or_else(|error| unavailable(language, &error))
    }
}

/// The page for a key that cannot be made now.
pub(super) fn no_key(language: Language, error: &KeyError) -> Answer {
    match error {
        KeyError::Ledger(error) => unavailable(language, error),
        KeyError::Random(_) => sentence(StatusCode::SERVICE_UNAVAILABLE, language, "trouble"),
    }
}

/// The colour of the icon at this address.
fn colour(path: &str) -> Option<&'static str> {
    match path {
        "/well.svg" => Some("#0f6a48"),
        "/waiting.svg" => Some("#9a6700"),
        "/needs-person.svg" => Some("#b42318"),
        "/silent.svg" => Some("#77838f"),
        _ => None,
    }
}

/// The page for a ledger that cannot be read now. The reason is in the stages' log; here it would tell of the machine.
fn unavailable(language: Language, error: &LedgerError) -> Answer {
    tracing::debug!(event = "status_page_failed", "{error}");
    sentence(StatusCode::SERVICE_UNAVAILABLE, language, "trouble")
}

pub(super) fn sentence(status: StatusCode, language: Language, key: &str) -> Answer {
    html(status, language, frame::sentence(language, key))
}

pub(super) fn html(status: StatusCode, language: Language, markup: Markup) -> Answer {
    let mut answer = respond(status, "text/html; charset=utf-8", markup.into_string());
    add(answer.headers_mut(), header::CONTENT_LANGUAGE, language.as_str());
    add(answer.headers_mut(), header::VARY, "Accept-Language, Cookie");
    answer
}

pub(super) fn respond(status: StatusCode, kind: &str, body: impl Into<Cow<'static, str>>) -> Answer {
    let bytes = match body.into() {
        Cow::Borrowed(text) => Bytes::from_static(text.as_bytes()),
        Cow::Owned(text) => Bytes::from(text),
    };
    with_headers(status, kind, POLICY, bytes)
}

pub(super) fn with_headers(status: StatusCode, kind: &str, policy: &str, bytes: Bytes) -> Answer {
    let mut answer = Response::new(Either::Left(Full::new(bytes)));
    *answer.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::SERVER, SERVER),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        add(answer.headers_mut(), name, value);
    }
    answer
}

pub(super) fn add(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.append(name, value);
    }
}

//! From a request to its answer.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use jiff::Zoned;
use maud::Markup;
use secrecy::ExposeSecret as _;
use tokio::sync::Semaphore;
use url::form_urlencoded;

use super::connections::{self, Asked};
use super::facts::{self, Overview, Search, Setup};
use super::guard::{self, Address};
use super::keys::{self, KeyError, Session};
use super::page::{self, Found, Keyed, Notice};
use super::patients::{self, Questions};
use super::{SERVER, metrics};
use crate::language::Language;
use crate::ledger::history::{self, Action};
use crate::ledger::{LedgerError, QueryResult, now, retry};
use crate::patients::List;
use crate::pipeline::Shared;
use crate::views::named::{self, Named};

/// What the browser may do with a page: show it, with our style and icons, and send its forms back to us.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";
/// Pages that are made at once; others wait. The ledger has one reader, which the stages need.
const MAKING: usize = 2;
/// How old may be what somebody sees who has no key: so a flood of requests reads the ledger once a second.
const FRESH: Duration = Duration::from_secs(1);
/// How long the choice of a language is remembered; seconds.
const LANGUAGE_SECONDS: u32 = 365 * 24 * 60 * 60;
const LANGUAGE_COOKIE: &str = "docsyncd_language";

/// Everything that answers are made of.
pub(super) struct Site {
    context: Shared,
    setup: Setup,
    address: Address,
    /// The name of the session's cookie: browsers send cookies to every port of a computer.
    cookie: String,
    making: Semaphore,
    overview: Mutex<Option<(Instant, Arc<Overview>)>>,
}

type Answer = Response<Full<Bytes>>;

impl connections::Site for Site {
    /// A form with a name in it.
    const MAX_BODY: usize = 8 * 1024;

    /// Answers, whatever was asked.
    async fn answer(&self, asked: Asked) -> Answer {
        self.answered(asked).await
    }
}

/// Fields of a form or query.
struct Fields(Vec<(String, String)>);

impl Fields {
    fn of(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The value; empty when there is none.
    fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

impl Site {
    pub(super) fn new(context: Shared, setup: Setup, address: std::net::SocketAddr) -> Self {
        Self {
            context,
            setup,
            address: Address::new(address),
            cookie: format!("docsyncd_{}", address.port()),
            making: Semaphore::new(MAKING),
            overview: Mutex::new(None),
        }
    }

    async fn answered(&self, asked: Asked) -> Answer {
        let headers = &asked.head.headers;
        let query = Fields::of(asked.head.uri.query().unwrap_or_default().as_bytes());
        let chosen = Some(query.get("lang")).filter(|tag| !tag.is_empty()).and_then(Language::parse);
        let remembered = || guard::cookie(headers, LANGUAGE_COOKIE).and_then(Language::parse);
        let accepted = || Language::accepted(headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?);
        let language = chosen.or_else(remembered).or_else(accepted).unwrap_or_default();
        let mut answer = if self.address.is_host(&asked.head) {
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
        // Nobody makes more than a few pages at once; the semaphore is never closed.
        let _making = self.making.acquire().await;
        let (method, path) = (&asked.head.method, asked.head.uri.path());
        let reads = matches!(*method, Method::GET | Method::HEAD);
        match path {
            "/" if reads => self.page(&asked.head, query, language).await,
            // Not HEAD: what only looks at links must not use one up.
            "/open" if *method == Method::GET => self.open(query, language).await,
            "/metrics" if reads => match metrics::text(&self.context, &self.setup).await {
                Ok(text) => respond(StatusCode::OK, metrics::TYPE, text),
                Err(error) => unavailable(language, &error),
            },
            "/style.css" if reads => respond(StatusCode::OK, "text/css; charset=utf-8", page::STYLE),
            "/well.svg" if reads => icon("#0f6a48"),
            "/waiting.svg" if reads => icon("#9a6700"),
            "/needs-person.svg" if reads => icon("#b42318"),
            "/retry" | "/retry-failed" | "/assign" | "/poll" | "/find" | "/close" if *method == Method::POST => {
                self.form(asked, path, language).await
            }
            "/open" => not_allowed(language, "GET"),
            "/" | "/metrics" | "/style.css" | "/well.svg" | "/waiting.svg" | "/needs-person.svg" => {
                not_allowed(language, "GET, HEAD")
            }
            "/retry" | "/retry-failed" | "/assign" | "/poll" | "/find" | "/close" => not_allowed(language, "POST"),
            _ => sentence(StatusCode::NOT_FOUND, language, "nothing"),
        }
    }

    async fn session(&self, headers: &HeaderMap) -> Result<Option<Session>, LedgerError> {
        match guard::cookie(headers, &self.cookie) {
            Some(cookie) => keys::session(&self.context.ledger, cookie).await,
            None => Ok(None),
        }
    }

    async fn page(&self, head: &Parts, query: &Fields, language: Language) -> Answer {
        let notice = Notice::ALL.into_iter().find(|notice| notice.as_str() == query.get("done"));
        let made = async {
            let markup = match self.session(&head.headers).await? {
                Some(session) => self.keyed(&session, None, notice, language).await?,
                None => {
                    let notice = notice.filter(|notice| *notice == Notice::Closed);
                    page::page(language, &*self.overview(true).await?, None, notice)
                }
            };
            Ok::<_, LedgerError>(html(StatusCode::OK, language, markup))
        };
        made.await.unwrap_or_else(|error| unavailable(language, &error))
    }

    /// The page of somebody who has the key.
    async fn keyed(
        &self,
        session: &Session,
        found: Option<Found>,
        notice: Option<Notice>,
        language: Language,
    ) -> Result<Markup, LedgerError> {
        let overview = self.overview(false).await?;
        let now = overview.now.clone();
        let (details, waiting) =
            self.context.ledger.read(move |db| Ok((facts::details(db, &now)?, patients::read(db)?))).await?;
        let list = self.list();
        // Each patient is looked for in the whole list.
        let questions = tokio::task::spawn_blocking(move || Questions::of(waiting, list.as_deref())).await.ok();
        let (token, keeps_names) = (&session.form_token, self.setup.keeps_names);
        let keyed = Keyed { token, details, questions, found, keeps_names };
        Ok(page::page(language, &overview, Some(&keyed), notice))
    }

    /// The practice's list of patients that counts now.
    fn list(&self) -> Option<Arc<List>> {
        self.context.numbers.as_ref().and_then(|numbers| numbers.patients.current().list)
    }

    /// What everybody may see, as it is or was a moment ago.
    async fn overview(&self, may_be_old: bool) -> Result<Arc<Overview>, LedgerError> {
        let kept = || self.overview.lock().unwrap_or_else(PoisonError::into_inner);
        if may_be_old && let Some((_, overview)) = kept().as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(Arc::clone(overview));
        }
        let setup = self.setup.clone();
        let fails_since = self.context.ledger_fails_since();
        let read = self.context.ledger.read(move |db| facts::overview(db, &setup, fails_since));
        let overview = Arc::new(read.await?);
        *kept() = Some((Instant::now(), Arc::clone(&overview)));
        Ok(overview)
    }

    /// The link of `docsyncd open`. What is answered is a page and no redirect: a browser that came here from elsewhere
    /// (a terminal that opens links) would not send the new cookie along.
    async fn open(&self, query: &Fields, language: Language) -> Answer {
        match keys::open(&self.context.ledger, query.get("key")).await {
            Ok(Some(session)) => {
                let mut answer = sentence(StatusCode::OK, language, "opened");
                let cookie = format!(
                    "{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict",
                    self.cookie,
                    session.expose_secret(),
                    keys::SESSION_SECONDS
                );
                add(answer.headers_mut(), header::SET_COOKIE, &cookie);
                add(answer.headers_mut(), header::REFRESH, "0; url=/");
                answer
            }
            Ok(None) => sentence(StatusCode::FORBIDDEN, language, "used"),
            Err(KeyError::Ledger(error)) => unavailable(language, &error),
            Err(KeyError::Random(_)) => sentence(StatusCode::SERVICE_UNAVAILABLE, language, "trouble"),
        }
    }

    /// Every form: it must come from our own page, with the key and the page's own token.
    async fn form(&self, asked: &Asked, path: &str, language: Language) -> Answer {
        if !self.address.is_origin(&asked.head.headers) {
            return sentence(StatusCode::FORBIDDEN, language, "foreign");
        }
        let Some(body) = &asked.body else {
            return sentence(StatusCode::PAYLOAD_TOO_LARGE, language, "too-large");
        };
        let fields = Fields::of(body);
        let done = async {
            let session = self.session(&asked.head.headers).await?;
            let Some(session) = session.filter(|session| keys::is_same(&session.form_token, fields.get("token")))
            else {
                return Ok(sentence(StatusCode::FORBIDDEN, language, "foreign"));
            };
            self.carry_out(path, &fields, session, language).await
        };
        done.await.unwrap_or_else(|error| unavailable(language, &error))
    }

    async fn carry_out(
        &self,
        path: &str,
        fields: &Fields,
        session: Session,
        language: Language,
    ) -> Result<Answer, LedgerError> {
        let notice = match path {
            "/find" => return self.find(fields, &session, language).await,
            "/retry" => {
                let known = self.retry(fields.get("uuid").to_owned()).await?;
                if known { Notice::Retried } else { Notice::Unknown }
            }
            "/retry-failed" => {
                self.context.ledger.write(|db| act(db, "all that failed")).await?;
                self.context.ledger.retry_failed().await?;
                self.context.pauses.probe_all_now();
                self.context.nudges.stages();
                Notice::RetriedAll
            }
            "/assign" => match self.assign(fields).await? {
                true => Notice::Assigned,
                false => Notice::NotAssigned,
            },
            "/close" => {
                keys::end(&self.context.ledger, session).await?;
                Notice::Closed
            }
            _ => {
                self.context.pauses.probe_all_now();
                self.context.nudges.poll_all();
                self.context.nudges.stages();
                Notice::Polled
            }
        };
        let mut answer = respond(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
        add(answer.headers_mut(), header::LOCATION, &format!("/?done={}", notice.as_str()));
        if notice == Notice::Closed {
            let cookie = format!("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", self.cookie);
            add(answer.headers_mut(), header::SET_COOKIE, &cookie);
        }
        Ok(answer)
    }

    /// What `docsyncd retry UUID` does, to a document that failed: the page may be an old one, and what was filed meanwhile is
    /// not to be filed again. False when nothing was done.
    async fn retry(&self, uuid: String) -> Result<bool, LedgerError> {
        let retried = self.context.ledger.write(move |db| {
            let Named::One(ids) = named::named(db, &uuid)? else { return Ok(false) };
            let mut retried = false;
            for id in ids {
                retried |= retry::if_failed(db, id, now())?.is_some();
            }
            if retried {
                act(db, &format!("document {uuid}"))?;
            }
            Ok(retried)
        });
        let retried = retried.await?;
        self.context.pauses.probe_all_now();
        self.context.nudges.stages();
        Ok(retried)
    }

    /// What `docsyncd assign UUID NUMBER` does, after both sides were seen. False when nothing was done.
    async fn assign(&self, fields: &Fields) -> Result<bool, LedgerError> {
        let Some(list) = self.list() else { return Ok(false) };
        let [uuid, number, seen] = ["uuid", "number", "seen"].map(|name| fields.get(name).to_owned());
        let settled = self.context.ledger.write(move |db| patients::settle(db, &list, &uuid, &number, &seen)).await?;
        if let Some(numbers) = self.context.numbers.as_ref().filter(|_| settled) {
            numbers.changed_elsewhere();
        }
        Ok(settled)
    }

    async fn find(&self, fields: &Fields, session: &Session, language: Language) -> Result<Answer, LedgerError> {
        let field = |name| fields.get(name).trim().to_owned();
        let search = Search { text: field("words"), kind: field("kind"), day: field("day") };
        let letters = match search.meant(&Zoned::now()) {
            Some((words, seen)) => Some(self.context.ledger.read(move |db| facts::find(db, &words, seen)).await?),
            None => None,
        };
        let markup = self.keyed(session, Some(Found { search, letters }), None, language).await?;
        Ok(html(StatusCode::OK, language, markup))
    }
}

/// Whoever holds a key of the page; who that is nobody knows.
fn act(db: &rusqlite::Connection, what: &str) -> QueryResult<()> {
    history::act(db, now(), Action::Retry, what, Some("status page"))
}

fn icon(colour: &str) -> Answer {
    respond(StatusCode::OK, "image/svg+xml", page::dot(colour))
}

fn not_allowed(language: Language, allowed: &str) -> Answer {
    let mut answer = sentence(StatusCode::METHOD_NOT_ALLOWED, language, "nothing");
    add(answer.headers_mut(), header::ALLOW, allowed);
    answer
}

/// The ledger has no answer now. Why is in the log of whoever needs it; here it would tell of the machine.
fn unavailable(language: Language, error: &LedgerError) -> Answer {
    tracing::debug!(event = "status_page_failed", "{error}");
    sentence(StatusCode::SERVICE_UNAVAILABLE, language, "trouble")
}

fn sentence(status: StatusCode, language: Language, key: &str) -> Answer {
    html(status, language, page::sentence(language, key))
}

fn html(status: StatusCode, language: Language, markup: Markup) -> Answer {
    let mut answer = respond(status, "text/html; charset=utf-8", markup.into_string());
    add(answer.headers_mut(), header::CONTENT_LANGUAGE, language.as_str());
    add(answer.headers_mut(), header::VARY, "Accept-Language, Cookie");
    answer
}

fn respond(status: StatusCode, kind: &str, body: impl Into<Cow<'static, str>>) -> Answer {
    let bytes = match body.into() {
        Cow::Borrowed(text) => Bytes::from_static(text.as_bytes()),
        Cow::Owned(text) => Bytes::from(text),
    };
    let mut answer = Response::new(Full::new(bytes));
    *answer.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
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

fn add(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.append(name, value);
    }
}

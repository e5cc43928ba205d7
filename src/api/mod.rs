//! The client of the dental cloud API: a few calls, each with one meaning, and errors sorted by their remedy.
//!
//! What it deliberately is not: it retries nothing and keeps no state of documents. The pipeline decides when and how
//! often to call.

mod addresses;
pub mod auth;
mod congestion;
mod download;
mod error;
mod greeting;
mod json;
mod list;
mod me;
mod redirect;
mod transport;
mod webhooks;
mod wire;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use url::Url;

pub use crate::domain::document::Listed;
pub use addresses::leads_inside;
pub use download::Download;
pub use error::{ApiError, Meaning};
pub use greeting::{Introduced, greet, has_sign_in, hint};
pub use list::{LOOK_SIZE, ListQuery, Order, PAGE_SIZE, Shown, look};
pub use me::{Me, me};
pub use redirect::redirect_target;
pub use transport::{TokenAnswer, Transport};
pub use webhooks::{NewWebhook, Webhook};
pub use wire::{Detail, Page, Pdf, ReportAnswer, is_about};

use crate::config::Account;
use crate::domain::document::{DocumentUuid, Record};
use crate::domain::retry::RetryPolicy;
use auth::Credentials;
use congestion::CongestionWindow;
use json::List;
use transport::{Body, MAX_JSON_BYTES, Reach};

/// The API that the pipeline calls, as one account sees it. [`Client`] is the real one. The simulation of the pipeline
/// has another, with a server of a few maps in memory.
#[async_trait]
pub trait Api: Send + Sync {
    /// `GET /documents`: the unsynchronized documents unless the query says otherwise, oldest first by default.
    ///
    /// # Errors
    /// [`ApiError`].
    async fn list(&self, query: &ListQuery) -> Result<Page, ApiError>;

    /// `GET /documents/{uuid}`
    ///
    /// # Errors
    /// [`ApiError`]; status 404 may mean that the document was withdrawn, which the list decides.
    async fn document(&self, uuid: &DocumentUuid) -> Result<Detail, ApiError>;

    /// `GET /patients/{uuid}`: for servers whose documents show the patient as an identifier only.
    ///
    /// # Errors
    /// [`ApiError`].
    async fn patient(&self, uuid: &str) -> Result<Record, ApiError>;

    /// `PATCH /patients/{uuid}` with `externalId`: the patient's number in the practice's software. Needs the scope
    /// `write:patients`.
    ///
    /// # Errors
    /// [`ApiError`].
    async fn tell_number(&self, _patient: &str, _number: &str) -> Result<(), ApiError> {
        Err(ApiError::Status { status: 404, retry_after: None })
    }

    /// `GET /users/{uuid}`: for servers whose documents show the user as an identifier only.
    ///
    /// # Errors
    /// [`ApiError`].
    async fn user(&self, uuid: &str) -> Result<Record, ApiError>;

    /// Opens the download of a PDF. Sends the token only if the address has the API's own origin.
    ///
    /// # Errors
    /// [`ApiError`].
    async fn download(&self, address: &str) -> Result<Download, ApiError>;

    /// `POST /documents/{uuid}/status`: success when `error` is `None`.
    ///
    /// # Errors
    /// [`ApiError`]; [`ApiError::Shape`] if the body of a success is neither this document nor empty.
    async fn report(&self, uuid: &DocumentUuid, error: Option<&str>) -> Result<ReportAnswer, ApiError>;

    /// How much this computer's clock was ahead of the API's at the last answer; milliseconds. `None` if no answer
    /// showed it.
    fn clock_ahead(&self) -> Option<i64> {
        None
    }

    /// `GET /webhooks`: all webhooks of the account's user.
    ///
    /// # Errors
    /// [`ApiError`].
    async fn webhooks(&self) -> Result<Vec<Webhook>, ApiError> {
        Ok(Vec::new())
    }

    /// `POST /webhooks`: registers a webhook that calls this address about events of documents.
    ///
    /// # Errors
    /// [`ApiError`].
    async fn register_webhook(&self, _url: &str) -> Result<NewWebhook, ApiError> {
        Err(ApiError::Status { status: 404, retry_after: None })
    }

    /// `DELETE /webhooks/{uuid}`; a webhook that does not exist counts as removed.
    ///
    /// # Errors
    /// [`ApiError`].
    async fn remove_webhook(&self, _uuid: &str) -> Result<(), ApiError> {
        Ok(())
    }

    /// Checks whether the account's credentials changed since they were read (a person signed in or mended a file). If
    /// so, reads them again. The files may be on a share that hangs, so call it on a separate thread.
    fn look_at_credentials(&self) -> bool;

    /// The files that [`Self::look_at_credentials`] looks at.
    fn credential_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Reads the account's credentials again.
    async fn read_credentials_again(&self);

    /// The longest time that a renewal of tokens may take.
    fn longest_renewal(&self) -> Duration;

    /// Waits for a renewal of tokens in progress: aborting it could lose them.
    async fn settle(&self);
}

/// The API as one account sees it, over HTTP.
#[derive(Debug)]
pub struct Client {
    transport: Transport,
    credentials: Credentials,
    window: CongestionWindow,
    /// NAME of the account.
    account: String,
    /// Whether the log has told that the API writes lists in an unusual form.
    told_of_lists: AtomicBool,
}

/// The answer that `docsyncd api` shows.
pub struct RawAnswer {
    /// Status code.
    pub status: u16,
    /// The body as text.
    pub body: String,
}

impl Client {
    /// The API for the account. Its sign-in is stored beside the ledger. `retry` sets the backoff of failed renewals.
    pub fn new(transport: Transport, account: &Account, ledger: &Path, retry: RetryPolicy) -> Self {
        let credentials = Credentials::new(transport.clone(), account, ledger, retry);
        let (account, told_of_lists) = (account.name.clone(), AtomicBool::new(false));
        Self { transport, credentials, window: CongestionWindow::new(), account, told_of_lists }
    }

    /// The account's credentials.
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// What may be wrong with `api.base_url`, if reading the list fails with this error and the server that answers is
    /// not the API.
    pub fn hint(&self, error: &ApiError) -> Option<String> {
        hint(&self.transport, error)
    }

    /// The method and the address of a call that a person typed. `path` is relative to `api.base_url`.
    ///
    /// # Errors
    /// A sentence: not an HTTP method, not an address, or an address of another origin.
    pub fn target(&self, method: &str, path: &str) -> Result<(Method, Url), String> {
        let parsed = Method::from_bytes(method.to_ascii_uppercase().as_bytes());
        let parsed = parsed.map_err(|_| format!("{method} is not an HTTP method: GET, POST, PATCH, PUT or DELETE"))?;
        let url = self.transport.resolve(path.trim_start_matches('/')).map_err(|_| format!("{path} is not a path"))?;
        if !self.transport.is_own_origin(&url) {
            return Err(format!("{path} leads away from api.base_url: write only the path, such as /documents"));
        }
        Ok((parsed, url))
    }

    /// Any call to a [`Self::target`], for `docsyncd api`.
    ///
    /// # Errors
    /// [`ApiError`]; but any status is an answer here.
    pub async fn raw(&self, (method, url): (Method, Url), body: Option<Vec<u8>>) -> Result<RawAnswer, ApiError> {
        let media_type = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let body = body.map(|bytes| Body { media_type, bytes, is_idempotent: false });
        let mut bearer = self.credentials.bearer().await?;
        let response = loop {
            let call = self.transport.send(method.clone(), url.clone(), &bearer.token, Reach::Anywhere, body.as_ref());
            let response = self.transport.in_time(&url, call).await?;
            if response.status() != StatusCode::UNAUTHORIZED {
                break response;
            }
            match self.credentials.refused(&bearer).await? {
                Some(other) => bearer = other,
                None => break response,
            }
        };
        let status = response.status().as_u16();
        let body = self.transport.read_bounded(&url, response, MAX_JSON_BYTES).await?;
        Ok(RawAnswer { status, body: String::from_utf8_lossy(&body).into_owned() })
    }

    /// Sends with the account's credentials. If the API refuses them and there are newer ones, sends once more with
    /// those.
    async fn send_ok(
        &self,
        method: Method,
        url: &Url,
        reach: Reach,
        body: Option<&Body>,
    ) -> Result<Response, ApiError> {
        let mut bearer = self.credentials.bearer().await?;
        let own = self.transport.is_own_origin(url);
        loop {
            let request = if own { Some(self.window.enter().await) } else { None };
            let call = self.transport.send_ok(method.clone(), url.clone(), &bearer, reach, body);
            let answer = self.transport.in_time(url, call).await;
            match (&answer, request) {
                (Err(ApiError::Status { status: 429, .. }), Some(request)) => request.refused(),
                (Ok(_) | Err(ApiError::Status { .. }), Some(request)) => request.answered(),
                _ => {}
            }
            match answer {
                Err(error @ ApiError::Unauthorized { .. }) => match self.credentials.refused(&bearer).await? {
                    Some(other) => bearer = other,
                    None => return Err(error),
                },
                answer => return answer,
            }
        }
    }

    async fn read(&self, method: Method, url: &Url, body: Option<&Body>) -> Result<Vec<u8>, ApiError> {
        let response = self.send_ok(method, url, Reach::Api, body).await?;
        self.transport.in_time(url, self.transport.read_bounded(url, response, MAX_JSON_BYTES)).await
    }

    /// Reads a list. Servers in PHP may write a list as an object, and an empty list as an empty body.
    async fn read_list<T: Default>(
        &self,
        url: &Url,
        read: impl Fn(&[u8]) -> Result<List<T>, ApiError>,
    ) -> Result<T, ApiError> {
        let response = self.send_ok(Method::GET, url, Reach::Api, None).await?;
        let list = if response.status() == StatusCode::NO_CONTENT {
            List { read: T::default(), is_numbered: true }
        } else {
            let body = self.transport.read_bounded(url, response, MAX_JSON_BYTES);
            read(&self.transport.in_time(url, body).await?)?
        };
        if list.is_numbered && !self.told_of_lists.swap(true, Ordering::Relaxed) {
            tracing::info!(
                event = "odd_lists",
                account = self.account,
                "the API writes lists as objects with numbers for names, or empty ones as nothing: both are read as lists"
            );
        }
        Ok(list.read)
    }

    async fn record(&self, path: &[&str]) -> Result<Record, ApiError> {
        fault_point!("api.record.before");
        let answer = self.read(Method::GET, &self.transport.endpoint(path), None).await?;
        fault_point!("api.record.after");
        match json::parse(&answer)? {
            Value::Object(record) => Ok(record),
            _ => Err(ApiError::Shape("an object was expected".to_owned())),
        }
    }
}

#[async_trait]
impl Api for Client {
    fn clock_ahead(&self) -> Option<i64> {
        self.transport.clock_ahead()
    }

    async fn list(&self, query: &ListQuery) -> Result<Page, ApiError> {
        let mut url = self.transport.endpoint(&["documents"]);
        {
            let mut pairs = url.query_pairs_mut();
            pairs.append_pair("synchronized", if query.synchronized { "true" } else { "false" });
            pairs.append_pair("itemsPerPage", &query.size.unwrap_or(PAGE_SIZE).to_string());
            match query.order {
                Order::OldestFirst => pairs.append_pair("order[createdAt]", "asc"),
                Order::NewestFirst => pairs.append_pair("order[createdAt]", "desc"),
                Order::Unordered => &mut pairs,
            };
            for uuid in &query.uuids {
                pairs.append_pair("uuid[]", uuid.as_str());
            }
            pairs.append_pair("page", &query.page.to_string());
        }
        fault_point!("api.list.before");
        let page = self.read_list(&url, Page::read_list).await;
        fault_point!("api.list.after");
        match page {
            // Some servers answer like this to a page beyond the last one. Page 1 is where the list is.
            Err(ApiError::Status { status: 404, .. }) if query.page > 1 => Ok(Page::default()),
            Err(ApiError::Status { status: status @ (404 | 405 | 410), .. }) => {
                url.set_query(None);
                Err(ApiError::NotHere { status, url: url.to_string() })
            }
            page => page,
        }
    }

    async fn document(&self, uuid: &DocumentUuid) -> Result<Detail, ApiError> {
        let url = self.transport.endpoint(&["documents", uuid.as_str()]);
        fault_point!("api.document.before");
        let detail = Detail::read(&self.read(Method::GET, &url, None).await?);
        fault_point!("api.document.after");
        detail
    }

    async fn patient(&self, uuid: &str) -> Result<Record, ApiError> {
        self.record(&["patients", uuid]).await
    }

    async fn tell_number(&self, patient: &str, number: &str) -> Result<(), ApiError> {
        let url = self.transport.endpoint(&["patients", patient]);
        let bytes = json!({"externalId": number}).to_string().into_bytes();
        // Repeating it changes nothing.
        let body = Body { media_type: "application/merge-patch+json", bytes, is_idempotent: true };
        self.send_ok(Method::PATCH, &url, Reach::Api, Some(&body)).await.map(drop)
    }

    async fn user(&self, uuid: &str) -> Result<Record, ApiError> {
        self.record(&["users", uuid]).await
    }

    async fn report(&self, uuid: &DocumentUuid, error: Option<&str>) -> Result<ReportAnswer, ApiError> {
        let url = self.transport.endpoint(&["documents", uuid.as_str(), "status"]);
        let body = match error {
            None => json!({"success": true}),
            Some(error) => json!({"success": false, "error": error}),
        };
        // Repeating it changes nothing.
        let bytes = body.to_string().into_bytes();
        let body = Body { media_type: "application/json", bytes, is_idempotent: true };
        fault_point!("api.report.before");
        let answer = self.read(Method::POST, &url, Some(&body)).await;
        fault_point!("api.report.after");
        ReportAnswer::read(uuid, &answer?)
    }

    async fn download(&self, address: &str) -> Result<Download, ApiError> {
        let url = self.transport.resolve(address)?;
        fault_point!("api.download.before");
        let response = self.send_ok(Method::GET, &url, Reach::Pdf, None).await?;
        fault_point!("api.download.after");
        // These statuses mean "not yet" (RFC 9110, sections 15.3.3 and 15.3.5).
        if let status @ (StatusCode::ACCEPTED | StatusCode::NO_CONTENT) = response.status() {
            return Err(ApiError::Status { status: status.as_u16(), retry_after: None });
        }
        Ok(Download::over_http(self.transport.host(&url), response))
    }

    async fn webhooks(&self) -> Result<Vec<Webhook>, ApiError> {
        self.list_webhooks().await
    }

    async fn register_webhook(&self, url: &str) -> Result<NewWebhook, ApiError> {
        self.post_webhook(url).await
    }

    async fn remove_webhook(&self, uuid: &str) -> Result<(), ApiError> {
        self.delete_webhook(uuid).await
    }

    fn look_at_credentials(&self) -> bool {
        self.credentials.look()
    }

    fn credential_files(&self) -> Vec<PathBuf> {
        self.credentials.files()
    }

    async fn read_credentials_again(&self) {
        self.credentials.read_again().await;
    }

    fn longest_renewal(&self) -> Duration {
        self.credentials.longest_renewal()
    }

    async fn settle(&self) {
        self.credentials.settle().await;
    }
}

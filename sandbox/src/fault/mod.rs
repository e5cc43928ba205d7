//! Faults on demand: what a network, a proxy or a broken server does to a client.

mod habit;
mod in_force;
mod json;
mod route;

use std::time::Duration;

pub use habit::{Habit, QuirksPatch};
pub(crate) use in_force::{Faults, InForce};
pub use route::Route;
pub(crate) use route::Target;

/// One thing that goes wrong, for one kind of request, a number of times.
///
/// In JSON, as the admin surface and `--fault` take it, it is one flat object; the README shows one for every kind:
///
/// ```
/// use docsyncd_sandbox::{Fault, FaultKind, Route};
/// let text = r#"{"route": "pdf", "times": 3, "kind": "status", "code": 429, "retry_after": "7"}"#;
/// let fault: Fault = serde_json::from_str(text)?;
/// assert_eq!(fault, Fault::once(Route::Pdf, FaultKind::status_retry_after(429, 7)).times(3));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The requests that it hits.
    pub route: Route,
    /// Only requests about the document with this uuid; `None` for all. A list request is about no document.
    pub document: Option<String>,
    /// Only requests with this API key or access token; `None` for all. This distinguishes accounts on routes without a
    /// document.
    pub bearer: Option<String>,
    /// How many requests it hits before it ends; `None` for ever.
    pub times: Option<u32>,
    /// The chance of a hit for a matching request, from 0.0 to 1.0. With the same seed and the same order of faults and
    /// requests, the same requests are hit. A request that is spared does not count as one of `times`.
    pub probability: f64,
    /// What happens to these requests.
    pub kind: FaultKind,
}

impl Fault {
    /// Hits the next request of this route.
    #[must_use]
    pub fn once(route: Route, kind: FaultKind) -> Self {
        Self { route, document: None, bearer: None, times: Some(1), probability: 1.0, kind }
    }

    /// Hits every request of this route until it is cleared.
    #[must_use]
    pub fn always(route: Route, kind: FaultKind) -> Self {
        Self { times: None, ..Self::once(route, kind) }
    }

    /// The same fault, for one document only.
    #[must_use]
    pub fn for_document(self, uuid: impl Into<String>) -> Self {
        Self { document: Some(uuid.into()), ..self }
    }

    /// The same fault, for requests with this API key or access token only.
    #[must_use]
    pub fn for_bearer(self, bearer: impl Into<String>) -> Self {
        Self { bearer: Some(bearer.into()), ..self }
    }

    /// The same fault, this many times.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { times: Some(times), ..self }
    }

    /// The same fault, for this share of the requests, from 0.0 to 1.0.
    #[must_use]
    pub fn with_probability(self, probability: f64) -> Self {
        Self { probability, ..self }
    }
}

/// What happens to a request that a fault hits.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// This status instead of an answer.
    Status {
        /// The status code; one that HTTP does not allow becomes 500.
        code: u16,
        /// A `Retry-After` header, as given.
        retry_after: Option<String>,
        /// The body; `None` for an error of the API.
        body: Option<String>,
    },
    /// The connection is closed without an answer, before anything took effect.
    Reset,
    /// The connection is reset (a TCP segment with RST) without an answer, before anything took effect.
    Abort,
    /// The request takes effect; the connection is reset (RST) in the middle of the answer's head.
    AbortHead,
    /// The connection is reset (RST) after this many bytes of the answer's body.
    AbortBody(usize),
    /// The answer's body ends after this many bytes although `Content-Length` promised more.
    CutBody(usize),
    /// No answer, on an open connection, until the client gives up or the sandbox stops.
    Stall,
    /// The answer's head and this many bytes of its body, then silence on an open connection.
    StallBody(usize),
    /// The proper answer, its body in pieces.
    Drip {
        /// The size of a piece; 0 is taken as 1.
        bytes: usize,
        /// The pause after each piece.
        every: Duration,
    },
    /// `200 OK` with an HTML page, as a captive portal or a proxy answers.
    Html200,
    /// `200 OK` with the proper media type and these bytes as body.
    Bytes(Vec<u8>),
    /// On [`Route::Document`]: `pdf.size` is one more than the file has. On [`Route::Pdf`]: a file of half its length
    /// that HTTP considers complete. No effect elsewhere.
    WrongSize,
    /// The request takes effect, then the connection is closed without an answer.
    LostReply,
    /// The proper answer, this much later.
    Delay(Duration),
    /// `302 Found` to this address.
    Redirect(String),
    /// A redirect to this address with another status: 307 and 308 keep the method and the body of the request.
    RedirectAs {
        /// The status code; one that is no redirect becomes 302.
        code: u16,
        /// The address.
        to: String,
    },
    /// A proper answer of a server with other habits. If several such faults match, all of them apply, and the first
    /// fault of another kind.
    Habit(Habit),
}

impl FaultKind {
    /// A bare status with the API's error body.
    #[must_use]
    pub fn status(code: u16) -> Self {
        Self::Status { code, retry_after: None, body: None }
    }

    /// A status with a `Retry-After` header of so many seconds.
    #[must_use]
    pub fn status_retry_after(code: u16, seconds: u64) -> Self {
        Self::Status { code, retry_after: Some(seconds.to_string()), body: None }
    }
}

/// Names an injected fault, to remove it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FaultId(pub(crate) u64);

//! Faults on demand: what a network, a proxy or a broken server does to a client.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

/// One thing that goes wrong, for one kind of request, a number of times.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Which requests it hits.
    pub route: Route,
    /// Only requests about the document with this uuid; `None` for all. A list request is about no document.
    pub document: Option<String>,
    /// How many requests it hits before it is gone; `None` for ever.
    pub times: Option<u32>,
    /// What happens to them.
    pub kind: FaultKind,
}

impl Fault {
    /// Hits the next request of this route.
    #[must_use]
    pub fn once(route: Route, kind: FaultKind) -> Self {
        Self { route, document: None, times: Some(1), kind }
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

    /// The same fault, this many times.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { times: Some(times), ..self }
    }
}

/// The kinds of requests that faults tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// `GET /documents`
    List,
    /// `GET /documents/{uuid}`
    Document,
    /// A PDF's content, on whichever listener.
    Pdf,
    /// `POST /documents/{uuid}/status`
    Status,
    /// `GET /patients/{uuid}`
    Patient,
    /// `POST /oauth2/token`
    Token,
    /// The authorization page, at both its addresses and on both listeners.
    Authorize,
    /// Every request.
    Any,
}

/// What happens to a request that a fault hits.
#[derive(Clone, Debug)]
pub enum FaultKind {
    /// This status instead of an answer.
    Status {
        /// The status code; one that HTTP does not allow becomes 500.
        code: u16,
        /// A `Retry-After` header, as given.
        retry_after: Option<String>,
        /// The body; an error of the API's shape when `None`.
        body: Option<String>,
    },
    /// The connection is closed without an answer, before anything took effect.
    Reset,
    /// The answer's body ends after this many bytes although `Content-Length` promised more.
    CutBody(usize),
    /// No answer, on an open connection, until the client gives up or the sandbox stops.
    Stall,
    /// The answer's head and this many bytes of its body, then silence on an open connection.
    StallBody(usize),
    /// `200 OK` with an HTML page, as a captive portal or a proxy answers.
    Html200,
    /// `200 OK` with the proper media type and these bytes as body.
    Bytes(Vec<u8>),
    /// On [`Route::Document`]: `pdf.size` is one more than the file has. On [`Route::Pdf`]: a file of half its length that
    /// HTTP considers complete. No effect elsewhere.
    WrongSize,
    /// The request takes effect, then the connection is closed without an answer.
    LostReply,
    /// The proper answer, this much later.
    Delay(Duration),
    /// `302 Found` to this address.
    Redirect(String),
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
pub struct FaultId(u64);

/// The faults in force. The first that matches a request is applied, in the order of injection.
#[derive(Default)]
pub(crate) struct Faults {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last_id: u64,
    active: Vec<(FaultId, Fault)>,
}

impl Faults {
    pub fn inject(&self, fault: Fault) -> FaultId {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.last_id += 1;
        let id = FaultId(state.last_id);
        state.active.push((id, fault));
        id
    }

    pub fn remove(&self, id: FaultId) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.active.retain(|(known, _)| *known != id);
    }

    pub fn clear(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.active.clear();
    }

    /// The fault that hits this request, used up by one.
    pub fn take(&self, route: Route, document: Option<&str>) -> Option<FaultKind> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let position = state.active.iter().position(|(_, fault)| {
            (fault.route == Route::Any || fault.route == route)
                && fault.document.as_deref().is_none_or(|wanted| Some(wanted) == document)
                && fault.times != Some(0)
        })?;
        let (_, fault) = state.active.get_mut(position)?;
        let kind = fault.kind.clone();
        if let Some(times) = fault.times.as_mut() {
            *times -= 1;
            if *times == 0 {
                state.active.remove(position);
            }
        }
        Some(kind)
    }
}

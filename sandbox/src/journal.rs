//! What the sandbox saw: every request and every reported status, and a way to wait for them without sleeping.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use tokio::sync::watch;

/// The most requests that are kept. The oldest are forgotten first, so that a sandbox can run for weeks.
const REQUESTS_KEPT: usize = 100_000;

/// The most status posts that are kept here. The store keeps all.
const STATUS_POSTS_KEPT: usize = 100_000;

/// The socket that a request came in on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listener {
    /// The API.
    Api,
    /// The files origin.
    Files,
    /// The application's own origin, where the authorization page is too if [`crate::Options::app_listen`] was given.
    App,
}

/// One request as it was received and answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRecord {
    /// `GET`, `POST`, …
    pub method: String,
    /// The path as sent, without the query.
    pub path: String,
    /// The query as sent, without the question mark.
    pub query: Option<String>,
    /// The `Authorization` header as sent.
    pub authorization: Option<String>,
    /// The socket it came in on.
    pub listener: Listener,
    /// The status of the answer; `None` when a fault left the client without one.
    pub status: Option<u16>,
    /// Whether a fault hit it.
    pub fault: bool,
}

/// One `POST /documents/{uuid}/status` that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatusPost {
    /// The document's uuid.
    pub document: String,
    /// `success` of the body.
    pub success: Option<bool>,
    /// `error` of the body.
    pub error: Option<String>,
    /// When it was accepted, as an ISO 8601 date-time in UTC.
    pub at: String,
}

/// What was seen so far, in order.
#[derive(Clone, Debug, Default)]
pub struct View {
    requests: VecDeque<RequestRecord>,
    status_posts: VecDeque<StatusPost>,
}

impl View {
    /// The requests, oldest first.
    pub fn requests(&self) -> impl DoubleEndedIterator<Item = &RequestRecord> {
        self.requests.iter()
    }

    /// The accepted status posts, oldest first.
    pub fn status_posts(&self) -> impl DoubleEndedIterator<Item = &StatusPost> {
        self.status_posts.iter()
    }
}

/// The view, and the bell that rings when it grows.
pub(crate) struct Journal {
    view: Mutex<View>,
    bell: watch::Sender<u64>,
}

impl Journal {
    pub fn new(history: Vec<StatusPost>) -> Self {
        Self {
            view: Mutex::new(View { requests: VecDeque::new(), status_posts: history.into() }),
            bell: watch::Sender::new(0),
        }
    }

    pub fn read<T>(&self, look: impl FnOnce(&View) -> T) -> T {
        look(&self.view.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn listen(&self) -> watch::Receiver<u64> {
        self.bell.subscribe()
    }

    /// Forgets the requests seen so far.
    pub fn forget_requests(&self) {
        self.write(|view| view.requests.clear());
    }

    /// Forgets everything that was seen.
    pub fn forget_all(&self) {
        self.write(|view| {
            view.requests.clear();
            view.status_posts.clear();
        });
    }

    pub fn record_request(&self, record: RequestRecord) {
        self.write(|view| {
            if view.requests.len() >= REQUESTS_KEPT {
                view.requests.pop_front();
            }
            view.requests.push_back(record);
        });
    }

    pub fn record_status(&self, post: StatusPost) {
        self.write(|view| {
            if view.status_posts.len() >= STATUS_POSTS_KEPT {
                view.status_posts.pop_front();
            }
            view.status_posts.push_back(post);
        });
    }

    /// Rings the bell, because something changed that the view does not show.
    pub fn ring(&self) {
        self.bell.send_modify(|rung| *rung += 1);
    }

    fn write(&self, change: impl FnOnce(&mut View)) {
        change(&mut self.view.lock().unwrap_or_else(PoisonError::into_inner));
        self.ring();
    }
}

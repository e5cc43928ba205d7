//! An answer, whose body is read within bounds of bytes and of time.

use std::time::{Duration, SystemTime};

use reqwest::Response;
use reqwest::header::HeaderMap;
use tokio::time::{Instant, timeout_at};

use super::shortened::Shortened;
use crate::destinations::DOCUMENT_LIMIT;
use crate::destinations::files::{Digest, Hashing};
use crate::system::http::{Body, asked_to_wait};

/// The most bytes of a small body. All of it comes soon after its first byte, or something is wrong.
const SMALL: u64 = 64 * 1024;

/// The longest JSON that is read, including files in it, in bytes.
const JSON_LIMIT: u64 = 1 << 30;

/// The limit for a whole list, as a multiple of the longest wait for its next bytes; at least `LIST_AT_LEAST`. A list
/// comes from one query.
const LIST_TIMES: u32 = 4;
const LIST_AT_LEAST: Duration = Duration::from_secs(60);

/// An answer, whatever its status.
pub(in crate::destinations) struct Answer {
    pub(in crate::destinations) status: u16,
    /// The wait that Retry-After asks for.
    pub(in crate::destinations) retry_after: Option<Duration>,
    pub(in crate::destinations) headers: HeaderMap,
    body: Body,
    /// The longest wait for the next bytes of the body, and for all of a small one.
    patience: Duration,
}

/// The body of an answer.
#[derive(Debug)]
pub(in crate::destinations) struct Content {
    pub(in crate::destinations) headers: HeaderMap,
    /// Its first bytes.
    pub(in crate::destinations) beginning: Vec<u8>,
    /// Its digest, if it came whole and is not longer than the limit.
    pub(in crate::destinations) digest: Option<Digest>,
    /// Whether the body broke off, or took too long.
    pub(in crate::destinations) is_broken: bool,
}

impl Answer {
    pub(super) fn new(response: Response, patience: Duration) -> Self {
        Self {
            status: response.status().as_u16(),
            retry_after: asked_to_wait(response.headers(), SystemTime::now()),
            headers: response.headers().clone(),
            body: Body::of(response),
            patience,
        }
    }

    /// The digest of the body if it is at most `limit` bytes long, and its first `beginning` bytes; nothing more is
    /// kept. A body that drips ends as well: there is a limit for the whole of it.
    pub(in crate::destinations) async fn content(mut self, limit: u64, beginning: usize) -> Content {
        let mut hashing = Hashing::default();
        let headers = std::mem::take(&mut self.headers);
        let mut content = Content { headers, beginning: Vec::new(), digest: None, is_broken: false };
        let within = if limit <= SMALL { self.patience } else { DOCUMENT_LIMIT };
        let came = self.each(limit, within, |chunk| -> bool {
            let missing = beginning.saturating_sub(content.beginning.len()).min(chunk.len());
            content.beginning.extend_from_slice(chunk.get(..missing).unwrap_or_default());
            hashing.update(chunk);
            true
        });
        match came.await {
            Came::Whole => content.digest = Some(hashing.finish()),
            Came::TooLong => {}
            Came::Broken => content.is_broken = true,
        }
        content
    }

    /// The body as JSON. Texts that are too long to be looked at become empty, or a digest ([`DIGEST`](super::DIGEST))
    /// of what they encode in base64, so that a list with whole files in it takes little memory.
    ///
    /// # Errors
    /// True if it broke off; false if it is no JSON, or too much of it.
    pub(in crate::destinations) async fn json(mut self) -> Result<serde_json::Value, bool> {
        let mut kept = Shortened::default();
        let within = LIST_AT_LEAST.max(self.patience * LIST_TIMES);
        let came = self.each(JSON_LIMIT, within, |chunk| {
            kept.push(chunk);
            !kept.is_too_much()
        });
        match came.await {
            Came::Whole => kept.value().ok_or(false),
            Came::TooLong => Err(false),
            Came::Broken => Err(true),
        }
    }

    /// The beginning of the body, and all of it if it is JSON, with `(long)` in place of long texts. A long body that
    /// is no JSON is not read to its end.
    pub(in crate::destinations) async fn said(mut self, beginning: usize) -> (Content, Option<serde_json::Value>) {
        let mut kept = Shortened::with("(long)");
        let headers = std::mem::take(&mut self.headers);
        let mut content = Content { headers, beginning: Vec::new(), digest: None, is_broken: false };
        let within = LIST_AT_LEAST.max(self.patience);
        let came = self.each(JSON_LIMIT, within, |chunk| {
            let missing = beginning.saturating_sub(content.beginning.len()).min(chunk.len());
            content.beginning.extend_from_slice(chunk.get(..missing).unwrap_or_default());
            let first = content.beginning.trim_ascii_start().first();
            let may_be_json = first.is_none_or(|first| matches!(first, b'{' | b'[' | 0xef));
            kept.push(chunk);
            content.beginning.len() < beginning || (may_be_json && !kept.is_too_much())
        });
        content.is_broken = matches!(came.await, Came::Broken);
        let value = kept.value();
        (content, value)
    }

    /// Gives the body to `take`, piece by piece, while `take` wants more, within `limit` bytes and this time.
    async fn each(&mut self, limit: u64, within: Duration, mut take: impl FnMut(&[u8]) -> bool) -> Came {
        let mut size = 0;
        let end = Instant::now() + within;
        loop {
            let until = end.min(Instant::now() + self.patience);
            let chunk = match timeout_at(until, self.body.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => return Came::Whole,
                Ok(Err(_)) | Err(_) => return Came::Broken,
            };
            size += chunk.len() as u64;
            if !take(&chunk) || size > limit {
                return Came::TooLong;
            }
        }
    }
}

/// How a body ended.
enum Came {
    Whole,
    TooLong,
    Broken,
}

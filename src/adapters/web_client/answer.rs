//! An answer of the other side, whose body is read within bounds: of bytes, and of time.

use std::time::{Duration, SystemTime};

use reqwest::Response;
use reqwest::header::HeaderMap;
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, timeout_at};

use super::REQUEST_LIMIT;
use super::shortened::Shortened;
use crate::adapters::files::Digest;
use crate::document::hex;
use crate::http::{Body, asked_to_wait};

/// A body of no more bytes than this is small: all of it comes as soon as the first of them, or something is wrong.
const SMALL: u64 = 64 * 1024;

/// The longest JSON that is read, with the files in it; bytes.
const JSON_LIMIT: u64 = 1 << 30;

/// All of a list may take so many times the longest wait for its next bytes, and `LIST_AT_LEAST`: it comes from one
/// query.
const LIST_TIMES: u32 = 4;
const LIST_AT_LEAST: Duration = Duration::from_secs(60);

/// An answer, whatever its status.
pub(in crate::adapters) struct Answer {
    pub(in crate::adapters) status: u16,
    /// What Retry-After asks for.
    pub(in crate::adapters) retry_after: Option<Duration>,
    pub(in crate::adapters) headers: HeaderMap,
    body: Body,
    /// The longest wait for the next bytes of its body, and for all of a small one.
    patience: Duration,
}

/// The body of an answer.
#[derive(Debug)]
pub(in crate::adapters) struct Content {
    /// Its first bytes.
    pub(in crate::adapters) beginning: Vec<u8>,
    /// Its digest, when it came whole and is not longer than was asked for.
    pub(in crate::adapters) digest: Option<Digest>,
    /// Whether it broke off, or took too long.
    pub(in crate::adapters) is_broken: bool,
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

    /// The body when it is `limit` bytes long at most, and the first `beginning` bytes of it; no more of it is kept.
    /// One that drips ends as well: there is a limit for the whole of it.
    pub(in crate::adapters) async fn content(mut self, limit: u64, beginning: usize) -> Content {
        let (mut hash, mut size) = (Sha256::new(), 0);
        let mut content = Content { beginning: Vec::new(), digest: None, is_broken: false };
        let within = if limit <= SMALL { self.patience } else { REQUEST_LIMIT };
        let came = self.each(limit, within, |chunk| -> bool {
            let missing = beginning.saturating_sub(content.beginning.len()).min(chunk.len());
            content.beginning.extend_from_slice(chunk.get(..missing).unwrap_or_default());
            size += chunk.len() as u64;
            hash.update(chunk);
            true
        });
        match came.await {
            Came::Whole => content.digest = Some(Digest { size, sha256: hex(&hash.finalize()) }),
            Came::TooLong => {}
            Came::Broken => content.is_broken = true,
        }
        content
    }

    /// The body as JSON, in which texts that are too long to be looked at are empty, or a digest
    /// ([`DIGEST`](super::DIGEST)) of what they say in base64, so that a list that has whole files in it takes little
    /// memory.
    ///
    /// # Errors
    /// Whether it broke off; else it is no JSON, or too much of it.
    pub(in crate::adapters) async fn json(mut self) -> Result<serde_json::Value, bool> {
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

    /// Gives the body to `take`, piece by piece, as long as that wants more, and it is within `limit` bytes and this
    /// time.
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

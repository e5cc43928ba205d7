//! One PUT, and its result.

use std::sync::atomic::Ordering;

use base64::Engine as _;
use reqwest::Method;

use super::super::web_client::{Fault, Piece, Upload};
use super::super::{Item, Outcome};
use super::look::Existing;
use super::{KEY, S3Adapter, STANDARD, from_hex};
use crate::domain::failure::Code;

/// The answer to a PUT.
pub(super) enum Put {
    Done,
    /// Something has the key.
    Taken,
    /// The service does not know the condition.
    NoCondition,
    /// It seems not to know one of the headers.
    Unknown(u16),
    Refused(Outcome),
}

impl S3Adapter {
    fn put_headers(&self, item: &Item, on_condition: bool, with_sum: bool) -> Vec<(&'static str, String)> {
        let mut headers = vec![(KEY, item.key.clone())];
        // The service compares it with what it received.
        if let Some(sum) = from_hex(&item.pdf.sha256).filter(|_| with_sum) {
            headers.push(("x-amz-checksum-sha256", STANDARD.encode(sum)));
        }
        let optional = [
            ("x-amz-storage-class", &self.config.storage_class),
            ("x-amz-server-side-encryption", &self.config.server_side_encryption),
        ];
        headers.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
        if on_condition {
            headers.push(("if-none-match", "*".to_owned()));
        }
        headers
    }

    /// Puts the object, without a checksum if the service does not know that. An `Err` includes a lost reply: the PUT
    /// may have happened.
    pub(super) async fn put(&self, key: &str, item: &Item, on_condition: bool) -> Result<Put, Outcome> {
        let with_sum = !self.refuses_sum.load(Ordering::Relaxed);
        let mut put = self.put_once(key, item, on_condition, with_sum).await?;
        if matches!(put, Put::Unknown(_)) && with_sum {
            put = self.put_once(key, item, on_condition, false).await?;
            self.refuses_sum.fetch_or(matches!(put, Put::Done), Ordering::Relaxed);
        }
        Ok(match put {
            Put::Unknown(_) if on_condition && self.may_fall_back() => Put::NoCondition,
            Put::Unknown(status) => {
                let words = format!(
                    "it answers a PUT with status {status}, whatever headers it has: does the service know If-None-Match (`conditional`), \
                     x-amz-meta, and what is configured for it?"
                );
                let (code, reason) = (Code::Status(status), self.client.named(&words));
                Put::Refused(Outcome::Unavailable { code, reason, retry_after: None })
            }
            put => put,
        })
    }

    /// Sends one PUT.
    async fn put_once(&self, key: &str, item: &Item, on_condition: bool, with_sum: bool) -> Result<Put, Outcome> {
        let headers = self.put_headers(item, on_condition, with_sum);
        let answered = self.send(Method::PUT, key, &headers, Some(Upload::of_pdf(vec![Piece::Pdf], &item.pdf))).await;
        let answer = match answered {
            Ok(answer) => answer,
            Err(Fault::Lost(reason)) => return self.look_for(key, item, Code::word("no_answer"), reason).await,
            Err(fault) => return Ok(Put::Refused(fault.outcome())),
        };
        let status = answer.status;
        match status {
            200 | 201 | 204 => {
                let reason = self.client.named("it says that it has the document, but does not show it");
                // Nobody compared what came with what was sent.
                if !with_sum && !matches!(self.compare(key, item).await, Ok(Existing::Ours)) {
                    return Err(Outcome::Unconfirmed { code: Code::word("not_there"), reason });
                }
                self.look_for(key, item, Code::word("not_there"), reason).await
            }
            412 => Ok(Put::Taken),
            // The service failed, or a gateway before it, perhaps after the object was stored.
            408 | 500 | 502 | 504 => {
                let outcome = self.refusal(answer).await.outcome(&self.config.connection.name);
                self.look_for(key, item, Code::Status(status), outcome.into_reason()).await
            }
            _ => {
                let refusal = self.refusal(answer).await;
                if refusal.is_about_header() {
                    return Ok(Put::Unknown(status));
                }
                Ok(Put::Refused(refusal.outcome(&self.config.connection.name)))
            }
        }
    }

    /// Looks whether the object is there; if nobody can see it, the intent stays.
    async fn look_for(&self, key: &str, item: &Item, code: Code, reason: String) -> Result<Put, Outcome> {
        match self.existing(key, item).await {
            Ok(Existing::Ours) => Ok(Put::Done),
            _ => Err(Outcome::Unconfirmed { code, reason }),
        }
    }

    /// A service that once applied the condition knows it: a later refusal has another reason.
    pub(super) fn may_fall_back(&self) -> bool {
        self.config.falls_back && !self.knows_condition.load(Ordering::Relaxed)
    }
}

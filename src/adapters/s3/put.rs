//! One PUT, and its result.

use std::sync::atomic::Ordering;

use base64::Engine as _;
use reqwest::Method;

use super::super::web_client::{Fault, Piece, Upload};
use super::super::{Item, Outcome};
use super::look::Existing;
use super::{KEY, S3Adapter, STANDARD, from_hex};
use crate::failure::Code;

/// The answer to a PUT.
pub(super) enum Put {
    Done,
    /// Something has the key.
    Taken,
    /// The service does not know the condition.
    NoCondition,
    Refused(Outcome),
}

impl S3Adapter {
    fn put_headers(&self, item: &Item, on_condition: bool) -> Vec<(&'static str, String)> {
        let mut headers = vec![(KEY, item.key.clone())];
        // The service compares it with what it received.
        if let Some(sum) = from_hex(&item.pdf.sha256) {
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

    /// Sends one PUT. An `Err` includes a lost reply: the PUT may have happened.
    pub(super) async fn put(&self, key: &str, item: &Item, on_condition: bool) -> Result<Put, Outcome> {
        let headers = self.put_headers(item, on_condition);
        let answered = self.send(Method::PUT, key, &headers, Some(Upload::of_pdf(vec![Piece::Pdf], &item.pdf))).await;
        let answer = match answered {
            Ok(answer) => answer,
            Err(Fault::Lost(reason)) => return self.look_for(key, item, Code::word("no_answer"), reason).await,
            Err(fault) => return Ok(Put::Refused(fault.outcome())),
        };
        let status = answer.status;
        match status {
            200 | 201 | 204 => {
                let reason = self.client.named("it says that it has the document, which is not to be seen there");
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
                if on_condition && self.may_fall_back() && refusal.is_about_condition() {
                    return Ok(Put::NoCondition);
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

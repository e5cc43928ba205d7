//! What has a key in the bucket.

use reqwest::Method;

use super::super::files::Digest;
use super::super::web_client::Fault;
use super::super::{Item, Outcome};
use super::{KEY, S3Adapter};
use crate::failure::Code;

/// What has a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Existing {
    /// Nothing.
    Nothing,
    /// This delivery.
    Ours,
    /// Something else.
    Other,
}

impl S3Adapter {
    /// What has this key.
    pub(super) async fn existing(&self, key: &str, item: &Item) -> Result<Existing, Outcome> {
        let answer = self.send(Method::HEAD, key, &[], None).await.map_err(|fault| self.not_seen(fault))?;
        match answer.status {
            200 => {}
            404 => return Ok(Existing::Nothing),
            _ => return Err(self.refusal(answer).await.of_look(&self.config.connection.name)),
        }
        let text = |name: &str| answer.headers.get(name).and_then(|value| value.to_str().ok());
        let size = text("content-length").and_then(|text| text.parse::<u64>().ok());
        match text(KEY) {
            // An object is whole or not there; a gateway that encrypts or packs it may tell another length.
            Some(key) if key == item.key => Ok(Existing::Ours),
            Some(_) => Ok(Existing::Other),
            None if size.is_some_and(|size| size != item.pdf.size) => Ok(Existing::Other),
            // Some services keep no metadata.
            None => self.compare(key, item).await,
        }
    }

    async fn compare(&self, key: &str, item: &Item) -> Result<Existing, Outcome> {
        let ours = Digest { size: item.pdf.size, sha256: item.pdf.sha256.to_ascii_lowercase() };
        let answer = self.send(Method::GET, key, &[], None).await.map_err(|fault| self.not_seen(fault))?;
        match answer.status {
            200 => {
                let content = answer.content(ours.size, 0).await;
                match content.digest {
                    Some(found) if found == ours => Ok(Existing::Ours),
                    None if content.is_broken => Err(self
                        .not_seen(Fault::Broken(self.client.named("the connection broke while an object was read")))),
                    _ => Ok(Existing::Other),
                }
            }
            404 => Ok(Existing::Nothing),
            _ => Err(self.refusal(answer).await.of_look(&self.config.connection.name)),
        }
    }

    /// A look has no answer that could be lost.
    pub(super) fn not_seen(&self, fault: Fault) -> Outcome {
        match fault {
            Fault::Lost(reason) => Outcome::transient(Code::word("broken_off"), reason),
            fault => fault.outcome(),
        }
    }

    /// Whether the service says of whatever it is asked for that it is there: then what answers is no bucket.
    pub(super) async fn sees_what_is_not_there(&self, key: &str) -> Result<bool, Outcome> {
        let nobodys = format!("{}.docsyncd-none-{key}", self.config.prefix);
        let answer = self.send(Method::HEAD, &nobodys, &[], None).await.map_err(|fault| self.not_seen(fault))?;
        Ok(answer.status == 200)
    }
}

//! What has a key in the bucket.

use reqwest::Method;

use super::super::confirm::of_one;
use super::super::files::Digest;
use super::super::web_client::Fault;
use super::super::{Holds, Item, Kept, Outcome};
use super::{KEY, NO_BUCKET, S3Adapter, shown};
use crate::domain::failure::Code;

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
            // An object is complete or absent. A gateway that encrypts or compresses it may report another length.
            Some(key) if key == item.key => Ok(Existing::Ours),
            Some(_) => Ok(Existing::Other),
            None if size.is_some_and(|size| size != item.pdf.size) => Ok(Existing::Other),
            // Some services keep no metadata.
            None => self.compare(key, item).await,
        }
    }

    pub(super) async fn compare(&self, key: &str, item: &Item) -> Result<Existing, Outcome> {
        let ours = Digest::of_pdf(&item.pdf);
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

    /// Whether letters still lie where they were put. Each is read, because an object's metadata may be older than its
    /// content.
    pub(super) async fn look_at(&self, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
        let mut found = Vec::with_capacity(letters.len());
        for letter in letters {
            let held = match letter.place.strip_prefix(&shown(&self.config, "")) {
                Some(key) => of_one(self.held(key, letter).await.map(Some))?.unwrap_or(Holds::Unread),
                None => Holds::Unknown,
            };
            if held == Holds::Other && self.sees_what_is_not_there(&letter.key).await? {
                return Err(Outcome::unavailable("no_bucket", self.client.named(NO_BUCKET)));
            }
            found.push(held);
        }
        Ok(found)
    }

    async fn held(&self, key: &str, letter: &Kept) -> Result<Holds, Outcome> {
        let answer = self.send(Method::GET, key, &[], None).await.map_err(|fault| self.not_seen(fault))?;
        if answer.status == 200 {
            let content = answer.content(letter.size, 0).await;
            return Ok(match content.digest {
                Some(found) if letter.is(&found) => Holds::Same,
                None if content.is_broken => Holds::Unread,
                _ => Holds::Other,
            });
        }
        let refusal = self.refusal(answer).await;
        if refusal.is_of_object() { Ok(Holds::Nothing) } else { Err(refusal.of_look(&self.config.connection.name)) }
    }

    /// A look changes nothing, so a lost reply only means that it is repeated.
    pub(super) fn not_seen(&self, fault: Fault) -> Outcome {
        match fault {
            Fault::Lost(reason) => Outcome::transient(Code::word("broken_off"), reason),
            fault => fault.outcome(),
        }
    }

    /// Whether the service claims that everything exists: then it is no bucket.
    pub(super) async fn sees_what_is_not_there(&self, key: &str) -> Result<bool, Outcome> {
        let nobodys = format!("{}.docsyncd-none-{key}", self.config.prefix);
        let answer = self.send(Method::HEAD, &nobodys, &[], None).await.map_err(|fault| self.not_seen(fault))?;
        Ok(answer.status == 200)
    }
}

//! `type = "s3"`: each PDF becomes an object in a bucket, by one PUT on the condition that no object has its key.
//!
//! A PUT is whole or nothing, so there is no temporary object. Before it, the key is reserved in the ledger, with the
//! intent. The object carries the delivery's key, which identifies it later. Until the service has shown that it knows
//! the condition, docsyncd first looks whether an object has the key. From then on it never puts without the condition.
//! It looks for the object after the PUT, because anybody may have sent a mere success.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use rusty_s3::{Bucket, Credentials, S3Action, UrlStyle};
use secrecy::ExposeSecret as _;

use super::candidate::{self, Candidate, MAX_NAMES, below, known_before, planned};
use super::web_client::{Answer, Fault, Request, Upload, WebClient};
use super::{Adapter, Checked, Holds, Invented, Item, Kept, Outcome, Planned, spooled, wording};
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::failure::Code;
use crate::domain::reservation::{Intent, Known, Place, Wanted};
use crate::system::secret;

mod look;
mod probe;
mod put;
mod refusal;
mod settings;
#[cfg(test)]
mod tests;

use look::Existing;
use put::Put;
use refusal::Refusal;
pub use settings::*;

/// How long a signature is valid. A signed request is a credential: it is used at once, and never logged.
const SIGNED_FOR: Duration = Duration::from_secs(15 * 60);

/// The metadata field that identifies an object.
const KEY: &str = "x-amz-meta-docsyncd-key";

/// The message if every object seems to exist.
const NO_BUCKET: &str = "it says that an object exists that cannot exist: what answers is no bucket, but perhaps a sign-in \
                         page or a captive portal; check `endpoint`";

/// Bytes of an error's body that are read.
const ERROR: usize = 4096;

/// A bucket.
pub struct S3Adapter {
    config: S3Config,
    client: WebClient,
    /// Whether the service has shown that it knows the condition: it refused, and an object had the key.
    knows_condition: AtomicBool,
    /// Whether it refused the condition itself, and took the same object without it.
    refuses_condition: AtomicBool,
    /// Whether it refused a PUT with a checksum, and took it without. Then each object is read back.
    refuses_sum: AtomicBool,
}

impl S3Adapter {
    /// Opens nothing.
    pub fn new(config: S3Config) -> Self {
        let client = WebClient::new(config.connection.clone());
        let [knows_condition, refuses_condition, refuses_sum] = [const { AtomicBool::new(false) }; 3];
        Self { config, client, knows_condition, refuses_condition, refuses_sum }
    }

    fn read_secret(&self) -> Result<secrecy::SecretString, String> {
        secret::read(&self.config.secret_access_key, "secret_access_key_file", "secret access key")
    }

    fn bucket(&self) -> Result<Bucket, Outcome> {
        let style = if self.config.path_style { UrlStyle::Path } else { UrlStyle::VirtualHost };
        let (name, region) = (self.config.bucket.clone(), self.config.region.clone());
        Bucket::new(self.config.endpoint.clone(), style, name, region).map_err(|_| {
            Outcome::unavailable("bucket", self.client.named("the name of its bucket cannot be part of a host"))
        })
    }

    fn credentials(&self) -> Result<Credentials, Outcome> {
        let secret =
            self.read_secret().map_err(|wrong| Outcome::unavailable("credentials", self.client.named(&wrong)))?;
        Ok(Credentials::new(self.config.access_key_id.clone(), secret.expose_secret()))
    }

    /// Sends a signed request; every header in `headers` is signed.
    async fn send(
        &self,
        method: Method,
        key: &str,
        headers: &[(&'static str, String)],
        body: Option<Upload>,
    ) -> Result<Answer, Fault> {
        self.send_about(method, key, None, headers, body).await
    }

    /// The same; a DELETE removes this version only.
    async fn send_about(
        &self,
        method: Method,
        key: &str,
        version: Option<&str>,
        headers: &[(&'static str, String)],
        body: Option<Upload>,
    ) -> Result<Answer, Fault> {
        let down = |outcome| match outcome {
            Outcome::Unavailable { reason, .. } => Fault::Down("credentials", reason),
            _ => Fault::Down("credentials", self.client.named("cannot sign a request")),
        };
        let (bucket, credentials) = (self.bucket().map_err(down)?, self.credentials().map_err(down)?);
        let url = match method {
            Method::PUT => {
                let mut action = bucket.put_object(Some(&credentials), key);
                headers.iter().for_each(|(name, value)| action.headers_mut().insert(*name, value.clone()));
                action.sign(SIGNED_FOR)
            }
            Method::HEAD if key.is_empty() => bucket.head_bucket(Some(&credentials)).sign(SIGNED_FOR),
            Method::HEAD => bucket.head_object(Some(&credentials), key).sign(SIGNED_FOR),
            Method::DELETE => {
                let mut action = bucket.delete_object(Some(&credentials), key);
                if let Some(version) = version {
                    action.query_mut().insert("versionId", version.to_owned());
                }
                action.sign(SIGNED_FOR)
            }
            _ => bucket.get_object(Some(&credentials), key).sign(SIGNED_FOR),
        };
        let mut request = Request::new(method, url);
        request.headers = self.headers(headers)?;
        request.body = body;
        self.client.send_as_it_is(request).await
    }

    fn headers(&self, headers: &[(&'static str, String)]) -> Result<HeaderMap, Fault> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let value = HeaderValue::from_str(value).map_err(|_| {
                Fault::Down("configured", self.client.named(&format!("{name} cannot stand in a header")))
            })?;
            map.insert(HeaderName::from_static(name), value);
        }
        if map.contains_key(KEY) {
            map.insert(CONTENT_TYPE, HeaderValue::from_static("application/pdf"));
        }
        Ok(map)
    }

    async fn refusal(&self, answer: Answer) -> Refusal {
        let (status, retry_after) = (answer.status, answer.retry_after);
        let date = answer.headers.get("date").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let beginning = answer.content(ERROR as u64, ERROR).await.beginning;
        Refusal::new(status, &beginning, date.as_deref(), retry_after)
    }

    async fn file(&self, item: &Item) -> Result<String, Outcome> {
        spooled::verify(&self.config.connection.name, item).await?;
        let wanted = candidate::wanted(&self.config.file_name, &item.metadata, &item.key);
        let (within, file) =
            wanted.map_err(|error| wording::not_filled_in(&self.config.connection.name, "file_name", &error))?;
        let mut known = item.names.known().await?;
        for intent in &known.others {
            let answer =
                self.send(Method::HEAD, &intent.path, &[], None).await.map_err(|fault| self.not_seen(fault))?;
            let filed = match answer.status {
                200 => true,
                404 => false,
                _ => return Err(self.refusal(answer).await.of_look(&self.config.connection.name)),
            };
            item.names.settle(&intent.place, filed).await?;
        }
        if !known.others.is_empty() {
            known = item.names.known().await?;
        }
        if let Some(intent) = &known.intent {
            if self.existing(&intent.path, item).await? == Existing::Ours {
                return Ok(intent.path.clone());
            }
            item.names.settle(&intent.place, false).await?;
        }
        let key_of = |name: &str| format!("{}{}", self.config.prefix, below(&within, name));
        for (version, index) in candidate::forgotten(item, &known) {
            let candidate = Candidate::of(&item.uuid, &file, version, index);
            let (key, family) = (key_of(&candidate.name), self.place(&key_of(&candidate.family)));
            let wanted = Wanted { place: self.place(&key), family };
            if self.existing(&key, item).await? == Existing::Ours && item.names.reserve(version, &wanted, None).await? {
                return Ok(key);
            }
        }
        let candidate = |index: usize| Candidate::of(&item.uuid, &file, known.version, index);
        let first = known_before(&known, candidate, |name| self.place(&key_of(name)));
        let mut others = 0;
        for index in first.into_iter().chain(0..MAX_NAMES) {
            let candidate = candidate(index);
            let key = key_of(&candidate.name);
            let place = self.place(&key);
            let wanted = Wanted { place: place.clone(), family: self.place(&key_of(&candidate.family)) };
            if !self.knows_condition.load(Ordering::Relaxed) {
                match self.existing(&key, item).await? {
                    Existing::Nothing => {}
                    Existing::Other => {
                        others += 1;
                        if others == 2 && self.sees_what_is_not_there(&item.key).await? {
                            return Err(Outcome::unavailable("no_bucket", self.client.named(NO_BUCKET)));
                        }
                        continue;
                    }
                    Existing::Ours => match item.names.reserve(known.version, &wanted, None).await? {
                        true => return Ok(key),
                        false => continue,
                    },
                }
            }
            let intent = Intent { place: place.clone(), path: key.clone(), temporary: item.key.clone() };
            if !item.names.reserve(known.version, &wanted, Some(&intent)).await? {
                continue;
            }
            if self.place_object(&key, &place, item).await? {
                return Ok(key);
            }
        }
        Err(wording::no_name_left(&self.config.connection.name))
    }

    /// Puts the object under its reserved key; false if another object has it.
    async fn place_object(&self, key: &str, place: &Place, item: &Item) -> Result<bool, Outcome> {
        // Without the condition only after a look, which happens while the service has not shown that it knows it.
        let on_condition = !(self.may_fall_back() && self.refuses_condition.load(Ordering::Relaxed));
        let mut put = self.put(key, item, on_condition).await?;
        let is_refused_on_condition = on_condition && matches!(put, Put::Taken);
        if matches!(put, Put::NoCondition) {
            put = match self.existing(key, item).await? {
                Existing::Nothing => {
                    let put = self.put(key, item, false).await?;
                    if matches!(put, Put::Done) {
                        self.refuses_condition.store(true, Ordering::Relaxed);
                    }
                    put
                }
                Existing::Ours => Put::Done,
                Existing::Other => Put::Taken,
            };
        }
        match put {
            Put::Done => Ok(true),
            Put::Taken => {
                let existing = self.existing(key, item).await?;
                if is_refused_on_condition && existing != Existing::Nothing {
                    self.knows_condition.store(true, Ordering::Relaxed);
                }
                if existing == Existing::Ours {
                    return Ok(true);
                }
                item.names.settle(place, false).await?;
                if existing == Existing::Other {
                    return Ok(false);
                }
                let words = "it says that the document's key is taken, and that nothing has it: it is tried again";
                Err(Outcome::transient(Code::word("contradicts_itself"), self.client.named(words)))
            }
            Put::NoCondition | Put::Unknown(_) => {
                Err(Outcome::unavailable("condition", self.client.named("it refuses every form of a PUT")))
            }
            Put::Refused(outcome) => {
                item.names.settle(place, false).await?;
                Err(outcome)
            }
        }
    }

    /// The place is the same for all destinations that share the bucket.
    fn place(&self, key: &str) -> Place {
        Place::of(&shown(&self.config, key))
    }
}

/// An object's address, for a person.
fn shown(config: &S3Config, key: &str) -> String {
    format!("{}{}/{key}", config.endpoint, config.bucket)
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[async_trait]
impl Adapter for S3Adapter {
    async fn deliver(&self, item: &Item) -> Outcome {
        match self.file(item).await {
            Ok(key) => Outcome::delivered(shown(&self.config, &key)),
            Err(outcome) => outcome,
        }
    }

    fn unusable(&self) -> Option<String> {
        let secret = || self.read_secret().map(|_| ());
        self.client.configured().and_then(|()| secret()).err().map(|wrong| self.client.named(&wrong))
    }

    fn holds_number(&self, invented: &Invented) -> bool {
        invented.holds(&[&self.config.file_name])
    }

    async fn plan(&self, uuid: &DocumentUuid, metadata: &Metadata, known: &Known) -> Result<Planned, String> {
        let wanted = candidate::wanted(&self.config.file_name, metadata, "KEY");
        let (within, file) = wanted.map_err(|error| format!("file_name: {error}"))?;
        let shown = |file: &str| shown(&self.config, &format!("{}{}", self.config.prefix, below(&within, file)));
        let (wanted, otherwise) = planned(uuid, &file, known, |name| Place::of(&shown(name)));
        Ok(Planned { place: shown(&wanted), otherwise: Some(shown(&otherwise)), taken: false, problem: None })
    }

    async fn check(&self) -> Result<Checked, String> {
        self.unusable().map_or(Ok(()), Err)?;
        probe::check(self).await
    }

    async fn still_holds(&self, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
        self.look_at(letters).await
    }

    fn max_connections(&self) -> Option<usize> {
        Some(self.config.connection.max_connections)
    }
}

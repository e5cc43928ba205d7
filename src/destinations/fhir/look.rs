//! What a FHIR server has of a letter: searches for it by its identifier, reads and compares it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderValue};
use ring::digest;
use serde_json::Value;

use super::super::Outcome;
use super::super::files::{Digest, PIECE};
use super::super::remote::Source;
use super::super::web_client::{Fault, Request};
use super::FhirAdapter;
use super::answer::{self, ContentShown, id_of, matches};
use super::resource::{Attached, Replaces, URI_SYSTEM, identifier};
use crate::domain::document::Spooled;
use crate::domain::failure::Code;

/// What the server has of a letter.
pub(super) enum AtServer {
    /// The letter: the server's id, and whether its content was seen.
    Ours { id: String, seen: bool },
    /// The letter, filed for another patient.
    Elsewhere,
    /// Another content under the letter's identifier.
    Other,
    /// A resource without the letter's identifier.
    Stranger,
    /// No letter.
    Nothing,
    /// Nobody may look.
    Hidden,
    /// Nobody can see it at the moment.
    Unseen(Outcome),
}

/// The letter to look for.
#[derive(Clone, Copy)]
pub(super) struct LookedFor<'a> {
    pub(super) key: &'a str,
    pub(super) pdf: &'a Spooled,
    /// [`Attached::hash`], if known.
    pub(super) hash: Option<&'a str>,
    /// The reference of the patient, if the server has one.
    pub(super) patient: Option<&'a str>,
}

impl FhirAdapter {
    /// Looks for the letter by its identifier.
    pub(super) async fn look_for(&self, wanted: LookedFor<'_>) -> AtServer {
        let identity = identifier(wanted.key);
        let token = format!("{URI_SYSTEM}|{identity}");
        let bundle = match self.get(self.at("DocumentReference", &[("identifier", &token)])).await {
            Ok(Ok(bundle)) => bundle,
            Ok(Err((403 | 404 | 405 | 501, _))) => return AtServer::Hidden,
            Ok(Err((status, wait))) => return AtServer::Unseen(self.client.of_status(status, true, wait)),
            Err(outcome) => return AtServer::Unseen(outcome),
        };
        let Some(ours) = answer::letters(&bundle, &identity) else { return AtServer::Unseen(self.no_search()) };
        let mut found = AtServer::Nothing;
        for shown in ours {
            let id = id_of(shown);
            let read = match &id {
                Some(id) => self.read(id, wanted).await,
                None => AtServer::Hidden,
            };
            match read {
                AtServer::Hidden => match self.judge(id.unwrap_or_default(), shown, wanted).await {
                    judged @ (AtServer::Ours { .. } | AtServer::Unseen(_)) => return judged,
                    judged => found = judged,
                },
                // The letter was removed meanwhile.
                AtServer::Nothing | AtServer::Stranger => {}
                read @ (AtServer::Other | AtServer::Elsewhere) => found = read,
                read @ (AtServer::Ours { .. } | AtServer::Unseen(_)) => return read,
            }
        }
        found
    }

    pub(super) fn no_search(&self) -> Outcome {
        let words = "it does not answer a search for a letter by its identifier: check `base_url`, and whether it can be searched so";
        Outcome::transient(Code::word("not_understood"), self.client.named(words))
    }

    /// The resource with this id.
    pub(super) async fn read(&self, id: &str, wanted: LookedFor<'_>) -> AtServer {
        match self.get(self.at(&format!("DocumentReference/{id}"), &[])).await {
            Ok(Ok(shown)) => self.judge(id.to_owned(), &shown, wanted).await,
            Ok(Err((404 | 410, _))) => AtServer::Nothing,
            Ok(Err((403 | 405 | 501, _))) => AtServer::Hidden,
            Ok(Err((status, wait))) => AtServer::Unseen(self.client.of_status(status, true, wait)),
            Err(outcome) => AtServer::Unseen(outcome),
        }
    }

    /// Whether a resource is the letter, with its content, and for its patient.
    async fn judge(&self, id: String, shown: &Value, wanted: LookedFor<'_>) -> AtServer {
        if !answer::has_identifier(shown, &identifier(wanted.key)) {
            return AtServer::Stranger;
        }
        if let (Some(patient), Some(filed)) = (wanted.patient, answer::patient_of(shown))
            && patient != filed
        {
            return AtServer::Elsewhere;
        }
        match answer::compare(shown, wanted.pdf, wanted.hash) {
            ContentShown::Same => AtServer::Ours { id, seen: true },
            ContentShown::Other => AtServer::Other,
            ContentShown::Unsaid => AtServer::Ours { id, seen: false },
            ContentShown::LiesAt(url) => match self.lies_at(&url, wanted.pdf).await {
                Ok(Some(true)) => AtServer::Ours { id, seen: true },
                Ok(Some(false)) => AtServer::Other,
                Ok(None) => AtServer::Ours { id, seen: false },
                Err(outcome) => AtServer::Unseen(outcome),
            },
        }
    }

    /// Whether the PDF is at the address that the server gives (`attachment.url`); `None` for another host, which is
    /// not asked.
    async fn lies_at(&self, url: &str, pdf: &Spooled) -> Result<Option<bool>, Outcome> {
        let base = self.at("", &[]);
        let Some(url) = base.join(url).ok().filter(|url| url.origin() == base.origin()) else { return Ok(None) };
        let mut request = Request::new(Method::GET, url);
        request.headers.insert(ACCEPT, HeaderValue::from_static("application/pdf"));
        let answer = self.client.send(request).await.map_err(Fault::outcome)?;
        if answer.status != 200 {
            let words = format!("it answers with status {} at the address of this letter's content", answer.status);
            return Err(Outcome::transient(Code::Status(answer.status), self.client.named(&words)));
        }
        let content = answer.content(pdf.size, 0).await;
        if content.is_broken {
            let words = "the connection broke while the letter was read back";
            return Err(Outcome::transient(Code::word("broken_off"), self.client.named(words)));
        }
        Ok(Some(content.digest == Some(Digest::of_pdf(pdf))))
    }

    /// The version that this one replaces, by the server's reference or its identifier.
    pub(super) async fn before(&self, key: &str) -> Result<Replaces, Outcome> {
        let token = format!("{URI_SYSTEM}|{}", identifier(key));
        let bundle = match self.get(self.at("DocumentReference", &[("identifier", &token)])).await? {
            Ok(bundle) => bundle,
            Err((403 | 404 | 405 | 501, _)) => return Ok(Replaces::Identifier(identifier(key))),
            Err((status, wait)) => return Err(self.client.of_status(status, true, wait)),
        };
        let found = matches(&bundle, "DocumentReference").ok_or_else(|| self.no_search())?;
        let is_before = |shown: &&Value| answer::has_identifier(shown, &identifier(key));
        let id = found.into_iter().find(is_before).and_then(id_of);
        Ok(id.map_or_else(
            || Replaces::Identifier(identifier(key)),
            |id| Replaces::Reference(format!("DocumentReference/{id}")),
        ))
    }
}

/// The hash and length of the content, by which FHIR R4 compares it.
pub(super) async fn content_of(pdf: &Spooled) -> Result<Attached, Outcome> {
    let mut source = Source::of_spool(pdf).await?;
    // FHIR R4, "Attachment": "The calculated hash of the data using SHA-1".
    let mut hash = digest::Context::new(&digest::SHA1_FOR_LEGACY_USE_ONLY);
    while let Some(piece) = source.next(PIECE).await? {
        hash.update(&piece);
    }
    Ok(Attached { hash: STANDARD.encode(hash.finish()), size: pdf.size })
}

//! An archive over DICOMweb (PS3.18): STOW-RS stores, QIDO-RS searches. Whether a letter was stored is in the answer's
//! sequences and never in its status.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use serde_json::Value;
use url::Url;

use super::object::{ObjectParts, Uids, file_head};
use super::{Archive, DUPLICATE, InArchive, length_is};
use crate::destinations::web_client::{Fault, Piece, Request, Upload, WebClient, below};
use crate::destinations::{Item, Outcome};
use crate::domain::failure::Code;

const DICOM_JSON: HeaderValue = HeaderValue::from_static("application/dicom+json");

/// What the answer says about a letter.
enum Said {
    Stored,
    /// (0008,1197)
    Failed(u16),
    Nothing,
}

/// The archive.
pub(super) struct Web {
    pub(super) client: WebClient,
    pub(super) base: Url,
}

impl Web {
    /// Searches for a letter. `Ok(Err(status))`: the answer is no list.
    pub(super) async fn ask(&self, uids: &Uids) -> Result<Result<Value, (u16, Option<Duration>)>, Outcome> {
        let query = [
            ("StudyInstanceUID", uids.study.as_str()),
            ("SeriesInstanceUID", uids.series.as_str()),
            ("SOPInstanceUID", uids.instance.as_str()),
            ("includefield", "00420015"),
        ];
        let mut request = Request::new(Method::GET, below(&self.base, "instances", &query));
        request.headers.insert(ACCEPT, DICOM_JSON);
        let answer = self.client.send(request).await.map_err(Fault::outcome)?;
        match answer.status {
            200 => {}
            204 => return Ok(Ok(Value::Array(Vec::new()))),
            status => return Ok(Err((status, answer.retry_after))),
        }
        let list = answer.json().await.ok().filter(Value::is_array);
        list.map(Ok).ok_or_else(|| {
            let words = "it does not answer a search with DICOM's JSON: check `url`";
            Outcome::transient(Code::word("not_understood"), self.client.named(words))
        })
    }

    pub(super) async fn find(&self, uids: &Uids, size: u64) -> InArchive {
        let list = match self.ask(uids).await {
            Ok(Ok(list)) => list,
            Ok(Err((400 | 403 | 404 | 405 | 406 | 501, _))) => return InArchive::Hidden,
            Ok(Err((status, wait))) => return InArchive::Unseen(self.client.of_status(status, true, wait)),
            Err(outcome) => return InArchive::Unseen(outcome),
        };
        let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
        let is_its = |shown: &&Value| {
            text(shown, "00080018") == Some(&uids.instance)
                && text(shown, "0020000D").is_none_or(|study| study == uids.study)
        };
        match list.iter().find(is_its) {
            Some(shown) => {
                let length = first(shown, "00420015").and_then(Value::as_u64);
                if length.is_none_or(|length| length_is(length, size)) { InArchive::Ours } else { InArchive::Other }
            }
            None if list.is_empty() => InArchive::Nothing,
            // The answer shows an object that nobody asked for.
            None => InArchive::Hidden,
        }
    }

    /// Sends a letter. Success: the archive names it among the objects that it keeps. `waits`: the archive may show it
    /// later.
    pub(super) async fn store(
        &self,
        archive: &Archive,
        (item, uids): (&Item, &Uids),
        letter: ObjectParts,
        patient: &Value,
        waits: bool,
    ) -> Result<(), Outcome> {
        // No PDF can contain it: the PDF would have to contain a digest of itself.
        let boundary = format!("docsyncd-{}", uids.instance);
        let mut request = Request::new(Method::POST, below(&self.base, "studies", &[]));
        let kind = format!("multipart/related; type=\"application/dicom\"; boundary=\"{boundary}\"");
        if let Ok(kind) = HeaderValue::from_str(&kind) {
            request.headers.insert(CONTENT_TYPE, kind);
        }
        request.headers.insert(ACCEPT, DICOM_JSON);
        let begin = format!("--{boundary}\r\nContent-Type: application/dicom\r\n\r\n").into_bytes();
        let end = format!("\r\n--{boundary}--\r\n").into_bytes();
        let pieces = vec![
            Piece::Bytes([begin, file_head(uids), letter.head].concat()),
            Piece::Pdf,
            Piece::Bytes([letter.tail, end].concat()),
        ];
        request.body = Some(Upload::of_pdf(pieces, &item.pdf));
        item.committing_to(Some(patient)).await?;
        let answer = self.client.send(request).await.map_err(Fault::outcome)?;
        let (status, retry_after) = (answer.status, answer.retry_after);
        let said = said(&answer.json().await.unwrap_or_default(), &uids.instance);
        let unsure = |words: &str| {
            let words = format!("it answers with status {status}: {words}");
            Err(Outcome::Unconfirmed { code: Code::Status(status), reason: self.client.named(&words) })
        };
        match (status, said) {
            // A list of refused objects proves only one thing: that the letter is there already.
            (_, Said::Failed(reason)) if reason != DUPLICATE && archive.of_status(reason).is_ok() => {
                unsure("it names the letter among those that it did not take, without a reason")
            }
            (_, Said::Failed(reason)) => archive.of_status(reason),
            (202, Said::Stored) if !waits => match self.find(uids, item.pdf.size).await {
                InArchive::Nothing | InArchive::Other => {
                    unsure("it says that it keeps the letter, and does not show it")
                }
                InArchive::Unseen(_) => unsure("it says that it keeps the letter, but does not answer a search for it"),
                InArchive::Ours | InArchive::Hidden => Ok(()),
            },
            (200..=299, Said::Stored) => Ok(()),
            (200..=299, Said::Nothing) => unsure("it does not say that it keeps the letter"),
            (502 | 504, _) => unsure("what lies behind it took too long or broke off"),
            // The archive may keep it all the same, or have it already.
            (408 | 409 | 500..=599, _) => match self.find(uids, item.pdf.size).await {
                InArchive::Ours => Ok(()),
                _ => Err(self.client.of_status(status, true, retry_after)),
            },
            // The answer contradicts itself.
            (_, Said::Stored) => match self.find(uids, item.pdf.size).await {
                InArchive::Ours => Ok(()),
                _ => unsure("it refuses the letter, and names it among what it keeps"),
            },
            _ => Err(self.client.of_status(status, true, retry_after)),
        }
    }
}

fn first<'a>(shown: &'a Value, tag: &str) -> Option<&'a Value> {
    shown.get(tag)?.get("Value")?.get(0)
}

fn text<'a>(shown: &'a Value, tag: &str) -> Option<&'a str> {
    first(shown, tag)?.as_str()
}

/// What the answer says about this instance (PS3.18, annex I.2): in FailedSOPSequence, otherwise in
/// ReferencedSOPSequence.
fn said(body: &Value, instance: &str) -> Said {
    let body = body.get(0).unwrap_or(body);
    let in_sequence = |tag: &str| {
        let items = body.get(tag)?.get("Value")?.as_array()?;
        items.iter().find(|item| text(item, "00081155") == Some(instance))
    };
    match (in_sequence("00081198"), in_sequence("00081199")) {
        (Some(failed), _) => {
            let reason = first(failed, "00081197").and_then(Value::as_u64);
            Said::Failed(reason.and_then(|reason| u16::try_from(reason).ok()).unwrap_or(0x0110))
        }
        (None, Some(_)) => Said::Stored,
        (None, None) => Said::Nothing,
    }
}

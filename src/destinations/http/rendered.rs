//! What is sent of one document, and where: the templates filled in.

use std::sync::Arc;

use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use url::Url;

use super::super::web_client::{Piece, Request, Upload, secret_header};
use super::super::{Item, Outcome, candidate, spooled, wording};
use crate::destinations::{HttpBody, HttpConfig, Lookup};
use crate::domain::document::{DocumentUuid, Metadata, Spooled};
use crate::domain::proof::Filed;
use crate::formats::template::{Context, Template, TemplateError};
use crate::system::secret;

/// The header by which a service recognises a repetition (draft-ietf-httpapi-idempotency-key-header-07).
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The longest value of a header, in bytes; servers take 8 KiB in all.
const MAX_HEADER: usize = 4096;

/// A document, ready to send.
pub(super) struct Rendered {
    pub(super) url: Url,
    pub(super) probe: Option<Url>,
    /// The fields that mark the document in the list at `probe`; empty if that is no list.
    pub(super) marks: Vec<(String, String)>,
    /// Whether other documents have another path.
    pub(super) differs: bool,
    headers: HeaderMap,
    pieces: Vec<Piece>,
    context: Context,
    /// What the ledger keeps about the document if its proof is still to come.
    filed: Option<Box<Filed>>,
}

impl Rendered {
    /// `patient`: the destination's identifier of the patient, if it was asked.
    pub(super) fn new(config: &HttpConfig, item: &Item, patient: Option<&Value>) -> Result<Self, Outcome> {
        Self::of(config, &item.metadata, &item.key, &item.pdf, patient)
    }

    /// The same for a PDF that need not be at hand.
    pub(super) fn of(
        config: &HttpConfig,
        metadata: &Metadata,
        key: &str,
        pdf: &Spooled,
        patient: Option<&Value>,
    ) -> Result<Self, Outcome> {
        Self::fill_in(config, metadata, key, pdf, patient).map_err(|wrong| not_filled_in(config, wrong))
    }

    fn fill_in(
        config: &HttpConfig,
        metadata: &Metadata,
        key: &str,
        pdf: &Spooled,
        patient: Option<&Value>,
    ) -> Result<Self, NotFilledIn> {
        let named = |option: &str| {
            let option = option.to_owned();
            move |error: TemplateError| (option, error)
        };
        let (_, file_name) = candidate::wanted(&config.file_name, metadata, key).map_err(named("file_name"))?;
        let mut context = Context::new(metadata).with_pdf(&file_name, pdf, key).with_pdf_in_base64();
        if let Some(patient) = patient {
            context = context.with_lookup(patient);
        }
        let context = context.with_offset(0);
        let url = address(config, &config.url, &context).map_err(|what| ("url".to_owned(), what))?;
        let probe = config.probe_url.as_ref().map(|probe| address(config, probe, &context)).transpose();
        let mut headers = HeaderMap::new();
        headers.insert(IDEMPOTENCY_KEY, header(key).map_err(|what| ("key".to_owned(), what))?);
        let (pieces, media_type) = body(config, &context, &file_name, key)?;
        headers.insert(CONTENT_TYPE, header(&media_type).map_err(|what| ("body".to_owned(), what))?);
        for (name, template) in &config.headers {
            let option = format!("headers.{name}");
            let text = template.render(&context).map_err(named(&option))?;
            // What receivers make of other letters in a header is not defined (RFC 9110, section 5.5).
            let held = context.held(&text, |identifier| identifier.is_ascii());
            held.map_err(|changed| (option.clone(), changed.into()))?;
            let value = header(&text).map_err(|what| (option.clone(), what))?;
            let name = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| (option, TemplateError::new("no name of a header")))?;
            headers.insert(name, value);
        }
        Ok(Self {
            url,
            probe: probe.map_err(|what| ("probe_url".to_owned(), what))?,
            marks: texts("probe_contains", &config.probe_contains, &context)?,
            differs: config.url.source().contains("{{") || patient.is_some(),
            headers,
            pieces,
            context,
            filed: config.confirm.is_some().then(|| Box::new(Filed { patient: patient.cloned(), ..Filed::default() })),
        })
    }

    /// The list after so many entries; `None` if the template has no offset.
    pub(super) fn probe_behind(&self, config: &HttpConfig, entries: u64) -> Option<Url> {
        let template = config.probe_url.as_ref().filter(|template| template.mentions("offset"))?;
        address(config, template, &self.context.clone().with_offset(entries)).ok()
    }

    /// The request, with the secrets that their files hold now.
    pub(super) fn request(&self, config: &HttpConfig, pdf: &Spooled) -> Result<Request, String> {
        let mut headers = self.headers.clone();
        add_secret_headers(config, &mut headers)?;
        let method = if config.is_put { Method::PUT } else { Method::POST };
        Ok(Request { method, url: self.url.clone(), headers, body: Some(Upload::of_pdf(self.pieces.clone(), pdf)) })
    }

    pub(super) fn delivered(&self) -> Outcome {
        Outcome::Delivered {
            place: self.url.as_str().to_owned(),
            filed: self.filed.clone(),
            proof: None,
            beside: false,
        }
    }
}

/// The address to ask for the patient, and the fields of the right answer.
pub(super) fn lookup(
    config: &HttpConfig,
    lookup: &Lookup,
    item: &Item,
) -> Result<(Url, Vec<(String, String)>), Outcome> {
    let wanted = texts("lookup_match", &lookup.wanted, &Context::new(&item.metadata).with_identity(&item.key));
    let wanted = wanted.map_err(|wrong| not_filled_in(config, wrong))?;
    Ok((lookup_url(config, lookup, &item.metadata)?, wanted))
}

/// The address to ask for a patient.
pub(super) fn lookup_url(config: &HttpConfig, lookup: &Lookup, metadata: &Metadata) -> Result<Url, Outcome> {
    let url = address(config, &lookup.url, &Context::new(metadata));
    url.map_err(|what| not_filled_in(config, ("lookup_url".to_owned(), what)))
}

fn texts(
    option: &str,
    fields: &[(String, Arc<Template>)],
    context: &Context,
) -> Result<Vec<(String, String)>, NotFilledIn> {
    let text = |(name, template): &(String, Arc<Template>)| {
        let text = template.render(context).map_err(|error| (format!("{option}.{name}"), error))?;
        Ok((name.clone(), text))
    };
    fields.iter().map(text).collect()
}

fn not_filled_in(config: &HttpConfig, (option, error): NotFilledIn) -> Outcome {
    wording::not_filled_in(&config.connection.name, &option, &error)
}

/// Adds the headers of `header_files`.
pub(super) fn add_secret_headers(config: &HttpConfig, headers: &mut HeaderMap) -> Result<(), String> {
    for (name, file) in &config.header_files {
        let value = secret::read_password(file, &format!("header_files.{name}"), "value of the header")?;
        let value = secret_header(&value).ok_or_else(|| format!("header_files.{name} holds what no header can"))?;
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("header_files.{name} is no header"))?;
        headers.insert(name, value);
    }
    Ok(())
}

/// The address that `preview` shows; size and digest of the PDF are not known yet.
pub(super) fn planned(config: &HttpConfig, uuid: &DocumentUuid, metadata: &Metadata) -> Result<String, String> {
    let file_name = candidate::wanted(&config.file_name, metadata, uuid.as_str());
    let (_, file_name) = file_name.map_err(|error| format!("file_name: {error}"))?;
    let pdf = spooled::away(0, "…");
    let context = Context::new(metadata).with_pdf(&file_name, &pdf, "KEY").with_lookup(&"LOOKUP".into());
    address(config, &config.url, &context).map(|url| url.to_string()).map_err(|what| format!("url: {what}"))
}

/// The probe of a document that cannot exist; `None` if the probe is a list, or would be the same for other documents.
pub(super) fn made_up_probe(config: &HttpConfig) -> Option<Url> {
    let probe = config.probe_url.as_ref().filter(|_| config.probe_contains.is_empty())?;
    let of = |identity: &str| {
        let context = Context::sample_of("file_name.pdf", identity).with_lookup(&"0".into()).with_offset(0);
        address(config, probe, &context).ok()
    };
    let (one, other) = (of(&"0".repeat(32))?, of(&"1".repeat(32))?);
    (one != other).then_some(one)
}

/// The address, which must have the configured origin and the folders that its template names.
fn address(config: &HttpConfig, template: &Template, context: &Context) -> Result<Url, TemplateError> {
    let text = template.render(context)?;
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let dots = |part: &str| matches!(part.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    if path.split(['/', '\\']).any(dots) {
        return Err(TemplateError::new("a value would lead to another folder"));
    }
    let url = Url::parse(text.trim()).map_err(|_| TemplateError::new("the result is no address"))?;
    let is_own =
        url.origin() == config.connection.origin.origin() && url.username().is_empty() && url.password().is_none();
    is_own.then_some(url).ok_or_else(|| TemplateError::new("the result is at another host"))
}

/// A header's value, on one line.
fn header(text: &str) -> Result<HeaderValue, TemplateError> {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.len() > MAX_HEADER {
        return Err(TemplateError::new("the result is too long for a header"));
    }
    HeaderValue::from_bytes(line.trim().as_bytes())
        .map_err(|_| TemplateError::new("the result cannot stand in a header"))
}

type NotFilledIn = (String, TemplateError);

/// The pieces of the body, and its media type.
fn body(
    config: &HttpConfig,
    context: &Context,
    file_name: &str,
    key: &str,
) -> Result<(Vec<Piece>, String), NotFilledIn> {
    match &config.body {
        HttpBody::Raw => Ok((vec![Piece::Pdf], "application/pdf".to_owned())),
        HttpBody::Json(template) => {
            let texts = template.render_around_pdf(context).map_err(|error| ("json".to_owned(), error))?;
            if texts.len() < 2 {
                return Err(("json".to_owned(), TemplateError::new("the PDF does not stand in the result")));
            }
            let mut pieces = Vec::new();
            for (index, text) in texts.into_iter().enumerate() {
                if index > 0 {
                    pieces.push(Piece::PdfInBase64);
                }
                pieces.push(Piece::Bytes(text.into_bytes()));
            }
            Ok((pieces, "application/json".to_owned()))
        }
        HttpBody::Multipart { file_field, fields } => {
            let boundary = format!("docsyncd-{key}");
            let mut before = String::new();
            for (name, template) in fields {
                let value = template.render(context).map_err(|error| (format!("fields.{name}"), error))?;
                before.push_str(&part(&boundary, name, "", &value));
                before.push_str("\r\n");
            }
            let of_file = format!("; filename=\"{}\"\r\nContent-Type: application/pdf", quoted(file_name));
            before.push_str(&part(&boundary, file_field, &of_file, ""));
            let after = format!("\r\n--{boundary}--\r\n");
            let pieces = vec![Piece::Bytes(before.into_bytes()), Piece::Pdf, Piece::Bytes(after.into_bytes())];
            Ok((pieces, format!("multipart/form-data; boundary={boundary}")))
        }
    }
}

/// A part of a form (RFC 7578).
fn part(boundary: &str, name: &str, more: &str, value: &str) -> String {
    let name = quoted(name);
    format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n{value}")
}

/// Writes names in forms as browsers do (HTML, "multipart/form-data encoding algorithm"): in UTF-8, with percent
/// encoding for characters that would end the name.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

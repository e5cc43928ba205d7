//! `type = "http"`

use std::collections::BTreeMap;

use crate::config::settings::{DAY, duration};
use crate::config::value;
use crate::destinations::Invented;
use crate::destinations::settings::*;
use crate::formats::template::Context;

mod lookup;

/// Headers about the transfer of a request, which docsyncd sets itself.
const OF_THE_REQUEST: [&str; 6] = ["host", "content-length", "transfer-encoding", "connection", "expect", "te"];

/// The shortest time to look for a document in a list after its answer was lost.
const LISTED_AFTER: Duration = Duration::from_secs(5 * 60);

/// Headers that hold secrets.
const SECRET: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "x-api-key"];

settings! {
    /// Its own values in `[destinations.NAME]`.
    "destinations.*." HttpKeys {
        method: Option<String>, Kind::Enum(&["PUT", "POST"]), "method of the request", default("PUT");
        body: Option<String>, Kind::Template,
            "form in which the PDF is sent: raw, multipart or json; for a mail, its text";
        headers: BTreeMap<String, String>, Kind::TemplateTable, "headers of the request";
        header_files: BTreeMap<String, String>, Kind::SecretFileTable, "headers whose values stand in files";
        file_field: Option<String>, Kind::Text, "name of the PDF's part in a multipart body", default("file");
        fields: BTreeMap<String, String>, Kind::TemplateTable, "the other parts of a multipart body";
        json: Option<String>, Kind::Template, "the body as JSON; {{ file_base64 }} is the PDF";
        success: Vec<u16>, Kind::Statuses, "statuses which say that the document is kept", default("[200, 201, 204]");
        lookup_url: Option<String>, Kind::Template, "address that lists the patients who may be meant";
        lookup_field: Option<String>, Kind::Text, "field of an entry there that becomes {{ lookup }}";
        lookup_match: BTreeMap<String, String>, Kind::TemplateTable,
            "values of the fields by which the one right entry is known";
        probe_url: Option<String>, Kind::Template, "address that answers 200 when the document is there";
        probe_contains: BTreeMap<String, String>, Kind::TemplateTable,
            "values of the fields by which a document's entry is known when `probe_url` lists what is there";
        resend_after: Option<Duration>, duration(0, DAY),
            "how long after a lost answer a document that `probe_url` does not show is sent again";
        check_url: Option<String>, Kind::Text, "address that `docsyncd check` asks for";
        conflict_is_found: Option<bool>, Kind::Bool, "whether status 409 says that the document is there",
            default("false");
        html_is_success: Option<bool>, Kind::Bool, "whether a web page can be the answer to a kept document",
            default("false");
    }
}

/// How it is registered.
pub(crate) static KIND: DestinationKind = DestinationKind {
    word: "http",
    keys: &[&[SharedKeys::file_name], SIGN_IN, LIMITS, &[SharedKeys::url], WEB, HttpKeys::KEYS, ASKED],
    check: |at| Some(Arc::new(http(at)?)),
    presets: presets!("http", "opendental"),
};

/// `type = "http"`
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// How to reach the service.
    pub connection: WebConnection,
    /// Where a document is sent.
    pub url: Arc<Template>,
    /// PUT, or POST.
    pub is_put: bool,
    /// What is sent.
    pub body: HttpBody,
    /// The PDF's name, in multipart and as `{{ file_name }}`; the last part of a path.
    pub file_name: Arc<Template>,
    /// Headers, in the order of their names.
    pub headers: Vec<(String, Arc<Template>)>,
    /// Headers whose values are secrets.
    pub header_files: Vec<(String, Secret)>,
    /// Statuses that mean that the service keeps the document.
    pub success: Vec<u16>,
    /// How to find the patient there, before anything is sent.
    pub lookup: Option<Lookup>,
    /// A URL that answers 200 if a document is there, or lists the documents that are there.
    pub probe_url: Option<Arc<Template>>,
    /// The fields of the document's entry in that list; empty if it is no list.
    pub probe_contains: Vec<(String, Arc<Template>)>,
    /// How long after a lost answer a document that is not found may still turn up.
    pub resend_after: Duration,
    /// The URL that `check` requests.
    pub check_url: Option<Url>,
    /// Whether status 409 means that the document is there.
    pub conflict_is_found: bool,
    /// Whether a web page with a status of success is a success.
    pub html_is_success: bool,
    /// What happens to a document whose answer was lost.
    pub on_lost_reply: LostReply,
    /// What proves that the service took a document.
    pub confirm: Option<Confirm>,
}

impl HttpConfig {
    /// Whether the PDF is PUT on the condition that nothing is at its address: the service itself prevents a second
    /// copy.
    pub fn is_conditional(&self) -> bool {
        let is_condition = |(name, value): &(String, Arc<Template>)| {
            name.eq_ignore_ascii_case("if-none-match") && value.source().trim() == "*"
        };
        self.is_put && self.headers.iter().any(is_condition)
    }

    /// What the service may know a document by: its address and file name, as far as they differ between letters; else
    /// what stands in its fields; else in its headers.
    pub(super) fn naming(&self) -> Naming {
        let (fields, json) = match &self.body {
            HttpBody::Raw => (&[][..], None),
            HttpBody::Json(json) => (&[][..], Some(json)),
            HttpBody::Multipart { fields, .. } => (fields.as_slice(), None),
        };
        let is_used = |json: &Arc<Template>| json.mentions("file_name") || json.mentions("file_stem");
        let is_sent = json.map_or(matches!(self.body, HttpBody::Multipart { .. }), is_used);
        let names = [Some(&self.url), is_sent.then_some(&self.file_name)].into_iter().flatten();
        let content = json.into_iter().chain(fields.iter().map(|(_, field)| field));
        let headers = self.headers.iter().map(|(_, header)| header);
        let weakest = names.filter_map(Naming::of).min();
        let in_content = weakest.or_else(|| content.filter_map(Naming::of).max());
        in_content.or_else(|| headers.filter_map(Naming::of).min()).unwrap_or(Naming::Document)
    }

    /// Whether its requests can hold the number of an invented patient unchanged.
    pub(super) fn holds(&self, invented: &Invented) -> bool {
        let in_header = |(_, template): &(String, Arc<Template>)| {
            invented.text(template).is_some_and(|text| invented.context.held(&text, str::is_ascii).is_ok())
        };
        invented.holds(&self.templates()) && self.headers.iter().all(in_header)
    }

    fn templates(&self) -> Vec<&Arc<Template>> {
        let (lookup, fields, json) = match (&self.lookup, &self.body) {
            (lookup, HttpBody::Multipart { fields, .. }) => (lookup.as_ref(), fields.as_slice(), None),
            (lookup, HttpBody::Json(template)) => (lookup.as_ref(), &[][..], Some(template)),
            (lookup, HttpBody::Raw) => (lookup.as_ref(), &[][..], None),
        };
        let wanted = lookup.map(|lookup| lookup.wanted.as_slice()).unwrap_or_default();
        let named = [self.probe_contains.as_slice(), &self.headers, wanted, fields].into_iter().flatten();
        let alone =
            [Some(&self.url), Some(&self.file_name), self.probe_url.as_ref(), lookup.map(|lookup| &lookup.url), json];
        alone.into_iter().flatten().chain(named.map(|(_, template)| template)).collect()
    }
}

/// What a service may know a document by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Naming {
    /// Something that another document may have as well.
    Shared,
    /// Something that all versions of the document have, and no other document; or `Idempotency-Key` alone.
    Document,
    /// The key of the delivery.
    Key,
}

impl Naming {
    /// What a template names; `None` if it is the same for every document.
    fn of(template: &Arc<Template>) -> Option<Self> {
        match () {
            () if template.is_per_version() => Some(Self::Key),
            () if template.is_per_document() => Some(Self::Document),
            () if template.is_constant() => None,
            () => Some(Self::Shared),
        }
    }
}

/// How to ask an HTTP destination for its identifier of the patient.
#[derive(Debug, Clone)]
pub struct Lookup {
    /// A URL that lists the patients who may be meant.
    pub url: Arc<Template>,
    /// The field of an entry that identifies the patient.
    pub field: String,
    /// What the fields of the one right entry contain; never empty.
    pub wanted: Vec<(String, Arc<Template>)>,
}

/// `body` of an HTTP destination
#[derive(Debug, Clone)]
pub enum HttpBody {
    /// The PDF as it is.
    Raw,
    /// A form (RFC 7578).
    Multipart {
        /// The name of the PDF's part.
        file_field: String,
        /// The other parts.
        fields: Vec<(String, Arc<Template>)>,
    },
    /// JSON around the PDF in base64.
    Json(Arc<Template>),
}

impl Settings for HttpConfig {
    fn confirm(&self) -> Option<&Confirm> {
        self.confirm.as_ref()
    }

    fn server(&self) -> Option<(String, u16)> {
        self.connection.dialled()
    }

    fn shows_letters(&self) -> bool {
        self.probe_url.is_some()
    }
}

fn http(at: &mut At<'_, '_>) -> Option<HttpConfig> {
    let (mut raw, mut own): (SharedKeys, HttpKeys) = (at.read()?, at.read()?);
    let source = raw.url.take()?;
    let origin = origin(at, "url", &source)?;
    let url = template(at, "url", TemplateKind::Url, &source)?;
    let headers = headers(at, std::mem::take(&mut own.headers));
    let header_files = header_files(at, std::mem::take(&mut own.header_files));
    let lookup = lookup::lookup(at, &mut own, &origin)?;
    let (probe_url, probe_contains) = lookup::probe(at, &mut own, &origin)?;
    let check_url = match own.check_url.take() {
        None => None,
        Some(text) => {
            same_host(at, "check_url", &text, &origin)?;
            let url = Url::parse(text.trim()).ok().filter(|_| !text.contains("{{"));
            if url.is_none() {
                let fix = "Write an address that can be asked for as it is, without values.";
                at.error("check_url", "is not a web address", fix);
            }
            url
        }
    };
    let file_name = template(at, "file_name", TemplateKind::RemoteName, &raw.file_name.take()?);
    let body = body(at, &mut own);
    let has_secrets = !header_files.is_empty();
    let connection = connection(at, "url", origin, &mut raw, has_secrets)?;
    // A list may show a document late; at an address of its own it is there or not.
    let resend_after = own.resend_after.unwrap_or_else(|| match probe_contains.is_empty() {
        true => Duration::ZERO,
        false => LISTED_AFTER.max(connection.timeout * 2),
    });
    let confirm = confirm::of_http(at, &mut raw, probe_url.is_some());
    let config = HttpConfig {
        connection,
        url,
        is_put: own.method.as_deref() != Some("POST"),
        body: body?,
        file_name: file_name?,
        headers: headers?,
        header_files,
        success: own.success,
        lookup,
        probe_url,
        probe_contains,
        resend_after,
        check_url,
        conflict_is_found: own.conflict_is_found?,
        html_is_success: own.html_is_success?,
        on_lost_reply: raw.on_lost_reply.unwrap_or_default(),
        confirm,
    };
    lookup::fits(at, &config)?;
    if config.conflict_is_found {
        warn_of_names(at, config.naming());
    }
    // The identifier of the patient in such a service must agree with the practice's list.
    if config.lookup.is_some() && patients::is_given(at.builder.merged) {
        at.builder.need_number.insert(at.name());
    }
    if config.is_conditional() && !config.url.is_per_version() {
        let what = "is the same for each version of a document, and what lies there is not overwritten (If-None-Match): put \
                    {{ key }} into it, or a letter that was corrected cannot be delivered";
        at.warn("url", what);
    }
    Some(config)
}

/// Says when a conflict does not count, or not always.
fn warn_of_names(at: &mut At<'_, '_>, naming: Naming) {
    let counts = match naming {
        Naming::Key => return,
        Naming::Document => "counts for a repetition only",
        Naming::Shared => "never counts, as the name may be that of another letter",
    };
    let what = format!(
        "{counts}: put {{{{ key }}}} into the name that the service knows a letter by (`url` and `file_name`, where they have \
         values; else `json` or `fields`)"
    );
    at.warn("conflict_is_found", &what);
}

/// Checks that the host is the same: credentials go to one host, and so does everything that carries them.
pub(super) fn same_host(at: &mut At<'_, '_>, key: &str, text: &str, url: &Url) -> Option<()> {
    let found = origin(at, key, text)?;
    if found.origin() == url.origin() {
        return Some(());
    }
    let fix = "Write an address of the same scheme, host and port.";
    at.refuse(key, "is at another host than `url`, and the credentials are only for the host of `url`", fix)
}

fn body(at: &mut At<'_, '_>, own: &mut HttpKeys) -> Option<HttpBody> {
    let words = value::word(&["raw", "multipart", "json"], own.body.take().as_deref().unwrap_or("raw"));
    let kind = match words {
        Ok(kind) => Some(kind),
        Err(wrong) => {
            return at.refuse("body", &wrong.what, wrong.fix);
        }
    };
    for (key, wanted) in [("json", "json"), ("fields", "multipart"), ("file_field", "multipart")] {
        if kind != Some(wanted) {
            at.warn_of_given(&[key], &format!("has no effect without body = \"{wanted}\""));
        }
    }
    match kind {
        Some("json") => {
            let Some(source) = own.json.take() else {
                let fix = r#"Write json = '{"content": "{{ file_base64 }}"}'."#;
                return at.refuse("body", "is \"json\", and `json` is missing", fix);
            };
            let json = template(at, "json", TemplateKind::JsonBody, &source)?;
            let sample = json.render_around_pdf(&Context::sample("file_name.pdf"));
            if sample.is_ok_and(|parts| parts.len() < 2) {
                let fix = r#"Put "{{ file_base64 }}" where the PDF belongs, without a filter."#;
                return at.refuse("json", "does not hold the PDF", fix);
            }
            Some(HttpBody::Json(json))
        }
        Some("multipart") => {
            let fields = fields(at, "fields", std::mem::take(&mut own.fields))?;
            Some(HttpBody::Multipart { file_field: own.file_field.take()?, fields })
        }
        _ => Some(HttpBody::Raw),
    }
}

/// Templates by field name.
pub(super) fn fields(
    at: &mut At<'_, '_>,
    key: &str,
    fields: BTreeMap<String, String>,
) -> Option<Vec<(String, Arc<Template>)>> {
    let compiled = |(field, source): (String, String)| Some((field, template(at, key, TemplateKind::Field, &source)?));
    fields.into_iter().map(compiled).collect()
}

fn headers(at: &mut At<'_, '_>, headers: BTreeMap<String, String>) -> Option<Vec<(String, Arc<Template>)>> {
    let mut good = Vec::new();
    let count = headers.len();
    for (header, source) in headers {
        if !is_allowed(at, "headers", &header) {
            continue;
        }
        if SECRET.contains(&header.to_ascii_lowercase().as_str()) && !source.contains("{{") {
            let what = format!("holds a secret (`{header}`), which must not stand in the configuration file");
            let fix =
                format!("Write it into a file that only docsyncd may read: header_files = {{ {header:?} = \"...\" }}.");
            at.error("headers", &what, fix);
            continue;
        }
        good.extend(template(at, "headers", TemplateKind::Field, &source).map(|template| (header, template)));
    }
    (good.len() == count).then_some(good)
}

fn header_files(at: &mut At<'_, '_>, files: BTreeMap<String, String>) -> Vec<(String, Secret)> {
    let mut good = Vec::new();
    for (header, path) in files {
        if is_allowed(at, "header_files", &header) {
            let file = at.secret("header_files", path.as_ref());
            good.push((header, file));
        }
    }
    good
}

/// Whether this header may be configured (RFC 9110, section 5.1).
fn is_allowed(at: &mut At<'_, '_>, key: &str, header: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if header.is_empty() || !header.bytes().all(is_token) {
        let fix = "Names of headers are letters, digits and -, as in \"X-Practice\".";
        at.error(key, "holds something that is no name of a header", fix);
        return false;
    }
    if OF_THE_REQUEST.contains(&header.to_ascii_lowercase().as_str()) {
        let what = format!("holds `{header}`, which docsyncd sets itself");
        at.error(key, &what, "Remove it.");
        return false;
    }
    true
}

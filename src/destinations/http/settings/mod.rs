//! `type = "http"`

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::config::build::At;
use crate::config::validated::Secret;
use crate::config::web::{HttpBody, HttpConfig};
use crate::config::{settings, value};
use crate::destinations::settings::web::{connection, origin};
use crate::destinations::settings::{confirm, template};

mod lookup;
use crate::formats::template::{Context, Template, TemplateKind};

/// Headers about the transfer of a request, which docsyncd sets itself.
const OF_THE_REQUEST: [&str; 6] = ["host", "content-length", "transfer-encoding", "connection", "expect", "te"];

/// The shortest time to look for a document in a list after its answer was lost.
const LISTED_AFTER: Duration = Duration::from_secs(5 * 60);

/// Headers that hold secrets.
const SECRET: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "x-api-key"];

pub(crate) fn http(at: &mut At<'_, '_>, mut raw: settings::Destination) -> Option<HttpConfig> {
    let source = raw.url.take()?;
    let origin = origin(at, "url", &source)?;
    let url = template(at, "url", TemplateKind::Url, &source)?;
    let headers = headers(at, std::mem::take(&mut raw.headers));
    let header_files = header_files(at, std::mem::take(&mut raw.header_files));
    let lookup = lookup::lookup(at, &mut raw, &origin)?;
    let (probe_url, probe_contains) = lookup::probe(at, &mut raw, &origin)?;
    let check_url = match raw.check_url.take() {
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
    let body = body(at, &mut raw);
    let has_secrets = !header_files.is_empty();
    let connection = connection(at, "url", origin, &mut raw, has_secrets)?;
    // A list may show a document late; at an address of its own it is there or not.
    let resend_after = raw.resend_after.unwrap_or_else(|| match probe_contains.is_empty() {
        true => Duration::ZERO,
        false => LISTED_AFTER.max(connection.timeout * 2),
    });
    let confirm = confirm::of_http(at, &mut raw, probe_url.is_some());
    let config = HttpConfig {
        connection,
        url,
        is_put: raw.method.as_deref() != Some("POST"),
        body: body?,
        file_name: file_name?,
        headers: headers?,
        header_files,
        success: raw.success,
        lookup,
        probe_url,
        probe_contains,
        resend_after,
        check_url,
        conflict_is_found: raw.conflict_is_found?,
        html_is_success: raw.html_is_success?,
        on_lost_reply: raw.on_lost_reply.unwrap_or_default(),
        confirm,
    };
    lookup::fits(at, &config)?;
    if config.is_conditional() && !config.url.is_per_version() {
        let what = "is the same for each version of a document, and what lies there is not overwritten (If-None-Match): put \
                    {{ key }} into it, or a letter that was corrected cannot be delivered";
        at.warn("url", what);
    }
    Some(config)
}

/// Checks that the host is the same: credentials go to one host, and so does everything that carries them.
pub(super) fn same_host(at: &mut At<'_, '_>, key: &str, text: &str, url: &Url) -> Option<()> {
    let found = origin(at, key, text)?;
    if found.origin() == url.origin() {
        return Some(());
    }
    let fix = "Write an address of the same scheme, host and port.";
    at.refuse(key, "is at another host than `url`, which the credentials are for", fix)
}

fn body(at: &mut At<'_, '_>, raw: &mut settings::Destination) -> Option<HttpBody> {
    let words = value::word(&["raw", "multipart", "json"], raw.body.take().as_deref().unwrap_or("raw"));
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
            let Some(source) = raw.json.take() else {
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
            let fields = fields(at, "fields", std::mem::take(&mut raw.fields))?;
            Some(HttpBody::Multipart { file_field: raw.file_field.take()?, fields })
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

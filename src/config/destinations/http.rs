//! `type = "http"`

use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::super::build::Builder;
use super::super::report::Origin;
use super::super::validated::{LostReply, Secret};
use super::super::web::{HttpBody, HttpConfig};
use super::super::{settings, value};
use super::web::{connection, origin};
use super::{SECTION, confirm, lookup, lost_reply, template};
use crate::template::{Context, Template, TemplateKind};

/// Headers about the transfer of a request, which docsyncd sets itself.
const OF_THE_REQUEST: [&str; 6] = ["host", "content-length", "transfer-encoding", "connection", "expect", "te"];

/// The shortest time to look for a document in a list after its answer was lost.
const LISTED_AFTER: Duration = Duration::from_secs(5 * 60);

/// Headers that hold secrets.
const SECRET: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "x-api-key"];

pub(super) fn http(name: &str, mut raw: settings::Destination, builder: &mut Builder<'_>) -> Option<HttpConfig> {
    let source = raw.url.take()?;
    let origin = origin(name, "url", &source, builder)?;
    let url = template(name, "url", TemplateKind::Url, &source, builder)?;
    let headers = headers(name, std::mem::take(&mut raw.headers), builder);
    let header_files = header_files(name, std::mem::take(&mut raw.header_files), builder);
    let lookup = lookup::lookup(name, &mut raw, &origin, builder)?;
    let (probe_url, probe_contains) = lookup::probe(name, &mut raw, &origin, builder)?;
    let check_url = match raw.check_url.take() {
        None => None,
        Some(text) => {
            same_host(name, "check_url", &text, &origin, builder)?;
            let url = Url::parse(text.trim()).ok().filter(|_| !text.contains("{{"));
            if url.is_none() {
                let fix = "Write an address that can be asked for as it is, without values.";
                builder.error(SECTION, Some(name), "check_url", "is not a web address", fix);
            }
            url
        }
    };
    let file_name = template(name, "file_name", TemplateKind::RemoteName, &raw.file_name.take()?, builder);
    let body = body(name, &mut raw, builder);
    let has_secrets = !header_files.is_empty();
    let connection = connection(name, "url", origin, &mut raw, has_secrets, builder)?;
    // A list may show a document late; at an address of its own it is there or not.
    let resend_after = raw.resend_after.unwrap_or_else(|| match probe_contains.is_empty() {
        true => Duration::ZERO,
        false => LISTED_AFTER.max(connection.timeout * 2),
    });
    let confirm = confirm::of_http(name, &mut raw, probe_url.is_some(), builder);
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
        on_lost_reply: lost_reply(raw.on_lost_reply.as_deref()).unwrap_or(LostReply::Resend),
        confirm,
    };
    lookup::fits(name, &config, builder)?;
    if config.is_conditional() && !config.url.is_per_version() {
        let what = "is the same for each version of a document, and what lies there is not overwritten (If-None-Match): put \
                    {{ key }} into it, or a letter that was corrected cannot be delivered";
        builder.warn(SECTION, Some(name), "url", what);
    }
    Some(config)
}

/// Checks that the host is the same: credentials go to one host, and so does everything that carries them.
pub(super) fn same_host(name: &str, key: &str, text: &str, url: &Url, builder: &mut Builder<'_>) -> Option<()> {
    let found = origin(name, key, text, builder)?;
    if found.origin() == url.origin() {
        return Some(());
    }
    let fix = "Write an address of the same scheme, host and port.";
    builder.error(SECTION, Some(name), key, "is at another host than `url`, which the credentials are for", fix);
    None
}

fn body(name: &str, raw: &mut settings::Destination, builder: &mut Builder<'_>) -> Option<HttpBody> {
    let words = value::word(&["raw", "multipart", "json"], raw.body.take().as_deref().unwrap_or("raw"));
    let kind = match words {
        Ok(kind) => Some(kind),
        Err(wrong) => {
            builder.error(SECTION, Some(name), "body", &wrong.what, wrong.fix);
            return None;
        }
    };
    for (key, wanted) in [("json", "json"), ("fields", "multipart"), ("file_field", "multipart")] {
        if kind != Some(wanted) && builder.origin(SECTION, Some(name), key) != Origin::Default {
            builder.warn(SECTION, Some(name), key, &format!("has no effect without body = \"{wanted}\""));
        }
    }
    match kind {
        Some("json") => {
            let Some(source) = raw.json.take() else {
                let fix = r#"Write json = '{"content": "{{ file_base64 }}"}'."#;
                builder.error(SECTION, Some(name), "body", "is \"json\", and `json` is missing", fix);
                return None;
            };
            let json = template(name, "json", TemplateKind::JsonBody, &source, builder)?;
            let sample = json.render_around_pdf(&Context::sample("file_name.pdf"));
            if sample.is_ok_and(|parts| parts.len() < 2) {
                let fix = r#"Put "{{ file_base64 }}" where the PDF belongs, without a filter."#;
                builder.error(SECTION, Some(name), "json", "does not hold the PDF", fix);
                return None;
            }
            Some(HttpBody::Json(json))
        }
        Some("multipart") => {
            let fields = fields(name, "fields", std::mem::take(&mut raw.fields), builder)?;
            Some(HttpBody::Multipart { file_field: raw.file_field.take()?, fields })
        }
        _ => Some(HttpBody::Raw),
    }
}

/// Templates by field name.
pub(super) fn fields(
    name: &str,
    key: &str,
    fields: Vec<(String, String)>,
    builder: &mut Builder<'_>,
) -> Option<Vec<(String, Arc<Template>)>> {
    let compiled =
        |(field, source): (String, String)| Some((field, template(name, key, TemplateKind::Field, &source, builder)?));
    fields.into_iter().map(compiled).collect()
}

fn headers(
    name: &str,
    headers: Vec<(String, String)>,
    builder: &mut Builder<'_>,
) -> Option<Vec<(String, Arc<Template>)>> {
    let mut good = Vec::new();
    let count = headers.len();
    for (header, source) in headers {
        if !is_allowed(name, "headers", &header, builder) {
            continue;
        }
        if SECRET.contains(&header.to_ascii_lowercase().as_str()) && !source.contains("{{") {
            let what = format!("holds a secret (`{header}`), which must not stand in the configuration file");
            let fix =
                format!("Write it into a file that only docsyncd may read: header_files = {{ {header:?} = \"...\" }}.");
            builder.error(SECTION, Some(name), "headers", &what, fix);
            continue;
        }
        good.extend(
            template(name, "headers", TemplateKind::Field, &source, builder).map(|template| (header, template)),
        );
    }
    (good.len() == count).then_some(good)
}

fn header_files(name: &str, files: Vec<(String, String)>, builder: &mut Builder<'_>) -> Vec<(String, Secret)> {
    let mut good = Vec::new();
    for (header, path) in files {
        if is_allowed(name, "header_files", &header, builder) {
            let file = builder.secret(SECTION, Some(name), "header_files", path.as_ref());
            good.push((header, file));
        }
    }
    good
}

/// Whether this header may be configured (RFC 9110, section 5.1).
fn is_allowed(name: &str, key: &str, header: &str, builder: &mut Builder<'_>) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if header.is_empty() || !header.bytes().all(is_token) {
        let fix = "Names of headers are letters, digits and -, as in \"X-Practice\".";
        builder.error(SECTION, Some(name), key, "holds something that is no name of a header", fix);
        return false;
    }
    if OF_THE_REQUEST.contains(&header.to_ascii_lowercase().as_str()) {
        let what = format!("holds `{header}`, which docsyncd sets itself");
        builder.error(SECTION, Some(name), key, &what, "Remove it.");
        return false;
    }
    true
}

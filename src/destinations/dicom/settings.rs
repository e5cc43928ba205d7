//! `type = "dicom"`

use crate::config::build::At;
use crate::config::dicom::{DicomArchive, DicomConfig, DicomHost};
use crate::config::settings;
use crate::destinations::settings::web::{client_certificate, connection, origin};
use crate::destinations::settings::{confirm, record, remote, template};
use crate::formats::template::TemplateKind;

/// The registered ports (IANA, "acr-nema" and "dicom-tls").
const PORT: u16 = 104;
const TLS_PORT: u16 = 2762;

/// The longest title of an application entity (DICOM PS3.5, section 6.2), and of a code and its system, in characters.
const SHORT: usize = 16;

pub(crate) fn dicom(at: &mut At<'_, '_>, mut raw: settings::Destination) -> Option<DicomConfig> {
    let verifies = match raw.verify.as_deref() {
        None | Some("none") => false,
        Some("query") => true,
        Some(_) => {
            let fix = "Write \"none\" or \"query\".";
            return at.refuse("verify", "is not for a DICOM archive, which shows no content", fix);
        }
    };
    let patient_id = record::patient_id(at, raw.patient_id.take());
    let title = template(at, "title", TemplateKind::Field, &raw.title.take()?);
    for (kind, code) in &raw.type_map {
        if code.split('|').any(|part| part.len() > SHORT) {
            let what = format!(
                "has a code for {kind} of which DICOM writes none: a code and its system have at most {SHORT} signs"
            );
            at.warn("type_map", &what);
        }
    }
    let type_map = record::type_map(at, &raw.type_map);
    let confirm = confirm::of_query(at, &mut raw);
    let on_lost_reply = raw.on_lost_reply.unwrap_or_default();
    let max_connections = raw.max_connections?;
    let archive = archive(at, raw);
    Some(DicomConfig {
        name: at.name(),
        archive: archive?,
        patient_id: patient_id?,
        title: title?,
        type_map: type_map?,
        verifies,
        on_lost_reply,
        confirm,
        max_connections,
    })
}

fn archive(at: &mut At<'_, '_>, mut raw: settings::Destination) -> Option<DicomArchive> {
    let Some(url) = raw.url.take() else {
        at.warn_of_given(&["bearer_token_file", "user", "password_file", "proxy"], "has no effect with `host`");
        return host(at, raw).map(Box::new).map(DicomArchive::Host);
    };
    at.warn_of_given(&["port", "tls", "called_ae_title", "calling_ae_title"], "has no effect with `url`");
    if raw.host.is_some() {
        let fix = "Write `host` for C-STORE, or `url` for DICOMweb.";
        return at.refuse("url", "stands beside `host`", fix);
    }
    let origin = origin(at, "url", &url)?;
    let base = url.trim().trim_end_matches('/').parse::<url::Url>().ok();
    let base = base.filter(|base| !url.contains('{') && base.query().is_none() && base.fragment().is_none());
    if base.is_none() {
        let fix = "Write the address below which `studies` is, as in https://HOST/dicom-web.";
        at.error("url", "holds values, a query or a fragment", fix);
    }
    let connection = Box::new(connection(at, "url", origin, &mut raw, false)?);
    Some(DicomArchive::Web { connection, base: base? })
}

fn host(at: &mut At<'_, '_>, mut raw: settings::Destination) -> Option<DicomHost> {
    if raw.host.is_none() {
        let fix = "Add host = \"pacs.practice.test\" for C-STORE, or url = \"https://pacs.practice.test/dicom-web\" for DICOMweb.";
        return at.refuse("host", "is missing, and so is `url`", fix);
    }
    let host = remote::host(at, raw.host.take());
    let is_encrypted = raw.tls?;
    record::without_tls(at, host.as_deref(), is_encrypted);
    let client_certificate = client_certificate(at, &mut raw);
    let called = title(at, "called_ae_title", &raw.called_ae_title.take()?);
    let calling = title(at, "calling_ae_title", &raw.calling_ae_title.take()?);
    Some(DicomHost {
        host: host?,
        port: raw.port.unwrap_or(if is_encrypted { TLS_PORT } else { PORT }),
        is_encrypted,
        ca_file: raw.ca_file.take().map(|path| at.path("ca_file", &path)),
        client_certificate: client_certificate?,
        called: called?,
        calling: calling?,
        timeout: raw.timeout?,
    })
}

/// The title of an application entity.
fn title(at: &mut At<'_, '_>, key: &str, text: &str) -> Option<String> {
    let text = text.trim();
    let is_title = (1..=SHORT).contains(&text.len())
        && text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic() && byte != b'\\');
    if !is_title {
        let fix = "Write the title as the archive's operator tells it.";
        let what = format!("is no application entity title: 1 to {SHORT} letters, digits and signs without accents");
        return at.refuse(key, &what, fix);
    }
    Some(text.to_owned())
}

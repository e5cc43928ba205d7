//! `type = "dicom"`

use super::super::build::Builder;
use super::super::dicom::{DicomArchive, DicomConfig, DicomHost};
use super::super::report::Origin;
use super::super::settings;
use super::super::validated::LostReply;
use super::web::{client_certificate, connection, origin};
use super::{SECTION, confirm, lost_reply, record, remote, template};
use crate::template::TemplateKind;

/// The registered ports (IANA, "acr-nema" and "dicom-tls").
const PORT: u16 = 104;
const TLS_PORT: u16 = 2762;

/// The longest title of an application entity (DICOM PS3.5, section 6.2), and of a code and its system, in characters.
const SHORT: usize = 16;

pub(super) fn dicom(name: &str, mut raw: settings::Destination, builder: &mut Builder<'_>) -> Option<DicomConfig> {
    let verifies = match raw.verify.as_deref() {
        None | Some("none") => false,
        Some("query") => true,
        Some(_) => {
            let fix = "Write \"none\" or \"query\".";
            builder.error(SECTION, Some(name), "verify", "is not for a DICOM archive, which shows no content", fix);
            return None;
        }
    };
    let patient_id = record::patient_id(name, raw.patient_id.take(), builder);
    let title = template(name, "title", TemplateKind::Field, &raw.title.take()?, builder);
    for (kind, code) in &raw.type_map {
        if code.split('|').any(|part| part.len() > SHORT) {
            let what = format!(
                "has a code for {kind} of which DICOM writes none: a code and its system have at most {SHORT} signs"
            );
            builder.warn(SECTION, Some(name), "type_map", &what);
        }
    }
    let type_map = record::type_map(name, &raw.type_map, builder);
    let confirm = confirm::of_query(name, &mut raw, builder);
    let on_lost_reply = lost_reply(raw.on_lost_reply.as_deref()).unwrap_or(LostReply::Resend);
    let max_connections = raw.max_connections?;
    let archive = archive(name, raw, builder);
    Some(DicomConfig {
        name: name.to_owned(),
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

fn archive(name: &str, mut raw: settings::Destination, builder: &mut Builder<'_>) -> Option<DicomArchive> {
    let mut without = |keys: &[&str], other: &str| {
        for key in keys {
            if builder.origin(SECTION, Some(name), key) != Origin::Default {
                builder.warn(SECTION, Some(name), key, &format!("has no effect with `{other}`"));
            }
        }
    };
    let Some(url) = raw.url.take() else {
        without(&["bearer_token_file", "user", "password_file", "proxy"], "host");
        return host(name, raw, builder).map(Box::new).map(DicomArchive::Host);
    };
    without(&["port", "tls", "called_ae_title", "calling_ae_title"], "url");
    if raw.host.is_some() {
        let fix = "Write `host` for C-STORE, or `url` for DICOMweb.";
        builder.error(SECTION, Some(name), "url", "stands beside `host`", fix);
        return None;
    }
    let origin = origin(name, "url", &url, builder)?;
    let base = url.trim().trim_end_matches('/').parse::<url::Url>().ok();
    let base = base.filter(|base| !url.contains('{') && base.query().is_none() && base.fragment().is_none());
    if base.is_none() {
        let fix = "Write the address below which `studies` is, as in https://HOST/dicom-web.";
        builder.error(SECTION, Some(name), "url", "holds values, a query or a fragment", fix);
    }
    let connection = Box::new(connection(name, "url", origin, &mut raw, false, builder)?);
    Some(DicomArchive::Web { connection, base: base? })
}

fn host(name: &str, mut raw: settings::Destination, builder: &mut Builder<'_>) -> Option<DicomHost> {
    if raw.host.is_none() {
        let fix = "Add host = \"pacs.practice.test\" for C-STORE, or url = \"https://pacs.practice.test/dicom-web\" for DICOMweb.";
        builder.error(SECTION, Some(name), "host", "is missing, and so is `url`", fix);
        return None;
    }
    let host = remote::host(name, raw.host.take(), builder);
    let is_encrypted = raw.tls?;
    record::without_tls(name, host.as_deref(), is_encrypted, builder);
    let client_certificate = client_certificate(name, &mut raw, builder);
    let called = title(name, "called_ae_title", &raw.called_ae_title.take()?, builder);
    let calling = title(name, "calling_ae_title", &raw.calling_ae_title.take()?, builder);
    Some(DicomHost {
        host: host?,
        port: raw.port.unwrap_or(if is_encrypted { TLS_PORT } else { PORT }),
        is_encrypted,
        ca_file: raw.ca_file.take().map(|path| builder.path(SECTION, Some(name), "ca_file", &path)),
        client_certificate: client_certificate?,
        called: called?,
        calling: calling?,
        timeout: raw.timeout?,
    })
}

/// The title of an application entity.
fn title(name: &str, key: &str, text: &str, builder: &mut Builder<'_>) -> Option<String> {
    let text = text.trim();
    let is_title = (1..=SHORT).contains(&text.len())
        && text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic() && byte != b'\\');
    if !is_title {
        let fix = "Write the title as the archive's operator tells it.";
        let what = format!("is no application entity title: 1 to {SHORT} letters, digits and signs without accents");
        builder.error(SECTION, Some(name), key, &what, fix);
        return None;
    }
    Some(text.to_owned())
}

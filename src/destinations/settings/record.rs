//! What destinations that file into a patient's record share: the patient's identifier there, and the code of a letter.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::keys::SharedKeys;
use super::web::tls_files;
use super::{TlsFiles, template};
use crate::config::build::At;
use crate::config::mail::is_loopback_host;
use crate::config::patients;
use crate::domain::document::{DOCUMENT_TYPES, OTHER, TypeMap};
use crate::formats::template::{Template, TemplateKind};

/// `patient_id`; by default the patient's number in the practice's list, if there is a list, otherwise the cloud
/// service's identifier.
pub(crate) fn patient_id(at: &mut At<'_, '_>, given: Option<String>) -> Option<Arc<Template>> {
    let source = given.unwrap_or_else(|| match patients::is_given(at.builder.merged) {
        true => "{{ patient.number }}".to_owned(),
        false => "{{ patient.uuid }}".to_owned(),
    });
    template(at, "patient_id", TemplateKind::Field, &source)
}

/// `type_map`, which already has every type here.
pub(crate) fn type_map(at: &mut At<'_, '_>, entries: &BTreeMap<String, String>) -> Option<TypeMap> {
    for kind in entries.keys() {
        if kind != OTHER && !DOCUMENT_TYPES.contains(&kind.as_str()) {
            let what = format!("names \"{kind}\", which is no type that the API documents");
            at.warn("type_map", &what);
        }
    }
    TypeMap::new(entries.iter().map(|(kind, code)| (kind.as_str(), code.as_str())))
}

/// The files of an encrypted connection; `Some(None)` if it is not encrypted, of which this warns.
#[expect(clippy::option_option, reason = "none at all, or one that is wrong")]
pub(crate) fn tls(at: &mut At<'_, '_>, host: Option<&str>, raw: &mut SharedKeys) -> Option<Option<TlsFiles>> {
    let is_encrypted = raw.tls?;
    if !is_encrypted {
        at.warn_of_given(&["ca_file", "client_cert_file", "client_key_file"], "has no effect without `tls`");
        if !host.is_none_or(is_loopback_host) {
            let what = "goes without `tls`, so patient data is sent over the network unencrypted";
            at.warn("host", what);
        }
    }
    let files = tls_files(at, raw)?;
    Some(is_encrypted.then_some(files))
}

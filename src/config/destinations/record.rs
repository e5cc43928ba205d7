//! What destinations that file into a patient's record share: the patient's identifier there, and the code of a letter.

use std::sync::Arc;

use super::super::build::Builder;
use super::super::mail::is_loopback_host;
use super::super::patients;
use super::super::report::Origin;
use super::{SECTION, template};
use crate::document::{DOCUMENT_TYPES, OTHER, TypeMap};
use crate::template::{Template, TemplateKind};

/// `patient_id`; by default the patient's number in the practice's list, if there is a list, otherwise the cloud
/// service's identifier.
pub(super) fn patient_id(name: &str, given: Option<String>, builder: &mut Builder<'_>) -> Option<Arc<Template>> {
    let source = given.unwrap_or_else(|| match patients::is_given(builder.merged) {
        true => "{{ patient.number }}".to_owned(),
        false => "{{ patient.uuid }}".to_owned(),
    });
    template(name, "patient_id", TemplateKind::Field, &source, builder)
}

/// `type_map`, which already has every type here.
pub(super) fn type_map(name: &str, entries: &[(String, String)], builder: &mut Builder<'_>) -> Option<TypeMap> {
    for (kind, _) in entries {
        if kind != OTHER && !DOCUMENT_TYPES.contains(&kind.as_str()) {
            let what = format!("names \"{kind}\", which is no type that the API documents");
            builder.warn(SECTION, Some(name), "type_map", &what);
        }
    }
    TypeMap::new(entries.iter().map(|(kind, code)| (kind.as_str(), code.as_str())))
}

/// Warnings about an unencrypted connection.
pub(super) fn without_tls(name: &str, host: Option<&str>, is_encrypted: bool, builder: &mut Builder<'_>) {
    if is_encrypted {
        return;
    }
    for key in ["ca_file", "client_cert_file", "client_key_file"] {
        if builder.origin(SECTION, Some(name), key) != Origin::Default {
            builder.warn(SECTION, Some(name), key, "has no effect without `tls`");
        }
    }
    if !host.is_none_or(is_loopback_host) {
        let what = "goes without `tls`, so patient data is sent over the network unencrypted";
        builder.warn(SECTION, Some(name), "host", what);
    }
}

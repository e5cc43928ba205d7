//! What destinations have in common that file into a patient's record: who the patient is there, and what a letter is called.

use std::sync::Arc;

use super::super::build::Builder;
use super::super::patients;
use super::{SECTION, template};
use crate::document::{DOCUMENT_TYPES, OTHER, TypeMap};
use crate::template::{Template, TemplateKind};

/// `patient_id`; by default the practice's own number of the patient where it has a list of them, else the cloud service's.
pub(super) fn patient_id(name: &str, given: Option<String>, builder: &mut Builder<'_>) -> Option<Arc<Template>> {
    let source = given.unwrap_or_else(|| match patients::is_given(builder.merged) {
        true => "{{ patient.number }}".to_owned(),
        false => "{{ patient.uuid }}".to_owned(),
    });
    template(name, "patient_id", TemplateKind::Field, &source, builder)
}

/// `type_map`, which has every type already when it comes here.
pub(super) fn type_map(name: &str, entries: &[(String, String)], builder: &mut Builder<'_>) -> Option<TypeMap> {
    for (kind, _) in entries {
        if kind != OTHER && !DOCUMENT_TYPES.contains(&kind.as_str()) {
            let what = format!("names \"{kind}\", which is no type that the API documents");
            builder.warn(SECTION, Some(name), "type_map", &what);
        }
    }
    TypeMap::new(entries.iter().map(|(kind, code)| (kind.as_str(), code.as_str())))
}

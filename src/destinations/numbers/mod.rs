//! Whether a destination can hold a patient's number as it is, told before there is a letter of that patient. A delivery
//! decides by its own texts; here invented ones stand for them.

use std::sync::Arc;

use crate::config::{Destination, DestinationKind, FhirPatient, HttpBody, HttpConfig, SidecarConfig};
use crate::formats::template::{Context, Template};

/// Whether letters with this number can go to the destination. True if it needs no number.
pub fn holds_number(destination: &Destination, number: &str) -> bool {
    let context = Context::sample_for(number);
    let text = |template: &Template| match template.render(&context) {
        Err(error) if error.changed().is_some() => None,
        text => Some(text.unwrap_or_default()),
    };
    let all = |templates: &[&Arc<Template>]| {
        templates.iter().filter(|template| template.needs_number()).all(|template| text(template).is_some())
    };
    let sidecar = |config: &Option<SidecarConfig>| {
        config.as_ref().is_none_or(|config| {
            let is_held = |text: String| context.held(&text, |number| config.form.charset.keeps(number)).is_ok();
            all(&[&config.name]) && text(&config.content).is_some_and(is_held)
        })
    };
    match &destination.kind {
        DestinationKind::Folder(folder) => all(&[&folder.file_name]) && sidecar(&folder.sidecar),
        DestinationKind::Sftp(sftp) => all(&[&sftp.folder.file_name]) && sidecar(&sftp.folder.sidecar),
        DestinationKind::WebDav(webdav) => all(&[&webdav.folder.file_name]) && sidecar(&webdav.folder.sidecar),
        DestinationKind::S3(s3) => all(&[&s3.file_name]),
        DestinationKind::Command(command) => all(&command.args.iter().collect::<Vec<_>>()),
        DestinationKind::Http(http) => {
            let in_header = |(_, template): &(String, Arc<Template>)| {
                text(template).is_some_and(|text| context.held(&text, str::is_ascii).is_ok())
            };
            all(&of_http(http)) && http.headers.iter().all(in_header)
        }
        DestinationKind::Fhir(fhir) => {
            let search = match &fhir.patient {
                FhirPatient::Search(template) => Some(template),
                FhirPatient::Contained => None,
            };
            // The search is by this identifier.
            all(&[&fhir.patient_id, &fhir.file_name]) && search.is_none_or(|template| text(template).is_some())
        }
        #[cfg(feature = "hl7v2")]
        DestinationKind::Hl7v2(hl7) => {
            text(&hl7.patient_id).is_some_and(|id| super::hl7v2::holds(id.trim(), hl7.charset))
        }
        #[cfg(feature = "dicom")]
        DestinationKind::Dicom(dicom) => {
            all(&[&dicom.title]) && text(&dicom.patient_id).is_some_and(|id| super::dicom::holds(id.trim()))
        }
        #[cfg(feature = "smtp")]
        DestinationKind::Smtp(smtp) => {
            let is_address = || text(&smtp.to).is_some_and(|to| super::smtp::holds(&to, &context));
            all(&[&smtp.subject, &smtp.body, &smtp.attachment_name]) && (!smtp.to.needs_number() || is_address())
        }
        DestinationKind::Vdds(vdds) => {
            text(&vdds.patient_id).is_some_and(|id| crate::formats::vdds::Announcement::of(id.trim()).bytes().is_some())
        }
        #[cfg(not(all(feature = "hl7v2", feature = "dicom", feature = "smtp")))]
        _ => true,
    }
}

fn of_http(http: &HttpConfig) -> Vec<&Arc<Template>> {
    let (lookup, fields, json) = match (&http.lookup, &http.body) {
        (lookup, HttpBody::Multipart { fields, .. }) => (lookup.as_ref(), fields.as_slice(), None),
        (lookup, HttpBody::Json(template)) => (lookup.as_ref(), &[][..], Some(template)),
        (lookup, HttpBody::Raw) => (lookup.as_ref(), &[][..], None),
    };
    let wanted = lookup.map(|lookup| lookup.wanted.as_slice()).unwrap_or_default();
    let named = [http.probe_contains.as_slice(), &http.headers, wanted, fields].into_iter().flatten();
    let alone =
        [Some(&http.url), Some(&http.file_name), http.probe_url.as_ref(), lookup.map(|lookup| &lookup.url), json];
    alone.into_iter().flatten().chain(named.map(|(_, template)| template)).collect()
}

#[cfg(test)]
mod tests;

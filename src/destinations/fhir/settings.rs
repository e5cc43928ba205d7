//! `type = "fhir"`

use crate::config::build::At;
use crate::config::settings;
use crate::config::validated::FhirProfile;
use crate::config::web::{FhirConfig, FhirPatient};
use crate::destinations::settings::web::{connection, origin};
use crate::destinations::settings::{confirm, record, template};
use crate::formats::template::TemplateKind;

pub(crate) fn fhir(at: &mut At<'_, '_>, mut raw: settings::Destination) -> Option<FhirConfig> {
    let mut base = raw.base_url.take()?;
    let origin = origin(at, "base_url", base.as_str())?;
    if base.query().is_some() || base.fragment().is_some() {
        let fix = "Write the address below which resources are, as in https://HOST/fhir.";
        return at.refuse("base_url", "holds a query or a fragment", fix);
    }
    let path = base.path().trim_end_matches('/').to_owned();
    base.set_path(&path);
    let profile = raw.profile?;
    let patient = patient(at, &raw.patient.take()?, profile);
    let author = raw.author.take().map(|author| author.trim().to_owned()).filter(|author| !author.is_empty());
    if author.is_none() && profile == FhirProfile::Pdsm {
        let fix = "Write the practice's name: author = \"Cabinet dentaire …\".";
        at.error("author", "is missing, and profile = \"pdsm\" wants the author of a letter", fix);
    }
    let patient_id = record::patient_id(at, raw.patient_id.take());
    let type_map = record::type_map(at, &raw.type_map);
    let file_name = template(at, "file_name", TemplateKind::RemoteName, &raw.file_name.take()?);
    let confirm = confirm::of_query(at, &mut raw);
    let on_lost_reply = raw.on_lost_reply.unwrap_or_default();
    let connection = connection(at, "base_url", origin, &mut raw, false)?;
    let resend_after = connection.timeout;
    Some(FhirConfig {
        connection,
        base,
        profile,
        patient: patient?,
        patient_id: patient_id?,
        type_map: type_map?,
        author,
        file_name: file_name?,
        on_lost_reply,
        resend_after,
        confirm,
    })
}

fn patient(at: &mut At<'_, '_>, text: &str, profile: FhirProfile) -> Option<FhirPatient> {
    let example = "Write patient = \"Patient?identifier=SYSTEM|{{ patient_id }}\".";
    let mut wrong = |what: &str, fix: &str| at.refuse("patient", what, fix);
    if text.trim().eq_ignore_ascii_case("contained") {
        return match profile {
            // gematik, ISiK Dokumentenaustausch: neither contained resources nor logical references.
            FhirProfile::Isik => wrong("is \"contained\", which profile = \"isik\" does not allow", example),
            _ => Some(FhirPatient::Contained),
        };
    }
    if !text.trim().starts_with("Patient?") {
        return wrong("is neither a search for a patient nor \"contained\"", example);
    }
    let search = template(at, "patient", TemplateKind::Search, text.trim())?;
    // The query must use values that can be compared with the patient who is found.
    let query = search.source().split_once('?').map_or("", |(_, query)| query);
    let is_compared = |part: &str| (part.starts_with("identifier=") || part.starts_with("_id=")) && part.contains("{{");
    if !query.split('&').any(|part| is_compared(part.trim())) {
        let what = "searches by neither an identifier nor an `_id` of the letter's patient";
        return at.refuse("patient", what, example);
    }
    Some(FhirPatient::Search(search))
}

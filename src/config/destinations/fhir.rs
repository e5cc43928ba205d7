//! `type = "fhir"`

use super::super::build::Builder;
use super::super::settings;
use super::super::validated::LostReply;
use super::super::web::{FhirConfig, FhirPatient, FhirProfile};
use super::web::{connection, origin};
use super::{SECTION, confirm, lost_reply, record, template};
use crate::template::TemplateKind;

pub(super) fn fhir(name: &str, mut raw: settings::Destination, builder: &mut Builder<'_>) -> Option<FhirConfig> {
    let mut base = raw.base_url.take()?;
    let origin = origin(name, "base_url", base.as_str(), builder)?;
    if base.query().is_some() || base.fragment().is_some() {
        let fix = "Write the address below which resources are, as in https://HOST/fhir.";
        builder.error(SECTION, Some(name), "base_url", "holds a query or a fragment", fix);
        return None;
    }
    let path = base.path().trim_end_matches('/').to_owned();
    base.set_path(&path);
    let profile = match raw.profile.as_deref() {
        Some("pdsm") => FhirProfile::Pdsm,
        Some("isik") => FhirProfile::Isik,
        Some("plain") => FhirProfile::Plain,
        _ => FhirProfile::Mhd,
    };
    let patient = patient(name, &raw.patient.take()?, profile, builder);
    let author = raw.author.take().map(|author| author.trim().to_owned()).filter(|author| !author.is_empty());
    if author.is_none() && profile == FhirProfile::Pdsm {
        let fix = "Write the practice's name: author = \"Cabinet dentaire …\".";
        builder.error(
            SECTION,
            Some(name),
            "author",
            "is missing, and profile = \"pdsm\" wants the author of a letter",
            fix,
        );
    }
    let patient_id = record::patient_id(name, raw.patient_id.take(), builder);
    let type_map = record::type_map(name, &raw.type_map, builder);
    let file_name = template(name, "file_name", TemplateKind::RemoteName, &raw.file_name.take()?, builder);
    let confirm = confirm::of_query(name, &mut raw, builder);
    let on_lost_reply = lost_reply(raw.on_lost_reply.as_deref()).unwrap_or(LostReply::Resend);
    let connection = connection(name, "base_url", origin, &mut raw, false, builder)?;
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

fn patient(name: &str, text: &str, profile: FhirProfile, builder: &mut Builder<'_>) -> Option<FhirPatient> {
    let example = "Write patient = \"Patient?identifier=SYSTEM|{{ patient_id }}\".";
    let mut wrong = |what: &str, fix: &str| {
        builder.error(SECTION, Some(name), "patient", what, fix);
        None
    };
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
    let search = template(name, "patient", TemplateKind::Search, text.trim(), builder)?;
    // The query must use values that can be compared with the patient who is found.
    let query = search.source().split_once('?').map_or("", |(_, query)| query);
    let is_compared = |part: &str| (part.starts_with("identifier=") || part.starts_with("_id=")) && part.contains("{{");
    if !query.split('&').any(|part| is_compared(part.trim())) {
        let what = "searches by neither an identifier nor an `_id` of the letter's patient";
        builder.error(SECTION, Some(name), "patient", what, example);
        return None;
    }
    Some(FhirPatient::Search(search))
}

//! `type = "fhir"`

use serde::Deserialize;

use crate::destinations::settings::*;
use crate::domain::document::TypeMap;

settings! {
    /// Its own values in `[destinations.NAME]`.
    "destinations.*." FhirKeys {
        base_url: Option<Url>, Kind::Address, "address of the FHIR server, as in https://HOST/fhir", required();
        profile: Option<FhirProfile>, Kind::Enum(&["mhd", "pdsm", "isik", "plain"]),
            "whose rules the document reference follows", default("mhd");
        patient: Option<String>, Kind::Template, "search that finds the patient there; \"contained\": sent along",
            default("contained");
    }
}

/// How it is registered.
pub(crate) static KIND: DestinationKind = DestinationKind {
    word: "fhir",
    keys: &[
        &[SharedKeys::file_name],
        SIGN_IN,
        LIMITS,
        WEB,
        ASKED,
        FhirKeys::KEYS,
        &[SharedKeys::author, SharedKeys::patient_id, SharedKeys::type_map],
    ],
    check: |at| Some(Arc::new(fhir(at)?)),
    presets: presets!("fhir"),
};

/// `type = "fhir"`
#[derive(Debug, Clone)]
pub struct FhirConfig {
    /// How to reach the server.
    pub connection: WebConnection,
    /// The URL below which its resources are.
    pub base: Url,
    /// The profile that a letter follows.
    pub profile: FhirProfile,
    /// How the patient is identified to it.
    pub patient: FhirPatient,
    /// The identifier of the patient at the server.
    pub patient_id: Arc<Template>,
    /// The code of each type of document.
    pub type_map: TypeMap,
    /// The practice, as the author of its letters.
    pub author: Option<String>,
    /// The title of a letter; the last part of a path.
    pub file_name: Arc<Template>,
    /// What to do with a letter whose answer was lost, if nobody can search for it.
    pub on_lost_reply: LostReply,
    /// How long docsyncd only looks for such a letter: the server may be storing it.
    pub resend_after: Duration,
    /// What proves that the server keeps a letter.
    pub confirm: Option<Confirm>,
}

/// `patient` of a FHIR server
#[derive(Debug, Clone)]
pub enum FhirPatient {
    /// Contained in the letter.
    Contained,
    /// AtServer by this search, which must find exactly one.
    Search(Arc<Template>),
}

/// `profile` of a FHIR server
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum FhirProfile {
    /// IHE MHD 4.2, "Simplified Publish" (ITI-105).
    Mhd,
    /// The French form of that (ANS, PDSm).
    Pdsm,
    /// The German form of that for hospitals (gematik, ISiK).
    Isik,
    /// FHIR R4 alone.
    Plain,
}

of_words!(FhirProfile);

impl Settings for FhirConfig {
    fn confirm(&self) -> Option<&Confirm> {
        self.confirm.as_ref()
    }

    fn server(&self) -> Option<(String, u16)> {
        self.connection.dialled()
    }
}

fn fhir(at: &mut At<'_, '_>) -> Option<FhirConfig> {
    let (mut raw, mut own): (SharedKeys, FhirKeys) = (at.read()?, at.read()?);
    let mut base = own.base_url.take()?;
    let origin = origin(at, "base_url", base.as_str())?;
    if base.query().is_some() || base.fragment().is_some() {
        let fix = "Write the address below which resources are, as in https://HOST/fhir.";
        return at.refuse("base_url", "holds a query or a fragment", fix);
    }
    let path = base.path().trim_end_matches('/').to_owned();
    base.set_path(&path);
    let profile = own.profile?;
    let patient = patient(at, &own.patient.take()?, profile);
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

//! Destinations that file into a patient's record by codes and identifiers: valid and invalid settings.

use super::*;
use crate::domain::document::CodeSystem;

const FHIR: &str = "type = \"fhir\"\nbase_url = \"https://h.test/fhir/R4/\"";

fn of_type(lines: &str) -> String {
    LEAST.replace("type = \"folder\"\npath = \"import\"", &format!("{FHIR}\n{lines}"))
}

fn fhir(content: &str) -> FhirConfig {
    let config = loaded(content, &[]).config;
    let fhir = config.destinations["pms"].of::<FhirConfig>().unwrap();
    fhir.clone()
}

#[test]
fn a_fhir_server_has_its_defaults() {
    let least = fhir(&of_type(""));
    assert_eq!(least.base.as_str(), "https://h.test/fhir/R4");
    assert_eq!((least.profile, least.confirm.is_some(), least.author), (FhirProfile::Mhd, false, None));
    assert!(matches!(least.patient, FhirPatient::Contained));
    assert_eq!(least.patient_id.source(), "{{ patient.uuid }}");
    assert_eq!(least.resend_after, least.connection.timeout);
    // If the practice has a list, the default is the number in it.
    let list =
        "[patients]\nfile = \"p.csv\"\nnumber = \"N\"\nlast_name = \"L\"\nfirst_name = \"F\"\ndate_of_birth = \"B\"\n";
    assert_eq!(fhir(&format!("{}{list}", of_type(""))).patient_id.source(), "{{ patient.number }}");
}

#[test]
fn codes_of_types_can_be_changed_one_by_one() {
    let lines = "type_map = { referral_letter = \"57133-1\", lab_slip = \"AU050199\", other = \"1.2.3|X\" }";
    let map = fhir(&of_type(lines)).type_map;
    for (kind, system, code) in [
        (Some("referral_letter"), CodeSystem::Loinc, "57133-1"),
        (Some("lab_slip"), CodeSystem::Kdl, "AU050199"),
        (Some("prescription"), CodeSystem::Loinc, "57833-6"),
        (Some("of_tomorrow"), CodeSystem::Named("1.2.3".to_owned()), "X"),
        (None, CodeSystem::Named("1.2.3".to_owned()), "X"),
    ] {
        let found = map.code(kind);
        assert_eq!((&found.system, found.code.as_str()), (&system, code), "{kind:?}");
    }
}

#[test]
fn what_cannot_be_meant_of_a_fhir_server_is_an_error_that_says_why() {
    for (lines, words) in [
        ("profile = \"pdsm\"", "`destinations.pms.author` is missing"),
        ("profile = \"isik\"", "does not allow"),
        ("profile = \"r5\"", "is none of \"mhd\", \"pdsm\", \"isik\", \"plain\""),
        ("patient = \"Person?x={{ patient_id }}\"", "neither a search for a patient nor \"contained\""),
        ("patient = \"Patient?identifier=7\"", "searches by neither an identifier"),
        ("patient = \"Patient?family={{ patient.lastName }}\"", "searches by neither an identifier"),
        ("type_map = { lab_slip = \"letter\" }", "type_map"),
        ("confirm = \"taken\"", "is not for a server that is searched"),
        ("confirm_within = \"4d\"", "`destinations.pms.confirm_within`"),
        ("path = \"/in\"", "`destinations.pms.path`"),
    ] {
        let text = error(&of_type(lines), &[]);
        assert!(text.contains(words), "{lines}: {text}");
    }
    for base in ["http://h.test/fhir?x=1", "https://h.test/fhir#x", "h.test"] {
        let content = of_type("").replace("https://h.test/fhir/R4/", base);
        assert!(error(&content, &[]).contains("`destinations.pms.base_url`"), "{base}");
    }
    let folder = LEAST.replace("path = \"import\"", "path = \"import\"\nprofile = \"mhd\"");
    assert!(error(&folder, &[]).contains("`destinations.pms.profile`"));
}

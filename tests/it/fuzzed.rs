//! Every input that is kept for the fuzz targets, the ones that once broke something among them, held to the same
//! rules.

#[path = "../../fuzz/oracles/mod.rs"]
pub mod oracles;

use std::path::Path;

/// Runs the check on every seed of a target.
fn hold(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let mut seeds = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        check(&std::fs::read(&path).unwrap());
        seeds += 1;
    }
    assert!(seeds >= 7, "{seeds} seeds in {}", folder.display());
}

#[test]
fn redirects_heads_and_callbacks_that_were_kept_lead_nowhere() {
    hold("answer", oracles::answer::check);
}

#[test]
fn answers_of_the_api_that_were_kept_are_understood() {
    hold("api", oracles::api::check);
}

#[test]
fn templates_that_were_kept_give_what_their_place_can_take() {
    hold("template", oracles::template::check);
}

#[test]
fn lists_of_patients_that_were_kept_are_whole_or_refused_and_show_nobody() {
    hold("patients", oracles::patients::check);
}

#[test]
fn answers_of_receivers_of_hl7_that_were_kept_are_success_only_when_they_say_so() {
    hold("hl7v2", oracles::hl7v2::check);
}

#[test]
fn answers_of_dicom_archives_that_were_kept_are_success_only_when_they_say_so() {
    hold("dicom", oracles::dicom::check);
}

#[test]
fn answers_of_fhir_servers_that_were_kept_show_a_letter_only_where_it_is() {
    hold("fhir", oracles::fhir::check);
}

#[test]
fn answers_of_mail_servers_that_were_kept_are_replies_or_none() {
    hold("smtp", oracles::smtp::check);
}

#[test]
fn files_of_archives_that_were_kept_are_success_only_when_they_say_so_and_keep_what_is_others() {
    hold("vdds", oracles::vdds::check);
}

#[test]
fn configurations_that_were_kept_show_themselves() {
    let folder = tempfile::tempdir().unwrap();
    hold("config", |input| oracles::config::check(folder.path(), input));
}

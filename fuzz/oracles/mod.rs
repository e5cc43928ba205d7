//! What must hold for whatever comes from outside. The fuzz targets try to break it with inputs of their own, and
//! `tests/it/fuzzed.rs` holds it for every input that is kept in `seeds`.

pub mod answer;
pub mod api;
pub mod config;
pub mod dicom;
pub mod fhir;
pub mod hl7v2;
pub mod names;
pub mod patients;
pub mod smtp;
pub mod template;
pub mod vdds;

/// The two halves of an input: before its first NUL byte, and after it.
fn halves(input: &[u8]) -> (String, String) {
    let at = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&input[..at]), text(input.get(at + 1..).unwrap_or_default()))
}

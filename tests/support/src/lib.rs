//! What the tests of docsyncd share: a practice around the real program, documents that a test dictates, and servers to
//! deliver to.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "in a test a panic is the report, and its name says what it is"
)]

pub mod dicom;
pub mod dictated;
pub mod double;
pub mod fhir;
pub mod harness;
pub mod mllp;
pub mod open_dental;
pub mod peer;
pub mod scripted;
pub mod vdds;

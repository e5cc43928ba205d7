//! The API description, row by row, over real sockets. A record is compared with all rows of its table at once
//! (`records`); what else a row says has a test of its own. What the description says is written into the tests by
//! hand; nothing is taken from the sandbox's own tables, so that the two can disagree. "Authentication" and the errors
//! of the token endpoint are in `tests/api/oauth`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the harness is test code too: there a panic is the report"
)]

#[path = "../harness/mod.rs"]
mod harness;

mod client;
mod records;
mod samples;
mod shape;
mod walk;

mod audio;
mod audio_list;
mod collections;
mod contact;
mod contact_list;
mod document;
mod document_list;
mod document_status;
mod errors;
mod note;
mod organization;
mod patient;
mod patient_list;
mod patient_write;
mod scopes;
mod user;
mod versioning;
mod webhook;
mod workflow;

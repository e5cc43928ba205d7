//! The integration tests: the real program, as a process, against the sandbox over real sockets.
//!
//! Nothing sleeps to wait: tests wait for a request that the sandbox saw, for a process to end, or for a line of log.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "in a test a panic is the report and what is printed is a figure, also in the helpers that clippy.toml does not know as tests"
)]

mod alerts;
mod backlog;
mod backup;
mod cli;
mod deliver;
mod discovery;
mod durable;
mod engine;
mod faults;
mod fetch;
mod filled;
mod fuzzed;
mod hl7v2;
mod hostile;
mod ledger;
mod logs;
mod mail;
mod map;
mod million;
mod names;
mod pacs;
mod pages;
mod pdfs;
// Unix only: it measures.
#[cfg(unix)]
mod poison;
mod promises;
mod reconcile;
mod record;
mod replaced;
mod rerendered;
mod retry;
mod run;
mod scale;
#[cfg(unix)]
mod sftp;
mod sign_in;
mod signed_in;
mod smoke;
mod status_page;
#[cfg(unix)]
mod trust;
mod vdds;
mod web;
mod webhook;

use docsyncd_test_support::{dicom, dictated, fhir, harness, mllp, open_dental, peer, vdds as vdds_archive};

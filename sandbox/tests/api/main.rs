//! The sandbox over real sockets, as a client sees it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the harness is test code too: there a panic is the report"
)]

mod admin;
mod faults;
#[path = "../harness/mod.rs"]
mod harness;
mod letters;
mod lists;
mod oauth;
mod own_documents;
mod program;
mod quirks;
mod reads;
mod receiver;
mod statuses;
mod webhooks;
mod workflow;

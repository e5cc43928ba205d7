//! docsyncd files the documents of a dental cloud service into a practice's own systems, and reports back to the
//! service what became of each document. This file is the map.
//!
//! # How data flows
//!
//! ```text
//! API ──discover──▶ ledger ──fetch──▶ spool ──deliver──▶ destinations ──report──▶ API
//! ```
//!
//! There are four stages ([`pipeline`]). Each reads due rows from the ledger (SQLite), does one thing with each, and
//! writes one transition back. A nudge wakes the next stage and carries no data, so a restart and a normal run take the
//! same path. The pure function [`state::next`] is the only place where a document's state changes.
//!
//! # How a failure flows
//!
//! A stage fails with a [`failure::Failure`]. That is data: the call that failed, and how. The pure function
//! [`failure::decide`] takes the failure, what was tried before, and what is known of the scope (an account's downloads
//! or reports, or a destination). Its ruling says whether the scope is paused, and whether the work waits, is charged
//! an attempt, is held, waits for a person, or ends. One transaction records the ruling and its effects.
//!
//! - A permanent failure is kept from the API for [`failure::HOLD`]. If a pause begins for the same failure meanwhile,
//!   the failure is retracted.
//! - The first success ends a pause. The probes take turns, so that no document keeps a pause up.
//! - If an account cannot process a document, another account that lists it takes over ([`ledger::listed`]). If the API
//!   refuses the document to the other account as well, the failure is told. If the first account only could not go on,
//!   it soon gets the document back.
//! - If two answers of the API contradict each other about a document's PDF, the document waits for two minutes
//!   ([`pipeline::fetch`]).
//! - A server that asks for fewer requests (429) is left alone for as long as it says. Then docsyncd sends fewer
//!   requests at once ([`api`]).
//!
//! # The modules, in reading order
//!
//! | Module | What it is | May import |
//! |---|---|---|
//! | [`document`], [`state`], [`failure`], [`retry`], [`route`], [`name`], [`search`], [`template`], [`reservation`], [`proof`], [`health`], [`language`], [`sidecar`], [`vdds`], [`zip`] | pure: what a document is, its life, what a failure means, when to try again, where a document goes, its file's name, how people search for it, to which document a name belongs, what proves that it arrived, how well docsyncd is, the language of messages, files for the practice software, files for its archive, ZIP archives | each other |
//! | [`durable`] | files that are durable on disk before they count | the pure modules |
//! | [`permissions`] | folders and files that only docsyncd and administrators can read | durable |
//! | [`readers`] | users and groups of this machine, and what file modes allow them | the pure modules |
//! | [`answering`] | reads files that may be on a share that hangs | the pure modules |
//! | [`secret`] | keys and passwords, from their files | readers, answering |
//! | [`http`] | what all HTTP clients share: names, errors in docsyncd's own words, Retry-After | the pure modules, answering |
//! | [`tls`] | connections of protocols other than HTTP, and TLS for them | secret, http |
//! | [`smtp`] | the dialogue with a mail server, step by step | the pure modules, http, tls |
//! | [`logging`] | where log lines go | durable, readers |
//! | [`config`] | one TOML file and the environment, validated into types that cannot be wrong | the pure modules, readers, secret, smtp, logging |
//! | [`patients`] | the practice's own list of patients, and which of them a letter is about; it only reads | the pure modules, config, answering |
//! | [`ledger`] | everything docsyncd knows, in one SQLite file | the pure modules, durable, permissions, readers; tests: views; plans: views |
//! | [`views`] | what the ledger shows to people and programs; it only reads | the pure modules, durable, ledger |
//! | [`api`] | the client of the dental cloud API | the pure modules, durable, permissions, readers, config, secret, http |
//! | [`adapters`] | the destinations: a folder, a command, a folder on another machine, an HTTP service, a bucket, a FHIR server, a receiver of HL7 v2, a DICOM archive, a mail server, the archive of a practice software | the pure modules, durable, permissions, readers, config, secret, http, tls, smtp, patients |
//! | [`pipeline`] | the four stages, their pauses, the spool | the pure modules, durable, permissions, readers, patients, ledger; deliver: adapters; confirm: adapters; the others: api |
//! | [`alerts`] | alerts to people, each sent once: heartbeat, webhook, mail | the pure modules, config, secret, http, tls, smtp, ledger, views |
//! | [`service`] | events from the system: signals, the service controller, a changed configuration; messages to the system; and the service itself: install, start, stop | the pure modules, permissions, answering |
//! | [`web`] | the status page and /metrics, for browsers and programs on this computer | the pure modules, ledger, views, pipeline, config, patients; pdf: adapters |
//! | [`webhook`] | the API's webhooks as nudges: registers one for each account, receives and verifies its calls | the pure modules, api, ledger, pipeline, config, web |
//! | [`reconcile`] | compares what the API, the ledger and the destinations say of each letter | the pure modules, ledger, views, api, adapters, pipeline |
//! | [`daemon`] | the only wiring: build, run, drain | the pure modules, readers, answering, patients, pipeline, api, adapters, ledger, views, config, reconcile, alerts, service, web, webhook |
//! | [`login`] | sign-in in the browser: the listener that the browser returns to, and its pages | the pure modules, api, web |
//! | [`cli`], [`commands`] | the command line; one file for each command | everything above |
//!
//! `tests/it/map.rs` compares this table with the `use crate::` lines. Stages never import one another, and the edges
//! (ledger, api, adapters) never import one another.
//!
//! `faults` and `clock` stand outside the table, as any module may use them. `faults` has two macros that mark where
//! tests break things. `clock` gives time and chance, which the simulation replaces. `memory` gives memory back to the
//! system, for `daemon` and `commands`.
//!
//! # What is deliberately absent
//!
//! - No queue in memory, which would be lost with the process.
//! - No state but the ledger, and the sign-ins beside it.
//! - No overwriting and no deleting in a destination.
//! - No text of a server or program in a log line, except what a program writes into `DOCSYNCD_REASON_FILE` for that.

#[macro_use]
mod faults;

pub mod adapters;
pub mod alerts;
pub mod answering;
pub mod api;
pub mod cli;
mod clock;
pub mod commands;
pub mod config;
pub mod daemon;
pub mod document;
pub mod durable;
pub mod failure;
pub mod health;
pub mod http;
pub mod language;
pub mod ledger;
pub mod logging;
pub mod login;
mod memory;
pub mod name;
pub mod patients;
pub mod permissions;
pub mod pipeline;
pub mod proof;
pub mod readers;
pub mod reconcile;
pub mod reservation;
pub mod retry;
pub mod route;
pub mod search;
pub mod secret;
pub mod service;
pub mod sidecar;
pub mod smtp;
pub mod state;
pub mod template;
pub mod tls;
pub mod vdds;
pub mod views;
pub mod web;
pub mod webhook;
pub mod zip;

/// Lives with the tests, and is compiled into the crate to replace its [`clock`] and ledger threads.
#[cfg(test)]
#[path = "../tests/simulation/mod.rs"]
mod simulation;

//! docsyncd files the documents of a dental cloud service into a practice's own systems, and reports back what became
//! of them. This file is the map.
//!
//! # How data flows
//!
//! ```text
//! API ──discover──▶ ledger ──fetch──▶ spool ──deliver──▶ destinations ──report──▶ API
//! ```
//!
//! Four stages ([`pipeline`]). Each reads due rows from the ledger (SQLite), does one thing, and writes one transition
//! back; a nudge wakes the next stage and carries no data, so that a restart and a normal run take the same path. The
//! pure function [`state::next`] is the only place where a document's state changes.
//!
//! # How a failure flows
//!
//! A stage fails with a [`failure::Failure`]. That is data: the call that failed, and how. The pure function
//! [`failure::decide`] rules over it, over what was tried before, and over what is known of the scope (an account's
//! downloads or reports, a destination). The ruling says whether the scope is paused, and whether the work waits, is
//! charged an attempt, is held, or ends. One transaction writes it down.
//!
//! - What ended by a failure is kept from the API for [`failure::HOLD`]. A pause for the same failure takes it back.
//! - A pause ends by its first success. Its probes take turns, so that no document keeps it up.
//! - If an account cannot process a document, another account that lists it takes over ([`ledger::listed`]). If the API
//!   refused the document to that one as well, the failure is told; if the first one only could not go on, it soon gets
//!   the document back.
//! - If two answers of the API contradict each other about a document's PDF, the document waits for two minutes
//!   ([`pipeline::fetch`]).
//! - A server that asks for fewer requests (429) is left alone for as long as it says. Then fewer are under way at once
//!   ([`api`]).
//!
//! # The modules, in reading order
//!
//! | Module | What it is | May import |
//! |---|---|---|
//! | [`document`], [`state`], [`failure`], [`retry`], [`route`], [`name`], [`search`], [`template`], [`reservation`], [`proof`], [`health`], [`language`], [`sidecar`], [`vdds`] | pure: what a document is, how it lives, what a failure means, when to try again, where it goes, what its file is called, how it is searched for, whose a name is, what shows that it arrived, how docsyncd is, in which words people are told, in which practice software, in which its archive | each other |
//! | [`durable`] | files that are on the disk before they count | the pure modules |
//! | [`permissions`] | folders and files that only docsyncd and administrators can look into | durable |
//! | [`readers`] | users and groups of this machine, and what modes allow them | the pure modules |
//! | [`config`] | one TOML file and the environment, validated into types that cannot be wrong | the pure modules, readers |
//! | [`answering`] | files that may lie on a share that hangs | the pure modules |
//! | [`patients`] | the practice's own list of patients, and who in it is meant; it only reads | the pure modules, config, answering |
//! | [`secret`] | keys and passwords, from their files | config, readers, answering |
//! | [`http`] | what every HTTP client shares: names, errors in our own words, Retry-After | the pure modules, answering |
//! | [`tls`] | TLS for what does not speak HTTP | config, secret, http |
//! | [`smtp`] | mail servers as they are spoken to, step by step | config, http, tls |
//! | [`ledger`] | everything docsyncd knows, in one SQLite file | the pure modules, durable, permissions, readers; tests: views; plans: views |
//! | [`views`] | what people and programs are shown of the ledger; it only reads | the pure modules, durable, ledger |
//! | [`api`] | the client of the dental cloud API | the pure modules, durable, permissions, readers, config, secret, http |
//! | [`adapters`] | the destinations: a folder, a command, a folder on another machine, an HTTP service, a bucket, a FHIR server, a receiver of HL7 v2, a DICOM archive, a mail server, the archive of a practice software | the pure modules, durable, permissions, readers, config, secret, http, tls, smtp, patients |
//! | [`pipeline`] | the four stages, what pauses them, the spool | the pure modules, durable, permissions, readers, patients, ledger; deliver: adapters; confirm: adapters; the others: api |
//! | [`alerts`] | who is told, when, once: heartbeat, webhook, mail | the pure modules, config, secret, http, tls, smtp, ledger, views |
//! | [`service`] | the system's events in: signals, the service controller, a changed configuration; what the system is told; and the service itself: install, start, stop | the pure modules, permissions, answering |
//! | [`web`] | the status page and /metrics, for browsers and programs of this computer | the pure modules, ledger, views, pipeline, config, patients; pdf: adapters |
//! | [`webhook`] | the API's webhooks as nudges: one for each account, registered, heard, verified | the pure modules, api, ledger, pipeline, config, web |
//! | [`reconcile`] | what the API, the ledger and the destinations say of each letter, compared | the pure modules, ledger, views, api, adapters, pipeline |
//! | [`daemon`] | the only wiring: build, run, drain | the pure modules, readers, answering, patients, pipeline, api, adapters, ledger, views, config, reconcile, alerts, service, web, webhook |
//! | [`logging`] | where log lines go | durable, readers, config |
//! | [`login`] | a sign-in in the browser: the listener that it returns to, and its pages | the pure modules, config, api |
//! | [`cli`], [`commands`] | what a person types; one file for each command | everything above |
//!
//! `tests/it/map.rs` reads the `use crate::` lines and holds this table. Stages never import one another, and the
//! edges (ledger, api, adapters) never import one another.
//!
//! `faults` and `clock` stand outside the table, as any module may use them: two macros that mark where tests break
//! things, and the time and chance that the simulation takes the place of. `memory` gives memory back to the system,
//! for `daemon` and `commands`.
//!
//! # What is deliberately absent
//!
//! No queue in memory that would be lost with the process; no state but the ledger's and the sign-ins beside it; no
//! overwriting and no deleting in a destination; no text of a server or program in a log line, but one that a program
//! writes into `DOCSYNCD_REASON_FILE` for that.

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

/// Lives with the tests and is compiled into the crate, whose [`clock`] and ledger threads it takes the place of.
#[cfg(test)]
#[path = "../tests/simulation/mod.rs"]
mod simulation;

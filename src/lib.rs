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
//! # The modules, in reading order
//!
//! | Module | What it is | May import |
//! |---|---|---|
//! | [`document`], [`state`], [`retry`], [`route`], [`name`], [`template`], [`filed`] | pure: what a document is, how it lives, when to try again, where it goes, what its file is called, whose a file is | each other |
//! | [`durable`] | files that are on the disk before they count | the pure modules |
//! | [`private`] | folders and files that only docsyncd and administrators can look into | durable |
//! | [`config`] | one TOML file and the environment, validated into types that cannot be wrong | the pure modules |
//! | [`ledger`] | everything docsyncd knows, in one SQLite file | the pure modules, durable, private |
//! | [`api`] | the client of the dental cloud API | the pure modules, durable, private, config |
//! | [`adapters`] | the destinations: a folder, a command | the pure modules, durable, config |
//! | [`pipeline`] | the four stages, the gates before them, the spool | the pure modules, durable, private, ledger; deliver: adapters; the others: api |
//! | [`service`] | the system's events in: signals, the service controller, a changed configuration; what the system is told; and the service itself: install, start, stop | the pure modules, private |
//! | [`daemon`] | the only wiring: build, run, drain | the pure modules, pipeline, api, adapters, ledger, config, service |
//! | [`logging`] | where log lines go | durable, config |
//! | [`login`] | a sign-in in the browser: the listener that it returns to, and its pages | the pure modules, config, api |
//! | [`cli`], [`commands`] | what a person types; one file for each command | everything above |
//!
//! `tests/it/map.rs` reads the `use crate::` lines and holds this table. Stages never import one another, and the
//! edges (ledger, api, adapters) never import one another.
//!
//! `faults` stands outside the table: its two macros mark, in any module, where tests break things.
//!
//! # What is deliberately absent
//!
//! No queue in memory that would be lost with the process; no state but the ledger's and the sign-ins beside it; no overwriting and no deleting
//! in a destination; no text of a server or program in a log line before patient data was taken out of it.

#[macro_use]
mod faults;

pub mod adapters;
pub mod api;
pub mod cli;
pub mod commands;
pub mod config;
pub mod daemon;
pub mod document;
pub mod durable;
pub mod filed;
pub mod ledger;
pub mod logging;
pub mod login;
pub mod name;
pub mod pipeline;
pub mod private;
pub mod retry;
pub mod route;
pub mod service;
pub mod state;
pub mod template;

/// Lives with the tests and is compiled into the crate, whose clock, chance and ledger threads it takes the place of.
#[cfg(test)]
#[path = "../tests/simulation/mod.rs"]
mod simulation;

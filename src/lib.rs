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
//! same path. The pure function [`domain::state::next`] is the only place where a document's state changes.
//!
//! # How a failure flows
//!
//! A stage fails with a [`domain::failure::Failure`]. That is data: the call that failed, and how. The pure function
//! [`domain::failure::decide`] takes the failure, what was tried before, and what is known of the scope (an account's
//! downloads or reports, or a destination). Its ruling says whether the scope is paused, and whether the work waits, is
//! charged an attempt, is held, waits for a person, or ends. One transaction records the ruling and its effects.
//!
//! - A permanent failure is kept from the API for [`domain::failure::HOLD`]. If a pause begins for the same failure
//!   meanwhile, the failure is retracted.
//! - The first success ends a pause. The probes take turns, so that no document keeps a pause up.
//! - If an account cannot process a document, another account that lists it takes over ([`ledger::listed`]). If the API
//!   refuses the document to the other account as well, the failure is told. If the first account only could not go on,
//!   it soon gets the document back.
//! - If two answers of the API contradict each other about a document's PDF, the document waits for two minutes
//!   ([`pipeline::fetch`]).
//! - A server that asks for fewer requests (429) is left alone for as long as it says. Then docsyncd sends fewer
//!   requests at once ([`api`]).
//!
//! # The rooms, in reading order
//!
//! Each folder here is a room, and imports only rooms that stand above it. A room whose row names modules keeps their
//! order: each imports only those before it.
//!
//! | Room | What lives there | May import |
//! |---|---|---|
//! | [`domain`] | pure: what a letter is, and what may become of it; `document`, `state`, `failure`, `retry`, `route`, `reservation`, `proof`, `health`, `name`, `search` | nothing |
//! | [`formats`] | pure: the language of messages, ZIP archives, files for practice software; `language`, `zip`, `sidecar`, `template`, `vdds` | domain |
//! | [`system`] | this machine and its sockets; `clock`, `faults`, `durable`, `permissions`, `readers`, `answering`, `secret`, `http`, `tls`, `smtp`, `logging`, `watch`, `service` | domain, formats |
//! | [`config`] | one TOML file and the environment, validated into types that cannot be wrong; what destinations are configured with is handed down to it | domain, formats, system; tests: destinations |
//! | [`patients`] | the practice's own list of patients, and which of them a letter is about; it only reads | domain, system, config |
//! | [`ledger`] | everything docsyncd knows, in one SQLite file | domain, formats, system; tests: views; plans: views |
//! | [`views`] | what the ledger shows to people and programs; it only reads | domain, formats, system, ledger |
//! | [`api`] | the client of the dental cloud API | domain, system, config |
//! | [`destinations`] | the kinds of destinations, a folder for each, and the table of them: a folder, a command, a folder on another machine, an HTTP service, a bucket, a FHIR server, a receiver of HL7 v2, a DICOM archive, a mail server, the archive of a practice software | domain, formats, system, config, patients |
//! | [`pipeline`] | the four stages, their failures and pauses, the spool | domain, formats, system, patients, ledger; deliver: destinations; confirm: destinations; the others: api |
//! | [`surfaces`] | what people and programs meet while docsyncd runs: alerts, the status page, the API's webhooks, the sign-in; `alerts`, `web`, `webhook`, `login` | domain, formats, system, config, ledger, views; web: patients, pipeline; pdf: destinations; webhook: api, pipeline; login: api |
//! | [`daemon`] | the only wiring: build, run, drain; and the comparison of what the API, the ledger and the destinations say | everything above |
//! | [`commands`] | the command line; one file for each command | everything above |
//!
//! `tests/it/map.rs` compares this table with the imports. Stages never import one another, and the edges (ledger, api,
//! destinations) never import one another.
//!
//! Any module may use two of `system`: `faults` has two macros that mark where tests break things, and `clock` gives
//! time and chance, which the simulation replaces.
//!
//! # Glossary
//!
//! The words that the code uses in a sense of its own.
//!
//! | Word | Sense |
//! |---|---|
//! | account | one key or sign-in for the API, by its NAME in the configuration, and the documents that it lists |
//! | adopt | to take over a document whose own account is no longer configured (an orphan) |
//! | alike | of two failures: the same call failed in the same way; the words for people do not count |
//! | alert | a message to people; a cause gives one when it lasts, and one when it is over |
//! | ask | to try nothing until a person has looked |
//! | cause | why something needs a person or waits, as one word of `--json`, such as `destination_away` |
//! | charge | to count an attempt and to wait for the backoff |
//! | cursor | where the walk of an account's list stands |
//! | delivery | one version of a document and one destination |
//! | destination | where letters go, by its NAME in the configuration; its `type` says how |
//! | document | what the API lists, by its uuid; for people it is a *letter* |
//! | evidence | what is known of a scope when a failure is decided; or what a look for a proof has seen |
//! | fingerprint | the digest of a patient's name and date of birth, by which a change is seen and nobody is known |
//! | frozen | the number that this version was delivered with elsewhere; it stays for all destinations |
//! | hand-over | an account leaves a document to another one that lists it, too |
//! | held | ended, and told to nobody until [`domain::failure::HOLD`] has passed |
//! | intent | what is about to be done in a destination, recorded before it is done |
//! | key | the identifier of a delivery that stays the same in each attempt, so that a destination knows it again |
//! | lane | a queue within a stage: an account's documents, or a destination's deliveries, with one scope and one limit |
//! | light | the colour that sums up all causes: green, amber, red |
//! | look | a read that changes nothing, to learn what is true now |
//! | mark | the note in the ledger that a document is being read, after a daemon was cut off: it may be the document that ends the process |
//! | nudge | wakes a loop; it carries no data |
//! | number | the patient's number in the practice's own list |
//! | origin | the host that PDFs of an account come from |
//! | pause | a scope is left alone for a while, and its work spends no attempts |
//! | place | where a file lies in a destination, kept as the digest of its address |
//! | poll | one reading of an account's list |
//! | probe | the one piece of work that a paused scope gets, to find out whether it works again |
//! | proof | what shows that a destination has the letter: more than that it was sent |
//! | push | to tell the service the number of a patient |
//! | record | the patient or the user of a document, at the API; or the practice's record, where letters go in the end |
//! | refusal | an answer that will be the same the next time |
//! | reservation | a place that belongs to one version of a document, for ever |
//! | retract | to take back a held failure, because others failed alike |
//! | round | how often a document began anew; what belongs to an earlier round is not recorded |
//! | ruling | the consequence of a failure, as data |
//! | scope | what is paused as one: an account, its downloads, its reports, or a destination |
//! | sight | what a look for a proof saw of one letter |
//! | sweep | the number of the poll that listed a document last |
//! | spool | the folder of downloaded PDFs that some destination still needs |
//! | stage | one of the four loops of [`pipeline`] |
//! | version | a document with one PDF, by `pdf.uuid`; one that is rendered anew is another version |
//! | walk | the reading of a list page by page while documents come into it and leave it |
//!
//! # What is deliberately absent
//!
//! - No queue in memory, which would be lost with the process.
//! - No state but the ledger, and the sign-ins beside it.
//! - No overwriting and no deleting in a destination.
//! - No text of a server or program in a log line, except what a program writes into `DOCSYNCD_REASON_FILE` for that.

// Its macros are for all that follow.
#[macro_use]
pub mod system;

pub mod api;
pub mod commands;
pub mod config;
pub mod daemon;
pub mod destinations;
pub mod domain;
pub mod formats;
pub mod ledger;
pub mod patients;
pub mod pipeline;
pub mod surfaces;
pub mod views;

/// Lives with the tests, and is compiled into the crate to replace its clock and ledger threads.
#[cfg(test)]
#[path = "../tests/simulation/mod.rs"]
mod simulation;

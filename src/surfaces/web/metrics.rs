//! The numbers for Prometheus, as OpenMetrics text. Each scrape reads the ledger, which costs the same however much it
//! holds, and [`crate::pipeline::Counters`], where the stages count. Labels are names of the configuration and words of
//! ours, never of a patient or a document.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::Setup;
use crate::domain::failure::Scope;
use crate::domain::state::STATES;
use crate::ledger::{LedgerError, Millis, now};
use crate::pipeline::Context;
use crate::pipeline::counters::Label;
use crate::views::measures::{self, AccountMeasure, Measures};

/// The content type of the answer.
pub(super) const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Integers<const N: usize> = Family<[Label; N], Gauge<i64, AtomicI64>>;
type Seconds<const N: usize> = Family<[Label; N], Gauge<f64, AtomicU64>>;

/// The text with all numbers.
///
/// # Errors
/// Any error of the ledger.
pub(super) async fn text(context: &Context, setup: &Setup) -> Result<String, LedgerError> {
    let measures = context.edges.ledger.read(measures::read).await?;
    let mut registry = Registry::with_prefix("docsyncd");
    ours(&mut registry, context);
    of_documents(&mut registry, setup, &measures);
    of_places(&mut registry, setup, &measures);
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _: fmt::Result = encode(&mut text, &registry);
    Ok(text)
}

/// The process, and the counters of its stages.
fn ours(registry: &mut Registry, context: &Context) {
    let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("build", "The version that runs", build);
    let started = gauge(seconds_of(context.edges.started));
    registry.register_with_unit(
        "start_timestamp",
        "When it started, or loaded its configuration",
        Unit::Seconds,
        started,
    );
    let counters = &context.signals.counters;
    registry.register_with_unit(
        "stage_duration",
        "How long each try of a stage took, however it ended",
        Unit::Seconds,
        counters.tries.clone(),
    );
    registry.register("polls", "Polls of an account's list that ended", counters.polls.clone());
    registry.register_with_unit("downloaded", "PDFs that were downloaded", Unit::Bytes, counters.downloaded.clone());
    registry.register_with_unit("delivered", "PDFs that a destination took", Unit::Bytes, counters.delivered.clone());
    let in_flight: Gauge = Gauge::default();
    in_flight.set(i64::try_from(context.signals.in_flight.load(Ordering::Relaxed)).unwrap_or(i64::MAX));
    registry.register("in_flight", "Documents and deliveries that are worked on just now", in_flight);
    registry.register_with_unit(
        "spool_size",
        "PDFs that wait for a delivery",
        Unit::Bytes,
        integer(context.edges.spool.used()),
    );
    let log = integer(context.edges.ledger.log_bytes());
    registry.register_with_unit("ledger_log_size", "The ledger's write-ahead log", Unit::Bytes, log);
}

fn of_documents(registry: &mut Registry, setup: &Setup, measures: &Measures) {
    let documents: Integers<2> = Family::default();
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for (account, _) in &setup.accounts {
        counts.extend(STATES.iter().map(|state| ((account.as_str(), state.as_str()), 0)));
    }
    // Also accounts that are no longer configured but have documents.
    let counted = measures.counts.iter().filter(|(.., documents)| *documents > 0);
    counts.extend(counted.map(|(account, state, documents)| ((account.as_str(), state.as_str()), *documents)));
    for ((account, state), count) in counts {
        let labels = [("account", account.to_owned()), ("state", state.to_owned())];
        documents.get_or_create(&labels).set(i64::try_from(count).unwrap_or(i64::MAX));
    }
    registry.register("documents", "Documents by state", documents);
    let (needs_person, to_confirm): (Integers<1>, Integers<1>) = (Family::default(), Family::default());
    // Also accounts that are no longer configured but have documents.
    let is_configured = |known: &AccountMeasure| setup.accounts.iter().any(|(name, _)| *name == known.account);
    for known in measures.accounts.iter().filter(|known| is_configured(known) || known.oldest_at.is_some()) {
        let labels = [("account", known.account.clone())];
        let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        needs_person.get_or_create(&labels).set(count(known.needs_person));
        to_confirm.get_or_create(&labels).set(count(known.to_confirm));
    }
    registry.register("needs_person", "Documents whose patient a person has to assign", needs_person);
    registry.register("to_confirm", "Documents that are filed but not yet taken", to_confirm);
    let size = integer(measures.ledger_bytes);
    registry.register_with_unit("ledger_size", "The ledger's file", Unit::Bytes, size);
}

fn of_places(registry: &mut Registry, setup: &Setup, measures: &Measures) {
    let (oldest, polled): (Seconds<1>, Seconds<1>) = (Family::default(), Family::default());
    let at = now();
    for (account, _) in &setup.accounts {
        let labels = [("account", account.clone())];
        let known = measures.accounts.iter().find(|known| known.account == *account);
        let waits = known.and_then(|known| known.oldest_at).map_or(0, |found| at.saturating_sub(found).max(0));
        oldest.get_or_create(&labels).set(seconds_of(waits));
        // 0 for never, so that an alert that compares it with the time does not wait for a first success.
        let polled_at = known.and_then(|known| known.polled_at).unwrap_or(0);
        polled.get_or_create(&labels).set(seconds_of(polled_at));
    }
    registry.register_with_unit(
        "oldest_waiting",
        "How long the oldest waiting document has waited; 0 if none waits",
        Unit::Seconds,
        oldest,
    );
    registry.register_with_unit(
        "last_good_poll_timestamp",
        "When an account's list was last read without an error; 0: never",
        Unit::Seconds,
        polled,
    );
    let (paused, since): (Integers<2>, Seconds<2>) = (Family::default(), Family::default());
    let of_account =
        |name: &String| [Scope::Account(name.clone()), Scope::Fetch(name.clone()), Scope::Report(name.clone())];
    let accounts = setup.accounts.iter().flat_map(|(name, _)| of_account(name));
    for scope in accounts.chain(setup.destinations.iter().map(|(name, _)| Scope::Destination(name.clone()))) {
        let scope = scope.to_string();
        let (kind, name) = scope.split_once(':').unwrap_or((&scope, ""));
        let labels = [("scope", kind.to_owned()), ("name", name.to_owned())];
        let pause = measures.pauses.iter().find(|pause| pause.scope == scope);
        paused.get_or_create(&labels).set(i64::from(pause.is_some()));
        if let Some(pause) = pause {
            since.get_or_create(&labels).set(seconds_of(at.saturating_sub(pause.since).max(0)));
        }
    }
    registry.register("paused", "1: only probes are tried there", paused);
    registry.register_with_unit("pause_age", "How long it has been paused", Unit::Seconds, since);
}

#[expect(clippy::cast_precision_loss, reason = "a moment of this century in milliseconds has 41 bits, a double 53")]
fn seconds_of(millis: Millis) -> f64 {
    millis as f64 / 1000.0
}

fn gauge(value: f64) -> Gauge<f64, AtomicU64> {
    let gauge = Gauge::default();
    gauge.set(value);
    gauge
}

fn integer(value: u64) -> Gauge<i64, AtomicI64> {
    let gauge = Gauge::default();
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
    gauge
}

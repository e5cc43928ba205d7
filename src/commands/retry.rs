//! `docsyncd retry`: writes into the ledger; a running daemon notices within two seconds.

use std::ops::ControlFlow;

use super::output::{agreed, can_ask, complain, docsyncd, ledger_to_read, local, print, say};
use super::{Exit, Outcome, named, record, runtime, told};
use crate::config::Loaded;
use crate::domain::state::{STATES, State};
use crate::formats::language::{Language, Value};
use crate::ledger::history::Action;
use crate::ledger::retry::{self, Retried};
use crate::ledger::{Ledger, deliveries, documents, is_locked, now, process};
use crate::views::{self, PauseView};

/// Failed documents that are shown to a person who named none.
const SHOWN: usize = 5;

/// `yes`: nobody is asked about what is done already.
pub(super) fn retry(loaded: &Loaded, uuids: &[String], all_failed: bool, yes: bool, language: Language) -> Outcome {
    let ledger = Ledger::open_beside(&loaded.config.state.path)?;
    let runtime = runtime()?;
    if !yes && !is_meant(&runtime, &ledger, uuids, language)? {
        print(&format!("{}\n", language.text("retry-nothing")))?;
        return Ok(Exit::Failed);
    }
    let failed = if all_failed {
        // Written first, so that no document moves of which the history does not say who moved it.
        runtime.block_on(ledger.write(|db| {
            let any = !retry::failed(db, 0, 1)?.is_empty();
            if any { record::record(db, Action::Retry, "all that failed") } else { Ok(()) }
        }))?;
        runtime.block_on(ledger.retry_failed())?
    } else {
        0
    };
    let wanted = uuids.to_vec();
    let (retried, named) = runtime.block_on(ledger.write(move |db| {
        let named = named::find_for_sure(db, &wanted)?;
        let mut retried = Vec::new();
        for (text, ids) in &named.found {
            for id in ids {
                retried.extend(retry::named(db, *id, now())?.map(|result| (text.clone(), result)));
            }
        }
        if !retried.is_empty() {
            let uuids: Vec<&str> = retried.iter().map(|(uuid, _)| uuid.as_str()).collect();
            record::record(db, Action::Retry, &record::documents(&uuids))?;
        }
        if all_failed || !retried.is_empty() {
            process::request_probes(db)?;
        }
        Ok((retried, named))
    }))?;
    let named = named.unambiguous(language)?;
    let mut text = String::new();
    for (uuid, result) in &retried {
        let (key, state) = match result {
            Retried::Moved(state) => ("retry-moved", state),
            Retried::DueNow(state) => ("retry-due", state),
        };
        let state = language.state(state.as_str());
        let values = [("uuid", uuid.into()), ("state", Value::from(&state))];
        text.push_str(&format!("{}\n", language.fill(key, &values)));
    }
    let when = when(loaded, language);
    // Of names that nobody knows there is nothing to say but that.
    if all_failed && failed == 0 {
        print(&format!("{}\n", language.text("retry-none-failed")))?;
    } else if all_failed || !retried.is_empty() {
        let count = ("count", u64::try_from(failed + retried.len()).unwrap_or(u64::MAX).into());
        text.push_str(&format!("{}\n", language.fill("retry-done", &[count, ("when", (&when).into())])));
        say(&text)?;
    }
    named.complain_of_unknown(language);
    Ok(if named.unknown.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Whether a person who names letters that are reported already means them.
///
/// # Errors
/// Nobody can be asked: a script says `--yes`.
fn is_meant(
    runtime: &tokio::runtime::Runtime,
    ledger: &Ledger,
    uuids: &[String],
    language: Language,
) -> anyhow::Result<bool> {
    let wanted = uuids.to_vec();
    let (done, named) = runtime.block_on(ledger.read(move |db| {
        let (named, mut done) = (named::find_for_sure(db, &wanted)?, Vec::new());
        for (uuid, ids) in &named.found {
            let states = ids.iter().map(|id| documents::state(db, *id)).collect::<Result<Vec<_>, _>>()?;
            done.extend(states.contains(&Some(State::Reported)).then(|| uuid.clone()));
        }
        Ok((done, named))
    }))?;
    named.unambiguous(language)?;
    let Some(uuid) = done.first() else { return Ok(true) };
    let values = [("count", u64::try_from(done.len()).unwrap_or(u64::MAX).into()), ("uuid", uuid.into())];
    if !can_ask() {
        return Err(told::usage(language, "retry-nobody-asked", &values));
    }
    agreed(&language.fill("retry-question", &values), language)
}

/// When it is taken up.
pub(super) fn when(loaded: &Loaded, language: Language) -> String {
    if is_locked(&loaded.config.state.path) {
        language.text("retry-at-once")
    } else {
        language.fill("retry-not-running", &[("command", (&docsyncd("run")).into())])
    }
}

/// What may have arrived of these documents has, as a person saw.
pub(super) fn arrived(loaded: &Loaded, uuids: &[String], language: Language) -> Outcome {
    let ledger = Ledger::open_beside(&loaded.config.state.path)?;
    let wanted = uuids.to_vec();
    let (said, named) = runtime()?.block_on(ledger.write(move |db| {
        let named = named::find_for_sure(db, &wanted)?;
        let mut said = Vec::new();
        for (uuid, ids) in &named.found {
            let (mut arrived, mut removed) = (0, 0);
            for id in ids {
                arrived += deliveries::arrived(db, *id, now())?;
                removed += deliveries::removed(db, *id)?;
            }
            if arrived + removed > 0 {
                record::record(db, Action::Arrived, &record::documents(&[uuid]))?;
            }
            said.push((uuid.clone(), arrived > 0, removed > 0));
        }
        Ok((said, named))
    }))?;
    let named = named.unambiguous(language)?;
    for (uuid, arrived, removed) in &said {
        if *removed {
            print(&format!("{}\n", language.fill("retry-removed", &[("uuid", uuid.into())])))?;
        }
        if *arrived {
            let when = when(loaded, language);
            let values = [("uuid", uuid.into()), ("when", Value::from(&when))];
            say(&format!("{}\n", language.fill("retry-arrived", &values)))?;
        }
        if *arrived || *removed {
            continue;
        }
        let show = docsyncd(&format!("show {uuid}"));
        let values = [("uuid", uuid.into()), ("command", Value::from(&show))];
        complain(&format!("docsyncd: {}", language.fill("retry-not-arrived", &values)));
    }
    named.complain_of_unknown(language);
    let is_done = named.unknown.is_empty() && said.iter().all(|(_, arrived, removed)| *arrived || *removed);
    Ok(if is_done { Exit::Done } else { Exit::Failed })
}

/// Without arguments: what it could do.
pub(super) fn choices(loaded: &Loaded, language: Language) -> Outcome {
    let (command, failed_too) = (docsyncd("retry UUID..."), docsyncd("retry --failed"));
    let which = |text: &str, count: u64| {
        let values = [("command", Value::from(&command)), ("all", (&failed_too).into()), ("count", count.into())];
        complain(&format!("docsyncd: {}", language.fill(text, &values)));
    };
    let Some(ledger) = ledger_to_read(loaded)? else {
        which("retry-which", 0);
        return Ok(Exit::Usage);
    };
    let (summary, first, beside) = runtime()?.block_on(ledger.read(|db| {
        let summary = views::summary(db)?;
        let any_failed = summary.failed > 0;
        let wanted = |state: &State| if any_failed { !state.is_open() && state.is_failure() } else { state.is_open() };
        let mut first = Vec::new();
        for state in STATES.into_iter().filter(wanted) {
            views::list(db, Some(state), |document| {
                first.push(document);
                if first.len() < SHOWN { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
        }
        first.truncate(SHOWN);
        Ok((summary, first, deliveries::beside(db, SHOWN)?))
    }))?;
    let number = |count: u64| usize::try_from(count).unwrap_or(0);
    let (failed, waiting) = (number(summary.failed), number(summary.waiting));
    match (summary.failed, summary.waiting) {
        (0, waiting) => which("retry-which-waiting", waiting),
        (failed, _) => which("retry-which-failed", failed),
    }
    for document in &first {
        let reason = match (language, document.reasons.first()) {
            (Language::English, _) | (_, None) => document.reason.clone().unwrap_or_else(|| "-".to_owned()),
            (_, Some(why)) => language.reason(why),
        };
        complain(&format!("  {}  {reason}", document.uuid));
    }
    if (if failed > 0 { failed } else { waiting }) > first.len() {
        let list = if failed > 0 { "list --state failed" } else { "list" };
        let list = docsyncd(list);
        complain(&format!("  ... {}", language.fill("retry-all-of-them", &[("command", (&list).into())])));
    }
    if !beside.is_empty() {
        let arrived = docsyncd("retry --arrived UUID");
        complain(&language.fill("retry-beside", &[("command", (&arrived).into())]));
        beside.iter().for_each(|uuid| complain(&format!("  {uuid}")));
    }
    if failed == 0 && waiting > 0 {
        what_can_be_tried(loaded, &summary.pauses, language);
    }
    Ok(Exit::Usage)
}

fn what_can_be_tried(loaded: &Loaded, pauses: &[PauseView], language: Language) {
    for PauseView { scope, reason, next_probe, .. } in pauses {
        let next = local(*next_probe);
        let why = if language == Language::English { reason.text.clone() } else { language.reason(reason) };
        let why = why.trim_end_matches('.');
        let scope = language.scope(scope);
        let values = [("scope", Value::from(&scope)), ("why", why.into()), ("next", Value::from(&next))];
        complain(&language.fill("retry-paused", &values));
    }
    let text = match () {
        () if pauses.is_empty() => "retry-by-themselves",
        () if is_locked(&loaded.config.state.path) => "retry-check",
        () => "retry-check-or-sync",
    };
    complain(&language.text(text));
}

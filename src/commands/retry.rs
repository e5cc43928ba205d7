//! `docsyncd retry`: writes into the ledger; a running daemon notices within two seconds.

use std::ops::ControlFlow;

use super::output::{agreed, can_ask, complain, docsyncd, ledger_to_read, local, print, say};
use super::{Exit, Outcome, named, record, runtime};
use crate::config::Loaded;
use crate::language::Language;
use crate::ledger::history::Action;
use crate::ledger::retry::{self, Retried};
use crate::ledger::{Ledger, deliveries, documents, is_locked, now, process};
use crate::state::{STATES, State};
use crate::views::{self, PauseView};

/// Failed documents that are shown to a person who named none.
const SHOWN: usize = 5;

/// `yes`: nobody is asked about what is done already.
pub(super) fn retry(loaded: &Loaded, uuids: &[String], all_failed: bool, yes: bool) -> Outcome {
    let ledger = Ledger::open_beside(&loaded.config.state.path)?;
    let runtime = runtime()?;
    if !yes && can_ask() && !is_meant(&runtime, &ledger, uuids)? {
        print("nothing is tried again\n")?;
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
    let named = named.unambiguous()?;
    let mut text = String::new();
    for (uuid, result) in &retried {
        let what = match result {
            Retried::Moved(state) => format!("tried again, now {state}"),
            Retried::DueNow(state) => format!("was waiting ({state}), due now"),
        };
        text.push_str(&format!("{uuid}: {what}\n"));
    }
    let when = when(loaded);
    // Of names that nobody knows there is nothing to say but that.
    if all_failed && failed == 0 {
        print("no document has failed: there is nothing to try again\n")?;
    } else if all_failed || !retried.is_empty() {
        text.push_str(&format!("{} to try again; {when}\n", count(failed + retried.len())));
        say(&text)?;
    }
    named.complain_of_unknown(Language::English);
    Ok(if named.unknown.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Whether a person who names letters that are reported already means them.
fn is_meant(runtime: &tokio::runtime::Runtime, ledger: &Ledger, uuids: &[String]) -> anyhow::Result<bool> {
    let wanted = uuids.to_vec();
    let done = runtime.block_on(ledger.read(move |db| {
        let mut done = Vec::new();
        for (uuid, ids) in named::find_for_sure(db, &wanted)?.found {
            let states = ids.iter().map(|id| documents::state(db, *id)).collect::<Result<Vec<_>, _>>()?;
            done.extend(states.contains(&Some(State::Reported)).then_some(uuid));
        }
        Ok(done)
    }))?;
    let which = match done.as_slice() {
        [] => return Ok(true),
        [uuid] => format!("Document {uuid} is filed and reported already. Fetch, file and report it"),
        several => format!("{} are filed and reported already. Fetch, file and report them", count(several.len())),
    };
    agreed(&format!("{which} again? A file that is there with the same content stays as it is."))
}

/// When it is taken up.
pub(super) fn when(loaded: &Loaded) -> String {
    if is_locked(&loaded.config.state.path) {
        "the running daemon takes it up at once".to_owned()
    } else {
        format!("docsyncd is not running: it is taken up by the next {} or sync", docsyncd("run"))
    }
}

/// What may have arrived of these documents has, as a person saw.
pub(super) fn arrived(loaded: &Loaded, uuids: &[String]) -> Outcome {
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
    let named = named.unambiguous()?;
    for (uuid, arrived, removed) in &said {
        if *removed {
            print(&format!("{uuid}: the version before is there no more\n"))?;
        }
        if *arrived {
            say(&format!("{uuid}: it arrived, and counts as delivered; {}\n", when(loaded)))?;
        }
        if *arrived || *removed {
            continue;
        }
        complain(&format!(
            "docsyncd: of document {uuid} nothing waits for somebody to say that it arrived: {} shows where it stands",
            docsyncd(&format!("show {uuid}"))
        ));
    }
    named.complain_of_unknown(Language::English);
    let is_done = named.unknown.is_empty() && said.iter().all(|(_, arrived, removed)| *arrived || *removed);
    Ok(if is_done { Exit::Done } else { Exit::Failed })
}

fn count(documents: usize) -> String {
    if documents == 1 { "1 document".to_owned() } else { format!("{documents} documents") }
}

/// Without arguments: what it could do.
pub(super) fn choices(loaded: &Loaded) -> Outcome {
    let which = format!("docsyncd: which documents? Name them ({})", docsyncd("retry UUID..."));
    let Some(ledger) = ledger_to_read(loaded)? else {
        complain(&format!("{which}, or all that failed ({})", docsyncd("retry --failed")));
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
    match (failed, waiting) {
        (0, 0) => complain(&format!("{which}; none has failed, and none waits")),
        (0, 1) => complain(&format!("{which}; none has failed, 1 document waits:")),
        (0, _) => complain(&format!("{which}; none has failed, {waiting} documents wait:")),
        _ => complain(&format!(
            "{which}, or all that failed ({})\n{} failed:",
            docsyncd("retry --failed"),
            count(failed)
        )),
    }
    for document in &first {
        complain(&format!("  {}  {}", document.uuid, document.reason.as_deref().unwrap_or("-")));
    }
    if (if failed > 0 { failed } else { waiting }) > first.len() {
        let list = if failed > 0 { "list --state failed" } else { "list" };
        complain(&format!("  ... {} shows all of them", docsyncd(list)));
    }
    if !beside.is_empty() {
        let arrived = docsyncd("retry --arrived UUID");
        complain(&format!("Filed beside the version before; once that is removed there, say so ({arrived}):"));
        beside.iter().for_each(|uuid| complain(&format!("  {uuid}")));
    }
    if failed == 0 && waiting > 0 {
        what_can_be_tried(loaded, &summary.pauses);
    }
    Ok(Exit::Usage)
}

fn what_can_be_tried(loaded: &Loaded, pauses: &[PauseView]) {
    for PauseView { scope, reason, next_probe, .. } in pauses {
        let next = local(*next_probe);
        complain(&format!("{scope} is paused: {}. It is tried again by itself, next at {next}", reason.text));
    }
    if pauses.is_empty() {
        complain("They are tried again by themselves; one that is named is due at once");
    } else if is_locked(&loaded.config.state.path) {
        complain("Run docsyncd check to see whether it works again");
    } else {
        complain("Run docsyncd check to see whether it works again; docsyncd sync tries what is paused at once");
    }
}

//! `docsyncd retry`: writes into the ledger; a running daemon notices within two seconds.

use super::output::{complain, docsyncd, ledger_to_read, print};
use super::{Exit, Outcome, named, record, runtime};
use crate::config::Loaded;
use crate::ledger::history::Action;
use crate::ledger::retry::{self, Retried};
use crate::ledger::view;
use crate::ledger::{Ledger, is_locked, now};
use crate::state::State;

/// Failed documents that are shown to a person who named none.
const SHOWN: usize = 5;

pub(super) fn retry(loaded: &Loaded, uuids: &[String], all_failed: bool) -> Outcome {
    let ledger = Ledger::open_beside(&loaded.config.state.path)?;
    let runtime = runtime()?;
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
        let named = match named::find_for_sure(db, &wanted)?.unambiguous() {
            Ok(named) => named,
            Err(ambiguous) => return Ok((Vec::new(), Err(ambiguous))),
        };
        let mut retried = Vec::new();
        for (text, ids) in &named.found {
            for id in ids {
                retried.extend(retry::retry(db, *id, now())?.map(|result| (text.clone(), result)));
            }
        }
        if !retried.is_empty() {
            let uuids: Vec<&str> = retried.iter().map(|(uuid, _)| uuid.as_str()).collect();
            record::record(db, Action::Retry, &record::documents(&uuids))?;
        }
        Ok((retried, Ok(named)))
    }))?;
    let named = named?;
    let mut text = String::new();
    for (uuid, result) in &retried {
        let what = match result {
            Retried::Moved(state) => format!("tried again, now {state}"),
            Retried::DueNow(state) => format!("was waiting ({state}), due now"),
        };
        text.push_str(&format!("{uuid}: {what}\n"));
    }
    let when = if is_locked(&loaded.config.state.path) {
        "the running daemon takes it up at once".to_owned()
    } else {
        format!("docsyncd is not running: it is taken up by the next {} or sync", docsyncd("run"))
    };
    text.push_str(&format!("{} to try again; {when}\n", count(failed + retried.len())));
    print(&text)?;
    named.complain_of_unknown();
    Ok(if named.unknown.is_empty() { Exit::Done } else { Exit::Failed })
}

fn count(documents: usize) -> String {
    if documents == 1 { "1 document".to_owned() } else { format!("{documents} documents") }
}

/// Without arguments: what it could do.
pub(super) fn choices(loaded: &Loaded) -> Outcome {
    complain(&format!(
        "docsyncd: which documents? Name them ({}), or all that failed ({})",
        docsyncd("retry UUID..."),
        docsyncd("retry --failed")
    ));
    let Some(ledger) = ledger_to_read(loaded)? else { return Ok(Exit::Usage) };
    let (failed, first) = runtime()?.block_on(ledger.read(|db| {
        let mut first = Vec::new();
        for state in [State::Failed, State::Unreported] {
            view::list(db, Some(state), |document| {
                first.push(document);
                if first.len() < SHOWN { std::ops::ControlFlow::Continue(()) } else { std::ops::ControlFlow::Break(()) }
            })?;
        }
        first.truncate(SHOWN);
        Ok((view::summary(db)?.failed, first))
    }))?;
    let failed = usize::try_from(failed).unwrap_or(0);
    complain(&format!("{} failed{}", count(failed), if failed == 0 { "" } else { ":" }));
    for document in &first {
        complain(&format!("  {}  {}", document.uuid, document.reason.as_deref().unwrap_or("-")));
    }
    if failed > first.len() {
        complain(&format!("  ... {} shows all of them", docsyncd("list --state failed")));
    }
    Ok(Exit::Usage)
}

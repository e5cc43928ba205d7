//! `docsyncd retry`: writes into the ledger; a running daemon notices within two seconds.

use super::output::{complain, print};
use super::{Exit, Outcome, runtime};
use crate::config::Loaded;
use crate::ledger::documents::{self, Retried};
use crate::ledger::{Ledger, is_locked, now};

/// Failed documents that are taken up in one transaction.
const RETRIED_AT_ONCE: usize = 500;

pub(super) fn retry(loaded: &Loaded, uuids: &[String], all_failed: bool) -> Outcome {
    let ledger = Ledger::open_beside(&loaded.config.state.path)?;
    let runtime = runtime()?;
    let mut failed = 0;
    // In batches: a running daemon writes into the same ledger.
    let mut after = all_failed.then_some(0);
    while let Some(above) = after {
        let batch = ledger.write(move |db| {
            let ids = documents::failed(db, above, RETRIED_AT_ONCE)?;
            let mut retried = 0;
            for id in &ids {
                retried += usize::from(documents::retry(db, *id, now())?.is_some());
            }
            Ok((retried, ids.last().copied()))
        });
        let (retried, last) = runtime.block_on(batch)?;
        failed += retried;
        after = last;
    }
    let wanted = uuids.to_vec();
    let (retried, unknown) = runtime.block_on(ledger.write(move |db| {
        let (mut retried, mut unknown) = (Vec::new(), Vec::new());
        for uuid in wanted {
            let ids = documents::find(db, &uuid)?;
            if ids.is_empty() {
                unknown.push(uuid.clone());
            }
            for id in ids {
                retried.extend(documents::retry(db, id, now())?.map(|result| (uuid.clone(), result)));
            }
        }
        Ok((retried, unknown))
    }))?;
    let mut text = String::new();
    for (uuid, result) in &retried {
        let what = match result {
            Retried::Moved(state) => format!("tried again, now {state}"),
            Retried::DueNow(state) => format!("was waiting ({state}), due now"),
        };
        text.push_str(&format!("{uuid}: {what}\n"));
    }
    let when = if is_locked(&loaded.config.state.path) {
        "the running daemon takes it up at once"
    } else {
        "docsyncd is not running: it is taken up by the next docsyncd run or sync"
    };
    text.push_str(&format!("{} to try again; {when}\n", count(failed + retried.len())));
    print(&text)?;
    for uuid in &unknown {
        complain(&format!("docsyncd: no document {uuid} is known; docsyncd list shows those that are"));
    }
    Ok(if unknown.is_empty() { Exit::Done } else { Exit::Failed })
}

fn count(documents: usize) -> String {
    if documents == 1 { "1 document".to_owned() } else { format!("{documents} documents") }
}

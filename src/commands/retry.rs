//! `docsyncd retry`: writes into the ledger; a running daemon notices within two seconds.

use std::ops::ControlFlow;

use super::output::{agreed, can_ask, complain, docsyncd, ledger_to_read, local, print, say};
use super::{Exit, Outcome, named, record, runtime, told};
use crate::commands::cli::RetryArgs;
use crate::config::Loaded;
use crate::domain::state::{STATES, State};
use crate::formats::language::{Language, Value};
use crate::ledger::history::{Action, signed};
use crate::ledger::retry::{self, Retried};
use crate::ledger::{Ledger, deliveries, documents, is_locked, now, process};
use crate::system::readers::person;
use crate::views::{self, PauseView};

/// The most failed documents that a person sees who named none.
const SHOWN: usize = 5;

pub(super) fn retry(loaded: &Loaded, args: &RetryArgs, language: Language) -> Outcome {
    match args {
        RetryArgs { failed: false, uuids, .. } if uuids.is_empty() => choices(loaded, language),
        RetryArgs { uuids, arrived, removed, .. } if *arrived || *removed => seen(loaded, uuids, *removed, language),
        RetryArgs { uuids, failed, yes, .. } => again(loaded, uuids, *failed, *yes, language),
    }
}

/// `yes`: do not ask about documents that are reported already.
fn again(loaded: &Loaded, uuids: &[String], all_failed: bool, yes: bool, language: Language) -> Outcome {
    let ledger = Ledger::open_beside(&loaded.config.state.path)?;
    let runtime = runtime()?;
    if !yes && !is_meant(&runtime, &ledger, uuids, language)? {
        print(&format!("{}\n", language.text("retry-nothing")))?;
        return Ok(Exit::Failed);
    }
    let failed = if all_failed {
        // Written first, so that the history always says who moved a document.
        runtime.block_on(ledger.write(|db| {
            let any = !retry::failed(db, 0, 1)?.is_empty();
            if any { record::record(db, Action::Retry, "all that failed") } else { Ok(()) }
        }))?;
        runtime.block_on(ledger.retry_failed(person().as_deref()))?
    } else {
        0
    };
    let (wanted, who) = (uuids.to_vec(), person());
    let (retried, named) = runtime.block_on(ledger.write(move |db| {
        let named = named::find_for_sure(db, &wanted)?;
        let mut retried = Vec::new();
        for (text, ids) in &named.found {
            for id in ids {
                if let Some(result) = signed(who.as_deref(), || retry::named(db, *id, now()))? {
                    retried.push((text.clone(), result, views::one(db, *id)?.stands()));
                }
            }
        }
        if !retried.is_empty() {
            let uuids: Vec<&str> = retried.iter().map(|(uuid, ..)| uuid.as_str()).collect();
            record::record(db, Action::Retry, &record::documents(&uuids))?;
        }
        if all_failed || !retried.is_empty() {
            process::request_probes(db)?;
        }
        Ok((retried, named))
    }))?;
    let named = named.unambiguous(language)?;
    let (mut text, tried) = each(&retried, language);
    let count = failed + tried;
    let when = when(loaded, language);
    // If no name is known, there is nothing else to say.
    if all_failed && failed == 0 {
        print(&format!("{}\n", language.text("retry-none-failed")))?;
    } else if all_failed || !retried.is_empty() {
        if count > 0 {
            let count = ("count", u64::try_from(count).unwrap_or(u64::MAX).into());
            text.push_str(&format!("{}\n", language.fill("retry-done", &[count, ("when", (&when).into())])));
        }
        say(&text)?;
    }
    named.complain_of_unknown(language);
    Ok(if named.unknown.is_empty() { Exit::Done } else { Exit::Failed })
}

/// A line for each document, and how many are tried: with what is there already nothing is done but to look.
fn each(retried: &[(String, Retried, &'static str)], language: Language) -> (String, usize) {
    let (mut text, mut tried) = (String::new(), 0);
    for (uuid, result, stands) in retried {
        let key = match result {
            Retried::Moved(_) => "retry-moved",
            Retried::DueNow(_) if *stands == "filed" => "retry-filed",
            Retried::DueNow(_) => "retry-due",
        };
        tried += usize::from(key != "retry-filed");
        let state = language.state(stands);
        let values = [("uuid", uuid.into()), ("state", Value::from(&state))];
        text.push_str(&format!("{}\n", language.fill(key, &values)));
    }
    (text, tried)
}

/// Asks whether a person means letters that are reported already.
///
/// # Errors
/// Nobody can be asked: a script has to write `--yes`.
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

/// When the daemon will do it.
pub(super) fn when(loaded: &Loaded, language: Language) -> String {
    if is_locked(&loaded.config.state.path) {
        language.text("retry-at-once")
    } else {
        language.fill("retry-not-running", &[("command", (&docsyncd("run")).into())])
    }
}

/// What a person saw of a document at its destinations.
enum Seen {
    /// What may have arrived has.
    Arrived,
    /// The old copies are there no more.
    Removed,
    /// Either may be meant: the document waits for a word, and an old copy of it as well.
    Unclear,
    /// Nothing waits for a word.
    Nothing,
}

/// A person saw that what may have arrived of these documents has, or that no old copy is there any more. While both
/// wait for a word, only `--removed` is clear.
fn seen(loaded: &Loaded, uuids: &[String], only_removed: bool, language: Language) -> Outcome {
    let ledger = Ledger::open_beside(&loaded.config.state.path)?;
    let (wanted, who) = (uuids.to_vec(), person());
    let (said, named) = runtime()?.block_on(ledger.write(move |db| {
        let named = named::find_for_sure(db, &wanted)?;
        let mut said = Vec::new();
        for (uuid, ids) in &named.found {
            let mut result = Seen::Nothing;
            for id in ids {
                let (waits, has_old) = (deliveries::waits_for_word(db, *id)?, deliveries::has_old(db, *id)?);
                let arrived = || signed(who.as_deref(), || deliveries::arrived(db, *id, now()));
                result = match (waits, has_old) {
                    (true, true) if !only_removed => Seen::Unclear,
                    (_, true) if deliveries::removed(db, *id)? > 0 => Seen::Removed,
                    (true, _) if !only_removed && arrived()? > 0 => Seen::Arrived,
                    _ => result,
                };
            }
            if matches!(result, Seen::Arrived | Seen::Removed) {
                record::record(db, Action::Arrived, &record::documents(&[uuid]))?;
            }
            said.push((uuid.clone(), result));
        }
        Ok((said, named))
    }))?;
    let named = named.unambiguous(language)?;
    for (uuid, result) in &said {
        let complain_with = |key: &str, command: &str| {
            let values = [("uuid", uuid.into()), ("command", Value::from(command))];
            complain(&format!("docsyncd: {}", language.fill(key, &values)));
        };
        match result {
            Seen::Removed => drop(print(&format!("{}\n", language.fill("retry-removed", &[("uuid", uuid.into())])))?),
            Seen::Arrived => {
                let when = when(loaded, language);
                let values = [("uuid", uuid.into()), ("when", Value::from(&when))];
                say(&format!("{}\n", language.fill("retry-arrived", &values)))?;
            }
            Seen::Unclear => complain_with("retry-unclear", &docsyncd(&format!("retry --removed {uuid}"))),
            Seen::Nothing => complain_with("retry-not-arrived", &docsyncd(&format!("show {uuid}"))),
        }
    }
    named.complain_of_unknown(language);
    let is_clear = |result: &Seen| matches!(result, Seen::Arrived | Seen::Removed);
    let is_done = named.unknown.is_empty() && said.iter().all(|(_, result)| is_clear(result));
    Ok(if is_done { Exit::Done } else { Exit::Failed })
}

/// Without arguments: shows the possible documents.
fn choices(loaded: &Loaded, language: Language) -> Outcome {
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
        let removed = docsyncd("retry --removed UUID");
        complain(&language.fill("retry-beside", &[("command", (&removed).into())]));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_already_is_not_said_to_be_tried() {
        let due = |stands| ("a".to_owned(), Retried::DueNow(State::Fetched), stands);
        let (text, tried) = each(&[due("filed"), due("fetched")], Language::English);
        assert_eq!(
            text,
            "a: filed, not yet taken; it lies there already: docsyncd only looks whether it was taken\n\
             a: was waiting (fetched), due now\n"
        );
        assert_eq!(tried, 1);
    }
}

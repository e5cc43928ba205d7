//! `docsyncd forget UUID...`: erases the names that are kept of a document.

use std::path::Path;

use super::output::{agreed, can_ask, complain, docsyncd, print, say};
use super::{Exit, Outcome, named, record, runtime};
use crate::config::Loaded;
use crate::destinations;
use crate::domain::document::DocumentUuid;
use crate::formats::language::Language;
use crate::ledger::history::Action;
use crate::ledger::names::{self, Forgotten};
use crate::ledger::{self, Ledger, now};
use crate::system::durable::remove_if_there;
use crate::views::{self, DocumentHistory};

pub(super) fn forget(loaded: &Loaded, uuids: &[String], yes: bool, language: Language) -> Outcome {
    let ledger = Ledger::open_beside(&loaded.config.state.path)?;
    if !yes && can_ask() {
        let which = record::documents(&uuids.iter().map(String::as_str).collect::<Vec<_>>());
        if !agreed(&language.fill("forget-question", &[("which", (&which).into())]), language)? {
            print(&format!("{}\n", language.text("forget-nothing")))?;
            return Ok(Exit::Failed);
        }
    }
    let wanted = uuids.to_vec();
    let (results, named) = runtime()?.block_on(ledger.write(move |db| {
        let named = named::find_for_sure(db, &wanted)?;
        let mut results = Vec::new();
        for (text, ids) in &named.found {
            for id in ids {
                let known = views::show(db, *id)?;
                results.extend(names::forget(db, *id, now())?.map(|result| (text.clone(), result, known)));
            }
        }
        let done = results.iter().filter(|(_, result, _)| *result == Forgotten::Done);
        let uuids: Vec<&str> = done.map(|(uuid, ..)| uuid.as_str()).collect();
        if !uuids.is_empty() {
            record::record(db, Action::Forget, &record::documents(&uuids))?;
        }
        Ok((results, named))
    }))?;
    let named = named.unambiguous(language)?;
    let (mut open, mut kept) = (false, false);
    for (text, result, known) in &results {
        match result {
            Forgotten::Done => {
                kept |= !is_output_erased(&loaded.config.state.path, text, known, language);
                say(&format!("{}\n", language.fill("forget-done", &[("uuid", text.into())])))?;
            }
            Forgotten::Open(state) => {
                open = true;
                let (state, show) = (language.state(state.as_str()), docsyncd(&format!("show {text}")));
                let values = [("uuid", text.into()), ("state", (&state).into()), ("command", (&show).into())];
                complain(&format!("docsyncd: {}", language.fill("forget-open", &values)));
            }
        }
    }
    named.complain_of_unknown(language);
    drop(ledger);
    if results.iter().any(|(_, result, _)| *result == Forgotten::Done)
        && let Err(error) = ledger::rewrite(&loaded.config.state.path)
    {
        let why = error.to_string();
        complain(&format!("docsyncd: {}", language.fill("forget-traces", &[("why", (&why).into())])));
        return Ok(Exit::Failed);
    }
    Ok(if open || kept || !named.unknown.is_empty() { Exit::Failed } else { Exit::Done })
}

/// Removes what programs printed about the document, because it may contain a name. Returns whether all of it is
/// removed.
fn is_output_erased(ledger: &Path, text: &str, known: &DocumentHistory, language: Language) -> bool {
    let Some(uuid) = DocumentUuid::parse(&known.document.uuid) else { return true };
    let erase = || destinations::output_files(ledger, &uuid)?.iter().try_for_each(|file| remove_if_there(file));
    let erased = erase();
    if let Err(error) = &erased {
        let why = error.to_string();
        let values = [("uuid", text.into()), ("why", (&why).into())];
        complain(&format!("docsyncd: {}", language.fill("forget-output", &values)));
    }
    erased.is_ok()
}

//! The documents that a person names, by uuids or parts of them.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::output::{complain, docsyncd};
use super::{Exit, told};
use crate::formats::language::Language;
use crate::ledger::QueryResult;
use crate::views::named::{self, Named, SHORTEST_PART};

/// The result for several texts: the documents that they name, and the texts that name none.
#[derive(Debug, Default)]
pub(super) struct Documents {
    /// The texts, each with its document's numbers in the ledger. Empty if a text names several documents, so that
    /// nothing is done.
    pub(super) found: Vec<(String, Vec<i64>)>,
    /// The texts that name no document.
    pub(super) unknown: Vec<String>,
    /// A text that names several documents: their number, and the first of them.
    ambiguous: Option<(String, usize, Vec<String>)>,
}

/// Looks all texts up, to show the documents.
///
/// # Errors
/// Any SQLite error.
pub(super) fn find(db: &Connection, texts: &[String]) -> QueryResult<Documents> {
    look_up(db, texts, named::named)
}

/// Looks all texts up, to change the documents.
///
/// # Errors
/// Any SQLite error.
pub(super) fn find_for_sure(db: &Connection, texts: &[String]) -> QueryResult<Documents> {
    look_up(db, texts, named::named_for_sure)
}

fn look_up(
    db: &Connection,
    texts: &[String],
    named: fn(&Connection, &str) -> QueryResult<Named>,
) -> QueryResult<Documents> {
    let mut documents = Documents::default();
    let mut taken = BTreeSet::new();
    for text in texts {
        match named(db, text)? {
            // A document that is named twice counts once.
            Named::One(ids) if ids.iter().any(|id| !taken.insert(*id)) => {}
            Named::One(ids) => documents.found.push((text.clone(), ids)),
            Named::Nothing => documents.unknown.push(text.clone()),
            Named::Several(count, first) => {
                documents.ambiguous.get_or_insert((text.clone(), count, first));
            }
        }
    }
    if documents.ambiguous.is_some() {
        documents.found.clear();
    }
    Ok(documents)
}

impl Documents {
    /// Refuses a text that names several documents.
    pub(super) fn unambiguous(self, language: Language) -> anyhow::Result<Self> {
        let Some((text, count, first)) = &self.ambiguous else { return Ok(self) };
        let (shown, count_of) = (first.join("\n  "), u64::try_from(*count).unwrap_or(u64::MAX));
        let what = language.fill("named-several", &[("text", text.into()), ("count", count_of.into())]);
        let more = if *count > first.len() { "\n  ..." } else { "" };
        Err(told::said(format!("{what}\n  {shown}{more}"), Exit::Usage))
    }

    /// Says for every text without a document what to do.
    pub(super) fn complain_of_unknown(&self, language: Language) {
        for text in &self.unknown {
            let is_short = text.chars().count() < SHORTEST_PART;
            let least = if is_short { u64::try_from(SHORTEST_PART).unwrap_or(0) } else { 0 };
            let list = docsyncd("list");
            let values = [("text", text.into()), ("least", least.into()), ("list", (&list).into())];
            complain(&format!("docsyncd: {}", language.fill("not-known", &values)));
        }
    }
}

//! What tests of the ledger begin with.

use rusqlite::Connection;

use super::documents::Fetched;
use super::listed::{Listed, Reader};
use super::open;
use crate::domain::document::DocumentUuid;

/// An empty ledger in a folder.
pub(crate) fn empty() -> (tempfile::TempDir, Connection) {
    let folder = tempfile::tempdir().unwrap();
    let db = open::open_or_create(&folder.path().join("ledger.sqlite3")).unwrap();
    (folder, db)
}

/// The columns of `retry_state`.
const OF_RETRIES: [&str; 8] =
    ["attempts", "lost", "refusals", "failing_since", "failing_for", "failure", "reason", "reason_code"];

/// Sets what is known of a document: columns and values, as in `UPDATE`. Attempts are those of its state; a `failure`
/// is its own, and a `report_failure` its report's.
pub(crate) fn set(db: &Connection, document: i64, change: &str) {
    for one in change.split(", ") {
        let (column, value) = one.split_once(" = ").unwrap();
        let is_at_end = || {
            let told = "SELECT state IN ('delivered', 'unreported') FROM document WHERE id = ?1";
            db.query_row(told, [document], |row| row.get(0)).unwrap()
        };
        match column.strip_prefix("report_") {
            Some(column) => set_retry(db, (document, "report:", ""), column, value),
            None if !OF_RETRIES.contains(&column) => {
                db.execute(&format!("UPDATE document SET {one} WHERE id = ?1"), [document]).map(drop).unwrap();
            }
            None if column != "failure" && is_at_end() => set_retry(db, (document, "report:", ""), column, value),
            None => set_retry(db, (document, "fetch:", ""), column, value),
        }
    }
}

/// Sets what is known of the delivery of its version `p`.
pub(crate) fn set_delivery(db: &Connection, document: i64, destination: &str, change: &str) {
    let (column, value) = change.split_once(" = ").unwrap();
    if OF_RETRIES.contains(&column) {
        return set_retry(db, (document, destination, "p"), column, value);
    }
    let of = "document = ?1 AND destination = ?2 AND pdf = 'p'";
    db.execute(&format!("UPDATE delivery SET {change} WHERE {of}"), (document, destination)).unwrap();
}

fn set_retry(db: &Connection, key: (i64, &str, &str), column: &str, value: &str) {
    db.execute("INSERT OR IGNORE INTO retry_state (document, work, pdf) VALUES (?1, ?2, ?3)", key).unwrap();
    let of = "document = ?1 AND work = ?2 AND pdf = ?3";
    db.execute(&format!("UPDATE retry_state SET {column} = {value} WHERE {of}"), key).unwrap();
}

/// The first poll of the only account. Nothing is paused, and the list was not asked for any document.
pub(crate) fn reader(account: &str) -> Reader {
    let working = vec![account.to_owned()];
    Reader { account: account.to_owned(), working, paused: Vec::new(), poll: 1, confirmed: false, draft_wait: 0 }
}

/// A document as the list shows it.
pub(crate) fn shown(uuid: &str, pdf: Option<&str>) -> Listed {
    let uuid = DocumentUuid::parse(uuid).unwrap();
    let pdf = pdf.map(str::to_owned);
    Listed { uuid, created_at: "2026-11-21".to_owned(), kind: None, pdf, is_draft: false, patient: None }
}

/// A document with this PDF, which lies in the spool.
pub(crate) fn fetched(pdf: &str) -> Fetched {
    let spooled = Some(("x".to_owned(), 1));
    Fetched {
        pdf: pdf.to_owned(),
        whom: "-".to_owned(),
        has_number: None,
        read_at: 1,
        kind: None,
        patient: None,
        metadata: "{}".to_owned(),
        spooled,
    }
}

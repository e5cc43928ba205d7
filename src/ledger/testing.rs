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

/// Sets what is known of a document: columns and values, as in `UPDATE`.
pub(crate) fn set(db: &Connection, document: i64, change: &str) {
    db.execute(&format!("UPDATE document SET {change} WHERE id = ?1"), [document]).unwrap();
}

/// The same of the delivery of its version `p`.
pub(crate) fn set_delivery(db: &Connection, document: i64, destination: &str, change: &str) {
    let of = "document = ?1 AND destination = ?2 AND pdf = 'p'";
    db.execute(&format!("UPDATE delivery SET {change} WHERE {of}"), (document, destination)).unwrap();
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

//! Faults of the API and of the way to it, on each of the four calls: listing, reading a document, downloading its PDF,
//! reporting its status.
//!
//! A cell breaks the call for one document first (for one account, where it is the list), and looks what becomes of
//! this one, with which words, and that the others go on. Then it breaks it for all of them, and looks what is paused
//! and that nothing is reported that is not so. At the end the fault is gone, and everything is filed and reported,
//! once.

mod cell;
mod connections;
mod document;
mod download;
mod list;
mod pauses;
mod report;

/// The rows of the cells in `tests/README.md`, by the names of their tests.
pub fn rows() -> impl Iterator<Item = (String, String)> {
    let modules = [
        ("list", list::rows()),
        ("document", document::rows()),
        ("download", download::rows()),
        ("report", report::rows()),
    ];
    modules.into_iter().flat_map(|(module, rows)| {
        rows.into_iter().map(move |(name, fault, gives)| {
            let test = format!("faults::api::{module}::{name}");
            let row = format!("| {fault} | {gives} | `{test}` |");
            (test, row)
        })
    })
}

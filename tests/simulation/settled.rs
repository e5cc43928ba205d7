//! The promises that only time shows: every few seconds whether something waits that nothing holds up, and in the end
//! whether everything has come to its end.

use std::path::Path;

use rusqlite::Connection;

use super::clock;
use super::plan::{How, POLL, RECONCILE, RETRY_MAX, Trouble, What};
use super::world::World;
use crate::destinations::Item;
use crate::domain::document::DocumentUuid;

/// How long after the last trouble of its own a document may take to its destinations; milliseconds. Two polls, its own
/// backoff and three pauses on its way, and calls that hang.
const BOUND: u64 = 2 * POLL.as_secs() * 1000 * 11 / 10 + 4 * RETRY_MAX.as_secs() * 1000 + 120_000;
/// How long a document is looked for whose answer was lost, before it is sent again (`resend_after`); milliseconds.
const LOOKED_FOR: u64 = 5 * 60 * 1000;

impl World {
    /// Since when nothing goes wrong on the document's way to these destinations; `None` while something does.
    fn calm_since(&self, document: usize, destinations: &[usize]) -> Option<u64> {
        let (now, plan) = (clock::passed(), self.plan.clone());
        let of = &plan.documents[document];
        let is_its = |account: &usize| of.is_shown_to(*account);
        let ends = plan.events.iter().filter(|event| event.from <= now).filter_map(|event| match &event.what {
            What::Api { account, document: of, how, .. } => {
                // Who asks to be left alone holds up everything of the account.
                let asked = if let How::Status { retry_after, .. } = how { *retry_after } else { None };
                let is_held_up = is_its(account) && (asked.is_some() || of.is_none_or(|of| of == document));
                is_held_up.then_some(event.until + asked.unwrap_or(0) * 1000)
            }
            What::List { account, .. } | What::SignIn { account, .. } => is_its(account).then_some(event.until),
            What::Delivery { destination, document: of, .. } => {
                (destinations.contains(destination) && of.is_none_or(|of| of == document)).then_some(event.until)
            }
            What::Offline { destination } | What::ServerRestart { destination } | What::Stranger { destination } => {
                destinations.contains(destination).then_some(event.until)
            }
            What::LedgerFull | What::SpoolFull | What::Crash { .. } | What::KillFiling { .. } => Some(event.until),
            What::Restart => Some(event.from + 40_000),
            // The list is read twice before an empty one is believed.
            What::Restore => Some(event.until + 3 * POLL.as_secs() * 1000),
            What::Jump(_) => Some(event.from),
            What::Revise(of)
            | What::Withdraw(of)
            | What::AskAgain(of)
            | What::Retry(of)
            | What::Correct { document: of, .. } => (*of == document).then_some(event.from),
            What::SpoolLost => Some(event.from),
            What::PollNow | What::Backup => None,
        });
        let end = ends.max().unwrap_or(0);
        (end <= now).then_some(end)
    }

    /// When an importer takes this version there; at once, where none is waited for. `None`: it never will.
    fn taken_at(&self, destination: usize, document: usize, version: usize) -> Option<u64> {
        if !self.plan.confirms(destination) {
            return Some(0);
        }
        let mut held = self.held[destination].iter().filter(|(_, held)| **held == (document, version));
        held.find_map(|(key, _)| self.taken.get(&(destination, key.clone())))
            .filter(|(_, refused)| !refused)
            .map(|(at, _)| *at)
    }

    /// One document, destination or account must not delay the others (promise 6).
    pub(super) fn look_for_delays(&mut self) {
        let now = clock::passed();
        for index in 0..self.truths.len() {
            let (document, truth) = (&self.plan.documents[index], &self.truths[index]);
            let ended =
                matches!(self.book.states[index].as_deref(), Some("failing" | "failed" | "unreported" | "withdrawn"));
            // How often one account gave it to the other says how long that takes.
            let skip = ended
                || document.also.is_some()
                || document.trouble != Trouble::None
                || document.arrives > now
                || !truth.listed
                || truth.said_gone
                || truth.withdrawn
                || truth.unnoticed
                // What stays in the list after its end is read no more.
                || self.patient(index) > 0 && truth.told.is_some();
            let Some(required) = self.plan.required(index).filter(|_| !skip).map(<[usize]>::to_vec) else { continue };
            let ready = document.arrives.max(document.rendered);
            // In the middle of a long list it is found when the cursor comes by.
            let late =
                document.created * 1000 < i64::try_from(document.arrives).unwrap() - 1000 || truth.versions.len() > 1;
            // Nothing but a clock tells after a restart when an answer was lost.
            let set_back = self.plan.events.iter().filter_map(|event| match event.what {
                What::Jump(by) if by < 0 => Some(by.unsigned_abs().min(LOOKED_FOR)),
                _ => None,
            });
            let bound = BOUND
                + set_back.sum::<u64>()
                + if late { u64::try_from(RECONCILE.as_millis()).unwrap() * 11 / 10 } else { 0 };
            let (version, stays) = (truth.versions.len() - 1, self.plan.stays_listed[document.account]);
            // A person, or the next export, says whose it is.
            let known_since = if self.plan.has_list { self.in_list_since[index] } else { Some(0) };
            let Some(known_since) = known_since else { continue };
            let due = |world: &Self, to: &[usize]| {
                world.calm_since(index, to).is_some_and(|calm| now > calm.max(ready).max(known_since) + bound)
            };
            let taken: Option<Vec<u64>> = required.iter().map(|one| self.taken_at(*one, index, version)).collect();
            let taken_at = taken.and_then(|taken| taken.into_iter().max());
            let late_at = required
                .iter()
                .find(|one| !self.holds(**one, index, version) && due(self, &[**one]))
                .map(|one| format!("destination {one}"));
            let is_taken = taken_at.is_some_and(|at| now > at + bound);
            let unreported = truth.told.is_none() && !stays && is_taken && due(self, &required);
            if let Some(what) = late_at.or_else(|| unreported.then(|| "its report".to_owned())) {
                let name = self.name(index);
                self.violate(|| format!("{name} is late for {what}, and nothing held it up"));
            }
        }
    }

    /// What is not as it should be in the end, once nothing goes wrong any more (promise 2), and of which document.
    pub(super) fn unsettled(&self, db: &Connection) -> Option<(usize, String)> {
        (0..self.truths.len()).find_map(|index| {
            let truth = &self.truths[index];
            let state = self.book.states[index].as_deref();
            let settled = match state {
                // What it did after the backup it does not know.
                None => truth.withdrawn || self.book.is_restored && truth.told.is_some() && !truth.listed,
                Some("reported") => {
                    truth.withdrawn
                        || truth.unnoticed
                        || self.is_done(index)
                        || self.book.settled.contains(&index) && truth.told.is_some() && !truth.listed
                }
                Some("failed" | "unreported") if self.is_news(db, index) => false,
                Some("failed") => truth.told.is_some() || truth.report_refused || !truth.blame.transient.is_empty(),
                Some("unreported") => true,
                // The API was told and the answer was lost. The account that has it may not report: after a day it
                // counts as refused.
                Some("delivered" | "failing") if self.plan.documents[index].refused_to.is_some() => {
                    truth.told.is_some() && !truth.listed
                }
                // A person retried one that had been reported, and the API said that it does not exist: it is not in
                // the list that could tell that this was wrong, and the API knows how it ended.
                Some("withdrawn") => truth.withdrawn || (truth.said_gone && !truth.listed && truth.told.is_some()),
                Some(_) => false,
            };
            (!settled).then(|| {
                let state = state.unwrap_or("unknown");
                let listed = if truth.listed { "listed" } else { "not listed" };
                (index, format!("{} is {state} in the end, and {listed}", self.name(index)))
            })
        })
    }

    /// Whether the list says of it what the daemon has not seen yet: that it is back, or its new version.
    fn is_news(&self, db: &Connection, index: usize) -> bool {
        let truth = &self.truths[index];
        let Some((id, known)) = self.row(db, index).filter(|_| truth.listed && !truth.withdrawn) else { return false };
        let shown: Option<String> =
            db.query_row("SELECT listed_pdf FROM document WHERE id = ?1", [id], |row| row.get(0)).unwrap();
        !known || shown.is_some_and(|pdf| Some(&pdf) != truth.versions.last().map(|version| &version.pdf))
    }

    fn is_done(&self, index: usize) -> bool {
        let truth = &self.truths[index];
        let stays = self.plan.stays_listed[self.plan.documents[index].account];
        let required = self.plan.required(index).unwrap_or_default();
        // Whoever stays in the list and was corrected after the report is filed as before (seed 5701).
        let is_last =
            |number: &usize| Some(&truth.versions[*number].pdf) == truth.versions.last().map(|last| &last.pdf);
        let holds =
            |one: &usize| (0..truth.versions.len()).filter(is_last).any(|number| self.holds(*one, index, number));
        let present = required.iter().all(holds);
        truth.told.as_ref().is_some_and(|told| told.success) && (!truth.listed || (stays && present))
    }

    /// What an adapter finds in the spool: in memory, or in the file.
    pub(super) fn pdf_of(&self, item: &Item) -> Option<Vec<u8>> {
        let in_memory = item.pdf.in_memory.as_ref().map(|content| content.as_ref().to_vec());
        in_memory.or_else(|| self.files.get(&item.pdf.path).cloned())
    }

    /// The documents that wait for a delivery and have no whole file in the spool.
    pub(super) fn only_in_memory(&self, db: &Connection) -> Vec<usize> {
        let size = |id: i64| db.query_row("SELECT size FROM document WHERE id = ?1", [id], |row| row.get(0)).ok();
        let has_file = |id: i64| {
            let of_it = |path: &Path| path.to_string_lossy().starts_with(&format!("spool/{id}-"));
            self.files.iter().any(|(path, content)| of_it(path) && size(id) == Some(content.len()))
        };
        let waits = |document: &usize| {
            self.book.states[*document].as_deref() == Some("fetched")
                && self.row(db, *document).is_some_and(|(id, _)| !has_file(id))
        };
        (0..self.truths.len()).filter(waits).collect()
    }

    /// The ledger's number of a document, and whether it takes it for listed.
    pub(super) fn row(&self, db: &Connection, document: usize) -> Option<(i64, bool)> {
        let uuid = DocumentUuid::parse(&self.truths[document].uuid)?;
        db.query_row("SELECT id, listed FROM document WHERE uuid = ?1", [uuid.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .ok()
    }
}

//! Compares the API's lists with the ledger.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::Instant;

use super::difference::{Difference, of_listed, of_unlisted};
use super::{Report, Sides};
use crate::api::{Api, ApiError, LOOK_SIZE, ListQuery, Order, PAGE_SIZE, look};
use crate::domain::document::DocumentUuid;
use crate::domain::document::edition::rendered;
use crate::domain::failure::Scope;
use crate::ledger::{LedgerError, Millis, now};
use crate::views::reconcile::{self as view, Letter};

/// A daemon records a report within this time after the API has accepted it.
const WRITTEN_DOWN: Duration = Duration::from_secs(1);

pub(super) async fn compare(sides: &Sides<'_>, since: Millis, report: &mut Report) -> Result<(), LedgerError> {
    // Read before the lists, because a letter that becomes open later may be missing from them.
    let mut open: HashSet<i64> = sides.ledger.read(move |db| view::open(db, since)).await?;
    let mut unread = HashSet::new();
    for (account, client) in &sides.clients {
        if let Err(error) = of_account(sides, account, *client, since, &mut open, report).await? {
            report.fail(Scope::Account((*account).to_owned()), error.to_string());
            unread.insert((*account).to_owned());
        }
    }
    unlisted(sides, open.into_iter().collect(), unread, report).await
}

/// Compares the account's list of unsynchronized letters. The outer error is the ledger's, the inner one the API's.
async fn of_account(
    sides: &Sides<'_>,
    account: &str,
    client: &dyn Api,
    since: Millis,
    open: &mut HashSet<i64>,
    report: &mut Report,
) -> Result<Result<(), ApiError>, LedgerError> {
    let scope = Scope::Account(account.to_owned());
    let mut query = ListQuery { page: 1, ..ListQuery::default() };
    let (mut read, mut last_page): (u64, HashSet<DocumentUuid>) = (0, HashSet::new());
    loop {
        let (asked_at, began) = (now(), Instant::now());
        let page = match client.list(&query).await {
            Ok(page) => page,
            Err(ApiError::Status { status: 400 | 422, .. }) if query.order != Order::Unordered => {
                query.order = Order::Unordered;
                continue;
            }
            Err(error) => return Ok(Err(error)),
        };
        let is_last = page.len() < PAGE_SIZE;
        let this_page: HashSet<DocumentUuid> = page.items.iter().map(|item| item.uuid.clone()).collect();
        let items = page.items;
        let known = sides.ledger.read(move |db| {
            let known = |item: crate::api::Listed| Ok((view::letter(db, &item.uuid)?, item.pdf));
            items.into_iter().map(known).collect::<Result<Vec<_>, _>>()
        });
        for (letter, listed) in known.await? {
            read += 1;
            let Some(letter) = letter else {
                report.new += 1;
                continue;
            };
            open.remove(&letter.id);
            // A letter in several accounts' lists is counted once. A letter that changed after the request is skipped.
            let is_this = letter.account == account || !sides.clients.contains_key(&*letter.account);
            let is_due = is_this && letter.found_at >= since && letter.changed_at < asked_at;
            if let Some(kind) = of_listed(letter.state, rendered(&letter.pdf), listed.as_deref()).filter(|_| is_due) {
                report.add(difference(letter, kind));
            }
        }
        (sides.progress)(&scope, read, read);
        // A server that ignores page numbers repeats the same page for ever.
        if is_last || this_page == last_page {
            return Ok(Ok(()));
        }
        tokio::time::sleep(sides.pace.rest(began.elapsed(), 0)).await;
        last_page = this_page;
        query.page += 1;
    }
}

fn difference(letter: Letter, kind: super::Kind) -> Difference {
    Difference { document: letter.id, uuid: letter.uuid, account: letter.account, destination: None, kind }
}

/// Asks for the open letters that no list showed, because pages shift while they are read.
async fn unlisted(
    sides: &Sides<'_>,
    mut open: Vec<i64>,
    mut unread: HashSet<String>,
    report: &mut Report,
) -> Result<(), LedgerError> {
    open.sort_unstable();
    let mut suspects = Vec::new();
    for part in open.chunks(LOOK_SIZE) {
        let mut asked = letters(sides, part.to_vec()).await?;
        asked.retain(|letter| of_unlisted(letter.state).is_some());
        for (account, client) in &sides.clients {
            let of_this: Vec<&Letter> = asked.iter().filter(|letter| letter.account == *account).collect();
            if of_this.is_empty() || unread.contains(*account) {
                continue;
            }
            let uuids: Vec<DocumentUuid> = of_this.iter().map(|letter| letter.uuid.clone()).collect();
            match look(*client, &uuids, false).await {
                Ok(shown) if uuids.iter().all(|uuid| shown.says(uuid)) => {
                    let absent = of_this.iter().filter(|letter| shown.absent.contains(&letter.uuid));
                    suspects.extend(absent.map(|letter| letter.id));
                }
                Ok(_) => {
                    report.fail(
                        Scope::Account((*account).to_owned()),
                        "the service does not say whether it lists a single letter",
                    );
                    return Ok(());
                }
                Err(error) => {
                    report.fail(Scope::Account((*account).to_owned()), error.to_string());
                    unread.insert((*account).to_owned());
                }
            }
        }
        report.not_looked_at +=
            asked.iter().filter(|letter| !sides.clients.contains_key(&*letter.account)).count() as u64;
    }
    if !suspects.is_empty() {
        tokio::time::sleep(WRITTEN_DOWN).await;
    }
    for part in suspects.chunks(LOOK_SIZE) {
        for letter in letters(sides, part.to_vec()).await? {
            if let Some(kind) = of_unlisted(letter.state) {
                report.add(difference(letter, kind));
            }
        }
    }
    Ok(())
}

async fn letters(sides: &Sides<'_>, ids: Vec<i64>) -> Result<Vec<Letter>, LedgerError> {
    sides.ledger.read(move |db| ids.iter().filter_map(|id| view::by_number(db, *id).transpose()).collect()).await
}

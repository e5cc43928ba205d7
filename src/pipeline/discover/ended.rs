//! Documents that ended lately: have they left the list of unsynchronized ones? Only of those that were seen to leave it
//! can be told, later, that they came back.

use std::collections::HashSet;

use super::PollError;
use crate::api::{Api, ApiError, ListQuery, Meaning};
use crate::document::DocumentUuid;
use crate::ledger::listed;
use crate::pipeline::Context;

/// Documents that are asked for at once: their identifiers, in one address, must not be longer than servers take.
const LOOK_SIZE: usize = 50;

/// Which of the documents that were asked for the list shows.
#[derive(Default)]
struct Shown {
    uuids: HashSet<DocumentUuid>,
    /// Whether those that it does not show have left it.
    all: bool,
}

/// Looks for documents that ended lately in the list of unsynchronized ones.
///
/// # Errors
/// Those of the API and of the ledger.
pub async fn look_for_ended(context: &Context, client: &dyn Api, account: &str) -> Result<(), PollError> {
    let mut after = 0;
    loop {
        let name = account.to_owned();
        let ended = context.ledger.read(move |db| listed::still_listed(db, &name, after, LOOK_SIZE)).await?;
        let Some((last, _)) = ended.last() else { return Ok(()) };
        after = *last;
        let asked: Vec<DocumentUuid> = ended.into_iter().map(|(_, uuid)| uuid).collect();
        let shown = match look(client, &asked).await {
            Ok(shown) => shown,
            Err(error) if matches!(error.meaning(), Meaning::NeedsLogin | Meaning::Origin) => return Err(error.into()),
            Err(error) => {
                // A server without this filter, or with a fault in it: the sweeps have to do.
                tracing::debug!(event = "look_failed", account, "{error}");
                return Ok(());
            }
        };
        let (name, all) = (account.to_owned(), shown.all);
        let write = context.ledger.write(move |db| {
            for uuid in asked.iter().filter(|uuid| shown.all || shown.uuids.contains(uuid)) {
                listed::looked(db, &name, uuid, shown.uuids.contains(uuid))?;
            }
            Ok(())
        });
        write.await?;
        if !all {
            return Ok(());
        }
    }
}

async fn look(client: &dyn Api, asked: &[DocumentUuid]) -> Result<Shown, ApiError> {
    let mut shown = Shown::default();
    // Each page but the last shows at least one more of them.
    for page in 1..=asked.len() + 1 {
        let query = ListQuery { page, uuids: asked.to_vec(), ..ListQuery::default() };
        let found = client.list(&query).await?;
        if found.is_empty() {
            shown.all = true;
            break;
        }
        let before = shown.uuids.len();
        let others = found.unreadable > 0 || found.items.iter().any(|item| !asked.contains(&item.uuid));
        shown.uuids.extend(found.items.into_iter().map(|item| item.uuid).filter(|uuid| asked.contains(uuid)));
        shown.all = shown.uuids.len() == asked.len();
        // Others than those asked for: the filter is ignored. Nothing more than before: page numbers are.
        if shown.all || others || shown.uuids.len() == before {
            break;
        }
    }
    Ok(shown)
}

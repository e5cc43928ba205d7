//! Deliveries: one event for one webhook, until it is delivered or given up, and for some time after that.

use std::collections::HashSet;

use rusqlite::Transaction;

use crate::error::SandboxError;
use crate::hooks::WebhookDelivery;
use crate::moment::Moment;
use crate::quirks::DateFormat;

/// About how many ended deliveries are kept. More are removed now and then.
const KEPT: i64 = 100_000;
/// How many deliveries come between two removals.
const CLEARED_EVERY: i64 = 1_000;

/// A delivery, with what is needed to send it.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryRow {
    /// The `webhook-id` of every attempt.
    pub uuid: String,
    pub webhook_id: i64,
    /// The webhook's present address and secret.
    pub url: String,
    pub secret: String,
    pub body: String,
    pub attempts: u64,
}

/// The due deliveries, and when the next one is due.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    pub due: Vec<DeliveryRow>,
    pub next: Option<i64>,
}

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub delivered: bool,
    /// When to try again; `None` for never.
    pub due: Option<i64>,
    pub status: Option<u16>,
    pub error: Option<String>,
    /// The receiver is gone, so its webhook becomes inactive.
    pub deactivate: bool,
}

impl DeliveryRow {
    /// Adds a delivery that is due now.
    pub fn insert(
        transaction: &Transaction<'_>,
        webhook_id: i64,
        event: &str,
        body: &str,
        now: i64,
    ) -> Result<(), SandboxError> {
        transaction
            .prepare_cached(
                "INSERT INTO deliveries (uuid, webhook_id, event, body, created_key, due_key)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
            )?
            .execute((uuid::Uuid::new_v4().to_string(), webhook_id, event, body, now))?;
        let id = transaction.last_insert_rowid();
        if id % CLEARED_EVERY == 0 {
            transaction
                .prepare_cached("DELETE FROM deliveries WHERE id < ?1 AND due_key IS NULL")?
                .execute([id - KEPT])?;
        }
        Ok(())
    }

    /// The longest overdue delivery of each active webhook that is not busy, at most `room`.
    pub fn waiting(
        transaction: &Transaction<'_>,
        now: i64,
        busy: &HashSet<i64>,
        room: usize,
    ) -> Result<Waiting, SandboxError> {
        let mut statement = transaction.prepare_cached(
            "SELECT w.id, d.due_key, d.uuid, w.url, w.secret, d.body, d.attempts
             FROM webhooks w JOIN deliveries d ON d.id = (
                SELECT id FROM deliveries WHERE webhook_id = w.id AND due_key IS NOT NULL ORDER BY due_key, id LIMIT 1)
             WHERE w.is_active ORDER BY d.due_key, d.id",
        )?;
        let mut rows = statement.query([])?;
        let mut waiting = Waiting::default();
        while let Some(row) = rows.next()? {
            let webhook_id: i64 = row.get(0)?;
            let due: i64 = row.get(1)?;
            if busy.contains(&webhook_id) {
                continue;
            }
            // They come in order, so the first that is not due is the next one. Without room, the next event is the end
            // of a delivery in progress.
            if due > now {
                waiting.next = Some(due);
                break;
            }
            if waiting.due.len() >= room {
                break;
            }
            waiting.due.push(Self {
                webhook_id,
                uuid: row.get(2)?,
                url: row.get(3)?,
                secret: row.get(4)?,
                body: row.get(5)?,
                attempts: row.get(6)?,
            });
        }
        Ok(waiting)
    }

    /// Records an attempt, unless the webhook was deleted meanwhile.
    pub fn record(&self, transaction: &Transaction<'_>, attempt: &Attempt, now: i64) -> Result<(), SandboxError> {
        // By its uuid, because SQLite reuses the row id of a deleted row.
        let written = transaction
            .prepare_cached(
                "UPDATE deliveries SET attempts = attempts + 1, delivered = ?2, due_key = ?3, last_status = ?4,
                    last_error = ?5 WHERE uuid = ?1",
            )?
            .execute((&self.uuid, attempt.delivered, attempt.due, attempt.status, &attempt.error))?;
        if attempt.deactivate && written > 0 {
            transaction
                .prepare_cached("UPDATE webhooks SET is_active = 0, updated_key = ?2 WHERE id = ?1")?
                .execute((self.webhook_id, now))?;
        }
        Ok(())
    }

    /// Makes everything due now that is due later than `latest`.
    pub fn bring_forward(transaction: &Transaction<'_>, latest: i64, now: i64) -> Result<(), SandboxError> {
        transaction.prepare_cached("UPDATE deliveries SET due_key = ?2 WHERE due_key > ?1")?.execute((latest, now))?;
        Ok(())
    }

    /// Makes every delivery that has not arrived due now. Those that were given up get one more attempt. Returns their
    /// number.
    pub fn retry_all(transaction: &Transaction<'_>, now: i64) -> Result<usize, SandboxError> {
        Ok(transaction.prepare_cached("UPDATE deliveries SET due_key = ?1 WHERE NOT delivered")?.execute([now])?)
    }
}

impl WebhookDelivery {
    /// The newest deliveries, oldest first.
    pub(crate) fn newest(transaction: &Transaction<'_>, most: u32) -> Result<Vec<Self>, SandboxError> {
        let mut statement = transaction.prepare_cached(
            "SELECT d.uuid, w.uuid, d.event, d.created_key, d.attempts, d.due_key, d.delivered, d.last_status,
                d.last_error
             FROM (SELECT * FROM deliveries ORDER BY id DESC LIMIT ?1) d JOIN webhooks w ON w.id = d.webhook_id
             ORDER BY d.id",
        )?;
        let show = |key: i64| Moment::from_key(key).show(DateFormat::ZuluMillis);
        let rows = statement.query_map([most], |row| {
            Ok(Self {
                uuid: row.get(0)?,
                webhook: row.get(1)?,
                event: row.get(2)?,
                created_at: show(row.get(3)?),
                attempts: row.get(4)?,
                due: row.get::<_, Option<i64>>(5)?.map(show),
                delivered: row.get(6)?,
                last_status: row.get(7)?,
                last_error: row.get(8)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Store, UserRow, WebhookRow};

    fn webhook(transaction: &Transaction<'_>, uuid: &str, owner_id: i64) -> Result<WebhookRow, SandboxError> {
        let now = Moment::from_key(0);
        let row = WebhookRow {
            id: 0,
            uuid: uuid.to_owned(),
            owner_id,
            url: "http://127.0.0.1:9/".to_owned(),
            events: Vec::new(),
            description: None,
            is_active: true,
            secret: "whsec_AAAA".to_owned(),
            created_at: now.clone(),
            updated_at: now,
        };
        row.put(transaction)?;
        let row = WebhookRow::by_uuid(transaction, uuid)?.unwrap();
        DeliveryRow::insert(transaction, row.id, "document.created", "{}", 0)?;
        Ok(row)
    }

    #[tokio::test]
    async fn an_attempt_for_a_deleted_webhook_is_not_written_to_the_next_one() {
        let store = Store::open(None).unwrap();
        let deliveries = store.run(|transaction| {
            let user = UserRow::put(transaction, crate::invent::invent_user(1, "a@b.example"))?;
            let old = webhook(transaction, "old", user.id)?;
            let sent = DeliveryRow::waiting(transaction, 0, &HashSet::new(), 9)?.due.remove(0);
            old.delete(transaction)?;
            let new = webhook(transaction, "new", user.id)?;
            assert_eq!(old.id, new.id, "SQLite gives the row id again, or this test tests nothing");
            let gone = Attempt { delivered: false, due: None, status: Some(410), error: None, deactivate: true };
            sent.record(transaction, &gone, 1)?;
            assert!(WebhookRow::by_uuid(transaction, "new")?.unwrap().is_active);
            WebhookDelivery::newest(transaction, 9)
        });
        let deliveries = deliveries.await.unwrap();
        assert_eq!(deliveries.iter().map(|one| (one.attempts, one.last_status)).collect::<Vec<_>>(), [(0, None)]);
    }
}

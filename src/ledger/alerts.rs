//! Alerts, and the outbox of their messages. A message and its reason are recorded in one transaction, and an attempt
//! to send it is recorded before it is made.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::columns::{Statements as _, as_json, from_row};
use super::{Millis, QueryResult};

/// Something that needs a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// The ledger's number for it.
    pub id: i64,
    /// `health::Cause` as a word.
    pub cause: String,
    /// The accounts or destinations.
    pub names: Vec<String>,
    /// The number of documents concerned.
    pub documents: u64,
    /// Since when it lasts.
    pub since: Option<Millis>,
    /// When it was first found to need a person.
    pub opened_at: Millis,
    /// When a message about it was last put into the outbox.
    pub told_at: Option<Millis>,
    /// The time of the newest document that a message reported.
    pub told_latest: Option<Millis>,
}

/// The part of an alert that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The accounts or destinations.
    pub names: Vec<String>,
    /// The number of documents concerned.
    pub documents: u64,
    /// Since when it lasts.
    pub since: Option<Millis>,
}

/// A message that waits to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The ledger's number for it.
    pub id: i64,
    /// Its identifier, the same for every channel and every attempt.
    pub message: String,
    /// The content, as JSON.
    pub content: String,
    /// Attempts so far.
    pub attempts: u32,
    /// When it is tried next.
    pub due_at: Millis,
    /// Since when the message waits.
    pub created_at: Millis,
}

fn read(row: &Row<'_>) -> QueryResult<Alert> {
    let names = |names: String| serde_json::from_str(&names).unwrap_or_default();
    Ok(from_row!(row => Alert { id, cause, names: names, documents, since, opened_at, told_at, told_latest }))
}

/// The alerts of an audience that last. An audience is NAME of `[alerts.NAME]`, or empty: everybody.
pub fn open(db: &Connection, audience: &str) -> QueryResult<Vec<Alert>> {
    db.prepare_cached(
        "SELECT id, cause, names, documents, since, opened_at, told_at, told_latest FROM alert
         WHERE over_at IS NULL AND audience = ?1 ORDER BY id",
    )?
    .query_map([audience], read)?
    .collect()
}

/// When each cause was last told to an audience, including alerts that are over, and how many of its alerts were told
/// after `since`.
pub fn last_told(db: &Connection, audience: &str, since: Millis) -> QueryResult<Vec<(String, Millis, u64)>> {
    db.rows(
        "SELECT cause, max(told_at), sum(told_at > ?1) FROM alert WHERE told_at IS NOT NULL AND audience = ?2
         GROUP BY cause",
        params![since, audience],
    )
}

/// Something begins to need a person.
pub fn begin(db: &Connection, audience: &str, cause: &str, about: &About, now: Millis) -> QueryResult<()> {
    db.run(
        "INSERT INTO alert (audience, cause, names, documents, since, opened_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO NOTHING",
        params![audience, cause, as_json(&about.names), about.documents, about.since, now],
    )
}

/// A message about the alert is in the outbox.
pub fn told(db: &Connection, id: i64, about: &About, latest: Option<Millis>, now: Millis) -> QueryResult<()> {
    db.run(
        "UPDATE alert SET names = ?2, documents = ?3, since = ?4, told_at = ?5, told_latest = ?6 WHERE id = ?1",
        params![id, as_json(&about.names), about.documents, about.since, now, latest],
    )
}

/// Alerts of an audience that last and were told, each with a channel that has no message about it because the channel
/// was added since.
pub fn untold(db: &Connection, audience: &str, channels: &[String]) -> QueryResult<Vec<(Alert, String)>> {
    let mut untold = Vec::new();
    for alert in open(db, audience)?.into_iter().filter(|alert| alert.told_at.is_some()) {
        for channel in channels {
            if !has_message(db, alert.id, channel)? {
                untold.push((alert.clone(), channel.clone()));
            }
        }
    }
    Ok(untold)
}

/// Whether the channel has a message about the alert, sent or not.
fn has_message(db: &Connection, alert: i64, channel: &str) -> QueryResult<bool> {
    db.prepare_cached("SELECT 1 FROM outbox WHERE alert = ?1 AND channel = ?2")?.exists(params![alert, channel])
}

/// Whether a message to everybody about this cause, which lasts, was certainly received.
pub fn is_known(db: &Connection, cause: &str) -> QueryResult<bool> {
    db.prepare_cached(
        "SELECT 1 FROM alert JOIN outbox ON outbox.alert = alert.id
         WHERE alert.audience = '' AND alert.cause = ?1 AND alert.over_at IS NULL AND outbox.sent_at IS NOT NULL",
    )?
    .exists([cause])
}

/// The alert is over. Messages that were certainly not received are not sent any more. Returns those of `channels` that
/// may know of the alert.
pub fn over(db: &Connection, id: i64, channels: &[String], now: Millis) -> QueryResult<Vec<String>> {
    db.run("UPDATE alert SET over_at = ?2 WHERE id = ?1", params![id, now])?;
    db.run("DELETE FROM outbox WHERE alert = ?1 AND sent_at IS NULL AND begun = 0", [id])?;
    let mut knowing = Vec::new();
    for channel in channels {
        if has_message(db, id, channel)? {
            knowing.push(channel.clone());
        }
    }
    Ok(knowing)
}

/// Puts a message into the outbox of a channel. An earlier message of the same alert that was certainly not received is
/// dropped: the new one includes it.
pub fn post(db: &Connection, alert: i64, message: &str, channel: &str, content: &str, now: Millis) -> QueryResult<()> {
    db.run(
        "DELETE FROM outbox WHERE alert = ?1 AND channel = ?2 AND sent_at IS NULL AND begun = 0",
        params![alert, channel],
    )?;
    db.run(
        "INSERT INTO outbox (alert, message, channel, content, created_at, due_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)
         ON CONFLICT DO NOTHING",
        params![alert, message, channel, content, now],
    )
}

/// The oldest message that waits for this channel.
pub fn waiting(db: &Connection, channel: &str) -> QueryResult<Option<Waiting>> {
    db.prepare_cached(
        "SELECT id, message, content, attempts, due_at, created_at FROM outbox
         WHERE channel = ?1 AND sent_at IS NULL ORDER BY id LIMIT 1",
    )?
    .query_row([channel], |row| Ok(from_row!(row => Waiting { id, message, content, attempts, due_at, created_at })))
    .optional()
}

/// To be called right before a message is sent: from now on it may have arrived. Returns whether it is still to be
/// sent.
pub fn sending(db: &Connection, id: i64) -> QueryResult<bool> {
    db.change(
        "UPDATE outbox SET begun = CASE begun WHEN 0 THEN 1 ELSE 2 END, attempts = attempts + 1
         WHERE id = ?1 AND sent_at IS NULL",
        [id],
    )
    .map(|changed| changed > 0)
}

/// The message was received.
pub fn sent(db: &Connection, id: i64, now: Millis) -> QueryResult<()> {
    db.run("UPDATE outbox SET sent_at = ?2 WHERE id = ?1", params![id, now])
}

/// An attempt failed; the message may have arrived or not. If the alert is over and surely nobody heard of it, its
/// message is dropped.
pub fn not_sent(db: &Connection, id: i64, may_have_arrived: bool, due_at: Millis) -> QueryResult<()> {
    db.run(
        "UPDATE outbox SET begun = CASE WHEN begun = 2 OR ?2 THEN 2 ELSE 0 END, due_at = ?3 WHERE id = ?1",
        params![id, may_have_arrived, due_at],
    )?;
    db.run(
        "DELETE FROM outbox
         WHERE NOT ?2 AND (alert, channel) = (SELECT alert, channel FROM outbox WHERE id = ?1)
           AND EXISTS (SELECT 1 FROM alert WHERE alert.id = outbox.alert AND over_at IS NOT NULL)
           AND NOT EXISTS (SELECT 1 FROM outbox AS heard
                           WHERE heard.alert = outbox.alert AND heard.channel = outbox.channel
                             AND (heard.sent_at IS NOT NULL OR heard.begun > 0))",
        params![id, may_have_arrived],
    )
}

/// Drops a message that no receiver took for too long, or whose channel is gone.
pub fn give_up(db: &Connection, id: i64) -> QueryResult<()> {
    db.run("DELETE FROM outbox WHERE id = ?1", [id])
}

/// Forgets alerts that were over before `before`, or whose audience is none of these, with their messages, and messages
/// for channels other than these.
pub fn prune(db: &Connection, audiences: &[String], channels: &[String], before: Millis) -> QueryResult<()> {
    db.run(
        "DELETE FROM alert WHERE over_at < ?1 OR audience NOT IN (SELECT value FROM json_each(?2))",
        params![before, as_json(audiences)],
    )?;
    db.run(
        "DELETE FROM outbox WHERE sent_at IS NULL AND channel NOT IN (SELECT value FROM json_each(?1))",
        [as_json(channels)],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::testing;

    /// The outcome of an attempt.
    enum Try {
        /// The answer was lost, or the process ended.
        Lost,
        /// It was refused.
        Refused,
    }

    /// Whether the end of an alert is told whose message had these attempts.
    fn is_told_the_end(tries: &[Try]) -> bool {
        let (_folder, db) = testing::empty();
        let about = About { names: Vec::new(), documents: 1, since: None };
        begin(&db, "", "disk", &about, 1).unwrap();
        let alert = super::open(&db, "").unwrap().remove(0).id;
        post(&db, alert, "msg", "mail", "{}", 1).unwrap();
        let id = waiting(&db, "mail").unwrap().unwrap().id;
        for (number, one) in (2..).zip(tries) {
            assert!(sending(&db, id).unwrap());
            if let Try::Refused = one {
                not_sent(&db, id, false, number).unwrap();
            }
        }
        over(&db, alert, &["mail".to_owned()], 9).unwrap() == ["mail"]
    }

    #[test]
    fn the_end_is_told_to_whoever_may_know_of_the_beginning() {
        use Try::{Lost, Refused};
        for (tries, told) in [
            (&[][..], false),
            (&[Refused], false),
            (&[Refused, Refused], false),
            (&[Lost], true),
            (&[Lost, Refused], true),
            (&[Refused, Lost, Refused, Refused], true),
        ] {
            assert_eq!(is_told_the_end(tries), told, "{} tries", tries.len());
        }
    }
}

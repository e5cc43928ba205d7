-- Frozen: a change of the schema is a new file with the next number.
-- How docsyncd is, in sentences; and who was told of what.

ALTER TABLE account ADD COLUMN poll_failing_since INTEGER; -- the first poll that failed since one last ended well
ALTER TABLE account ADD COLUMN next_poll_at INTEGER;

-- Few: those that failed in a way that may pass.
CREATE INDEX document_stalled ON document (account, state, failing_since)
    WHERE failing_since IS NOT NULL AND due_at IS NOT NULL;
CREATE INDEX delivery_stalled ON delivery (destination, failing_since, failure)
    WHERE state = 'pending' AND failing_since IS NOT NULL AND due_at IS NOT NULL;

-- What somebody is told of: one row from the first time that it needs a person until it is over.
CREATE TABLE alert (
    id          INTEGER PRIMARY KEY,
    cause       TEXT NOT NULL,                     -- src/health/cause.rs
    names       TEXT NOT NULL,                     -- the accounts or destinations, as JSON
    documents   INTEGER NOT NULL,
    since       INTEGER,
    opened_at   INTEGER NOT NULL,
    told_at     INTEGER,                           -- when the last message about it was put into the outbox
    told_latest INTEGER,                           -- the last of its documents that a message told of
    over_at     INTEGER
) STRICT;
CREATE UNIQUE INDEX alert_open ON alert (cause) WHERE over_at IS NULL;
CREATE INDEX alert_told ON alert (cause, told_at);

-- Messages, each once for every channel. What was sent stays as long as its alert.
CREATE TABLE outbox (
    id         INTEGER PRIMARY KEY,
    alert      INTEGER NOT NULL REFERENCES alert (id) ON DELETE CASCADE,
    message    TEXT NOT NULL,                      -- its identifier, by which a receiver recognises a repetition
    channel    TEXT NOT NULL,                      -- 'webhook', 'mail'
    content    TEXT NOT NULL,                      -- JSON; no text but the names above
    created_at INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0,
    begun      INTEGER NOT NULL DEFAULT 0,         -- 1: the last try may have arrived, 2: one before it
    sent_at    INTEGER,
    UNIQUE (message, channel)
) STRICT;
CREATE INDEX outbox_alert ON outbox (alert, channel);
CREATE INDEX outbox_waiting ON outbox (channel, id) WHERE sent_at IS NULL;

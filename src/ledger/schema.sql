-- What all migrations make of an empty file. Written by a test: `DOCSYNCD_TEST_WRITE=1 cargo test --lib ledger::open`.

CREATE TABLE account (
    name        TEXT PRIMARY KEY,
    cursor      TEXT,                              -- createdAt of the last document a walk by key has covered
    walk        TEXT NOT NULL DEFAULT 'key',       -- 'key', or 'pages' where the date filter does not work
    sweep       INTEGER NOT NULL DEFAULT 0,        -- number of the last sweep that was begun
    swept_at    INTEGER,                           -- when a sweep last ended
    polled_at   INTEGER,                           -- when a poll last ended well
    poll_failed INTEGER NOT NULL DEFAULT 0,        -- polls that failed since then
    poll_error  TEXT
, reread TEXT, reread_since INTEGER NOT NULL DEFAULT 0, poll_failing_since INTEGER, next_poll_at INTEGER, poll_code TEXT) STRICT, WITHOUT ROWID;

CREATE TABLE document (
    id            INTEGER PRIMARY KEY,
    account       TEXT NOT NULL,
    uuid          TEXT NOT NULL,
    created_at    TEXT NOT NULL,
    kind          TEXT,                            -- document.type
    state         TEXT NOT NULL,
    round         INTEGER NOT NULL DEFAULT 0,      -- grows each time the document starts over; older work is dropped
    listed_pdf    TEXT,                            -- the PDF's identifier as the list shows it
    pdf           TEXT NOT NULL DEFAULT '',        -- pdf.uuid of the version that is worked on
    metadata      TEXT,                            -- what templates need, only while the document is open
    sha256        TEXT,
    size          INTEGER,
    attempts      INTEGER NOT NULL DEFAULT 0,      -- failed ones in this state
    strikes       INTEGER NOT NULL DEFAULT 0,      -- downloads that were no acceptable PDF
    due_at        INTEGER,                         -- NULL when nothing is left to do
    failing_since INTEGER,
    reason        TEXT,
    listed        INTEGER NOT NULL DEFAULT 1,      -- 0: a sweep has seen that it left the list
    sweep         INTEGER NOT NULL DEFAULT 0,      -- the last sweep that saw it
    looked        INTEGER NOT NULL DEFAULT 0,      -- times it was still listed when looked for after its end
    found_at      INTEGER NOT NULL,
    changed_at    INTEGER NOT NULL, history_removed INTEGER NOT NULL DEFAULT 0, started_over INTEGER NOT NULL DEFAULT 0, failure_sent INTEGER NOT NULL DEFAULT 0, missing_at INTEGER, absent_at INTEGER, unasked INTEGER NOT NULL DEFAULT 0, key_account TEXT, failure TEXT, report_failure TEXT, report_reason TEXT, failing_for INTEGER NOT NULL DEFAULT 0, read_at INTEGER, tried_pdf TEXT, reason_code TEXT, conflict_pdf TEXT, conflict_since INTEGER, refusals INTEGER NOT NULL DEFAULT 0,
    UNIQUE (account, uuid)
) STRICT;

CREATE INDEX document_due ON document (state, account, due_at);

CREATE TABLE delivery (
    document      INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    pdf           TEXT NOT NULL,
    destination   TEXT NOT NULL,
    state         TEXT NOT NULL,                   -- 'pending', 'delivered', 'failed'
    attempts      INTEGER NOT NULL DEFAULT 0,
    due_at        INTEGER,
    failing_since INTEGER,
    reason        TEXT,
    place         TEXT,
    changed_at    INTEGER NOT NULL, failure TEXT, failing_for INTEGER NOT NULL DEFAULT 0, unconfirmed_at INTEGER, reason_code TEXT, refusals INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (document, pdf, destination)
) STRICT, WITHOUT ROWID;

CREATE INDEX delivery_due ON delivery (state, destination, due_at);

CREATE TABLE pause (
    scope    TEXT PRIMARY KEY,                     -- 'account:NAME', 'fetch:NAME', 'report:NAME', 'destination:NAME'
    class    TEXT NOT NULL,                        -- failures of one kind share it
    reason   TEXT NOT NULL,
    since    INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    probe_at INTEGER NOT NULL
, candidate INTEGER, candidate_tries INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;

CREATE TABLE process (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX document_uuid ON document (uuid COLLATE NOCASE);

CREATE INDEX document_changed ON document (state, changed_at);

CREATE INDEX document_to_prune ON document (changed_at)
    WHERE state IN ('reported', 'withdrawn') AND history_removed = 0;

CREATE TABLE filed (
    content TEXT NOT NULL,                         -- the first 16 digits of the PDF's SHA-256
    file    TEXT NOT NULL,                         -- digest of content and path
    uuid    TEXT NOT NULL,                         -- of a document that was filed there
    PRIMARY KEY (content, file, uuid)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX document_identity ON document (uuid);

CREATE INDEX document_in_list ON document (account) WHERE listed = 1 OR missing_at IS NOT NULL;

CREATE INDEX document_to_look_for ON document (account)
    WHERE missing_at IS NOT NULL OR (listed = 1 AND looked < 3 AND state IN ('reported', 'failed'));

CREATE TABLE file_reservation (
    place       TEXT PRIMARY KEY,                  -- digest of the whole path
    family      TEXT NOT NULL,                     -- the same without the number of the version: one document's alone
    destination TEXT NOT NULL,
    uuid        TEXT NOT NULL,                     -- of the document
    pdf         TEXT NOT NULL,                     -- of its version
    version     INTEGER NOT NULL,                  -- 1 for the first that the destination got
    filed       INTEGER NOT NULL DEFAULT 0,        -- 1: a file had this name
    path        TEXT,                              -- the path below the destination, only while the file is about to get it
    temporary   TEXT                               -- the file's name until then
) STRICT, WITHOUT ROWID;

CREATE INDEX file_reservation_family ON file_reservation (family);

CREATE INDEX file_reservation_document ON file_reservation (uuid, destination);

CREATE INDEX file_reservation_intended ON file_reservation (temporary) WHERE temporary IS NOT NULL;

CREATE TABLE name (
    document INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    kept_at  INTEGER NOT NULL,
    shown    TEXT NOT NULL,                        -- the patient's name
    words    TEXT NOT NULL,                        -- what is searched, folded: name, type, names of files, short uuid
    indexed  INTEGER NOT NULL DEFAULT 0            -- 1: the words are in the index
) STRICT;

CREATE INDEX name_kept ON name (kept_at);

CREATE INDEX name_waiting ON name (document) WHERE indexed = 0;

CREATE TRIGGER name_indexed AFTER UPDATE OF indexed ON name WHEN OLD.indexed = 0 AND NEW.indexed = 1 BEGIN
    INSERT INTO name_word (rowid, words) VALUES (NEW.document, NEW.words);
END;

CREATE TRIGGER name_changed AFTER UPDATE OF words ON name WHEN OLD.indexed = 1 BEGIN
    INSERT INTO name_word (name_word, rowid, words) VALUES ('delete', OLD.document, OLD.words);
END;

CREATE TRIGGER name_erased AFTER DELETE ON name WHEN OLD.indexed = 1 BEGIN
    INSERT INTO name_word (name_word, rowid, words) VALUES ('delete', OLD.document, OLD.words);
END;

CREATE INDEX document_held ON document (account, failure) WHERE state = 'failing' AND failure_sent = 0;

CREATE INDEX delivery_held ON delivery (destination, failure) WHERE state = 'failed' AND failure IS NOT NULL;

CREATE INDEX document_stalled ON document (account, state, failing_since)
    WHERE failing_since IS NOT NULL AND due_at IS NOT NULL;

CREATE INDEX delivery_stalled ON delivery (destination, failing_since, failure)
    WHERE state = 'pending' AND failing_since IS NOT NULL AND due_at IS NOT NULL;

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

CREATE INDEX delivery_unconfirmed ON delivery (document) WHERE unconfirmed_at IS NOT NULL;

CREATE TABLE account_count (
    account   TEXT NOT NULL,
    state     TEXT NOT NULL,
    documents INTEGER NOT NULL,
    PRIMARY KEY (state, account)
) STRICT, WITHOUT ROWID;

CREATE VIEW document_count AS SELECT state, sum(documents) AS documents FROM account_count GROUP BY state;

CREATE TRIGGER document_counted_in AFTER INSERT ON document BEGIN
    INSERT INTO account_count (account, state, documents) VALUES (NEW.account, NEW.state, 1)
        ON CONFLICT (state, account) DO UPDATE SET documents = documents + 1;
END;

CREATE TRIGGER document_counted_over AFTER UPDATE OF state, account ON document
WHEN OLD.state <> NEW.state OR OLD.account <> NEW.account BEGIN
    UPDATE account_count SET documents = documents - 1 WHERE account = OLD.account AND state = OLD.state;
    INSERT INTO account_count (account, state, documents) VALUES (NEW.account, NEW.state, 1)
        ON CONFLICT (state, account) DO UPDATE SET documents = documents + 1;
END;

CREATE TRIGGER document_counted_out AFTER DELETE ON document BEGIN
    UPDATE account_count SET documents = documents - 1 WHERE account = OLD.account AND state = OLD.state;
END;

CREATE INDEX document_open ON document (account, found_at)
    WHERE state IN ('discovered', 'fetched', 'delivered', 'failing');

CREATE TABLE page_link (
    digest     TEXT PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE page_session (
    digest     TEXT PRIMARY KEY,
    since      INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook (
    account TEXT NOT NULL,
    url     TEXT NOT NULL,
    uuid    TEXT,
    secret  TEXT,
    PRIMARY KEY (account, url)
) STRICT, WITHOUT ROWID;

CREATE TABLE "history" (
    id          INTEGER PRIMARY KEY,
    document    INTEGER REFERENCES document (id) ON DELETE CASCADE, -- NULL: something that an administrator did
    at          INTEGER NOT NULL,
    event       TEXT NOT NULL,
    state       TEXT NOT NULL,
    attempt     INTEGER NOT NULL,
    destination TEXT,
    reason      TEXT,
    who         TEXT,                              -- the user of this computer who did it, where that is known
    -- Of a reason: random bytes that are hashed with it. Once it is erased: that hash, from which nobody can guess it.
    seal        BLOB,
    previous    BLOB,                              -- the hash of the row before, when that was removed in good order
    hash        BLOB                               -- NULL: an earlier version wrote it
) STRICT;

CREATE INDEX history_document ON history (document, id);

CREATE TRIGGER history_is_append_only BEFORE UPDATE ON history
WHEN (NEW.reason IS NOT OLD.reason AND NEW.reason IS NOT NULL) OR (NEW.seal IS NOT OLD.seal AND NEW.reason IS NOT NULL)
  OR NEW.id IS NOT OLD.id OR NEW.document IS NOT OLD.document OR NEW.at IS NOT OLD.at OR NEW.event IS NOT OLD.event
  OR NEW.state IS NOT OLD.state OR NEW.attempt IS NOT OLD.attempt OR NEW.destination IS NOT OLD.destination
  OR NEW.who IS NOT OLD.who OR NEW.hash IS NOT OLD.hash
BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;

CREATE VIRTUAL TABLE name_word USING fts5 (
    words, content = 'name', content_rowid = 'document', tokenize = 'unicode61 remove_diacritics 0',
    prefix = '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16'
);

CREATE INDEX document_found ON document (found_at);

CREATE INDEX document_short ON document (substr(uuid, -8) COLLATE NOCASE);

CREATE TABLE document_metadata (
    document INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    json     TEXT NOT NULL                         -- `Metadata`, only while the document is open
) STRICT;

CREATE TABLE handover (
    document INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    account  TEXT NOT NULL,
    refused  INTEGER NOT NULL,                     -- 1: the API said no to it; 0: it only could not go on
    times    INTEGER NOT NULL,                     -- how often it lost it, since the document was asked for anew
    at       INTEGER NOT NULL,                     -- when; ms since the epoch
    PRIMARY KEY (document, account)
) STRICT, WITHOUT ROWID;

INSERT INTO name_word (name_word, rank) VALUES ('secure-delete', 1);

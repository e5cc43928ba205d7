-- The ledger. Each change of this file is a new layout: see src/ledger/open/mod.rs. Times are milliseconds since
-- 1970-01-01T00:00:00Z. Text in `created_at` is what the server printed.

CREATE TABLE account (
    name               TEXT PRIMARY KEY,
    cursor             INTEGER,                         -- page at which the reading of a long list continues
    cursor_since       INTEGER,                         -- number of the poll that began this reading
    sweep              INTEGER NOT NULL DEFAULT 0,      -- number of the last poll that found a document
    swept_at           INTEGER,                         -- when a reading of the whole list last ended
    polled_at          INTEGER,                         -- when a poll last succeeded
    next_poll_at       INTEGER,
    poll_failed        INTEGER NOT NULL DEFAULT 0,      -- failed polls since the last good one
    poll_failing_since INTEGER,                         -- when the first of these failed
    poll_error         TEXT,                            -- why the last of these failed, in words
    poll_code          TEXT                             -- the same as a code
) STRICT, WITHOUT ROWID;

-- The uuid identifies a document, whichever account lists it.
CREATE TABLE document (
    id              INTEGER PRIMARY KEY,
    account         TEXT NOT NULL,
    first_account   TEXT,                               -- whose list first showed it; NULL: `account`
    uuid            TEXT NOT NULL UNIQUE,
    created_at      TEXT NOT NULL,
    kind            TEXT,                               -- document.type
    patient         TEXT,                               -- patient.uuid, or an identifier of the letter if it has none
    person          TEXT,                               -- for whom `pdf` is, as digests (src/domain/document/edition.rs)
    -- The patient's number in the practice's list, and the version (`pdf`) that was first delivered with it. Later
    -- deliveries of this version use the same number.
    number          TEXT,
    number_pdf      TEXT,
    state           TEXT NOT NULL,
    lane            TEXT AS (CASE state WHEN 'discovered' THEN 'fetch' WHEN 'fetched' THEN 'deliver'
                             WHEN 'delivered' THEN 'report' WHEN 'failing' THEN 'report' END) VIRTUAL,
    round           INTEGER NOT NULL DEFAULT 0,         -- increases at each start-over; older work is dropped
    listed_pdf      TEXT,                               -- pdf.uuid as the list shows it
    listed_patient  TEXT,                               -- patient.uuid as the list shows it
    tried_pdf       TEXT,                               -- pdf.uuid that this round tried to fetch
    pdf             TEXT NOT NULL DEFAULT '',           -- pdf.uuid of the current version, with its edition
    sha256          TEXT,
    size            INTEGER,
    due_at          INTEGER,                            -- NULL: nothing is left to do, it has ended
    -- 1: the failure was sent to the API, which may know of it.
    failure_sent    INTEGER NOT NULL DEFAULT 0,
    read_at         INTEGER,                            -- when the API last showed the document
    accepted_pdf    TEXT,                               -- see `Document::accepted_pdf`
    listed          INTEGER NOT NULL DEFAULT 1,         -- 0: it left the list, or was withdrawn
    sweep           INTEGER NOT NULL DEFAULT 0,         -- number of the last poll that saw the document
    looked          INTEGER NOT NULL DEFAULT 0,         -- times that it was still listed after its end
    missing_at      INTEGER,                            -- since when reading or reporting it returns 404
    absent_at       INTEGER,                            -- when a query for the uuid first did not return it
    -- Polls in a row that showed another PDF of the document after its end, and could not query the list for it.
    unasked         INTEGER NOT NULL DEFAULT 0,
    found_at        INTEGER NOT NULL,
    changed_at      INTEGER NOT NULL,
    seen_at         INTEGER,                            -- when a person last looked at it, after it had failed
    history_removed INTEGER NOT NULL DEFAULT 0,         -- 1: pruned after `state.keep_history`
    -- 1: the ledger was restored from a backup, and the document may have been delivered after that backup.
    in_doubt        INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What a person types: a uuid, its beginning, or the short uuid in a file name (`document::short`).
CREATE INDEX document_uuid ON document (uuid COLLATE NOCASE);
CREATE INDEX document_short ON document (substr(uuid, -8) COLLATE NOCASE);
CREATE INDEX document_found ON document (found_at);
CREATE INDEX document_pdf ON document (listed_pdf) WHERE listed_pdf IS NOT NULL;
-- A document is in one of two indexes: where it ended, in the order in which documents did, or what is due.
CREATE INDEX document_ended ON document (state, changed_at) WHERE due_at IS NULL;
-- Partial indexes: they have few rows, however large the ledger is.
CREATE INDEX document_open ON document (account, lane, due_at, state) WHERE due_at IS NOT NULL;
CREATE INDEX document_in_list ON document (account) WHERE listed = 1 OR missing_at IS NOT NULL;
CREATE INDEX document_to_look_for ON document (account)
    WHERE missing_at IS NOT NULL OR (listed = 1 AND looked < 3 AND state IN ('reported', 'failed'));
CREATE INDEX document_unseen ON document (state)
    WHERE state IN ('failed', 'unreported') AND (seen_at IS NULL OR seen_at < changed_at);
CREATE INDEX document_to_prune ON document (changed_at)
    WHERE state IN ('reported', 'withdrawn') AND history_removed = 0;

-- What templates need of an open document. It is long, and is written once and removed once, while the document's row
-- is written at every step. So it has its own table.
CREATE TABLE document_metadata (
    document INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    json     TEXT NOT NULL                              -- `Metadata`
) STRICT;

-- Triggers maintain the counts of what has ended, because counting a million rows takes most of a second. What is open
-- is counted in its index, so that a document on its way changes no count.
CREATE TABLE ended_count (
    account   TEXT NOT NULL,
    state     TEXT NOT NULL,
    documents INTEGER NOT NULL,
    PRIMARY KEY (state, account)
) STRICT, WITHOUT ROWID;

CREATE VIEW account_count AS
    SELECT account, state, documents FROM ended_count
    UNION ALL SELECT account, state, count(*) FROM document WHERE due_at IS NOT NULL GROUP BY state, account;

CREATE VIEW document_count AS SELECT state, sum(documents) AS documents FROM account_count GROUP BY state;

CREATE TRIGGER document_counted_in AFTER INSERT ON document WHEN NEW.due_at IS NULL BEGIN
    INSERT INTO ended_count (account, state, documents) VALUES (NEW.account, NEW.state, 1)
        ON CONFLICT (state, account) DO UPDATE SET documents = documents + 1;
END;

CREATE TRIGGER document_counted_over AFTER UPDATE OF state, account, due_at ON document
WHEN OLD.due_at IS NULL OR NEW.due_at IS NULL BEGIN
    UPDATE ended_count SET documents = documents - 1
        WHERE account = OLD.account AND state = OLD.state AND OLD.due_at IS NULL;
    INSERT INTO ended_count (account, state, documents) SELECT NEW.account, NEW.state, 1 WHERE NEW.due_at IS NULL
        ON CONFLICT (state, account) DO UPDATE SET documents = documents + 1;
END;

CREATE TRIGGER document_counted_out AFTER DELETE ON document WHEN OLD.due_at IS NULL BEGIN
    UPDATE ended_count SET documents = documents - 1 WHERE account = OLD.account AND state = OLD.state;
END;

-- The last time that an account lost a document to another account that lists it.
CREATE TABLE handover (
    document INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    account  TEXT NOT NULL,
    refused  INTEGER NOT NULL,                          -- 1: the API refused it; 0: the account was stuck
    times    INTEGER NOT NULL,                          -- how often, since the document was requested anew
    at       INTEGER NOT NULL,
    PRIMARY KEY (document, account)
) STRICT, WITHOUT ROWID;

CREATE TABLE delivery (
    document       INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    pdf            TEXT NOT NULL,
    destination    TEXT NOT NULL,
    -- 'pending', 'delivered', 'failed'; 'filed': the file lies there, and counts once the destination's software has
    -- taken it; 'again': it was delivered, and a person asked for it once more.
    state          TEXT NOT NULL,
    due_at         INTEGER,                             -- if 'filed': when the alarm is due that nothing took it
    unconfirmed_at INTEGER,                             -- since when: sent whole, answer lost, a person must look
    place          TEXT,
    filed          TEXT,                                -- JSON (`proof::Filed`), until the delivery is proved
    proof          TEXT,                                -- how the delivery was proved (src/domain/proof.rs)
    number         TEXT,                                -- the patient's number that it was sent with
    number_refused TEXT,                                -- the number that the destination does not take (`unmatched`)
    unmatched      TEXT,                                -- why a person must assign the patient (`whose::Unmatched`)
    to_remove      TEXT,                                -- what a person must remove there, in English
    changed_at     INTEGER NOT NULL,
    PRIMARY KEY (document, pdf, destination)
) STRICT, WITHOUT ROWID;

CREATE INDEX delivery_due ON delivery (state, destination, due_at);
CREATE INDEX delivery_unconfirmed ON delivery (document) WHERE unconfirmed_at IS NOT NULL;
CREATE INDEX delivery_filed ON delivery (destination, document) WHERE state = 'filed';
CREATE INDEX delivery_place ON delivery (place) WHERE proof = 'moved';
CREATE INDEX delivery_unmatched ON delivery (document) WHERE unmatched IS NOT NULL;
CREATE INDEX delivery_number ON delivery (changed_at, number) WHERE number IS NOT NULL;
CREATE INDEX delivery_not_replaced ON delivery (document) WHERE to_remove IS NOT NULL;
CREATE INDEX document_patient ON document (patient) WHERE patient IS NOT NULL;

-- Work that failed or waits (src/ledger/tries.rs). Work that never did has no row, and is done without touching any.
CREATE TABLE retry_state (
    document        INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    work            TEXT NOT NULL,                      -- 'fetch:', 'report:' or the destination
    pdf             TEXT NOT NULL,                      -- the version of a delivery, or empty
    attempts        INTEGER NOT NULL DEFAULT 0,         -- failed attempts; those of a document: in its state
    doubtful        INTEGER NOT NULL DEFAULT 0,         -- downloads that were not an acceptable PDF
    lost            INTEGER NOT NULL DEFAULT 0,         -- spooled PDFs lost since the last delivery
    -- Equal permanent failures in a row that count as the document's own: before each but the first, another document
    -- succeeded. Such a failure stays the document's own, however many other documents are refused as well.
    refusals        INTEGER NOT NULL DEFAULT 0,
    failing_since   INTEGER,
    failing_for     INTEGER NOT NULL DEFAULT 0,         -- milliseconds of attempts and the waits after them
    -- `failing_for` when two answers of the API first showed two PDFs of the document, as they still do.
    disagreed_after INTEGER,
    -- The last failure in the form in which failures are compared (src/domain/failure/mod.rs). Then why the work failed
    -- or waits: in English, as the API gets it, and as a code.
    failure         TEXT,
    reason          TEXT,
    reason_code     TEXT,
    PRIMARY KEY (document, work, pdf)
) STRICT, WITHOUT ROWID;

CREATE INDEX retry_state_failure ON retry_state (work, failure) WHERE failure IS NOT NULL;
CREATE INDEX retry_state_failing ON retry_state (work, failing_since) WHERE failing_since IS NOT NULL;

CREATE TRIGGER delivery_gone AFTER DELETE ON delivery BEGIN
    DELETE FROM retry_state WHERE document = OLD.document AND work = OLD.destination AND pdf = OLD.pdf;
END;

-- Which patient of the practice's own list a patient of the cloud service is, as a person said. The assignment counts
-- while name and date of birth in both places match the fingerprint.
CREATE TABLE patient (
    uuid        TEXT PRIMARY KEY,                       -- patient.uuid
    number      TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    listed      INTEGER NOT NULL,                       -- 1: the practice's list had the number at the time
    who         TEXT,                                   -- the operating system's user
    at          INTEGER NOT NULL,
    to_refile   INTEGER NOT NULL DEFAULT 0,             -- 1: letters by another number are filed anew, once nobody can undo it
    refiled     INTEGER NOT NULL DEFAULT 0              -- 1: they began anew
) STRICT, WITHOUT ROWID;

-- Patients' numbers that are, or were, sent to the cloud service (`patients.push`).
CREATE TABLE patient_push (
    uuid     TEXT PRIMARY KEY,                          -- patient.uuid
    account  TEXT NOT NULL,
    number   TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at   INTEGER                                    -- NULL: the service has it, or refused it for good
) STRICT, WITHOUT ROWID;
CREATE INDEX patient_push_due ON patient_push (due_at) WHERE due_at IS NOT NULL;

-- A name is reserved before a file gets it, so that after a crash there is one place to look at. A name's owner is kept
-- for ever, as a digest, because a path may hold patient data. A destination without names has the digest of the
-- delivery's key instead.
CREATE TABLE file_reservation (
    place       TEXT PRIMARY KEY,                       -- digest of the whole path
    family      TEXT NOT NULL,                          -- digest without the version's number; one document's
    destination TEXT NOT NULL,
    uuid        TEXT NOT NULL,                          -- the document
    pdf         TEXT NOT NULL,                          -- the PDF of its version
    version     INTEGER NOT NULL,                       -- 1: the first version that the destination got
    filed       INTEGER NOT NULL DEFAULT 0,             -- 1: a file had this name; 2: and was refused there
    path        TEXT,                                   -- below the destination; set while an intent is open
    temporary   TEXT                                    -- the file's name until it gets `path`
) STRICT, WITHOUT ROWID;

-- Most documents have one version, whose name has no number: its place is its family.
CREATE INDEX file_reservation_family ON file_reservation (family) WHERE place <> family;
CREATE INDEX file_reservation_document ON file_reservation (uuid, destination);

-- Names of sidecars in which a letter's proof is to be read, as digests. A name is another letter's again once this one
-- is proved.
CREATE TABLE sidecar_reservation (
    place       TEXT PRIMARY KEY,                       -- digest of the whole path
    destination TEXT NOT NULL,
    uuid        TEXT NOT NULL,                          -- the document
    pdf         TEXT NOT NULL                           -- the PDF of its version
) STRICT, WITHOUT ROWID;

CREATE INDEX sidecar_reservation_document ON sidecar_reservation (uuid);

CREATE TABLE pause (
    scope    TEXT PRIMARY KEY,                          -- 'account:', 'fetch:', 'report:' or 'destination:', then NAME
    failure  TEXT NOT NULL,                             -- the failure that began the pause
    reason   TEXT NOT NULL,
    since    INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    probe_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What happened to documents and what administrators did. Each row has a hash over itself and the previous row's hash,
-- so that a changed or removed row is noticed (src/views/chain/mod.rs).
CREATE TABLE history (
    id          INTEGER PRIMARY KEY,
    document    INTEGER REFERENCES document (id) ON DELETE CASCADE, -- NULL: an administrator's action
    at          INTEGER NOT NULL,
    event       TEXT NOT NULL,
    state       TEXT NOT NULL,
    attempt     INTEGER NOT NULL,
    destination TEXT,
    reason      TEXT,
    code        TEXT,                                   -- the same as a code, from which it is told in any language
    who         TEXT,                                   -- the operating system's user, or the browser
    -- While `reason` is there: its salt, random bytes that are hashed with it. Once `reason` is erased: that hash, from
    -- which nobody can guess the text.
    seal        BLOB,
    previous    BLOB,                                   -- the previous row's hash, if docsyncd removed that row
    hash        BLOB NOT NULL
) STRICT;

CREATE INDEX history_document ON history (document, id);

-- The exceptions: erasing a reason, and `previous`, which keeps the chain together when rows are removed.
CREATE TRIGGER history_is_append_only BEFORE UPDATE ON history
WHEN (NEW.reason IS NOT OLD.reason AND NEW.reason IS NOT NULL) OR (NEW.seal IS NOT OLD.seal AND NEW.reason IS NOT NULL)
  OR NEW.id IS NOT OLD.id OR NEW.document IS NOT OLD.document OR NEW.at IS NOT OLD.at OR NEW.event IS NOT OLD.event
  OR NEW.state IS NOT OLD.state OR NEW.attempt IS NOT OLD.attempt OR NEW.destination IS NOT OLD.destination
  OR NEW.code IS NOT OLD.code OR NEW.who IS NOT OLD.who OR NEW.hash IS NOT OLD.hash
BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;

-- The index for "where is my letter": names are kept for `state.keep_names`, and erased by `docsyncd forget`.
CREATE TABLE name (
    document INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    kept_at  INTEGER NOT NULL,
    shown    TEXT NOT NULL,                             -- the patient's name
    words    TEXT NOT NULL,                             -- searched, folded: name, type, file names, uuid
    indexed  INTEGER NOT NULL DEFAULT 0                 -- 1: the words are in the index
) STRICT;

CREATE INDEX name_kept ON name (kept_at);
CREATE INDEX name_waiting ON name (document) WHERE indexed = 0;

-- The full-text index is updated for many documents at a time: for a single one, the update costs more than all other
-- writes for it. Until then a search reads the words themselves. The index has an entry for each prefix of a word, so
-- that a prefix which every name has is one list, read from its newest end, and not a merge of the lists of all words.
CREATE VIRTUAL TABLE name_word USING fts5 (
    words, content = 'name', content_rowid = 'document', tokenize = 'unicode61 remove_diacritics 0',
    prefix = '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16'
);
-- Erased words leave the index at once, and not only when SQLite merges the index's pages.
INSERT INTO name_word (name_word, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER name_indexed AFTER UPDATE OF indexed ON name WHEN OLD.indexed = 0 AND NEW.indexed = 1 BEGIN
    INSERT INTO name_word (rowid, words) VALUES (NEW.document, NEW.words);
END;

CREATE TRIGGER name_changed AFTER UPDATE OF words ON name WHEN OLD.indexed = 1 BEGIN
    INSERT INTO name_word (name_word, rowid, words) VALUES ('delete', OLD.document, OLD.words);
END;

CREATE TRIGGER name_erased AFTER DELETE ON name WHEN OLD.indexed = 1 BEGIN
    INSERT INTO name_word (name_word, rowid, words) VALUES ('delete', OLD.document, OLD.words);
END;

-- Alerts. One row lasts from the first time that something needs a person until it is over.
CREATE TABLE alert (
    id          INTEGER PRIMARY KEY,
    audience    TEXT NOT NULL,                          -- NAME of [alerts.NAME]; empty: everybody
    cause       TEXT NOT NULL,                          -- src/domain/health/cause.rs
    names       TEXT NOT NULL,                          -- the accounts or destinations, as JSON
    documents   INTEGER NOT NULL,
    since       INTEGER,
    opened_at   INTEGER NOT NULL,
    told_at     INTEGER,                                -- when the last message about it was put into the outbox
    told_latest INTEGER,                                -- time of the newest document that a message reported
    over_at     INTEGER
) STRICT;

CREATE UNIQUE INDEX alert_open ON alert (audience, cause) WHERE over_at IS NULL;
CREATE INDEX alert_told ON alert (audience, cause, told_at);

-- Messages, each once per channel. A sent message stays as long as its alert.
CREATE TABLE outbox (
    id         INTEGER PRIMARY KEY,
    alert      INTEGER NOT NULL REFERENCES alert (id) ON DELETE CASCADE,
    message    TEXT NOT NULL,                           -- identifier, by which a receiver recognises a repetition
    channel    TEXT NOT NULL,                           -- 'webhook', 'mail', 'mail of NAME'
    content    TEXT NOT NULL,                           -- JSON; its only text is the alert's names
    created_at INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0,
    begun      INTEGER NOT NULL DEFAULT 0,              -- 1: the last attempt may have arrived, 2: an earlier one
    sent_at    INTEGER,
    UNIQUE (message, channel)
) STRICT;

CREATE INDEX outbox_alert ON outbox (alert, channel);
CREATE INDEX outbox_waiting ON outbox (channel, id) WHERE sent_at IS NULL;

-- Access to the status page: digests, never the secrets themselves. `docsyncd open` makes a link, which counts once;
-- the browser gets a session for it.
CREATE TABLE page_link (
    digest     TEXT PRIMARY KEY,
    expires_at INTEGER NOT NULL,
    known_for  INTEGER NOT NULL                         -- how long its session counts after it was used; milliseconds
) STRICT, WITHOUT ROWID;

CREATE TABLE page_session (
    digest     TEXT PRIMARY KEY,
    since      INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    known_for  INTEGER NOT NULL,                        -- as in its link
    browser    TEXT NOT NULL                            -- what it is, in two words: Firefox, Windows
) STRICT, WITHOUT ROWID;

-- The webhook that docsyncd registers at the API for each account. The row is written before the call, without uuid and
-- secret: the answer brings both, and shows the secret only this once. Whoever has the secret can make docsyncd poll,
-- and nothing else.
CREATE TABLE webhook (
    account TEXT NOT NULL,
    url     TEXT NOT NULL,
    uuid    TEXT,
    secret  TEXT,
    PRIMARY KEY (account, url)
) STRICT, WITHOUT ROWID;

-- What the running daemon publishes about itself, and requests to it.
CREATE TABLE process (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The ledger. A change of this file is a new layout: src/ledger/open.rs.
-- Times are milliseconds since 1970-01-01T00:00:00Z. Text in `created_at` is what the server printed.

CREATE TABLE account (
    name               TEXT PRIMARY KEY,
    cursor             INTEGER,                         -- page where the reading of a long list goes on
    cursor_since       INTEGER,                         -- number of the poll at which that began
    sweep              INTEGER NOT NULL DEFAULT 0,      -- number of the last poll that found anything
    swept_at           INTEGER,                         -- when the end of the whole list was last reached
    polled_at          INTEGER,                         -- when a poll last ended well
    next_poll_at       INTEGER,
    poll_failed        INTEGER NOT NULL DEFAULT 0,      -- polls that failed since one last ended well
    poll_failing_since INTEGER,                         -- the first of them
    poll_error         TEXT,                            -- why the last of them failed
    poll_code          TEXT                             -- the same as data
) STRICT, WITHOUT ROWID;

-- A document is its uuid, whichever account lists it.
CREATE TABLE document (
    id              INTEGER PRIMARY KEY,
    account         TEXT NOT NULL,
    uuid            TEXT NOT NULL UNIQUE,
    created_at      TEXT NOT NULL,
    kind            TEXT,                               -- document.type
    patient         TEXT,                               -- whose it is: patient.uuid, or the letter's own where there is none
    -- The patient's number in the practice's list that this version (`pdf`) was first delivered with: it stays.
    number          TEXT,
    number_pdf      TEXT,
    state           TEXT NOT NULL,
    round           INTEGER NOT NULL DEFAULT 0,         -- grows each time it starts over; older work is dropped
    listed_pdf      TEXT,                               -- the PDF's identifier as the list shows it
    tried_pdf       TEXT,                               -- the version that this round tried, as it was read
    pdf             TEXT NOT NULL DEFAULT '',           -- pdf.uuid of the version that is worked on
    sha256          TEXT,
    size            INTEGER,
    attempts        INTEGER NOT NULL DEFAULT 0,         -- failed ones in this state
    strikes         INTEGER NOT NULL DEFAULT 0,         -- downloads that were no acceptable PDF
    started_over    INTEGER NOT NULL DEFAULT 0,         -- spooled PDFs lost since it was last delivered
    due_at          INTEGER,                            -- NULL when nothing is left to do
    failing_since   INTEGER,
    failing_for     INTEGER NOT NULL DEFAULT 0,         -- milliseconds: attempts and the waits after them
    -- The last failure, as it is compared (src/failure.rs); and why it failed or waits: in English, as the API gets
    -- it, and as data.
    failure         TEXT,
    reason          TEXT,
    reason_code     TEXT,
    -- 1: its failure was sent to the API, which may know of it. 2: and then others turned out to share the failure.
    failure_sent    INTEGER NOT NULL DEFAULT 0,
    report_failure  TEXT,                               -- the last failure of its report
    report_reason   TEXT,                               -- why the API refused the report of a failure
    -- Permanent failures in a row that were alike, each but the first after something good had come since the one
    -- before it: what is refused so each time is its own failure, however many others are refused as well.
    refusals        INTEGER NOT NULL DEFAULT 0,
    read_at         INTEGER,                            -- when the API last showed it
    accepted_pdf    TEXT,                               -- shown elsewhere, waited for in vain while it showed another
    listed          INTEGER NOT NULL DEFAULT 1,         -- 0: it left the list, or ended as withdrawn
    sweep           INTEGER NOT NULL DEFAULT 0,         -- the last poll that saw it
    looked          INTEGER NOT NULL DEFAULT 0,         -- times it was still listed when looked for after its end
    missing_at      INTEGER,                            -- since when reading or reporting it answers 404
    absent_at       INTEGER,                            -- when the list, asked for it, first did not show it
    -- Polls in a row that showed another PDF of it, after it had ended, and could not ask for it.
    unasked         INTEGER NOT NULL DEFAULT 0,
    found_at        INTEGER NOT NULL,
    changed_at      INTEGER NOT NULL,
    history_removed INTEGER NOT NULL DEFAULT 0          -- 1: it was older than `state.keep_history`
) STRICT;

-- What a person types: a uuid, its beginning, and the short one in the name of a file (`document::short`).
CREATE INDEX document_uuid ON document (uuid COLLATE NOCASE);
CREATE INDEX document_short ON document (substr(uuid, -8) COLLATE NOCASE);
CREATE INDEX document_due ON document (state, account, due_at);
CREATE INDEX document_changed ON document (state, changed_at);
CREATE INDEX document_found ON document (found_at);
-- Partial indexes: few rows, whatever the ledger holds.
CREATE INDEX document_open ON document (account, found_at)
    WHERE state IN ('discovered', 'fetched', 'delivered', 'failing');
CREATE INDEX document_in_list ON document (account) WHERE listed = 1 OR missing_at IS NOT NULL;
CREATE INDEX document_to_look_for ON document (account)
    WHERE missing_at IS NOT NULL OR (listed = 1 AND looked < 3 AND state IN ('reported', 'failed'));
CREATE INDEX document_held ON document (account, failure) WHERE state = 'failing' AND failure_sent = 0;
CREATE INDEX document_stalled ON document (account, state, failing_since)
    WHERE failing_since IS NOT NULL AND due_at IS NOT NULL;
CREATE INDEX document_to_prune ON document (changed_at)
    WHERE state IN ('reported', 'withdrawn') AND history_removed = 0;

-- What templates need of a document that is open. It is long, written once and removed once, while the document's row
-- is written at every step.
CREATE TABLE document_metadata (
    document INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    json     TEXT NOT NULL                              -- `Metadata`
) STRICT;

-- Kept by triggers, because to count a million rows takes a good part of a second.
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

-- The last time that an account lost a document to another one that lists it.
CREATE TABLE handover (
    document INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    account  TEXT NOT NULL,
    refused  INTEGER NOT NULL,                          -- 1: the API said no to it; 0: it only could not go on
    times    INTEGER NOT NULL,                          -- how often it lost it, since the document was asked for anew
    at       INTEGER NOT NULL,
    PRIMARY KEY (document, account)
) STRICT, WITHOUT ROWID;

CREATE TABLE delivery (
    document       INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    pdf            TEXT NOT NULL,
    destination    TEXT NOT NULL,
    -- 'pending'; 'filed': it lies there, and counts once the destination's software has it; 'delivered', 'failed'.
    state          TEXT NOT NULL,
    attempts       INTEGER NOT NULL DEFAULT 0,
    due_at         INTEGER,                             -- of a filed one: when a person is told that nothing took it
    failing_since  INTEGER,
    failing_for    INTEGER NOT NULL DEFAULT 0,
    failure        TEXT,                                -- as that of a document; NULL once the API may know of it
    reason         TEXT,
    reason_code    TEXT,
    refusals       INTEGER NOT NULL DEFAULT 0,
    unconfirmed_at INTEGER,                             -- sent whole, answer lost: since then a person has to look
    place          TEXT,
    filed          TEXT,                                -- JSON (`proof::Filed`), until that is proved
    proof          TEXT,                                -- by what it is delivered (src/proof.rs)
    number         TEXT,                                -- the patient's in the practice's list, which it was sent with
    unmatched      TEXT,                                -- why a person has to say whose it is (`whose::Unmatched`)
    changed_at     INTEGER NOT NULL,
    PRIMARY KEY (document, pdf, destination)
) STRICT, WITHOUT ROWID;

CREATE INDEX delivery_due ON delivery (state, destination, due_at);
CREATE INDEX delivery_held ON delivery (destination, failure) WHERE state = 'failed' AND failure IS NOT NULL;
CREATE INDEX delivery_stalled ON delivery (destination, failing_since, failure)
    WHERE state = 'pending' AND failing_since IS NOT NULL AND due_at IS NOT NULL;
CREATE INDEX delivery_unconfirmed ON delivery (document) WHERE unconfirmed_at IS NOT NULL;
CREATE INDEX delivery_filed ON delivery (destination, document) WHERE state = 'filed';
CREATE INDEX delivery_place ON delivery (place) WHERE proof = 'moved';
CREATE INDEX delivery_unmatched ON delivery (document) WHERE unmatched IS NOT NULL;
CREATE INDEX delivery_not_replaced ON delivery (document) WHERE reason_code = 'not_replaced';
CREATE INDEX document_patient ON document (patient) WHERE patient IS NOT NULL;

-- Who a patient of the cloud service is in the practice's own list, as a person said. It counts as long as name and date of
-- birth are in both places what the digest was made of.
CREATE TABLE patient (
    uuid        TEXT PRIMARY KEY,                       -- patient.uuid
    number      TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    listed      INTEGER NOT NULL,                       -- 1: the list had the number then
    who         TEXT,                                   -- the user of this computer
    at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Numbers that the cloud service is to be told, or was (`patients.push`).
CREATE TABLE patient_push (
    uuid     TEXT PRIMARY KEY,                          -- patient.uuid
    account  TEXT NOT NULL,
    number   TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at   INTEGER                                    -- NULL: it was told, or does not want to hear it
) STRICT, WITHOUT ROWID;
CREATE INDEX patient_push_due ON patient_push (due_at) WHERE due_at IS NOT NULL;

-- A name is reserved before a file gets it, so that after a crash there is one place to look at. Whose a name is is
-- kept for ever, as a digest, because a path may hold patient data. A destination without names has the digest of the
-- delivery's key.
CREATE TABLE file_reservation (
    place       TEXT PRIMARY KEY,                       -- digest of the whole path
    family      TEXT NOT NULL,                          -- the same without the version's number: one document's
    destination TEXT NOT NULL,
    uuid        TEXT NOT NULL,                          -- of the document
    pdf         TEXT NOT NULL,                          -- of its version
    version     INTEGER NOT NULL,                       -- 1 for the first that the destination got
    filed       INTEGER NOT NULL DEFAULT 0,             -- 1: a file had this name
    path        TEXT,                                   -- below the destination, while the file is about to get it
    temporary   TEXT                                    -- the file's name until then
) STRICT, WITHOUT ROWID;

CREATE INDEX file_reservation_family ON file_reservation (family);
CREATE INDEX file_reservation_document ON file_reservation (uuid, destination);
CREATE INDEX file_reservation_intended ON file_reservation (temporary) WHERE temporary IS NOT NULL;

CREATE TABLE pause (
    scope           TEXT PRIMARY KEY,                   -- 'account:', 'fetch:', 'report:' or 'destination:', and NAME
    failure         TEXT NOT NULL,                      -- what began it
    reason          TEXT NOT NULL,
    since           INTEGER NOT NULL,
    attempts        INTEGER NOT NULL,
    probe_at        INTEGER NOT NULL,
    candidate       INTEGER,                            -- the document that it is probed with
    candidate_tries INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What happened to documents and what administrators did. Each row has a hash over itself and the hash of the row
-- before, so that a row that is changed or removed in this file is noticed (src/ledger/chain.rs).
CREATE TABLE history (
    id          INTEGER PRIMARY KEY,
    document    INTEGER REFERENCES document (id) ON DELETE CASCADE, -- NULL: something that an administrator did
    at          INTEGER NOT NULL,
    event       TEXT NOT NULL,
    state       TEXT NOT NULL,
    attempt     INTEGER NOT NULL,
    destination TEXT,
    reason      TEXT,
    who         TEXT,                                   -- the user of this computer who did it, where that is known
    -- Of a reason: random bytes that are hashed with it. Once it is erased: that hash, from which nobody can guess it.
    seal        BLOB,
    previous    BLOB,                                   -- the hash of the row before, if docsyncd removed that
    hash        BLOB NOT NULL
) STRICT;

CREATE INDEX history_document ON history (document, id);

-- But for a reason that is erased, and what keeps the chain together when rows are removed.
CREATE TRIGGER history_is_append_only BEFORE UPDATE ON history
WHEN (NEW.reason IS NOT OLD.reason AND NEW.reason IS NOT NULL) OR (NEW.seal IS NOT OLD.seal AND NEW.reason IS NOT NULL)
  OR NEW.id IS NOT OLD.id OR NEW.document IS NOT OLD.document OR NEW.at IS NOT OLD.at OR NEW.event IS NOT OLD.event
  OR NEW.state IS NOT OLD.state OR NEW.attempt IS NOT OLD.attempt OR NEW.destination IS NOT OLD.destination
  OR NEW.who IS NOT OLD.who OR NEW.hash IS NOT OLD.hash
BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;

-- Where is my letter: names are kept for `state.keep_names`, and erased by `docsyncd forget`.
CREATE TABLE name (
    document INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    kept_at  INTEGER NOT NULL,
    shown    TEXT NOT NULL,                             -- the patient's name
    words    TEXT NOT NULL,                             -- what is searched, folded: name, type, file names, uuid
    indexed  INTEGER NOT NULL DEFAULT 0                 -- 1: the words are in the index
) STRICT;

CREATE INDEX name_kept ON name (kept_at);
CREATE INDEX name_waiting ON name (document) WHERE indexed = 0;

-- The index is brought up to date for many documents at a time: for each one alone it costs more than all else that is
-- written of it. Until then a search reads the words themselves. It has an entry for each beginning of a word, so that
-- a beginning that every name has is one list, read from its newest end, and not the lists of all words merged.
CREATE VIRTUAL TABLE name_word USING fts5 (
    words, content = 'name', content_rowid = 'document', tokenize = 'unicode61 remove_diacritics 0',
    prefix = '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16'
);
-- What is erased leaves the index at once, and not when its pages are merged one day.
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

-- What somebody is told of: one row from the first time that it needs a person until it is over.
CREATE TABLE alert (
    id          INTEGER PRIMARY KEY,
    cause       TEXT NOT NULL,                          -- src/health/cause.rs
    names       TEXT NOT NULL,                          -- the accounts or destinations, as JSON
    documents   INTEGER NOT NULL,
    since       INTEGER,
    opened_at   INTEGER NOT NULL,
    told_at     INTEGER,                                -- when the last message about it was put into the outbox
    told_latest INTEGER,                                -- the last of its documents that a message told of
    over_at     INTEGER
) STRICT;

CREATE UNIQUE INDEX alert_open ON alert (cause) WHERE over_at IS NULL;
CREATE INDEX alert_told ON alert (cause, told_at);

-- Messages, each once for every channel. What was sent stays as long as its alert.
CREATE TABLE outbox (
    id         INTEGER PRIMARY KEY,
    alert      INTEGER NOT NULL REFERENCES alert (id) ON DELETE CASCADE,
    message    TEXT NOT NULL,                           -- its identifier, by which a receiver recognises a repetition
    channel    TEXT NOT NULL,                           -- 'webhook', 'mail'
    content    TEXT NOT NULL,                           -- JSON; no text but the names above
    created_at INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0,
    begun      INTEGER NOT NULL DEFAULT 0,              -- 1: the last try may have arrived, 2: one before it
    sent_at    INTEGER,
    UNIQUE (message, channel)
) STRICT;

CREATE INDEX outbox_alert ON outbox (alert, channel);
CREATE INDEX outbox_waiting ON outbox (channel, id) WHERE sent_at IS NULL;

-- What opens the status page: digests, never the secrets themselves. A link is made by `docsyncd open` and counts once;
-- a session is what the browser gets for it.
CREATE TABLE page_link (
    digest     TEXT PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE page_session (
    digest     TEXT PRIMARY KEY,
    since      INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The webhook that docsyncd registers at the API for each account. The row is written before the call, with neither
-- uuid nor secret: both come with the answer, which shows the secret that one time. Who has the secret can make docsyncd
-- poll, and nothing else.
CREATE TABLE webhook (
    account TEXT NOT NULL,
    url     TEXT NOT NULL,
    uuid    TEXT,
    secret  TEXT,
    PRIMARY KEY (account, url)
) STRICT, WITHOUT ROWID;

-- What the running daemon says of itself, and what it is asked for.
CREATE TABLE process (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

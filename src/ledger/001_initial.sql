-- Frozen: a change of the schema is a new file with the next number.
-- Times are milliseconds since 1970-01-01T00:00:00Z. Text in `created_at` and `cursor` is what the server printed.

CREATE TABLE account (
    name        TEXT PRIMARY KEY,
    cursor      TEXT,                              -- createdAt of the last document a walk by key has covered
    walk        TEXT NOT NULL DEFAULT 'key',       -- 'key', or 'pages' where the date filter does not work
    sweep       INTEGER NOT NULL DEFAULT 0,        -- number of the last sweep that was begun
    swept_at    INTEGER,                           -- when a sweep last ended
    polled_at   INTEGER,                           -- when a poll last ended well
    poll_failed INTEGER NOT NULL DEFAULT 0,        -- polls that failed since then
    poll_error  TEXT
) STRICT, WITHOUT ROWID;

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
    changed_at    INTEGER NOT NULL,
    UNIQUE (account, uuid)
) STRICT;
CREATE INDEX document_due ON document (state, account, due_at);
CREATE INDEX document_listed ON document (account, listed, state, looked);

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
    changed_at    INTEGER NOT NULL,
    PRIMARY KEY (document, pdf, destination)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_due ON delivery (state, destination, due_at);

CREATE TABLE history (
    id          INTEGER PRIMARY KEY,
    document    INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    at          INTEGER NOT NULL,
    event       TEXT NOT NULL,
    state       TEXT NOT NULL,
    attempt     INTEGER NOT NULL,
    destination TEXT,
    reason      TEXT
) STRICT;
CREATE INDEX history_document ON history (document, id);
CREATE TRIGGER history_is_append_only BEFORE UPDATE ON history
BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;

CREATE TABLE pause (
    scope    TEXT PRIMARY KEY,                     -- 'account:NAME', 'fetch:NAME', 'report:NAME', 'destination:NAME'
    class    TEXT NOT NULL,                        -- failures of one kind share it
    reason   TEXT NOT NULL,
    since    INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    probe_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE process (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Frozen: a change of the schema is a new file with the next number.
-- What the status page and /metrics ask for costs the same whatever the ledger holds; and who may see names on the page.

CREATE TABLE account_count (
    account   TEXT NOT NULL,
    state     TEXT NOT NULL,
    documents INTEGER NOT NULL,
    PRIMARY KEY (state, account)
) STRICT, WITHOUT ROWID;
INSERT INTO account_count (account, state, documents) SELECT account, state, count(*) FROM document GROUP BY state, account;

DROP TRIGGER document_counted_in;
DROP TRIGGER document_counted_over;
DROP TRIGGER document_counted_out;
DROP TABLE document_count;
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

-- Few: those that docsyncd still has to work on. How long the oldest of them waits.
CREATE INDEX document_open ON document (account, found_at)
    WHERE state IN ('discovered', 'fetched', 'delivered', 'failing');

-- What opens the status page: digests, never the secrets themselves. A link is made by `docsyncd open` and counts once; a
-- session is what the browser gets for it.
CREATE TABLE page_link (
    digest     TEXT PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE page_session (
    digest     TEXT PRIMARY KEY,
    since      INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Frozen: a change of the schema is a new file with the next number.
-- So that nothing docsyncd asks costs more when the ledger has a million documents, and its history can be removed.

-- 1: the history was removed, since it was older than `state.keep_history`; zero again when the document moves.
ALTER TABLE document ADD COLUMN history_removed INTEGER NOT NULL DEFAULT 0;

CREATE INDEX document_uuid ON document (uuid COLLATE NOCASE);            -- what a person types
CREATE INDEX document_changed ON document (state, changed_at);           -- `docsyncd list`
CREATE INDEX document_to_prune ON document (changed_at)
    WHERE state IN ('reported', 'withdrawn') AND history_removed = 0;

-- Few, whatever the ledger holds: those that have left the list are in neither.
DROP INDEX document_listed;
CREATE INDEX document_still_listed ON document (account)
    WHERE listed = 1 AND state IN ('reported', 'failed', 'unreported', 'withdrawn');
CREATE INDEX document_to_look_for ON document (account)
    WHERE listed = 1 AND looked < 3 AND state IN ('reported', 'failed');

-- Kept by the triggers, because to count a million rows takes a good part of a second.
CREATE TABLE document_count (
    state     TEXT PRIMARY KEY,
    documents INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO document_count (state, documents) SELECT state, count(*) FROM document GROUP BY state;
CREATE TRIGGER document_counted_in AFTER INSERT ON document BEGIN
    INSERT INTO document_count (state, documents) VALUES (NEW.state, 1)
        ON CONFLICT (state) DO UPDATE SET documents = documents + 1;
END;
CREATE TRIGGER document_counted_over AFTER UPDATE OF state ON document WHEN OLD.state <> NEW.state BEGIN
    UPDATE document_count SET documents = documents - 1 WHERE state = OLD.state;
    INSERT INTO document_count (state, documents) VALUES (NEW.state, 1)
        ON CONFLICT (state) DO UPDATE SET documents = documents + 1;
END;
CREATE TRIGGER document_counted_out AFTER DELETE ON document BEGIN
    UPDATE document_count SET documents = documents - 1 WHERE state = OLD.state;
END;

-- Frozen: a change of the schema is a new file with the next number.
-- What templates need lies beside its document, as it is long, written once and removed once, while the document's row is written
-- at every step. The column of 001_initial.sql stays empty from now on.

CREATE TABLE document_metadata (
    document INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    json     TEXT NOT NULL                         -- `Metadata`, only while the document is open
) STRICT;
INSERT INTO document_metadata SELECT id, metadata FROM document WHERE metadata IS NOT NULL;
UPDATE document SET metadata = NULL WHERE metadata IS NOT NULL;

-- Frozen: a change of the schema is a new file with the next number.
-- Two documents may have the same content and want the same name. Whose a file is is kept for ever, whatever becomes of
-- the delivery's row: as digests, because a path may hold patient data.

CREATE TABLE filed (
    content TEXT NOT NULL,                         -- the first 16 digits of the PDF's SHA-256
    file    TEXT NOT NULL,                         -- digest of content and path
    uuid    TEXT NOT NULL,                         -- of a document that was filed there
    PRIMARY KEY (content, file, uuid)
) STRICT, WITHOUT ROWID;

-- Few: those that are being delivered.
CREATE INDEX document_being_delivered ON document (sha256) WHERE state = 'fetched';

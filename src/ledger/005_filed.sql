-- Frozen: a change of the schema is a new file with the next number.
-- Two documents may have the same content and want the same name. Whose a file is is kept for ever, whatever becomes of
-- the delivery's row: as digests, because a path may hold patient data.

CREATE TABLE filed (
    content TEXT NOT NULL,                         -- the first 16 digits of the PDF's SHA-256
    file    TEXT NOT NULL,                         -- digest of content and path
    uuid    TEXT NOT NULL,                         -- of the document that was filed there last
    PRIMARY KEY (content, file)
) STRICT, WITHOUT ROWID;

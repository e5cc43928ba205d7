-- Frozen: a change of the schema is a new file with the next number.
-- The final name of a file is reserved before the file gets it: after a crash there is one place to look at. Whose a name
-- is is kept for ever, as a digest, because a path may hold patient data. What `filed` knows is still read.

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

DROP INDEX document_being_delivered;

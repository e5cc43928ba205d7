-- Frozen: a change of the schema is a new file with the next number.
-- The last time that an account lost a document to another one that lists it. What earlier versions only wrote into the history is not
-- taken along.

CREATE TABLE handover (
    document INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    account  TEXT NOT NULL,
    refused  INTEGER NOT NULL,                     -- 1: the API said no to it; 0: it only could not go on
    times    INTEGER NOT NULL,                     -- how often it lost it, since the document was asked for anew
    at       INTEGER NOT NULL,                     -- when; ms since the epoch
    PRIMARY KEY (document, account)
) STRICT, WITHOUT ROWID;

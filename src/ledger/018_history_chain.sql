-- Frozen: a change of the schema is a new file with the next number.
-- What administrators did is in the history, too, and each row of it has a hash over itself and the hash of the row before, so that
-- a row that is changed or removed in this file is noticed (chain.rs).

CREATE TABLE chained (
    id          INTEGER PRIMARY KEY,
    document    INTEGER REFERENCES document (id) ON DELETE CASCADE, -- NULL: something that an administrator did
    at          INTEGER NOT NULL,
    event       TEXT NOT NULL,
    state       TEXT NOT NULL,
    attempt     INTEGER NOT NULL,
    destination TEXT,
    reason      TEXT,
    who         TEXT,                              -- the user of this computer who did it, where that is known
    -- Of a reason: random bytes that are hashed with it. Once it is erased: that hash, from which nobody can guess it.
    seal        BLOB,
    previous    BLOB,                              -- the hash of the row before, when that was removed in good order
    hash        BLOB                               -- NULL: an earlier version wrote it
) STRICT;
-- Numbered anew: from now on the number of rows that are missing is the number that was removed in good order.
INSERT INTO chained (document, at, event, state, attempt, destination, reason)
    SELECT document, at, event, state, attempt, destination, reason FROM history ORDER BY id;
DROP TABLE history;
ALTER TABLE chained RENAME TO history;
CREATE INDEX history_document ON history (document, id);

-- It stays append-only, but for a reason that is erased, and what keeps the chain together when rows are removed.
CREATE TRIGGER history_is_append_only BEFORE UPDATE ON history
WHEN (NEW.reason IS NOT OLD.reason AND NEW.reason IS NOT NULL) OR (NEW.seal IS NOT OLD.seal AND NEW.reason IS NOT NULL)
  OR NEW.id IS NOT OLD.id OR NEW.document IS NOT OLD.document OR NEW.at IS NOT OLD.at OR NEW.event IS NOT OLD.event
  OR NEW.state IS NOT OLD.state OR NEW.attempt IS NOT OLD.attempt OR NEW.destination IS NOT OLD.destination
  OR NEW.who IS NOT OLD.who OR NEW.hash IS NOT OLD.hash
BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;

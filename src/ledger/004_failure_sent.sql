-- Frozen: a change of the schema is a new file with the next number.
-- What the API may know of is not taken back, also when its answer was lost or the process died before it came.

-- 1: its failure was sent to the API, which may know of it. 2: and then others turned out to share the failure.
-- An earlier version did not say whether it had sent any.
ALTER TABLE document ADD COLUMN failure_sent INTEGER NOT NULL DEFAULT 0;
UPDATE document SET failure_sent = 1 WHERE state = 'failing';

-- Frozen: a change of the schema is a new file with the next number.
-- Failures are data: what failed and how (src/failure.rs), beside the reason that people read.

ALTER TABLE document ADD COLUMN failure TEXT;                             -- the last one, as it is compared
ALTER TABLE document ADD COLUMN report_failure TEXT;                      -- the last one of its report
ALTER TABLE document ADD COLUMN report_reason TEXT;                       -- why the API refused the report of a failure
ALTER TABLE document ADD COLUMN failing_for INTEGER NOT NULL DEFAULT 0;   -- milliseconds: attempts and the waits after them
ALTER TABLE document ADD COLUMN read_at INTEGER;                          -- when the API last showed it
ALTER TABLE document ADD COLUMN tried_pdf TEXT;                           -- the version that this round tried, as it was read
ALTER TABLE delivery ADD COLUMN failure TEXT;                             -- NULL once the API may know of it
ALTER TABLE delivery ADD COLUMN failing_for INTEGER NOT NULL DEFAULT 0;

-- What the pause is probed with, and how often it was: three times, then it is another one's turn.
ALTER TABLE pause ADD COLUMN candidate INTEGER;
ALTER TABLE pause ADD COLUMN candidate_tries INTEGER NOT NULL DEFAULT 0;

-- Few: those that failed, and that nobody was told of yet.
CREATE INDEX document_held ON document (account, failure) WHERE state = 'failing' AND failure_sent = 0;
CREATE INDEX delivery_held ON delivery (destination, failure) WHERE state = 'failed' AND failure IS NOT NULL;

-- An earlier version wrote why a report was refused behind the reason.
UPDATE document SET
    report_reason = rtrim(substr(reason, instr(reason, ' (the API refused the report of this: ') + 38), ')'),
    reason = substr(reason, 1, instr(reason, ' (the API refused the report of this: ') - 1)
WHERE state IN ('failing', 'failed') AND instr(reason, ' (the API refused the report of this: ') > 0;

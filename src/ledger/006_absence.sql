-- Frozen: a change of the schema is a new file with the next number.
-- A document is its uuid, whichever account lists it. That it left the list takes two looks.

ALTER TABLE document ADD COLUMN missing_at INTEGER;     -- since when reading or reporting it answers 404
ALTER TABLE document ADD COLUMN absent_at INTEGER;      -- when the list, asked for it, first did not show it
-- Polls in a row that showed another PDF of it, after it had ended, and could not ask for it.
ALTER TABLE document ADD COLUMN unasked INTEGER NOT NULL DEFAULT 0;
-- The account that its keys were made with: what an earlier version delivered must be recognised.
ALTER TABLE document ADD COLUMN key_account TEXT;
UPDATE document SET key_account = account;
-- Whoever shows one of them now asks for it again.
UPDATE document SET listed = 0 WHERE state = 'withdrawn';

-- Where the rereading of a long list goes on, and the number of the poll at which it began.
ALTER TABLE account ADD COLUMN reread TEXT;
ALTER TABLE account ADD COLUMN reread_since INTEGER NOT NULL DEFAULT 0;

-- Of a document that two accounts listed the row that came farthest stays, with what was delivered by either.
CREATE TABLE twin AS
    SELECT id, first_value(id) OVER (
        PARTITION BY uuid
        ORDER BY CASE state WHEN 'reported' THEN 0 WHEN 'delivered' THEN 1 WHEN 'unreported' THEN 2 WHEN 'failed' THEN 3
                            WHEN 'failing' THEN 4 WHEN 'fetched' THEN 5 WHEN 'discovered' THEN 6 ELSE 7 END, id
    ) AS kept
    FROM document WHERE uuid IN (SELECT uuid FROM document GROUP BY uuid HAVING count(*) > 1);
DELETE FROM delivery WHERE state <> 'delivered' AND EXISTS (
    SELECT 1 FROM twin JOIN delivery AS other ON other.document = twin.id
    WHERE twin.kept = delivery.document AND twin.id <> twin.kept AND other.state = 'delivered'
      AND other.pdf = delivery.pdf AND other.destination = delivery.destination
);
UPDATE OR IGNORE delivery SET document = (SELECT kept FROM twin WHERE id = delivery.document)
    WHERE state = 'delivered' AND document IN (SELECT id FROM twin WHERE id <> kept);
-- It is fetched again: what is still to be delivered may have changed.
UPDATE document SET state = 'discovered', round = round + 1, attempts = 0, failing_since = NULL, due_at = changed_at,
       metadata = NULL
    WHERE state = 'fetched' AND id IN (SELECT kept FROM twin);
DELETE FROM history WHERE document IN (SELECT id FROM twin WHERE id <> kept);
DELETE FROM delivery WHERE document IN (SELECT id FROM twin WHERE id <> kept);
DELETE FROM document WHERE id IN (SELECT id FROM twin WHERE id <> kept);
DROP TABLE twin;
CREATE UNIQUE INDEX document_identity ON document (uuid);

DROP INDEX document_still_listed;
CREATE INDEX document_in_list ON document (account) WHERE listed = 1 OR missing_at IS NOT NULL;
DROP INDEX document_to_look_for;
CREATE INDEX document_to_look_for ON document (account)
    WHERE missing_at IS NOT NULL OR (listed = 1 AND looked < 3 AND state IN ('reported', 'failed'));

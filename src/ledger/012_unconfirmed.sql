-- Frozen: a change of the schema is a new file with the next number.
-- A delivery that was sent whole, and whose answer was lost: where nobody can look, a person decides.

-- When that was; it is not tried until a person says so. What was about to be done stands in `file_reservation`, for
-- destinations without names, too: there the place is the digest of the delivery's key.
ALTER TABLE delivery ADD COLUMN unconfirmed_at INTEGER;

-- Few: those that a person has to look at.
CREATE INDEX delivery_unconfirmed ON delivery (document) WHERE unconfirmed_at IS NOT NULL;

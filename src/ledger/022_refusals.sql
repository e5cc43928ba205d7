-- Frozen: a change of the schema is a new file with the next number.
-- Permanent failures in a row that were alike, each but the first after something good had come since the one before it: what is
-- refused so each time is its own failure, however many others are refused as well.

ALTER TABLE document ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0;
ALTER TABLE delivery ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0;

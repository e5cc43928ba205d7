-- Frozen: a change of the schema is a new file with the next number.
-- A spooled PDF that is lost says nothing about what the API gives: it has a count of its own beside `strikes`.

ALTER TABLE document ADD COLUMN started_over INTEGER NOT NULL DEFAULT 0; -- spooled PDFs lost since it was last delivered

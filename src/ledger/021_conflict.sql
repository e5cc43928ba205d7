-- Frozen: a change of the schema is a new file with the next number.
-- The PDF that the list, or the answer to a report, showed while the document itself showed another one, and since when. It is not
-- cleared: it is only held against what is shown.

ALTER TABLE document ADD COLUMN conflict_pdf TEXT;
ALTER TABLE document ADD COLUMN conflict_since INTEGER;

-- Frozen: a change of the schema is a new file with the next number.
-- What `reason` says, as data: a failure (src/failure.rs) or a word. `reason` is English, as the API gets it; who reads another
-- language is told by this. NULL: nothing but the text is known.

ALTER TABLE document ADD COLUMN reason_code TEXT;
ALTER TABLE delivery ADD COLUMN reason_code TEXT;
-- The same of `poll_error`.
ALTER TABLE account ADD COLUMN poll_code TEXT;

-- Frozen: a change of the schema is a new file with the next number.
-- Where is my letter: names are kept beside the documents, for `state.keep_names`, and erased by `docsyncd forget`.

CREATE TABLE name (
    document INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    kept_at  INTEGER NOT NULL,
    shown    TEXT NOT NULL,                        -- the patient's name
    words    TEXT NOT NULL,                        -- what is searched, folded: name, type, names of files, short uuid
    indexed  INTEGER NOT NULL DEFAULT 0            -- 1: the words are in the index
) STRICT;
CREATE INDEX name_kept ON name (kept_at);
CREATE INDEX name_waiting ON name (document) WHERE indexed = 0;

-- The index is brought up to date for many documents at a time: for each one alone it costs more than all else that is
-- written of it. Until then a search reads the words themselves.
CREATE VIRTUAL TABLE name_word USING fts5 (
    words, content = 'name', content_rowid = 'document', tokenize = 'unicode61 remove_diacritics 0'
);
-- What is erased leaves the index at once, and not when its pages are merged one day.
INSERT INTO name_word (name_word, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER name_indexed AFTER UPDATE OF indexed ON name WHEN OLD.indexed = 0 AND NEW.indexed = 1 BEGIN
    INSERT INTO name_word (rowid, words) VALUES (NEW.document, NEW.words);
END;
CREATE TRIGGER name_changed AFTER UPDATE OF words ON name WHEN OLD.indexed = 1 BEGIN
    INSERT INTO name_word (name_word, rowid, words) VALUES ('delete', OLD.document, OLD.words);
END;
CREATE TRIGGER name_erased AFTER DELETE ON name WHEN OLD.indexed = 1 BEGIN
    INSERT INTO name_word (name_word, rowid, words) VALUES ('delete', OLD.document, OLD.words);
END;

-- The history stays append-only, but for a reason that is erased.
DROP TRIGGER history_is_append_only;
CREATE TRIGGER history_is_append_only BEFORE UPDATE ON history
WHEN NEW.reason IS NOT NULL OR NEW.id IS NOT OLD.id OR NEW.document IS NOT OLD.document OR NEW.at IS NOT OLD.at
  OR NEW.event IS NOT OLD.event OR NEW.state IS NOT OLD.state OR NEW.attempt IS NOT OLD.attempt
  OR NEW.destination IS NOT OLD.destination
BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;

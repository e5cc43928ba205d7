-- Frozen: a change of the schema is a new file with the next number.
-- A search costs the same whatever the ledger holds. The index of names has an entry for each beginning of a word, so that a
-- beginning that every name has is one list, read from its newest end, and not the lists of all words merged.

DROP TABLE name_word;
CREATE VIRTUAL TABLE name_word USING fts5 (
    words, content = 'name', content_rowid = 'document', tokenize = 'unicode61 remove_diacritics 0',
    prefix = '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16'
);
INSERT INTO name_word (name_word, rank) VALUES ('secure-delete', 1);
INSERT INTO name_word (rowid, words) SELECT document, words FROM name WHERE indexed = 1;

-- From the time of a search to the numbers of its documents.
CREATE INDEX document_found ON document (found_at);
-- The short uuid in the name of a file (`document::short`).
CREATE INDEX document_short ON document (substr(uuid, -8) COLLATE NOCASE);

-- Frozen: a change of the schema is a new file with the next number.
-- Two documents may have the same content and want the same name: whose a file is that is found is asked here.

CREATE INDEX delivery_place ON delivery (place COLLATE NOCASE) WHERE place IS NOT NULL;

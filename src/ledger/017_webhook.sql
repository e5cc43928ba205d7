-- Frozen: a change of the schema is a new file with the next number.
-- The webhook that docsyncd registers at the API for each account. The row is written before the call (intent before effect), with
-- neither uuid nor secret; both come with the answer, which shows the secret that one time. Who has the secret can make docsyncd
-- poll, and nothing else.

CREATE TABLE webhook (
    account TEXT NOT NULL,
    url     TEXT NOT NULL,
    uuid    TEXT,
    secret  TEXT,
    PRIMARY KEY (account, url)
) STRICT, WITHOUT ROWID;

-- Layout 1. Everything a request filters or orders by is a column with an index; records are JSON as they are printed.
CREATE TABLE users (
    id    INTEGER PRIMARY KEY,
    uuid  TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL,
    data  TEXT NOT NULL
);
CREATE INDEX users_by_email ON users (email);

CREATE TABLE api_keys (
    key     TEXT PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users (id)
) WITHOUT ROWID;

CREATE TABLE patients (
    id       INTEGER PRIMARY KEY,
    uuid     TEXT NOT NULL UNIQUE,
    owner_id INTEGER NOT NULL REFERENCES users (id),
    email    TEXT,
    data     TEXT NOT NULL
);
CREATE INDEX patients_by_email ON patients (email);

CREATE TABLE documents (
    id               INTEGER PRIMARY KEY,
    uuid             TEXT NOT NULL UNIQUE,
    owner_id         INTEGER NOT NULL REFERENCES users (id), -- who may see it
    user_id          INTEGER NOT NULL REFERENCES users (id), -- whom it shows
    patient_id       INTEGER REFERENCES patients (id),
    created_key      INTEGER NOT NULL, -- microseconds since 1970
    created_text     TEXT,             -- dictated by a test, printed as it is
    updated_key      INTEGER NOT NULL,
    updated_text     TEXT,
    encountered_key  INTEGER,
    encountered_text TEXT,
    type             TEXT,
    audio            TEXT,
    is_anonymized    INTEGER NOT NULL,
    specialty        TEXT NOT NULL,
    synchronized     INTEGER NOT NULL,
    pdf_uuid         TEXT
);
CREATE INDEX documents_waiting ON documents (owner_id, synchronized, created_key, uuid);
CREATE INDEX documents_by_creation ON documents (owner_id, created_key, uuid);
CREATE INDEX documents_by_update ON documents (owner_id, updated_key, uuid);
CREATE INDEX documents_by_type ON documents (owner_id, type, created_key, uuid);
CREATE INDEX documents_by_patient ON documents (patient_id);
CREATE INDEX documents_by_user ON documents (user_id);
CREATE INDEX documents_by_pdf ON documents (pdf_uuid);

-- A file is one of: bytes, a recipe to make the same bytes again, a path in someone's own folder.
CREATE TABLE pdfs (
    uuid          TEXT PRIMARY KEY,
    document_id   INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    name          TEXT NOT NULL,
    file_name     TEXT NOT NULL,
    created_key   INTEGER NOT NULL,
    declared_size INTEGER, -- dictated by a test
    size          INTEGER, -- unknown until a recipe was followed once
    bytes         BLOB,
    recipe        TEXT,
    path          TEXT
) WITHOUT ROWID;
CREATE INDEX pdfs_by_document ON pdfs (document_id);

-- Every report of an integration, in order; what the service itself keeps of them is "not shown".
CREATE TABLE status_posts (
    id            INTEGER PRIMARY KEY,
    document_uuid TEXT NOT NULL,
    user_id       INTEGER NOT NULL REFERENCES users (id),
    success       INTEGER,
    error         TEXT,
    at_key        INTEGER NOT NULL
);
CREATE INDEX status_posts_by_document ON status_posts (document_uuid, id);

-- OAuth 2.0. Secrets are kept as their SHA-256.
CREATE TABLE authorization_codes (
    code_sha256    TEXT PRIMARY KEY,
    user_id        INTEGER NOT NULL REFERENCES users (id),
    client_id      TEXT NOT NULL,
    redirect_uri   TEXT NOT NULL,
    scopes         TEXT NOT NULL,
    code_challenge TEXT,
    expires_key    INTEGER NOT NULL,
    used_key       INTEGER
) WITHOUT ROWID;

CREATE TABLE refresh_tokens (
    token_sha256 TEXT PRIMARY KEY,
    user_id      INTEGER NOT NULL REFERENCES users (id),
    client_id    TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    created_key  INTEGER NOT NULL,
    used_key     INTEGER -- when it was exchanged for the next one, and died
) WITHOUT ROWID;

CREATE TABLE sessions (
    cookie_sha256 TEXT PRIMARY KEY,
    user_id       INTEGER NOT NULL REFERENCES users (id),
    csrf          TEXT NOT NULL,
    expires_key   INTEGER NOT NULL
) WITHOUT ROWID;

-- Random keys that must outlive a restart: what signs access tokens and file addresses.
CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

-- Layout 5. What a request filters or orders by is a column with an index. Names of owners: `owner_id` may see a row;
-- of rows with an `organization_id` the whole practice sees those that are not private. Keys of time are microseconds
-- since 1970; `_text` beside one is what a test dictated, printed as it is.
-- The `_text` tables hold folded text for `search`.

CREATE TABLE organizations (
    id   INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    data TEXT NOT NULL -- the record as it is printed
);

CREATE TABLE users (
    id              INTEGER PRIMARY KEY,
    uuid            TEXT NOT NULL UNIQUE,
    email           TEXT NOT NULL,
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    role            TEXT,         -- in the practice; an administrator where nobody said otherwise
    data            TEXT NOT NULL -- the record as it is printed
);
CREATE INDEX users_by_email ON users (email);
CREATE INDEX users_by_organization ON users (organization_id);
CREATE VIRTUAL TABLE users_text USING fts5 (folded, tokenize = 'unicode61');

CREATE TABLE api_keys (
    key     TEXT PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users (id)
) WITHOUT ROWID;

CREATE TABLE patients (
    id                 INTEGER PRIMARY KEY,
    uuid               TEXT NOT NULL UNIQUE,
    owner_id           INTEGER NOT NULL REFERENCES users (id),
    organization_id    INTEGER NOT NULL REFERENCES organizations (id),
    owner_uuid         TEXT NOT NULL,
    data               TEXT NOT NULL,              -- the record as it is printed
    unseen             TEXT NOT NULL DEFAULT '{}', -- the members that are accepted and never shown
    twin               TEXT,                       -- what an upsert matches by
    created_key        INTEGER NOT NULL,
    updated_key        INTEGER NOT NULL,
    synchronized_key   INTEGER,
    first_name         TEXT AS (data ->> 'firstName'),
    last_name          TEXT AS (data ->> 'lastName'),
    language_spoken    TEXT AS (data ->> 'languageSpoken'),
    date_of_birth      TEXT AS (data ->> 'dateOfBirth'),
    gender             TEXT AS (data ->> 'gender'),
    visibility_option  TEXT AS (data ->> 'visibilityOption'),
    email              TEXT AS (data ->> 'email'),
    phone              TEXT AS (data ->> 'phone'),
    anonymous_code     TEXT AS (data ->> 'anonymousCode')
);
CREATE INDEX patients_by_uuid ON patients (organization_id, uuid);
CREATE INDEX patients_by_owner ON patients (organization_id, owner_uuid, created_key, uuid);
CREATE INDEX patients_by_creation ON patients (organization_id, created_key, uuid);
CREATE INDEX patients_by_update ON patients (organization_id, updated_key, created_key, uuid);
CREATE INDEX patients_by_synchronization ON patients (organization_id, synchronized_key, created_key, uuid);
CREATE INDEX patients_by_first_name ON patients (organization_id, first_name, created_key, uuid);
CREATE INDEX patients_by_last_name ON patients (organization_id, last_name, created_key, uuid);
CREATE INDEX patients_by_language ON patients (organization_id, language_spoken, created_key, uuid);
CREATE INDEX patients_by_birth ON patients (organization_id, date_of_birth, created_key, uuid);
CREATE INDEX patients_by_gender ON patients (organization_id, gender, created_key, uuid);
CREATE INDEX patients_by_visibility ON patients (organization_id, visibility_option, created_key, uuid);
CREATE INDEX patients_by_email_in ON patients (organization_id, email, created_key, uuid);
CREATE INDEX patients_by_phone ON patients (organization_id, phone, created_key, uuid);
CREATE INDEX patients_by_code ON patients (organization_id, anonymous_code, created_key, uuid);
CREATE INDEX patients_by_email ON patients (email);
CREATE INDEX patients_by_twin ON patients (organization_id, twin) WHERE twin IS NOT NULL;
CREATE VIRTUAL TABLE patients_text USING fts5 (folded, tokenize = 'unicode61');

CREATE TABLE contacts (
    id                INTEGER PRIMARY KEY,
    uuid              TEXT NOT NULL UNIQUE,
    owner_id          INTEGER NOT NULL REFERENCES users (id),
    organization_id   INTEGER NOT NULL REFERENCES organizations (id),
    owner_uuid        TEXT NOT NULL,
    data              TEXT NOT NULL,              -- the record as it is printed
    unseen            TEXT NOT NULL DEFAULT '{}', -- the members that are accepted and never shown
    created_key       INTEGER NOT NULL,
    updated_key       INTEGER NOT NULL,
    first_name        TEXT AS (data ->> 'firstName'),
    last_name         TEXT AS (data ->> 'lastName'),
    legal_name        TEXT AS (data ->> 'legalName'),
    gender            TEXT AS (data ->> 'gender'),
    language_spoken   TEXT AS (data ->> 'languageSpoken'),
    email             TEXT AS (data ->> 'email'),
    visibility_option TEXT AS (data ->> 'visibilityOption'),
    phone             TEXT AS (data ->> 'phone'),
    specialty         TEXT AS (data ->> 'specialty'),
    street_address    TEXT AS (data ->> 'streetAddress'),
    postal_code       TEXT AS (data ->> 'postalCode'),
    city              TEXT AS (data ->> 'city'),
    country           TEXT AS (data ->> 'country')
);
CREATE INDEX contacts_by_uuid ON contacts (organization_id, uuid);
CREATE INDEX contacts_by_owner ON contacts (organization_id, owner_uuid, created_key, uuid);
CREATE INDEX contacts_by_creation ON contacts (organization_id, created_key, uuid);
CREATE INDEX contacts_by_update ON contacts (organization_id, updated_key, created_key, uuid);
CREATE INDEX contacts_by_first_name ON contacts (organization_id, first_name, created_key, uuid);
CREATE INDEX contacts_by_last_name ON contacts (organization_id, last_name, created_key, uuid);
CREATE INDEX contacts_by_legal_name ON contacts (organization_id, legal_name, created_key, uuid);
CREATE INDEX contacts_by_gender ON contacts (organization_id, gender, created_key, uuid);
CREATE INDEX contacts_by_language ON contacts (organization_id, language_spoken, created_key, uuid);
CREATE INDEX contacts_by_email ON contacts (organization_id, email, created_key, uuid);
CREATE INDEX contacts_by_visibility ON contacts (organization_id, visibility_option, created_key, uuid);
CREATE INDEX contacts_by_phone ON contacts (organization_id, phone, created_key, uuid);
CREATE INDEX contacts_by_specialty ON contacts (organization_id, specialty, created_key, uuid);
CREATE INDEX contacts_by_street ON contacts (organization_id, street_address, created_key, uuid);
CREATE INDEX contacts_by_postal_code ON contacts (organization_id, postal_code, created_key, uuid);
CREATE INDEX contacts_by_city ON contacts (organization_id, city, created_key, uuid);
CREATE INDEX contacts_by_country ON contacts (organization_id, country, created_key, uuid);
CREATE VIRTUAL TABLE contacts_text USING fts5 (folded, tokenize = 'unicode61');

CREATE TABLE audios (
    id                  INTEGER PRIMARY KEY,
    uuid                TEXT NOT NULL UNIQUE,
    owner_id            INTEGER NOT NULL REFERENCES users (id),
    user_id             INTEGER NOT NULL REFERENCES users (id), -- whom it shows
    user_uuid           TEXT NOT NULL,
    patient_id          INTEGER REFERENCES patients (id),
    patient_uuid        TEXT,
    created_key         INTEGER NOT NULL,
    updated_key         INTEGER NOT NULL,
    archived_key        INTEGER,
    meeting             TEXT,
    language_spoken     TEXT,
    summary             TEXT,
    media_recorder_type TEXT,
    step                TEXT NOT NULL,   -- a step of version 1.1.0
    step_due_key        INTEGER          -- when the workflow moves it on by itself
);
CREATE INDEX audios_by_uuid ON audios (owner_id, uuid);
CREATE INDEX audios_by_creation ON audios (owner_id, created_key, uuid);
CREATE INDEX audios_by_update ON audios (owner_id, updated_key, created_key, uuid);
CREATE INDEX audios_by_archival ON audios (owner_id, archived_key, created_key, uuid);
CREATE INDEX audios_by_patient ON audios (owner_id, patient_uuid, created_key, uuid);
CREATE INDEX audios_by_user ON audios (owner_id, user_uuid, created_key, uuid);
CREATE INDEX audios_by_language ON audios (owner_id, language_spoken, created_key, uuid);
CREATE INDEX audios_by_summary ON audios (owner_id, summary, created_key, uuid);
CREATE INDEX audios_due ON audios (step_due_key) WHERE step_due_key IS NOT NULL;
CREATE VIRTUAL TABLE audios_text USING fts5 (folded, tokenize = 'unicode61');

CREATE TABLE images (
    id          INTEGER PRIMARY KEY,
    audio_id    INTEGER NOT NULL REFERENCES audios (id) ON DELETE CASCADE,
    uuid        TEXT NOT NULL UNIQUE,
    title       TEXT,
    name        TEXT NOT NULL,
    size        INTEGER NOT NULL,
    created_key INTEGER NOT NULL,
    updated_key INTEGER NOT NULL
);
CREATE INDEX images_by_audio ON images (audio_id);

CREATE TABLE documents (
    id               INTEGER PRIMARY KEY,
    uuid             TEXT NOT NULL UNIQUE,
    owner_id         INTEGER NOT NULL REFERENCES users (id), -- who may see it
    user_id          INTEGER NOT NULL REFERENCES users (id), -- whom it shows
    user_uuid        TEXT NOT NULL,
    patient_id       INTEGER REFERENCES patients (id),
    patient_uuid     TEXT,
    audio_id         INTEGER REFERENCES audios (id) ON DELETE SET NULL,
    created_key      INTEGER NOT NULL,
    created_text     TEXT,
    updated_key      INTEGER NOT NULL,
    updated_text     TEXT,
    encountered_key  INTEGER,
    encountered_text TEXT,
    type             TEXT,
    is_anonymized    INTEGER NOT NULL,
    specialty        TEXT NOT NULL,
    synchronized     INTEGER NOT NULL,
    pdf_uuid         TEXT
);
CREATE INDEX documents_waiting ON documents (owner_id, synchronized, created_key, uuid);
CREATE INDEX documents_by_uuid ON documents (owner_id, uuid);
CREATE INDEX documents_by_creation ON documents (owner_id, created_key, uuid);
CREATE INDEX documents_by_update ON documents (owner_id, updated_key, created_key, uuid);
CREATE INDEX documents_by_encounter ON documents (owner_id, encountered_key, created_key, uuid);
CREATE INDEX documents_by_type ON documents (owner_id, type, created_key, uuid);
CREATE INDEX documents_by_specialty ON documents (owner_id, specialty, created_key, uuid);
CREATE INDEX documents_by_anonymity ON documents (owner_id, is_anonymized, created_key, uuid);
CREATE INDEX documents_by_user ON documents (owner_id, user_uuid, created_key, uuid);
CREATE INDEX documents_by_patient ON documents (owner_id, patient_uuid, created_key, uuid);
CREATE INDEX documents_by_pdf ON documents (owner_id, pdf_uuid, created_key, uuid);
CREATE INDEX documents_of_user ON documents (owner_id, user_id);
CREATE INDEX documents_of_patient ON documents (owner_id, patient_id, created_key, uuid);
CREATE INDEX documents_of_audio ON documents (audio_id);
CREATE VIRTUAL TABLE documents_text USING fts5 (folded, tokenize = 'unicode61');

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

CREATE TABLE notes (
    id           INTEGER PRIMARY KEY,
    uuid         TEXT NOT NULL UNIQUE,
    owner_id     INTEGER NOT NULL REFERENCES users (id),
    user_id      INTEGER NOT NULL REFERENCES users (id), -- whom it shows
    user_uuid    TEXT NOT NULL,
    patient_id   INTEGER REFERENCES patients (id),
    patient_uuid TEXT,
    audio_id     INTEGER REFERENCES audios (id) ON DELETE SET NULL,
    audio_uuid   TEXT,
    type         TEXT NOT NULL,
    content      TEXT,
    created_key  INTEGER NOT NULL,
    updated_key  INTEGER NOT NULL
);
CREATE INDEX notes_by_uuid ON notes (owner_id, uuid);
CREATE INDEX notes_by_creation ON notes (owner_id, created_key, uuid);
CREATE INDEX notes_by_update ON notes (owner_id, updated_key, created_key, uuid);
CREATE INDEX notes_by_type ON notes (owner_id, type, created_key, uuid);
CREATE INDEX notes_by_patient ON notes (owner_id, patient_uuid, created_key, uuid);
CREATE INDEX notes_by_audio ON notes (owner_id, audio_uuid, created_key, uuid);
CREATE INDEX notes_by_user ON notes (owner_id, user_uuid, created_key, uuid);
CREATE INDEX notes_of_audio ON notes (audio_id);
CREATE VIRTUAL TABLE notes_text USING fts5 (folded, tokenize = 'unicode61');

CREATE TABLE webhooks (
    id          INTEGER PRIMARY KEY,
    uuid        TEXT NOT NULL UNIQUE,
    owner_id    INTEGER NOT NULL REFERENCES users (id),
    url         TEXT NOT NULL,
    events      TEXT NOT NULL, -- a JSON array
    description TEXT,
    is_active   INTEGER NOT NULL,
    secret      TEXT NOT NULL,
    created_key INTEGER NOT NULL,
    updated_key INTEGER NOT NULL
);
CREATE INDEX webhooks_by_creation ON webhooks (owner_id, created_key, uuid);
CREATE INDEX webhooks_by_update ON webhooks (owner_id, updated_key, created_key, uuid);
CREATE INDEX webhooks_by_uuid ON webhooks (owner_id, uuid);

-- One event for one webhook, kept after its end so that one can look at it.
CREATE TABLE deliveries (
    id          INTEGER PRIMARY KEY,
    uuid        TEXT NOT NULL UNIQUE, -- the `webhook-id` of every attempt
    webhook_id  INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event       TEXT NOT NULL,
    body        TEXT NOT NULL,
    created_key INTEGER NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0,
    due_key     INTEGER,              -- NULL once it was delivered or given up
    delivered   INTEGER NOT NULL DEFAULT 0,
    last_status INTEGER,
    last_error  TEXT
);
CREATE INDEX deliveries_due ON deliveries (webhook_id, due_key, id) WHERE due_key IS NOT NULL;
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id);

-- OAuth 2.0. Secrets are kept as their SHA-256.
CREATE TABLE authorization_codes (
    code_sha256    TEXT PRIMARY KEY,
    user_id        INTEGER NOT NULL REFERENCES users (id),
    client_id      TEXT NOT NULL,
    redirect_uri   TEXT NOT NULL,
    scopes         TEXT NOT NULL,
    narrowed       INTEGER NOT NULL, -- whether these are fewer than the application asked for
    code_challenge TEXT,
    expires_key    INTEGER NOT NULL,
    used_key       INTEGER
) WITHOUT ROWID;

CREATE TABLE refresh_tokens (
    token_sha256 TEXT PRIMARY KEY,
    user_id      INTEGER NOT NULL REFERENCES users (id),
    client_id    TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    family       TEXT NOT NULL, -- the code_sha256 of the code that the first of them came from
    created_key  INTEGER NOT NULL,
    used_key     INTEGER -- when it was exchanged for the next one, and died
) WITHOUT ROWID;
CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family);

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

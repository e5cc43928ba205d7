//! The table of every setting. Unknown keys and their nearest known one, environment names, defaults, `config show` and
//! the test of the commented file are all derived from it, so a setting is added here, in `raw`, in `validated` and in
//! `config/docsyncd.toml`, and nowhere else.

use std::time::Duration;

/// What a value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text that is not empty.
    Text,
    /// Text that is never shown, and that is only taken from the environment.
    Secret,
    /// A file or folder; a relative one is looked for beside the configuration file.
    Path,
    /// A file that holds a secret: a path, but people paste the secret itself, so a wrong value is never shown.
    SecretFile,
    /// A program: a path when it contains a separator, otherwise a name to be found in PATH.
    Program,
    /// `https://…`, or `http://…` on loopback; no user, query or fragment.
    Address,
    /// `http://…` or `https://…`, maybe with a user and a password, which are never shown.
    Proxy,
    /// `127.0.0.1:PORT` or another address that only this computer reaches.
    Loopback,
    /// `true` or `false`.
    Bool,
    /// A whole number within bounds.
    Integer {
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
    },
    /// Text such as "30s".
    Duration {
        /// Shortest allowed.
        min: Duration,
        /// Longest allowed.
        max: Duration,
    },
    /// Text such as "100MiB", or a whole number of bytes.
    Size {
        /// Smallest allowed; bytes.
        min: u64,
        /// Largest allowed; bytes.
        max: u64,
    },
    /// Unix permissions as octal text such as "0600".
    Mode {
        /// Bits without which docsyncd could not use what it made.
        needs: u32,
        /// All bits that may be set.
        within: u32,
    },
    /// One of a few words; letter case does not matter.
    Enum(&'static [&'static str]),
    /// A list of texts.
    List,
    /// One template.
    Template,
    /// A list of templates.
    Templates,
    /// A table of templates by names of the administrator's: `{ a = "…" }`.
    TemplateTable,
    /// A table of files that hold secrets, likewise; a wrong one is never shown.
    SecretFileTable,
    /// A list of statuses of HTTP that say that something went well.
    Statuses,
}

/// How the keys of a section are addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `[section]`
    Plain,
    /// `[section.NAME]`
    Named,
    /// `[[section]]`
    Listed,
}

/// One setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Its full name: `sync.poll_interval`, `accounts.*.auth` with `*` for a name, `routes[].to` with `[]` for an index.
    pub path: &'static str,
    /// What its value must be.
    pub kind: Kind,
    /// The value it has when nobody gives one, as it would be written.
    pub default: Option<&'static str>,
    /// Whether somebody must give one.
    pub required: bool,
    /// The values of the sibling in `only` with which it may be missing all the same.
    pub optional_with: &'static [&'static str],
    /// The sibling and its values with which alone this key has a meaning, as in `("type", &["folder"])`.
    pub only: Option<(&'static str, &'static [&'static str])>,
    /// What it is for, in a line.
    pub doc: &'static str,
}

impl Key {
    const fn new(path: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { path, kind, default: None, required: false, optional_with: &[], only: None, doc }
    }

    const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    const fn optional_with(mut self, values: &'static [&'static str]) -> Self {
        self.optional_with = values;
        self
    }

    const fn default(mut self, text: &'static str) -> Self {
        self.default = Some(text);
        self
    }

    const fn only(mut self, selector: &'static str, values: &'static [&'static str]) -> Self {
        self.only = Some((selector, values));
        self
    }

    /// The table of the key: `accounts`, or `alerts.mail`.
    pub fn section(&self) -> &'static str {
        match self.path.rsplit_once('.') {
            Some((section, _)) if self.shape() == Shape::Plain => section,
            _ => self.path.split(['.', '[']).next().unwrap_or(self.path),
        }
    }

    /// The last part of the path: `api_key_file`.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    /// How the key's section is addressed.
    pub fn shape(&self) -> Shape {
        match self.path {
            path if path.contains(".*.") => Shape::Named,
            path if path.contains("[].") => Shape::Listed,
            _ => Shape::Plain,
        }
    }

    /// The full name with the name or index of its table, as a person writes it.
    pub fn at(&self, instance: Option<&str>) -> String {
        match instance {
            Some(instance) => self.path.replace('*', instance).replace("[]", &format!("[{instance}]")),
            None => self.path.to_owned(),
        }
    }

    /// The environment variable that overrides it.
    pub fn variable(&self, instance: Option<&str>) -> String {
        let parts = [Some(self.section()), instance, Some(self.name())];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        format!("{ENV_PREFIX}{}", parts.join("__").replace('.', "__").to_uppercase())
    }
}

/// What the names of environment variables begin with.
pub const ENV_PREFIX: &str = "DOCSYNCD__";

/// The keys of a section.
pub fn keys_of(section: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.section() == section)
}

/// One key of a section.
pub fn find(section: &str, name: &str) -> Option<&'static Key> {
    keys_of(section).find(|key| key.name() == name)
}

/// How a section's keys are addressed; none when there is no such section.
pub fn shape_of(section: &str) -> Option<Shape> {
    keys_of(section).next().map(Key::shape)
}

/// Every section once, in the order of the table.
pub fn sections() -> Vec<(&'static str, Shape)> {
    let mut sections: Vec<(&'static str, Shape)> = KEYS.iter().map(|key| (key.section(), key.shape())).collect();
    sections.dedup();
    sections
}

/// Where the ledger lies by default.
pub const LEDGER: &str =
    if cfg!(windows) { r"%ProgramData%\docsyncd\ledger.sqlite3" } else { "/var/lib/docsyncd/ledger.sqlite3" };

/// The scopes an `oauth` account asks for by default (API, "Scopes"), as a list in the configuration file.
const SCOPES: &str = r#"["profile", "organization", "read:documents", "write:documents", "read:patients"]"#;

/// Destinations that give the PDF a name below `path`.
const WITH_NAMES: &[&str] = &["folder", "sftp", "webdav"];
/// Destinations that give the PDF a name.
const WITH_FILE_NAME: &[&str] = &["folder", "sftp", "webdav", "http", "s3"];
/// Destinations on another machine.
const REMOTE: &[&str] = &["sftp", "http", "webdav", "s3"];
/// Those of them that speak HTTP.
const WEB: &[&str] = &["http", "webdav", "s3"];
/// Those of them with an address of their own.
const WITH_URL: &[&str] = &["http", "webdav"];
const HTTP: &[&str] = &["http"];
const S3: &[&str] = &["s3"];
/// Those of them with a host instead of an address.
const WITH_HOST: &[&str] = &["sftp"];

/// The default of `destinations.*.file_name`.
const FILE_NAME: &str = "{{ patient.lastName }}_{{ patient.firstName }}_{{ patient.dateOfBirth | date }}/{{ document.createdAt | date }}_{{ document.type }}.pdf";

const DAY: u64 = 24 * 60 * 60;

const fn duration(min_ms: u64, max_s: u64) -> Kind {
    Kind::Duration { min: Duration::from_millis(min_ms), max: Duration::from_secs(max_s) }
}

const fn size(min: u64, max: u64) -> Kind {
    Kind::Size { min, max }
}

/// Every setting, section by section.
pub static KEYS: &[Key] = &[
    Key::new("api.base_url", Kind::Address, "address of the API").required(),
    Key::new("api.app_url", Kind::Address, "address of the application server, for `docsyncd login`"),
    Key::new(
        "api.authorization_path",
        Kind::Enum(&["/authorize", "/oauth/authorize"]),
        "where the authorization page is below app_url",
    )
    .default("/authorize"),
    Key::new("api.timeout", duration(10, 3600), "longest wait for an answer").default("30s"),
    Key::new("api.ca_file", Kind::Path, "PEM file with the only certificate authorities to trust"),
    Key::new("api.proxy", Kind::Proxy, "HTTP proxy for every request"),
    Key::new("api.pdf_hosts", Kind::List, "hosts in the practice's own network that PDFs may lie on").default("[]"),
    Key::new("accounts.*.auth", Kind::Enum(&["api_key", "oauth"]), "how the account signs in").default("api_key"),
    Key::new("accounts.*.api_key_file", Kind::SecretFile, "file that holds the key").only("auth", &["api_key"]),
    Key::new("accounts.*.api_key", Kind::Secret, "the key itself, from the environment only")
        .only("auth", &["api_key"]),
    Key::new("accounts.*.client_id", Kind::Text, "client identifier").required().only("auth", &["oauth"]),
    Key::new("accounts.*.client_secret_file", Kind::SecretFile, "file that holds the client secret")
        .only("auth", &["oauth"]),
    Key::new("accounts.*.client_secret", Kind::Secret, "the client secret itself, from the environment only")
        .only("auth", &["oauth"]),
    Key::new("accounts.*.scopes", Kind::List, "scopes to ask for").default(SCOPES).only("auth", &["oauth"]),
    Key::new("accounts.*.redirect_port", Kind::Integer { min: 0, max: 65535 }, "loopback port for the sign-in; 0: any")
        .default("0")
        .only("auth", &["oauth"]),
    Key::new("accounts.*.redirect_path", Kind::Text, "path of the address that the sign-in returns to")
        .default("/callback")
        .only("auth", &["oauth"]),
    Key::new("sync.poll_interval", duration(10, 7 * DAY), "time between two polls").default("60s"),
    Key::new("sync.reconcile_interval", duration(10, 30 * DAY), "time between two sweeps over the whole list")
        .default("6h"),
    Key::new("sync.max_concurrency", Kind::Integer { min: 1, max: 256 }, "documents in flight in each stage")
        .default("16"),
    Key::new("sync.max_pdf_bytes", size(1, 10 << 30), "a larger PDF is refused").default("100MiB"),
    Key::new("sync.give_up_after", duration(1, 366 * DAY), "how long a document's own transient failures go on")
        .default("7d"),
    Key::new("retry.initial", duration(1, DAY), "upper bound of the first delay").default("1s"),
    Key::new("retry.max", duration(1, 7 * DAY), "upper bound of every delay").default("15m"),
    Key::new(
        "destinations.*.type",
        Kind::Enum(&["folder", "command", "sftp", "http", "webdav", "s3"]),
        "what the destination is",
    )
    .required(),
    Key::new("destinations.*.path", Kind::Path, "the folder; it must exist").required().only("type", WITH_NAMES),
    Key::new("destinations.*.file_name", Kind::Template, "name of the PDF below `path`")
        .default(FILE_NAME)
        .only("type", WITH_FILE_NAME),
    Key::new("destinations.*.marker", Kind::Text, "file in `path` that must be there: else the share is not mounted")
        .only("type", &["folder"]),
    Key::new("destinations.*.sidecar", Kind::Template, "content of a second file, complete before the PDF appears")
        .only("type", WITH_NAMES),
    Key::new("destinations.*.sidecar_name", Kind::Template, "name of the second file")
        .default("{{ file_stem }}.txt")
        .only("type", WITH_NAMES),
    Key::new(
        "destinations.*.sidecar_format",
        Kind::Enum(&["json", "xml", "csv", "ini", "gdt", "text"]),
        "how values in it are made safe; without it the ending of `sidecar_name` decides",
    )
    .only("type", WITH_NAMES),
    Key::new("destinations.*.file_mode", Kind::Mode { needs: 0o400, within: 0o777 }, "Unix permissions of files")
        .default("0600")
        .only("type", &["folder"]),
    Key::new(
        "destinations.*.dir_mode",
        Kind::Mode { needs: 0o700, within: 0o7777 },
        "Unix permissions of new sub-folders",
    )
    .default("0700")
    .only("type", &["folder"]),
    Key::new("destinations.*.reader", Kind::Text, "user or group that must be able to read what is filed; for `check`")
        .only("type", &["folder"]),
    Key::new("destinations.*.program", Kind::Program, "the program to run").required().only("type", &["command"]),
    Key::new("destinations.*.args", Kind::Templates, "its arguments").default("[]").only("type", &["command"]),
    Key::new("destinations.*.host", Kind::Text, "name or address of the server").required().only("type", WITH_HOST),
    Key::new("destinations.*.port", Kind::Integer { min: 1, max: 65535 }, "its port")
        .default("22")
        .only("type", &["sftp"]),
    Key::new("destinations.*.user", Kind::Text, "user name there")
        .required()
        .only("type", &["sftp", "http", "webdav"])
        .optional_with(WITH_URL),
    Key::new("destinations.*.key_file", Kind::SecretFile, "file that holds the private key").only("type", &["sftp"]),
    Key::new("destinations.*.key_passphrase_file", Kind::SecretFile, "file that holds the passphrase of that key")
        .only("type", &["sftp"]),
    Key::new("destinations.*.password_file", Kind::SecretFile, "file that holds the password")
        .only("type", &["sftp", "http", "webdav"]),
    Key::new("destinations.*.password", Kind::Secret, "the password itself, from the environment only")
        .only("type", WITH_URL),
    Key::new("destinations.*.host_key", Kind::Text, "fingerprint of the server's key, SHA256:...")
        .only("type", &["sftp"]),
    Key::new("destinations.*.known_hosts_file", Kind::Path, "file of known servers, as OpenSSH keeps it")
        .only("type", &["sftp"]),
    Key::new(
        "destinations.*.verify",
        Kind::Enum(&["content", "size"]),
        "what is read back before a document counts as delivered",
    )
    .default("content")
    .only("type", &["sftp"]),
    Key::new("destinations.*.max_connections", Kind::Integer { min: 1, max: 256 }, "deliveries to it at a time")
        .default("4")
        .only("type", REMOTE),
    Key::new("destinations.*.timeout", duration(10, DAY), "longest wait for a program's end, or for a server's answer")
        .default("60s")
        .only("type", &["command", "sftp", "http", "webdav", "s3"]),
    Key::new("destinations.*.url", Kind::Template, "address of the service").required().only("type", WITH_URL),
    Key::new("destinations.*.bearer_token_file", Kind::SecretFile, "file that holds the token").only("type", WITH_URL),
    Key::new("destinations.*.bearer_token", Kind::Secret, "the token itself, from the environment only")
        .only("type", WITH_URL),
    Key::new("destinations.*.ca_file", Kind::Path, "PEM file with the only certificate authorities to trust")
        .only("type", WEB),
    Key::new("destinations.*.client_cert_file", Kind::Path, "PEM file with the certificate that docsyncd shows")
        .only("type", WEB),
    Key::new("destinations.*.client_key_file", Kind::SecretFile, "PEM file with the key of that certificate")
        .only("type", WEB),
    Key::new("destinations.*.proxy", Kind::Proxy, "HTTP proxy for every request to it").only("type", WEB),
    Key::new("destinations.*.method", Kind::Enum(&["PUT", "POST"]), "method of the request")
        .default("PUT")
        .only("type", HTTP),
    Key::new("destinations.*.body", Kind::Enum(&["raw", "multipart", "json"]), "form in which the PDF is sent")
        .default("raw")
        .only("type", HTTP),
    Key::new("destinations.*.headers", Kind::TemplateTable, "headers of the request").only("type", HTTP),
    Key::new("destinations.*.header_files", Kind::SecretFileTable, "headers whose values stand in files")
        .only("type", HTTP),
    Key::new("destinations.*.file_field", Kind::Text, "name of the PDF's part in a multipart body")
        .default("file")
        .only("type", HTTP),
    Key::new("destinations.*.fields", Kind::TemplateTable, "the other parts of a multipart body").only("type", HTTP),
    Key::new("destinations.*.json", Kind::Template, "the body as JSON; {{ file_base64 }} is the PDF")
        .only("type", HTTP),
    Key::new("destinations.*.success", Kind::Statuses, "statuses which say that the document is kept")
        .default("[200, 201, 204]")
        .only("type", HTTP),
    Key::new("destinations.*.probe_url", Kind::Template, "address that answers 200 when the document is there")
        .only("type", HTTP),
    Key::new("destinations.*.check_url", Kind::Text, "address that `docsyncd check` asks for").only("type", HTTP),
    Key::new("destinations.*.conflict_is_found", Kind::Bool, "whether status 409 says that the document is there")
        .default("false")
        .only("type", HTTP),
    Key::new("destinations.*.html_is_success", Kind::Bool, "whether a web page can be the answer to a kept document")
        .default("false")
        .only("type", HTTP),
    Key::new(
        "destinations.*.on_lost_reply",
        Kind::Enum(&["resend", "hold"]),
        "what happens to a document whose answer is lost, where nobody can look",
    )
    .default("resend")
    .only("type", HTTP),
    Key::new("destinations.*.endpoint", Kind::Address, "address of the S3 service").required().only("type", S3),
    Key::new("destinations.*.region", Kind::Text, "region that signatures name").default("us-east-1").only("type", S3),
    Key::new("destinations.*.bucket", Kind::Text, "the bucket; it must exist").required().only("type", S3),
    Key::new("destinations.*.prefix", Kind::Text, "what every key begins with").only("type", S3),
    Key::new("destinations.*.access_key_id", Kind::Text, "identifier of the access key").required().only("type", S3),
    Key::new("destinations.*.secret_access_key_file", Kind::SecretFile, "file that holds the secret access key")
        .only("type", S3),
    Key::new("destinations.*.secret_access_key", Kind::Secret, "the secret itself, from the environment only")
        .only("type", S3),
    Key::new("destinations.*.force_path_style", Kind::Bool, "whether the bucket stands in the path, not in the host")
        .default("true")
        .only("type", S3),
    Key::new("destinations.*.storage_class", Kind::Text, "storage class of the objects").only("type", S3),
    Key::new("destinations.*.server_side_encryption", Kind::Text, "encryption that is asked for").only("type", S3),
    Key::new(
        "destinations.*.conditional",
        Kind::Enum(&["auto", "always"]),
        "what happens where the service does not know conditional writes",
    )
    .default("auto")
    .only("type", S3),
    Key::new("routes[].types", Kind::List, "document types that the route takes"),
    Key::new("routes[].users", Kind::List, "uuids or e-mail addresses of the users whose documents it takes"),
    Key::new("routes[].visibility", Kind::Enum(&["shared", "private"]), "visibility of the patients it takes"),
    Key::new("routes[].anonymized", Kind::Bool, "whether it takes anonymized documents only, or none of them"),
    Key::new("routes[].to", Kind::List, "destinations that must hold the document").required(),
    Key::new("state.path", Kind::Path, "the ledger; the spool lies beside it").default(LEDGER),
    Key::new("state.keep_history", duration(1000, 36_500 * DAY), "how long the history of finished documents is kept")
        .default("730d"),
    Key::new("state.keep_names", duration(0, 36_500 * DAY), "how long names are kept to be found by; 0: never")
        .default("730d"),
    Key::new("state.spool_limit", size(0, 1 << 40), "what may lie downloaded while destinations are paused")
        .default("1GiB"),
    Key::new("alerts.language", Kind::Enum(&["fr", "en"]), "language of the messages").default("fr"),
    Key::new("alerts.after", duration(0, 30 * DAY), "what waits for so long is told").default("15m"),
    Key::new("alerts.silence", duration(10, 366 * DAY), "told when no poll ended well for so long").default("24h"),
    Key::new("alerts.remind", duration(10, 366 * DAY), "told again after so long, while it lasts").default("24h"),
    Key::new("alerts.heartbeat_url_file", Kind::SecretFile, "file with the address that every good poll asks for"),
    Key::new("alerts.webhook_url_file", Kind::SecretFile, "file with the address that every message is posted to"),
    Key::new(
        "alerts.webhook_secret_file",
        Kind::SecretFile,
        "file with the secret that signs them (Standard Webhooks)",
    ),
    Key::new(
        "alerts.webhook_format",
        Kind::Enum(&["json", "teams", "slack", "ntfy", "gotify"]),
        "what the receiver understands",
    )
    .default("json"),
    Key::new("alerts.mail.host", Kind::Text, "mail server"),
    Key::new(
        "alerts.mail.port",
        Kind::Integer { min: 1, max: 65535 },
        "its port; 587, with \"tls\" 465, with \"none\" 25",
    ),
    Key::new("alerts.mail.encryption", Kind::Enum(&["starttls", "tls", "none"]), "how the connection is encrypted")
        .default("starttls"),
    Key::new("alerts.mail.user", Kind::Text, "user name at the mail server"),
    Key::new("alerts.mail.password_file", Kind::SecretFile, "file that holds the password"),
    Key::new("alerts.mail.from", Kind::Text, "sender of the mails"),
    Key::new("alerts.mail.to", Kind::List, "who gets them"),
    Key::new("status_page.listen", Kind::Loopback, "where the status page and /metrics are served; off without it"),
    Key::new("webhook.public_url", Kind::Address, "address under which the Internet reaches `webhook.listen`"),
    Key::new("webhook.listen", Kind::Loopback, "where webhooks are heard, behind a reverse proxy"),
    Key::new(
        "log.level",
        Kind::Enum(&["error", "warn", "info", "debug", "trace"]),
        "least severe level that is written",
    )
    .default("info"),
    Key::new("log.format", Kind::Enum(&["text", "json"]), "how lines look").default("text"),
    Key::new("log.file", Kind::Path, "a file to write instead of standard error"),
    Key::new("log.max_size", size(1024, 10 << 30), "size at which the file is rotated").default("10MiB"),
    Key::new("log.max_files", Kind::Integer { min: 1, max: 1000 }, "rotated files kept").default("5"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn paths_are_unique_and_sections_are_contiguous() {
        let paths: HashSet<&str> = KEYS.iter().map(|key| key.path).collect();
        assert_eq!(paths.len(), KEYS.len());
        let names: HashSet<&str> = sections().iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), sections().len(), "a section has keys in two places or of two shapes");
    }

    #[test]
    fn selectors_are_enums_of_the_same_section_that_know_the_value() {
        for key in KEYS {
            let Some((selector, values)) = key.only else { continue };
            let selector = find(key.section(), selector).unwrap();
            let Kind::Enum(words) = selector.kind else { panic!("{}", key.path) };
            assert!(!values.is_empty() && values.iter().all(|value| words.contains(value)), "{}", key.path);
        }
    }

    #[test]
    fn keys_are_addressed_as_a_person_writes_them() {
        let to = find("routes", "to").unwrap();
        assert_eq!(to.at(Some("2")), "routes[2].to");
        assert_eq!(to.variable(Some("2")), "DOCSYNCD__ROUTES__2__TO");
        let path = find("destinations", "path").unwrap();
        assert_eq!(path.at(Some("pms")), "destinations.pms.path");
        assert_eq!(path.variable(Some("pms")), "DOCSYNCD__DESTINATIONS__PMS__PATH");
    }
}

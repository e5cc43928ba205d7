//! The settings that every configuration has, declared once: name, type, kind, meaning and default. The macro makes
//! keys of them and, for each section, a type with its values; the kinds of destinations declare theirs with it, too.
//! From the keys follow unknown ones and their nearest known one, environment names, defaults, `config show` and the
//! questions of `setup`. `config/docsyncd.toml` shows the settings to people; a test compares the two.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;
use tracing::level_filters::LevelFilter;
use url::Url;

use super::layers::Merged;
use super::schema::Key;
use super::schema::Kind::{
    self, Address, Bool, Enum, Integer, List, Listen, Loopback, Path, Proxy, Secret, SecretFile, Size, Text,
};
use crate::formats::language::Language;

pub use self::choices::{AuthKind, LogFormat, MailEncryption, PatientsEncoding, WebhookFormat};
pub(crate) use self::typed::{Typed, known, of_words, typed};

mod choices;
mod typed;

/// The default path of the ledger.
const LEDGER: &str =
    if cfg!(windows) { r"%ProgramData%\docsyncd\ledger.sqlite3" } else { "/var/lib/docsyncd/ledger.sqlite3" };

/// The default scopes of an `oauth` account (API, "Scopes"), as a list in the configuration file.
const SCOPES: &str = r#"["profile", "organization", "read:documents", "write:documents", "read:patients"]"#;

/// Seconds.
pub(crate) const DAY: u64 = 24 * 60 * 60;

/// A time between so many milliseconds and so many seconds.
pub(crate) const fn duration(min_ms: u64, max_s: u64) -> Kind {
    Kind::Duration { min: Duration::from_millis(min_ms), max: Duration::from_secs(max_s) }
}

const fn size(min: u64, max: u64) -> Kind {
    Size { min, max }
}

/// A whole number within bounds.
pub(crate) const fn integer(min: i64, max: i64) -> Kind {
    Integer { min, max }
}

/// Declares sections: for each a type with its values, and its keys, each by its name and all together.
macro_rules! settings {
    ($($(#[$about:meta])* $section:literal $Section:ident {
        $($field:ident: $Type:ty, $kind:expr, $doc:literal $(, $more:ident($($given:expr),*))*;)*
    })*) => {
        $(
            $(#[$about])*
            pub struct $Section {$(
                #[doc = $doc]
                pub $field: $Type,
            )*}

            #[expect(non_upper_case_globals, reason = "each is called as its key is")]
            impl $Section {
                $(
                    #[doc = $doc]
                    pub(crate) const $field: $crate::config::schema::Key =
                        $crate::config::schema::Key::new(concat!($section, stringify!($field)), $kind, $doc)
                            $(.$more($($given),*))*;
                )*
                /// All of them.
                #[allow(dead_code, reason = "a kind may take some alone")]
                pub(crate) const KEYS: &[$crate::config::schema::Key] = &[$(Self::$field),*];
            }

            impl $crate::config::settings::Section for $Section {
                fn read(
                    merged: &$crate::config::layers::Merged,
                    instance: Option<&str>,
                ) -> Result<Self, &'static str> {
                    let (section, _) = $crate::config::schema::table($section);
                    $(let $field = $crate::config::settings::typed(merged, section, stringify!($field), instance)?;)*
                    Ok(Self { $($field),* })
                }
            }
        )*
    };
}

pub(crate) use settings;

/// The values of a section, or of one of its tables.
pub(crate) trait Section: Sized {
    /// Reads them. Each was checked before, so no input of a person can fail here: an error names a key whose type does
    /// not match its kind.
    fn read(merged: &Merged, instance: Option<&str>) -> Result<Self, &'static str>;
}

/// The keys that stand above those of destinations, section by section.
pub(super) const ABOVE: &[&[Key]] = &[Top::KEYS, Api::KEYS, Account::KEYS, SyncConfig::KEYS, Retry::KEYS];

/// Those that stand below them.
pub(super) const BELOW: &[&[Key]] = &[
    Route::KEYS,
    Practice::KEYS,
    Patients::KEYS,
    Reconcile::KEYS,
    StateConfig::KEYS,
    Alerts::KEYS,
    Mail::KEYS,
    Receivers::KEYS,
    StatusPage::KEYS,
    Webhook::KEYS,
    LogConfig::KEYS,
];

settings! {
    /// What stands above every table.
    "" Top {
        language: Option<Language>, Enum(&["en", "fr", "de"]),
            "language of commands and alarms, and of the status page where a browser asks for none";
    }
    /// `[api]`
    "api." Api {
        base_url: Option<Url>, Address, "address of the API", required();
        app_url: Option<Url>, Address, "address of the application server, for `docsyncd login`";
        authorization_path: String, Enum(&["/authorize", "/oauth/authorize"]),
            "where the authorization page is below app_url", default("/authorize");
        timeout: Duration, duration(10, 3600), "longest wait for an answer", default("30s");
        ca_file: Option<PathBuf>, Path, "PEM file with the only certificate authorities to trust";
        proxy: Option<Url>, Proxy, "HTTP proxy for every request";
        pdf_hosts: Vec<String>, List, "hosts in the practice's own network that PDFs may lie on", default("[]");
    }
    /// `[accounts.NAME]`
    "accounts.*." Account {
        auth: AuthKind, Enum(&["api_key", "oauth"]), "how the account signs in", default("api_key");
        api_key_file: Option<PathBuf>, SecretFile, "file that holds the key", only("auth", &["api_key"]);
        api_key: Option<SecretString>, Secret, "the key itself, from the environment only", only("auth", &["api_key"]);
        client_id: Option<String>, Text, "client identifier", required(), only("auth", &["oauth"]);
        client_secret_file: Option<PathBuf>, SecretFile, "file that holds the client secret", only("auth", &["oauth"]);
        client_secret: Option<SecretString>, Secret, "the client secret itself, from the environment only",
            only("auth", &["oauth"]);
        scopes: Vec<String>, List, "scopes to ask for", default(SCOPES), only("auth", &["oauth"]);
        redirect_port: Option<u16>, integer(0, 65535), "loopback port for the sign-in; 0: any",
            default("0"), only("auth", &["oauth"]);
        redirect_path: Option<String>, Text, "path of the address that the sign-in returns to",
            default("/callback"), only("auth", &["oauth"]);
    }
    /// `[sync]`
    #[derive(Debug, Clone)]
    "sync." SyncConfig {
        poll_interval: Duration, duration(10, 7 * DAY), "time between two polls", default("60s");
        reconcile_interval: Duration, duration(10, 30 * DAY),
            "longest time between two looks at a document whose PDF is not rendered yet",
            default("6h");
        max_concurrency: usize, integer(1, 256), "documents in flight in each stage", default("16");
        max_pdf_bytes: u64, size(1, 10 << 30), "a larger PDF is refused", default("100MiB");
        give_up_after: Duration, duration(1, 366 * DAY), "how long a document's own transient failures go on",
            default("7d");
        pdf_grace: Duration, duration(0, DAY), "a PDF may appear so long after its letter", default("2m");
    }
    /// `[retry]`
    "retry." Retry {
        initial: Duration, duration(1, DAY), "upper bound of the first delay", default("1s");
        max: Duration, duration(1, 7 * DAY), "upper bound of every delay that no server asks for", default("15m");
    }
    /// `[[routes]]`
    "routes[]." Route {
        accounts: Option<Vec<String>>, List, "accounts whose letters the route takes";
        types: Option<Vec<String>>, List, "document types that the route takes";
        users: Option<Vec<String>>, List, "uuids or e-mail addresses of the users whose documents it takes";
        visibility: Option<String>, Enum(&["shared", "private"]), "visibility of the patients it takes";
        anonymized: Option<bool>, Bool, "whether it takes anonymized documents only, or none of them";
        to: Option<Vec<String>>, List, "destinations that must hold the document", required();
    }
    /// `[practice]`
    "practice." Practice {
        name: Option<String>, Text, "name of the practice, for alarms";
        contact: Option<String>, Text, "whom to call when something is wrong: a name and a telephone number";
        closed: Vec<String>, List, "days on which it is closed, besides Saturdays and Sundays", default("[]");
    }
    /// `[patients]`: its keys are required only if one of them is given.
    "patients." Patients {
        file: Option<PathBuf>, Path, "the practice's list of patients, as its software exports it";
        number: Option<String>, Text, "name of its column with the patient's number";
        last_name: Option<String>, Text, "name of its column with the last name";
        first_name: Option<String>, Text, "name of its column with the first name";
        date_of_birth: Option<String>, Text, "name of its column with the date of birth";
        former_name: Option<String>, Text, "name of a column with a second last name that counts as well";
        date_format: String, Text, "how its dates are written", default("auto");
        encoding: PatientsEncoding,
            Enum(&["auto", "utf-8", "utf-16", "windows-1252", "iso-8859-1", "iso-8859-15", "cp437", "cp850"]),
            "how its bytes are text; a byte order mark decides, whatever stands here", default("auto");
        delimiter: String, Enum(&["auto", ";", ",", "\t", "|"]), "what stands between its values",
            default("auto");
        push: bool, Bool, "whether the cloud service is told the numbers", default("false");
    }
    /// `[reconcile]`
    "reconcile." Reconcile {
        every: Option<Duration>, duration(1000, 366 * DAY), "how often the running daemon compares all sides; never without it";
    }
    /// `[state]`
    #[derive(Debug, Clone)]
    "state." StateConfig {
        path: PathBuf, Path, "the ledger; the spool lies beside it", default(LEDGER);
        keep_history: Duration, duration(1000, 36_500 * DAY), "how long the history of finished documents is kept",
            default("730d");
        keep_names: Duration, duration(0, 36_500 * DAY), "how long names are kept to be found by; 0: never",
            default("730d");
        spool_limit: u64, size(0, 1 << 40), "what may lie downloaded while destinations are paused", default("1GiB");
    }
    /// `[alerts]`
    "alerts." Alerts {
        language: Language, Enum(&["fr", "de", "en"]), "language of the messages", default("fr"), follows("language");
        after: Duration, duration(0, 30 * DAY), "what waits for so long is told", default("15m");
        silence: Duration, duration(10, 366 * DAY), "told when no poll ended well for so long", default("24h");
        quiet_after: String, Text, "told when no letter came for so long, where letters usually come", default("auto");
        remind: Duration, duration(10, 366 * DAY), "told again after so long, while it lasts", default("24h");
        heartbeat_url_file: Option<PathBuf>, SecretFile, "file with the address that every good poll asks for";
        webhook_url_file: Option<PathBuf>, SecretFile, "file with the address that every message is posted to";
        webhook_secret_file: Option<PathBuf>, SecretFile, "file with the secret that signs them (Standard Webhooks)";
        webhook_format: WebhookFormat, Enum(&["json", "teams", "slack", "ntfy", "gotify"]),
            "what the receiver understands", default("json");
    }
    /// `[alerts.mail]`
    "alerts.mail." Mail {
        host: Option<String>, Text, "mail server";
        port: Option<u16>, integer(1, 65535), "its port; 587, with \"tls\" 465, with \"none\" 25";
        encryption: MailEncryption, Enum(&["starttls", "tls", "none"]), "how the connection is encrypted",
            default("starttls");
        user: Option<String>, Text, "user name at the mail server";
        password_file: Option<PathBuf>, SecretFile, "file that holds the password";
        from: Option<String>, Text, "sender of the mails";
        to: Vec<String>, List, "who gets them";
    }
    /// `[alerts.NAME]`
    "alerts.*." Receivers {
        accounts: Vec<String>, List, "accounts of whose letters and problems alone they are told", required();
        to: Vec<String>, List, "who gets mails, from the server of [alerts.mail]";
        webhook_url_file: Option<PathBuf>, SecretFile, "file with the address that their messages are posted to";
        webhook_secret_file: Option<PathBuf>, SecretFile, "file with the secret that signs them (Standard Webhooks)";
        webhook_format: WebhookFormat, Enum(&["json", "teams", "slack", "ntfy", "gotify"]),
            "what the receiver understands", default("json");
    }
    /// `[status_page]`
    "status_page." StatusPage {
        listen: Option<SocketAddr>, Listen, "where the status page and /metrics are served; off without it";
        certificate_file: Option<PathBuf>, Path, "PEM file with the certificate of the page, for TLS";
        certificate_key_file: Option<PathBuf>, SecretFile, "file with the key of that certificate";
        public_url: Option<Url>, Address, "address under which other computers reach the page over TLS";
    }
    /// `[webhook]`
    "webhook." Webhook {
        public_url: Option<Url>, Address, "address under which the Internet reaches `webhook.listen`";
        listen: Option<SocketAddr>, Loopback, "where webhooks are heard, behind a reverse proxy";
    }
    /// `[log]`
    #[derive(Debug, Clone)]
    "log." LogConfig {
        level: LevelFilter, Enum(&["error", "warn", "info", "debug", "trace"]), "least severe level that is written",
            default("info");
        format: LogFormat, Enum(&["text", "json"]), "how lines look", default("text");
        file: Option<PathBuf>, Path, "a file to write instead of standard error";
        max_size: u64, size(1024, 10 << 30), "size at which the file is rotated", default("10MiB");
        max_files: usize, integer(1, 1000), "rotated files kept", default("5");
    }
}

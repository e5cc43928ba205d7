//! Every setting, declared once: its name, type, kind, meaning and default. The macro makes [`KEYS`] and, for each
//! section, a type with its values. From [`KEYS`] follow unknown keys and their nearest known one, environment names,
//! defaults, `config show` and the questions of `setup`. `config/docsyncd.toml` shows the settings to people; a test
//! compares the two.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;
use tracing::level_filters::LevelFilter;
use url::Url;

use super::layers::Merged;
use super::schema::Kind::{
    self, Address, Bool, Enum, Integer, List, Listen, Loopback, Mode, Path, Program, Proxy, Secret, SecretFile,
    SecretFileTable, Size, Statuses, Template, TemplateTable, Templates, Text, TypeMap,
};
use super::schema::{self, Key};
use crate::formats::language::Language;

pub use self::choices::{
    AuthKind, DestinationType, FhirProfile, LogFormat, LostReply, MailEncryption, PatientsEncoding, WebhookFormat,
};
use self::typed::typed;

mod choices;
mod typed;

/// The default path of the ledger.
const LEDGER: &str =
    if cfg!(windows) { r"%ProgramData%\docsyncd\ledger.sqlite3" } else { "/var/lib/docsyncd/ledger.sqlite3" };

/// The default scopes of an `oauth` account (API, "Scopes"), as a list in the configuration file.
const SCOPES: &str = r#"["profile", "organization", "read:documents", "write:documents", "read:patients"]"#;

/// Destinations that give the PDF a name below `path`.
const WITH_NAMES: &[&str] = &["folder", "sftp", "webdav"];
/// Destinations that give the PDF a name.
const WITH_FILE_NAME: &[&str] = &["folder", "sftp", "webdav", "http", "s3", "fhir"];
/// Destinations on another machine.
const REMOTE: &[&str] = &["sftp", "http", "webdav", "s3", "fhir", "hl7v2", "dicom", "smtp"];
/// Destinations that speak HTTP.
const WEB: &[&str] = &["http", "webdav", "s3", "fhir", "dicom"];
/// Destinations that sign in with a token, or with user and password.
const SIGNED_IN: &[&str] = &["http", "webdav", "fhir", "dicom"];
/// Destinations to which docsyncd can show a certificate over TLS.
const WITH_TLS: &[&str] = &["http", "webdav", "s3", "fhir", "hl7v2", "dicom", "smtp"];
/// Destinations that sign in with a user and a password.
const WITH_PASSWORD: &[&str] = &["http", "webdav", "fhir", "dicom", "smtp"];
/// Destinations with a `url`.
const WITH_URL: &[&str] = &["http", "webdav", "dicom"];
/// Destinations where it may be impossible to tell whether a document arrived.
const UNSURE: &[&str] = &["folder", "command", "sftp", "http", "webdav", "fhir", "hl7v2", "dicom", "smtp", "vdds"];
/// Destinations whose letters a program may take away.
const TAKEN: &[&str] = &["folder", "sftp", "webdav", "s3"];
/// Destinations where a look can prove that their software took a document.
const CONFIRMED: &[&str] = &["folder", "sftp", "webdav", "http", "fhir", "dicom"];
const HTTP: &[&str] = &["http"];
const S3: &[&str] = &["s3"];
const FHIR: &[&str] = &["fhir"];
/// Destinations that file into a patient's record by codes and identifiers.
const RECORDS: &[&str] = &["fhir", "hl7v2", "dicom", "vdds"];
const HL7: &[&str] = &["hl7v2"];
const DICOM: &[&str] = &["dicom"];
/// Destinations that get the type of a letter as a code.
const CODED: &[&str] = &["fhir", "hl7v2", "dicom", "smtp"];
const SMTP: &[&str] = &["smtp"];
const VDDS: &[&str] = &["vdds"];
/// Destinations with a `host`.
const WITH_HOST: &[&str] = &["sftp", "hl7v2", "dicom", "smtp"];

/// The types of messages, in the forms that people write.
const HL7_MESSAGES: &[&str] = &["MDM^T02", "ORU^R01", "MDM", "ORU", "MDM^T02^MDM_T02", "ORU^R01^ORU_R01"];
/// The versions in which MDM and ORU have the form that docsyncd sends.
const HL7_VERSIONS: &[&str] =
    &["2.3", "2.3.1", "2.4", "2.5", "2.5.1", "2.6", "2.7", "2.7.1", "2.8", "2.8.1", "2.8.2", "2.9"];

/// The default of `destinations.*.file_name`.
const FILE_NAME: &str = "{{ patient.lastName }}_{{ patient.firstName }}_{{ patient.dateOfBirth | date }}/{{ document.createdAt | date }}_{{ document.type }}.pdf";

/// The default of `destinations.*.title`.
const TITLE: &str = "{{ document.type }} {{ document.createdAt | date }}";

/// The default of `destinations.*.attachment_name`.
const ATTACHMENT_NAME: &str = "{{ document.type }}_{{ document.uuid }}.pdf";

const DAY: u64 = 24 * 60 * 60;

const fn duration(min_ms: u64, max_s: u64) -> Kind {
    Kind::Duration { min: Duration::from_millis(min_ms), max: Duration::from_secs(max_s) }
}

const fn size(min: u64, max: u64) -> Kind {
    Size { min, max }
}

const fn integer(min: i64, max: i64) -> Kind {
    Integer { min, max }
}

/// The name of a key: that of its field.
macro_rules! name {
    (r#type) => {
        "type"
    };
    ($field:ident) => {
        stringify!($field)
    };
}

macro_rules! settings {
    ($($(#[$about:meta])* $section:literal $Section:ident {
        $($field:ident: $Type:ty, $kind:expr, $doc:literal $(, $more:ident($($given:expr),*))*;)*
    })*) => {
        /// Every setting, section by section.
        pub static KEYS: &[Key] = &[$($(
            Key::new(concat!($section, name!($field)), $kind, $doc)$(.$more($($given),*))*,
        )*)*];
        $(
            $(#[$about])*
            pub struct $Section {$(
                #[doc = $doc]
                pub $field: $Type,
            )*}

            impl $Section {
                /// The values of this section, or of one of its tables. Each value was checked before, so no input of a
                /// person can fail here: an error names a key whose type does not match its kind.
                pub(super) fn read(merged: &Merged, instance: Option<&str>) -> Result<Self, &'static str> {
                    let (section, _) = schema::table($section);
                    $(let $field = typed(merged, section, name!($field), instance)?;)*
                    Ok(Self { $($field),* })
                }
            }
        )*
    };
}

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
    /// `[destinations.NAME]`: the keys of every type; keys of another type were refused before.
    "destinations.*." Destination {
        r#type: Option<DestinationType>,
            Enum(&["folder", "command", "sftp", "http", "webdav", "s3", "fhir", "hl7v2", "dicom", "smtp", "vdds"]),
            "what the destination is", required();
        path: Option<PathBuf>, Path, "the folder; it must exist", required(), only("type", WITH_NAMES);
        file_name: Option<String>, Template, "name of the PDF below `path`",
            default(FILE_NAME), only("type", WITH_FILE_NAME);
        marker: Option<PathBuf>, Text, "file in `path` that must be there: else the storage behind it is away",
            only("type", WITH_NAMES);
        sidecar: Option<String>, Template, "content of a second file, complete before the PDF appears",
            only("type", WITH_NAMES);
        sidecar_name: Option<String>, Template, "name of the second file",
            default("{{ file_stem }}.txt"), only("type", WITH_NAMES);
        sidecar_encoding: Option<String>,
            Enum(&["utf-8", "utf-8-bom", "windows-1252", "iso-8859-1", "iso-8859-15", "cp437", "cp850"]),
            "how its letters are written", default("utf-8"), only("type", WITH_NAMES);
        sidecar_newline: Option<String>, Enum(&["lf", "crlf"]), "how its lines end",
            default("lf"), only("type", WITH_NAMES);
        sidecar_unmappable: Option<String>, Enum(&["transliterate", "refuse"]),
            "what happens to letters that its encoding lacks", default("transliterate"), only("type", WITH_NAMES);
        sidecar_after: Option<bool>, Bool, "whether it gets its name after the PDF, not before",
            default("false"), only("type", WITH_NAMES);
        visible_path: Option<String>, Text, "the folder as the practice's computers see it; for {{ visible_file }}",
            only("type", WITH_NAMES);
        sidecar_format: Option<String>, Enum(&["json", "xml", "csv", "ini", "gdt", "text"]),
            "how values in it are made safe; without it the ending of `sidecar_name` decides", only("type", WITH_NAMES);
        file_mode: Option<u32>, Mode { needs: 0o400, within: 0o777 }, "Unix permissions of files",
            default("0600"), only("type", &["folder"]);
        dir_mode: Option<u32>, Mode { needs: 0o700, within: 0o7777 }, "Unix permissions of new sub-folders",
            default("0700"), only("type", &["folder"]);
        reader: Option<String>, Text, "user or group that must be able to read what is filed; for `check`",
            only("type", &["folder"]);
        program: Option<PathBuf>, Program, "the program to run", required(), only("type", &["command", "vdds"]), optional_with(VDDS);
        args: Vec<String>, Templates, "its arguments", default("[]"), only("type", &["command"]);
        host: Option<String>, Text, "name or address of the server", required(), only("type", WITH_HOST), optional_with(DICOM);
        port: Option<u16>, integer(1, 65535), "its port; without it the usual one", only("type", WITH_HOST);
        user: Option<String>, Text, "user name there",
            required(), only("type", &["sftp", "http", "webdav", "fhir", "dicom", "smtp"]), optional_with(WITH_PASSWORD);
        key_file: Option<PathBuf>, SecretFile, "file that holds the private key", only("type", &["sftp"]);
        key_passphrase_file: Option<PathBuf>, SecretFile, "file that holds the passphrase of that key",
            only("type", &["sftp"]);
        password_file: Option<PathBuf>, SecretFile, "file that holds the password",
            only("type", &["sftp", "http", "webdav", "fhir", "dicom", "smtp"]);
        password: Option<SecretString>, Secret, "the password itself, from the environment only",
            only("type", WITH_PASSWORD);
        host_key: Option<String>, Text, "fingerprint of the server's key, SHA256:...", only("type", &["sftp"]);
        known_hosts_file: Option<PathBuf>, Path, "file of known servers, as OpenSSH keeps it", only("type", &["sftp"]);
        verify: Option<String>, Enum(&["content", "size", "none", "query"]),
            "what is read back, or asked for, before a document counts as delivered", only("type", &["sftp", "dicom"]);
        max_connections: Option<usize>, integer(1, 256), "deliveries to it at a time",
            default("4"), only("type", REMOTE);
        timeout: Option<Duration>, duration(10, DAY), "longest wait for a program's end, or for a server's answer",
            default("60s"), only("type", &["command", "sftp", "http", "webdav", "s3", "fhir", "dicom", "smtp", "vdds"]);
        url: Option<String>, Template, "address of the service", required(), only("type", WITH_URL), optional_with(DICOM);
        bearer_token_file: Option<PathBuf>, SecretFile, "file that holds the token", only("type", SIGNED_IN);
        bearer_token: Option<SecretString>, Secret, "the token itself, from the environment only",
            only("type", SIGNED_IN);
        ca_file: Option<PathBuf>, Path, "PEM file with the only certificate authorities to trust", only("type", WITH_TLS);
        client_cert_file: Option<PathBuf>, Path, "PEM file with the certificate that docsyncd shows", only("type", WITH_TLS);
        client_key_file: Option<PathBuf>, SecretFile, "PEM file with the key of that certificate", only("type", WITH_TLS);
        proxy: Option<Url>, Proxy, "HTTP proxy for every request to it", only("type", WEB);
        method: Option<String>, Enum(&["PUT", "POST"]), "method of the request", default("PUT"), only("type", HTTP);
        body: Option<String>, Template, "form in which the PDF is sent: raw, multipart or json; of a mail its text",
            only("type", &["http", "smtp"]);
        headers: BTreeMap<String, String>, TemplateTable, "headers of the request", only("type", HTTP);
        header_files: BTreeMap<String, String>, SecretFileTable, "headers whose values stand in files", only("type", HTTP);
        file_field: Option<String>, Text, "name of the PDF's part in a multipart body",
            default("file"), only("type", HTTP);
        fields: BTreeMap<String, String>, TemplateTable, "the other parts of a multipart body", only("type", HTTP);
        json: Option<String>, Template, "the body as JSON; {{ file_base64 }} is the PDF", only("type", HTTP);
        success: Vec<u16>, Statuses, "statuses which say that the document is kept",
            default("[200, 201, 204]"), only("type", HTTP);
        lookup_url: Option<String>, Template, "address that lists the patients who may be meant", only("type", HTTP);
        lookup_field: Option<String>, Text, "field of an entry there that becomes {{ lookup }}", only("type", HTTP);
        lookup_match: BTreeMap<String, String>, TemplateTable, "what fields of the one right entry hold",
            only("type", HTTP);
        probe_url: Option<String>, Template, "address that answers 200 when the document is there", only("type", HTTP);
        probe_contains: BTreeMap<String, String>, TemplateTable,
            "what fields of an entry hold when `probe_url` lists what is there", only("type", HTTP);
        resend_after: Option<Duration>, duration(0, DAY),
            "how long after a lost answer a document that `probe_url` does not show is sent again",
            only("type", HTTP);
        check_url: Option<String>, Text, "address that `docsyncd check` asks for", only("type", HTTP);
        conflict_is_found: Option<bool>, Bool, "whether status 409 says that the document is there",
            default("false"), only("type", HTTP);
        html_is_success: Option<bool>, Bool, "whether a web page can be the answer to a kept document",
            default("false"), only("type", HTTP);
        on_lost_reply: Option<LostReply>, Enum(&["resend", "hold"]),
            "what happens to a document whose answer is lost, where nobody can tell whether it arrived",
            only("type", UNSURE);
        confirm: Option<String>, Text, "what shows that the destination's software took a document",
            only("type", CONFIRMED);
        confirm_failed: Option<String>, Text, "what shows that it refused a document", only("type", WITH_NAMES);
        confirm_within: Option<Duration>, duration(1, 366 * DAY), "told when nothing shows it for so long",
            default("3d"), only("type", CONFIRMED);
        expect_taken: Option<bool>, Bool, "whether its software takes letters away, so that `docsyncd reconcile` misses none",
            default("false"), only("type", TAKEN);
        endpoint: Option<Url>, Address, "address of the S3 service", required(), only("type", S3);
        region: Option<String>, Text, "region that signatures name", default("us-east-1"), only("type", S3);
        bucket: Option<String>, Text, "the bucket; it must exist", required(), only("type", S3);
        prefix: Option<String>, Text, "what every key begins with", only("type", S3);
        access_key_id: Option<String>, Text, "identifier of the access key", required(), only("type", S3);
        secret_access_key_file: Option<PathBuf>, SecretFile, "file that holds the secret access key", only("type", S3);
        secret_access_key: Option<SecretString>, Secret, "the secret itself, from the environment only",
            only("type", S3);
        force_path_style: Option<bool>, Bool, "whether the bucket stands in the path, not in the host",
            default("true"), only("type", S3);
        storage_class: Option<String>, Text, "storage class of the objects", only("type", S3);
        server_side_encryption: Option<String>, Text, "encryption that is asked for", only("type", S3);
        conditional: Option<String>, Enum(&["auto", "always"]),
            "what happens where the service does not know conditional writes", default("auto"), only("type", S3);
        base_url: Option<Url>, Address, "address of the FHIR server, as in https://HOST/fhir", required(), only("type", FHIR);
        profile: Option<FhirProfile>, Enum(&["mhd", "pdsm", "isik", "plain"]), "whose rules the document reference follows",
            default("mhd"), only("type", FHIR);
        patient: Option<String>, Template, "search that finds the patient there; \"contained\": sent along",
            default("contained"), only("type", FHIR);
        author: Option<String>, Text, "name of the practice, as the author of its letters", only("type", &["fhir", "smtp"]);
        patient_id: Option<String>, Template, "what the patient is known by there", only("type", RECORDS);
        type_map: BTreeMap<String, String>, TypeMap, "codes of the document types", only("type", CODED);
        tls: Option<bool>, Bool, "whether the connection is encrypted", default("false"), only("type", &["hl7v2", "dicom"]);
        called_ae_title: Option<String>, Text, "title of the archive's application entity",
            default("ANY-SCP"), only("type", DICOM);
        calling_ae_title: Option<String>, Text, "title of docsyncd's own", default("DOCSYNCD"), only("type", DICOM);
        title: Option<String>, Template, "title of a letter", default(TITLE), only("type", DICOM);
        message: Option<String>, Enum(HL7_MESSAGES), "message that carries the PDF",
            default("MDM^T02"), only("type", HL7);
        version: Option<String>, Enum(HL7_VERSIONS), "version of HL7 that messages name", default("2.5.1"), only("type", HL7);
        message_structure: Option<bool>, Bool, "whether MSH-9 names the structure as well, as in MDM^T02^MDM_T02",
            default("true"), only("type", HL7);
        sending_application: Option<String>, Text, "who sends, as the receiver knows it (MSH-3)",
            default("DOCSYNCD"), only("type", HL7);
        sending_facility: Option<String>, Text, "where that is (MSH-4)", only("type", HL7);
        receiving_application: Option<String>, Text, "whom messages are for (MSH-5)", only("type", HL7);
        receiving_facility: Option<String>, Text, "where that is (MSH-6)", only("type", HL7);
        assigning_authority: Option<String>, Text, "who gave `patient_id`, as NAME or NAME^OID^ISO (PID-3)", only("type", HL7);
        charset: Option<String>, Enum(&["UNICODE UTF-8", "8859/1", "8859/2", "8859/15", "ASCII"]),
            "character set of messages, in the words of MSH-18", default("UNICODE UTF-8"), only("type", HL7);
        response_timeout: Option<Duration>, duration(10, DAY), "longest wait for an acknowledgment",
            default("30s"), only("type", HL7);
        keep_connection_open: Option<bool>, Bool, "whether several messages go over one connection",
            default("false"), only("type", HL7);
        ack_error: Option<String>, Enum(&["fail", "retry"]),
            "what an error (AE, CE) means that does not say of what: the document fails, or is sent again later",
            default("fail"), only("type", HL7);
        encryption: Option<MailEncryption>, Enum(&["starttls", "tls", "none"]), "how the connection is encrypted",
            default("starttls"), only("type", SMTP);
        from: Option<String>, Text, "address that mails come from", required(), only("type", SMTP);
        to: Option<String>, Template, "address that they go to", required(), only("type", SMTP);
        allowed_domains: Vec<String>, List, "domains that they may go to, where `to` holds values", only("type", SMTP);
        subject: Option<String>, Template, "subject of a mail", only("type", SMTP);
        attach: Option<String>, Enum(&["pdf", "xdm"]), "what is attached: the PDF, or an archive of IHE XDM",
            default("pdf"), only("type", SMTP);
        attachment_name: Option<String>, Template, "name of the attached PDF",
            default(ATTACHMENT_NAME), only("type", SMTP);
        archive: Option<String>, Text, "section of VDDS_MMI.INI that has the program to run (MMOINFIMPORT)", only("type", VDDS);
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

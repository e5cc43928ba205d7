//! The keys that several kinds of destination have. Those that one kind has alone stand in its folder.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

use crate::config::CommonKeys;
use crate::config::schema::Key;
use crate::config::schema::Kind::{Bool, Enum, Path, Program, Proxy, Secret, SecretFile, Template, Text, TypeMap};
use crate::config::settings::{DAY, duration, integer, of_words, settings};

/// `destinations.NAME.on_lost_reply`
#[derive(Deserialize, Debug, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum LostReply {
    /// Send it again.
    #[default]
    Resend,
    /// A person decides.
    Hold,
}

of_words!(LostReply);

/// The default of `destinations.*.file_name`.
const FILE_NAME: &str = "{{ patient.lastName }}_{{ patient.firstName }}_{{ patient.dateOfBirth | date }}/{{ document.createdAt | date }}_{{ document.type }}.pdf";

settings! {
    /// The values of these keys in `[destinations.NAME]`; none of a key that its kind does not have.
    "destinations.*." SharedKeys {
        path: Option<PathBuf>, Path, "the folder; it must exist", required();
        file_name: Option<String>, Template, "name of the PDF below `path`", default(FILE_NAME);
        marker: Option<PathBuf>, Text, "file in `path` that must be there: else the storage behind it is away";
        sidecar: Option<String>, Template, "content of a second file, complete before the PDF appears";
        sidecar_name: Option<String>, Template, "name of the second file", default("{{ file_stem }}.txt");
        sidecar_encoding: Option<String>,
            Enum(&["utf-8", "utf-8-bom", "windows-1252", "iso-8859-1", "iso-8859-15", "cp437", "cp850"]),
            "how its letters are written", default("utf-8");
        sidecar_newline: Option<String>, Enum(&["lf", "crlf"]), "how its lines end", default("lf");
        sidecar_unmappable: Option<String>, Enum(&["transliterate", "refuse"]),
            "what happens to letters that its encoding lacks", default("transliterate");
        sidecar_after: Option<bool>, Bool, "whether it gets its name after the PDF, not before", default("false");
        visible_path: Option<String>, Text, "the folder as the practice's computers see it; for {{ visible_file }}";
        sidecar_format: Option<String>, Enum(&["json", "xml", "csv", "ini", "gdt", "text"]),
            "how values in it are made safe; without it the ending of `sidecar_name` decides";
        program: Option<PathBuf>, Program, "the program to run", required();
        host: Option<String>, Text, "name or address of the server", required();
        port: Option<u16>, integer(1, 65535), "its port; without it the usual one";
        user: Option<String>, Text, "user name there";
        password_file: Option<PathBuf>, SecretFile, "file that holds the password";
        password: Option<SecretString>, Secret, "the password itself, from the environment only";
        verify: Option<String>, Enum(&["content", "size", "none", "query"]),
            "what is read back, or asked for, before a document counts as delivered";
        max_connections: Option<usize>, integer(1, 256), "deliveries to it at a time", default("4");
        timeout: Option<Duration>, duration(10, DAY), "longest wait for a program's end, or for a server's answer",
            default("60s");
        url: Option<String>, Template, "address of the service", required();
        bearer_token_file: Option<PathBuf>, SecretFile, "file that holds the token";
        bearer_token: Option<SecretString>, Secret, "the token itself, from the environment only";
        ca_file: Option<PathBuf>, Path, "PEM file with the only certificate authorities to trust";
        client_cert_file: Option<PathBuf>, Path, "PEM file with the certificate that docsyncd shows";
        client_key_file: Option<PathBuf>, SecretFile, "PEM file with the key of that certificate";
        proxy: Option<Url>, Proxy, "HTTP proxy for every request to it";
        on_lost_reply: Option<LostReply>, Enum(&["resend", "hold"]),
            "what happens to a document whose answer is lost, where nobody can tell whether it arrived";
        confirm: Option<String>, Text, "what shows that the destination's software took a document";
        confirm_failed: Option<String>, Text, "what shows that it refused a document";
        confirm_within: Option<Duration>, duration(1, 366 * DAY), "told when nothing shows it for so long",
            default("3d");
        author: Option<String>, Text, "name of the practice, as the author of its letters";
        patient_id: Option<String>, Template, "what the patient is known by there";
        type_map: BTreeMap<String, String>, TypeMap, "codes of the document types";
        tls: Option<bool>, Bool, "whether the connection is encrypted", default("false");
    }
}

/// A folder in which the PDF gets a name.
pub(crate) const NAMED: &[Key] = &[
    SharedKeys::path,
    SharedKeys::file_name,
    SharedKeys::marker,
    SharedKeys::sidecar,
    SharedKeys::sidecar_name,
    SharedKeys::sidecar_encoding,
    SharedKeys::sidecar_newline,
    SharedKeys::sidecar_unmappable,
    SharedKeys::sidecar_after,
    SharedKeys::visible_path,
    SharedKeys::sidecar_format,
];

/// What becomes of a letter in such a folder.
pub(crate) const FILED: &[Key] = &[
    SharedKeys::on_lost_reply,
    SharedKeys::confirm,
    SharedKeys::confirm_failed,
    SharedKeys::confirm_within,
    CommonKeys::expect_taken,
];

/// A server.
pub(crate) const HOST: &[Key] = &[SharedKeys::host, SharedKeys::port];

/// How docsyncd signs in there with a password.
pub(crate) const SIGN_IN: &[Key] = &[SharedKeys::user, SharedKeys::password_file, SharedKeys::password];

/// How much is sent there at a time, and how long an answer may take.
pub(crate) const LIMITS: &[Key] = &[SharedKeys::max_connections, SharedKeys::timeout];

/// Who is trusted over TLS, and what docsyncd shows there.
pub(crate) const TLS: &[Key] = &[SharedKeys::ca_file, SharedKeys::client_cert_file, SharedKeys::client_key_file];

/// A service over HTTP.
pub(crate) const WEB: &[Key] = &[
    SharedKeys::bearer_token_file,
    SharedKeys::bearer_token,
    SharedKeys::ca_file,
    SharedKeys::client_cert_file,
    SharedKeys::client_key_file,
    SharedKeys::proxy,
];

/// What becomes of a letter at a server that can be asked for it.
pub(crate) const ASKED: &[Key] = &[SharedKeys::on_lost_reply, SharedKeys::confirm, SharedKeys::confirm_within];

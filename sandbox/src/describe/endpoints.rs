//! Every endpoint ("Endpoints"): its parameters, answers and scopes. The scopes are "not shown": the third column is
//! the sandbox's choice.

use super::field::Record;
use super::records::{
    AUDIO, AUDIO_ITEM, CONTACT, CONTACT_INPUT, DOCUMENT, DOCUMENT_ITEM, ME, NEW_WEBHOOK, NOTE, NOTE_ITEM, ORGANIZATION,
    PATIENT, PATIENT_INPUT, PATIENT_ITEM, STATUS_INPUT, USER, WEBHOOK, WEBHOOK_INPUT,
};
use super::version::Version;
use crate::store::collection::{AUDIOS, CONTACTS, Collection, DOCUMENTS, NOTES, ORGANIZATIONS, PATIENTS, WEBHOOKS};

/// One row of the description's endpoint tables.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub method: &'static str,
    pub path: &'static str,
    /// Any one of these is enough.
    pub scopes: &'static [&'static str],
    pub summary: &'static str,
    /// The query parameters of a list.
    pub list: Option<&'static Collection>,
    /// The body's record; a `PATCH` takes it as a merge patch, in which no member is required.
    pub body: Option<&'static Record>,
    pub answer: Answer,
    /// The first version that has it; `None` for all.
    pub since: Option<Version>,
}

impl Endpoint {
    pub fn is_in(&self, version: Version) -> bool {
        self.since.is_none_or(|since| since <= version)
    }
}

/// The answer of a success.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// 200 and this record.
    Item(&'static Record),
    /// 200 and a list of these.
    List(&'static Record),
    /// 201 and this record.
    Created(&'static Record),
    /// 201 and this record if it is new, 200 if it existed.
    Upserted(&'static Record),
    /// 204 without a body.
    Nothing,
}

impl Answer {
    /// The record that the body shows.
    pub fn record(self) -> Option<&'static Record> {
        match self {
            Self::Item(record) | Self::List(record) | Self::Created(record) | Self::Upserted(record) => Some(record),
            Self::Nothing => None,
        }
    }
}

const fn list(
    path: &'static str,
    scopes: &'static [&'static str],
    summary: &'static str,
    collection: &'static Collection,
    item: &'static Record,
) -> Endpoint {
    let answer = Answer::List(item);
    Endpoint { method: "GET", path, scopes, summary, list: Some(collection), body: None, answer, since: None }
}

const fn read(
    path: &'static str,
    scopes: &'static [&'static str],
    summary: &'static str,
    record: &'static Record,
) -> Endpoint {
    let answer = Answer::Item(record);
    Endpoint { method: "GET", path, scopes, summary, list: None, body: None, answer, since: None }
}

const fn write(
    method: &'static str,
    path: &'static str,
    scopes: &'static [&'static str],
    summary: &'static str,
    body: &'static Record,
    answer: Answer,
) -> Endpoint {
    Endpoint { method, path, scopes, summary, list: None, body: Some(body), answer, since: None }
}

const fn since(version: Version, endpoint: Endpoint) -> Endpoint {
    Endpoint { since: Some(version), ..endpoint }
}

pub(crate) static ENDPOINTS: &[Endpoint] = &[
    list("/audios", &["read:audios"], "The recordings, oldest first.", &AUDIOS, &AUDIO_ITEM),
    read("/audios/{uuid}", &["read:audios"], "A recording with its documents and images.", &AUDIO),
    list(
        "/contacts",
        &["read:contacts"],
        "Referral recipients such as practices and laboratories.",
        &CONTACTS,
        &CONTACT,
    ),
    write("POST", "/contacts", &["write:contacts"], "Creates a contact.", &CONTACT_INPUT, Answer::Created(&CONTACT)),
    read("/contacts/{uuid}", &["read:contacts"], "A contact.", &CONTACT),
    write(
        "PATCH",
        "/contacts/{uuid}",
        &["write:contacts"],
        "Changes a contact by a JSON merge patch (RFC 7396).",
        &CONTACT_INPUT,
        Answer::Item(&CONTACT),
    ),
    list("/documents", &["read:documents"], "The documents, oldest first.", &DOCUMENTS, &DOCUMENT_ITEM),
    read("/documents/{uuid}", &["read:documents"], "A document with its PDF.", &DOCUMENT),
    write(
        "POST",
        "/documents/{uuid}/status",
        &["write:documents", "write:document_integrations"],
        "Reports that an integration has the document, or why not.",
        &STATUS_INPUT,
        Answer::Item(&DOCUMENT),
    ),
    since(Version::V1_1, list("/notes", &["read:notes"], "The notes, oldest first.", &NOTES, &NOTE_ITEM)),
    since(Version::V1_1, read("/notes/{uuid}", &["read:notes"], "A note.", &NOTE)),
    list(
        "/organizations",
        &["organization", "read:organizations"],
        "The practice of the signed-in user.",
        &ORGANIZATIONS,
        &ORGANIZATION,
    ),
    read("/organizations/{uuid}", &["organization", "read:organizations"], "A practice.", &ORGANIZATION),
    list("/patients", &["read:patients"], "The practice's patients, oldest first.", &PATIENTS, &PATIENT_ITEM),
    since(
        Version::V1_1,
        write(
            "POST",
            "/patients",
            &["write:patients"],
            "Creates a patient, or updates the one with the same first name, last name and date of birth.",
            &PATIENT_INPUT,
            Answer::Upserted(&PATIENT),
        ),
    ),
    read("/patients/{uuid}", &["read:patients"], "A patient.", &PATIENT),
    since(
        Version::V1_1,
        write(
            "PATCH",
            "/patients/{uuid}",
            &["write:patients"],
            "Changes a patient by a JSON merge patch (RFC 7396).",
            &PATIENT_INPUT,
            Answer::Item(&PATIENT),
        ),
    ),
    read("/me", &["profile"], "The signed-in user.", &ME),
    read("/users/{uuid}", &["read:users", "profile"], "A user of the practice.", &USER),
    list("/webhooks", &["read:webhooks"], "One's own webhooks, oldest first.", &WEBHOOKS, &WEBHOOK),
    write(
        "POST",
        "/webhooks",
        &["write:webhooks"],
        "Creates a webhook; only this answer shows the secret that its deliveries are signed with.",
        &WEBHOOK_INPUT,
        Answer::Created(&NEW_WEBHOOK),
    ),
    read("/webhooks/{uuid}", &["read:webhooks"], "A webhook.", &WEBHOOK),
    since(
        Version::V1_1,
        write(
            "PATCH",
            "/webhooks/{uuid}",
            &["write:webhooks"],
            "Changes a webhook by a JSON merge patch (RFC 7396).",
            &WEBHOOK_INPUT,
            Answer::Item(&WEBHOOK),
        ),
    ),
    Endpoint {
        method: "DELETE",
        path: "/webhooks/{uuid}",
        scopes: &["write:webhooks"],
        summary: "Deletes a webhook with its deliveries.",
        list: None,
        body: None,
        answer: Answer::Nothing,
        since: Some(Version::V1_1),
    },
];

/// The endpoint with this method and path template.
pub(crate) fn endpoint(method: &str, path: &str) -> Option<&'static Endpoint> {
    // A HEAD request is answered like its GET (RFC 9110, section 9.3.2).
    let method = if method == "HEAD" { "GET" } else { method };
    ENDPOINTS.iter().find(|endpoint| endpoint.method == method && endpoint.path == path)
}

/// The methods that a version has for a path template; none if it does not know the path.
pub(crate) fn methods(path: &str, version: Version) -> Vec<&'static str> {
    let mut methods = Vec::new();
    for endpoint in ENDPOINTS.iter().filter(|endpoint| endpoint.path == path && endpoint.is_in(version)) {
        methods.push(endpoint.method);
        if endpoint.method == "GET" {
            methods.push("HEAD");
        }
    }
    methods
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_lists_every_endpoint_with_its_scopes() {
        let readme = include_str!("../../README.md");
        let (_, table) = readme.split_once("### Which scope an endpoint needs").unwrap();
        for endpoint in ENDPOINTS {
            let name = format!("`{} {}`", endpoint.method, endpoint.path);
            let row = table.lines().find(|line| line.contains(&name)).unwrap_or_else(|| panic!("{name}"));
            for scope in endpoint.scopes {
                assert!(row.contains(&format!("`{scope}`")), "{name}: {scope}");
            }
        }
    }
}

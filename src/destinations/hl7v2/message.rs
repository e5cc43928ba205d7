//! A letter as a message (HL7 v2.5.1, chapters 7 and 9): MDM^T02, MDM^T10 if it replaces another, or ORU^R01.

use jiff::Timestamp;

use super::answer::{END, START};
use super::text::{encoded, escaped};
use crate::destinations::Hl7v2Config;
use crate::domain::document::{CodeSystem, Metadata, Record, RemoteIdentity};
use crate::patients::Person;

/// The assigner of our document identifiers (TXA-12).
const ASSIGNER: &str = "DOCSYNCD";
/// The place of the PDF. No value contains this character.
const PDF: &str = "\0";

/// The message before and after the PDF in base64.
pub(super) struct MessageParts {
    pub(super) head: Vec<u8>,
    pub(super) tail: Vec<u8>,
}

/// The event (HL7 table 0003).
pub(super) fn event(config: &Hl7v2Config, is_replacement: bool) -> &'static str {
    match (config.is_oru, is_replacement) {
        (true, _) => "R01",
        (false, false) => "T02",
        (false, true) => "T10",
    }
}

/// The message's identifier (MSH-10) for the delivery with this key: the same in every attempt.
pub(super) fn control_id(key: &str) -> String {
    RemoteIdentity::of_key(key).short()
}

/// The message for the delivery with this key, and for the one that it replaces.
///
/// # Errors
/// The field with a character that the configured set cannot encode, as in `PID-5`.
pub(super) fn message(
    config: &Hl7v2Config,
    (key, replaces): (&str, Option<&str>),
    metadata: &Metadata,
    patient_id: &str,
) -> Result<MessageParts, String> {
    let text = text(config, (key, replaces), metadata, patient_id);
    let bytes = |part: &str, before: usize| {
        encoded(part, config.charset).map_err(|at| field_at(text.get(..before + at).unwrap_or_default()))
    };
    let (head, tail) = text.split_once(PDF).unwrap_or((&text, ""));
    let (head_bytes, mut tail) = (bytes(head, 0)?, bytes(tail, head.len() + PDF.len())?);
    tail.extend_from_slice(&[END, b'\r']);
    Ok(MessageParts { head: [&[START], head_bytes.as_slice()].concat(), tail })
}

fn text(config: &Hl7v2Config, (key, replaces): (&str, Option<&str>), metadata: &Metadata, patient_id: &str) -> String {
    let now = at(Timestamp::now());
    let created = metadata.document.get("createdAt").and_then(|at| at.as_str()?.parse::<Timestamp>().ok());
    let created = created.map_or_else(|| now.clone(), at);
    let event = event(config, replaces.is_some());
    let (kind, structure) = if config.is_oru { ("ORU", "ORU_R01") } else { ("MDM", "MDM_T02") };
    let structure = if config.names_structure { format!("^{structure}") } else { String::new() };
    let [(sender, sending_place), (receiver, receiving_place)] =
        [&config.sending, &config.receiving].map(|[application, facility]| (application.as_str(), facility.as_str()));
    let identifier = |key: &str| format!("{}^{ASSIGNER}", RemoteIdentity::of_key(key).uuid());
    let before = replaces.map(identifier).unwrap_or_default();
    // The sender's number of the result is the second component of its parent; in there, `&` separates instead of `^`.
    let parent = replaces.map(|key| format!("^{}", identifier(key).replace('^', "&"))).unwrap_or_default();
    let kind_of_document = metadata.document_type();
    let code = config.type_map.code(kind_of_document);
    let system = match &code.system {
        CodeSystem::Loinc => "LN",
        CodeSystem::Kdl => "KDL",
        CodeSystem::Named(system) => system,
    };
    let coded = format!("{}^{}^{}", escaped(&code.code), escaped(kind_of_document.unwrap_or("other")), escaped(system));
    let author = ["rpps", "lastName", "firstName"].map(|field| escaped(text_of(&metadata.user, field))).join("^");
    let author = author.trim_end_matches('^');
    let status = if replaces.is_some() { "C" } else { "F" };

    let mut segments = vec![segment(
        "MSH|^~\\&",
        &[
            (3, sender),
            (4, sending_place),
            (5, receiver),
            (6, receiving_place),
            (7, &now),
            (9, &format!("{kind}^{event}{structure}")),
            (10, &control_id(key)),
            (11, "P"),
            (12, &config.version),
            (18, config.charset.hl7_word()),
        ],
    )];
    if !config.is_oru {
        // Version 2.7 withdrew the first field.
        let event = if config.version.as_str() < "2.7" { event } else { "" };
        segments.push(segment("EVN", &[(1, event), (2, &now)]));
    }
    segments.push(patient(config, metadata, patient_id));
    segments.push(segment("PV1", &[(1, "1"), (2, "O")]));
    segments.push(match config.is_oru {
        false => segment(
            "TXA",
            &[
                (1, "1"),
                (2, &escaped(&code.code)),
                (3, "AP"),
                (4, &created),
                (6, &created),
                (9, author),
                (12, &identifier(key)),
                (13, &before),
                (17, "AU"),
                (19, "AV"),
            ],
        ),
        true => segment(
            "OBR",
            &[(1, "1"), (3, &identifier(key)), (4, &coded), (7, &created), (22, &now), (25, status), (29, &parent)],
        ),
    });
    let pdf = format!("^application^pdf^Base64^{PDF}");
    segments
        .push(segment("OBX", &[(1, "1"), (2, "ED"), (3, &coded), (4, "1"), (5, &pdf), (11, status), (14, &created)]));
    segments.concat()
}

fn patient(config: &Hl7v2Config, metadata: &Metadata, id: &str) -> String {
    let person = Person::of(metadata);
    let id = format!("{}^^^{}^PI", escaped(id), config.assigning_authority);
    let name = [person.last_name(), person.first_name()].map(escaped).join("^");
    let name = if name == "^" { String::new() } else { format!("{name}^^^^^L") };
    let born = person.born().map(|born| born.strftime("%Y%m%d").to_string()).unwrap_or_default();
    let sex = match text_of(&metadata.patient, "gender") {
        "female" => "F",
        "male" => "M",
        _ => "U",
    };
    segment("PID", &[(1, "1"), (3, &id), (5, &name), (7, &born), (8, sex)])
}

fn text_of<'a>(record: &'a Record, field: &str) -> &'a str {
    record.get(field).and_then(|value| value.as_str()).unwrap_or_default()
}

/// A time in the format of HL7, in UTC.
fn at(time: Timestamp) -> String {
    time.strftime("%Y%m%d%H%M%S+0000").to_string()
}

/// A segment, by the numbers of its fields.
fn segment(begin: &str, fields: &[(usize, &str)]) -> String {
    let mut text = begin.to_owned();
    // The first two fields of MSH are the separators themselves.
    let mut at = if begin.starts_with("MSH") { 2 } else { 0 };
    for (number, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
        text.extend(std::iter::repeat_n('|', number.saturating_sub(at)));
        text.push_str(value);
        at = *number;
    }
    text.push('\r');
    text
}

/// The field in which this beginning of a message ends.
fn field_at(beginning: &str) -> String {
    let line = beginning.rsplit('\r').next().unwrap_or_default();
    let (name, bars) = (line.get(..3).unwrap_or_default(), line.matches('|').count());
    format!("{name}-{}", if name == "MSH" { bars + 1 } else { bars })
}

//! A letter as a DICOM object: Encapsulated PDF (PS3.3, A.45.1), with its identifiers.

use jiff::Timestamp;
use unicode_normalization::UnicodeNormalization as _;

use super::element::{DOCUMENT_LENGTH, Elements, SERIES, SOP_CLASS, SOP_INSTANCE, STUDY};
use super::{EXPLICIT, PDF_STORAGE};
use crate::destinations::{DicomConfig, Item};
use crate::domain::document::{CodeSystem, RemoteIdentity};
use crate::domain::name;
use crate::formats::template::Context;
use crate::patients::Person;

/// The longest name (PN), identifier or text (LO), in characters.
pub(super) const LINE: usize = 64;
/// The longest title (ST), in characters.
pub(super) const TITLE: usize = 1024;
/// The longest code, and name of its system (SH), in characters.
const SHORT: usize = 16;

/// The identifiers of a letter (`2.25.…`, ITU-T X.667).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Uids {
    pub(super) instance: String,
    pub(super) study: String,
    pub(super) series: String,
}

impl Uids {
    /// The instance belongs to the delivery. The series belongs to the document, for all its versions, and to the
    /// patient, because no study can be of two.
    pub(super) fn of(destination: &str, item: &Item, patient_id: &str) -> Self {
        let of = |level: &str| {
            RemoteIdentity::of_key(&format!("{level}\0{destination}\0{}\0{patient_id}", item.uuid.as_str())).oid()
        };
        Self { instance: instance(&item.key), study: of("study"), series: of("series") }
    }

    /// The identifiers of a letter that was delivered with this key, read from its place.
    pub(super) fn of_place(address: &str, place: &str, key: &str) -> Option<Self> {
        let (study, rest) = place.strip_prefix(address)?.strip_prefix("/studies/")?.split_once("/series/")?;
        let (series, told) = rest.split_once("/instances/")?;
        let instance = instance(key);
        (told == instance).then(|| Self { instance, study: study.to_owned(), series: series.to_owned() })
    }

    /// The place below the archive's address, in the form of DICOMweb (PS3.18, section 10.1).
    pub(super) fn place(&self, address: &str) -> String {
        format!("{address}/studies/{}/series/{}/instances/{}", self.study, self.series, self.instance)
    }
}

fn instance(key: &str) -> String {
    RemoteIdentity::of_key(key).oid()
}

/// The implementation that wrote the object (PS3.7, D.3.3.2).
pub(super) fn implementation() -> String {
    RemoteIdentity::of_key("docsyncd, implementation class").oid()
}

/// The object before and after the PDF.
pub(super) struct ObjectParts {
    pub(super) head: Vec<u8>,
    pub(super) tail: Vec<u8>,
}

/// The object of a letter without its PDF; `None` if the PDF is too large for one.
pub(super) fn letter(
    config: &DicomConfig,
    item: &Item,
    (uids, patient_id, title): (&Uids, &str, &str),
    is_explicit: bool,
) -> Option<ObjectParts> {
    let metadata = &item.metadata;
    let person = Person::of(metadata);
    let name = [person.last_name(), person.first_name()].map(|name| line(&name.replace(['^', '='], " "), LINE));
    let name = line_of_name(&name.join("^"));
    let born = person.born().map(|born| born.strftime("%Y%m%d").to_string()).unwrap_or_default();
    let sex = match metadata.patient.get("gender").and_then(|gender| gender.as_str()) {
        Some("female") => "F",
        Some("male") => "M",
        _ => "",
    };
    let created = metadata.document.get("createdAt").and_then(|at| at.as_str()?.parse::<Timestamp>().ok());
    let at = |format: &str| created.map(|at| at.strftime(format).to_string()).unwrap_or_default();
    let (date, time) = (at("%Y%m%d"), at("%H%M%S"));
    let title = line(title, TITLE);
    // A part of a number would be another number.
    let description = Some(line(&title, LINE));
    let description = description.filter(|short| Context::new(metadata).unchanged(&title, short).is_ok());
    let length = u32::try_from(item.pdf.size).ok().filter(|length| *length < u32::MAX - 1)?;

    let mut head = Elements::new(is_explicit);
    head.text((0x0008, 0x0005), b"CS", "ISO_IR 192")
        .text(SOP_CLASS, b"UI", PDF_STORAGE)
        .text(SOP_INSTANCE, b"UI", &uids.instance)
        .text((0x0008, 0x0020), b"DA", &date)
        .text((0x0008, 0x0023), b"DA", &date)
        .text((0x0008, 0x002a), b"DT", "")
        .text((0x0008, 0x0030), b"TM", &time)
        .text((0x0008, 0x0033), b"TM", &time)
        .text((0x0008, 0x0050), b"SH", "")
        .text((0x0008, 0x0060), b"CS", "DOC")
        .text((0x0008, 0x0064), b"CS", "WSD")
        .text((0x0008, 0x0070), b"LO", "docsyncd")
        .text((0x0008, 0x0090), b"PN", "")
        .text((0x0008, 0x0201), b"SH", "+0000")
        .text((0x0008, 0x1030), b"LO", &description.unwrap_or_default())
        .text((0x0010, 0x0010), b"PN", &name)
        .text((0x0010, 0x0020), b"LO", patient_id)
        .text((0x0010, 0x0030), b"DA", &born)
        .text((0x0010, 0x0040), b"CS", sex)
        .text(STUDY, b"UI", &uids.study)
        .text(SERIES, b"UI", &uids.series)
        .text((0x0020, 0x0010), b"SH", "")
        .text((0x0020, 0x0011), b"IS", "1")
        .text((0x0020, 0x0013), b"IS", if item.replaces.is_some() { "2" } else { "1" })
        .text((0x0028, 0x0301), b"CS", "YES");
    concept(config, metadata.document_type(), &mut head, is_explicit);
    head.text((0x0042, 0x0010), b"ST", &title);
    head.head((0x0042, 0x0011), *b"OB", length + length % 2);
    let mut tail = Elements::new(is_explicit);
    // Padding of the PDF to an even length (PS3.5, section 8.2).
    tail.bytes.extend((length % 2 == 1).then_some(0));
    tail.text((0x0042, 0x0012), b"LO", "application/pdf").put(DOCUMENT_LENGTH, b"UL", &length.to_le_bytes());
    Some(ObjectParts { head: head.bytes, tail: tail.bytes })
}

/// The type of a letter (PS3.3, section 8.8): its code, or nothing if it does not fit into DICOM.
fn concept(config: &DicomConfig, kind: Option<&str>, head: &mut Elements, is_explicit: bool) {
    const TAG: (u16, u16) = (0x0040, 0xa043);
    let code = config.type_map.code(kind);
    let system = match &code.system {
        CodeSystem::Loinc => "LN",
        CodeSystem::Kdl => "99KDL",
        CodeSystem::Named(system) => system,
    };
    if code.code.len() > SHORT || system.len() > SHORT {
        head.put(TAG, b"SQ", b"");
        return;
    }
    let mut item = Elements::new(is_explicit);
    item.text((0x0008, 0x0100), b"SH", &line(&code.code, SHORT))
        .text((0x0008, 0x0102), b"SH", &line(system, SHORT))
        .text((0x0008, 0x0104), b"LO", &line(&kind.unwrap_or("other").replace('_', " "), LINE));
    head.item(TAG, &item);
}

/// The head of a file (PS3.10, section 7.1).
pub(super) fn file_head(uids: &Uids) -> Vec<u8> {
    let mut meta = Elements::new(true);
    meta.put((0x0002, 0x0001), b"OB", &[0, 1])
        .text((0x0002, 0x0002), b"UI", PDF_STORAGE)
        .text((0x0002, 0x0003), b"UI", &uids.instance)
        .text((0x0002, 0x0010), b"UI", EXPLICIT)
        .text((0x0002, 0x0012), b"UI", &implementation());
    [[0; 128].as_slice(), b"DICM", &meta.with_length(0x0002)].concat()
}

/// Whether a PatientID can be this text.
pub(super) fn holds(id: &str) -> bool {
    line(id, LINE) == id
}

/// A single value without control characters and separators, of at most so many characters. Letters are composed (NFC).
pub(super) fn line(text: &str, most: usize) -> String {
    let is_nothing =
        |c: char| c.is_control() || name::is_bidirectional(c) || matches!(c, '\\' | '\u{2028}' | '\u{2029}');
    let text: String = text.nfc().map(|c| if is_nothing(c) { ' ' } else { c }).collect();
    let cut: String = text.trim().chars().take(most).collect();
    cut.trim_end().to_owned()
}

/// A name whose parts are already clean, cut to the allowed length.
fn line_of_name(name: &str) -> String {
    line(name, LINE).trim_end_matches('^').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_value() {
        assert_eq!(line(" a\\b\r\nc\0\u{1b}$B\u{202e}\u{2028}d ", 64), "a b  c  $B  d");
        assert_eq!(line("u\u{308}", 64), "ü");
        assert_eq!(line(&"é ".repeat(64), 64).chars().count(), 63);
    }

    #[test]
    fn a_place_tells_what_identifies_its_letter() {
        let key = "608d8484a1fe430efb0921e1b2b0700f";
        let uids = Uids { instance: instance(key), study: "2.25.1".into(), series: "2.25.2".into() };
        assert_eq!(uids.instance, "2.25.128340689238725241038936486597958332431");
        let place = uids.place("dicom://pacs.test:104/PACS");
        assert_eq!(Uids::of_place("dicom://pacs.test:104/PACS", &place, key), Some(uids));
        for (address, place, key) in [
            ("dicom://pacs.test:104/OTHER", place.as_str(), key),
            ("dicom://pacs.test:104/PACS", &format!("{place}1"), key),
            ("dicom://pacs.test:104/PACS", &place, "of another"),
            ("dicom://pacs.test:104/PACS", "", key),
        ] {
            assert_eq!(Uids::of_place(address, place, key), None, "{place}");
        }
    }
}

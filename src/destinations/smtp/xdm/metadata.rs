//! METADATA.XML: a submission set with one document (IHE ITI TF-3, section 4.2), in ebXML RegRep 3.0.
//!
//! Pure. All identifiers come from the delivery's key and the sender's domain, so all attempts write the same.

use super::super::letter::written;
use super::{DOCUMENT, Item};
use crate::destinations::{SmtpConfig, XdmConfig};
use crate::domain::document::{CodeSystem, Metadata, RemoteIdentity};
use crate::patients::Person;

const LOINC: &str = "2.16.840.1.113883.6.1";
const SNOMED_CT: &str = "2.16.840.1.113883.6.96";
const HAS_MEMBER: &str = "urn:oasis:names:tc:ebxml-regrep:AssociationType:HasMember";
/// ITI TF-3, table 4.2.2.2-1.
const REPLACES: &str = "urn:ihe:iti:2007:AssociationType:RPLC";
const APPROVED: &str = "urn:oasis:names:tc:ebxml-regrep:StatusType:Approved";

/// The object that is being described: its identifier, and its text so far.
struct Object {
    id: String,
    text: String,
    parts: usize,
}

impl Object {
    fn new(id: String) -> Self {
        Self { id, text: String::new(), parts: 0 }
    }

    fn slot(&mut self, name: &str, values: &[&str]) {
        self.text += &slot(name, values);
    }

    fn name(&mut self, text: &str) {
        self.text += &named(text);
    }

    /// The identifier of this object's next part.
    fn part(&mut self) -> String {
        self.parts += 1;
        format!("{}.{}", self.id, self.parts)
    }

    /// A code of a list.
    fn class(&mut self, scheme: &str, (code, list, words): (&str, &str, &str)) {
        let (id, object) = (self.part(), &self.id);
        self.text += &format!(
            "<rim:Classification id=\"{id}\" classificationScheme=\"urn:uuid:{scheme}\" classifiedObject=\"{object}\" \
             nodeRepresentation=\"{}\">{}{}</rim:Classification>\n",
            escape(code),
            slot("codingScheme", &[list]),
            named(words)
        );
    }

    fn author(&mut self, scheme: &str, institution: Option<&str>) {
        let Some(institution) = institution else { return };
        let (id, object) = (self.part(), &self.id);
        self.text += &format!(
            "<rim:Classification id=\"{id}\" classificationScheme=\"urn:uuid:{scheme}\" classifiedObject=\"{object}\" \
             nodeRepresentation=\"\">{}</rim:Classification>\n",
            slot("authorInstitution", &[&in_hl7(institution)])
        );
    }

    fn identifier(&mut self, scheme: &str, name: &str, value: &str) {
        let (id, object) = (self.part(), &self.id);
        self.text += &format!(
            "<rim:ExternalIdentifier id=\"{id}\" identificationScheme=\"urn:uuid:{scheme}\" registryObject=\"{object}\" \
             value=\"{}\">{}</rim:ExternalIdentifier>\n",
            escape(value),
            named(name)
        );
    }
}

/// The whole file; `hash` is the PDF's SHA-1, 40 lower-case hexadecimal digits.
pub(super) fn of(config: &SmtpConfig, xdm: &XdmConfig, item: &Item, hash: &str) -> String {
    let metadata = &item.metadata;
    let identity = RemoteIdentity::of_key(&item.key);
    let practice = RemoteIdentity::of_key(config.from.rsplit('@').next().unwrap_or_default()).oid();
    let patient = patient(metadata, &practice);
    let time = written(metadata).strftime("%Y%m%d%H%M%S").to_string();
    let kind = metadata.document_type();
    let title = kind.unwrap_or("document").replace('_', " ");
    let code = xdm.type_map.code(kind);
    let list = match &code.system {
        CodeSystem::Loinc => LOINC,
        CodeSystem::Kdl => "1.2.276.0.76.5.553",
        CodeSystem::Named(list) => list,
    };
    let kind = (code.code.as_str(), list, title.as_str());

    let mut document = Object::new(format!("urn:uuid:{}", identity.uuid()));
    document.slot("creationTime", &[&time]);
    document.slot("hash", &[hash]);
    document.slot("languageCode", &["fr-FR"]);
    document.slot("size", &[&item.pdf.size.to_string()]);
    document.slot("sourcePatientId", &[&patient]);
    let person = source_patient(metadata, &patient);
    document.slot("sourcePatientInfo", &person.iter().map(String::as_str).collect::<Vec<_>>());
    document.slot("URI", &[DOCUMENT]);
    document.name(&title);
    // ITI TF-3, tables 4.2.5.2-1 and 4.2.5.2-2.
    document.author("93606bcf-9494-43ec-9b4e-a7748d1a838d", xdm.author.as_deref());
    document.class("41a5887f-8865-4c09-adf7-e362475b143a", kind);
    document.class("f4f85eac-e6cb-4883-b524-f2705394840f", ("N", "2.16.840.1.113883.5.25", "Normal"));
    let format = ("urn:ihe:iti:xds:2017:mimeTypeSufficient", "1.3.6.1.4.1.19376.1.2.3", "mimeType Sufficient");
    document.class("a09d5840-386c-46f2-b5ad-9c3699a4309d", format);
    document.class("f33fb8ac-18af-42cc-ae0e-ed0b0bdb91e1", ("35971002", SNOMED_CT, "Ambulatory care site"));
    document.class("cccf5598-8b07-4b77-a05e-ae952c785ead", ("394812008", SNOMED_CT, "Dental medicine"));
    document.class("f0306f51-975f-434e-a61c-c59651d33983", kind);
    document.identifier("58a6f841-87b3-4a3e-92fd-a8ffeff98427", "XDSDocumentEntry.patientId", &patient);
    document.identifier("2e82c1f6-a085-4c72-9da3-8640a32e42ab", "XDSDocumentEntry.uniqueId", &identity.oid());

    let submission = RemoteIdentity::of_key(&format!("submission set {}", item.key));
    let mut set = Object::new(format!("urn:uuid:{}", submission.uuid()));
    set.slot("submissionTime", &[&time]);
    set.name(&title);
    set.author("a7058bb9-b4e4-4307-ba5b-e3f0ab85e12d", xdm.author.as_deref());
    set.class("aa543740-bdda-424e-8c96-df4873be8500", kind);
    set.identifier("6b5aea1a-874d-4603-a4bc-96a0a7b38446", "XDSSubmissionSet.patientId", &patient);
    set.identifier("554ac39e-e3fe-47fe-b233-965d2a147832", "XDSSubmissionSet.sourceId", &practice);
    set.identifier("96fdda7c-d067-4183-912e-bf5ee74998a8", "XDSSubmissionSet.uniqueId", &submission.oid());

    let has = association(&set, "member", HAS_MEMBER, &document.id, &slot("SubmissionSetStatus", &["Original"]));
    let before = item.replaces.as_ref().map(|key| format!("urn:uuid:{}", RemoteIdentity::of_key(key).uuid()));
    let replaces = before.map(|before| association(&document, "replaces", REPLACES, &before, "")).unwrap_or_default();
    let (document, document_id, set, set_id) = (document.text, document.id, set.text, set.id);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <lcm:SubmitObjectsRequest xmlns:lcm=\"urn:oasis:names:tc:ebxml-regrep:xsd:lcm:3.0\" \
         xmlns:rim=\"urn:oasis:names:tc:ebxml-regrep:xsd:rim:3.0\">\n<rim:RegistryObjectList>\n\
         <rim:ExtrinsicObject id=\"{document_id}\" mimeType=\"application/pdf\" \
         objectType=\"urn:uuid:7edca82f-054d-47f2-a032-9b2a5b5186c1\" status=\"{APPROVED}\">\n{document}</rim:ExtrinsicObject>\n\
         <rim:RegistryPackage id=\"{set_id}\" status=\"{APPROVED}\">\n{set}</rim:RegistryPackage>\n\
         <rim:Classification id=\"{set_id}.set\" classifiedObject=\"{set_id}\" \
         classificationNode=\"urn:uuid:a54d6aa5-d40d-43f9-88c5-b4633d873bdd\"/>\n\
         {has}{replaces}</rim:RegistryObjectList>\n</lcm:SubmitObjectsRequest>\n"
    )
}

fn association(from: &Object, name: &str, kind: &str, to: &str, text: &str) -> String {
    let id = &from.id;
    format!(
        "<rim:Association id=\"{id}.{name}\" associationType=\"{kind}\" sourceObject=\"{id}\" targetObject=\"{to}\">{text}\
         </rim:Association>\n"
    )
}

fn slot(name: &str, values: &[&str]) -> String {
    let values: String = values.iter().map(|value| format!("<rim:Value>{}</rim:Value>", escape(value))).collect();
    format!("<rim:Slot name=\"{name}\"><rim:ValueList>{values}</rim:ValueList></rim:Slot>\n")
}

fn named(text: &str) -> String {
    format!("<rim:Name><rim:LocalizedString value=\"{}\"/></rim:Name>", escape(text))
}

/// The patient's number in the practice, or else the cloud service's identifier, in the format of HL7 (CX).
fn patient(metadata: &Metadata, practice: &str) -> String {
    format!("{}^^^&{practice}&ISO", in_hl7(id(metadata)))
}

fn id(metadata: &Metadata) -> &str {
    let uuid = || metadata.patient.get("uuid").and_then(serde_json::Value::as_str);
    metadata.number.as_deref().or_else(uuid).unwrap_or_default()
}

/// Whether the patient's identifier can stand there unchanged.
pub(super) fn says_patient(metadata: &Metadata) -> bool {
    let id = id(metadata);
    in_hl7(id) == id && !id.contains(|c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'))
}

/// ITI TF-3, table 4.2.3.2-1.
fn source_patient(metadata: &Metadata, patient: &str) -> Vec<String> {
    let person = Person::of(metadata);
    let born = person.born().map(|born| format!("PID-7|{}", born.strftime("%Y%m%d")));
    let called = format!("PID-5|{}^{}^^^^^D", in_hl7(person.last_name()), in_hl7(person.first_name()));
    [Some(format!("PID-3|{patient}")), Some(called), born].into_iter().flatten().collect()
}

/// The text without separators of HL7.
fn in_hl7(text: &str) -> String {
    text.replace(['|', '^', '&', '~', '\\'], " ")
}

/// The value of an attribute or an element; characters that XML 1.0 (section 2.2) forbids are dropped.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            letter if letter.is_control() => escaped.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}

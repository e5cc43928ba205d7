//! The documents of the test, and what has to become of each.

use docsyncd_sandbox::{NewDocument, NewPdf, Sandbox};
use fastrand::Rng;
use serde_json::json;

use crate::harness::sha256;

/// Few patients and types, so that many documents want one name.
const PATIENTS: [(&str, &str); 4] = [("Martin", "Paul"), ("Bernard", "Anne"), ("Müller", "Zoë"), ("O'Neill", "Liam")];
/// The types of documents, and where each of them goes.
pub const ROUTES: [(&str, &[&str]); 4] = [
    ("referral_letter", &["pms", "cloud", "service", "engine", "pacs"]),
    ("prescription", &["pms", "lab", "archive", "post", "chart"]),
    ("lab_slip", &["pms", "scan", "cloud", "lab", "record"]),
    ("quote", &["pms", "dental"]),
];
/// Of 256 letters so many are of the last type: an archive of images takes a third of a second for each.
const FOR_DENTAL: u8 = 24;

/// A document that the sandbox has.
pub struct Letter {
    pub uuid: String,
    pub sha256: String,
    /// The destinations that have to have it.
    pub to: &'static [&'static str],
    /// As it was sent.
    document: NewDocument,
    /// Last and first name.
    patient: (String, String),
}

impl Letter {
    /// The patient's number in the practice's list.
    pub fn number(&self) -> String {
        let (last, first) = &self.patient;
        sha256(format!("{last} {first}").as_bytes())[..8].to_owned()
    }

    /// The patient in the practice's list, which writes names as it likes.
    pub fn row(&self) -> String {
        let (last, first) = &self.patient;
        format!("{};{};{first};31.01.1970", self.number(), last.to_uppercase().replace('Ü', "UE"))
    }
}

/// Adds another document with the same content, type and patient.
pub async fn add_twin(sandbox: &Sandbox, of: &Letter) -> Letter {
    let uuid = sandbox.add(of.document.clone()).await.expect("the sandbox takes a document");
    Letter { uuid, sha256: of.sha256.clone(), to: of.to, document: of.document.clone(), patient: of.patient.clone() }
}

/// Adds a document to the account with this key; for a patient who was never there before, whose folder has to be made.
pub async fn add(sandbox: &Sandbox, random: &mut Rng, key: &str, new_patient: bool) -> Letter {
    let length = if random.u8(..) < 40 { large(random) } else { random.usize(50..5_000) };
    let route = route(random);
    add_of(sandbox, random, key, new_patient, (route, length)).await
}

/// Adds one that takes several reads of a socket and several writes of a file.
pub async fn add_large(sandbox: &Sandbox, random: &mut Rng, key: &str) -> Letter {
    let (route, length) = (route(random), large(random));
    add_of(sandbox, random, key, false, (route, length)).await
}

/// Adds one of the last type.
pub async fn add_dental(sandbox: &Sandbox, random: &mut Rng, key: &str) -> Letter {
    let length = random.usize(50..5_000);
    add_of(sandbox, random, key, false, (ROUTES.len() - 1, length)).await
}

fn route(random: &mut Rng) -> usize {
    let last = ROUTES.len() - 1;
    if random.u8(..) < FOR_DENTAL { last } else { random.usize(..last) }
}

fn large(random: &mut Rng) -> usize {
    random.usize(150_000..400_000)
}

async fn add_of(
    sandbox: &Sandbox,
    random: &mut Rng,
    key: &str,
    new_patient: bool,
    (route, length): (usize, usize),
) -> Letter {
    let (last, first) = PATIENTS[random.usize(..PATIENTS.len())];
    let first = if new_patient { format!("{first} {}", random.u32(..)) } else { first.to_owned() };
    let (kind, to) = ROUTES[route];
    let bytes = pdf(random, length);
    let sha256 = sha256(&bytes);
    let document = NewDocument {
        owner: Some(key.to_owned()),
        document_type: Some(Some(kind.to_owned())),
        patient: Some(json!({"lastName": last, "firstName": first, "dateOfBirth": "1970-01-31"})),
        pdf: NewPdf::Bytes(bytes),
        ..NewDocument::default()
    };
    let uuid = sandbox.add(document.clone()).await.expect("the sandbox takes a document");
    Letter { uuid, sha256, to, document, patient: (last.to_owned(), first) }
}

fn pdf(random: &mut Rng, length: usize) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    bytes.extend(std::iter::repeat_with(|| random.u8(..)).take(length));
    bytes
}

//! Checks whether a file name distinguishes documents: renders the template for pairs of invented documents that differ
//! as real ones do. Two equal names are shown as an example, so no impossible collision is reported.

use serde_json::{Value, json};

use super::{Context, Template};
use crate::domain::document::{Metadata, Record};
use crate::domain::name;

/// An invented document of an invented patient.
struct Example {
    last_name: &'static str,
    first_name: &'static str,
    born: &'static str,
    patient: u8,
    day: &'static str,
    kind: &'static str,
    document: u8,
}

/// The example that the others are compared with.
const FIRST: Example = Example {
    last_name: "Durand",
    first_name: "Louise",
    born: "1951-02-03",
    patient: 1,
    day: "2026-11-20",
    kind: "referral_letter",
    document: 1,
};

/// People who may be confused with the first patient, the words for the pair, and the field that distinguishes them.
const PEOPLE: [(Example, &str, &str); 3] = [
    (
        Example { born: "1980-05-17", patient: 2, document: 2, ..FIRST },
        "two patients called Louise Durand, born 1951-02-03 and 1980-05-17,",
        "patient.dateOfBirth | date",
    ),
    (
        Example { first_name: "Jeanne", patient: 2, document: 2, ..FIRST },
        "the twins Louise and Jeanne Durand, both born 1951-02-03,",
        "patient.firstName",
    ),
    (
        Example { last_name: "Petit", first_name: "Jeanne", patient: 2, document: 2, ..FIRST },
        "Louise Durand and Jeanne Petit, both born 1951-02-03,",
        "patient.lastName",
    ),
];

impl Example {
    fn path(&self, template: &Template) -> Option<Vec<String>> {
        let uuid = |kind: u8, number: u8| format!("{kind:08x}-5a43-4c1e-9d53-6f3f{number:08x}");
        // Documents that are rendered together have the same time.
        let at = format!("{}T10:00:00+00:00", self.day);
        let pdf =
            json!({"uuid": uuid(3, self.document), "name": "letter.pdf", "fileName": "letter.pdf", "createdAt": at});
        let patient = json!({
            "uuid": uuid(1, self.patient), "lastName": self.last_name, "firstName": self.first_name,
            "dateOfBirth": self.born, "email": format!("patient{}@example.test", self.patient),
            "phone": format!("0100{:06}", self.patient), "anonymousCode": format!("A{:03}", self.patient),
            "createdAt": format!("2020-01-{:02}T10:00:00+00:00", self.patient),
        });
        let document = json!({
            "uuid": uuid(2, self.document), "createdAt": at, "updatedAt": at, "encounteredAt": at,
            "type": self.kind, "name": "letter", "title": "letter", "pdf": pdf,
        });
        let record = |value: Value| -> Record { value.as_object().cloned().unwrap_or_default() };
        let metadata = Metadata {
            account: "main".to_owned(),
            document: record(document),
            patient: record(patient),
            user: record(json!({"uuid": uuid(4, 1), "lastName": "Martin", "email": "martin@example.test"})),
            number: Some(format!("{}", 4710 + u32::from(self.patient))),
        };
        let context = Context::new(&metadata);
        Some(name::relative_path(&template.render(&context).ok()?))
    }
}

/// What is doubtful about a file name; continues a sentence that begins with the key. Only the worst doubt.
pub(super) fn doubt(template: &Template) -> Option<String> {
    let first = FIRST.path(template)?;
    let (file, folders) = first.split_last()?;
    let shown = first.join("/");
    let suffix = "nothing is overwritten, but the second gets its short uuid appended";
    let another =
        Example { last_name: "Petit", born: "1980-05-17", patient: 2, document: 2, ..FIRST }.path(template)?;
    if another == first {
        return Some(format!(
            "gives letters of two patients one name, `{shown}`: {suffix}, and nobody sees whose it is. Put \
             {{{{ patient.lastName }}}} and {{{{ patient.dateOfBirth | date }}}} into it"
        ));
    }
    let people = PEOPLE.iter().map(|(example, who, field)| Some((example.path(template)?, who, field)));
    let people = people.collect::<Option<Vec<_>>>()?;
    if let Some((_, who, field)) = people.iter().find(|(path, ..)| *path == first) {
        return Some(format!("gives {who} one name, `{shown}`: {suffix}. Put {{{{ {field} }}}} into it"));
    }
    for (other, what, field) in [
        (
            Example { day: "2026-11-21", document: 2, ..FIRST },
            "letters of 2026-11-20 and 2026-11-21",
            "document.createdAt | date",
        ),
        (Example { kind: "prescription", document: 2, ..FIRST }, "a letter and a prescription", "document.type"),
    ] {
        if other.path(template)? == first {
            return Some(format!(
                "gives {what} of one patient one name, `{shown}`: {suffix}. Put {{{{ {field} }}}} into it"
            ));
        }
    }
    // One folder for everybody is intended, but a patient's folder must not be shared by two patients.
    another.split_last().filter(|(_, other)| *other != folders)?;
    let shares = |path: &Vec<String>| path.split_last().is_some_and(|(_, same)| same == folders);
    let (_, who, field) = people.iter().find(|(path, ..)| shares(path))?;
    let folder = folders.join("/");
    Some(format!(
        "puts {who} into one folder, `{folder}` (there `{file}`). Put {{{{ {field} }}}} into the folder's name"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::{Template, TemplateKind};

    const DEFAULT: &str = "{{ patient.lastName }}_{{ patient.firstName }}_{{ patient.dateOfBirth | date }}/\
                           {{ document.createdAt | date }}_{{ document.type }}.pdf";

    #[test]
    fn a_name_that_two_patients_or_two_documents_can_get_is_doubted_and_no_other() {
        for (source, sign) in [
            // The default template, and templates without the date of birth.
            (DEFAULT, ""),
            (
                "{{ patient.lastName }}_{{ patient.firstName }}/{{ document.createdAt | date }}_{{ document.type }}.pdf",
                "one name",
            ),
            ("letter.pdf", "letters of two patients"),
            ("{{ account }}/{{ user.lastName }}.pdf", "letters of two patients"),
            (
                "{{ document.createdAt | date }}_{{ document.type }}.pdf",
                "letters of two patients one name, `2026-11-20_",
            ),
            ("{{ document.type }}.pdf", "letters of two patients"),
            ("{{ patient.gender }}.pdf", "letters of two patients"),
            ("{{ patient.firstName }}/{{ document.createdAt | date }}.pdf", "letters of two patients"),
            ("{{ patient.lastName }}_{{ document.createdAt | date }}.pdf", "born 1951-02-03 and 1980-05-17, one name"),
            ("{{ patient.lastName }}_{{ patient.dateOfBirth | date }}.pdf", "the twins Louise and Jeanne Durand, both"),
            ("{{ patient.dateOfBirth | date }}_{{ document.createdAt | date }}.pdf", "the twins"),
            (
                "{{ patient.firstName }}_{{ patient.dateOfBirth | date }}_{{ document.createdAt | date }}.pdf",
                "a letter and a prescription",
            ),
            ("{{ patient.uuid }}/{{ document.type }}.pdf", "2026-11-20 and 2026-11-21"),
            ("{{ patient.lastName }}/{{ document.uuid }}.pdf", "into one folder, `Durand`"),
            ("{{ patient.lastName }}/{{ patient.dateOfBirth | date }}/{{ document.uuid }}.pdf", "into one folder"),
            ("{{ patient.dateOfBirth | date }}/{{ document.uuid }}.pdf", "into one folder, `1951-02-03`"),
            ("{{ patient.uuid }}/{{ document.createdAt | date }}.pdf", "a letter and a prescription of one patient"),
            ("{{ patient.uuid }}/{{ document.createdAt | date }}_{{ document.type }}.pdf", ""),
            ("{{ patient.number }}/{{ document.createdAt | date }}_{{ document.type }}.pdf", ""),
            ("{{ patient.number }}_{{ document.type }}.pdf", "2026-11-20 and 2026-11-21"),
            ("{{ document.uuid }}.pdf", ""),
            ("{{ document.uuid | short }}.pdf", ""),
            ("{{ document.createdAt }}.pdf", "letters of two patients"),
            ("{{ patient.lastName }}_{{ document.pdf.uuid }}.pdf", ""),
            ("{{ document.createdAt | date }}/{{ document.uuid }}.pdf", ""),
            ("{{ patient.phone }}_{{ document.createdAt | date('%Y') }}.pdf", "2026-11-20 and 2026-11-21"),
        ] {
            let template = Template::compile(TemplateKind::FileName, source).unwrap();
            let said = template.doubts().join(" | ");
            assert!(if sign.is_empty() { said.is_empty() } else { said.contains(sign) }, "{source}: {said}");
        }
        // Other names from templates are for files beside a file that has its own name.
        let beside = Template::compile(TemplateKind::SidecarName, "same.xml").unwrap();
        assert!(beside.doubts().is_empty());
    }
}

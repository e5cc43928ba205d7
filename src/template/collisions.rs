//! Whether a file's name tells documents apart: the template is tried with pairs of invented documents that differ as real
//! ones do. What comes out the same is shown as an example, so that nothing is said that cannot happen.

use serde_json::{Value, json};

use super::{Context, Template};
use crate::document::{Metadata, Record};
use crate::name;

/// An invented document of an invented patient.
struct Example {
    last_name: &'static str,
    born: &'static str,
    patient: u8,
    day: &'static str,
    document: u8,
}

/// The one that the others are compared with.
const FIRST: Example = Example { last_name: "Durand", born: "1951-02-03", patient: 1, day: "2026-11-20", document: 1 };

impl Example {
    fn path(&self, template: &Template) -> Option<Vec<String>> {
        let uuid = |kind: u8, number: u8| format!("{kind:08x}-5a43-4c1e-9d53-6f3f{number:08x}");
        let at = format!("{}T10:{:02}:00+00:00", self.day, self.document);
        let pdf =
            json!({"uuid": uuid(3, self.document), "name": "letter.pdf", "fileName": "letter.pdf", "createdAt": at});
        let patient = json!({
            "uuid": uuid(1, self.patient), "lastName": self.last_name, "firstName": "Louise", "dateOfBirth": self.born,
            "email": format!("patient{}@example.test", self.patient), "phone": format!("0100{:06}", self.patient),
            "anonymousCode": format!("A{:03}", self.patient), "createdAt": format!("2020-01-{:02}T10:00:00+00:00", self.patient),
        });
        let document = json!({
            "uuid": uuid(2, self.document), "createdAt": at, "updatedAt": at, "encounteredAt": at,
            "type": "referral_letter", "name": "letter", "title": "letter", "pdf": pdf,
        });
        let record = |value: Value| -> Record { value.as_object().cloned().unwrap_or_default() };
        let metadata = Metadata {
            account: "main".to_owned(),
            document: record(document),
            patient: record(patient),
            user: record(json!({"uuid": uuid(4, 1), "lastName": "Martin", "email": "martin@example.test"})),
        };
        Some(name::relative_path(&template.render(&Context::new(&metadata)).ok()?))
    }
}

/// What is doubtful about a file's name, for a sentence that begins with the key; the worst of it only.
pub(super) fn doubt(template: &Template) -> Option<String> {
    let first = FIRST.path(template)?;
    let (file, folders) = first.split_last()?;
    let shown = first.join("/");
    let suffix = "nothing is overwritten, but the second gets its short uuid appended";
    let another = Example { last_name: "Petit", born: "1980-05-17", patient: 2, document: 2, ..FIRST };
    if another.path(template)? == first {
        return Some(format!(
            "gives letters of two patients one name, `{shown}`: {suffix}, and nobody sees whose it is. Put \
             {{{{ patient.lastName }}}} and {{{{ patient.dateOfBirth | date }}}} into it"
        ));
    }
    let namesake = Example { born: "1980-05-17", patient: 2, document: 2, ..FIRST };
    let same_name = namesake.path(template)?;
    if same_name == first {
        return Some(format!(
            "gives two patients called Louise Durand, born 1951-02-03 and 1980-05-17, one name, `{shown}`: {suffix}. Put \
             {{{{ patient.dateOfBirth | date }}}} into it"
        ));
    }
    let later = Example { day: "2026-11-21", document: 2, ..FIRST };
    if later.path(template)? == first {
        return Some(format!(
            "gives letters of 2026-11-20 and 2026-11-21 of one patient one name, `{shown}`: {suffix}. Put \
             {{{{ document.createdAt | date }}}} into it"
        ));
    }
    let other_folder = another.path(template)?.split_last().is_some_and(|(_, other)| other != folders);
    let shared_folder = same_name.split_last().is_some_and(|(_, same)| same == folders);
    if other_folder && shared_folder {
        let folder = folders.join("/");
        return Some(format!(
            "puts two patients called Louise Durand, born 1951-02-03 and 1980-05-17, into one folder, `{folder}` (there \
             `{file}`). Put {{{{ patient.dateOfBirth | date }}}} into the folder's name"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::{Template, TemplateKind};

    const DEFAULT: &str = "{{ patient.lastName }}_{{ patient.firstName }}_{{ patient.dateOfBirth | date }}/\
                           {{ document.createdAt | date }}_{{ document.type }}.pdf";

    #[test]
    fn a_name_that_two_patients_or_two_documents_can_get_is_doubted_and_no_other() {
        for (source, sign) in [
            // The default, and without the date of birth.
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
            ("{{ patient.lastName }}_{{ patient.dateOfBirth | date }}.pdf", "2026-11-20 and 2026-11-21 of one patient"),
            ("{{ patient.uuid }}/{{ document.type }}.pdf", "2026-11-20 and 2026-11-21"),
            ("{{ patient.lastName }}/{{ document.uuid }}.pdf", "into one folder, `Durand`"),
            ("{{ patient.lastName }}/{{ patient.dateOfBirth | date }}/{{ document.uuid }}.pdf", ""),
            ("{{ patient.uuid }}/{{ document.createdAt | date }}.pdf", ""),
            ("{{ document.uuid }}.pdf", ""),
            ("{{ document.uuid | short }}.pdf", ""),
            ("{{ document.createdAt }}.pdf", ""),
            ("{{ patient.lastName }}_{{ document.pdf.uuid }}.pdf", ""),
            ("{{ document.createdAt | date }}/{{ document.uuid }}.pdf", ""),
            ("{{ patient.phone }}_{{ document.createdAt | date('%Y') }}.pdf", "2026-11-20 and 2026-11-21"),
        ] {
            let template = Template::compile(TemplateKind::FileName, source).unwrap();
            let said = template.doubts().join(" | ");
            assert!(if sign.is_empty() { said.is_empty() } else { said.contains(sign) }, "{source}: {said}");
        }
        // What else is named by templates is beside a file that has a name.
        let beside = Template::compile(TemplateKind::SidecarName, "same.xml").unwrap();
        assert!(beside.doubts().is_empty());
    }
}

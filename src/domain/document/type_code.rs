//! The medical codes of document types.

use std::collections::BTreeMap;

/// The entry for documents without a type, or with one that the map does not name.
pub const OTHER: &str = "other";

/// The LOINC code of each type that the API describes (docs/practice-systems.md, "Codes for the types of letters").
/// LOINC has none for lab slips: they get the nearest one. Other types get "Note".
pub const LOINC: [(&str, &str); 12] = [
    ("operative_report", "11504-8"),
    ("referral_letter", "57134-9"),
    ("cone_beam_report", "18748-4"),
    ("patient_letter", "51851-4"),
    ("prescription", "57833-6"),
    ("initial_medical_certificate", "89601-9"),
    ("attendance_certificate", "51851-4"),
    ("contraindication_certificate", "89601-9"),
    ("lab_slip", "57828-6"),
    ("endo_report", "34756-7"),
    ("ortho_letter", "34756-7"),
    (OTHER, "34109-9"),
];

/// A code system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeSystem {
    /// LOINC (`http://loinc.org`, OID 2.16.840.1.113883.6.1, `LN` in HL7 v2).
    Loinc,
    /// The list of document types of German hospitals (`http://dvmd.de/fhir/CodeSystem/kdl`).
    Kdl,
    /// Another system, as the administrator wrote it.
    Named(String),
}

/// A code with its system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeCode {
    /// Its code system.
    pub system: CodeSystem,
    /// The code itself.
    pub code: String,
}

impl TypeCode {
    /// Reads a LOINC code (`57133-1`), a KDL code (`AU050199`), or `SYSTEM|CODE`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_loinc = text
            .split_once('-')
            .is_some_and(|(number, check)| digits(number) && number.len() <= 7 && digits(check) && check.len() == 1);
        let is_kdl = text.len() == 8
            && text
                .split_at_checked(2)
                .is_some_and(|(class, number)| class.bytes().all(|byte| byte.is_ascii_uppercase()) && digits(number));
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'|');
        let (system, code) = match text.split_once('|') {
            _ if is_loinc => (CodeSystem::Loinc, text),
            _ if is_kdl => (CodeSystem::Kdl, text),
            Some((system, code)) if is_word(system) && is_word(code) => (CodeSystem::Named(system.to_owned()), code),
            _ => return None,
        };
        Some(Self { system, code: code.to_owned() })
    }
}

/// `type_map`: the code of each type of document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeMap {
    codes: BTreeMap<String, TypeCode>,
    other: TypeCode,
}

impl TypeMap {
    /// From pairs of type and code, which must include [`OTHER`]; `None` if one has no valid code.
    pub fn new<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let read = |(kind, code): (&str, &str)| Some((kind.to_owned(), TypeCode::parse(code)?));
        let mut codes = entries.into_iter().map(read).collect::<Option<BTreeMap<_, _>>>()?;
        let other = codes.remove(OTHER)?;
        Some(Self { codes, other })
    }

    /// The code for a document of this type.
    pub fn code(&self, kind: Option<&str>) -> &TypeCode {
        kind.and_then(|kind| self.codes.get(kind)).unwrap_or(&self.other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::DOCUMENT_TYPES;

    #[test]
    fn each_type_has_its_code_and_what_has_none_is_a_note() {
        let map = TypeMap::new(LOINC).unwrap();
        for kind in DOCUMENT_TYPES {
            assert!(map.codes.contains_key(kind), "{kind}");
        }
        assert_eq!(map.codes.len(), DOCUMENT_TYPES.len());
        let code = |kind| map.code(kind).code.as_str();
        assert_eq!(code(Some("referral_letter")), "57134-9");
        assert_eq!([code(None), code(Some("new_type"))], ["34109-9"; 2]);
        // The last digit of each code is its check digit (LOINC Users' Guide, appendix C), which shows typing errors.
        for (kind, code) in LOINC {
            let digits: Vec<u32> = code.chars().rev().filter_map(|c| c.to_digit(10)).collect();
            let doubled =
                |(at, digit): (usize, &u32)| if at % 2 == 1 { digit * 2 / 10 + digit * 2 % 10 } else { *digit };
            assert_eq!(digits.iter().enumerate().map(doubled).sum::<u32>() % 10, 0, "{kind}");
        }
    }

    #[test]
    fn codes_have_a_known_shape() {
        let code = |system, code: &str| Some(TypeCode { system, code: code.to_owned() });
        for (text, expected) in [
            ("57133-1", code(CodeSystem::Loinc, "57133-1")),
            ("AU050199", code(CodeSystem::Kdl, "AU050199")),
            ("1.2.250.1.213.1.1.4.12|CERT_DECL", code(CodeSystem::Named("1.2.250.1.213.1.1.4.12".into()), "CERT_DECL")),
        ] {
            assert_eq!(TypeCode::parse(text), expected, "{text}");
        }
        for none in [
            "",
            "57133",
            "57133-",
            "-1",
            "57133-12",
            "letter",
            "57133-1 ",
            "a|",
            "|a",
            "a|b|c",
            "a b|c",
            "a|é",
            "AUÉ50199",
        ] {
            assert_eq!(TypeCode::parse(none), None, "{none}");
        }
    }
}

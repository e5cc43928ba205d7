//! `[patients]`, and the settings that need it.

use super::*;

/// The smallest list.
pub const LIST: &str = r#"
[patients]
file = "patients.csv"
number = "PatNum"
last_name = "LName"
first_name = "FName"
date_of_birth = "Birthdate"
"#;

/// The smallest configuration with a list and these lines.
fn with_list(lines: &str) -> String {
    format!("{LEAST}{LIST}{lines}\n")
}

#[test]
fn a_list_has_its_defaults_and_its_file_lies_beside_the_configuration() {
    let written = write(with_list(""));
    let patients = written.load(&[]).unwrap().config.patients.unwrap();
    assert_eq!(written.relative(&patients.file), Path::new("patients.csv"));
    let PatientsConfig { number, last_name, first_name, date_of_birth, former_name, .. } = &patients;
    assert_eq!([number, last_name, first_name, date_of_birth], ["PatNum", "LName", "FName", "Birthdate"]);
    assert_eq!((former_name, &patients.date_format, patients.encoding), (&None, &None, PatientsEncoding::Auto));
    assert_eq!((patients.delimiter, patients.push), (None, false));
    assert!(loaded(LEAST, &[]).config.patients.is_none());
    for none in ["", "push = false\ndelimiter = \"auto\"\n"] {
        let text = format!("{LEAST}[patients]\n{none}");
        assert!(loaded(&text, &[]).config.patients.is_none(), "as the commented file or `config show` has it");
    }
    assert!(error(&format!("{LEAST}[patients]\npush = true\n"), &[]).contains("`patients.file` is missing"));
}

#[test]
fn what_can_be_said_of_a_file_is_taken() {
    for (word, delimiter) in
        [("auto", None), (";", Some(b';')), (",", Some(b',')), ("\\t", Some(b'\t')), ("|", Some(b'|'))]
    {
        let patients = loaded(&with_list(&format!("delimiter = \"{word}\"")), &[]).config.patients.unwrap();
        assert_eq!(patients.delimiter, delimiter, "{word}");
    }
    for (word, encoding) in [
        ("UTF-8", PatientsEncoding::Utf8),
        ("utf-16", PatientsEncoding::Utf16),
        ("windows-1252", PatientsEncoding::Windows1252),
        ("iso-8859-1", PatientsEncoding::Windows1252),
        ("iso-8859-15", PatientsEncoding::Iso8859_15),
        ("cp437", PatientsEncoding::Cp437),
        ("cp850", PatientsEncoding::Cp850),
    ] {
        let patients = loaded(&with_list(&format!("encoding = \"{word}\"")), &[]).config.patients.unwrap();
        assert_eq!(patients.encoding, encoding, "{word}");
    }
    for format in ["%d/%m/%Y", "%d.%m.%Y", "%Y%m%d", "%m/%d/%Y", "%F", "%d-%b-%Y", "%-d.%-m.%Y"] {
        let patients = loaded(&with_list(&format!("date_format = \"{format}\"")), &[]).config.patients.unwrap();
        assert_eq!(patients.date_format.as_deref(), Some(format));
    }
}

#[test]
fn a_list_that_lacks_something_says_what() {
    let none = LIST.lines().filter(|line| !line.contains("FName")).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(error(&format!("{LEAST}{none}\n"), &[]), @r#"
    FOLDER/docsyncd.toml: `patients.first_name` is missing
      Below [patients] write first_name = "..." (name of its column with the first name).
    "#);
    insta::assert_snapshot!(error(&with_list("delimiter = \":\"\nencoding = \"latin1\"\ndate_format = \"%d.%m.%y\"\npsuh = true"), &[]), @r#"
    the configuration has 4 errors:
    FOLDER/docsyncd.toml, line 16: `patients.delimiter` is none of "auto", ";", ",", "\t", "|"
      The nearest known value is "auto".
    FOLDER/docsyncd.toml, line 17: `patients.encoding` is none of "auto", "utf-8", "utf-16", "windows-1252", "iso-8859-1", "iso-8859-15", "cp437", "cp850"
      The nearest known value is "auto".
    FOLDER/docsyncd.toml, line 18: `patients.date_format` is no form of a whole date with a year of four digits
      Write "auto", "%d/%m/%Y", "%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d" or "%Y%m%d".
    FOLDER/docsyncd.toml, line 19: unknown key `patients.psuh`
      The nearest known key is `patients.push`.
    "#);
    insta::assert_snapshot!(error(&with_list("").replace("\"FName\"", "\"LName\""), &[]), @r#"
    FOLDER/docsyncd.toml, line 14: `patients.first_name` names the column of `patients.last_name`
      Each needs a column of its own. If the export has last and first name in one column, make one that has two.
    "#);
    insta::assert_snapshot!(error(&with_list("").replace("[patients]", "[patient]"), &[]), @r#"
    FOLDER/docsyncd.toml, line 10: unknown section `patient`
      The nearest known one is `patients`: write [patients].
    "#);
}

#[test]
fn the_ledger_is_not_the_list() {
    let text = format!("{LEAST}[state]\npath = \"patients.csv\"\n{LIST}");
    assert!(error(&text, &[]).contains("is the file of `patients.file`"));
}

#[test]
fn a_template_that_needs_a_number_needs_a_list() {
    let number = "file_name = \"{{ patient.number }}/{{ document.uuid }}.pdf\"";
    let folder = LEAST.replace("path = \"import\"", &format!("path = \"import\"\n{number}"));
    insta::assert_snapshot!(error(&folder, &[]), @"
    FOLDER/docsyncd.toml, line 9: `destinations.pms.file_name` needs the patient's number ({{ patient.number }}), and there is no [patients]
      Add a section [patients] with the practice's list of patients: docs/patients.md says how.
    ");
    assert!(loaded(&format!("{folder}{LIST}"), &[]).warnings.is_empty());
    let wrong = LIST.replace("first_name = \"FName\"\n", "");
    let said = error(&format!("{folder}{wrong}"), &[]);
    assert!(said.contains("`patients.first_name` is missing") && !said.contains("patient.number"), "{said}");
    let http = "type = \"http\"\nurl = \"https://h.test/{{ key }}\"\nmethod = \"POST\"";
    for (of, lines) in [
        ("sidecar", "type = \"folder\"\npath = \"import\"\nsidecar = \"{% if patient.number %}x{% endif %}\""),
        (
            "sidecar_name",
            "type = \"folder\"\npath = \"import\"\nsidecar = \"x\"\nsidecar_name = \"{{ patient.number }}.{{ key }}\"",
        ),
        ("args", "type = \"command\"\nprogram = \"x\"\nargs = [\"a\", \"{{ patient['number'] }}\"]"),
        ("url", "type = \"http\"\nurl = \"https://h.test/{{ patient.number }}/{{ key }}\""),
        ("headers", &format!("{http}\nheaders = {{ A = \"{{{{ patient.number }}}}\" }}")),
        ("fields", &format!("{http}\nbody = \"multipart\"\nfields = {{ a = \"{{{{ patient.number }}}}\" }}")),
        (
            "json",
            &format!(
                "{http}\nbody = \"json\"\njson = '{{\"a\": {{{{ patient.number }}}}, \"b\": {{{{ file_base64 }}}}}}'"
            ),
        ),
    ] {
        let text = LEAST.replace("type = \"folder\"\npath = \"import\"", lines);
        let said = error(&text, &[]);
        assert!(said.contains(&format!("`destinations.pms.{of}` needs the patient's number")), "{of}: {said}");
        assert!(said.contains("[patients]"), "{said}");
        loaded(&format!("{text}{LIST}"), &[]);
    }
}

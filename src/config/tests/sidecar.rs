//! The `sidecar` options of a folder.

use super::*;
use crate::formats::sidecar::{Charset, Form};

/// A folder with these sidecar options.
fn with(options: &str) -> String {
    format!("{LEAST}file_name = \"{{{{ document.uuid }}}}.pdf\"\n{options}\n")
}

const GDT: &str =
    "sidecar_format = \"gdt\"\nsidecar_encoding = \"cp437\"\nsidecar = \"80006310\\n3101{{ patient.lastName }}\"";

#[test]
fn how_a_sidecar_is_written_can_be_said() {
    let of = |options: &str| {
        let loaded = loaded(&with(options), &[]);
        assert_eq!(loaded.warnings, Vec::<String>::new(), "{options}");
        folder(&loaded.config).sidecar.clone().unwrap()
    };
    let plain = of("sidecar = \"x\"");
    assert_eq!((plain.form, plain.is_last, plain.visible_path), (Form::default(), false, None));
    for (word, charset) in [
        ("utf-8", Charset::Utf8),
        ("utf-8-bom", Charset::Utf8Bom),
        ("windows-1252", Charset::Windows1252),
        ("iso-8859-1", Charset::Iso8859_1),
        ("iso-8859-15", Charset::Iso8859_15),
        ("cp437", Charset::Cp437),
        ("cp850", Charset::Cp850),
    ] {
        assert_eq!(of(&format!("sidecar = \"x\"\nsidecar_encoding = \"{word}\"")).form.charset, charset);
    }
    let all = of("sidecar = \"{{ visible_file }}\"\nsidecar_newline = \"crlf\"\nsidecar_unmappable = \"refuse\"\n\
                  sidecar_after = true\nvisible_path = '\\\\SRV\\letters'\nsidecar_name = \"D.{{ number3 }}\"");
    assert_eq!(all.form, Form { crlf: true, transliterates: false, ..Form::default() });
    assert_eq!((all.is_last, all.is_counted(), all.visible_path.as_deref()), (true, true, Some(r"\\SRV\letters")));
    assert!(of(GDT).form.is_gdt);
}

#[test]
fn what_cannot_be_meant_of_a_sidecar_is_an_error() {
    for (options, says) in [
        (GDT.replace("cp437", "utf-8"), "sidecar_encoding` is \"utf-8\", which GDT 2.1 has no word for"),
        (
            GDT.replace("sidecar_encoding = \"cp437\"\n", ""),
            "sidecar_encoding` is \"utf-8\", which GDT 2.1 has no word",
        ),
        (GDT.replace("cp437", "utf-8-bom"), "is \"utf-8-bom\", which"),
        (GDT.replace("cp437", "iso-8859-15"), "is \"iso-8859-15\", which"),
        (GDT.replace("cp437", "cp850"), "is \"cp850\", which"),
        (GDT.replace("3101", ""), "line 2 of what it gives does not begin with the four digits of a field of GDT"),
        (
            GDT.replace("3101", &"3101x".repeat(250)),
            "sidecar` cannot be written in cp437: field 3101 is longer than 990",
        ),
        (GDT.replace("3101", "6304łą"), "cannot be written in cp437: line 2 (field 6304) holds a character that"),
        (
            "sidecar = \"{{ visible_file }}\"\nsidecar_encoding = \"windows-1252\"\nvisible_path = 'S:\\Łódź'"
                .to_owned(),
            "cannot be written in windows-1252",
        ),
        ("sidecar = \"{{ visible_file }}\"".to_owned(), "uses {{ visible_file }}, and there is no `visible_path`"),
        ("sidecar = \"x\"\nsidecar_encoding = \"latin1\"".to_owned(), "sidecar_encoding` is none of \"utf-8\""),
        ("sidecar = \"x\"\nsidecar_newline = \"cr\"".to_owned(), "sidecar_newline` is none of \"lf\", \"crlf\""),
        ("sidecar = \"x\"\nsidecar_unmappable = \"?\"".to_owned(), "is none of \"transliterate\", \"refuse\""),
        ("sidecar = \"{{ number3 }}\"".to_owned(), "there is no variable `number3`"),
    ] {
        let text = error(&with(&options), &[]);
        assert!(text.contains(says), "{options}: {text}");
    }
}

#[test]
fn what_has_no_effect_beside_a_sidecar_is_warned_of() {
    let warnings = |options: &str| loaded(&with(options), &[]).warnings.join("\n");
    for key in
        ["sidecar_encoding = \"cp437\"", "sidecar_after = true", "visible_path = 'x'", "sidecar_newline = \"lf\""]
    {
        let warned = warnings(key);
        assert!(warned.contains("has no effect without `sidecar`"), "{key}: {warned}");
    }
    let warned = warnings("sidecar = \"x\"\nvisible_path = 'x'");
    assert!(warned.contains("visible_path` has no effect, as `sidecar` does not use {{ visible_file }}"), "{warned}");
    let warned = warnings("sidecar = \"x\"\nsidecar_name = \"D.{{ number3 }}\"");
    assert!(warned.contains("may be the same for two letters, of which `sidecar_name` counts the second"), "{warned}");
}

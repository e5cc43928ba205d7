//! The contract of file names, whatever a patient is called: by rules written down apart from the code that keeps them,
//! those of Windows on every system, since a daemon on Linux may write to a Windows share.

use docsyncd::domain::document::{DocumentUuid, Metadata, Record};
use docsyncd::domain::name::{file_name, relative_path, value, with_suffix};
use docsyncd::formats::template::{Context, Template, TemplateKind};
use proptest::prelude::*;
use serde_json::json;
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use crate::fuzzed::oracles::names::{assert_part, assert_path};

/// Pieces of which names are made that made trouble somewhere.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("CON"),
        Just("con"),
        Just("Aux"),
        Just("NUL"),
        Just("prn"),
        Just("COM1"),
        Just("COM¹"),
        Just("lpt³"),
        Just("LPT0"),
        Just("CONIN$"),
        Just("conout$"),
        Just("CLOCK$"),
        Just("."),
        Just(".."),
        Just(" "),
        Just("\u{a0}"),
        Just("\u{3000}"),
        Just("/"),
        Just("\\"),
        Just(":"),
        Just("::$DATA"),
        Just(":Zone.Identifier"),
        Just("C:"),
        Just("\\\\?\\"),
        Just("*"),
        Just("?"),
        Just("\""),
        Just("<>|"),
        Just("\u{202e}"),
        Just("\u{2066}"),
        Just("\u{200b}"),
        Just("\u{feff}"),
        Just("\0"),
        Just("\u{1f}"),
        Just("\u{7f}"),
        Just("\u{85}"),
        Just("\n"),
        Just(".pdf"),
        Just(".tar.gz"),
        Just("é"),
        Just("e\u{301}"),
        Just("💊"),
        Just("名"),
        Just("~1"),
        Just("desktop.ini"),
    ];
    prop_oneof![
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()),
        "\\PC{0,80}",
        any::<String>(),
        ("(CON|COM¹|a|é|名|💊| |\\.){1,4}", 0..260_usize).prop_map(|(piece, times)| piece.repeat(times)),
    ]
}

/// A name of every way that leads to one.
fn rendered(last: &str, first: &str) -> Vec<String> {
    let record = |value: serde_json::Value| -> Record { value.as_object().cloned().unwrap() };
    let metadata = Metadata {
        number: None,
        account: "main".into(),
        document: record(json!({"type": first, "createdAt": last})),
        patient: record(json!({"lastName": last, "firstName": first})),
        user: Record::new(),
    };
    let source =
        "{{ patient.lastName }}_{{ patient.firstName }}/{{ document.createdAt | date }}_{{ document.type }}.pdf";
    let template = Template::compile(TemplateKind::FileName, source).unwrap();
    relative_path(&template.render(&Context::new(&metadata)).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_path_leads_down_through_names_that_every_system_takes(text in nasty()) {
        let parts = relative_path(&text);
        assert_path(&parts);
        prop_assert_eq!(relative_path(&parts.join("/")), parts.clone());
        prop_assert_eq!(relative_path(&parts.join("\\")), parts);
    }

    #[test]
    fn a_single_name_is_one_and_stays_as_it_is(text in nasty()) {
        let name = file_name(&text);
        assert_part(&name);
        prop_assert_eq!(file_name(&name), name.clone());
        prop_assert_eq!(relative_path(&name), vec![name]);
    }

    #[test]
    fn a_value_in_a_name_makes_no_folder_and_stays_as_it_is(text in nasty()) {
        let safe = value(&text);
        prop_assert!(!safe.is_empty() && !safe.contains(['/', '\\', ':', '\0']), "{:?}", safe);
        prop_assert_eq!(value(&safe), safe);
    }

    #[test]
    fn a_name_is_the_same_however_it_is_spelled(text in nasty()) {
        let (apart, composed) = (text.nfd().collect::<String>(), text.nfc().collect::<String>());
        prop_assert_eq!(relative_path(&apart), relative_path(&composed));
        prop_assert_eq!(value(&apart), value(&text));
        prop_assert!(relative_path(&text).iter().all(|part| is_nfc(part)));
    }

    #[test]
    fn no_patient_moves_a_letter_to_another_depth(last in nasty(), first in nasty()) {
        let parts = rendered(&last, &first);
        assert_path(&parts);
        prop_assert_eq!(parts.len(), 2, "{:?}", parts);
        prop_assert!(parts[1].ends_with(".pdf"), "{:?}", parts);
    }

    #[test]
    fn two_documents_that_would_have_one_name_have_two(text in nasty(), one in "[0-9a-fA-F]{8}", other in "[0-9a-fA-F]{8}") {
        let name = file_name(&text);
        let short = |text: &str| DocumentUuid::parse(&format!("00000000-0000-4000-8000-0000{text}")).unwrap().short();
        let (one, other) = (short(&one), short(&other));
        let names = [name.clone(), with_suffix(&name, &one), with_suffix(&name, &other), with_suffix(&name, &format!("{one}_2"))];
        names.iter().for_each(|name| assert_part(name));
        // Also where letter case does not matter.
        let mut distinct = names.map(|name| name.to_lowercase()).to_vec();
        distinct.sort();
        distinct.dedup();
        prop_assert_eq!(distinct.len(), if one == other { 3 } else { 4 });
        prop_assert_eq!(with_suffix(&name, &one), with_suffix(&file_name(&name), &one));
    }
}

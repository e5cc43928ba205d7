//! Any file and any environment end in a configuration or in an error that a person can read, never in a panic.

use super::*;
use proptest::prelude::*;

fn piece() -> impl Strategy<Value = String> {
    let sections: Vec<String> = SCHEMA
        .sections()
        .iter()
        .flat_map(|(name, _)| [format!("[{name}]\n"), format!("[{name}.x]\n"), format!("[[{name}]]\n")])
        .collect();
    let keys: Vec<String> = SCHEMA.keys().iter().map(|key| format!("{} = ", key.name())).collect();
    let values = [
        "\"60s\"\n",
        "1\n",
        "true\n",
        "[\"pms\"]\n",
        "[]\n",
        "\"folder\"\n",
        "{ a = 1 }\n",
        "\"\n",
        "1979-05-27\n",
        "-0.0\n",
    ];
    prop_oneof![
        prop::sample::select(sections),
        prop::sample::select(keys),
        prop::sample::select(values.map(str::to_owned).to_vec()),
        "\\PC{0,12}\n?",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_input_makes_it_panic(
        least in any::<bool>(),
        pieces in prop::collection::vec(piece(), 0..24),
        variables in prop::collection::vec(("DOCSYNCD__[A-Z_]{0,20}|DOCSYNCD__ROUTES__[0-9]{1,6}__TO", "\\PC{0,20}"), 0..4),
    ) {
        let text = format!("{}{}", if least { LEAST } else { "" }, pieces.concat());
        if let Err(error) = SCHEMA.load(&write(text).path, variables) {
            let text = error.to_string();
            prop_assert!(!text.contains("defect of docsyncd"), "{}", text);
            prop_assert!(text.lines().count() >= 2, "no fix: {}", text);
        }
    }
}

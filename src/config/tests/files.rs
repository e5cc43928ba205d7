//! The file itself: missing, unreadable, in another encoding; and the files that come with docsyncd.

use super::*;
use std::collections::BTreeMap;

#[test]
fn a_file_that_is_not_there_leads_to_config_init() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.toml");
    let text = SCHEMA.load_default_env(&path).unwrap_err().to_string();
    assert!(text.contains(path.to_str().unwrap()) && text.contains("docsyncd config init"), "{text}");
    let below_a_file = write(LEAST).path.join("docsyncd.toml");
    assert!(matches!(SCHEMA.load_default_env(&below_a_file), Err(ConfigError::Missing { .. })));
}

#[test]
fn a_folder_is_no_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let text = SCHEMA.load_default_env(folder.path()).unwrap_err().to_string();
    assert!(text.contains(folder.path().to_str().unwrap()) && text.contains("this is a folder"), "{text}");
    assert!(text.contains("`config init`"), "{text}");
}

#[cfg(unix)]
#[test]
fn what_may_never_answer_is_not_read() {
    let text = SCHEMA.load_default_env(Path::new("/dev/zero")).unwrap_err().to_string();
    assert!(text.contains("it is no regular file"), "{text}");
}

#[test]
fn what_is_refused_says_which_ledger_it_names() {
    let ledger = |text: &str| match write(text).load(&[]).unwrap_err() {
        ConfigError::Invalid { ledger, .. } => ledger.map(|ledger| ledger.file_name().unwrap().to_owned()),
        other => panic!("{other}"),
    };
    let named = format!("{LEAST}[state]\npath = \"own.sqlite3\"\n");
    for wrong in [named.replace("base_url", "bas_url"), format!("{named}[[[ x")] {
        assert_eq!(ledger(&wrong), Some("own.sqlite3".into()), "{wrong}");
    }
    assert_eq!(ledger(&LEAST.replace("base_url", "bas_url")), Some("ledger.sqlite3".into()), "the default");
    assert_eq!(ledger(&named.replace("path = \"own.sqlite3\"", "path = 7")), None);
}

#[test]
fn a_huge_file_is_not_read_to_its_end() {
    let text = write(vec![b'#'; 2 << 20]).load(&[]).unwrap_err().to_string();
    assert!(text.contains("larger than 1048576 bytes"), "{text}");
}

#[test]
fn notepad_may_have_written_it() {
    let dressed = format!("\u{feff}{}", LEAST.replace('\n', "\r\n"));
    assert_eq!(effective(&loaded(&dressed, &[]), "api.base_url").value, r#""https://api.example.test""#);
    assert_eq!(error("\u{feff}x y", &[]), error("x y", &[]), "the mark is no column");
    let wrong = dressed.replace("path =", "paht =");
    assert!(error(&wrong, &[]).starts_with("FOLDER/docsyncd.toml, line 8: "), "{}", error(&wrong, &[]));
}

#[test]
fn another_encoding_is_refused_with_the_way_out() {
    let latin = [b"# one\n# caf\xe9\n".as_slice(), LEAST.as_bytes()].concat();
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(LEAST.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    for (bytes, line) in [(latin, "line 2"), (utf16, "line 1")] {
        let text = write(bytes).load(&[]).unwrap_err().to_string();
        assert!(text.contains(line) && text.contains("not UTF-8") && text.contains("Save it as UTF-8"), "{text}");
    }
}

#[test]
fn the_file_of_config_init_loads_as_it_is() {
    let loaded = loaded(template(), &[]);
    assert_eq!(loaded.warnings, Vec::<String>::new());
}

/// Removes the # of settings; remarks have a space after it.
pub(super) fn with_options_on(text: &str) -> String {
    let on = |line: &str| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') => rest.to_owned(),
        _ => line.to_owned(),
    };
    let all = text.lines().map(on).collect::<Vec<_>>().join("\n");
    // `lookup_url` is rarely needed, so it is off in the file; with it, {{ lookup }} must be used.
    all.replace("/inbox/{{ key }}", "/inbox/{{ lookup }}/{{ key }}")
}

#[test]
fn the_file_of_config_init_loads_with_every_option_on_and_names_every_key_with_its_default() {
    let shown = loaded(&with_options_on(template()), &[]).effective;
    let least = loaded(LEAST, &[]).effective;
    let defaults: BTreeMap<&str, &str> = least
        .iter()
        .filter(|setting| setting.origin == Origin::Default)
        .map(|setting| (setting.declared.path, setting.value.as_str()))
        .collect();
    let mut lacking = Vec::new();
    for key in SCHEMA.keys().iter().filter(|key| key.kind != schema::Kind::Secret) {
        let mut given = shown
            .iter()
            .filter(|setting| setting.declared.path == key.path && setting.origin != Origin::Default)
            .map(|setting| setting.value.as_str())
            .peekable();
        let is_there = given.peek().is_some();
        let is_as_it_is = match (key.default, defaults.get(key.path)) {
            _ if cfg!(windows) && key.path == "state.path" => true,
            (None, _) => true,
            (Some(_), Some(shown)) => given.any(|value| value == *shown),
            (Some(written), None) => given.any(|value| value.contains(written)),
        };
        if !is_there || !is_as_it_is {
            lacking.push(format!("{}: #{} = {}", key.path, key.name(), key.default.unwrap_or("…")));
        }
    }
    assert!(lacking.is_empty(), "what config/docsyncd.toml does not say in these words: {lacking:#?}");
}

#[test]
fn the_examples_load_without_a_warning() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("config").join("examples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let loaded = SCHEMA.load(&path, Vec::<(String, String)>::new()).unwrap_or_else(|error| panic!("{error}"));
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if cfg!(windows) || !name.contains("windows") {
            assert_eq!(loaded.warnings, Vec::<String>::new());
        }
    }
}

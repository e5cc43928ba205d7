use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::domain::state::EVENTS as OF_STATES;
use crate::ledger::history::Action;

fn sources(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") && !path.ends_with("words") {
            sources(&path, all);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            all.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// The quoted words right after this text.
fn words_after<'a>(source: &'a str, text: &'a str) -> impl Iterator<Item = &'a str> {
    source.match_indices(text).filter_map(move |(at, _)| {
        let word = source[at + text.len()..].split('"').next()?;
        (!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')).then_some(word)
    })
}

#[test]
fn every_event_of_the_log_and_the_history_is_known() {
    let (mut all, mut pipeline) = (String::new(), String::new());
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    sources(&src, &mut all);
    sources(&src.join("pipeline"), &mut pipeline);
    let mut used: BTreeSet<&str> = words_after(&all, "event = \"").collect();
    // The lines of transitions.
    for level in [".info(\"", ".warn(\"", ".error(\"", ".debug(\""] {
        used.extend(words_after(&pipeline, level));
    }
    used.extend(OF_STATES.iter().map(|event| event.as_str()));
    used.extend([Action::Retry, Action::Assign, Action::Forget, Action::ConfigurationChanged].map(Action::as_str));
    assert!(used.len() > 80, "{used:?}");
    let unknown: Vec<&str> = used.into_iter().filter(|event| Word::event(event).is_none()).collect();
    assert!(unknown.is_empty(), "add to EVENTS: {unknown:?}");
}

#[test]
fn nothing_but_known_words_numbers_and_stand_ins_can_be_said() {
    for foreign in ["Durand", "zqxlast", "", "discovered ", "DISCOVERED", "event=\"paused\""] {
        assert_eq!((Word::event(foreign), Word::other(foreign)), (None, None), "{foreign}");
    }
    let mut names = Names::new(false);
    let uuid = "3f0c9f0e-5a43-4c1e-9d53-6f3f2f0f9a11";
    assert_eq!(names.document(&uuid.to_uppercase()).to_string(), uuid);
    assert_eq!(
        names.document("00000000-0000-0000-0000-00000000000a").to_string(),
        "00000000-0000-0000-0000-00000000000a"
    );
    for name in ["Durand-Zoe", "3f0c9f0e5a434c1e9d536f3f2f0f9a11", "3f0c9f0e-5a43-4c1e-9d53-6f3f2f0f9az1"] {
        assert!(names.document(name).to_string().starts_with("document-"), "{name}");
    }
    assert_eq!(Names::new(true).document(uuid).to_string(), "document-1");
    assert_eq!(names.host("https://PMS.practice.test:8443/x").to_string(), "host-1");
    assert_eq!(names.host("pms.practice.test").to_string(), "host-1", "the same host");
    assert_eq!(names.scope("destination:pms").unwrap().to_string(), "destination:destination-1");
    assert!(names.scope("patient:Durand").is_none());
    assert!(Version::parse("1.2.3").is_some() && Version::parse("1.2.Durand").is_none());
}

#[test]
fn a_reason_is_its_code_and_a_word_that_is_not_docsyncds_is_another() {
    let said = |code: &str| serde_json::to_value(Why::parse(code)).unwrap();
    assert_eq!(said("download doubtful not_a_pdf"), "download doubtful not_a_pdf");
    assert_eq!(said("deliver down status_503"), "deliver down status_503");
    assert_eq!(said("deliver permanent durand"), "deliver permanent other");
    assert_eq!(said("durand"), serde_json::Value::Null);
}

use super::*;
use crate::domain::health::{Ended, Rules, assess, judge};
use crate::formats::language::LANGUAGES;

fn well() -> Facts {
    let now = now();
    Facts { now, running: true, today: 21, last_done_at: Some(now), ..Facts::default() }
}

fn told_in(language: Language, facts: &Facts) -> String {
    let now = jiff::Timestamp::from_millisecond(facts.now).unwrap().to_zoned(jiff::tz::TimeZone::UTC);
    let health = assess(facts, &Rules::default());
    line(&judge(facts, &health), &health.headline, facts, language, &now)
}

#[test]
fn the_words_are_those_of_the_head_without_the_colour_and_the_full_stop() {
    let mut facts = well();
    let at = |language: Language| {
        let now = jiff::Timestamp::from_millisecond(facts.now).unwrap().to_zoned(jiff::tz::TimeZone::UTC);
        language.at(&now, &now)
    };
    let said = LANGUAGES.map(|language| told_in(language, &facts));
    let [en, fr, de] = LANGUAGES.map(at);
    assert_eq!(
        said,
        [
            format!("21 letters today, the last {en}"),
            format!("21 courriers aujourd'hui, le dernier {fr}"),
            format!("heute 21 Briefe, der letzte {de}")
        ]
    );
    facts.today = 0;
    facts.last_done_at = None;
    assert_eq!(told_in(Language::English, &facts), "no letters today so far");
    facts.failed = Ended { count: 2, first: Some(facts.now), last: Some(facts.now) };
    assert_eq!(told_in(Language::English, &facts), "no letters today so far", "somebody has looked at them");
    facts.failed_unseen = 1;
    facts.unmatched = Ended { count: 1, first: Some(facts.now), last: Some(facts.now) };
    facts.clock_since = Some(facts.now);
    let said = LANGUAGES.map(|language| told_in(language, &facts));
    assert!(said[0].starts_with("2 letters could not be filed") && said[0].ends_with(", and 2 more"), "{said:?}");
    assert!(said[1].ends_with(", et 2 de plus") && said[2].ends_with(", und 2 weitere"), "{said:?}");
    facts.running = false;
    assert!(told_in(Language::English, &facts).starts_with("docsyncd is not running: no letters are filed"));
    assert!(told_in(Language::English, &facts).ends_with(", and 3 more"));
    facts.moved_at = Some(facts.now);
    let said = LANGUAGES.map(|language| told_in(language, &facts));
    assert!(
        said[0].starts_with("The ledger moved to another computer ") && said[0].ends_with(", and 3 more"),
        "{said:?}"
    );
    assert!(said[1].starts_with("Le registre a déménagé") && said[2].contains("umgezogen"), "{said:?}");
}

/// Errors of a configuration or a ledger are told by their kind, because the rest may contain a path.
#[test]
fn no_path_stands_in_the_line() {
    let refused = Some((Some(well().now), "/srv/praxis/docsyncd.toml, line 3: `path` is /srv/Meier".to_owned()));
    let said = told_in(Language::English, &Facts { refused, ..well() });
    assert_eq!(said, "the configuration cannot be used (docsyncd check says why)");
    let path = std::path::PathBuf::from("/srv/Meier/ledger.sqlite3");
    for (error, key) in [
        (LedgerError::Busy("database is locked".to_owned()), "health-locked"),
        (LedgerError::Damaged { path: path.clone(), what: "/srv/Meier".to_owned() }, "health-damaged"),
        (LedgerError::Foreign(path.clone()), "health-foreign"),
        (LedgerError::Newer { path: path.clone(), found: 9, newest: 8 }, "health-foreign"),
        (LedgerError::Access { path, what: "no right".to_owned() }, "health-no-right"),
        (LedgerError::Sqlite("disk I/O error".to_owned()), "health-unreadable"),
    ] {
        assert_eq!(unreadable(&error), key);
        assert!(LANGUAGES.iter().all(|language| language.has(key) && !language.text(key).contains('/')), "{key}");
    }
}

/// A folder cannot be opened as a ledger, just as one of another user.
#[test]
fn who_may_not_look_hears_that_and_nothing_that_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[api]\nbase_url = 'http://127.0.0.1'\n[accounts.main]\napi_key_file = 'none'\n\
                [destinations.pms]\ntype = 'folder'\npath = 'none'\n[state]\npath = 'ledger'\n";
    std::fs::create_dir(folder.path().join("ledger")).unwrap();
    let none = Vec::<(String, String)>::new();
    let loaded = SCHEMA.load_text(&folder.path().join("a.toml"), text, none, &[]).unwrap();
    let (status, numbers, error) = at_once(&loaded, None, Duration::from_secs(9), Language::English);
    assert!(matches!(error, Some(LedgerError::Access { .. })) && numbers.is_none() && !status.not_configured);
    assert_eq!(status.headline, "The ledger cannot be read: this user may not, or its disk is away.");
    assert_eq!((status.causes, status.problems.len(), status.level), (vec!["ledger"], 0, Level::Unknown));
}

#[test]
fn a_refused_configuration_needs_a_person_at_once() {
    let loaded = SCHEMA.stand_in(Path::new("a.toml"), Some("/none/ledger".into()), "", "wrong".to_owned()).unwrap();
    let status = told(&loaded, (Summary::of_nothing(), well()), Vec::new(), true, Language::English);
    assert!(status.problems[0].needs_person && status.light == "needs_person");
    assert_eq!((status.causes, status.level), (vec!["configuration"], Level::Warning));
}

#[test]
fn the_line_has_the_form_of_nagios_whatever_stands_in_its_text() {
    let numbers = Some(Numbers { waiting: 3, failed: 0, needs_person: 1, oldest: 720 });
    let text = "21 letters today, the last at 20:39".to_owned();
    assert_eq!(
        shown(&InstanceHealth { level: Level::Ok, text, numbers }),
        "OK - 21 letters today, the last at 20:39 | waiting=3;;; failed=0;;; needs_person=1;;; oldest=720s;;;\n"
    );
    let line = shown(&InstanceHealth::unknown("a|b\nc".to_owned()));
    assert_eq!(line, "UNKNOWN - a/b c | waiting=U;;; failed=U;;; needs_person=U;;; oldest=U;;;\n");
}

#[test]
fn the_first_of_the_worst_instances_decides_and_the_numbers_are_those_of_all() {
    let one = |level, waiting, oldest| InstanceHealth {
        level,
        text: "so".to_owned(),
        numbers: Some(Numbers { waiting, failed: 1, needs_person: 0, oldest }),
    };
    let spoken = Spoken { lang: Some(Language::English) };
    let all = |known: Vec<(&str, InstanceHealth)>| {
        let known = worst(known.into_iter().map(|(name, known)| (name.to_owned(), known)).collect(), spoken);
        (known.level, known.text, known.numbers.map(|all| (all.waiting, all.failed, all.oldest)))
    };
    let unknown = || InstanceHealth::unknown("why".to_owned());
    assert_eq!(
        all(vec![("a", one(Level::Ok, 1, 9)), ("b", one(Level::Critical, 2, 8)), ("c", unknown())]),
        (Level::Critical, "b: so".to_owned(), Some((3, 2, 9)))
    );
    assert_eq!(
        all(vec![("a", one(Level::Warning, 1, 1)), ("b", unknown()), ("c", unknown())]),
        (Level::Unknown, "b: why".to_owned(), Some((1, 1, 1)))
    );
    assert_eq!(all(Vec::new()), (Level::Unknown, "not configured: there is no configuration".to_owned(), None));
}

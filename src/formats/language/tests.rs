use std::collections::{BTreeMap, BTreeSet};

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
use jiff::Zoned;

use super::*;
use crate::domain::health::{CAUSES, Cause, Disks, Headline, Problem};

/// The variables of each key.
fn keys(language: Language) -> BTreeMap<String, BTreeSet<String>> {
    let resource = fluent_syntax::parser::parse(language.source()).map_err(|(_, errors)| errors).unwrap();
    let mut keys = BTreeMap::new();
    for entry in &resource.body {
        if let Entry::Message(message) = entry {
            let mut variables = BTreeSet::new();
            of_pattern(message.value.as_ref().unwrap(), &mut variables);
            let twice = keys.insert(message.id.name.to_owned(), variables);
            assert_eq!(twice, None, "{} stands twice in {}", message.id.name, language.as_str());
        }
    }
    keys
}

fn of_pattern(pattern: &Pattern<&str>, variables: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        let PatternElement::Placeable { expression } = element else { continue };
        match expression {
            Expression::Inline(inline) => of_inline(inline, variables),
            Expression::Select { selector, variants } => {
                of_inline(selector, variables);
                variants.iter().for_each(|variant| of_pattern(&variant.value, variables));
            }
        }
    }
}

fn of_inline(inline: &InlineExpression<&str>, variables: &mut BTreeSet<String>) {
    match inline {
        InlineExpression::VariableReference { id } => drop(variables.insert(id.name.to_owned())),
        InlineExpression::Placeable { expression } => match &**expression {
            Expression::Inline(inline) => of_inline(inline, variables),
            Expression::Select { .. } => panic!("a selection inside of a selection"),
        },
        // The name of a button or of a part of the page is its own text.
        InlineExpression::MessageReference { id, attribute: None } => {
            LANGUAGES.iter().for_each(|language| assert!(language.has(id.name), "{}", id.name));
        }
        InlineExpression::StringLiteral { .. } | InlineExpression::NumberLiteral { .. } => {}
        other => panic!("not used so far: {other:?}"),
    }
}

/// The page has a button for each of these.
#[test]
fn no_text_of_the_page_names_a_command_that_the_page_can_do_itself() {
    let is_of_page = |key: &str| {
        ["page", "letter", "do", "why", "problem", "over", "light", "reason"].contains(&key.split('-').next().unwrap())
    };
    for language in LANGUAGES {
        let mut key = "";
        for line in language.source().lines() {
            if let Some((begun, _)) = line.split_once(" = ").filter(|(begun, _)| !begun.contains([' ', '['])) {
                key = begun;
            }
            for command in ["assign", "retry", "poll", "reconcile"] {
                let is_named = line.contains(&format!("docsyncd {command}"));
                assert!(!is_of_page(key) || !is_named, "{} {key}: {line}", language.as_str());
            }
        }
    }
}

#[test]
fn every_language_has_every_key_with_the_same_variables() {
    let [english, french, german] = LANGUAGES.map(keys);
    assert!(english.len() > 80, "{}", english.len());
    // A number may be written out in one language ("1 letter") and inserted in another. A selector counts as used.
    assert_eq!(english, french);
    assert_eq!(english, german);
}

/// Every key in the sources exists, and every existing key is used.
#[test]
fn every_key_that_is_used_is_there() {
    let known = keys(Language::English);
    for cause in CAUSES {
        let first = match cause {
            Cause::Failed
            | Cause::Unreported
            | Cause::Unconfirmed
            | Cause::PatientUnknown
            | Cause::NotTaken
            | Cause::NotReplaced
            | Cause::NotAgreeing
            | Cause::NotConfigured
            | Cause::Quiet => "problem",
            _ => "why",
        };
        for key in [first, "do", "over"].map(|word| format!("{word}-{}", cause.as_str())) {
            assert!(known.contains_key(&key), "{key}");
        }
    }
    let causes: BTreeSet<&str> = CAUSES.iter().map(|cause| cause.as_str()).collect();
    for key in known.keys() {
        let of_cause =
            ["why-", "do-", "it-", "over-", "problem-", "subject-"].iter().find_map(|start| key.strip_prefix(start));
        let is_known = |cause: &str| causes.contains(cause) || key == "subject-waiting";
        assert!(of_cause.is_none_or(is_known), "{key} is of no cause");
    }
    assert_eq!(Language::French.text("no-such-key"), "no-such-key");
}

#[test]
fn a_mistyped_name_in_the_settings_is_said_with_the_one_that_is_meant() {
    let field = "a.toml, line 16: `destinations.pms.file_name` is not a template that works: line 1: there is no field";
    for (what, german, french) in [
        (
            format!("{field} `patient.nummer`: did you mean `patient.number`?; variables stand in double braces"),
            "Zeile 16, destinations.pms.file_name: Das Feld patient.nummer gibt es nicht, gemeint ist vielleicht patient.number",
            "ligne 16, destinations.pms.file_name\u{a0}: le champ patient.nummer n'existe pas, peut-être patient.number",
        ),
        (
            format!("{field} `patient.nom`: `patient` has uuid, firstName; variables stand in double braces"),
            "Zeile 16, destinations.pms.file_name: Das Feld patient.nom gibt es nicht",
            "ligne 16, destinations.pms.file_name\u{a0}: le champ patient.nom n'existe pas",
        ),
        (
            "a.toml, line 23: unknown key `api.base_ulr`; the nearest known key is `api.base_url`".to_owned(),
            "Zeile 23: Die Einstellung api.base_ulr gibt es nicht, gemeint ist vielleicht api.base_url",
            "ligne 23\u{a0}: le réglage api.base_ulr n'existe pas, peut-être api.base_url",
        ),
        (
            "a.toml, line 3: `api.timeout` is not a duration; write it as in \"30s\"".to_owned(),
            "Zeile 3, api.timeout",
            "ligne 3, api.timeout",
        ),
    ] {
        assert_eq!(
            (Language::German.mistake(&what).as_str(), Language::French.mistake(&what).as_str()),
            (german, french)
        );
    }
}

fn at(text: &str) -> Zoned {
    format!("{text}[Europe/Paris]").parse().unwrap()
}

fn millis(text: &str) -> i64 {
    at(text).timestamp().as_millisecond()
}

const NOW: &str = "2026-11-21T15:00:00+01:00";

fn problem(cause: Cause, name: &str, count: u64, since: &str) -> Problem {
    Problem {
        cause,
        name: name.to_owned(),
        count,
        since: Some(millis(since)),
        latest: None,
        needs_person: true,
        is_red: true,
    }
}

#[test]
fn plurals_are_those_of_the_language() {
    let letters =
        |language: Language| [0, 1, 2].map(|count| language.fill("letters", &[("count", Value::Count(count))]));
    assert_eq!(letters(Language::English), ["no letters", "1 letter", "2 letters"]);
    assert_eq!(letters(Language::French), ["aucun courrier", "1 courrier", "2 courriers"]);
    assert_eq!(letters(Language::German), ["kein Brief", "1 Brief", "2 Briefe"]);
    // The rule itself, without a written-out number: French 0 is singular.
    let others = |language: Language| [0, 1, 2].map(|count| language.fill("others", &[("count", Value::Count(count))]));
    assert_eq!(
        others(Language::French),
        ["Il y a 0 autre problème.", "Il y a 1 autre problème.", "Il y a 2 autres problèmes."]
    );
    assert_eq!(others(Language::English)[0], "There are 0 more problems.");
}

#[test]
fn the_first_sentence_says_how_it_is_in_every_language() {
    let each = |headline: &Headline| LANGUAGES.map(|language| language.headline(headline, &at(NOW)));
    let last = Some(millis("2026-11-21T14:05:00+01:00"));
    assert_eq!(
        each(&Headline::Well { today: 12, open: 0, last }),
        [
            "All is well: 12 letters today, the last at 14:05.",
            "Tout va bien\u{a0}: 12 courriers aujourd'hui, le dernier à 14:05.",
            "Alles in Ordnung: heute 12 Briefe, der letzte um 14:05\u{a0}Uhr."
        ]
    );
    assert_eq!(
        each(&Headline::Well { today: 1, open: 2, last }),
        [
            "All is well: 1 letter today, at 14:05. 2 more are on their way.",
            "Tout va bien\u{a0}: 1 courrier aujourd'hui, à 14:05. 2 autres sont en route.",
            "Alles in Ordnung: heute 1 Brief, um 14:05\u{a0}Uhr. 2 weitere sind unterwegs."
        ]
    );
    let yesterday = Some(millis("2026-11-20T09:00:00+01:00"));
    assert_eq!(
        each(&Headline::Well { today: 0, open: 0, last: yesterday }),
        [
            "All is well: no letters today so far, the last on 20 November at 09:00.",
            "Tout va bien\u{a0}: pas encore de courrier aujourd'hui, le dernier est arrivé le 20 novembre à 09:00.",
            "Alles in Ordnung: heute noch kein Brief, der letzte kam am 20. November um 09:00\u{a0}Uhr."
        ]
    );
    let wrong = problem(Cause::Destination, "pms", 3, "2026-11-21T10:12:00+01:00");
    assert_eq!(
        each(&Headline::Wrong { problem: wrong, others: 1 }),
        [
            "3 letters wait since 10:12: the destination pms cannot be reached. There is one more problem.",
            "3 courriers attendent depuis 10:12\u{a0}: la destination pms est inaccessible. Il y a 1 autre problème.",
            "3 Briefe warten seit 10:12\u{a0}Uhr: Das Ziel pms ist nicht erreichbar. Es gibt noch ein weiteres Problem."
        ]
    );
    assert_eq!(
        each(&Headline::NotRunning { last: Some(millis("2025-11-20T09:00:00+01:00")) }),
        [
            "docsyncd is not running: no letters are filed. The last one came on 20 November 2025 at 09:00. Start the service.",
            "docsyncd est arrêté\u{a0}: aucun courrier n'est classé. Le dernier est arrivé le 20 novembre 2025 à 09:00. Démarrez le service.",
            "docsyncd läuft nicht: Es werden keine Briefe abgelegt. Der letzte kam am 20. November 2025 um 09:00\u{a0}Uhr. Starten Sie den Dienst."
        ]
    );
}

#[test]
fn dates_are_written_as_each_language_writes_them() {
    let born = jiff::civil::date(1991, 4, 9);
    assert_eq!(LANGUAGES.map(|language| language.short_day(born)), ["9 Apr 1991", "09/04/1991", "09.04.1991"]);
}

#[test]
fn that_no_letters_come_is_said_with_what_is_usual() {
    let quiet = |count| {
        let quiet = problem(Cause::Quiet, "", count, "2026-11-16T16:20:00+01:00");
        LANGUAGES.map(|language| language.problem(&quiet, &at(NOW)))
    };
    assert_eq!(
        quiet(9),
        [
            "docsyncd has found no letter since 16 November, 16:20; usually 9 a day.",
            "Aucun courrier depuis le 16 novembre à 16:20\u{a0}; d'habitude 9 par jour.",
            "Kein Brief seit dem 16. November, 16:20\u{a0}Uhr; sonst 9 am Tag."
        ]
    );
    assert_eq!(quiet(0)[2], "Kein Brief seit dem 16. November, 16:20\u{a0}Uhr.");
}

#[test]
fn of_a_list_that_is_refused_the_row_is_said_and_what_letters_go_by() {
    let of = |word: &str| {
        let problem = problem(Cause::PatientsFile, word, 0, "2026-11-21T10:12:00+01:00");
        let group = groups([&problem]).remove(0);
        LANGUAGES.map(|language| {
            (language.problem(&problem, &at(NOW)), language.subject(&group), language.advice(&group, &Disks::default()))
        })
    };
    let [(english, subject, goes_on), french, (german, ..)] = of("number 17 old");
    assert_eq!(
        english,
        "Since 10:12: the practice's list of patients cannot be used (row 17: the patient's number is spoilt)."
    );
    assert_eq!(subject, "The practice's list of patients cannot be used (row 17: the patient's number is spoilt)");
    assert!(goes_on.contains("uses the previous list") && !goes_on.contains("need a patient's number"), "{goes_on}");
    assert!(french.2.contains("la liste précédente") && german.contains("Zeile 17"), "{french:?} {german}");
    assert!(of("number 17 none")[0].2.contains("need a patient's number wait"));
    // An older daemon gives no word.
    assert!(of("")[0].0.contains("(it cannot be read)"));
}

#[test]
fn problems_of_one_cause_are_one_sentence() {
    let accounts: Vec<Problem> =
        (1..=7).map(|n| problem(Cause::SignIn, &format!("a{n}"), n, "2026-11-21T10:12:00+01:00")).collect();
    let groups = groups(&accounts);
    assert_eq!(groups.len(), 1);
    assert_eq!(
        Language::English.group(&groups[0], &at(NOW)),
        "28 letters wait since 10:12: 7 accounts have to sign in again (a1, a2, a3, a4, a5 and 2 more)."
    );
    assert_eq!(
        Language::French.over(&groups[0]),
        "7 comptes sont de nouveau connectés (a1, a2, a3, a4, a5 et 2 de plus)."
    );
}

#[test]
fn a_full_disk_is_told_with_the_folder_that_lies_on_it() {
    let folders = BTreeMap::from([("pms".to_owned(), "/srv/import".to_owned())]);
    let disks = Disks { ledger: "/var/lib/docsyncd".to_owned(), folders, ..Disks::default() };
    let advice = |cause: Cause, names: &[&str]| {
        let names = names.iter().map(ToString::to_string).collect();
        let group = Group { cause, names, count: 1, since: None };
        LANGUAGES.map(|language| language.advice(&group, &disks))
    };
    for cause in [Cause::Ledger, Cause::Disk] {
        for text in advice(cause, &[]) {
            assert!(text.contains("/var/lib/docsyncd"), "{text}");
        }
        let group = Group { cause, names: Vec::new(), count: 1, since: None };
        assert!(LANGUAGES.iter().all(|one| one.commands(&group, &disks).unwrap().contains("/var/lib/docsyncd")));
    }
    assert_eq!(
        advice(Cause::DestinationFull, &["pms"])[0],
        "Free space on the disk that holds /srv/import, then press “It is mended, try again”. Nothing is lost: what \
         waits is then filed."
    );
    let [english, french, german] = advice(Cause::DestinationFull, &["bucket", "pms"]);
    assert!(english.contains("/srv/import") && french.contains("contient /srv/import, puis"), "{english} {french}");
    assert!(german.contains("auf dem /srv/import liegt, und"), "{german}");
    assert!(advice(Cause::DestinationFull, &["bucket"])[0].starts_with("Free space there, then press"));
}

#[test]
fn every_problem_is_a_whole_sentence_with_nothing_left_open() {
    for language in LANGUAGES {
        for cause in CAUSES {
            for (count, since) in [(0, None), (1, Some(0)), (5, Some(millis(NOW)))] {
                let problem = Problem { since, ..problem(cause, "pms", count, NOW) };
                let sentence = language.problem(&problem, &at(NOW));
                let group = &groups([&problem])[0];
                let over = language.over(group);
                let disks = Disks { ledger: "/var/lib/docsyncd".to_owned(), ..Disks::default() };
                for text in [&sentence, &over, &language.advice(group, &disks)] {
                    let first = text.chars().next().unwrap();
                    assert!(!first.is_lowercase() || text.starts_with("docsyncd"), "{text}");
                    assert!(!text.contains('{') && !text.contains("  ") && !text.contains("why-"), "{text}");
                }
                assert!(sentence.ends_with('.') && over.ends_with('.'), "{sentence} {over}");
            }
        }
    }
}

#[test]
fn a_language_is_chosen_by_what_a_browser_wants_most() {
    for (header, wanted) in [
        ("fr-FR,fr;q=0.9,en;q=0.8", Some(Language::French)),
        ("en-GB, fr;q=0.5", Some(Language::English)),
        ("es, en;q=0.3, fr;q=0.4", Some(Language::French)),
        ("de-AT,de;q=0.9,en;q=0.8", Some(Language::German)),
        ("fr;q=0, en;q=0.1", Some(Language::English)),
        ("en; q=0.5, fr; q=0.9", Some(Language::French)),
        ("fr ;q=0.4,en ; Q = 0.6", Some(Language::English)),
        ("fr;q=NaN, en;level=1", None),
        ("es", None),
        ("", None),
        ("*;q=x", None),
    ] {
        assert_eq!(Language::accepted(header), wanted, "{header}");
    }
    assert_eq!(Language::parse("fr_CA.UTF-8"), Some(Language::French));
}

/// Every text of setup in the sources exists, and every existing one is used.
#[test]
fn every_text_of_setup_is_there_and_shown() {
    fn sources(folder: &std::path::Path, texts: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => sources(&path, texts),
                false => texts.push_str(&std::fs::read_to_string(path).unwrap()),
            }
        }
    }
    let commands = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/commands");
    let mut texts = String::new();
    sources(&commands.join("setup"), &mut texts);
    let named: BTreeSet<&str> = texts.split('"').filter(|word| word.starts_with("setup-")).collect();
    let known = keys(Language::English);
    let known: BTreeSet<&str> = known.keys().map(String::as_str).filter(|key| key.starts_with("setup-")).collect();
    // Named by the chosen value, or the help of a named text.
    let is_made = |key: &str| {
        ["choice", "column", "more", "part", "pasted", "remove"]
            .iter()
            .any(|of| key.starts_with(&format!("setup-{of}-")))
    };
    let is_shown = |key: &&str| named.contains(key.strip_suffix("-help").unwrap_or(key)) || is_made(key);
    let missing: Vec<_> = named.iter().filter(|key| !key.contains('{') && !known.contains(**key)).collect();
    let odd: Vec<_> = known.iter().filter(|key| !is_shown(key)).collect();
    assert!(missing.is_empty() && odd.is_empty() && known.len() > 150, "{missing:?} {odd:?}");
}

/// No line begins with a sign, on a phone or in a mail.
#[test]
fn french_signs_stay_with_their_words() {
    let presets: Vec<String> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/config/presets"))
        .unwrap()
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    let of_presets = presets.iter().flat_map(|text| text.lines()).filter_map(|line| line.split_once(".fr = \""));
    let of_presets = of_presets.map(|(_, text)| text.trim_end_matches('"'));
    let lines = Language::French.source().lines().filter(|line| !line.starts_with('#')).chain(of_presets);
    let (mut signs, mut wrong) = (0, Vec::new());
    for line in lines {
        let chars: Vec<char> = line.chars().collect();
        for (at, pair) in chars.windows(2).enumerate() {
            let ends = chars.get(at + 2).is_none_or(|after| [' ', ')', '}'].contains(after));
            let is_sign = matches!(pair, [_, ':' | ';' | '?' | '!' | '»'] if ends) || pair.first() == Some(&'«');
            if is_sign {
                signs += 1;
                if !pair.contains(&'\u{a0}') {
                    wrong.push(line);
                }
            }
        }
    }
    assert!(signs > 80, "{signs}");
    assert_eq!(wrong, [""; 0]);
}

use super::*;
use crate::domain::health::CAUSES;
use crate::formats::language::LANGUAGES;

const AT: Millis = 1_795_253_400_000;
const SINCE: Millis = AT - 90 * 60 * 1000;

fn head(language: Language) -> Letterhead {
    let practice = PracticeConfig { contact: Some("Müller IT, 030 1234".into()), ..PracticeConfig::default() };
    let disks = Disks { ledger: "/var/lib/docsyncd".into(), ..Disks::default() };
    Letterhead { language, practice, disks, computer: "vm".into(), page: Page::Command, file: None }
}

fn group(cause: Cause, names: &[&str], count: u64) -> Group {
    Group { cause, names: names.iter().map(ToString::to_string).collect(), count, since: Some(SINCE) }
}

fn message(head: &Letterhead, kind: AlertKind, group: &Group) -> Message {
    Message::new("msg_1".into(), &Content::new(kind, group, AT), head)
}

/// A message as text. Its times depend on this computer's time zone, so TIME stands for them.
fn read(message: &Message, head: &Letterhead) -> String {
    let (since, now) = (zoned(SINCE), zoned(AT));
    let text = format!("{}\n\n{}\n", message.subject, message.body());
    let [since, at] = [head.language.since(&since, &now), head.language.at(&since, &now)];
    let capital = since.replacen(['s', 'd'], if since.starts_with('s') { "S" } else { "D" }, 1);
    text.replace(&since, "TIME").replace(&capital, "TIME").replace(&at, "TIME")
}

#[test]
fn the_subject_says_what_is_the_matter_and_how_many_and_names_no_computer() {
    let subjects = |cause, names: &[&str], count| {
        LANGUAGES.map(|language| message(&head(language), AlertKind::Problem, &group(cause, names, count)).subject)
    };
    assert_eq!(
        subjects(Cause::PatientUnknown, &[], 3),
        [
            "3 letters wait: which patient?",
            "3 courriers attendent\u{a0}: quel patient\u{a0}?",
            "3 Briefe warten: Welcher Patient?"
        ]
    );
    assert_eq!(
        subjects(Cause::PatientUnknown, &[], 1),
        [
            "1 letter waits: which patient?",
            "1 courrier attend\u{a0}: quel patient\u{a0}?",
            "1 Brief wartet: Welcher Patient?"
        ]
    );
    assert_eq!(
        subjects(Cause::Destination, &["pms"], 2),
        [
            "2 letters wait: the destination pms cannot be reached",
            "2 courriers attendent\u{a0}: la destination pms est inaccessible",
            "2 Briefe warten: Das Ziel pms ist nicht erreichbar"
        ]
    );
    for language in LANGUAGES {
        for cause in CAUSES {
            for kind in [AlertKind::Problem, AlertKind::Reminder, AlertKind::Over] {
                let subject = message(&head(language), kind, &group(cause, &["pms"], 4)).subject;
                let is_bare = !subject.contains("vm") && !subject.contains('{') && !subject.ends_with('.');
                assert!(is_bare && !subject.is_empty(), "{cause:?}: {subject}");
            }
        }
    }
    let named = PracticeConfig { name: Some("Cabinet A".into()), ..PracticeConfig::default() };
    let named = Letterhead { practice: named, ..head(Language::French) };
    let message = message(&named, AlertKind::Reminder, &group(Cause::Failed, &[], 1));
    assert_eq!(message.subject, "Toujours\u{a0}: 1 courrier n'a pas pu être classé (Cabinet A)");
    assert_eq!((message.contact, message.practice.as_deref()), (None, Some("Cabinet A")));
}

#[test]
fn the_body_says_what_then_what_to_do_then_where_whom_to_call_and_last_commands() {
    for language in LANGUAGES {
        for cause in CAUSES {
            let message = message(&head(language), AlertKind::Problem, &group(cause, &["pms"], 4));
            let [_, advice, page, contact, commands] = message.paragraphs().collect::<Vec<_>>()[..] else {
                panic!("{message:?}")
            };
            assert!(page.contains("docsyncd open") && contact.contains("Müller IT, 030 1234"), "{message:?}");
            assert!(commands.contains("vm") && commands.contains("IT") != (language == Language::French));
            // What names buttons names no commands: those come last.
            for command in ["check", "list", "retry", "assign", "status", "login", "reconcile", "poll"] {
                assert!(!advice.contains(&format!("docsyncd {command}")), "{advice}");
            }
        }
    }
}

#[test]
fn the_page_is_where_the_reader_can_reach_it() {
    let page = |page: Page, language| {
        let head = Letterhead { page, ..head(language) };
        message(&head, AlertKind::Problem, &group(Cause::Failed, &[], 1)).page.unwrap()
    };
    let address = || Page::At("http://vm:8977/".to_owned());
    assert_eq!(page(address(), Language::English), "The page: http://vm:8977/");
    assert_eq!(page(Page::Menu, Language::German), "Die Seite: auf dem Computer vm, im Startmenü: docsyncd");
    assert_eq!(
        page(Page::Command, Language::French),
        "La page\u{a0}: sur l'ordinateur vm, avec la commande\u{a0}: docsyncd open"
    );
    assert!(page(Page::Off, Language::English).contains("no page"));
}

#[test]
fn commands_for_a_configuration_elsewhere_say_so() {
    let head = Letterhead { file: Some("/srv/north.toml".into()), ..head(Language::German) };
    let commands = message(&head, AlertKind::Problem, &group(Cause::Service, &["main"], 1)).commands.unwrap();
    assert!(commands.ends_with("(Zu jedem Befehl gehört: --config /srv/north.toml)"), "{commands}");
}

#[test]
fn a_mistake_in_the_settings_is_a_place_for_the_reader_and_english_for_it() {
    for (what, place) in [
        (
            "/etc/docsyncd.toml, line 482: this is not valid TOML, column 2: duplicate key; keep one",
            "Zeile 482, Spalte 2",
        ),
        ("a.toml, line 7: `destinations.pms.file_name`: no field; write it", "Zeile 7, destinations.pms.file_name"),
        ("a.toml: `api.base_url` is missing; write it", "api.base_url"),
        ("a.toml: the file is larger than 9 bytes", "die IT sieht, welcher"),
    ] {
        let group = group(Cause::Configuration, &[what], 0);
        let told = message(&head(Language::German), AlertKind::Problem, &group);
        assert!(told.text.contains(&format!("({place})")) && !told.text.contains("TOML"), "{told:?}");
        assert!(told.commands.unwrap().contains(what), "{what}");
        assert!(message(&head(Language::English), AlertKind::Problem, &group).text.contains(what));
    }
}

#[test]
fn what_is_over_says_that_it_is_well_and_whether_all_is() {
    let over = |others: Option<u64>| {
        let content = Content { others, ..Content::new(AlertKind::Over, &group(Cause::NotTaken, &["pms"], 3), AT) };
        let head = head(Language::English);
        let message = Message::new("msg_1".into(), &content, &head);
        assert_eq!(message.paragraphs().count(), 1, "there is nothing to do: {message:?}");
        read(&message, &head)
    };
    let well = "The software has taken every letter at pms. It began TIME.";
    let inner = "the software has taken every letter at pms";
    assert_eq!(over(Some(0)), format!("All is well again: {inner}\n\n{well} All is well again.\n"));
    assert_eq!(over(Some(1)), format!("Solved: {inner}\n\n{well} There is one more problem.\n"));
    assert_eq!(over(None), format!("Solved: {inner}\n\n{well}\n"));
    let left = [group(Cause::PatientUnknown, &[], 2), group(Cause::Destination, &["pms"], 1)];
    let content = Content::over(&group(Cause::NotTaken, &["pms"], 3), AT, 2, &left);
    let said = |language| {
        let head = head(language);
        let said = read(&Message::new("msg_1".into(), &content, &head), &head);
        said.lines().last().unwrap().split_once("TIME").unwrap().1.to_owned()
    };
    assert_eq!(
        LANGUAGES.map(said),
        [
            ". Still open: 2 letters wait: which patient? 1 letter waits: the destination pms cannot be reached.",
            ". Reste à régler\u{a0}: 2 courriers attendent\u{a0}: quel patient\u{a0}? 1 courrier attend\u{a0}: la destination pms est inaccessible.",
            ". Noch offen: 2 Briefe warten: Welcher Patient? 1 Brief wartet: Das Ziel pms ist nicht erreichbar.",
        ]
    );
    // An earlier version of docsyncd wrote this message into the outbox.
    let before = r#"{"kind":"over","at":1,"cause":"failed","names":[],"documents":1,"since":null}"#;
    assert_eq!(serde_json::from_str::<Content>(before).unwrap().others, None);
}

#[test]
fn a_test_says_where_messages_come_and_whom_they_name() {
    let head = head(Language::French);
    let message = Message::new("msg_1".into(), &Content::test(AT), &head);
    assert_eq!(
        read(&message, &head),
        "docsyncd\u{a0}: un essai\n\nCeci est un essai. Vous recevrez ici les alertes de docsyncd. Il n'y a rien à faire.\n\
         La page\u{a0}: sur l'ordinateur vm, avec la commande\u{a0}: docsyncd open\n\
         Qui appeler\u{a0}: Müller IT, 030 1234\n"
    );
}

/// Every message, for one letter and for several, for a person who reviews the texts.
#[test]
fn every_message_is_captured_in_three_languages() {
    for language in LANGUAGES {
        let (head, mut all) = (head(language), String::new());
        for cause in CAUSES {
            for count in [1, 3] {
                let group = group(cause, &["pms"], count);
                let title = format!("## {}, {count}\n\n", cause.as_str());
                all.push_str(&format!("{title}{}\n", read(&message(&head, AlertKind::Problem, &group), &head)));
            }
            let over = Message::new("msg_1".into(), &Content::over(&group(cause, &["pms"], 3), AT, 0, &[]), &head);
            all.push_str(&format!("{}\n", read(&over, &head)));
        }
        insta::assert_snapshot!(format!("messages_{}", language.as_str()), all);
    }
}

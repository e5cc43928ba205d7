use super::*;
use crate::domain::failure::{Call, Code, Kind};

/// Cause, name, count, and whether it needs a person.
type Told = (&'static str, &'static str, u64, bool);

const MINUTE: Millis = 60_000;
const NOW: Millis = 100 * 24 * 60 * MINUTE;

fn well() -> Facts {
    let main = AccountFacts { polled_at: Some(NOW - MINUTE), ..account("main") };
    Facts {
        now: NOW,
        running: true,
        today: 12,
        last_done_at: Some(NOW - MINUTE),
        accounts: vec![main],
        awake_since: Some(NOW - 60 * MINUTE),
        ..Facts::default()
    }
}

fn account(name: &str) -> AccountFacts {
    AccountFacts { name: name.into(), configured: true, signs_in: true, ..AccountFacts::default() }
}

fn pause(scope: Scope, call: Call, kind: Kind, minutes: Millis, count: u64) -> PauseFacts {
    let since = NOW - minutes * MINUTE;
    PauseFacts { scope, failure: Some(Failure { call, kind }), since, probe_at: NOW + MINUTE, count }
}

fn destination(kind: Kind, minutes: Millis) -> Facts {
    Facts { pauses: vec![pause(Scope::Destination("pms".into()), Call::Deliver, kind, minutes, 3)], ..well() }
}

/// The light, and for each problem cause, name, count, and whether it needs a person.
fn told(facts: &Facts) -> (&'static str, Vec<(&'static str, String, u64, bool)>) {
    let health = assess(facts, &Rules::default());
    let problem = |problem: Problem| (problem.cause.as_str(), problem.name, problem.count, problem.needs_person);
    (health.light.as_str(), health.problems.into_iter().map(problem).collect())
}

#[test]
fn facts_have_the_light_and_the_problems_of_the_table() {
    let down = |word: &'static str| Kind::Down(Code::word(word));
    let main = || "main".to_owned();
    let with_account = |change: fn(&mut AccountFacts)| {
        let mut facts = well();
        facts.accounts.iter_mut().for_each(change);
        facts
    };
    let paused = |pauses: Vec<PauseFacts>| Facts { pauses, ..well() };
    let failed = Ended { count: 2, first: Some(NOW - 9 * MINUTE), last: Some(NOW - MINUTE) };
    let stalled = |scope, no_room| {
        let since = NOW - 20 * MINUTE;
        Facts { stalled: vec![Stalled { scope, no_room, count: 4, since }], ..well() }
    };
    let polls_fail = |facts: &mut AccountFacts| facts.poll_failing_since = Some(NOW - 5 * MINUTE);
    let polls_are_too_many = |facts: &mut AccountFacts| {
        facts.poll_failing_since = Some(NOW - 5 * MINUTE);
        facts.poll_failure = Some(Failure { call: Call::List, kind: Kind::Down(Code::Status(429)) });
    };
    let table: Vec<(&str, Facts, &str, Vec<Told>)> = vec![
        ("nothing is wrong", well(), "well", vec![]),
        ("documents on their way are no problem", Facts { open: 900, ..well() }, "well", vec![]),
        ("no daemon", Facts { running: false, ..well() }, "not_running", vec![]),
        (
            "a share is away for a moment",
            destination(down("check"), 5),
            "waiting",
            vec![("destination", "pms", 3, false)],
        ),
        ("and for long", destination(down("check"), 15), "needs_person", vec![("destination", "pms", 3, true)]),
        ("no room", destination(Kind::NoRoom, 0), "needs_person", vec![("destination-full", "pms", 3, true)]),
        ("a new host key", destination(down("host_key"), 0), "needs_person", vec![("host-key", "pms", 3, true)]),
        (
            "a password that is refused",
            destination(down("credentials"), 0),
            "needs_person",
            vec![("destination-sign-in", "pms", 3, true)],
        ),
        (
            "a program that refuses everything",
            destination(Kind::Permanent(Code::Exit(3)), 1),
            "waiting",
            vec![("destination-refuses", "pms", 3, false)],
        ),
        (
            "signed out",
            paused(vec![pause(Scope::Account(main()), Call::List, Kind::Passing(Code::word("signed_out")), 0, 1)]),
            "needs_person",
            vec![("sign-in", "main", 1, true)],
        ),
        (
            "signed out during an outage",
            paused(vec![
                pause(Scope::Account(main()), Call::List, Kind::Passing(Code::Status(401)), 0, 5),
                pause(Scope::Fetch(main()), Call::Download, down("unreachable"), 9, 5),
            ]),
            "needs_person",
            vec![("sign-in", "main", 5, true)],
        ),
        (
            "a scope is missing",
            paused(vec![pause(Scope::Account(main()), Call::List, down("scope"), 0, 0)]),
            "needs_person",
            vec![("not-allowed", "main", 0, true)],
        ),
        (
            "only the right to report is missing",
            paused(vec![pause(Scope::Report(main()), Call::Report, Kind::Down(Code::Status(403)), 0, 2)]),
            "needs_person",
            vec![("not-allowed", "main", 2, true)],
        ),
        (
            "a key's file cannot be read",
            with_account(|account| (account.signs_in, account.needs_sign_in) = (false, true)),
            "needs_person",
            vec![("api-key", "main", 0, true)],
        ),
        ("polls fail", with_account(polls_fail), "waiting", vec![("service", "main", 0, false)]),
        (
            "one outage is one problem, whoever notices it",
            Facts {
                pauses: vec![
                    pause(Scope::Fetch(main()), Call::Download, down("unreachable"), 3, 5),
                    pause(Scope::Report(main()), Call::Report, Kind::Passing(Code::Status(502)), 16, 2),
                ],
                ..with_account(polls_fail)
            },
            "needs_person",
            vec![("service", "main", 7, true)],
        ),
        (
            "a service that asks to wait, whoever is asked",
            Facts {
                pauses: vec![
                    pause(Scope::Fetch(main()), Call::Download, Kind::Down(Code::Status(429)), 3, 5),
                    pause(Scope::Report(main()), Call::Report, Kind::Passing(Code::Status(429)), 16, 2),
                ],
                ..with_account(polls_are_too_many)
            },
            "needs_person",
            vec![("service-busy", "main", 7, true)],
        ),
        (
            "the spool's disk",
            paused(vec![pause(Scope::Fetch(main()), Call::Download, down("spool"), 0, 5)]),
            "needs_person",
            vec![("disk", "main", 5, true)],
        ),
        (
            "no room in the spool for several PDFs",
            paused(vec![pause(Scope::Fetch(main()), Call::Download, Kind::NoRoom, 3, 5)]),
            "needs_person",
            vec![("disk", "main", 5, true)],
        ),
        (
            "a proxy's page instead of PDFs",
            paused(vec![pause(Scope::Fetch(main()), Call::Download, Kind::Doubtful(Code::word("not_a_pdf")), 1, 5)]),
            "waiting",
            vec![("downloads", "main", 5, false)],
        ),
        (
            "reports are refused",
            paused(vec![pause(Scope::Report(main()), Call::Report, Kind::Permanent(Code::Status(422)), 1, 5)]),
            "waiting",
            vec![("reports", "main", 5, false)],
        ),
        (
            "documents failed",
            Facts { failed: failed.clone(), unreported: Ended { count: 1, ..failed }, ..well() },
            "needs_person",
            vec![("failed", "", 2, true), ("unreported", "", 1, true)],
        ),
        (
            "single documents fail",
            stalled(Scope::Fetch(main()), false),
            "needs_person",
            vec![("stalled", "main", 4, true)],
        ),
        (
            "no room for single documents",
            stalled(Scope::Destination("pms".into()), true),
            "needs_person",
            vec![("destination-full", "pms", 4, true)],
        ),
        (
            "what is paused is not told twice",
            Facts {
                stalled: stalled(Scope::Destination("pms".into()), false).stalled,
                ..destination(down("check"), 1)
            },
            "waiting",
            vec![("destination", "pms", 3, false)],
        ),
        (
            "silence",
            with_account(|account| account.polled_at = Some(NOW - 24 * 60 * MINUTE)),
            "needs_person",
            vec![("silence", "main", 0, true)],
        ),
        (
            "a machine that has just woken up has the time for a poll",
            Facts {
                awake_since: Some(NOW - MINUTE),
                ..with_account(|account| account.polled_at = Some(NOW - 24 * 60 * MINUTE))
            },
            "well",
            vec![],
        ),
        ("the machine slept", Facts { slept_since: Some(0), ..well() }, "needs_person", vec![("slept", "", 0, true)]),
        (
            "the ledger cannot be written",
            Facts { ledger_fails_since: Some(NOW), ..destination(down("check"), 60) },
            "needs_person",
            vec![("ledger", "", 0, true), ("destination", "pms", 3, true)],
        ),
        (
            "the disk of the ledger is full",
            Facts { no_room: true, ..well() },
            "needs_person",
            vec![("disk", "", 0, true)],
        ),
        (
            "documents of an account that is gone",
            with_account(|account| (account.configured, account.open) = (false, 2)),
            "needs_person",
            vec![("not-configured", "main", 2, true)],
        ),
        (
            "an account that is gone and left nothing",
            with_account(|account| (account.configured, account.poll_failing_since) = (false, Some(0))),
            "well",
            vec![],
        ),
    ];
    for (what, facts, light, problems) in table {
        let problems =
            problems.into_iter().map(|(cause, name, count, person)| (cause, name.to_owned(), count, person)).collect();
        assert_eq!(told(&facts), (light, problems), "{what}");
    }
}

#[test]
fn what_stops_everything_comes_first_then_letters_that_failed_or_need_a_person_then_the_rest() {
    let mut facts = destination(Kind::Down(Code::word("check")), 5);
    facts.failed = Ended { count: 1, first: Some(NOW), last: Some(NOW) };
    facts.clock_since = Some(NOW - 60 * MINUTE);
    let health = assess(&facts, &Rules::default());
    assert!(matches!(
        &health.headline,
        Headline::Wrong { problem: Problem { cause: Cause::Destination, .. }, others: 2 }
    ));
    let causes = |health: &Health| health.problems.iter().map(|problem| problem.cause).collect::<Vec<_>>();
    assert_eq!(causes(&health), [Cause::Destination, Cause::Failed, Cause::Clock]);
    assert_eq!((health.light, health.is_red()), (Light::NeedsPerson, true), "a letter failed");
    // A pause at which nothing waits is the least, and a decision is amber.
    facts.failed = Ended::default();
    facts.pauses.iter_mut().for_each(|pause| pause.count = 0);
    facts.unmatched = Ended { count: 1, first: Some(NOW), last: Some(NOW) };
    let health = assess(&facts, &Rules::default());
    assert_eq!(causes(&health), [Cause::PatientUnknown, Cause::Clock, Cause::Destination]);
    assert_eq!((health.light, health.is_red()), (Light::NeedsPerson, false));
    facts.running = false;
    let health = assess(&facts, &Rules::default());
    assert_eq!(health.headline, Headline::NotRunning { last: facts.last_done_at });
    assert_eq!(health.problems.len(), 3, "they are still there");
    assert!(health.is_red());
}

#[test]
fn where_no_destination_takes_letters_that_comes_before_a_decision_and_is_red_at_once() {
    let unmatched = Ended { count: 3, first: Some(NOW), last: Some(NOW) };
    let mut facts = Facts { unmatched, ..destination(Kind::Down(Code::word("check")), 1) };
    facts.pauses.iter_mut().for_each(|pause| pause.count = 0);
    let seen = |facts: &Facts| {
        let health = assess(facts, &Rules::default());
        (health.problems[0].cause, health.is_red(), health.problems[0].needs_person)
    };
    assert_eq!(seen(&facts), (Cause::PatientUnknown, false, true), "another one takes letters");
    facts.is_shut = true;
    assert_eq!(seen(&facts), (Cause::Destination, true, false));
}

#[test]
fn a_list_that_is_refused_is_red_unless_the_one_before_counts() {
    for (word, red) in [("number 17 old", false), ("number 17 none", true), ("", true)] {
        let facts = Facts { patients_file_since: Some(NOW), patients_file_wrong: word.to_owned(), ..well() };
        assert_eq!(assess(&facts, &Rules::default()).is_red(), red, "{word}");
    }
}

#[test]
fn a_destination_that_refuses_the_sign_in_or_is_not_there_is_told_as_that() {
    for (word, cause) in [
        ("sign_in_refused", "destination-sign-in"),
        ("credentials", "destination-sign-in"),
        ("refused", "destination"),
        ("no_such_host", "destination"),
        ("no_connection", "destination"),
        ("host_key", "host-key"),
        ("overwrites", "destination-refuses"),
        ("program_unusable", "destination-program"),
        ("not_started", "destination-program"),
    ] {
        let facts = destination(Kind::Down(Code::word(word)), 20);
        assert_eq!(told(&facts).1, [(cause, "pms".to_owned(), 3, true)], "{word}");
    }
}

#[test]
fn silence_is_not_told_beside_what_explains_it() {
    let mut facts = well();
    facts.accounts[0].polled_at = None;
    facts.awake_since = Some(NOW - 25 * 60 * MINUTE);
    assert_eq!(told(&facts).1, [("silence", "main".to_owned(), 0, true)]);
    facts.accounts[0].needs_sign_in = true;
    assert_eq!(told(&facts).1, [("sign-in", "main".to_owned(), 0, true)]);
    // A lasting outage: one cause, one message. By then it needs a person, whatever `alerts.after` is.
    facts.accounts[0].needs_sign_in = false;
    for minutes in [1, 25 * 60] {
        facts.accounts[0].poll_failing_since = Some(NOW - minutes * MINUTE);
        assert_eq!(told(&facts).1, [("service", "main".to_owned(), 0, true)], "{minutes}");
    }
    // The other account's silence is a separate problem.
    facts.accounts.push(AccountFacts { polled_at: None, ..account("second") });
    let causes: Vec<_> = told(&facts).1.into_iter().map(|(cause, name, ..)| (cause, name)).collect();
    assert_eq!(causes, [("silence", "second".to_owned()), ("service", "main".to_owned())]);
}

#[test]
fn causes_are_in_the_order_of_their_urgency_and_can_be_read_back() {
    assert!(CAUSES.is_sorted());
    assert!(CAUSES.into_iter().all(|cause| Cause::parse(cause.as_str()) == Some(cause)));
    assert_eq!(Cause::parse("?"), None);
}

#[test]
fn a_destination_that_has_no_room_for_a_check_either_is_full() {
    for text in ["deliver no_room", "deliver down full"] {
        let failure = crate::domain::failure::Failure::parse(text);
        assert_eq!(cause::of_destination(failure.as_ref()), Cause::DestinationFull, "{text}");
    }
}

#[test]
fn letters_in_a_row_whose_patients_are_not_in_the_list_are_a_problem_of_the_list() {
    let strangers = |count| Ended { count, first: Some(NOW - 2 * MINUTE), last: Some(NOW) };
    let unmatched = strangers(20);
    assert_eq!(told(&Facts { strangers: strangers(19), ..well() }), ("well", vec![]));
    let list = ("patients-file", String::new(), 20, true);
    assert_eq!(told(&Facts { strangers: strangers(20), ..well() }), ("needs_person", vec![list.clone()]));
    let (_, both) = told(&Facts { strangers: strangers(20), unmatched, ..well() });
    assert_eq!(both, [("patient-unknown", String::new(), 20, true), list]);
    // The file itself is wrong: that comes first, and counts no letters.
    let (_, file) = told(&Facts { strangers: strangers(20), patients_file_since: Some(NOW), ..well() });
    assert_eq!(file, [("patients-file", String::new(), 0, true)]);
}

/// No letter came from Monday, 2026-11-02, 16:00 to midnight before this day, after weeks with nine a day.
fn no_letter_until(day: &str) -> Facts {
    let date = |day: &str| day.parse::<Date>().unwrap();
    let days = (0..WINDOW).map(|back| (date("2026-11-02").saturating_sub(jiff::ToSpan::days(back)), 9)).collect();
    let (last, seen) = (date("2026-11-02").at(16, 0, 0, 0), date(day).at(0, 0, 0, 0));
    Facts { came: Some(Came { first: date("2026-01-01"), last, last_at: NOW, seen, days }), ..well() }
}

#[test]
fn a_practice_that_gets_no_letters_any_more_is_amber_also_when_a_person_is_told() {
    let quiet = |person| vec![("quiet", String::new(), 9, person)];
    assert_eq!(told(&no_letter_until("2026-11-05")), ("well", vec![]));
    assert_eq!(told(&no_letter_until("2026-11-06")), ("waiting", quiet(false)));
    assert_eq!(told(&no_letter_until("2026-11-09")), ("waiting", quiet(false)));
    assert_eq!(told(&no_letter_until("2026-11-10")), ("needs_person", quiet(true)));
    assert!(!assess(&no_letter_until("2026-11-10"), &Rules::default()).is_red());
}

/// What a monitor hears of these facts, and the causes.
fn judged(facts: &Facts) -> (&'static str, Vec<&'static str>) {
    let judged = judge(facts, &assess(facts, &Rules::default()));
    (judged.level.as_str(), judged.causes)
}

#[test]
fn a_monitor_hears_nothing_is_well_that_is_not() {
    let away = || Kind::Down(Code::word("check"));
    let one = Ended { count: 1, first: Some(NOW), last: Some(NOW) };
    let refused = || Some((Some(NOW), "docsyncd.toml, line 3: x".to_owned()));
    let main = || "main".to_owned();
    let signed_out = pause(Scope::Account(main()), Call::List, Kind::Passing(Code::word("signed_out")), 0, 1);
    let stalled = |minutes| {
        let since = NOW - minutes * MINUTE;
        vec![Stalled { scope: Scope::Fetch(main()), no_room: false, count: 1, since }]
    };
    let table: Vec<(&str, Facts, &str, Vec<&str>)> = vec![
        ("nothing is wrong", well(), "ok", vec![]),
        ("no daemon", Facts { running: false, ..well() }, "critical", vec!["not-running"]),
        ("a folder is away for a moment", destination(away(), 5), "warning", vec!["destination"]),
        ("and for long", destination(away(), 15), "critical", vec!["destination"]),
        ("a sign-in", Facts { pauses: vec![signed_out], ..well() }, "critical", vec!["sign-in"]),
        ("a letter is stalled", Facts { stalled: stalled(20), ..well() }, "critical", vec!["stalled"]),
        ("the ledger cannot be written", Facts { ledger_fails_since: Some(NOW), ..well() }, "critical", vec!["ledger"]),
        ("a person is needed", Facts { unmatched: one.clone(), ..well() }, "warning", vec!["patient-unknown"]),
        ("it may have arrived", Facts { unconfirmed: one.clone(), ..well() }, "warning", vec!["unconfirmed"]),
        ("one failed", Facts { failed: one.clone(), failed_unseen: 1, ..well() }, "warning", vec!["failed"]),
        ("and somebody looked", Facts { failed: one.clone(), ..well() }, "ok", vec![]),
        (
            "one is not told",
            Facts { unreported: one.clone(), unreported_unseen: 1, ..well() },
            "warning",
            vec!["unreported"],
        ),
        ("and somebody looked at that", Facts { unreported: one.clone(), ..well() }, "ok", vec![]),
        ("a list is refused", Facts { patients_file_since: Some(NOW), ..well() }, "warning", vec!["patients-file"]),
        ("reconcile found something", Facts { not_agreeing: one.clone(), ..well() }, "warning", vec!["not-agreeing"]),
        ("the clock is wrong", Facts { clock_since: Some(NOW), ..well() }, "warning", vec!["clock"]),
        ("a certificate", Facts { certificate_since: Some(NOW), ..well() }, "warning", vec!["certificate"]),
        ("no letters come", no_letter_until("2026-11-06"), "warning", vec!["quiet"]),
        ("and a person is told", no_letter_until("2026-11-10"), "warning", vec!["quiet"]),
        ("a refused configuration", Facts { refused: refused(), ..well() }, "warning", vec!["configuration"]),
        (
            "a refused configuration, and nothing runs",
            Facts { refused: refused(), running: false, ..well() },
            "unknown",
            vec!["not-running", "configuration"],
        ),
        (
            "the worst decides and comes first",
            Facts { unmatched: one.clone(), refused: refused(), ..destination(away(), 60) },
            "critical",
            vec!["destination", "patient-unknown", "configuration"],
        ),
    ];
    for (what, facts, level, causes) in table {
        assert_eq!(judged(&facts), (level, causes), "{what}");
        let is_looked_at = facts.failed.count + facts.unreported.count > 0;
        let health = assess(&facts, &Rules::default());
        assert_eq!(level == "ok", health.light == Light::Well || level == "ok" && is_looked_at, "{what}");
    }
    assert!([Level::Ok, Level::Warning, Level::Unknown, Level::Critical].is_sorted());
}

//! [`decide`] as a table: every kind of failure, with every pause, by what is known of the work.

use super::*;

const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);
const GRACE: Duration = Duration::from_secs(120);
const PATIENCE: Patience = Patience { give_up_after: WEEK, pdf_grace: GRACE };

fn kinds() -> [Kind; 7] {
    let code = || Code::Status(500);
    [
        Kind::Down(code()),
        Kind::Passing(code()),
        Kind::NoRoom,
        Kind::Doubtful(code()),
        Kind::Permanent(code()),
        Kind::Unconfirmed(code()),
        Kind::Own(code()),
    ]
}

fn paused(probe: bool, alike: bool, too_old: bool) -> Option<Paused> {
    Some(Paused { probe, alike, too_old })
}

/// One letter for the pause (`.` leave, `+` extend, `x` end) and one for the work (`w`ait, `c`harge, `a`sk, `h`old,
/// `f`ail, `g`ive up).
fn letters(ruling: Ruling) -> String {
    let pause = match ruling.pause {
        Pause::Leave => '.',
        Pause::Extend => '+',
        Pause::End => 'x',
    };
    let work = match ruling.work {
        Consequence::Wait => 'w',
        Consequence::Charge => 'c',
        Consequence::Ask => 'a',
        Consequence::Hold => 'h',
        Consequence::Fail => 'f',
        Consequence::GiveUp => 'g',
    };
    format!("{pause}{work}")
}

fn row(call: Call, tried: &Tried, evidence: &Evidence) -> String {
    let decided = kinds().map(|kind| letters(decide(&Failure { call, kind }, tried, evidence, PATIENCE)));
    decided.join(" ")
}

/// Columns: down, passing, no room, doubtful, permanent, unconfirmed, own.
#[test]
fn every_kind_has_the_consequence_of_the_table_for_each_pause() {
    let first = Tried::default();
    let early = Tried { attempts: 2, doubtful: 2, ..Tried::default() };
    let third = Tried { failing_for: GRACE, ..early.clone() };
    let hour = Tried { failing_for: DOUBTFUL_SPAN, ..third.clone() };
    let week = Tried { attempts: MIN_ATTEMPTS, failing_for: WEEK, ..Tried::default() };
    let few = Tried { attempts: MIN_ATTEMPTS - 1, ..week.clone() };
    let alike = |alike, pause| Evidence { alike, good_since: false, pause };
    let good = Evidence { alike: 1, good_since: true, pause: None };
    let rows = [
        ("the first", &first, alike(1, None), "+w .c .c .c .h .a .f"),
        ("two alike", &first, alike(2, None), "+w .c .c .c .h .a .f"),
        ("three alike", &first, alike(3, None), "+w +w +w +w .h +a .f"),
        ("five alike", &first, alike(5, None), "+w +w +w +w +w +a .f"),
        ("the third try", &third, alike(1, None), "+w .c .c .c .h .a .f"),
        ("the third try, another was good, within the grace", &early, good.clone(), ".c .c .c .c .h .a .f"),
        ("the third try, another was good", &third, good.clone(), ".c .c .c .h .h .a .f"),
        (
            "another was good, and a second failed alike",
            &third,
            Evidence { alike: 2, ..good.clone() },
            "+w .c .c .h .h .a .f",
        ),
        ("for a week, while others were good", &week, good.clone(), ".g .g .c .g .h .a .f"),
        ("the second try, another was good", &Tried { doubtful: 1, ..third.clone() }, good, ".c .c .c .c .h .a .f"),
        ("for an hour", &hour, alike(1, None), "+w .c .c .h .h .a .f"),
        ("for an hour, shared", &hour, alike(3, None), "+w +w +w +w .h +a .f"),
        ("for a week", &week, alike(1, None), "+w .g .c .g .h .a .f"),
        ("for a week, in few attempts", &few, alike(1, None), "+w .c .c .c .h .a .f"),
        ("under way when the pause began", &week, alike(9, paused(false, true, true)), ".w .w .w .w .w .a .f"),
        ("under way, otherwise", &first, alike(1, paused(false, false, false)), ".w .w .w .w .w .a .f"),
        ("the probe, alike", &week, alike(9, paused(true, true, false)), "+w +w +w +w +w +a .f"),
        ("the probe, alike, too old", &first, alike(9, paused(true, true, true)), "+w +w +w +g +g +a .f"),
        ("the probe, otherwise", &first, alike(1, paused(true, false, false)), "+w xc xc xc xh xa .f"),
        ("the probe, otherwise, too old", &week, alike(1, paused(true, false, true)), "+w xg xc xg xh xa .f"),
    ];
    for (what, tried, evidence, expected) in rows {
        for call in [Call::Read, Call::Record, Call::Download, Call::Deliver, Call::Report] {
            assert_eq!(row(call, tried, &evidence), expected, "{what}");
        }
    }
}

/// A refusal to this account is told only when no other account may get the document.
#[test]
fn a_refusal_waits_while_another_account_may_have_the_document_back() {
    let refused = |call| Failure { call, kind: Kind::Permanent(Code::Status(403)) };
    let doubtful = Failure { call: Call::Download, kind: Kind::Doubtful(Code::Status(404)) };
    let back = Failure { call: Call::Read, kind: Kind::Passing(Code::Status(403)) };
    let none = Failure { call: Call::Read, kind: Kind::Passing(Code::Status(404)) };
    let no_pdf = Failure { call: Call::Download, kind: Kind::Doubtful(Code::word("not_a_pdf")) };
    let one = Evidence { alike: 1, ..Evidence::default() };
    let probe = Evidence { pause: paused(true, false, false), ..one.clone() };
    for (failure, evidence, told, untold) in [
        (refused(Call::Read), one.clone(), ".h", ".c"),
        (refused(Call::Report), one.clone(), ".h", ".c"),
        (refused(Call::Read), probe, "xh", "xc"),
        (refused(Call::Read), Evidence { alike: ALIKE_PERMANENT, ..one.clone() }, "+w", "+w"),
        (refused(Call::Deliver), one.clone(), ".h", ".h"),
        (doubtful, Evidence { good_since: true, ..one.clone() }, ".h", ".c"),
        (no_pdf, Evidence { good_since: true, ..one.clone() }, ".h", ".h"),
        (back, one.clone(), ".g", ".c"),
        (none, one.clone(), ".g", ".g"),
    ] {
        for (another_may, expected) in [(false, told), (true, untold)] {
            let tried = Tried { attempts: MIN_ATTEMPTS, doubtful: 2, failing_for: WEEK, another_may };
            assert_eq!(letters(decide(&failure, &tried, &evidence, PATIENCE)), expected, "{failure}");
        }
    }
}

/// A failure that may pass never ends a document before its time, whatever else is known. While the scope is paused for
/// the same failure, only a failure of the document's own ends the document.
#[test]
fn nothing_that_may_pass_ends_a_document() {
    let bools = [false, true];
    for kind in kinds() {
        for (alike, good_since) in [1, 2, 3, 5, 9].into_iter().flat_map(|n| bools.map(|good| (n, good))) {
            for pause in [None, paused(false, true, false), paused(true, true, false), paused(true, false, false)] {
                for (attempts, hours) in [(0, 0), (2, 0), (9, 1), (99, 167)] {
                    let failing_for = Duration::from_secs(hours * 3600);
                    let tried = Tried { attempts, doubtful: attempts, failing_for, another_may: false };
                    let evidence = Evidence { alike, good_since, pause: pause.clone() };
                    let failure = Failure { call: Call::Download, kind: kind.clone() };
                    let work = decide(&failure, &tried, &evidence, PATIENCE).work;
                    let ends = matches!(work, Consequence::Hold | Consequence::Fail | Consequence::GiveUp);
                    let same_pause = evidence.pause.as_ref().is_some_and(|pause| pause.alike || !pause.probe);
                    match &kind {
                        Kind::Own(_) => assert!(ends),
                        Kind::Down(_) | Kind::Passing(_) | Kind::NoRoom | Kind::Unconfirmed(_) => {
                            assert!(!ends, "{failure} {evidence:?}")
                        }
                        Kind::Doubtful(_) | Kind::Permanent(_) => {
                            assert!(!(ends && same_pause), "{failure} {evidence:?}")
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_failure_can_be_read_back() {
    let codes = [Code::Exit(-1), Code::Signal(9), Code::Status(507), Code::word("not_a_pdf")];
    for call in CALLS.map(|(call, _)| call) {
        for code in &codes {
            let kinds = [Kind::Down, Kind::Passing, Kind::Doubtful, Kind::Permanent, Kind::Unconfirmed, Kind::Own];
            for kind in kinds.map(|kind| kind(code.clone())) {
                let failure = Failure { call, kind };
                assert_eq!(Failure::parse(&failure.to_string()).as_ref(), Some(&failure));
            }
        }
        let failure = Failure { call, kind: Kind::NoRoom };
        assert_eq!(Failure::parse(&failure.to_string()), Some(failure));
    }
    for other in ["unreachable", "later", "read own", "reading the document http_500", ""] {
        assert_eq!(Failure::parse(other), None);
    }
}

/// That wait has a limit of its own (the fetch stage), after which the version that is there is filed.
#[test]
fn answers_that_contradict_each_other_are_never_given_up() {
    let failure = Failure { call: Call::Read, kind: Kind::Passing(TWO_VERSIONS) };
    let tried = Tried { attempts: MIN_ATTEMPTS, failing_for: WEEK, ..Tried::default() };
    assert_eq!(letters(decide(&failure, &tried, &Evidence::default(), PATIENCE)), ".c");
}

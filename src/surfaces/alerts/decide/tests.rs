use super::*;
use crate::domain::health::{Headline, Light, Problem};

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;
const TIMES: Times =
    Times { gather: Duration::from_secs(10), quiet: Duration::from_secs(3600), remind: Duration::from_secs(24 * 3600) };

fn problem(cause: Cause, name: &str, needs_person: bool) -> Problem {
    Problem { cause, name: name.into(), count: 3, since: Some(0), latest: None, needs_person, is_red: false }
}

fn health(problems: Vec<Problem>) -> Health {
    Health { light: Light::Well, headline: Headline::NotRunning { last: None }, problems }
}

/// What is known, kept as the ledger keeps it, so that a test can play through days.
#[derive(Default)]
struct Played {
    before: Before,
    told: Vec<(Millis, AlertKind, Cause, u64)>,
    /// When each alert was first told.
    begun: Vec<(Millis, Cause)>,
}

impl Played {
    /// Looks once, as the watch does.
    fn look(&mut self, at: Millis, problems: &[Problem]) {
        let health = health(problems.to_vec());
        for cause in crate::domain::health::CAUSES {
            if problems.iter().any(|problem| problem.cause == cause) {
                self.before.gone.remove(&cause);
            } else {
                self.before.gone.entry(cause).or_insert(at);
            }
        }
        let quiet = Millis::try_from(TIMES.quiet.as_millis()).unwrap();
        let told = self.begun.iter().filter(|(told, _)| *told > at - quiet);
        self.before.often.clear();
        for (_, cause) in told {
            *self.before.often.entry(*cause).or_default() += 1;
        }
        for step in decide(&self.before, &health, at, &TIMES) {
            match step {
                Step::Begin(cause, about) => self.before.open.push(Alert {
                    id: at,
                    cause: cause.as_str().into(),
                    names: about.names,
                    documents: about.documents,
                    since: about.since,
                    opened_at: at,
                    told_at: None,
                    told_latest: None,
                }),
                Step::Tell { id, kind, group, latest } => {
                    let alert = self.before.open.iter_mut().find(|alert| alert.id == id).unwrap();
                    if alert.told_at.is_none() {
                        self.begun.push((at, group.cause));
                    }
                    (alert.told_at, alert.told_latest, alert.names) = (Some(at), latest, group.names.clone());
                    self.before.told.insert(group.cause, at);
                    self.told.push((at, kind, group.cause, group.names.len() as u64));
                }
                Step::End { id, group } => {
                    let known = self.before.open.iter().any(|alert| alert.id == id && alert.told_at.is_some());
                    self.before.open.retain(|alert| alert.id != id);
                    if known {
                        self.told.push((at, AlertKind::Over, group.cause, group.names.len() as u64));
                    }
                }
            }
        }
    }

    /// Looks every five seconds from `from` to `to`.
    fn play(&mut self, from: Millis, to: Millis, problems: &[Problem]) {
        (from..to).step_by(5_000).for_each(|at| self.look(at, problems));
    }

    fn kinds(&self) -> Vec<AlertKind> {
        self.told.iter().map(|(_, kind, ..)| *kind).collect()
    }
}

#[test]
fn an_outage_is_told_once_when_it_begins_and_once_when_it_is_over() {
    let mut played = Played::default();
    played.play(0, 15 * MINUTE, &[problem(Cause::Destination, "pms", false)]);
    assert_eq!(played.told, [], "what may pass by itself is told to nobody");
    played.play(15 * MINUTE, HOUR, &[problem(Cause::Destination, "pms", true)]);
    played.play(HOUR, 2 * HOUR, &[]);
    assert_eq!(
        played.told,
        [
            (15 * MINUTE + 10_000, AlertKind::Problem, Cause::Destination, 1),
            (HOUR + 10_000, AlertKind::Over, Cause::Destination, 1)
        ]
    );
}

#[test]
fn problems_of_one_cause_are_one_message_also_when_they_begin_and_end_one_after_the_other() {
    let mut played = Played::default();
    let accounts: Vec<Problem> = (0..30).map(|n| problem(Cause::Service, &format!("a{n}"), n < 3)).collect();
    played.play(0, MINUTE, &accounts);
    let all: Vec<Problem> = accounts.iter().map(|one| Problem { needs_person: true, ..one.clone() }).collect();
    played.play(MINUTE, HOUR, &all);
    for left in (0..30).rev() {
        let at = HOUR + (30 - left) * 5_000;
        played.look(at, &all[..usize::try_from(left).unwrap()]);
    }
    played.play(2 * HOUR, 3 * HOUR, &[]);
    assert_eq!(played.kinds(), [AlertKind::Problem, AlertKind::Over]);
    assert_eq!(played.told[0].3, 30);
}

#[test]
fn what_is_over_before_it_was_told_is_told_to_nobody() {
    let mut played = Played::default();
    played.look(0, &[problem(Cause::Disk, "main", true)]);
    played.play(5_000, HOUR, &[]);
    assert_eq!(played.told, []);
    assert_eq!(played.before.open, []);
}

#[test]
fn what_lasts_is_told_again_after_each_reminder_time() {
    let mut played = Played::default();
    played.play(0, 49 * HOUR, &[problem(Cause::SignIn, "main", true)]);
    assert_eq!(played.kinds(), [AlertKind::Problem, AlertKind::Reminder, AlertKind::Reminder]);
    assert_eq!(played.told[1].0, 24 * HOUR + 10_000);
}

#[test]
fn what_comes_and_goes_is_told_at_most_once_an_hour() {
    let mut played = Played::default();
    for minute in 0..360 {
        let problems = [problem(Cause::Destination, "pms", true)];
        let there = minute % 2 == 0;
        played.play(minute * MINUTE, (minute + 1) * MINUTE, if there { &problems } else { &[] });
    }
    let begun = played.kinds().iter().filter(|kind| **kind == AlertKind::Problem).count();
    assert_eq!(begun, 6, "in six hours: {:?}", played.told);
    assert!(played.told.len() <= 12);
    // Another cause has an hour of its own.
    played.play(360 * MINUTE, 361 * MINUTE, &[problem(Cause::SignIn, "main", true)]);
    assert!(matches!(played.told.last(), Some((_, AlertKind::Problem, Cause::SignIn, 1))));
}

#[test]
fn what_is_urgent_and_comes_again_after_it_was_said_to_be_over_is_told_at_once_and_not_without_end() {
    let mut played = Played::default();
    let failed = [Problem { latest: Some(0), ..problem(Cause::Failed, "", true) }];
    played.play(0, MINUTE, &failed);
    // A person retries it. While it is under way, nothing counts as failed.
    played.play(MINUTE, 2 * MINUTE, &[]);
    played.play(2 * MINUTE, 50 * MINUTE, &failed);
    assert_eq!(played.kinds(), [AlertKind::Problem, AlertKind::Over, AlertKind::Problem]);
    assert_eq!(played.told[2].0, 2 * MINUTE + 10_000);

    let mut played = Played::default();
    for minute in 0..60 {
        let there = minute % 2 == 0;
        played.play(minute * MINUTE, (minute + 1) * MINUTE, if there { &failed } else { &[] });
    }
    let begun = played.kinds().iter().filter(|kind| **kind == AlertKind::Problem).count();
    assert_eq!(begun, 4, "a disk that is full each second minute fills no mailbox: {:?}", played.told);
}

#[test]
fn more_documents_that_fail_and_other_accounts_are_told_after_an_hour() {
    let mut played = Played::default();
    let failed = |latest| Problem { latest: Some(latest), ..problem(Cause::Failed, "", true) };
    played.play(0, 20 * MINUTE, &[failed(0)]);
    played.play(20 * MINUTE, 3 * HOUR, &[failed(20 * MINUTE)]);
    let told: Vec<Millis> = played.told.iter().map(|(at, ..)| *at).collect();
    assert_eq!(told, [10_000, HOUR + 10_000], "and not again, since no further one failed");

    let mut played = Played::default();
    let accounts = ["a", "b"].map(|name| problem(Cause::SignIn, name, true));
    played.play(0, 2 * HOUR, &accounts[..1]);
    played.play(2 * HOUR, 4 * HOUR, &accounts);
    let names: Vec<u64> = played.told.iter().map(|(.., names)| *names).collect();
    assert_eq!((played.kinds(), names), (vec![AlertKind::Problem, AlertKind::Problem], vec![1, 2]));
}

#[test]
fn a_clock_that_was_set_back_keeps_nobody_from_being_told() {
    let mut played = Played::default();
    let problems = [problem(Cause::Disk, "main", true)];
    played.look(100 * HOUR, &problems);
    played.play(0, MINUTE, &problems);
    assert_eq!(played.kinds(), [AlertKind::Problem]);
}

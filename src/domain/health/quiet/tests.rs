use super::*;

fn date(text: &str) -> Date {
    text.parse().unwrap()
}

/// `count` letters on each working day from `first` to `last`, the last one at 16:00, and a look at `seen`.
fn came(first: &str, last: &str, count: u64, seen: &str) -> Came {
    let (first, last) = (date(first), date(last));
    let is_working = |day: &Date| !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
    let days = first.series(1.day()).take_while(|day| *day <= last).filter(is_working).map(|day| (day, count));
    Came { first, last: last.at(16, 0, 0, 0), last_at: 7, seen: seen.parse().unwrap(), days: days.collect() }
}

fn rules(quiet_after: QuietAfter, closed: &[(&str, &str)]) -> Rules {
    let closed = closed.iter().map(|(first, last)| date(first)..=date(last)).collect();
    Rules { quiet_after, closed, ..Rules::default() }
}

/// Amber, or an alarm; and how many letters are usual.
fn told(came: &Came, rules: &Rules) -> Option<(&'static str, u64)> {
    quiet(came, rules).map(|quiet| (if quiet.needs_person { "alarm" } else { "amber" }, quiet.usual))
}

/// 2026-11-06 is a Friday.
#[test]
fn three_working_days_without_a_letter_are_amber_and_five_are_an_alarm() {
    let christmas = [("2026-11-09", "2026-11-13")];
    let (amber, alarm) = (Some(("amber", 9)), Some(("alarm", 9)));
    for (seen, closed, expected) in [
        ("2026-11-06T17:00", &[][..], None),
        ("2026-11-09T23:59", &[], None),
        // Monday, Tuesday and Wednesday are over.
        ("2026-11-11T23:59", &[], None),
        ("2026-11-12T00:00", &[], amber),
        ("2026-11-13T23:59", &[], amber),
        ("2026-11-14T00:00", &[], alarm),
        ("2027-03-01T00:00", &[], alarm),
        // One day of them is a holiday.
        ("2026-11-12T00:00", &[("2026-11-11", "2026-11-11")], None),
        ("2026-11-13T00:00", &[("2026-11-11", "2026-11-11")], amber),
        ("2026-11-14T00:00", &[("2026-11-11", "2026-11-11")], amber),
        ("2026-11-17T00:00", &[("2026-11-11", "2026-11-11")], alarm),
        // A week of holidays: the days after it count.
        ("2026-11-18T23:59", &christmas, None),
        ("2026-11-19T00:00", &christmas, amber),
        ("2026-11-21T00:00", &christmas, alarm),
        ("2026-11-21T00:00", &[("2026-01-01", "2099-12-31")], None),
    ] {
        let came = came("2026-05-01", "2026-11-06", 9, seen);
        assert_eq!(told(&came, &rules(QuietAfter::Auto, closed)), expected, "{seen} {closed:?}");
        assert_eq!(told(&came, &rules(QuietAfter::Off, closed)), None);
    }
}

#[test]
fn nothing_is_said_in_the_first_two_weeks() {
    // From Monday to Friday letters came, and then none.
    let first_week = |seen: &str| came("2026-11-02", "2026-11-06", 4, seen);
    for (seen, expected) in
        [("2026-11-12T00:00", None), ("2026-11-15T23:59", None), ("2026-11-16T00:00", Some(("alarm", 4)))]
    {
        assert_eq!(told(&first_week(seen), &rules(QuietAfter::Auto, &[])), expected, "{seen}");
        let day = QuietAfter::Time(Duration::from_secs(24 * 3600));
        assert_eq!(told(&first_week(seen), &rules(day, &[])), expected, "{seen}");
    }
}

#[test]
fn what_is_quiet_is_told_only_where_letters_came_on_most_working_days() {
    let every = |step: usize| {
        let mut came = came("2026-05-01", "2026-11-06", 2, "2026-11-20T09:00");
        came.days = came.days.into_iter().rev().step_by(step).collect();
        told(&came, &rules(QuietAfter::Auto, &[]))
    };
    assert_eq!(every(1), Some(("alarm", 2)));
    assert_eq!(every(2), None, "on 10 of 20");
    // Two days of three.
    let mut two = came("2026-05-01", "2026-11-06", 2, "2026-11-20T09:00");
    two.days = two.days.into_iter().rev().enumerate().filter(|(n, _)| n % 3 != 2).map(|(_, day)| day).collect();
    assert_eq!(told(&two, &rules(QuietAfter::Auto, &[])), Some(("alarm", 2)));
    // Closed days of the four weeks are no working days either: letters came on all three that are left.
    let mut few = came("2026-05-01", "2026-11-06", 5, "2026-11-12T09:00");
    few.days.retain(|(day, _)| *day >= date("2026-11-04"));
    assert_eq!(told(&few, &rules(QuietAfter::Auto, &[])), None);
    assert_eq!(told(&few, &rules(QuietAfter::Auto, &[("2026-10-01", "2026-11-03")])), Some(("amber", 5)));
}

#[test]
fn the_years_of_letters_that_the_first_look_found_are_not_what_is_usual() {
    let mut came = came("2026-10-19", "2026-11-06", 9, "2026-11-12T09:00");
    came.days[0].1 = 4000;
    assert_eq!(told(&came, &rules(QuietAfter::Auto, &[])), Some(("amber", 9)));
}

#[test]
fn a_time_of_ones_own_counts_while_the_practice_is_open() {
    let hours = |count: u64| QuietAfter::Time(Duration::from_secs(count * 3600));
    // The last letter came on a Friday at 16:00.
    for (after, seen, closed, expected) in [
        (24, "2026-11-09T15:59", &[][..], None),
        (24, "2026-11-09T16:00", &[], Some(("alarm", 9))),
        (24, "2026-11-09T16:00", &[("2026-11-09", "2026-11-09")], None),
        (24, "2026-11-10T16:00", &[("2026-11-09", "2026-11-09")], Some(("alarm", 9))),
        (8 + 48, "2026-11-11T00:00", &[], Some(("alarm", 9))),
        (9 + 48, "2026-11-11T00:00", &[], None),
    ] {
        let came = came("2026-05-01", "2026-11-06", 9, seen);
        assert_eq!(told(&came, &rules(hours(after), closed)), expected, "{after} {seen}");
    }
    // A practice with a letter a week is told after its own time, too.
    let mut rare = came("2026-05-01", "2026-11-06", 1, "2026-12-01T09:00");
    rare.days.retain(|(day, _)| day.weekday() == Weekday::Friday);
    assert_eq!(told(&rare, &rules(hours(10 * 24), &[])), Some(("alarm", 0)));
    assert_eq!(told(&rare, &rules(QuietAfter::Auto, &[])), None);
}

//! The days on which letters came, for `health::quiet`.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};
use rusqlite::{Connection, params};

use crate::domain::health::{Came, WINDOW};
use crate::ledger::{Millis, QueryResult};

/// The least time without a letter after which the days are counted; milliseconds. No setting is shorter.
const WORTH: Millis = 24 * 60 * 60 * 1000;

/// The letters that came until `seen`, the last poll. `None` if there are none, or if the last one came a short time
/// ago.
///
/// # Errors
/// Any SQLite error.
pub fn came(db: &Connection, seen: Millis, zone: &TimeZone) -> QueryResult<Option<Came>> {
    let at = |sql: &str| db.prepare_cached(sql)?.query_row([], |row| row.get::<_, Option<Millis>>(0));
    let Some(last_at) = at("SELECT max(found_at) FROM document")? else { return Ok(None) };
    if seen.saturating_sub(last_at) < WORTH {
        return Ok(None);
    }
    let first_at = at("SELECT min(found_at) FROM document")?.unwrap_or(last_at);
    let here = |at: Millis| Timestamp::from_millisecond(at).unwrap_or_default().to_zoned(zone.clone());
    let begins =
        |day: Date| day.to_zoned(zone.clone()).map_or(Millis::MAX, |day: Zoned| day.timestamp().as_millisecond());
    let last = here(last_at).datetime();
    // A million letters on a day say no more than a thousand.
    let mut count = db.prepare_cached(
        "SELECT count(*) FROM (SELECT 1 FROM document WHERE found_at >= ?1 AND found_at < ?2 LIMIT 1000)",
    )?;
    let mut days = Vec::new();
    for back in 0..WINDOW {
        let day = last.date().saturating_sub(back.days());
        let found = count.query_row(params![begins(day), begins(day.saturating_add(1.day()))], |row| row.get(0))?;
        if found > 0 {
            days.push((day, found));
        }
    }
    Ok(Some(Came { first: here(first_at).date(), last, last_at, seen: here(seen).datetime(), days }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{listed, testing};

    #[test]
    fn letters_are_counted_by_the_days_of_the_practices_own_calendar() {
        let (_folder, db) = testing::empty();
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        let seen = at("2026-11-20T09:00:00Z");
        assert_eq!(came(&db, seen, &zone).unwrap(), None, "no letter came");
        for (n, found) in [
            "2025-01-01T12:00:00Z",
            "2026-10-14T22:00:00Z",
            // Local midnight is 23:00 here.
            "2026-11-10T22:59:59Z",
            "2026-11-10T23:00:00Z",
            "2026-11-11T09:00:00Z",
        ]
        .iter()
        .enumerate()
        {
            let shown = testing::shown(&format!("document-{n}"), Some("p"));
            listed::see(&db, &testing::reader("main"), &shown, at(found)).unwrap();
        }
        let known = came(&db, seen, &zone).unwrap().unwrap();
        let date = |text: &str| text.parse::<Date>().unwrap();
        assert_eq!((known.first, known.last_at), (date("2025-01-01"), at("2026-11-11T09:00:00Z")));
        assert_eq!(known.last.to_string(), "2026-11-11T10:00:00");
        assert_eq!(known.seen.to_string(), "2026-11-20T10:00:00");
        assert_eq!(known.days, [(date("2026-11-11"), 2), (date("2026-11-10"), 1), (date("2026-10-15"), 1)]);
        assert_eq!(came(&db, at("2026-11-12T08:59:59Z"), &zone).unwrap(), None, "it is not a day ago");
    }
}

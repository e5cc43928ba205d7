//! A version that is known of and cannot be read yet is waited for.

use super::*;

/// The report took the old version off the list, and its answer was lost: the list says nothing of the new one, which
/// takes a while.
#[tokio::test]
async fn a_version_that_waits_after_a_report_whose_answer_was_lost_is_not_taken_for_withdrawn() {
    let script = move |letter: &mut Letter, asked| match asked {
        Asked::Success if letter.version == 1 => {
            letter.told.push((1, true));
            letter.version = 2;
            Some((502, String::new()))
        }
        Asked::Pdf if letter.takes_a_while() => Some((503, String::new())),
        _ => None,
    };
    let told = Told::by(0, "300ms", Box::new(script)).await;
    told.until("the new one is filed and told", |letter, filed| filed == 2 && letter.told.last() == Some(&(2, true)))
        .await;
}

/// The list, or the answer to a report, shows the new version, and the document itself lags behind (a replica, a
/// cache): success told for the old one would take the new one out of the list.
#[tokio::test]
async fn a_version_that_only_the_list_or_the_answer_to_a_report_shows_is_waited_for() {
    // The list shows it; the answer to a report, and the document left the list; the same, and the list lags along:
    // once a poll at most the old one is told then.
    for (rendered_at, stays, filed_in_the_end) in
        [(Asked::List, false, 1), (Asked::Success, false, 2), (Asked::Success, true, 2)]
    {
        let script = move |letter: &mut Letter, asked| {
            if asked == rendered_at && letter.times(asked) == 1 {
                letter.version = 2;
            }
            let lags = letter.version == 2 && letter.times(Asked::Document) < 4;
            if lags && stays && asked == Asked::List {
                let old =
                    Letter { version: 1, padding: 0, host: letter.host.clone(), asked: Vec::new(), told: Vec::new() };
                return Some((200, format!("[{}]", old.shown())));
            }
            (lags && asked == Asked::Document).then(|| {
                let old =
                    Letter { version: 1, padding: 0, host: letter.host.clone(), asked: Vec::new(), told: Vec::new() };
                (200, old.shown())
            })
        };
        let told = Told::by(0, "300ms", Box::new(script)).await;
        told.until("the new one is filed and told", |letter, filed| {
            filed == filed_in_the_end
                && letter.asked.iter().rev().find(|asked| **asked != Asked::List && **asked != Asked::Synchronized)
                    == Some(&Asked::Success)
        })
        .await;
        let letter = told.letter.lock().unwrap();
        assert!(letter.told.len() <= if stays { 6 } else { filed_in_the_end }, "{:?}", letter.asked);
        let last = letter.asked.iter().rposition(|asked| *asked == Asked::Success).unwrap();
        let reads = letter.asked[..last].iter().filter(|asked| **asked == Asked::Document).count();
        assert!(reads >= 4, "{:?}", letter.asked);
    }
}

/// While the API is away nobody can look, so that time is no part of the wait, whatever the clock shows; nor is what a
/// clock jumps.
#[cfg(unix)]
#[tokio::test]
async fn a_version_that_only_the_list_shows_is_waited_for_beyond_an_outage() {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// Looks that show the old version.
    const OLD: usize = 4;
    let all = |_| true;
    for (is_of_it, status, asked) in [
        (all as fn(Asked) -> bool, 503, Asked::Document),
        (|asked| asked == Asked::Document, 503, Asked::Document),
        (all, 401, Asked::List),
        (|_| false, 0, Asked::List),
    ] {
        let mut practice = Practice::with_documents(0).await;
        let Some(clock) = crate::faults::process::MovedClock::of(&mut practice) else { return };
        let is_away = Arc::new(AtomicBool::new(false));
        let looks = Arc::new(AtomicUsize::new(0));
        let (out, looked) = (is_away.clone(), looks.clone());
        let script = move |letter: &mut Letter, asked| {
            letter.version = 2;
            if out.load(Ordering::SeqCst) && is_of_it(asked) {
                return Some((status, String::new()));
            }
            let host = letter.host.clone();
            let old = Letter { version: 1, padding: 0, host, asked: Vec::new(), told: Vec::new() };
            match asked {
                Asked::Document if looked.fetch_add(1, Ordering::SeqCst) < OLD => Some((200, old.shown())),
                _ => None,
            }
        };
        let mut told = Told::of(practice, 0, &[("SYNC__POLL_INTERVAL", "300ms")], Box::new(script)).await;
        told.running.wait_for_log("it is looked at again").await;
        is_away.store(true, Ordering::SeqCst);
        for moved in ["+0", "+130"] {
            clock.jump(moved);
            let before = told.letter.lock().unwrap().times(asked);
            told.until("it is asked for in vain", |letter, _| letter.times(asked) > before + 1).await;
        }
        is_away.store(false, Ordering::SeqCst);
        told.until("it is filed and told", |letter, filed| filed == 1 && letter.told == [(2, true)]).await;
        assert!(looks.load(Ordering::SeqCst) > OLD, "{asked:?} {status}: {}", told.running.log());
    }
}

/// What fails in between begins the wait anew no more: it would never end.
#[tokio::test]
async fn other_failures_do_not_put_off_a_version_that_only_the_list_shows() {
    let script = |letter: &mut Letter, asked| {
        letter.version = 2;
        let host = letter.host.clone();
        let old = Letter { version: 1, padding: 0, host, asked: Vec::new(), told: Vec::new() };
        match asked {
            Asked::Document if letter.times(Asked::Document) % 2 == 1 => Some((200, old.shown())),
            Asked::Document => Some((500, String::new())),
            _ => None,
        }
    };
    let told = Told::set(0, &[("SYNC__POLL_INTERVAL", "300ms"), ("RETRY__MAX", "1s")], Box::new(script)).await;
    let looks = async |looks: usize| {
        told.until("it is looked at", |letter, _| letter.times(Asked::Document) > looks).await;
        let db = rusqlite::Connection::open(told.practice.ledger()).unwrap();
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?));
        db.query_row("SELECT failing_for, disagreed_after FROM retry_state", [], read).unwrap()
    };
    let (first, later) = (looks(3).await, looks(7).await);
    assert!(first.1.is_some() && first.1 == later.1 && first.0 < later.0, "{first:?} {later:?}");
}

/// A report took the document off the list, and one answer says that it is not there: the next one, which shows it,
/// refutes that.
#[tokio::test]
async fn a_version_that_waits_is_not_taken_for_withdrawn_after_a_404_that_was_refuted() {
    let script = |letter: &mut Letter, asked| match asked {
        Asked::Success if letter.version == 1 => {
            letter.told.push((1, true));
            letter.version = 2;
            Some((200, letter.shown()))
        }
        Asked::Document if letter.version == 2 && letter.times(Asked::Document) == 2 => Some((404, String::new())),
        Asked::Pdf if letter.takes_a_while() => Some((503, String::new())),
        _ => None,
    };
    let told = Told::by(0, "300ms", Box::new(script)).await;
    told.until("the new one is filed and told", |letter, filed| filed == 2 && letter.told.last() == Some(&(2, true)))
        .await;
}

/// How long it waited to be rendered the first time says nothing of the second.
#[tokio::test]
async fn a_letter_that_was_found_long_ago_is_looked_at_soon_where_the_list_shows_its_pdf() {
    const RENDERED_AT: usize = 80;
    let (before, looked_at) = (Mutex::new(None), Arc::new(Mutex::new(None)));
    let looked = looked_at.clone();
    let script = move |letter: &mut Letter, asked| {
        letter.version = usize::from(letter.times(Asked::List) >= RENDERED_AT);
        let mut before = before.lock().unwrap();
        match asked {
            Asked::List if letter.version == 1 => {
                before.get_or_insert(letter.times(Asked::Document));
                None
            }
            Asked::Pdf => {
                looked.lock().unwrap().get_or_insert(letter.times(Asked::List));
                None
            }
            // The document itself lags behind, once.
            Asked::Document if before.is_some_and(|reads| letter.times(Asked::Document) == reads + 1) => {
                let none =
                    Letter { version: 0, padding: 0, host: letter.host.clone(), asked: Vec::new(), told: Vec::new() };
                Some((200, none.shown()))
            }
            _ => None,
        }
    };
    let told = Told::by(0, "300ms", Box::new(script)).await;
    told.until("it is filed", |_, filed| filed == 1).await;
    let polls = looked_at.lock().unwrap().unwrap() - RENDERED_AT;
    assert!(polls < RENDERED_AT / 2, "it was looked at {polls} polls after its PDF was shown");
}

/// Nothing refutes a 404 before two polls have looked: the next try lies far away. The API shows the document, if it is
/// asked.
#[tokio::test]
async fn a_version_that_waits_is_not_taken_for_withdrawn_after_one_404_that_nothing_refutes() {
    for also_synchronized in [true, false] {
        let script = move |letter: &mut Letter, asked| match asked {
            Asked::Success if letter.version == 1 => {
                letter.told.push((1, true));
                letter.version = 2;
                Some((200, letter.shown()))
            }
            Asked::Document if letter.version == 2 && letter.times(Asked::Document) == 2 => Some((404, String::new())),
            // Another letter: the list is not merely empty.
            Asked::List if letter.version == 2 => {
                Some((200, format!("[{}]", letter.shown().replace(UUID, "another").replace("pdf-2", "none"))))
            }
            Asked::Synchronized if !also_synchronized => Some((200, "[]".to_owned())),
            _ => None,
        };
        let settings = [("SYNC__POLL_INTERVAL", "300ms"), ("RETRY__INITIAL", "4s"), ("RETRY__MAX", "4s")];
        let told = Told::set(0, &settings, Box::new(script)).await;
        let what = format!("the new one is told, {also_synchronized}");
        told.until(&what, |letter, _| letter.told.contains(&(2, true))).await;
    }
}

//! Pages and counts of searches against what reading every text finds.

use super::super::collection::{Column, DOCUMENTS, PATIENTS};
use super::super::listing::Direction;
use super::super::text::{self, Whose};
use super::super::{Store, UserRow};
use super::*;

const ROWS: i64 = 9_000;

/// What a document of the test says of itself, of its patient and of its user.
fn says(id: i64) -> [&'static str; 3] {
    let own = if id % 2 == 0 { "lab slip" } else { "operative report" };
    let patient = if id % 3 == 0 { "Zoë Lab" } else { "Noé" };
    let user = if id % 10 == 0 { "Cabinet Ursule" } else { "Cabinet Claire" };
    [own, patient, user]
}

fn owner(id: i64) -> UserRow {
    UserRow { id, organization_id: 1, record: serde_json::Map::new() }
}

fn fill(transaction: &Transaction<'_>) -> Result<(), SandboxError> {
    transaction.execute_batch(
        "INSERT INTO organizations VALUES (1, 'o', '{}');
         INSERT INTO users VALUES (1, 'u1', '', 1, NULL, '{}'), (2, 'u2', '', 1, NULL, '{}'), (3, 'u3', '', 1, NULL, '{}');",
    )?;
    let mut patient = transaction.prepare(
        "INSERT INTO patients (id, uuid, owner_id, organization_id, owner_uuid, data, created_key, updated_key)
         VALUES (?1, 'p' || ?1, 1, 1, 'u1', '{}', 0, 0)",
    )?;
    let mut document = transaction.prepare(
        "INSERT INTO documents (id, uuid, owner_id, user_id, user_uuid, patient_id, created_key, updated_key, is_anonymized,
            specialty, synchronized)
         VALUES (?1, 'd' || ?1, ?2, ?3, '', ?4, (?1 * 7919) % 10007, 0, 0, '', ?1 % 2)",
    )?;
    for id in [1, 2] {
        patient.execute([id])?;
        text::put_patient(transaction, id, [Some(says(if id == 1 { 3 } else { 1 })[1])])?;
        text::put(transaction, "users_text", id, [Some(says(if id == 1 { 1 } else { 10 })[2])])?;
    }
    for id in 1..=ROWS + 5 {
        // The last ones are somebody else's.
        let owner_id = if id > ROWS { 3 } else { 1 };
        let whose = Whose {
            owner_id,
            user_id: if id % 10 == 0 { 2 } else { 1 },
            patient_id: Some(if id % 3 == 0 { 1 } else { 2 }),
        };
        document.execute((id, owner_id, whose.user_id, whose.patient_id))?;
        text::put_with(transaction, "documents_text", id, [Some(says(id)[0])], &whose)?;
    }
    Ok(())
}

/// The ids of the page that a search must have, and how many it finds, by reading every text.
fn expected(words: &str, waiting: bool, direction: Direction, offset: usize) -> (Vec<i64>, u64) {
    // Texts come again after thirty.
    let has: Vec<bool> = (0..30)
        .map(|id| {
            let said = says(id).map(text::words).concat();
            words.split(' ').all(|word| said.contains(&format!(" {word}")))
        })
        .collect();
    let has = |id: &i64| usize::try_from(id % 30).ok().and_then(|place| has.get(place)).copied().unwrap_or_default();
    let mut ids: Vec<i64> = (1..=ROWS).filter(has).filter(|id| !waiting || id % 2 == 0).collect();
    ids.sort_by_cached_key(|id| ((id * 7919) % 10007, format!("d{id}")));
    if direction == Direction::Descending {
        ids.reverse();
    }
    (ids.iter().skip(offset).take(20).copied().collect(), ids.len() as u64)
}

#[tokio::test]
async fn every_page_and_count_of_a_search_is_what_reading_every_text_would_find() {
    let store = Store::open(None).unwrap();
    let run = |transaction: &Transaction<'_>| {
        fill(transaction)?;
        let user = owner(1);
        for words in [
            "lab",
            "lab operative",
            "operative slip",
            "claire",
            "ursule",
            "cabinet",
            "zoe cabinet",
            "zoe claire slip",
            "zoe ursule noe",
        ] {
            for (waiting, direction) in
                [(false, Direction::Ascending), (false, Direction::Descending), (true, Direction::Descending)]
            {
                for offset in [0, 1990, 4490, 8090, 20_000] {
                    let mut listing = Listing::new(&DOCUMENTS, &user);
                    assert!(listing.search(words));
                    if waiting {
                        listing.flag("synchronized = 0");
                    }
                    listing.order_by(Column::Named("created_key"), direction);
                    listing.page(20, offset as u64);
                    let found = listing.found(transaction)?;
                    let wanted = expected(words, waiting, direction, offset);
                    assert_eq!(
                        (found.ids()?, found.count()?),
                        wanted,
                        "{words} from {offset}, {direction:?}, {waiting}"
                    );
                }
            }
        }
        Ok(())
    };
    store.run(run).await.unwrap();
}

/// What many rows have is looked for in the text of the first ones, and is what the index finds.
#[tokio::test]
async fn the_first_pages_of_what_many_rows_have_are_what_the_full_text_index_finds() {
    let store = Store::open(None).unwrap();
    let run = |transaction: &Transaction<'_>| {
        fill(transaction)?;
        let own = |user_id| Whose { owner_id: 1, user_id, patient_id: Some(1 + user_id % 2) };
        for id in 1..=ROWS {
            let says = format!("{} x{} o’x{id}", says(id)[0], id % 300);
            text::put_with(transaction, "documents_text", id, [Some(says.as_str())], &own(1 + id % 2))?;
        }
        let mut tested = Vec::new();
        for words in ["x", "x1", "x29", "x ursule", "x1 zoe", "x lab", "x7 claire", "x q", "x1 x2"] {
            for (offset, direction) in
                [(0, Direction::Ascending), (60, Direction::Descending), (1_000, Direction::Ascending)]
            {
                let user = owner(1);
                let mut listing = Listing::new(&DOCUMENTS, &user);
                assert!(listing.search(words));
                listing.order_by(Column::Named("created_key"), direction);
                listing.page(20, offset);
                let found = listing.found(transaction)?;
                if let Some(page) = found.tested()? {
                    assert_eq!(page, found.looked_up()?, "{words} from {offset}");
                    tested.push((words, offset));
                }
            }
        }
        assert!(tested.contains(&("x", 0)) && tested.contains(&("x ursule", 60)), "{tested:?}");
        assert!(!tested.contains(&("x", 1_000)) && !tested.contains(&("x29", 60)), "{tested:?}");
        Ok(())
    };
    store.run(run).await.unwrap();
}

#[tokio::test]
async fn whose_rows_they_are_is_asked_as_soon_as_somebody_else_has_some() {
    let store = Store::open(None).unwrap();
    let run = |transaction: &Transaction<'_>| {
        fill(transaction)?;
        let count = |user: i64, words: &str| -> Result<(u64, bool), SandboxError> {
            let mut listing = Listing::new(&DOCUMENTS, &owner(user));
            assert!(listing.search(words));
            let asks = listing.query(transaction)?.is_some_and(|query| query.text.contains(&text::owned_by(user)));
            Ok((listing.found(transaction)?.count()?, asks))
        };
        assert_eq!(count(1, "operative")?, (4_500, true));
        assert_eq!(count(3, "operative")?, (3, true));
        for id in ROWS + 1..=ROWS + 5 {
            transaction.execute("DELETE FROM documents WHERE id = ?1", [id])?;
            text::forget(transaction, "documents_text", id)?;
        }
        assert_eq!(count(1, "operative")?, (4_500, false));
        assert_eq!(count(3, "operative")?.0, 0);
        Ok(())
    };
    store.run(run).await.unwrap();
}

#[tokio::test]
async fn whom_a_practice_does_not_show_is_not_counted() {
    let store = Store::open(None).unwrap();
    let run = |transaction: &Transaction<'_>| {
        fill(transaction)?;
        transaction.execute_batch("INSERT INTO organizations VALUES (2, 'o2', '{}')")?;
        let count = |user: i64| -> Result<(u64, bool), SandboxError> {
            let mut listing = Listing::new(&PATIENTS, &owner(user));
            assert!(listing.search("zoe"));
            let found = listing.found(transaction)?;
            assert_eq!(found.count()?, found.ids()?.len() as u64);
            Ok((found.count()?, listing.sees_everything(transaction)?))
        };
        let add = |id: i64, practice: i64, visibility: &str| -> Result<(), SandboxError> {
            transaction.execute(
                "INSERT INTO patients (id, uuid, owner_id, organization_id, owner_uuid, data, created_key, updated_key)
                 VALUES (?1, 'p' || ?1, 2, ?2, 'u2', json_object('visibilityOption', ?3), 0, 0)",
                (id, practice, visibility),
            )?;
            text::put_patient(transaction, id, [Some("Zoe")])
        };
        assert_eq!(count(1)?, (1, true));
        add(3, 1, "shared")?;
        assert_eq!(count(1)?, (2, true));
        add(4, 1, "private")?;
        assert_eq!((count(1)?, count(2)?), ((2, false), (3, true)));
        add(5, 2, "shared")?;
        assert_eq!((count(1)?, count(2)?), ((2, false), (3, false)));
        Ok(())
    };
    store.run(run).await.unwrap();
}

#[tokio::test]
async fn a_patient_who_is_named_anew_is_found_by_the_new_name_alone() {
    let store = Store::open(None).unwrap();
    let run = |transaction: &Transaction<'_>| {
        fill(transaction)?;
        text::put_patient(transaction, 1, [Some("Berthe")])?;
        for (word, wanted) in [("zoe", 0), ("berthe", 3_000)] {
            let mut listing = Listing::new(&DOCUMENTS, &owner(1));
            assert!(listing.search(word));
            assert_eq!(listing.found(transaction)?.count()?, wanted, "{word}");
        }
        Ok(())
    };
    store.run(run).await.unwrap();
}

/// The cost of a search is that of its full-text query and of one walk along an index, whatever the words (and of a few
/// texts where a beginning is broad).
#[tokio::test]
async fn no_search_reads_the_text_of_rows() {
    let store = Store::open(None).unwrap();
    let run = |transaction: &Transaction<'_>| {
        fill(transaction)?;
        let mut listing = Listing::new(&DOCUMENTS, &owner(1));
        assert!(listing.search("lab referral operative cone claire"));
        listing.order_by(Column::Named("created_key"), Direction::Descending);
        for sql in [listing.walk(false), listing.walk(true), listing.unordered()] {
            let mut statement = transaction.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
            let plan: Vec<String> =
                statement.query_map(params_from_iter(listing.values()), |row| row.get(3))?.collect::<Result<_, _>>()?;
            let [one] = plan.as_slice() else { panic!("{plan:?}") };
            assert!(one.contains("SEARCH documents USING COVERING INDEX"), "{one}");
        }
        let query = listing.query(transaction)?.unwrap().text;
        assert!(["lab", "referral", "operative", "cone"].iter().all(|word| query.contains(word)), "{query}");
        assert!(!query.contains("\"lab\"*"), "{query}");
        let mut everybody = Listing::new(&DOCUMENTS, &owner(1));
        assert!(everybody.search("cabinet"));
        assert!(everybody.query(transaction)?.is_none());
        Ok(())
    };
    store.run(run).await.unwrap();
}

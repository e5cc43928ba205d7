use super::*;
use crate::ledger::names::index;

/// A search without a result costs the same, whatever the ledger holds.
#[test]
fn parts_of_words_are_looked_for_in_the_newest_names_and_beginnings_in_all() {
    let db =
        crate::ledger::open::bring_up_to_date(std::path::Path::new(":memory:"), Connection::open_in_memory().unwrap())
            .unwrap();
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)";
    let count = i64::try_from(MOST_PARTS).unwrap() + 1;
    for insert in [
        "INSERT INTO document (id, account, uuid, created_at, state, found_at, changed_at)
         SELECT i, 'main', 'document-' || i, '2026', 'reported', 1, 1 FROM n",
        "INSERT INTO name (document, kept_at, shown, words, indexed)
         SELECT i, 1, '', CASE i WHEN 1 THEN 'durand' WHEN 2 THEN 'martin' ELSE 'x' END, 0 FROM n",
    ] {
        db.execute(&format!("{numbers} {insert}"), [count]).unwrap();
    }
    let found = |word: &str| find(&db, &[word.to_owned()], 0..=Millis::MAX, 9).unwrap().letters.len();
    assert_eq!([found("durand"), found("martin"), found("urand"), found("artin")], [1, 1, 0, 1]);
    db.execute("UPDATE document SET uuid = 'letters-0000-4000-8000-00000000cafe' WHERE id = 1", []).unwrap();
    assert_eq!([found("letters-0000"), found("0000cafe"), found("tters-00")], [1, 1, 0]);
}

#[test]
fn what_is_in_the_index_hides_nothing_that_is_not_there_yet() {
    let db =
        crate::ledger::open::bring_up_to_date(std::path::Path::new(":memory:"), Connection::open_in_memory().unwrap())
            .unwrap();
    let (filed, open) = ("reported", "fetched");
    for (id, words, state) in
        [(1, "durand zoe letter", filed), (2, "durand paul letter", open), (3, "martin zoe letter", open)]
    {
        db.execute(
            "INSERT INTO document (id, account, uuid, created_at, state, found_at, changed_at)
             VALUES (?1, 'main', 'document-' || ?1, '2026', ?2, 1, 1)",
            params![id, state],
        )
        .unwrap();
        db.execute("INSERT INTO name (document, kept_at, shown, words) VALUES (?1, 1, ?2, ?2)", params![id, words])
            .unwrap();
    }
    index(&db).unwrap();
    let indexed: i64 = db.query_row("SELECT sum(indexed) FROM name", [], |row| row.get(0)).unwrap();
    assert_eq!(indexed, 1, "what is not filed yet would be taken out again");
    let found = |word: &str| find(&db, &[word.to_owned()], 0..=Millis::MAX, 9).unwrap().letters.len();
    assert_eq!([found("dur"), found("zoe"), found("paul"), found("martin")], [2, 2, 1, 1]);
}

/// Words that are each in very many letters, but never together, cost as little as others.
#[test]
fn among_common_words_the_newest_letters_are_looked_at_and_a_rare_word_finds_all() {
    let db =
        crate::ledger::open::bring_up_to_date(std::path::Path::new(":memory:"), Connection::open_in_memory().unwrap())
            .unwrap();
    for id in 1..=40_i64 {
        let (first, kind) = (["zoe", "paul"][usize::from(id % 2 == 0)], ["lab slip", "letter"][usize::from(id > 20)]);
        let rare = if id == 3 { "durand-martin" } else { "x-y" };
        db.execute(
            "INSERT INTO document (id, account, uuid, created_at, state, found_at, changed_at)
             VALUES (?1, 'main', 'document-' || ?1, '2026', 'reported', ?1, 1)",
            [id],
        )
        .unwrap();
        let words = format!("{rare} {first} {kind} 2026-11-22");
        db.execute("INSERT INTO name (document, kept_at, shown, words) VALUES (?1, 1, '', ?2)", params![id, words])
            .unwrap();
    }
    index(&db).unwrap();
    let bounds = Bounds { common: 8, compared: 5, wanted: 30 };
    let common = |words: &str, seen: RangeInclusive<Millis>, limit: usize| {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let numbers = super::numbers(&db, &seen).unwrap().unwrap();
        Search { db: &db, words: &words, seen, numbers, limit }.common(&bounds).unwrap().map(Vec::from_iter)
    };
    let always = 0..=Millis::MAX;
    assert_eq!(common("zoe letter", always.clone(), 9), Some(vec![33, 35, 37, 39]), "of the newest eight letters");
    assert_eq!(common("zoe letter", always.clone(), 2), Some(vec![37, 39]));
    assert_eq!(common("lab letter", always.clone(), 9), Some(vec![]), "never together");
    assert_eq!(common("zoe letter", 1..=30, 9), Some(vec![23, 25, 27, 29]), "of that time");
    assert_eq!(common("22-2026", always.clone(), 9), Some(vec![]), "in another order");
    assert_eq!(common("2026-11", always.clone(), 9), Some(vec![36, 37, 38, 39, 40]));
    for complete in ["zoe durand", "durand-martin letter", "letter", "zoe nobody"] {
        assert_eq!(common(complete, always.clone(), 9), None, "{complete}");
    }
    assert_eq!(common("zoe letter", always, 31), None, "whoever wants so many gets all");
}

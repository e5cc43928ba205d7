//! A page of what was searched, and how many there are: what words find comes out of the full-text index whole, and is put in
//! order without a look at any text.

use rusqlite::{Transaction, params_from_iter};

use super::collection::Reach;
use super::listing::Listing;
use crate::error::SandboxError;

/// So few found rows are read and put in order. Of more the page is looked for in the index of the order.
const FEW: usize = 4096;

/// A listing whose words were looked up.
pub(crate) struct Found<'a> {
    pub(super) listing: &'a Listing,
    pub(super) transaction: &'a Transaction<'a>,
    /// The rows that have the words, by their ids; `None` where all have.
    pub(super) rows: Option<Vec<i64>>,
}

impl Found<'_> {
    /// The row ids of the page. Whatever the order, ties fall by creation and uuid, so that pages never overlap by chance.
    pub fn ids(&self) -> Result<Vec<i64>, SandboxError> {
        match &self.rows {
            Some(rows) if rows.len() > FEW => self.walked(rows),
            rows => {
                let (sql, values) = self.listing.statement(rows.as_deref());
                let mut statement = self.transaction.prepare_cached(&sql)?;
                let ids = statement.query_map(params_from_iter(values), |row| row.get(0))?;
                Ok(ids.collect::<Result<_, _>>()?)
            }
        }
    }

    /// How many rows all pages have together.
    pub fn count(&self) -> Result<u64, SandboxError> {
        let few = match &self.rows {
            Some(rows) if self.is_all(rows) => return Ok(rows.len() as u64),
            Some(rows) if rows.len() > FEW => {
                let (found, mut count) = (Ids::of(rows), 0);
                let (sql, values) = (self.listing.unordered(), self.listing.values());
                let mut statement = self.transaction.prepare_cached(&sql)?;
                let mut ids = statement.query(params_from_iter(values))?;
                while let Some(row) = ids.next()? {
                    count += u64::from(found.has(row.get(0)?));
                }
                return Ok(count);
            }
            rows => rows,
        };
        let (sql, values) = self.listing.counted(few.as_deref());
        Ok(self.transaction.prepare_cached(&sql)?.query_row(params_from_iter(values), |row| row.get(0))?)
    }

    /// Whether nothing else is asked of these rows: full-text queries know whose rows they are.
    fn is_all(&self, rows: &[i64]) -> bool {
        rows.is_empty() || (self.listing.reach() == Reach::Own && self.listing.asks_for_words_alone())
    }

    /// The page, by a walk along the order's index; from its end where that is nearer.
    fn walked(&self, rows: &[i64]) -> Result<Vec<i64>, SandboxError> {
        let (limit, offset) = self.listing.window();
        let backwards = self.is_all(rows) && offset > rows.len() / 2;
        let (mut before, most) = if backwards {
            let to_the_end = rows.len().saturating_sub(offset);
            (to_the_end.saturating_sub(limit), limit.min(to_the_end))
        } else {
            (offset, limit)
        };
        let mut page = Vec::new();
        if most == 0 {
            return Ok(page);
        }
        let found = Ids::of(rows);
        let mut statement = self.transaction.prepare_cached(&self.listing.walk(backwards))?;
        let mut ids = statement.query(params_from_iter(self.listing.values()))?;
        while let Some(row) = ids.next()? {
            let id = row.get(0)?;
            if !found.has(id) {
            } else if before > 0 {
                before -= 1;
            } else {
                page.push(id);
                if page.len() == most {
                    break;
                }
            }
        }
        if backwards {
            page.reverse();
        }
        Ok(page)
    }
}

/// A set of row ids, a bit for each.
struct Ids(Vec<bool>);

impl Ids {
    fn of(rows: &[i64]) -> Self {
        let place = |id: i64| usize::try_from(id).unwrap_or_default();
        let mut ids = vec![false; rows.last().map_or(0, |last| place(*last) + 1)];
        for id in rows {
            if let Some(one) = ids.get_mut(place(*id)) {
                *one = true;
            }
        }
        Self(ids)
    }

    fn has(&self, id: i64) -> bool {
        usize::try_from(id).ok().and_then(|id| self.0.get(id)).copied().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::super::collection::{Column, DOCUMENTS};
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
        let has =
            |id: &i64| usize::try_from(id % 30).ok().and_then(|place| has.get(place)).copied().unwrap_or_default();
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

    /// The cost of a search is that of its full-text query and of one walk along an index, whatever the words.
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
                let plan: Vec<String> = statement
                    .query_map(params_from_iter(listing.values()), |row| row.get(3))?
                    .collect::<Result<_, _>>()?;
                let [one] = plan.as_slice() else { panic!("{plan:?}") };
                assert!(one.contains("SEARCH documents USING COVERING INDEX"), "{one}");
            }
            let query = listing.query(transaction)?.unwrap_or_default();
            assert!(["lab", "referral", "operative", "cone"].iter().all(|word| query.contains(word)), "{query}");
            assert!(!query.contains("\"lab\"*"), "{query}");
            let mut everybody = Listing::new(&DOCUMENTS, &owner(1));
            assert!(everybody.search("cabinet"));
            assert_eq!(everybody.query(transaction)?, None);
            Ok(())
        };
        store.run(run).await.unwrap();
    }
}

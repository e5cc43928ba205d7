//! A page of a list as SQL: one statement for filters, order and page.

use std::collections::BTreeSet;

use rusqlite::types::Value as Sql;
use rusqlite::{Transaction, params_from_iter};

use super::collection::{Collection, Column, Exact, Place, Reach};
use super::people::UserRow;
use super::text;
use crate::error::SandboxError;

/// The most words of a search. Each searches every text table of the list.
pub(crate) const MOST_WORDS: usize = 30;

/// SQLite takes at most 1000 conditions in a row. Groups of this size allow any number.
const CONDITIONS_IN_A_ROW: usize = 500;

/// One page of a collection, for one user.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    collection: &'static Collection,
    conditions: Vec<String>,
    values: Vec<Sql>,
    /// The words to search.
    words: BTreeSet<String>,
    order: Vec<(Column, Direction)>,
    limit: u32,
    offset: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Ascending,
    Descending,
}

impl Comparison {
    fn sql(self) -> &'static str {
        match self {
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
        }
    }
}

impl Direction {
    fn sql(self) -> &'static str {
        match self {
            Self::Ascending => "ASC",
            Self::Descending => "DESC",
        }
    }
}

impl Listing {
    /// All rows that the user sees, on one page.
    pub fn new(collection: &'static Collection, user: &UserRow) -> Self {
        let (condition, values) = match collection.reach {
            Reach::Own => ("owner_id = ?", vec![user.id]),
            Reach::Practice => (
                "organization_id = ? AND (visibility_option IS NOT 'private' OR owner_id = ?)",
                vec![user.organization_id, user.id],
            ),
            Reach::Membership => ("id = ?", vec![user.organization_id]),
        };
        Self {
            collection,
            conditions: vec![condition.to_owned()],
            values: values.into_iter().map(Sql::Integer).collect(),
            words: BTreeSet::new(),
            order: Vec::new(),
            limit: u32::MAX,
            offset: 0,
        }
    }

    /// Keeps rows with one of these values.
    pub fn exact(&mut self, exact: &Exact, wanted: &[String]) {
        let marks = vec!["?"; wanted.len()].join(", ");
        let condition = match exact.place {
            Place::Column(column) => format!("{column} IN ({marks})"),
            Place::Found(column, query) => format!("{column} IN ({query} ({marks}))"),
        };
        // Without this hint, SQLite expects many rows for several values, and reads all of them in the order's index.
        self.conditions.push(if exact.few { format!("unlikely({condition})") } else { condition });
        self.values.extend(wanted.iter().cloned().map(Sql::Text));
    }

    /// Keeps rows for which a condition of a [`super::collection::Flag`] holds.
    pub fn flag(&mut self, condition: &'static str) {
        if !self.conditions.iter().any(|known| known == condition) {
            self.conditions.push(condition.to_owned());
        }
    }

    /// Keeps rows whose date compares like this with the key, in microseconds since 1970.
    pub fn date(&mut self, column: &'static str, comparison: Comparison, key: i64) {
        self.conditions.push(format!("{column} {} ?", comparison.sql()));
        self.values.push(Sql::Integer(key));
    }

    /// Keeps rows whose text has, for every word, a word that begins with it, without regard to case and accents.
    /// Returns false if there are more than [`MOST_WORDS`].
    pub fn search(&mut self, words: &str) -> bool {
        if self.collection.texts.is_empty() {
            return true;
        }
        for word in text::fold(words).split_whitespace().map(text::words) {
            if word.is_empty() {
                // Nothing but marks, for which no text is searched.
                self.conditions.push("FALSE".to_owned());
            } else if self.words.insert(word.clone()) {
                let mut places = Vec::new();
                for (column, table) in self.collection.texts {
                    places.push(format!("{column} IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)"));
                    self.values.push(Sql::Text(text::beginning(&word)));
                }
                self.conditions.push(format!("({})", places.join(" OR ")));
            }
        }
        self.words.len() <= MOST_WORDS
    }

    pub fn order_by(&mut self, column: Column, direction: Direction) {
        if !self.order.iter().any(|(known, _)| *known == column && column != Column::Unknown) {
            self.order.push((column, direction));
        }
    }

    /// Replaces the order.
    pub fn order_only_by(&mut self, column: Column, direction: Direction) {
        self.order = vec![(column, direction)];
    }

    pub fn page(&mut self, limit: u32, offset: u64) {
        self.limit = limit;
        self.offset = offset;
    }

    /// The row ids of the page. Equal rows are ordered by creation and uuid, so that pages never overlap by chance.
    pub fn ids(&self, transaction: &Transaction<'_>) -> Result<Vec<i64>, SandboxError> {
        let (sql, values) = self.statement();
        let mut statement = transaction.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(values), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The number of rows on all pages.
    pub fn count(&self, transaction: &Transaction<'_>) -> Result<u64, SandboxError> {
        let sql = format!("SELECT count(*) FROM {} WHERE {}", self.collection.name, self.condition());
        Ok(transaction.prepare_cached(&sql)?.query_row(params_from_iter(&self.values), |row| row.get(0))?)
    }

    fn statement(&self) -> (String, Vec<Sql>) {
        let mut values = self.values.clone();
        values.push(Sql::Integer(i64::from(self.limit)));
        values.push(Sql::Integer(i64::try_from(self.offset).unwrap_or(i64::MAX)));
        let sql = format!(
            "SELECT id FROM {} WHERE {} ORDER BY {} LIMIT ? OFFSET ?",
            self.collection.name,
            self.condition(),
            self.terms().join(", ")
        );
        (sql, values)
    }

    /// All conditions together.
    fn condition(&self) -> String {
        let groups = self.conditions.chunks(CONDITIONS_IN_A_ROW).map(|group| format!("({})", group.join(" AND ")));
        groups.collect::<Vec<_>>().join(" AND ")
    }

    fn terms(&self) -> Vec<String> {
        let last = self.order.last().map_or(Direction::Ascending, |(_, direction)| *direction);
        let named = self.order.iter().filter_map(|(column, direction)| match column {
            Column::Named(column) => Some((*column, *direction)),
            Column::Unknown => None,
        });
        let mut terms: Vec<(&str, Direction)> = Vec::new();
        for (column, direction) in named.chain(self.collection.ties.iter().map(|column| (*column, last))) {
            if !terms.iter().any(|(known, _)| *known == column || *known == "uuid") {
                terms.push((column, direction));
            }
        }
        terms.into_iter().map(|(column, direction)| format!("{column} {}", direction.sql())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::collection::{AUDIOS, CONTACTS, DOCUMENTS, NOTES, PATIENTS, WEBHOOKS};
    use super::*;
    use crate::store::Store;

    fn somebody() -> UserRow {
        UserRow { id: 1, organization_id: 1, record: serde_json::Map::new() }
    }

    async fn plan(listing: Listing) -> String {
        let store = Store::open(None).unwrap();
        store
            .run(move |transaction| {
                let (sql, values) = listing.statement();
                let mut statement = transaction.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                let lines = statement
                    .query_map(params_from_iter(values), |row| row.get::<_, String>(3))?
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(lines.join("\n"))
            })
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn the_walk_through_unsynchronized_documents_uses_an_index() {
        let mut listing = Listing::new(&DOCUMENTS, &somebody());
        listing.flag("synchronized = 0");
        listing.date("created_key", Comparison::GreaterOrEqual, 5);
        listing.order_by(Column::Named("created_key"), Direction::Ascending);
        listing.page(100, 0);
        let plan = plan(listing).await;
        assert!(plan.contains("INDEX documents_waiting"), "{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }

    #[tokio::test]
    async fn every_order_of_every_list_follows_an_index() {
        for collection in [&DOCUMENTS, &AUDIOS, &NOTES, &PATIENTS, &CONTACTS, &WEBHOOKS] {
            for (name, column) in collection.orders {
                for direction in [Direction::Ascending, Direction::Descending] {
                    let mut listing = Listing::new(collection, &somebody());
                    listing.order_by(*column, direction);
                    listing.page(20, 0);
                    let plan = plan(listing).await;
                    assert!(!plan.contains("TEMP B-TREE"), "{} by {name}: {plan}", collection.name);
                    assert!(plan.contains("INDEX"), "{} by {name}: {plan}", collection.name);
                }
            }
        }
    }

    #[tokio::test]
    async fn every_exact_filter_and_every_date_filter_uses_an_index() {
        for collection in [&DOCUMENTS, &AUDIOS, &NOTES, &PATIENTS, &CONTACTS, &WEBHOOKS] {
            for exact in collection.exacts {
                let mut listing = Listing::new(collection, &somebody());
                listing.exact(exact, &["one".to_owned(), "two".to_owned()]);
                listing.page(20, 0);
                let plan = plan(listing).await;
                assert!(!plan.contains("SCAN"), "{} by {}: {plan}", collection.name, exact.name);
                let reads_everything = plan.contains("by_creation");
                assert!(!(exact.few && reads_everything), "{} by {}: {plan}", collection.name, exact.name);
            }
            for (name, column) in collection.dates {
                let mut listing = Listing::new(collection, &somebody());
                listing.date(column, Comparison::Less, 7);
                let plan = plan(listing).await;
                assert!(plan.contains("SEARCH"), "{} by {name}: {plan}", collection.name);
            }
        }
    }
}

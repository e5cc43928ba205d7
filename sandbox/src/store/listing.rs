//! A page of a list as SQL: filters, order and page become one statement.

use std::collections::BTreeSet;

use rusqlite::types::Value as Sql;
use rusqlite::{Transaction, params_from_iter};

use super::collection::{Collection, Column, Exact, Place, Reach};
use super::people::UserRow;
use super::text;
use crate::error::SandboxError;

/// How many words can be searched at once: each looks into every text table of the list.
pub(crate) const MOST_WORDS: usize = 30;

/// With a word that more rows have than this, a page is full sooner than they could all be read and put in order.
const MANY: usize = 4096;

/// SQLite takes at most 1000 conditions in a row; in groups of so many there may be any number.
const CONDITIONS_IN_A_ROW: usize = 500;

/// One page of what one user sees of a collection.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    collection: &'static Collection,
    conditions: Vec<String>,
    values: Vec<Sql>,
    /// The words that are searched.
    words: BTreeSet<String>,
    /// The rows that have the searched words, where they were looked up already.
    found: Option<BTreeSet<i64>>,
    user_id: i64,
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
    /// Everything that the user sees of the collection, on one page.
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
            found: None,
            user_id: user.id,
            order: Vec::new(),
            limit: u32::MAX,
            offset: 0,
        }
    }

    /// Keeps rows that have one of these values.
    pub fn exact(&mut self, exact: &Exact, wanted: &[String]) {
        let marks = vec!["?"; wanted.len()].join(", ");
        let condition = match exact.place {
            Place::Column(column) => format!("{column} IN ({marks})"),
            Place::Found(column, query) => format!("{column} IN ({query} ({marks}))"),
        };
        // Without the hint SQLite takes several values for many rows, and reads them all in the order's index.
        self.conditions.push(if exact.few { format!("unlikely({condition})") } else { condition });
        self.values.extend(wanted.iter().cloned().map(Sql::Text));
    }

    /// Keeps rows for which a condition of a [`super::collection::Flag`] holds.
    pub fn flag(&mut self, condition: &'static str) {
        if !self.conditions.iter().any(|known| known == condition) {
            self.conditions.push(condition.to_owned());
        }
    }

    /// Keeps rows whose date compares so; the key is in microseconds since 1970.
    pub fn date(&mut self, column: &'static str, comparison: Comparison, key: i64) {
        self.conditions.push(format!("{column} {} ?", comparison.sql()));
        self.values.push(Sql::Integer(key));
    }

    /// Keeps rows in whose text every word occurs as the beginning of one, whatever its case and accents. Returns whether it can: these are not
    /// more than [`MOST_WORDS`].
    pub fn search(&mut self, words: &str) -> bool {
        if self.collection.texts.is_empty() {
            return true;
        }
        for word in text::fold(words).split_whitespace().map(text::words) {
            if word.is_empty() {
                // Nothing but marks, which no text is searched for.
                self.found = Some(BTreeSet::new());
            } else {
                self.words.insert(word);
            }
        }
        self.words.len() <= MOST_WORDS
    }

    /// The same listing without words: those that few rows have become these rows, and those that many have are looked
    /// for in each row on the way, since a page of them is soon full.
    fn looked_up(&self, transaction: &Transaction<'_>) -> Result<Self, SandboxError> {
        let mut listing = Self { words: BTreeSet::new(), ..self.clone() };
        for word in &self.words {
            let rows = self.rows_with(transaction, word)?;
            if rows.len() > MANY {
                let places = self.collection.texts.iter().map(|(column, table)| {
                    let name = self.collection.name;
                    format!("(SELECT instr(folded, ?) FROM {table} WHERE rowid = {name}.{column}) > 0")
                });
                listing.conditions.push(format!("({})", places.collect::<Vec<_>>().join(" OR ")));
                listing.values.extend(self.collection.texts.iter().map(|_| Sql::Text(word.clone())));
            } else {
                listing.found = Some(match listing.found.take() {
                    Some(found) => found.intersection(&rows).copied().collect(),
                    None => rows,
                });
            }
        }
        Ok(listing)
    }

    /// The ids of the rows that have a word, or of more than [`MANY`] of them.
    fn rows_with(&self, transaction: &Transaction<'_>, word: &str) -> Result<BTreeSet<i64>, SandboxError> {
        let most = i64::try_from(MANY).unwrap_or(i64::MAX) + 1;
        let (name, query) = (self.collection.name, text::beginning(word));
        let mut rows = BTreeSet::new();
        for (column, table) in self.collection.texts {
            let texts = format!("SELECT rowid FROM {table} WHERE {table} MATCH ?1 LIMIT ?2");
            let found: Vec<i64> = if *column == "id" {
                let mut statement = transaction.prepare_cached(&texts)?;
                statement.query_map((&query, most), |row| row.get(0))?.collect::<Result<_, _>>()?
            } else {
                let mut statement = transaction.prepare_cached(&format!(
                    "SELECT {name}.id FROM ({texts}) AS found CROSS JOIN {name}
                     ON {name}.{column} = found.rowid AND {name}.owner_id = ?3 LIMIT ?2"
                ))?;
                statement.query_map((&query, most, self.user_id), |row| row.get(0))?.collect::<Result<_, _>>()?
            };
            rows.extend(found);
            if rows.len() > MANY {
                break;
            }
        }
        Ok(rows)
    }

    pub fn order_by(&mut self, column: Column, direction: Direction) {
        if !self.order.iter().any(|(known, _)| *known == column && column != Column::Unknown) {
            self.order.push((column, direction));
        }
    }

    /// Forgets the order so far.
    pub fn order_only_by(&mut self, column: Column, direction: Direction) {
        self.order = vec![(column, direction)];
    }

    pub fn page(&mut self, limit: u32, offset: u64) {
        self.limit = limit;
        self.offset = offset;
    }

    /// The row ids of the page. Whatever the order, ties fall by creation and uuid, so that pages never overlap by chance.
    pub fn ids(&self, transaction: &Transaction<'_>) -> Result<Vec<i64>, SandboxError> {
        let (sql, values) = self.looked_up(transaction)?.statement();
        let mut statement = transaction.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(values), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many rows all pages have together.
    pub fn count(&self, transaction: &Transaction<'_>) -> Result<u64, SandboxError> {
        let listing = self.looked_up(transaction)?;
        let (table, first) = listing.table();
        let sql = format!("SELECT count(*) FROM {table} WHERE {}", listing.condition());
        let values = first.into_iter().chain(listing.values.iter().cloned());
        Ok(transaction.prepare_cached(&sql)?.query_row(params_from_iter(values), |row| row.get(0))?)
    }

    fn statement(&self) -> (String, Vec<Sql>) {
        let (table, first) = self.table();
        let mut values: Vec<Sql> = first.into_iter().chain(self.values.iter().cloned()).collect();
        values.push(Sql::Integer(i64::from(self.limit)));
        values.push(Sql::Integer(i64::try_from(self.offset).unwrap_or(i64::MAX)));
        let sql = format!(
            "SELECT id FROM {table} WHERE {} ORDER BY {} LIMIT ? OFFSET ?",
            self.condition(),
            self.terms().join(", ")
        );
        (sql, values)
    }

    /// What is read: the table, or only the rows of it that were found.
    fn table(&self) -> (String, Option<Sql>) {
        let name = self.collection.name;
        match &self.found {
            None => (name.to_owned(), None),
            Some(rows) => {
                let rows: Vec<String> = rows.iter().map(i64::to_string).collect();
                let found = format!("(SELECT value AS row FROM json_each(?)) CROSS JOIN {name} ON {name}.id = row");
                (found, Some(Sql::Text(format!("[{}]", rows.join(",")))))
            }
        }
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

//! A page of a list as SQL: filters, order and page become one statement.

use std::collections::BTreeSet;

use rusqlite::Transaction;
#[cfg(test)]
use rusqlite::params_from_iter;
use rusqlite::types::Value as Sql;

use super::collection::{Collection, Column, Exact, Place, Reach};
use super::found::{Found, Query, Sought};
use super::people::UserRow;
use super::text;
use crate::error::SandboxError;

/// How many words can be searched at once: each looks into every text table of the list.
pub(crate) const MOST_WORDS: usize = 30;

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
    /// Whether something was searched that no text has.
    nothing: bool,
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

    fn turned(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
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
            nothing: false,
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

    /// Keeps rows in whose text every word occurs as the beginning of one, whatever its case and accents. Returns
    /// whether it can: these are not more than [`MOST_WORDS`].
    pub fn search(&mut self, words: &str) -> bool {
        if self.collection.text.is_none() {
            return true;
        }
        for word in text::fold(words).split_whitespace().map(text::words) {
            if word.is_empty() {
                // Nothing but marks, which no text is searched for.
                self.nothing = true;
            } else {
                self.words.insert(word);
            }
        }
        self.words.len() <= MOST_WORDS
    }

    /// What the words find.
    pub fn found<'a>(&'a self, transaction: &'a Transaction<'a>) -> Result<Found<'a>, SandboxError> {
        let sought = match (self.collection.text, self.query(transaction)?) {
            _ if self.nothing => Sought::Nothing,
            (Some(table), Some(query)) => Sought::Words(table, query),
            _ => Sought::All,
        };
        Ok(Found::new(self, transaction, sought))
    }

    /// The full-text query for all words; `None` where every row has them.
    pub(super) fn query(&self, transaction: &Transaction<'_>) -> Result<Option<Query>, SandboxError> {
        if self.words.is_empty() {
            return Ok(None);
        }
        let own = self.collection.reach == Reach::Own;
        let shown = if own { self.shown(transaction)? } else { BTreeSet::new() };
        let (mut terms, mut words) = (Vec::new(), Vec::new());
        for word in &self.words {
            let mut marks = Vec::new();
            if own {
                let mut statement = transaction.prepare_cached(&rows_with("users_text"))?;
                let users: BTreeSet<i64> =
                    statement.query_map([text::beginning(word)], |row| row.get(0))?.collect::<Result<_, _>>()?;
                if shown.is_subset(&users) {
                    continue;
                }
                marks.extend(shown.intersection(&users).map(|user| text::showing(*user)));
            }
            let mut ways: Vec<String> = marks.iter().map(|mark| format!("\"{mark}\"")).collect();
            ways.push(text::spelled(transaction, &format!("{}_words", self.collection.name), word)?);
            terms.push(format!("({})", ways.join(" OR ")));
            words.push((word.clone(), marks));
        }
        if terms.is_empty() {
            return Ok(None);
        }
        if own && !self.owns_everything(transaction)? {
            terms.push(format!("\"{}\"", text::owned_by(self.user_id)));
        }
        Ok(Some(Query { text: terms.join(" AND "), words }))
    }

    /// Whether nobody else owns any row: to ask for those of one owner costs as much as a word that all have.
    fn owns_everything(&self, transaction: &Transaction<'_>) -> Result<bool, SandboxError> {
        let name = self.collection.name;
        let sql = format!("SELECT (SELECT min(owner_id) FROM {name}) = ?1 AND (SELECT max(owner_id) FROM {name}) = ?1");
        let all: Option<bool> = transaction.prepare_cached(&sql)?.query_row([self.user_id], |row| row.get(0))?;
        Ok(all.unwrap_or(false))
    }

    /// Whether the user sees every row of the practices' collection: nobody else's practice has any, and nobody else
    /// one of their own.
    pub(super) fn sees_everything(&self, transaction: &Transaction<'_>) -> Result<bool, SandboxError> {
        let (Reach::Practice, [Sql::Integer(practice), ..]) = (self.collection.reach, self.values.as_slice()) else {
            return Ok(false);
        };
        let name = self.collection.name;
        let sql = format!(
            "SELECT (SELECT min(organization_id) FROM {name}) = ?1 AND (SELECT max(organization_id) FROM {name}) = ?1 AND NOT EXISTS (
                 SELECT 1 FROM {name} WHERE organization_id = ?1 AND visibility_option = 'private' AND owner_id <> ?2)"
        );
        let all: Option<bool> =
            transaction.prepare_cached(&sql)?.query_row([*practice, self.user_id], |row| row.get(0))?;
        Ok(all.unwrap_or(false))
    }

    /// The users whom the user's rows show.
    fn shown(&self, transaction: &Transaction<'_>) -> Result<BTreeSet<i64>, SandboxError> {
        let name = self.collection.name;
        let next = format!("SELECT min(user_id) FROM {name} WHERE owner_id = ?1");
        let mut statement = transaction.prepare_cached(&format!(
            "WITH RECURSIVE shown (id) AS
             ({next} UNION ALL SELECT ({next} AND user_id > shown.id) FROM shown WHERE shown.id IS NOT NULL)
             SELECT id FROM shown WHERE id IS NOT NULL"
        ))?;
        Ok(statement.query_map([self.user_id], |row| row.get(0))?.collect::<Result<_, _>>()?)
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

    /// The page of these rows, or of all.
    pub(super) fn statement(&self, rows: Option<&[i64]>) -> (String, Vec<Sql>) {
        let (table, mut values) = self.table(rows);
        values.push(Sql::Integer(i64::from(self.limit)));
        values.push(Sql::Integer(i64::try_from(self.offset).unwrap_or(i64::MAX)));
        let sql = format!(
            "SELECT id FROM {table} WHERE {} ORDER BY {} LIMIT ? OFFSET ?",
            self.condition(),
            self.terms(false).join(", ")
        );
        (sql, values)
    }

    /// All rows in their order, or from its end.
    pub(super) fn walk(&self, backwards: bool) -> String {
        let (table, condition) = (self.collection.name, self.condition());
        format!("SELECT id FROM {table} WHERE {condition} ORDER BY {}", self.terms(backwards).join(", "))
    }

    /// All rows in whatever order is the fastest.
    pub(super) fn unordered(&self) -> String {
        format!("SELECT id FROM {} WHERE {}", self.collection.name, self.condition())
    }

    /// The number of these rows, or of all.
    pub(super) fn counted(&self, rows: Option<&[i64]>) -> (String, Vec<Sql>) {
        let (table, values) = self.table(rows);
        (format!("SELECT count(*) FROM {table} WHERE {}", self.condition()), values)
    }

    /// The values for [`Self::walk`] and [`Self::unordered`].
    pub(super) fn values(&self) -> &[Sql] {
        &self.values
    }

    pub(super) fn reach(&self) -> Reach {
        self.collection.reach
    }

    /// Whether no filter is beside the words.
    pub(super) fn asks_for_words_alone(&self) -> bool {
        self.conditions.len() == 1
    }

    /// How many rows a page has, and how many come before it.
    pub(super) fn window(&self) -> (usize, usize) {
        let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        (whole(self.limit.into()), whole(self.offset))
    }

    /// What is read, the table or only these rows of it, and the values of all marks.
    fn table(&self, rows: Option<&[i64]>) -> (String, Vec<Sql>) {
        let name = self.collection.name;
        let values = self.values.iter().cloned();
        match rows {
            None => (name.to_owned(), values.collect()),
            Some(rows) => {
                let rows: Vec<String> = rows.iter().map(i64::to_string).collect();
                let found = format!("(SELECT value AS row FROM json_each(?)) CROSS JOIN {name} ON {name}.id = row");
                (found, std::iter::once(Sql::Text(format!("[{}]", rows.join(",")))).chain(values).collect())
            }
        }
    }

    /// All conditions together.
    fn condition(&self) -> String {
        let groups = self.conditions.chunks(CONDITIONS_IN_A_ROW).map(|group| format!("({})", group.join(" AND ")));
        groups.collect::<Vec<_>>().join(" AND ")
    }

    fn terms(&self, backwards: bool) -> Vec<String> {
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
        let turned = |direction: Direction| if backwards { direction.turned() } else { direction };
        terms.into_iter().map(|(column, direction)| format!("{column} {}", turned(direction).sql())).collect()
    }
}

/// The rows of a full-text table that a query finds, in order.
pub(super) fn rows_with(table: &str) -> String {
    format!("SELECT rowid FROM {table} WHERE {table} MATCH ?1 ORDER BY rowid")
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
                let (sql, values) = listing.statement(None);
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

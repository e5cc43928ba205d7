//! A page of what was searched, and how many there are: what words find comes out of the full-text index whole, and is
//! put in order without a look at any text.

use std::cell::OnceCell;

use rusqlite::{Transaction, params_from_iter};

use super::collection::Reach;
use super::listing::{Listing, rows_with};
use crate::error::SandboxError;

/// So few found rows are read and put in order. Of more the page is looked for in the index of the order.
const FEW: usize = 4096;

/// So many rows of the order are tested one by one, where the first of them show that these fill the page.
const TESTED: usize = 1000;

/// The first of them.
const SAMPLE: usize = 100;

/// A listing whose words are looked up.
pub(crate) struct Found<'a> {
    listing: &'a Listing,
    transaction: &'a Transaction<'a>,
    sought: Sought,
    /// The rows that have the words, by their ids; `None` where all have.
    rows: OnceCell<Option<Vec<i64>>>,
}

/// What is searched.
pub(super) enum Sought {
    /// Every row has it.
    All,
    /// No row has it.
    Nothing,
    /// Words, in this full-text table.
    Words(&'static str, Query),
}

/// A full-text query.
pub(super) struct Query {
    /// As SQLite takes it.
    pub text: String,
    /// Each word, with the marks that a row may have instead of it.
    pub words: Vec<(String, Vec<String>)>,
}

impl Query {
    /// Whether a look at a row's text answers the same: of words that are one for SQLite too.
    fn is_plain(&self) -> bool {
        let is_one = |word: &str| word.trim_start().bytes().all(|byte| byte.is_ascii_alphanumeric());
        self.words.iter().all(|(word, _)| is_one(word))
    }

    /// Whether a row has the words that says this, and has these marks.
    fn is_in(&self, says: &str, marks: &str) -> bool {
        let has_mark = |mark: &String| marks.split(' ').any(|one| one == mark);
        self.words.iter().all(|(word, instead)| says.contains(word.as_str()) || instead.iter().any(has_mark))
    }
}

impl<'a> Found<'a> {
    pub(super) fn new(listing: &'a Listing, transaction: &'a Transaction<'a>, sought: Sought) -> Self {
        Self { listing, transaction, sought, rows: OnceCell::new() }
    }

    /// Asks the full-text index, once.
    fn rows(&self) -> Result<Option<&Vec<i64>>, SandboxError> {
        if self.rows.get().is_none() {
            let rows = match &self.sought {
                Sought::All => None,
                Sought::Nothing => Some(Vec::new()),
                Sought::Words(table, query) => {
                    let mut statement = self.transaction.prepare_cached(&rows_with(table))?;
                    Some(statement.query_map([&query.text], |row| row.get(0))?.collect::<Result<_, _>>()?)
                }
            };
            // It was empty.
            let _ = self.rows.set(rows);
        }
        Ok(self.rows.get().and_then(Option::as_ref))
    }

    /// The row ids of the page. Whatever the order, ties fall by creation and uuid, so that pages never overlap by
    /// chance.
    pub fn ids(&self) -> Result<Vec<i64>, SandboxError> {
        match self.tested()? {
            Some(page) => Ok(page),
            None => self.looked_up(),
        }
    }

    /// The page, where the first rows of the order have enough that have the words: the index would gather every row.
    fn tested(&self) -> Result<Option<Vec<i64>>, SandboxError> {
        let (limit, offset) = self.listing.window();
        let Sought::Words(table, query) = &self.sought else { return Ok(None) };
        let most = limit.saturating_add(offset);
        if self.rows.get().is_some() || !query.is_plain() || most > TESTED {
            return Ok(None);
        }
        let columns = if self.listing.reach() == Reach::Own { "folded, patient, whose" } else { "folded, NULL, NULL" };
        let sql = format!("SELECT {columns} FROM {table} WHERE rowid = ?1");
        let mut text = self.transaction.prepare_cached(&sql)?;
        let mut statement = self.transaction.prepare_cached(&self.listing.walk(false))?;
        let mut ids = statement.query(params_from_iter(self.listing.values()))?;
        let mut found = Vec::new();
        for place in 0..TESTED {
            if place == SAMPLE && found.len() * TESTED < most * SAMPLE {
                break;
            }
            let Some(row) = ids.next()? else {
                return Ok(Some(found.split_off(offset.min(found.len()))));
            };
            let id: i64 = row.get(0)?;
            let mut said = text.query([id])?;
            let Some(said) = said.next()? else { continue };
            let part = |index: usize| said.get::<_, Option<String>>(index).map(Option::unwrap_or_default);
            if query.is_in(&format!("{}\n{}", part(0)?, part(1)?), &part(2)?) {
                found.push(id);
            }
            if found.len() == most {
                return Ok(Some(found.split_off(offset)));
            }
        }
        Ok(None)
    }

    /// The page, from all that is found.
    fn looked_up(&self) -> Result<Vec<i64>, SandboxError> {
        match self.rows()? {
            Some(rows) if rows.len() > FEW => self.walked(rows),
            rows => {
                let (sql, values) = self.listing.statement(rows.map(Vec::as_slice));
                let mut statement = self.transaction.prepare_cached(&sql)?;
                let ids = statement.query_map(params_from_iter(values), |row| row.get(0))?;
                Ok(ids.collect::<Result<_, _>>()?)
            }
        }
    }

    /// How many rows all pages have together.
    pub fn count(&self) -> Result<u64, SandboxError> {
        if let (Sought::Words(table, query), None, true) =
            (&self.sought, self.rows.get(), self.asks_for_nothing_else()?)
        {
            let sql = format!("SELECT count(*) FROM {table} WHERE {table} MATCH ?1");
            return Ok(self.transaction.prepare_cached(&sql)?.query_row([&query.text], |row| row.get(0))?);
        }
        let few = match self.rows()? {
            Some(rows) if self.is_all(rows)? => return Ok(rows.len() as u64),
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
        let (sql, values) = self.listing.counted(few.map(Vec::as_slice));
        Ok(self.transaction.prepare_cached(&sql)?.query_row(params_from_iter(values), |row| row.get(0))?)
    }

    /// Whether nothing else is asked of these rows: full-text queries know whose rows they are.
    fn is_all(&self, rows: &[i64]) -> Result<bool, SandboxError> {
        Ok(rows.is_empty() || self.asks_for_nothing_else()?)
    }

    fn asks_for_nothing_else(&self) -> Result<bool, SandboxError> {
        let knows_whose = self.listing.reach() == Reach::Own || self.listing.sees_everything(self.transaction)?;
        Ok(knows_whose && self.listing.asks_for_words_alone())
    }

    /// The page, by a walk along the order's index; from its end where that is nearer.
    fn walked(&self, rows: &[i64]) -> Result<Vec<i64>, SandboxError> {
        let (limit, offset) = self.listing.window();
        let backwards = self.is_all(rows)? && offset > rows.len() / 2;
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
mod tests;

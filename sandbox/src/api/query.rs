//! The query parameters of lists ("Collection query parameters").
//!
//! Unknown parameters are ignored, as the family does. An invalid value of a known one gets 400, so that a client's
//! tests show the mistake.

use rusqlite::Transaction;
use url::form_urlencoded;

use super::request_context::{Media, RequestContext};
use super::shift::shifted;
use crate::error::SandboxError;
use crate::moment;
use crate::problem::Problem;
use crate::quirks::{DateFilter, Quirks};
use crate::store::collection::Column;
use crate::store::{Collection, Comparison, Direction, Listing, MOST_WORDS};

const DEFAULT_ITEMS_PER_PAGE: u32 = 20;
const MOST_ITEMS_PER_PAGE: u32 = 100;

/// A requested page.
#[derive(Debug)]
pub(super) struct ListRequest {
    listing: Listing,
    expand: Vec<&'static str>,
    /// JSON-LD tells the number of all items.
    counted: bool,
    pub page: u64,
    pub items_per_page: u32,
}

/// The rows of a page.
pub(super) struct Page<T> {
    pub rows: Vec<T>,
    /// The number of rows on all pages, if the answer tells it.
    pub total: Option<u64>,
    pub page: u64,
    pub items_per_page: u32,
}

impl ListRequest {
    pub fn parse(context: &RequestContext, collection: &'static Collection) -> Result<Self, Problem> {
        let mut reading = Reading {
            collection,
            quirks: &context.quirks,
            listing: Listing::new(collection, &context.user),
            exacts: vec![Vec::new(); collection.exacts.len()],
            expand: Vec::new(),
            page: 1,
            items_per_page: DEFAULT_ITEMS_PER_PAGE,
        };
        for (name, value) in form_urlencoded::parse(context.query.as_bytes()) {
            reading.take(&name, &value)?;
        }
        let Reading { mut listing, exacts, expand, page, items_per_page, .. } = reading;
        for (exact, values) in collection.exacts.iter().zip(exacts) {
            if !values.is_empty() && exact.only.is_none_or(|only| only == context.version) {
                listing.exact(exact, &values);
            }
        }
        let quirks = &context.quirks;
        if quirks.ignore_order {
            listing.order_only_by(Column::Named("created_key"), Direction::Descending);
        }
        let limit = quirks.max_page_size.map_or(items_per_page, |most| items_per_page.min(most));
        let page_read = if quirks.ignore_page { 1 } else { page };
        let offset = shifted((page_read - 1).saturating_mul(u64::from(limit)), page_read, quirks.page_shift);
        listing.page(limit, offset);
        Ok(Self { listing, expand, counted: context.media == Media::LdJson, page, items_per_page: limit })
    }

    /// Whether `expand[]` names this.
    pub fn expands(&self, name: &str) -> bool {
        self.expand.contains(&name)
    }

    /// Reads the page's rows.
    pub fn read<T>(
        &self,
        transaction: &Transaction<'_>,
        load: impl Fn(&Transaction<'_>, i64) -> Result<T, SandboxError>,
    ) -> Result<Page<T>, SandboxError> {
        let ids = self.listing.ids(transaction)?;
        Ok(Page {
            rows: ids.into_iter().map(|id| load(transaction, id)).collect::<Result<_, _>>()?,
            total: if self.counted { Some(self.listing.count(transaction)?) } else { None },
            page: self.page,
            items_per_page: self.items_per_page,
        })
    }
}

/// A query while it is read.
struct Reading<'a> {
    collection: &'static Collection,
    quirks: &'a Quirks,
    listing: Listing,
    /// The values of each exact filter so far. They are alternatives.
    exacts: Vec<Vec<String>>,
    expand: Vec<&'static str>,
    page: u64,
    items_per_page: u32,
}

impl Reading<'_> {
    fn take(&mut self, name: &str, value: &str) -> Result<(), Problem> {
        match name {
            "page" => self.page = page(value)?,
            "itemsPerPage" => self.items_per_page = items_per_page(value)?,
            "search" => self.search(value)?,
            "expand" => self.expand(value)?,
            _ => match self.collection.flags.iter().find(|flag| flag.name == name) {
                Some(flag) => self.listing.flag(if boolean(name, value)? { flag.yes } else { flag.no }),
                None => match split_bracket(name) {
                    Some(("order", field)) => self.order(name, field, value)?,
                    Some(("expand", index)) if is_index(index) => self.expand(value)?,
                    Some((field, index)) if is_index(index) => self.exact(name, field, value)?,
                    Some((field, comparison)) => self.date(name, field, comparison, value)?,
                    None => self.exact(name, name, value)?,
                },
            },
        }
        Ok(())
    }

    fn search(&mut self, words: &str) -> Result<(), Problem> {
        if self.listing.search(words) {
            return Ok(());
        }
        Err(Problem::bad_request(format!("\"search\" takes at most {MOST_WORDS} different words.")))
    }

    fn expand(&mut self, value: &str) -> Result<(), Problem> {
        if self.collection.expands.is_empty() {
            return Ok(());
        }
        match self.collection.expands.iter().find(|known| **known == value) {
            Some(known) => {
                self.expand.push(known);
                Ok(())
            }
            None => Err(Problem::bad_request(format!(
                "\"expand[]\" must be {}, not \"{value}\".",
                self.collection.expands.join(" or ")
            ))),
        }
    }

    fn order(&mut self, name: &str, field: &str, value: &str) -> Result<(), Problem> {
        let Some((_, column)) = self.collection.orders.iter().find(|(known, _)| *known == field) else {
            let list = self.collection.name;
            return Err(Problem::bad_request(format!("The list of {list} cannot be ordered by \"{field}\".")));
        };
        let direction = match value.to_ascii_lowercase().as_str() {
            "asc" => Direction::Ascending,
            "desc" => Direction::Descending,
            _ => return Err(Problem::bad_request(format!("\"{name}\" must be asc or desc, not \"{value}\"."))),
        };
        self.listing.order_by(*column, direction);
        Ok(())
    }

    fn exact(&mut self, name: &str, field: &str, value: &str) -> Result<(), Problem> {
        let known = self.collection.exacts.iter().zip(&mut self.exacts).find(|(exact, _)| exact.name == field);
        match known {
            Some((_, values)) => {
                values.push(value.to_owned());
                Ok(())
            }
            // A date needs a comparison.
            None => self.date(name, field, "", value),
        }
    }

    fn date(&mut self, name: &str, field: &str, comparison: &str, value: &str) -> Result<(), Problem> {
        let Some((_, column)) = self.collection.dates.iter().find(|(known, _)| *known == field) else {
            return Ok(());
        };
        match self.quirks.date_filter {
            DateFilter::Works => {}
            DateFilter::Refused => {
                return Err(Problem::bad_request(format!("The value of \"{name}\" is not valid.")));
            }
            DateFilter::Ignored => return Ok(()),
        }
        let key = |text: &str| {
            moment::parse(text).ok_or_else(|| {
                Problem::bad_request(format!("\"{name}\" must be an ISO 8601 date or date-time, not \"{text}\"."))
            })
        };
        match comparison {
            "gt" => self.listing.date(column, Comparison::Greater, key(value)?),
            "gte" => self.listing.date(column, Comparison::GreaterOrEqual, key(value)?),
            "lt" => self.listing.date(column, Comparison::Less, key(value)?),
            "lte" => self.listing.date(column, Comparison::LessOrEqual, key(value)?),
            "between" => {
                let (from, to) = value
                    .split_once("..")
                    .ok_or_else(|| Problem::bad_request(format!("\"{name}\" must be two dates joined by \"..\".")))?;
                self.listing.date(column, Comparison::GreaterOrEqual, key(from)?);
                self.listing.date(column, Comparison::LessOrEqual, key(to)?);
            }
            _ => {
                let known = "between, gt, gte, lt and lte";
                return Err(Problem::bad_request(format!(
                    "\"{name}\" compares with no known operator; there are {known}."
                )));
            }
        }
        Ok(())
    }
}

/// `a[b]` as `("a", "b")`.
fn split_bracket(name: &str) -> Option<(&str, &str)> {
    name.strip_suffix(']')?.split_once('[')
}

/// Whether this can be in the brackets of an array: nothing, or an index as some clients write it.
fn is_index(text: &str) -> bool {
    text.bytes().all(|letter| letter.is_ascii_digit())
}

fn page(value: &str) -> Result<u64, Problem> {
    whole_number(value).filter(|page| *page >= 1).ok_or_else(|| Problem::bad_request("Page should not be less than 1"))
}

fn items_per_page(value: &str) -> Result<u32, Problem> {
    whole_number(value)
        .and_then(|items| u32::try_from(items).ok())
        .filter(|items| *items <= MOST_ITEMS_PER_PAGE)
        .ok_or_else(|| Problem::bad_request("itemsPerPage must be a whole number from 0 to 100"))
}

/// Decimal digits. A number too large for the machine counts as the largest possible.
fn whole_number(value: &str) -> Option<u64> {
    let digits = !value.is_empty() && value.bytes().all(|letter| letter.is_ascii_digit());
    digits.then(|| value.parse().unwrap_or(u64::MAX))
}

fn boolean(name: &str, value: &str) -> Result<bool, Problem> {
    match value {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(Problem::bad_request(format!("\"{name}\" must be true or false, not \"{value}\"."))),
    }
}

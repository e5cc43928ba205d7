//! The query parameters of `GET /documents` ("Collection query parameters").
//!
//! Parameters that the description does not know are ignored, as the family does. Values of known ones that cannot be
//! understood are 400: a client's mistake should be seen in its tests.

use url::form_urlencoded;

use super::Problem;
use crate::moment;
use crate::quirks::{DateFilter, Quirks};
use crate::store::{Comparison, DateColumn, Direction, ExactColumn, Filter, Listing, SortColumn};

const DEFAULT_ITEMS_PER_PAGE: u32 = 20;
const MOST_ITEMS_PER_PAGE: u32 = 100;

/// A request for a page of documents.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListRequest {
    page: u64,
    items_per_page: u32,
    order: Vec<(SortColumn, Direction)>,
    filters: Vec<Filter>,
    pub expand_user: bool,
}

impl ListRequest {
    pub fn parse(query: &str, quirks: &Quirks) -> Result<Self, Problem> {
        let mut request = Self {
            page: 1,
            items_per_page: DEFAULT_ITEMS_PER_PAGE,
            order: Vec::new(),
            filters: Vec::new(),
            expand_user: false,
        };
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            request.take(&name, &value, quirks)?;
        }
        if request.items_per_page == 0 && request.page > 1 {
            return Err(Problem::bad_request("Page should not be greater than 1 if limit is equal to 0"));
        }
        Ok(request)
    }

    fn take(&mut self, name: &str, value: &str, quirks: &Quirks) -> Result<(), Problem> {
        match name {
            "page" => self.page = page(value)?,
            "itemsPerPage" => self.items_per_page = items_per_page(value)?,
            "synchronized" => self.filters.push(Filter::Synchronized(boolean(name, value)?)),
            "isAnonymized" => self.filters.push(Filter::Anonymized(boolean(name, value)?)),
            "exists[encounteredAt]" => {
                self.filters.push(Filter::Encountered(boolean(name, value)?));
            }
            "expand[]" | "expand" if value == "user.read" => self.expand_user = true,
            _ => match split_bracket(name) {
                Some(("order", field)) => {
                    let term = (sort_column(field)?, direction(name, value)?);
                    self.order.push(term);
                }
                Some((field, "")) => self.exact(field, value),
                Some((field, comparison)) => {
                    if let Some(column) = date_column(field) {
                        self.date(column, name, comparison, value, quirks)?;
                    }
                }
                None => self.exact(name, value),
            },
        }
        Ok(())
    }

    /// Values of the same filter are alternatives.
    fn exact(&mut self, field: &str, value: &str) {
        let Some(column) = exact_column(field) else {
            return;
        };
        for filter in &mut self.filters {
            if let Filter::Exact(known, values) = filter
                && *known == column
            {
                values.push(value.to_owned());
                return;
            }
        }
        self.filters.push(Filter::Exact(column, vec![value.to_owned()]));
    }

    fn date(
        &mut self,
        column: DateColumn,
        name: &str,
        comparison: &str,
        value: &str,
        quirks: &Quirks,
    ) -> Result<(), Problem> {
        match quirks.date_filter {
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
        let bounds = match comparison {
            "gt" => vec![(Comparison::Greater, key(value)?)],
            "gte" => vec![(Comparison::GreaterOrEqual, key(value)?)],
            "lt" => vec![(Comparison::Less, key(value)?)],
            "lte" => vec![(Comparison::LessOrEqual, key(value)?)],
            "between" => {
                let (from, to) = value
                    .split_once("..")
                    .ok_or_else(|| Problem::bad_request(format!("\"{name}\" must be two dates joined by \"..\".")))?;
                vec![(Comparison::GreaterOrEqual, key(from)?), (Comparison::LessOrEqual, key(to)?)]
            }
            _ => return Ok(()),
        };
        for (comparison, key) in bounds {
            self.filters.push(Filter::Date(column, comparison, key));
        }
        Ok(())
    }

    /// The page as the store understands it.
    pub fn listing(self, owner_id: i64, quirks: &Quirks) -> Listing {
        let page = if quirks.ignore_page { 1 } else { self.page };
        let limit = quirks.max_page_size.map_or(self.items_per_page, |most| self.items_per_page.min(most));
        let order = if quirks.ignore_order { vec![(SortColumn::Created, Direction::Descending)] } else { self.order };
        Listing { owner_id, filters: self.filters, order, limit, offset: (page - 1).saturating_mul(u64::from(limit)) }
    }
}

/// `a[b]` as `("a", "b")`.
fn split_bracket(name: &str) -> Option<(&str, &str)> {
    name.strip_suffix(']')?.split_once('[')
}

fn page(value: &str) -> Result<u64, Problem> {
    match value.parse::<u64>() {
        Ok(page) if page >= 1 => Ok(page),
        _ => Err(Problem::bad_request("Page should not be less than 1")),
    }
}

fn items_per_page(value: &str) -> Result<u32, Problem> {
    match value.parse::<u32>() {
        Ok(items) => Ok(items.min(MOST_ITEMS_PER_PAGE)),
        Err(_) => Err(Problem::bad_request("itemsPerPage must be a whole number from 0 to 100")),
    }
}

fn boolean(name: &str, value: &str) -> Result<bool, Problem> {
    match value {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(Problem::bad_request(format!("\"{name}\" must be true or false, not \"{value}\"."))),
    }
}

fn direction(name: &str, value: &str) -> Result<Direction, Problem> {
    if value.eq_ignore_ascii_case("asc") {
        Ok(Direction::Ascending)
    } else if value.eq_ignore_ascii_case("desc") {
        Ok(Direction::Descending)
    } else {
        Err(Problem::bad_request(format!("\"{name}\" must be asc or desc, not \"{value}\".")))
    }
}

fn sort_column(field: &str) -> Result<SortColumn, Problem> {
    match field {
        "uuid" => Ok(SortColumn::Uuid),
        "createdAt" => Ok(SortColumn::Created),
        "updatedAt" => Ok(SortColumn::Updated),
        "user" => Ok(SortColumn::User),
        "patient" => Ok(SortColumn::Patient),
        "verifiedAt" | "sentAt" => Ok(SortColumn::Unknown),
        _ => Err(Problem::bad_request(format!("Documents cannot be ordered by \"{field}\"."))),
    }
}

fn date_column(field: &str) -> Option<DateColumn> {
    match field {
        "createdAt" => Some(DateColumn::Created),
        "updatedAt" => Some(DateColumn::Updated),
        "encounteredAt" => Some(DateColumn::Encountered),
        _ => None,
    }
}

fn exact_column(field: &str) -> Option<ExactColumn> {
    match field {
        "uuid" => Some(ExactColumn::Uuid),
        "type" => Some(ExactColumn::Type),
        "pdf" => Some(ExactColumn::Pdf),
        "genericContactSpecialty" => Some(ExactColumn::Specialty),
        "user.email" => Some(ExactColumn::UserEmail),
        "user.uuid" => Some(ExactColumn::UserUuid),
        "patient.email" => Some(ExactColumn::PatientEmail),
        "patient.uuid" => Some(ExactColumn::PatientUuid),
        _ => None,
    }
}

//! The API as data: its records, lists, endpoints, scopes and versions, as the description's tables give them.
//!
//! Requests are checked against these tables, and JSON-LD and the OpenAPI document are written from them, so that the
//! three cannot disagree. This is only data.

pub(crate) mod countries;
mod endpoints;
mod field;
mod hydra;
mod openapi;
pub(crate) mod records;
mod version;

#[cfg(test)]
pub(crate) use endpoints::ENDPOINTS;
pub(crate) use endpoints::{Endpoint, endpoint, methods};
pub(crate) use field::{Field, Kind, Record};
pub(crate) use hydra::{API_DOCUMENTATION, context, documentation, entrypoint};
pub(crate) use openapi::{Served, openapi};
pub use version::Version;

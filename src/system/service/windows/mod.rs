//! Windows: the console's events for a person, the service controller for the service, and the service's installation.

mod console;
mod controller;
mod dispatcher;
mod error;
mod event_source;
#[cfg(test)]
mod installed;
mod shares;

pub use console::requests;
pub use controller::{Started, Stopped, install, start, status, stop, uninstall};
pub use dispatcher::{Job, dispatch};
pub use error::ServiceError;
pub use shares::rights_on_shares;

/// The name of the service, and of its source in the Event Log.
pub const NAME: &str = "docsyncd";

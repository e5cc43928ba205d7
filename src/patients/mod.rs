//! The practice's own list of patients, as its software exports it, and who in it a patient of the cloud service is.
//! The cloud service does not tell the practice's number of a patient; so a letter that needs it gets the one that the
//! list gives, by last name, first name and date of birth together, and only when exactly one number is left.
//! Everything else is a person's decision.
//!
//! The file is only read. What it says is kept in memory, and is in no log and in no error.

mod csv;
mod date;
mod file;
mod fold;
mod list;
mod near;
mod person;
mod refused;
mod watch;
mod whose;

pub use self::csv::{Facts, header, parse};
pub use self::date::NoDate;
pub use self::file::{Problem, Why, load_once, read_once};
pub use self::fold::Folded;
pub use self::list::{Compared, Found, List, Row};
pub use self::near::{Difference, Near};
pub use self::person::Person;
pub use self::refused::{NoNumber, Refused};
pub use self::watch::{Patients, Snapshot};
pub use self::whose::{Unmatched, fingerprint, whose};

#[cfg(test)]
mod tests;

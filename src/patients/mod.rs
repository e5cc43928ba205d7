//! The practice's own list of patients, as its software exports it, and the search for a patient of the cloud service
//! in it. The cloud service does not tell the practice's number of a patient. So if a letter needs the number, it comes
//! from the list: by last name, first name and date of birth together, and only if exactly one number fits. A person
//! decides everything else.
//!
//! The file is only read. Its content stays in memory and appears in no log and no error.

mod csv;
mod date;
mod doubt;
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
pub use self::doubt::{Before, Doubt, Earlier};
pub use self::file::{ListProblem, Why, load_once, look_once, read_once};
pub use self::fold::Folded;
pub use self::list::{Compared, List, Row};
pub use self::near::{Difference, Near};
pub use self::person::{Person, whom};
pub use self::refused::{NoNumber, Refused};
pub use self::watch::{Patients, Snapshot, Used};
pub use self::whose::{Unmatched, fingerprint, whose, whose_still};

#[cfg(test)]
mod tests;

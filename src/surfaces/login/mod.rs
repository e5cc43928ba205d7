//! A sign-in in the browser (RFC 8252): the listener on this computer to which the browser returns, its pages, and the
//! lines that a person pastes when the browser runs elsewhere. What to ask, and what an answer means, is in
//! [`authorization`]. The command starts it and prints.
//!
//! This is not a web server: it answers one address, for one attempt, to programs on this computer.
//!
//! [`authorization`]: crate::api::auth::authorization

mod listener;
mod messages;
mod page;
mod paste;
mod reception;

use std::fmt;

use crate::formats::language::Language;

pub use listener::{Listener, Serving};
pub use messages::FailureKind;
pub use paste::pasted_lines;
pub use reception::{Event, Reception};

/// How a sign-in ended, for the page and the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The tokens are saved.
    SignedIn {
        /// The person's name at the server; none if the server could not be asked.
        name: Option<String>,
        /// The person's email address; none if the server could not be asked.
        email: Option<String>,
    },
    /// Nothing was changed.
    Failed(Failure),
}

/// Why nobody was signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The reason.
    pub kind: FailureKind,
    /// The exact words of the server or the system; may be empty.
    pub detail: String,
}

impl std::error::Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(Language::English))
    }
}

impl Failure {
    /// What is wrong, with the exact words in brackets, and what to do.
    pub fn in_words(&self, language: Language) -> String {
        let told = self.kind.told(language);
        match self.detail.as_str() {
            "" => format!("{}. {}", told.what, told.advice),
            detail => format!("{} ({detail}). {}", told.what, told.advice),
        }
    }
}

//! The machinery of a sign-in in the browser (RFC 8252): the listener on this computer to which the browser returns,
//! the pages that it shows, and the lines that a person pastes when the browser runs elsewhere. What is asked and what
//! an answer means is [`authorization`]'s; who starts it and prints is the command's.
//!
//! What it deliberately is not: a web server. It answers one address of one attempt, to programs on this computer only.
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

/// How a sign-in ended; the page says so, and the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The tokens are saved.
    SignedIn {
        /// Whom the server knows the person as; none when it could not be asked.
        name: Option<String>,
        /// The person's email address; likewise.
        email: Option<String>,
    },
    /// Nothing was changed.
    Failed(Failure),
}

/// Why nobody was signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// In words.
    pub kind: FailureKind,
    /// The server's or the system's own words; may be empty.
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

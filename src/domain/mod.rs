//! What a letter is, and what may become of it. Pure: nothing here opens a file or a connection, or asks for the
//! time.

pub mod document;
pub mod failure;
pub mod health;
pub mod name;
pub mod proof;
pub mod reservation;
pub mod retry;
pub mod route;
pub mod search;
pub mod state;

//! This machine and its sockets, whatever the destination of a letter.

#[macro_use]
pub(crate) mod faults;

pub mod answering;
pub(crate) mod clock;
pub mod durable;
pub mod http;
pub mod logging;
pub mod permissions;
pub mod readers;
pub mod secret;
pub mod service;
pub mod smtp;
pub mod tls;
pub mod watch;

//! This machine and its sockets: what is the same wherever a letter goes.

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

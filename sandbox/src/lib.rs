//! The dental practice integration API, served locally.
//!
//! A program that integrates with the service needs something to run against: in its tests, in a demo, at a developer's
//! desk. This crate speaks HTTP on a real socket, keeps its state in SQLite, invents documents whose PDFs a person can
//! read, and misbehaves on demand. It shares no code with the daemon, so that the two can disagree.
//!
//! Where the API description says "not shown" it does what a server of its family (Symfony API Platform) does; the
//! README lists every such choice. It is deliberately no second implementation of the product: nothing is transcribed,
//! nothing is rendered from recordings.
//!
//! ```no_run
//! # async fn example() -> Result<(), docsyncd_sandbox::SandboxError> {
//! use docsyncd_sandbox::{Fault, FaultKind, Options, Route, Sandbox};
//!
//! let sandbox = Sandbox::start(Options { documents: 20, ..Options::default() }).await?;
//! sandbox.inject(Fault::once(Route::Pdf, FaultKind::Reset));
//! println!("{} {}", sandbox.url(), sandbox.api_key());
//! sandbox.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! In reading order: [`Options`] and [`Sandbox`] are what a caller holds; `server` accepts connections and applies
//! faults; `api` answers the routes; `oauth` lets people in and hands out tokens; `store` keeps the state; `invent`
//! makes up people and documents; `letters` turns one of them into a PDF; `workflow` and `hooks` are what happens by
//! itself.

mod admin;
mod api;
mod clock;
mod control;
mod describe;
mod docs;
mod duration_text;
mod error;
mod fault;
mod hooks;
mod invent;
mod journal;
mod json;
mod letters;
mod moment;
mod new_audio;
mod new_document;
mod new_user;
mod oauth;
mod options;
mod pdf_dir;
mod problem;
mod quirks;
mod random;
mod sandbox;
mod scope;
mod server;
mod shared;
mod signed;
mod store;
mod workflow;

pub use describe::Version;
pub use error::SandboxError;
pub use fault::{Fault, FaultId, FaultKind, Habit, QuirksPatch, Route};
pub use hooks::WebhookDelivery;
pub use journal::{Listener, RequestRecord, StatusPost, View};
pub use new_audio::NewAudio;
pub use new_document::{DocumentSummary, NewDocument, NewPdf};
pub use oauth::{Account, Client, Consent, DEFAULT_PASSWORD, TokenPair};
pub use options::{ApiKey, DEFAULT_ACCESS_TOKEN_LIFETIME, DEFAULT_API_KEY, Options};
pub use quirks::{DateFilter, DateFormat, ListShape, PdfUrl, Quirks, RedirectTarget, SingleShape};
pub use sandbox::Sandbox;

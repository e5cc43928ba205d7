//! How an account proves who it is (API, "Authentication").
//!
//! `authorization` asks a person and reads the answer, `secret` reads keys and client secrets, `tokens` keeps what a
//! sign-in gave, `endpoint` gets new ones from the server, `signed_in` does so in time and once, and `credentials` is
//! what calls ask.

pub mod authorization;
mod cached_tokens;
mod credentials;
pub mod endpoint;
mod protect;
pub mod scopes;
mod secret;
mod sign_in_status;
mod signed_in;
pub mod tokens;

pub use credentials::{Bearer, Credentials};
pub use secret::{CredentialError, client_secret};
pub use sign_in_status::SignInStatus;
pub use tokens::{TokenLock, TokenStore, TokenStoreError, Tokens};

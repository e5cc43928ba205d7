//! How an account authenticates (API, "Authentication").
//!
//! `authorization` asks a person and reads the answer. `secret` reads keys and client secrets. `tokens` stores the
//! tokens of a sign-in, `endpoint` gets new ones from the server, and `signed_in` renews them in time and only once.
//! `credentials` is what calls use.

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

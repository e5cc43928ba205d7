//! How an account proves who it is (API, "Authentication").
//!
//! `authorization` asks a person and reads the answer, `secret` reads keys and client secrets, `tokens` keeps what a sign-in
//! gave, `endpoint` gets new ones from the server, `signed_in` does so in time and once, and `credentials` is what calls ask.

pub mod authorization;
mod credentials;
pub mod endpoint;
mod held;
mod protect;
pub mod scopes;
mod secret;
mod signed_in;
mod stamp;
mod standing;
pub mod tokens;

pub use credentials::{Bearer, Credentials};
pub use secret::{CredentialError, client_secret};
pub use standing::Standing;
pub use tokens::{TokenLock, TokenStore, TokenStoreError, Tokens};

//! The options of a sandbox.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::describe::Version;
use crate::fault::Fault;
use crate::oauth::{Account, Client, Consent};
use crate::quirks::Quirks;

/// How long an access token works unless [`Options::access_token_lifetime`] says otherwise.
pub const DEFAULT_ACCESS_TOKEN_LIFETIME: Duration = Duration::from_secs(3600);

/// The key if [`Options::api_keys`] is empty. It is no secret, since it gives access to invented documents only.
pub const DEFAULT_API_KEY: &str = "sandbox-key";

/// The options of a sandbox. The default listens on a free port of the loopback interface, keeps everything in memory
/// and has no documents.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the API listens. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// The address of a separate origin for PDFs that needs no token. `None`: `pdf.url` is on the API's origin and
    /// needs the token. (A files origin exists nevertheless, on a free port, for
    /// [`crate::RedirectTarget::CrossOrigin`].)
    pub files_listen: Option<SocketAddr>,
    /// Where the admin surface listens; `None` for none. It has no authentication.
    pub admin_listen: Option<SocketAddr>,
    /// The address of the authorization page in addition to the API's, as the service has it on the application's
    /// origin; `None` for no other address.
    pub app_listen: Option<SocketAddr>,
    /// The SQLite file that keeps the state across restarts, except API keys and passwords, which each start names
    /// again; `None` keeps everything in memory.
    pub store: Option<PathBuf>,
    /// A folder whose PDFs, named `*.pdf`, each become a document, once.
    pub pdf_dir: Option<PathBuf>,
    /// The API keys; empty means [`DEFAULT_API_KEY`]. By default, documents belong to the first key's user.
    pub api_keys: Vec<ApiKey>,
    /// The applications that may ask for authorization; empty means [`Client::default`].
    pub clients: Vec<Client>,
    /// People who can sign in, with passwords of their own. The users of [`Options::api_keys`] can too, with
    /// [`crate::DEFAULT_PASSWORD`].
    pub users: Vec<Account>,
    /// How long an access token works, by the sandbox's clock; whole seconds.
    pub access_token_lifetime: Duration,
    /// Who decides on the authorization page.
    pub consent: Consent,
    /// Whether a request is refused if its access token lacks the endpoint's scope.
    pub enforce_scopes: bool,
    /// The least number of invented documents. A store that has as many gets no more.
    pub documents: usize,
    /// The seed of all inventions: the same seed gives the same uuids and the same bytes.
    pub seed: u64,
    /// Every invented PDF has at least this many bytes.
    pub pdf_bytes: u64,
    /// The version of requests that do not name one with the header `Api-Version`.
    pub api_version: Version,
    /// How long an audio stays at each step of the workflow, by the sandbox's clock; `None`: it moves only on command.
    pub workflow_step: Option<Duration>,
    /// Behaviours that the API description leaves open.
    pub quirks: Quirks,
    /// Faults in force from the start, and after every reset.
    pub faults: Vec<Fault>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            files_listen: None,
            admin_listen: None,
            app_listen: None,
            store: None,
            pdf_dir: None,
            api_keys: Vec::new(),
            clients: Vec::new(),
            users: Vec::new(),
            access_token_lifetime: DEFAULT_ACCESS_TOKEN_LIFETIME,
            consent: Consent::default(),
            enforce_scopes: true,
            documents: 0,
            seed: 1,
            pdf_bytes: 0,
            api_version: Version::default(),
            workflow_step: None,
            quirks: Quirks::default(),
            faults: Vec::new(),
        }
    }
}

/// A bearer key and the user who signs in with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// The value after `Bearer `.
    pub key: String,
    /// The user's email address. Keys with the same address belong to the same user.
    pub email: String,
}

impl ApiKey {
    /// A key of the practice's first dentist.
    pub fn new(key: impl Into<String>) -> Self {
        Self::of_user(key, "claire.delaunay@cabinet-delaunay.example")
    }

    /// A key of the user with this email address.
    pub fn of_user(key: impl Into<String>, email: impl Into<String>) -> Self {
        Self { key: key.into(), email: email.into() }
    }
}

//! The options, and what they ask of the sandbox.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use docsyncd_sandbox::{Account, ApiKey, Client, Consent, DateFilter, Fault, Options, Quirks, Version};
use serde_json::Value;

use super::values::{account, address, api_key, duration, fault, quirk, size, visible};

/// The dental cloud service's API, served locally with invented documents.
///
/// The first line on standard output is "listening on http://ADDR". Ctrl-C or SIGTERM ends it.
#[derive(Debug, Parser)]
#[command(name = "docsyncd-sandbox", version)]
pub(super) struct Cli {
    /// Where the API listens; port 0 takes a free one
    #[arg(long, value_name = "ADDR", value_parser = address, default_value = "127.0.0.1:0")]
    listen: SocketAddr,

    /// Where PDFs are served, as an origin of its own that needs no token [default: on the API's origin]
    #[arg(long, value_name = "ADDR", value_parser = address)]
    files_listen: Option<SocketAddr>,

    /// Where the admin surface listens; it has no authentication [default: none]
    #[arg(long, value_name = "ADDR", value_parser = address)]
    admin_listen: Option<SocketAddr>,

    /// Where the authorization page is served besides the API's address [default: nowhere else]
    #[arg(long, value_name = "ADDR", value_parser = address)]
    app_listen: Option<SocketAddr>,

    /// The SQLite file that keeps the state, but for keys and passwords: each start names them anew [default: in
    /// memory]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// How many documents to invent [default: 20, or none with --pdf-dir]
    #[arg(long, value_name = "N")]
    documents: Option<usize>,

    /// Serve the PDFs of this folder, each as one document
    #[arg(long, value_name = "DIR")]
    pdf_dir: Option<PathBuf>,

    /// A key that opens the API, or KEY=EMAIL for another user's; can be repeated [default: sandbox-key]
    #[arg(long, value_name = "KEY", value_parser = api_key)]
    api_key: Vec<ApiKey>,

    /// Someone who can sign in on the authorization page, as EMAIL or EMAIL:PASSWORD; can be repeated. The users of API
    /// keys can sign in too. Without a password it is "sandbox"
    #[arg(long, value_name = "EMAIL[:PASSWORD]", value_parser = account)]
    user: Vec<Account>,

    /// The application that may ask for authorization [default: sandbox-client]
    #[arg(long, value_name = "ID", value_parser = visible, requires = "client_secret")]
    client_id: Option<String>,

    /// What the application proves itself with [default: sandbox-secret]
    #[arg(long, value_name = "SECRET", value_parser = visible, requires = "client_id")]
    client_secret: Option<String>,

    /// Where the application may have people sent back to, compared character for character; can be repeated
    /// [default: http://127.0.0.1:8976/callback]
    #[arg(long, value_name = "URI")]
    redirect_uri: Vec<String>,

    /// How long an access token works
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..), default_value = "3600")]
    access_token_lifetime: u32,

    /// Who decides on the authorization page
    #[arg(long, value_enum, value_name = "WHO", default_value = "ask")]
    consent: Consent,

    /// Whether an access token needs the scopes of the endpoint
    #[arg(long, value_enum, value_name = "MODE", default_value = "on")]
    scopes: Switch,

    /// What everything invented follows from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Make every invented PDF at least this large, such as 60KiB or 2MB
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "0")]
    pdf_bytes: u64,

    /// The version of requests without the header Api-Version: 1.0.0, 1.1.0 or 1.75.0
    #[arg(long, value_name = "VERSION", default_value = "1.1.0")]
    api_version: Version,

    /// How long an audio stays at each step of the workflow, such as 20s or 5m [default: until it is moved on command]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    workflow_step: Option<Duration>,

    /// What becomes of filters such as createdAt[gte]
    #[arg(long, value_enum, value_name = "MODE", default_value = "works")]
    date_filter: DateFilter,

    /// A habit of the server by the name and value of GET /admin/quirks, such as max_page_size=5; can be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = quirk)]
    quirk: Vec<(String, Value)>,

    /// Write where everything is, as one JSON object, to this file once all of it can be used
    #[arg(long, value_name = "FILE")]
    pub(super) ready_file: Option<PathBuf>,

    /// A fault in force from the start, as POST /admin/faults takes it; can be repeated
    #[arg(long, value_name = "JSON", value_parser = fault)]
    fault: Vec<Fault>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    /// It does
    On,
    /// Every access token may do everything
    Off,
}

impl From<Cli> for Options {
    fn from(cli: Cli) -> Self {
        let default_client = Client::default();
        let client = Client {
            client_id: cli.client_id.unwrap_or(default_client.client_id),
            client_secret: cli.client_secret.unwrap_or(default_client.client_secret),
            redirect_uris: if cli.redirect_uri.is_empty() { default_client.redirect_uris } else { cli.redirect_uri },
        };
        let documents = if cli.pdf_dir.is_some() { 0 } else { 20 };
        let quirks = Quirks { date_filter: cli.date_filter, ..Quirks::default() };
        Self {
            listen: cli.listen,
            files_listen: cli.files_listen,
            admin_listen: cli.admin_listen,
            app_listen: cli.app_listen,
            store: cli.store,
            pdf_dir: cli.pdf_dir,
            api_keys: cli.api_key,
            clients: vec![client],
            users: cli.user,
            access_token_lifetime: Duration::from_secs(cli.access_token_lifetime.into()),
            consent: cli.consent,
            enforce_scopes: cli.scopes == Switch::On,
            documents: cli.documents.unwrap_or(documents),
            seed: cli.seed,
            pdf_bytes: cli.pdf_bytes,
            api_version: cli.api_version,
            workflow_step: cli.workflow_step,
            // Each was understood by itself already, so all of them together are.
            quirks: quirks.merged(&cli.quirk.into_iter().collect()).unwrap_or(quirks),
            faults: cli.fault,
        }
    }
}

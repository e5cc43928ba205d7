//! A connection to an SSH server: the network, the server's key, the sign-in, and an SFTP session over it.

use std::io::ErrorKind;
use std::net::Shutdown;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use russh::client::{self, AuthResult, Handle, KeyboardInteractiveAuthResponse, Msg};
use russh::keys::{Algorithm, PrivateKey, PrivateKeyWithHashAlg, PublicKeyOrCertificate, decode_secret_key};
use russh::{ChannelMsg, ChannelStream, MethodKind, MethodSet, Preferred, cipher};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::super::Outcome;
use super::host_key::{SeenKey, Trust, is_of_kind};
use super::prompt::{FirstBytes, Prompt};
use super::session::Session;
use crate::destinations::{SftpConfig, SshSignIn};
use crate::system::secret;

/// Rounds of questions that a server may ask.
const ROUNDS: usize = 5;
/// A server that is silent this long gets a keep-alive request. After three of them, the connection is given up.
const SIGN_OF_LIFE: Duration = Duration::from_secs(20);

/// The order of [`Preferred::DEFAULT`], but with AES-GCM first, which the processors of all reception computers do in
/// hardware, on both sides.
const CIPHERS: &[cipher::Name] =
    &[cipher::AES_256_GCM, cipher::CHACHA20_POLY1305, cipher::AES_256_CTR, cipher::AES_192_CTR, cipher::AES_128_CTR];

/// A signed-in connection.
pub(super) struct Connection {
    pub(super) session: Session<ChannelStream<Msg>>,
    /// The key that the server showed.
    pub(super) shown: SeenKey,
    /// Whether it comes from the pool and has not answered since: the server may have ended it.
    pub(super) is_reused: bool,
    handle: Handle<Client>,
    _cut: Cut,
}

impl Connection {
    pub(super) fn is_closed(&self) -> bool {
        self.handle.is_closed()
    }
}

/// Ends the connection when it is dropped, whatever the task that drives it waits for.
struct Cut(std::net::TcpStream);

impl Drop for Cut {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// Checks the server's key.
struct Client {
    trust: Arc<Trust>,
    shown: Arc<Mutex<Option<SeenKey>>>,
}

impl client::Handler for Client {
    type Error = russh::Error;

    async fn check_server_key(&mut self, shown: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        // No certificates are requested.
        let PublicKeyOrCertificate::PublicKey { key, .. } = shown else { return Ok(false) };
        let shown = SeenKey::of(key, self.trust.judge(key));
        let is_known = shown.verdict == super::host_key::Verdict::Known;
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown);
        Ok(is_known)
    }
}

/// Why there is no connection to a server.
enum Refusal {
    /// The server showed a key that is not known as its own.
    Key(SeenKey),
    /// The server has no key of the requested kinds.
    NoSuchKey,
    /// Anything else: a code and our words.
    Other(&'static str, String),
}

impl Refusal {
    /// A code, and our words.
    fn words(self, server: &str) -> (&'static str, String) {
        match self {
            Self::Key(shown) => ("host_key", shown.complaint(server).unwrap_or_default()),
            Self::NoSuchKey => ("host_key", format!("{server} has no kind of key that docsyncd knows")),
            Self::Other(code, what) => (code, what),
        }
    }
}

/// Connects and signs in, in bounded time. An `Err` is [`Outcome::Unavailable`], because every such failure concerns
/// the server as a whole.
pub(super) async fn connect(config: &SftpConfig) -> Result<Connection, Outcome> {
    let server = server(config);
    let reached = in_time(config, &server, reach(config, &server)).await;
    reached.map_err(|refusal| {
        let (code, what) = refusal.words(&server);
        Outcome::unavailable(code, format!("destination `{}`: {what}", config.folder.name))
    })
}

/// The key that the server shows, known or not; does not sign in.
///
/// # Errors
/// Why no key is seen, in words that may be logged.
pub(super) async fn shown(config: &SftpConfig) -> Result<SeenKey, String> {
    let server = server(config);
    let trust = Trust::of(config.host_key.as_ref(), &config.host, config.port)?;
    match in_time(config, &server, greet(config, &server, Arc::new(trust))).await {
        Ok((_, _, shown)) | Err(Refusal::Key(shown)) => Ok(shown),
        Err(refusal) => Err(refusal.words(&server).1),
    }
}

async fn in_time<T>(
    config: &SftpConfig,
    server: &str,
    work: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    timeout(config.timeout, work).await.unwrap_or_else(|_| {
        let limit = config.timeout.as_secs_f64();
        let what = format!("{server} does not answer within {limit} s: is it running and reachable?");
        Err(Refusal::Other("no_answer", what))
    })
}

/// The server's name with its port, as a known_hosts file has it.
fn server(config: &SftpConfig) -> String {
    if config.port == 22 { config.host.clone() } else { format!("[{}]:{}", config.host, config.port) }
}

async fn reach(config: &SftpConfig, server: &str) -> Result<Connection, Refusal> {
    let (configured, host, port) = (config.host_key.clone(), config.host.clone(), config.port);
    let read = tokio::task::spawn_blocking(move || Trust::of(configured.as_ref(), &host, port)).await;
    let trust = read.map_err(|_| broken())?.map_err(|what| Refusal::Other("known_hosts", what))?;
    let sign_in = SignIn::read(&config.sign_in).await?;
    let (mut handle, cut, shown) = greet(config, server, Arc::new(trust)).await?;
    sign_in.prove(&mut handle, &config.user, server).await?;
    let no_sftp = || Refusal::Other("no_sftp", format!("{server} offers no file transfer (SFTP) to this user"));
    let mut channel = handle.channel_open_session().await.map_err(|_| no_sftp())?;
    channel.request_subsystem(true, "sftp").await.map_err(|_| no_sftp())?;
    loop {
        match channel.wait().await {
            Some(ChannelMsg::Success) => break,
            Some(ChannelMsg::Failure) | None => return Err(no_sftp()),
            Some(_) => {}
        }
    }
    let session = Session::begin(channel.into_stream(), config.timeout).await.map_err(|_| no_sftp())?;
    Ok(Connection { session, shown, is_reused: false, handle, _cut: cut })
}

fn broken() -> Refusal {
    Refusal::Other("internal_fault", "an internal fault: please report it".to_owned())
}

/// Connects until the server shows the known key, or has no other to show.
async fn greet(
    config: &SftpConfig,
    server: &str,
    trust: Arc<Trust>,
) -> Result<(Handle<Client>, Cut, SeenKey), Refusal> {
    let mut asked = trust.algorithms();
    let mut first: Option<SeenKey> = None;
    let mut asks_for_all = !matches!(*trust, Trust::Keys { .. });
    loop {
        match shake_hands(config, server, trust.clone(), asked.clone()).await {
            // A fingerprint does not say which kind of key it is: the server may have the right one as well.
            Err(Refusal::Key(shown)) if matches!(*trust, Trust::Fingerprint(_)) => {
                let kind = shown.algorithm.parse::<Algorithm>();
                asked.retain(|algorithm| kind.as_ref().is_ok_and(|kind| !is_of_kind(algorithm, kind)));
                let shown = first.get_or_insert(shown);
                if asked.is_empty() {
                    return Err(Refusal::Key(shown.clone()));
                }
            }
            Err(Refusal::NoSuchKey) => match first {
                Some(shown) => return Err(Refusal::Key(shown)),
                // The server has none of the known kinds: the key that it shows instead is reported, and not trusted.
                None if !asks_for_all => {
                    asks_for_all = true;
                    asked = Trust::Nothing.algorithms();
                }
                None => return Err(Refusal::NoSuchKey),
            },
            other => return other,
        }
    }
}

async fn shake_hands(
    config: &SftpConfig,
    server: &str,
    trust: Arc<Trust>,
    algorithms: Vec<Algorithm>,
) -> Result<(Handle<Client>, Cut, SeenKey), Refusal> {
    let (stream, cut) = open(config, server).await?;
    let client_config = client::Config {
        // No server needs to know docsyncd's version.
        client_id: russh::SshId::Standard("SSH-2.0-docsyncd".into()),
        preferred: Preferred { key: algorithms.into(), cipher: CIPHERS.into(), ..Preferred::DEFAULT },
        keepalive_interval: Some(SIGN_OF_LIFE),
        nodelay: true,
        ..client::Config::default()
    };
    let shown = Arc::new(Mutex::new(None));
    let client = Client { trust, shown: shown.clone() };
    let first = FirstBytes::default();
    let stream = Prompt::new(stream, first.clone());
    let greeted = client::connect_stream(Arc::new(client_config), stream, client).await;
    let shown = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match (greeted, shown) {
        (Ok(handle), Some(shown)) => Ok((handle, cut, shown)),
        (Ok(_), None) => Err(broken()),
        (Err(russh::Error::UnknownKey), Some(shown)) => Err(Refusal::Key(shown)),
        (Err(russh::Error::NoCommonAlgo { kind: russh::AlgorithmKind::Key, .. }), _) => Err(Refusal::NoSuchKey),
        (Err(russh::Error::NoCommonAlgo { .. }), _) => {
            let what = format!("{server} and docsyncd have no encryption in common: the server is too old");
            Err(Refusal::Other("no_common_algorithm", what))
        }
        (Err(_), _) if first.get().is_none_or(|said| is_of_ssh_server(said)) => Err(hung_up(server)),
        (Err(_), _) => {
            let what =
                format!("{server} ended the connection in its greeting: is it an SSH server, and is `port` right?");
            Err(Refusal::Other("no_greeting", what))
        }
    }
}

/// A greeting, or what OpenSSH says instead to one client too many, and to an address that it blocks for a while.
fn is_of_ssh_server(first: &[u8]) -> bool {
    ["SSH-", "Exceeded MaxStartups", "Not allowed at this time"].iter().any(|words| first.starts_with(words.as_bytes()))
}

/// The server ends the connection before it is usable, mostly without a word.
fn hung_up(server: &str) -> Refusal {
    let what = "ended the connection before it was signed in: it has as many connections as it takes (MaxStartups, a limit of users), \
                or keeps this computer away for a while. It is tried again; if it stays so, lower `max_connections` or ask its operator";
    Refusal::Other("busy", format!("{server} {what}"))
}

/// Connects, and keeps a second handle of the socket to end the connection with.
async fn open(config: &SftpConfig, server: &str) -> Result<(TcpStream, Cut), Refusal> {
    let opened = async {
        let stream = TcpStream::connect((config.host.as_str(), config.port)).await?;
        stream.set_nodelay(true)?;
        let stream = stream.into_std()?;
        let cut = Cut(stream.try_clone()?);
        Ok((TcpStream::from_std(stream)?, cut))
    };
    opened.await.map_err(|error: std::io::Error| {
        let (code, what) = match error.kind() {
            ErrorKind::ConnectionRefused => ("refused", "refuses the connection: is its SSH server running?"),
            ErrorKind::TimedOut => ("no_answer", "does not answer: is it running and reachable?"),
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => ("unreachable", "cannot be reached"),
            _ if error.raw_os_error().is_none() => {
                ("no_such_host", "is not found: is `host` right, and does DNS work?")
            }
            _ => ("unreachable", "cannot be reached: check `host`, `port` and the network"),
        };
        Refusal::Other(code, format!("{server} {what}"))
    })
}

/// The user's credentials; read anew for each connection, so that a replaced file needs no restart.
struct SignIn {
    key: Option<Arc<PrivateKey>>,
    password: Option<SecretString>,
}

/// The private key, opened with its passphrase.
///
/// # Errors
/// What is wrong with one of the two files, and what to do.
pub(super) fn private_key(sign_in: &SshSignIn) -> Result<Option<PrivateKey>, String> {
    let Some(file) = &sign_in.key else { return Ok(None) };
    let text = secret::read_private_key(file, "key_file")?;
    let passphrase = sign_in.passphrase.as_ref();
    let passphrase =
        passphrase.map(|file| secret::read_password(file, "key_passphrase_file", "passphrase")).transpose()?;
    let opened = decode_secret_key(text.expose_secret(), passphrase.as_ref().map(|text| text.expose_secret()));
    match (opened, passphrase) {
        (Ok(key), _) if !key.is_encrypted() => Ok(Some(key)),
        (Ok(_) | Err(russh::keys::Error::KeyIsEncrypted), None) => {
            Err("the key in `key_file` has a passphrase: write it into a file and name that in `key_passphrase_file`"
                .to_owned())
        }
        (Ok(_) | Err(_), Some(_)) => {
            Err("the key in `key_file` cannot be opened with the passphrase in `key_passphrase_file`".to_owned())
        }
        (Err(_), None) => {
            Err("the private key in `key_file` cannot be read: if it has a passphrase, name the file that holds it in \
                               `key_passphrase_file`; else make a new one with ssh-keygen -t ed25519"
                .to_owned())
        }
    }
}

/// The password.
///
/// # Errors
/// What is wrong with its file, and what to do.
pub(super) fn password(sign_in: &SshSignIn) -> Result<Option<SecretString>, String> {
    let file = sign_in.password.as_ref();
    file.map(|file| secret::read_password(file, "password_file", "password")).transpose()
}

impl SignIn {
    async fn read(config: &SshSignIn) -> Result<Self, Refusal> {
        let config = config.clone();
        let read = tokio::task::spawn_blocking(move || Ok((private_key(&config)?, password(&config)?)));
        let (key, password) =
            read.await.map_err(|_| broken())?.map_err(|what: String| Refusal::Other("secret_file", what))?;
        Ok(Self { key: key.map(Arc::new), password })
    }

    /// Signs in. It tries only methods that the server offers, so that the server counts one wrong password as one.
    async fn prove(&self, handle: &mut Handle<Client>, user: &str, server: &str) -> Result<(), Refusal> {
        let lost = |_| hung_up(server);
        let mut offered = match handle.authenticate_none(user).await.map_err(lost)? {
            AuthResult::Success => return Ok(()),
            AuthResult::Failure { remaining_methods, .. } => remaining_methods,
        };
        let mut tried = Vec::new();
        if let (Some(key), true) = (&self.key, offers(&offered, MethodKind::PublicKey)) {
            tried.push("the key");
            let hash = handle.best_supported_rsa_hash().await.map_err(lost)?.flatten();
            let key = PrivateKeyWithHashAlg::new(key.clone(), hash);
            match handle.authenticate_publickey(user, key).await.map_err(lost)? {
                AuthResult::Success => return Ok(()),
                AuthResult::Failure { remaining_methods, .. } => offered = remaining_methods,
            }
        }
        if let Some(password) = &self.password {
            let ways = [MethodKind::Password, MethodKind::KeyboardInteractive].map(|way| offers(&offered, way));
            if ways != [false, false] {
                tried.push("the password");
            }
            let [by_itself, in_a_dialogue] = ways;
            if by_itself && handle.authenticate_password(user, password.expose_secret()).await.map_err(lost)?.success()
            {
                return Ok(());
            }
            // A server may offer both methods, and take the password only in the dialogue.
            if in_a_dialogue && answer_questions(handle, user, password).await.map_err(lost)? {
                return Ok(());
            }
        }
        if handle.is_closed() {
            return Err(hung_up(server));
        }
        let what = match tried.as_slice() {
            [] => format!(
                "{server} wants another way to sign in than `key_file` or `password_file` gives: ask its operator"
            ),
            tried => format!(
                "{server} refuses {} of the user: is `user` right, and does the server know what the file holds?",
                tried.join(" and ")
            ),
        };
        Err(Refusal::Other("sign_in_refused", what))
    }
}

fn offers(methods: &MethodSet, method: MethodKind) -> bool {
    methods.contains(&method)
}

/// Answers the question with hidden input with the password. A server that asks for more wants a person.
async fn answer_questions(
    handle: &mut Handle<Client>,
    user: &str,
    password: &SecretString,
) -> Result<bool, russh::Error> {
    let mut answer = handle.authenticate_keyboard_interactive_start(user, None).await?;
    let mut given = false;
    for _ in 0..ROUNDS {
        let prompts = match answer {
            KeyboardInteractiveAuthResponse::Success => return Ok(true),
            KeyboardInteractiveAuthResponse::Failure { .. } => return Ok(false),
            KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } => prompts,
        };
        let answers = match prompts.as_slice() {
            [] => Vec::new(),
            [only] if !only.echo && !given => {
                given = true;
                vec![password.expose_secret().to_owned()]
            }
            _ => return Ok(false),
        };
        answer = handle.authenticate_keyboard_interactive_respond(answers).await?;
    }
    Ok(false)
}

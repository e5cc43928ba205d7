//! An SMTP client (RFC 5321), step by step. Each step has its own time-out, and an error says which step failed. Of the
//! server's words only the codes are kept.

use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::FutureExt as _;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

use crate::system::http::reason;
use crate::system::tls::{self, Stream, Tls};

mod message;
mod offers;
mod reply;

pub use message::{Base64Lines, Headers};
pub use offers::Offers;
pub use reply::{Enhanced, Reply};

/// The longest wait for a TCP connection, unless the time-out is shorter.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);
/// How many time-outs the answer to a whole mail may take: 10 minutes if the time-out is one (RFC 5321, section
/// 4.5.3.2.6). A client that gives up earlier sends the mail a second time.
const PATIENCE_AT_THE_END: u32 = 10;
/// How long the server may take to say goodbye, or to say why it closes the connection.
const PARTING_LIMIT: Duration = Duration::from_secs(2);

/// The encryption of a connection, as set by `encryption`.
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum MailEncryption {
    /// The connection begins unencrypted, and is encrypted before anything is sent (RFC 3207).
    #[serde(rename = "starttls")]
    StartTls,
    /// The connection is encrypted from the start (RFC 8314).
    Tls,
    /// The connection is not encrypted; only to this machine.
    None,
}

/// A mail server, and docsyncd's sign-in there.
pub struct MailServer<'a> {
    /// Its name or address.
    pub host: &'a str,
    /// Its port.
    pub port: u16,
    /// The encryption of the connection.
    pub encryption: MailEncryption,
    /// The authorities that docsyncd trusts.
    pub tls: &'a Tls,
    /// User and password, if the server needs them.
    pub sign_in: Option<(&'a str, SecretString)>,
    /// The longest wait for an answer.
    pub timeout: Duration,
}

/// The steps of a conversation, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A TCP connection.
    Connect,
    /// The server's first line.
    Greeting,
    /// EHLO
    Hello,
    /// STARTTLS, and TLS itself.
    Encrypt,
    /// AUTH
    SignIn,
    /// MAIL
    Sender,
    /// RCPT
    Recipient,
    /// DATA
    Data,
    /// The text of the mail.
    Text,
    /// The final dot: from here on the server may have the mail.
    End,
    /// RSET
    Reset,
}

/// Why a step failed.
#[derive(Debug)]
pub enum Why {
    /// The server's name has no address.
    Unresolved,
    /// The connection failed.
    Io(io::Error),
    /// No answer came in time.
    Silent,
    /// The answer is not SMTP.
    NotSmtp,
    /// The server refused it.
    Refused(Reply),
    /// The server does not offer STARTTLS.
    NoStartTls,
    /// The server offers no known way to sign in.
    NoSignIn,
    /// The fault is on this computer; in words.
    Here(String),
}

/// A failed step.
#[derive(Debug)]
pub struct FailedStep {
    /// The step.
    pub step: Step,
    /// The reason.
    pub why: Why,
}

impl Step {
    fn failed(self, why: impl Into<Why>) -> FailedStep {
        FailedStep { step: self, why: why.into() }
    }
}

impl FailedStep {
    /// What went wrong, for a sentence that begins with the server. Only the codes in it are the server's. `section`
    /// has the settings `port`, `encryption`, `timeout` and `ca_file`. The caller explains a code, because it knows the
    /// purpose of the mail.
    pub fn words(&self, server: &MailServer<'_>, section: &str) -> String {
        let is_in_the_clear = server.encryption != MailEncryption::Tls;
        match &self.why {
            Why::Unresolved => "its name is not known (DNS)".to_owned(),
            Why::Silent if self.step == Step::Greeting && is_in_the_clear => format!(
                "it does not greet in time: if port {} is for TLS from the start (as 465 is), set {section}.encryption = \"tls\"",
                server.port
            ),
            Why::Silent => format!("no answer in time ({section}.timeout)"),
            Why::NotSmtp => "its answer cannot be understood: is this the port of a mail server?".to_owned(),
            Why::Refused(reply) => format!("it refuses ({reply})"),
            Why::NoStartTls => "it offers no encryption (STARTTLS), and nothing is sent without".to_owned(),
            Why::NoSignIn => "it offers no way to sign in that docsyncd knows (PLAIN, LOGIN)".to_owned(),
            Why::Here(words) => words.clone(),
            Why::Io(error) if reason::is_not_tls(error) => format!(
                "it speaks no TLS on port {}: set {section}.encryption = \"starttls\" (usual on port 587), or {section}.port to its \
                 TLS port (usually 465)",
                server.port
            ),
            Why::Io(error) => reason::of_io(error, section).unwrap_or_else(|| "the connection failed".to_owned()),
        }
    }
}

/// A connection, encrypted and signed in as configured.
pub struct Connection {
    stream: BufReader<Box<dyn Stream>>,
    offers: Offers,
    /// This computer's name in the conversation.
    name: String,
    timeout: Duration,
}

impl Connection {
    /// Connects, encrypts and signs in.
    ///
    /// # Errors
    /// The step that failed.
    pub async fn open(server: &MailServer<'_>) -> Result<Self, FailedStep> {
        let tls = match server.encryption {
            MailEncryption::None => None,
            MailEncryption::StartTls | MailEncryption::Tls => {
                Some(server.tls.set_up().map_err(|words| Step::Encrypt.failed(Why::Here(words)))?)
            }
        };
        let dialled = timeout(CONNECT_LIMIT.min(server.timeout), tls::dial(server.host, server.port)).await;
        let (stream, own) = dialled.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into())).map_err(|error| {
            Step::Connect.failed(match error.kind() {
                ErrorKind::NotFound => Why::Unresolved,
                _ => Why::Io(error),
            })
        })?;
        // A mail client needs no name in the DNS (RFC 5321, section 4.1.4).
        let name = match own.to_canonical() {
            IpAddr::V4(own) => format!("[{own}]"),
            IpAddr::V6(own) => format!("[IPv6:{own}]"),
        };
        let (stream, offers) = (BufReader::new(stream), Offers::default());
        let mut connection = Self { stream, offers, name, timeout: server.timeout };
        if let (MailEncryption::Tls, Some(tls)) = (server.encryption, &tls) {
            connection = connection.encrypt(tls.clone(), server.host).await?;
        }
        connection.answer(Step::Greeting, connection.timeout, &[220]).await?;
        connection.hello().await?;
        if let (MailEncryption::StartTls, Some(tls)) = (server.encryption, tls) {
            if !connection.offers.starttls {
                return Err(Step::Encrypt.failed(Why::NoStartTls));
            }
            connection.command(Step::Encrypt, "STARTTLS", &[220]).await?;
            connection = connection.encrypt(tls, server.host).await?;
            connection.hello().await?;
        }
        if let Some((user, password)) = &server.sign_in {
            connection.sign_in(user, password).await?;
        }
        Ok(connection)
    }

    /// What the server offered.
    pub fn offers(&self) -> Offers {
        self.offers
    }

    /// Begins a mail of this size from this valid address.
    ///
    /// # Errors
    /// The step that failed.
    pub async fn sender(&mut self, from: &str, size: Option<u64>) -> Result<(), FailedStep> {
        let size = size.filter(|_| self.offers.knows_size).map_or_else(String::new, |size| format!(" SIZE={size}"));
        self.command(Step::Sender, &format!("MAIL FROM:<{from}>{size}"), &[250]).await
    }

    /// Adds a recipient, a valid address.
    ///
    /// # Errors
    /// The step that failed.
    pub async fn recipient(&mut self, to: &str) -> Result<(), FailedStep> {
        self.command(Step::Recipient, &format!("RCPT TO:<{to}>"), &[250, 251]).await
    }

    /// Drops the mail that was begun.
    ///
    /// # Errors
    /// The step that failed.
    pub async fn reset(&mut self) -> Result<(), FailedStep> {
        self.command(Step::Reset, "RSET", &[250]).await
    }

    /// Announces the text of the mail.
    ///
    /// # Errors
    /// The step that failed.
    pub async fn begin(&mut self) -> Result<(), FailedStep> {
        self.command(Step::Data, "DATA", &[354]).await
    }

    /// Sends a part of the text. No line may begin with a single dot.
    ///
    /// # Errors
    /// The connection failed, or the server refused the mail before its end.
    pub async fn write(&mut self, text: &[u8]) -> Result<(), FailedStep> {
        let failed = match timeout(self.timeout, self.stream.get_mut().write_all(text)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => Why::Io(error),
            Err(_) => Why::Silent,
        };
        // The server may have said why.
        match self.answer(Step::Text, PARTING_LIMIT, &[]).await {
            Err(refused @ FailedStep { why: Why::Refused(_), .. }) => Err(refused),
            _ => Err(Step::Text.failed(failed)),
        }
    }

    /// Ends the text. From here on only an answer says whether the server has the mail.
    ///
    /// # Errors
    /// The failed [`Step::End`].
    pub async fn end(&mut self) -> Result<(), FailedStep> {
        self.quiet(Step::Text).await?;
        let (dot, limit) = (b".\r\n", self.timeout);
        let sent = timeout(limit, async {
            self.stream.get_mut().write_all(dot).await?;
            self.stream.get_mut().flush().await
        });
        sent.await.map_err(|_| Step::End.failed(Why::Silent))?.map_err(|error| Step::End.failed(error))?;
        self.answer(Step::End, limit * PATIENCE_AT_THE_END, &[250]).await.map(|_| ())
    }

    /// Says goodbye. Errors do not matter any more.
    pub async fn part(mut self) {
        let _ = timeout(PARTING_LIMIT, async {
            let _ = self.command(Step::Reset, "QUIT", &[221]).await;
            self.stream.get_mut().shutdown().await
        })
        .await;
    }

    async fn hello(&mut self) -> Result<(), FailedStep> {
        let hello = format!("EHLO {}", self.name);
        let reply = self.ask(Step::Hello, &hello, &[250]).await?;
        self.offers = Offers::of(&reply);
        Ok(())
    }

    async fn encrypt(mut self, tls: std::sync::Arc<rustls::ClientConfig>, host: &str) -> Result<Self, FailedStep> {
        // Anybody can have sent what came before TLS, and it would count as sent within TLS.
        if !self.stream.buffer().is_empty() {
            return Err(Step::Encrypt.failed(Why::NotSmtp));
        }
        let encrypted = timeout(self.timeout, Tls::connect(tls, host, self.stream.into_inner())).await;
        let encrypted = encrypted.map_err(|_| Step::Encrypt.failed(Why::Silent))?;
        self.stream = BufReader::new(encrypted.map_err(|error| Step::Encrypt.failed(error))?);
        Ok(self)
    }

    async fn sign_in(&mut self, user: &str, password: &SecretString) -> Result<(), FailedStep> {
        let password = password.expose_secret();
        if self.offers.plain {
            let both = STANDARD.encode(format!("\0{user}\0{password}"));
            return self.command(Step::SignIn, &format!("AUTH PLAIN {both}"), &[235]).await;
        }
        if !self.offers.login {
            return Err(Step::SignIn.failed(Why::NoSignIn));
        }
        self.command(Step::SignIn, "AUTH LOGIN", &[334]).await?;
        self.command(Step::SignIn, &STANDARD.encode(user), &[334]).await?;
        self.command(Step::SignIn, &STANDARD.encode(password), &[235]).await
    }

    async fn command(&mut self, step: Step, line: &str, expected: &[u16]) -> Result<(), FailedStep> {
        self.ask(step, line, expected).await.map(|_| ())
    }

    async fn ask(&mut self, step: Step, line: &str, expected: &[u16]) -> Result<Reply, FailedStep> {
        self.quiet(step).await?;
        let line = format!("{line}\r\n");
        let sent = timeout(self.timeout, async {
            self.stream.get_mut().write_all(line.as_bytes()).await?;
            self.stream.get_mut().flush().await
        });
        let sent = sent.await.map_err(|_| step.failed(Why::Silent))?;
        // A server that closes the connection may have said why.
        let answer = self.answer(step, self.timeout, expected).await;
        match (sent, answer) {
            (Err(error), Err(FailedStep { why: Why::Io(_), .. })) => Err(step.failed(error)),
            (_, answer) => answer,
        }
    }

    /// Checks that nothing came unasked, which would count as the answer to the next command.
    async fn quiet(&mut self, step: Step) -> Result<(), FailedStep> {
        match self.stream.fill_buf().now_or_never() {
            None => Ok(()),
            Some(_) => self.answer(step, PARTING_LIMIT, &[]).await.map(|_| ()),
        }
    }

    async fn answer(&mut self, step: Step, limit: Duration, expected: &[u16]) -> Result<Reply, FailedStep> {
        let reply = timeout(limit, Reply::read(&mut self.stream)).await.map_err(|_| step.failed(Why::Silent))?;
        match reply.map_err(|why| step.failed(why))? {
            reply if expected.contains(&reply.code) => Ok(reply),
            reply if reply.code >= 400 => Err(step.failed(Why::Refused(reply))),
            // A positive answer to another question.
            _ => Err(step.failed(Why::NotSmtp)),
        }
    }
}

impl From<io::Error> for Why {
    fn from(error: io::Error) -> Self {
        Why::Io(error)
    }
}

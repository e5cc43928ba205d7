//! Mail: each message to every recipient, over an encrypted connection. The Message-ID is the message's own, so that a
//! repetition is recognised.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use lettre::address::Address;
use lettre::message::Mailbox;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail as Sender, Rcpt};
use lettre::transport::smtp::extension::{ClientId, Extension, MailBodyParameter, MailParameter};
use secrecy::ExposeSecret as _;

use super::client::LIMIT;
use super::message::{Message, computer};
use super::{Taken, Undelivered};
use crate::config::{MailConfig, MailEncryption};
use crate::http::reason;
use crate::secret;

/// The option that names the file.
const KEY: &str = "alerts.mail.password_file";
/// How long a connection may take to come about.
const CONNECT_LIMIT: Duration = Duration::from_secs(20);
/// How long a server may take until it has greeted: one that waits for TLS on this port never does.
const GREETING_LIMIT: Duration = Duration::from_secs(25);
/// How long the server may take to say goodbye: it has the mail already.
const PARTING_LIMIT: Duration = Duration::from_secs(2);
/// The server ends the connection, whatever it was asked (RFC 5321, section 4.2.3).
const CLOSING: u16 = 421;

/// The mail channel.
#[derive(Clone)]
pub struct Mail {
    config: MailConfig,
    greeting_limit: Duration,
}

impl Mail {
    pub(super) fn new(config: MailConfig) -> Self {
        // The first provider installed stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self { config, greeting_limit: GREETING_LIMIT }
    }

    /// Mails a message to everybody whom the server takes it for.
    ///
    /// # Errors
    /// What went wrong, in words; also when the server takes it for nobody.
    pub async fn send(&self, message: &Message) -> Result<Taken, Undelivered> {
        let mail = self.mail(message)?;
        let begun = AtomicBool::new(false);
        let sending = async {
            let mut connection = self.connect().await?;
            let sent = self.hand_over(&mut connection, &mail, &begun).await;
            Ok((connection, sent))
        };
        let sent = tokio::time::timeout(LIMIT, sending).await;
        let (connection, sent) = sent.map_err(|_| no_answer(begun.load(Ordering::Relaxed)))??;
        part(connection).await;
        sent
    }

    /// Connects, encrypts and signs in, and sends nothing. Returns the host.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub async fn check(&self) -> Result<String, Undelivered> {
        let checking = async {
            let mut connection = self.connect().await?;
            let answers = connection.test_connected().await;
            Ok((connection, answers))
        };
        let (connection, answers) = tokio::time::timeout(LIMIT, checking).await.map_err(|_| no_answer(false))??;
        part(connection).await;
        match answers {
            true => Ok(self.config.host.clone()),
            false => Err(Undelivered::certainly("the mail server does not answer as a mail server")),
        }
    }

    /// Connects, encrypts and signs in.
    async fn connect(&self) -> Result<AsyncSmtpConnection, Undelivered> {
        let host = &self.config.host;
        let tls = || {
            let wrong = || Undelivered::certainly("TLS cannot be set up: install the system's CA certificates");
            TlsParameters::new(host.clone()).map_err(|_| wrong())
        };
        let failed = |error: Error| self.undelivered(&error);
        let hello = plain(&computer()).map_or_else(ClientId::default, ClientId::Domain);
        let at_once = (self.config.encryption == MailEncryption::Tls).then(tls).transpose()?;
        let server = (host.as_str(), self.config.port);
        let connecting = AsyncSmtpConnection::connect_tokio1(server, Some(CONNECT_LIMIT), &hello, at_once, None);
        let connected = tokio::time::timeout(self.greeting_limit, connecting).await;
        let mut connection = connected.map_err(|_| self.no_greeting())?.map_err(failed)?;
        if self.config.encryption == MailEncryption::StartTls {
            connection.starttls(tls()?, &hello).await.map_err(failed)?;
        }
        if let Some((user, file)) = &self.config.user {
            let password = secret::read_password(file, KEY, "password").map_err(Undelivered::misconfigured)?;
            let credentials = Credentials::new(user.clone(), password.expose_secret().to_owned());
            connection.auth(DEFAULT_MECHANISMS, &credentials).await.map_err(failed)?;
        }
        Ok(connection)
    }

    /// Hands the mail over, step by step: until its text is sent, it has certainly not arrived; from then on, which `begun`
    /// says, it has certainly not arrived only if the server answers so.
    async fn hand_over(
        &self,
        connection: &mut AsyncSmtpConnection,
        mail: &lettre::Message,
        begun: &AtomicBool,
    ) -> Result<Taken, Undelivered> {
        let failed = |error: Error| self.undelivered(&error);
        let (envelope, text) = (mail.envelope(), mail.formatted());
        let are_ascii = envelope.to().iter().chain(envelope.from()).all(|address| {
            let address: &str = address.as_ref();
            address.is_ascii()
        });
        let mut parameters = Vec::new();
        for (needed, extension, parameter) in [
            (!are_ascii, Extension::SmtpUtfEight, MailParameter::SmtpUtfEight),
            (!text.is_ascii(), Extension::EightBitMime, MailParameter::Body(MailBodyParameter::EightBitMime)),
        ] {
            if needed && !connection.server_info().supports_feature(extension) {
                return Err(Undelivered::certainly("the mail server knows only ASCII, in addresses too"));
            }
            parameters.extend(needed.then_some(parameter));
        }
        connection.command(Sender::new(envelope.from().cloned(), parameters)).await.map_err(failed)?;
        let mut refused: Vec<(&Address, Error)> = Vec::new();
        for to in envelope.to() {
            match connection.command(Rcpt::new(to.clone(), Vec::new())).await {
                Ok(_) => {}
                Err(error) if error.status().is_some_and(|code| u16::from(code) != CLOSING) => {
                    refused.push((to, error))
                }
                Err(error) => return Err(failed(error)),
            }
        }
        if refused.len() == envelope.to().len() {
            // What may pass says more than what may not.
            let at = refused.iter().position(|(_, error)| error.is_transient()).unwrap_or(0);
            let error = refused.into_iter().nth(at).map(|(_, error)| failed(error));
            return Err(error.unwrap_or_else(|| Undelivered::certainly("nobody is to get the mail")));
        }
        connection.command(Data).await.map_err(failed)?;
        begun.store(true, Ordering::Relaxed);
        let answer = connection.message(&text).await.map_err(|error| {
            let may_have_arrived = error.status().is_none();
            Undelivered { may_have_arrived, ..self.undelivered(&error) }
        })?;
        let refused = refused.into_iter().map(|(to, error)| format!("{to}: {}", self.undelivered(&error).what));
        Ok(Taken { code: answer.code().into(), refused: refused.collect() })
    }

    fn mail(&self, message: &Message) -> Result<lettre::Message, Undelivered> {
        let wrong = |what: &str| Undelivered::certainly(what);
        let mailbox = |text: &str| {
            text.parse()
                .map(|address| Mailbox::new(None, address))
                .map_err(|_| wrong("an address of alerts.mail cannot be used"))
        };
        let at = message.at.parse::<jiff::Timestamp>().map_or(SystemTime::now(), SystemTime::from);
        let mut mail = lettre::Message::builder()
            .from(mailbox(&self.config.from)?)
            .subject(&message.subject)
            .message_id(Some(format!("<{}@{}>", message.id, self.domain(&message.computer))))
            .date(at)
            .header(ContentType::TEXT_PLAIN);
        for to in &self.config.to {
            mail = mail.to(mailbox(to)?);
        }
        let text = format!("{}\r\n", message.body().replace('\n', "\r\n\r\n"));
        let mut mail = mail.body(text).map_err(|_| wrong("the mail cannot be written"))?;
        // So that no absence notice answers it (RFC 3834, section 5).
        let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
        mail.headers_mut().insert_raw(HeaderValue::new(automatic, "auto-generated".to_owned()));
        Ok(mail)
    }

    /// What stands behind the @ of a Message-ID.
    fn domain(&self, computer: &str) -> String {
        let of_sender = || self.config.from.rsplit('@').next().and_then(plain);
        plain(computer).or_else(of_sender).unwrap_or_else(|| "localhost".to_owned())
    }

    /// The connection came about, and the server did not say who it is.
    fn no_greeting(&self) -> Undelivered {
        let port = self.config.port;
        let what = "the mail server does not greet in time";
        match self.config.encryption {
            MailEncryption::Tls => Undelivered::certainly(what),
            MailEncryption::StartTls | MailEncryption::None => Undelivered::certainly(format!(
                "{what}: if port {port} is for TLS from the start (as 465 is), set alerts.mail.encryption = \"tls\""
            )),
        }
    }

    /// Our own words for what went wrong, and the server's code. It has certainly not arrived.
    fn undelivered(&self, error: &Error) -> Undelivered {
        let code = error.status().map(u16::from);
        let what = match code {
            Some(code @ (530 | 534 | 535 | 538)) => format!("the mail server refuses user or password (code {code})"),
            Some(code @ 550..=553) => format!("the mail server refuses the sender or a recipient (code {code})"),
            Some(code) if error.is_transient() => format!("the mail server cannot take it now (code {code})"),
            Some(code) => format!("the mail server refuses it (code {code})"),
            None if let Some(why) = reason::certificate_refused(error) => {
                format!("the certificate of the mail server is refused: {why}")
            }
            None if reason::is_not_tls(error) => {
                let port = self.config.port;
                format!(
                    "the mail server speaks no TLS on port {port}: set alerts.mail.encryption = \"starttls\" (usual on port \
                     587), or alerts.mail.port to its TLS port (usually 465)"
                )
            }
            None if error.is_tls() => {
                "TLS with the mail server fails: is its certificate valid for this name?".to_owned()
            }
            None if error.is_timeout() => return no_answer(false),
            None if error.is_client() && self.config.encryption == MailEncryption::StartTls => {
                "the mail server offers no encryption (STARTTLS), or no way to sign in that docsyncd knows".to_owned()
            }
            None if error.is_client() => "the mail server offers no way to sign in that docsyncd knows".to_owned(),
            None if error.is_response() => {
                "the mail server's answer cannot be understood: is this its port?".to_owned()
            }
            None => "the mail server cannot be reached: are host and port right, and the network up?".to_owned(),
        };
        Undelivered::certainly(what)
    }
}

fn no_answer(may_have_arrived: bool) -> Undelivered {
    Undelivered { may_have_arrived, ..Undelivered::certainly("the mail server does not answer in time") }
}

/// Says goodbye. What comes of it changes nothing.
async fn part(mut connection: AsyncSmtpConnection) {
    let _ = tokio::time::timeout(PARTING_LIMIT, connection.abort()).await;
}

/// A name as it may stand in headers and in the greeting (RFC 5321, section 4.1.2): without accents, unlike what some
/// computers are called.
fn plain(name: &str) -> Option<String> {
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    is_plain.then(|| name.to_owned())
}

#[cfg(test)]
mod tests;
